// Claims under every interleaving up to a bound: each unit has one owner, and a receiver that is late claims nothing of
// the next message.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/model/model_atomics.hpp"
#include "wire/claim.hpp"

namespace heddle::wire {
namespace {

using model::ModelAtomics;
using model::Program;
using model::Result;

struct State {
  ClaimBlock<ModelAtomics> block;
  std::vector<int> owners = std::vector<int>(8, 0);

  void own(Units units) {
    for (std::uint32_t i = 0; i < units.count; ++i) ++owners[units.first + i];
  }
};

TEST(ClaimModel, EachUnitHasOneOwner) {
  const Result result = model::explore([](Program& program) {
    const auto s = std::make_shared<State>();
    const std::uint32_t generation = s->block.open(1);
    for (const std::uint32_t most : {1u, 2u}) {
      program.thread([s, most, generation] {
        Claims<ModelAtomics> mine(s->block, generation, 5);
        for (Units got; (got = mine.claim(most)).count != 0;) s->own(got);
      });
    }
    program.finally([s] {
      for (std::size_t i = 0; i < 8; ++i) model::check(s->owners[i] == (i >= 1 && i < 5), "one owner for each unit");
    });
  });
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
}

TEST(Claims, AnEvenNumberOfFairPartsIsTheMessage) {
  ClaimBlock<StdAtomics> block;
  for (std::uint32_t units = 1; units <= 100; ++units) {
    for (const std::uint32_t most : {1u, 3u, 8u}) {
      const std::uint32_t part = Claims<>(block, block.open(0), units).fair(most);
      ASSERT_GE(part, 1u);
      ASSERT_LE(part, most);
      const std::uint32_t parts = (units + part - 1) / part;
      if (units >= 2 && units <= 2 * most) {
        ASSERT_EQ(parts, 2u) << units << " by " << most;
      }
      ASSERT_LE(parts, (units + most - 1) / most + 1) << "hardly more claims than needed";
    }
  }
}

TEST(ClaimModel, WhatWasGivenBackHasOneOwnerToo) {
  const Result result = model::explore([](Program& program) {
    const auto s = std::make_shared<State>();
    const std::uint32_t generation = s->block.open(1);
    program.thread([s, generation] {  // the sender finds no room, twice
      Claims<ModelAtomics> mine(s->block, generation, 4);
      for (int i = 0; i < 2; ++i) {
        const Units got = mine.claim(1);
        if (got.count != 0 && !mine.give_back(got)) s->own(got);
      }
      for (Units got; (got = mine.claim(1)).count != 0;) s->own(got);
    });
    program.thread([s, generation] {
      Claims<ModelAtomics> mine(s->block, generation, 4);
      for (int i = 0; i < 2; ++i) s->own(mine.claim(2));
    });
    program.finally([s] {
      for (std::size_t i = 0; i < 8; ++i) model::check(s->owners[i] == (i >= 1 && i < 4), "one owner for each unit");
    });
  });
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
}

TEST(ClaimModel, AnOldViewGetsNothingOfTheNextMessage) {
  const Result result = model::explore([](Program& program) {
    const auto s = std::make_shared<State>();
    Claims<ModelAtomics> old(s->block, s->block.open(1), 3);
    program.thread([s, first = old]() mutable {  // the owner: pushes the first message alone, then opens the next
      std::uint32_t mine = 0;
      while (first.claim(1).count != 0) ++mine;
      if (mine != 2) return;  // the receiver had a part: it would tell
      Claims<ModelAtomics> second(s->block, s->block.open(1), 3);
      while (second.claim(1).count != 0) ++mine;
      model::check(mine == 4, "nobody else knows of the second message");
    });
    program.thread([old]() mutable { old.claim(1); });
  });
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
}

static_assert(sizeof(ClaimBlock<ModelAtomics>) == sizeof(PlainClaimBlock), "the model tests the real layout");

}  // namespace
}  // namespace heddle::wire
