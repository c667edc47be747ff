#include "tool/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace heddle::tool {
namespace {

TEST(GiveText, CutsAndTellsTheWholeLength) {
  for (int room : {1, 2, 5, 6, 7, 20}) {
    char buffer[21];
    std::memset(buffer, '#', sizeof buffer);
    int length = room;
    give_text("twelve", buffer, &length);
    EXPECT_EQ(length, 7);
    const std::string_view whole = "twelve";
    const auto kept = std::min<std::size_t>(static_cast<std::size_t>(room) - 1, whole.size());
    EXPECT_EQ(std::string_view(buffer), whole.substr(0, kept));
    for (std::size_t i = kept + 1; i < sizeof buffer; ++i) EXPECT_EQ(buffer[i], '#') << room << " wrote " << i;
  }
}

TEST(GiveText, WritesNothingWhereNothingIsWanted) {
  char buffer[4] = "abc";
  int length = 0;
  give_text("twelve", buffer, &length);
  EXPECT_EQ(length, 7);
  length = -3;
  give_text("twelve", buffer, &length);
  EXPECT_EQ(length, 7);
  give_text("twelve", nullptr, &length);
  EXPECT_EQ(length, 7);
  give_text("twelve", buffer, nullptr);
  EXPECT_STREQ(buffer, "abc");
  length = 4;
  give_text("", buffer, &length);
  EXPECT_EQ(length, 1);
  EXPECT_STREQ(buffer, "");
}

TEST(Lookup, KnowsIndicesAndNames) {
  struct Row {
    const char* name;
  };
  const std::array<Row, 2> rows{{{"one"}, {"two"}}};
  int index = -1;
  EXPECT_TRUE(find_name("row", "two", std::span<const Row>(rows), &index));
  EXPECT_EQ(index, 1);
  EXPECT_EQ(find_name("row", "tw", std::span<const Row>(rows), &index).error_class(), MPI_T_ERR_INVALID_NAME);
  EXPECT_STREQ(last_error_detail(), "there is no row 'tw'; MPI_T_*_get_info lists the names");
  EXPECT_TRUE(check_index("i", 1, 2));
  for (int wrong : {-1, 2, 100}) EXPECT_EQ(check_index("i", wrong, 2).error_class(), MPI_T_ERR_INVALID_INDEX);
  EXPECT_EQ(check_index("i", 0, 0).error_class(), MPI_T_ERR_INVALID_INDEX);
}

}  // namespace
}  // namespace heddle::tool
