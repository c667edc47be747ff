// The messages of PMI-2, whole and in pieces, right and wrong.
#include "boot/pmi2_message.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "mpi.h"

namespace heddle::boot {
namespace {

TEST(Pmi2Message, Words) {
  Pmi2Message message;
  ASSERT_TRUE(Pmi2Message::parse("cmd=kvs-get-response;rc=0;found=TRUE;value=a=b;;c d;", message));
  EXPECT_EQ(message.command(), "kvs-get-response");
  EXPECT_FALSE(message.refused());
  EXPECT_EQ(*message.find("value"), "a=b;c d");
  EXPECT_EQ(message.find("cmd"), nullptr);
  ASSERT_TRUE(Pmi2Message::parse("cmd=kvs-put-response;rc=14;errmsg=;", message));
  EXPECT_TRUE(message.refused());
  EXPECT_EQ(*message.find("errmsg"), "");
  EXPECT_EQ(message.find("found"), nullptr) << "nothing is left of the message before";
}

TEST(Pmi2Message, Written) {
  EXPECT_EQ(pmi2_message("finalize"), "    13cmd=finalize;");
  EXPECT_EQ(pmi2_message("kvs-put", {{"key", "a"}, {"value", "b;c"}}), "    29cmd=kvs-put;key=a;value=b;;c;");
}

TEST(Pmi2Message, Nonsense) {
  Pmi2Message message;
  for (const char* text :
       {"", ";", "cmd", "cmd=", "cmd=;", "cmd=x", "cmd=x;;", "rc=0;", "rc=0;cmd=x;", "cmd=x;rc=0", "cmd=x;rc;",
        "cmd=x;=0;", "cmd=x;cmd=y;", "cmd=x;a;b=c;", "cmd=a\tb;", "cmd=\x7f;", "cmd=\xff;", "cmd=x;rc=0;\n"}) {
    EXPECT_EQ(Pmi2Message::parse(text, message).error_class(), MPI_ERR_OTHER) << text;
    EXPECT_TRUE(message.command().empty()) << text;
  }
}

TEST(Pmi2Buffer, Lengths) {
  for (const char* good : {"     1;", "000001;", "1     ;", "   1  ;"}) {
    Pmi2Buffer buffer;
    std::string message;
    Status status;
    buffer.append(good);
    EXPECT_TRUE(buffer.next(message, status)) << good;
    EXPECT_EQ(message, ";");
    EXPECT_TRUE(buffer.empty());
  }
  for (const char* bad :
       {"      ;", "     0;", "    -1;", "   1 1;", "cmd=ab;", " 16385;", "999999;", "    +1;", "  0x10;"}) {
    Pmi2Buffer buffer;
    std::string message;
    Status status;
    buffer.append(bad);
    EXPECT_FALSE(buffer.next(message, status)) << bad;
    EXPECT_EQ(status.error_class(), MPI_ERR_OTHER) << bad;
  }
}

// However the bytes are cut on their way, the same messages come out, with the words that went in.
RC_GTEST_PROP(Pmi2BufferProperty, MessagesDoNotDependOnTheCuts, ()) {
  const auto values =
      *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')));
  std::string bytes;
  for (const std::string& v : values) bytes += pmi2_message("x", {{"value", v}});
  Pmi2Buffer buffer;
  std::vector<std::string> got;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto cut = *rc::gen::inRange<std::size_t>(1, 20);
    buffer.append(std::string_view(bytes).substr(at, cut));
    at += cut;
    std::string text;
    Status status;
    while (buffer.next(text, status)) {
      Pmi2Message message;
      RC_ASSERT(Pmi2Message::parse(text, message).is_ok());
      got.push_back(*message.find("value"));
    }
    RC_ASSERT(status.is_ok());
  }
  RC_ASSERT(got == values);
  RC_ASSERT(buffer.empty());
}

RC_GTEST_PROP(Pmi2MessageProperty, SurvivesAnything, (const std::string& text)) {
  Pmi2Message message;
  if (Pmi2Message::parse(text, message)) RC_ASSERT(!message.command().empty());
}

}  // namespace
}  // namespace heddle::boot
