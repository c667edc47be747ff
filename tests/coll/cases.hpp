// What the tests of collectives go through: sizes, roots, counts, datatypes, in place or not.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "layout.hpp"
#include "plan/algorithms.hpp"
#include "simulator.hpp"

namespace heddle::coll::test {

inline constexpr int kMaxSize = 17;

struct Case {
  int size;
  int root;
  MPI_Count count;
  const Layout& layout;
  bool in_place;
};

inline std::string describe(const Case& c) {
  return "size " + std::to_string(c.size) + " root " + std::to_string(c.root) + " count " + std::to_string(c.count) +
         " of " + c.layout.name + (c.in_place ? " in place" : "");
}

// Numbers that are worth a try: those of a few ranks, of many, and the usual ones.
inline std::vector<std::string> numbers_of(const plan::Algorithm& a) {
  switch (a.numbers) {
    case plan::Numbers::kNone:
      return {""};
    case plan::Numbers::kOne:
      return {":1", ":2", ":5"};
    case plan::Numbers::kRadix:
      return {":2", ":3", ":17"};
    case plan::Numbers::kRadices:
      return {"", ":3", ":2:5", ":4:2"};
    case plan::Numbers::kNode:
      return {":2", ":3", ":4"};
    case plan::Numbers::kLeaders:
      return {":2", ":2:2", ":4:2", ":3:3"};
    case plan::Numbers::kPhases:
      break;
  }
  return {"", ":-1:1", ":-2:2", ":-1:2:1", ":-3:-1:1:3", ":4:1"};
}

// The test, once as the table chooses, without nodes and with, and once with each algorithm of the collective. An
// algorithm that cannot do a case gives way to the table's.
template <class Test>
void with_each_algorithm(plan::Collective collective, Test&& test) {
  for (const std::uint32_t ppn : {1u, 2u, 3u}) {
    SCOPED_TRACE("by the table, ranks of a node: " + std::to_string(ppn));
    Simulator::ppn = ppn;
    test();
    Simulator::ppn = 1;
    if (::testing::Test::HasFatalFailure()) return;
  }
  const std::string name(plan::kCollectives[static_cast<std::size_t>(collective)]);
  for (const plan::Algorithm& a : plan::algorithms()) {
    if (a.collective != collective) continue;
    for (const std::string& numbers : numbers_of(a)) {
      const std::string text = name + "=" + std::string(a.name) + numbers;
      SCOPED_TRACE(text);
      plan::Forced forced;
      ASSERT_TRUE(plan::Forced::parse(text, forced)) << last_error_detail();
      Simulator::forced = &forced;
      test();
      Simulator::forced = nullptr;
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class Test>
void for_each_case(bool rooted, MPI_Count large, Test&& test) {
  for (int size = 1; size <= kMaxSize; ++size) {
    for (int root : rooted ? std::set<int>{0, size / 2, size - 1} : std::set<int>{0}) {
      for (const Layout& layout : layouts()) {
        for (MPI_Count count : {MPI_Count{0}, MPI_Count{1}, MPI_Count{3}, large}) {
          if (count == large && size != 2 && size != 3 && size != 5) continue;
          for (bool in_place : {false, true}) {
            const Case c{size, root, count, layout, in_place};
            SCOPED_TRACE(describe(c));
            test(c);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

inline std::vector<Array> arrays(const Case& c, MPI_Count count) {
  return std::vector<Array>(static_cast<std::size_t>(c.size), Array(c.layout, count));
}

inline void expect_clean(const std::vector<Array>& all) {
  for (const Array& a : all) ASSERT_TRUE(a.holes_untouched());
}

inline Buffer in_place_or(bool in_place, Array& a) {
  return in_place ? Buffer(MPI_IN_PLACE, 0, *a.buffer().type) : a.buffer();
}

}  // namespace heddle::coll::test
