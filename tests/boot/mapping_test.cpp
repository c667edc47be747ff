// PMI_process_mapping, from launchers and from nowhere.
#include "boot/mapping.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace heddle::boot {
namespace {

std::vector<int> nodes(std::string_view text, int size) {
  std::vector<int> result;
  if (!parse_process_mapping(text, size, result)) return {};
  return result;
}

TEST(Mapping, WhatLaunchersSay) {
  EXPECT_EQ(nodes("(vector,(0,1,4))", 4), (std::vector{0, 0, 0, 0}));
  EXPECT_EQ(nodes("(vector,(0,2,2))", 4), (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(nodes("(vector,(0,3,1))", 3), (std::vector{0, 1, 2}));
  EXPECT_EQ(nodes("(vector,(0,2,1),(2,1,2))", 4), (std::vector{0, 1, 2, 2}));
  EXPECT_EQ(nodes("(vector,(5,1,1),(3,1,1),(5,1,1))", 3), (std::vector{0, 1, 0})) << "numbered by first appearance";
  EXPECT_EQ(nodes("(vector,(0,2,1))", 5), (std::vector{0, 1, 0, 1, 0})) << "starts again";
  EXPECT_EQ(nodes("(vector, (0, 1, 2))", 2), (std::vector{0, 0})) << "blanks";
  EXPECT_EQ(nodes("(vector,(0,1048576,1048576))", 2), (std::vector{0, 0})) << "no more work than ranks";
}

TEST(Mapping, WhatHydraSaysInShort) {
  EXPECT_EQ(nodes("(vector,(0,1,2),1)", 3), (std::vector{0, 0, 1}));
  EXPECT_EQ(nodes("(vector,(0,2,2),2)", 5), (std::vector{0, 0, 1, 1, 2}));
  EXPECT_EQ(nodes("(vector,[(0,3,1)]x2,0)", 7), (std::vector{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(nodes("(vector,[0,(1,1,2),2]x2,0)", 9), (std::vector{0, 1, 1, 2, 0, 1, 1, 2, 0}));
  EXPECT_EQ(nodes("(vector,4,[(0,1,1)]x1048576,3)", 4), (std::vector{0, 1, 1, 1})) << "no more work than ranks";
  EXPECT_EQ(nodes("(vector,[[0]x2,1]x2)", 6), (std::vector{0, 0, 1, 0, 0, 1}));
}

TEST(Mapping, WhatLaunchersDoNotSay) {
  for (const char* text : {"",
                           "(",
                           "()",
                           "vector",
                           "(vector)",
                           "(vector,)",
                           "(vector,())",
                           "(vector,(0,1))",
                           "(vector,(0,1,2)",
                           "(vector,(0,1,2)),",
                           "(vector,(0,1,2)) x",
                           "(vector,(0,0,2))",
                           "(vector,(0,1,0))",
                           "(vector,(-1,1,1))",
                           "(vector,(0,99999999999,1))",
                           "(matrix,(0,1,2))",
                           "(vector,(0,1,2),)",
                           "(vector,(a,b,c))",
                           "(vector,[0]x0)",
                           "(vector,[0]x)",
                           "(vector,[0])",
                           "(vector,[0x2)",
                           "(vector,[]x2)",
                           "(vector,0]x2)",
                           "(vector,0x2)",
                           "(vector,[[[[[[[[[0]x1]x1]x1]x1]x1]x1]x1]x1]x1)"}) {
    EXPECT_TRUE(nodes(text, 2).empty()) << text;
  }
}

RC_GTEST_PROP(MappingProperty, SameNodeExactlyWhereTheBlocksSaySo, ()) {
  const auto blocks = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 6), rc::gen::inRange(1, 4), rc::gen::inRange(1, 4))));
  const int size = *rc::gen::inRange(1, 40);
  std::string text = "(vector";
  std::vector<int> expected;  // with the launcher's node numbers
  for (const auto& [first, count, ranks] : blocks) {
    text += ",(" + std::to_string(first) + "," + std::to_string(count) + "," + std::to_string(ranks) + ")";
    for (int n = 0; n < count; ++n) expected.insert(expected.end(), static_cast<std::size_t>(ranks), first + n);
  }
  text += ")";
  const std::size_t period = expected.size();
  while (static_cast<int>(expected.size()) < size) expected.push_back(expected[expected.size() - period]);
  const std::vector<int> got = nodes(text, size);
  RC_ASSERT(static_cast<int>(got.size()) == size);
  int highest = -1;
  for (int i = 0; i < size; ++i) {
    RC_ASSERT(got[i] <= highest + 1);
    highest = std::max(highest, got[i]);
    for (int j = 0; j < i; ++j) RC_ASSERT((got[i] == got[j]) == (expected[i] == expected[j]));
  }
}

// Any string: an answer for every rank, or an error; never a crash, never long.
RC_GTEST_PROP(MappingProperty, SurvivesAnything, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("(", ")", ",", "vector", "0", "1", "7", "99999999999999999999", "-", " ", "x",
                                    "(0,1,2)", "[", "]", "]x3", "[0]x2"));
  std::string text = *rc::gen::element<std::string>("", "(vector,", "(vector,(0,1,");
  for (const std::string& p : pieces) text += p;
  const int size = *rc::gen::inRange(1, 20);
  std::vector<int> result;
  if (parse_process_mapping(text, size, result)) RC_ASSERT(static_cast<int>(result.size()) == size);
}

}  // namespace
}  // namespace heddle::boot
