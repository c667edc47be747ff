#include "base/spelling.hpp"

#include <gtest/gtest.h>

namespace heddle {
namespace {

constexpr std::string_view kWords[] = {"--missing", "--all", "--help", "info"};

TEST(NearestWord, ForgivesSlips) {
  EXPECT_EQ(nearest_word("--mising", kWords), "--missing");   // dropped
  EXPECT_EQ(nearest_word("--hepl", kWords), "--help");        // swapped
  EXPECT_EQ(nearest_word("inffo", kWords), "info");           // added
  EXPECT_EQ(nearest_word("--missinG", kWords), "--missing");  // changed
  EXPECT_EQ(nearest_word("--all", kWords), "--all");
}

TEST(NearestWord, DoesNotGuessWild) {
  EXPECT_EQ(nearest_word("frobnicate", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word("--all", {}), "");
}

}  // namespace
}  // namespace heddle
