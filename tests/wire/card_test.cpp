#include "wire/card.hpp"

#include <gtest/gtest.h>

namespace heddle::wire {
namespace {

TEST(Card, ComesBackAsItWasWritten) {
  const Card card{"tcp;ofi_rxm", {std::byte{0x02}, std::byte{0x00}, std::byte{0xab}, std::byte{0xff}}, {}};
  const std::string text = write_card(card);
  EXPECT_EQ(text, std::string(card_version()) + "|tcp+ofi_rxm|0200abff");
  Card read;
  ASSERT_TRUE(read_card(3, text, &read)) << last_error_detail();
  EXPECT_EQ(read.provider, card.provider);
  EXPECT_EQ(read.address, card.address);
  EXPECT_EQ(read.watched.port, 0);
}

TEST(Card, SaysWhereTheProcessIsWatched) {
  const Card card{"net", {std::byte{0x02}}, {40123, {"10.0.0.1"}}};
  const std::string text = write_card(card);
  EXPECT_EQ(text, std::string(card_version()) + "|net|02|40123|10.0.0.1");
  Card read;
  ASSERT_TRUE(read_card(3, text, &read)) << last_error_detail();
  EXPECT_EQ(read.address, card.address);
  EXPECT_EQ(read.watched.port, 40123);
  EXPECT_EQ(read.watched.addresses, card.watched.addresses);
}

TEST(Card, AnythingElseIsAnErrorAndLeavesNothing) {
  // V: the version
  for (const char* pattern : {"",
                              "|",
                              "V",
                              "V|",
                              "V||",
                              "V|tcp",
                              "V|tcp|",
                              "V|tcp|0",
                              "V|tcp|0g",
                              "V|tcp|-1",
                              "V|tcp|00|",
                              "V|tcp|00|00",
                              "2|tcp|00",
                              "2-0.0.9|tcp|00",
                              "VV|tcp|00",
                              " V|tcp|00",
                              "V|tcp|00 ",
                              "V|tcp|0x",
                              "V|tcp|00|0|10.0.0.1",
                              "V|tcp|00|65536|10.0.0.1",
                              "V|tcp|00|1|10.0.0.1|10.0.0.2"}) {
    std::string text;
    for (const char* at = pattern; *at != '\0'; ++at)
      text += *at == 'V' ? std::string(card_version()) : std::string(1, *at);
    Card card{"before", {std::byte{1}}, {}};
    EXPECT_FALSE(read_card(3, text, &card)) << text;
    EXPECT_NE(std::string(last_error_detail()).find("process 3"), std::string::npos) << last_error_detail();
    EXPECT_EQ(card.provider, "before");
    EXPECT_EQ(card.address.size(), 1u);
  }
}

TEST(Card, AnIntroductionComesBackAsItWasWritten) {
  const std::string text = write_introduction({40123, {"10.0.0.1", "192.168.7.1"}});
  EXPECT_EQ(text, "40123|10.0.0.1|192.168.7.1");
  Introduction read;
  ASSERT_TRUE(read_introduction(3, text, &read)) << last_error_detail();
  EXPECT_EQ(read.port, 40123);
  EXPECT_EQ(read.addresses, (std::vector<std::string>{"10.0.0.1", "192.168.7.1"}));
}

TEST(Card, AnIntroductionOfManyAddressesStaysShort) {
  const std::string text = write_introduction({65535, std::vector<std::string>(50, "255.255.255.255")});
  EXPECT_LE(text.size(), 200u) << "what the meanest launcher carries";
  Introduction read;
  ASSERT_TRUE(read_introduction(3, text, &read)) << last_error_detail();
  EXPECT_EQ(read.addresses.size(), kMostAddresses);
}

TEST(Card, AnIntroductionWithoutAPortOrAnAddressIsAnError) {
  for (const char* text : {"", "|", "40123", "|10.0.0.1", "0|10.0.0.1", "65536|10.0.0.1", "-1|10.0.0.1", "1x|10.0.0.1",
                           "1|a|b|c|d|e|f|g|h|i"}) {
    Introduction read;
    EXPECT_FALSE(read_introduction(3, text, &read)) << text;
    EXPECT_TRUE(read.addresses.empty());
  }
}

}  // namespace
}  // namespace heddle::wire
