// The lines of a board under every interleaving up to a bound, with stale values: ranks find what the others have shown, nobody writes
// what somebody has still to read, and nobody sleeps on when all have come.
#include "wire/board_model.hpp"

namespace heddle::wire::board_model {
namespace {

using model::expect_found;
using model::expect_right;
using model::kLost;
using model::kRace;
using model::Options;
using model::Program;
using model::Result;
using model::WithWeakFence;

constexpr std::uint32_t kLines = 2;
constexpr Options kUsual{}, kFew{.preemptions = 1, .stale_loads = 1};
constexpr Options kSwitches{.preemptions = 1, .stale_loads = 0}, kStale{.preemptions = 0, .stale_loads = 2};

enum class Seed {
  kNone,
  kAsksNobody,  // whether its place is free
  kRingsFirst,  // and shows then
  kNobodyRings,
  kNobodyTellsOfRoom,
  kWakesTooSoon,      // before all have come
  kOnlyTheLastRings,  // who has seen all when it came
  kNoSecondLook,
};

template <class Atomics>
std::shared_ptr<Node<Atomics>> node_of(std::uint32_t ranks) {
  return std::make_shared<Node<Atomics>>(ranks, kLines);
}

// All wait for all, as in an allreduce.
template <class Atomics>
Result together(std::uint32_t ranks, std::uint64_t operations, Options options = kUsual) {
  return model::explore(
      [=](Program& program) {
        const auto node = node_of<Atomics>(ranks);
        for (std::uint32_t self = 0; self < ranks; ++self) {
          program.thread([node, self, operations] {
            for (std::uint64_t i = 0; i < operations; ++i) {
              const std::uint64_t op = (*node)[self].begin();
              model::check(node->is_free(self, op), "where all wait for all two lines are enough");
              node->show(self, op);
              std::uint32_t next = 0;
              node->spin([&] { return (*node)[self].all_have_shown(op, &next); });
              node->read_all(self, op);
            }
          });
        }
      },
      options);
}

TEST(BoardModel, AllFindWhatAllShow) {
  expect_right(together<Untimed>(2, 3));
  expect_right(together<Untimed>(3, 3, kSwitches));
  expect_right(together<Untimed>(3, 3, kStale));
}
TEST(BoardModel, WhatIsShownMustBeReleasedAndAcquired) {
  expect_found(together<WeakAt<Part::kShown, Weak::kStores>>(2, 3), kRace);
  expect_found(together<WeakAt<Part::kShown, Weak::kLoads>>(2, 3), kRace);
}

// Rank 0 shows, and waits only for its places; the others wait for it, as in a broadcast.
template <class Atomics>
Result root_ahead(std::uint32_t ranks, std::uint64_t operations, Seed seed = Seed::kNone, Options options = kUsual) {
  return model::explore(
      [=](Program& program) {
        const auto node = node_of<Atomics>(ranks);
        for (std::uint32_t self = 0; self < ranks; ++self) {
          program.thread([node, self, operations, seed] {
            for (std::uint64_t i = 0; i < operations; ++i) {
              const std::uint64_t op = (*node)[self].begin();
              if (seed != Seed::kAsksNobody) node->spin([&] { return node->is_free(self, op); });
              node->show(self, op);
              if (self == 0) continue;
              node->spin([&] { return (*node)[self].has_shown(op, 0); });
              node->read(self, op, 0);
            }
          });
        }
      },
      options);
}

TEST(BoardModel, ARootRunsAheadOfItsReaders) {
  expect_right(root_ahead<Untimed>(2, 3, Seed::kNone, {.preemptions = 2, .stale_loads = 2}));
  expect_right(root_ahead<Untimed>(3, 3, Seed::kNone, kSwitches));
  expect_right(root_ahead<Untimed>(3, 3, Seed::kNone, kStale));
}
TEST(BoardModel, APlaceIsAskedForAndHowFarOneHasReadIsReleasedAndAcquired) {
  expect_found(root_ahead<Untimed>(2, 3, Seed::kAsksNobody), model::kAnything);
  expect_found(root_ahead<WeakAt<Part::kThrough, Weak::kStores>>(2, 3), kRace);
  expect_found(root_ahead<WeakAt<Part::kThrough, Weak::kLoads>>(2, 3), kRace);
}

// The same two with ranks that sleep, as coll/turn.hpp does: one of those who see that all have come wakes the others; a root wakes its
// readers when it has shown, and they wake it when it waits for a place.
template <class Atomics>
Result asleep(std::uint32_t ranks, std::uint64_t operations, bool all_wait, Seed seed, Tells tells, Options options) {
  return model::explore(
      [=](Program& program) {
        const auto node = node_of<Atomics>(ranks);
        for (std::uint32_t self = 0; self < ranks; ++self) {
          program.thread([=] {
            const bool again = seed != Seed::kNoSecondLook;
            for (std::uint64_t i = 0; i < operations; ++i) {
              const std::uint64_t op = (*node)[self].begin();
              node->sleep_for_room(self, op, again, tells);
              if (seed == Seed::kRingsFirst) node->ring(self);
              node->show(self, op);
              if (seed != Seed::kNobodyTellsOfRoom) node->tell_of_room(self);
              if (seed == Seed::kWakesTooSoon) node->ring_once(self, op);
              if (all_wait) {
                std::uint32_t next = 0, looks = 0;
                node->sleep(
                    self, again, [&] { return ++looks, (*node)[self].all_have_shown(op, &next); }, tells);
                if (seed != Seed::kNobodyRings && (seed != Seed::kOnlyTheLastRings || looks == 1))
                  node->ring_once(self, op);
                node->read_all(self, op);
                continue;
              }
              if (self == 0) {
                if (seed != Seed::kRingsFirst && seed != Seed::kNobodyRings) node->ring(self);
                continue;
              }
              // With several operations it is the root's waits for room that are in question.
              node->sleep(
                  self, again, [&] { return (*node)[self].has_shown(op, 0); },
                  operations == 1 ? tells : Tells::kBefore);
              node->read(self, op, 0);
            }
          });
        }
      },
      options);
}
template <class Atomics>
Result all_asleep(std::uint32_t ranks, std::uint64_t operations, Seed seed = Seed::kNone, Tells tells = Tells::kBefore,
                  Options options = kUsual) {
  return asleep<Atomics>(ranks, operations, true, seed, tells, options);
}
template <class Atomics>
Result root_asleep(std::uint32_t ranks, std::uint64_t operations, Seed seed = Seed::kNone, Tells tells = Tells::kBefore,
                   Options options = kUsual) {
  return asleep<Atomics>(ranks, operations, false, seed, tells, options);
}

TEST(BoardModel, WhoSeesThatAllHaveComeWakesTheOthers) {
  expect_right(all_asleep<Untimed>(2, 3));
  expect_right(all_asleep<Untimed>(3, 1));
  expect_right(all_asleep<Untimed>(2, 2, Seed::kNone, Tells::kFenced));
  expect_right(all_asleep<Untimed>(3, 3, Seed::kNone, Tells::kBefore, kFew));
}
TEST(BoardModel, ALostWakeUpIsFound) {
  expect_found(all_asleep<Untimed>(2, 1, Seed::kNobodyRings), kLost);
  expect_found(all_asleep<Untimed>(2, 1, Seed::kNoSecondLook), kLost);
  expect_found(all_asleep<Untimed>(2, 1, Seed::kNone, Tells::kAfter), kLost);
  expect_found(all_asleep<Untimed>(2, 1, Seed::kNone, Tells::kUnfenced), kLost);
  expect_found(all_asleep<Untimed>(3, 1, Seed::kOnlyTheLastRings), kLost);
  expect_found(all_asleep<Untimed>(3, 1, Seed::kWakesTooSoon), kLost);
  expect_found(all_asleep<model::WithoutHeavyFence>(2, 1), kLost);
}
TEST(BoardModel, ARootAndItsReadersWakeEachOther) {
  expect_right(root_asleep<Untimed>(2, 3));
  expect_right(root_asleep<Untimed>(3, 1));
  expect_right(root_asleep<Untimed>(2, 3, Seed::kNone, Tells::kFenced));
  expect_right(root_asleep<Untimed>(3, 3, Seed::kNone, Tells::kBefore, kFew));
}
TEST(BoardModel, ALostWakeUpOfARootOrAReaderIsFound) {
  expect_found(root_asleep<Untimed>(2, 1, Seed::kRingsFirst), kLost);
  expect_found(root_asleep<Untimed>(2, 1, Seed::kNobodyRings), kLost);
  expect_found(root_asleep<Untimed>(2, 3, Seed::kNobodyTellsOfRoom), kLost);
  expect_found(root_asleep<Untimed>(2, 1, Seed::kNoSecondLook), kLost);
  expect_found(root_asleep<Untimed>(2, 1, Seed::kNone, Tells::kAfter), kLost);
  expect_found(root_asleep<Untimed>(2, 1, Seed::kNone, Tells::kUnfenced), kLost);
  expect_found(root_asleep<Untimed>(2, 3, Seed::kNone, Tells::kUnfenced), kLost);
  expect_found(root_asleep<model::WithoutHeavyFence>(2, 1), kLost);
}

// Ranks that show at the same time, look twice and then compute (coll/started.cpp), beside those that sleep: one of them all wakes these.
template <class Atomics>
Result computing(std::uint32_t looking, std::uint32_t sleeping, Tells tells = Tells::kBefore, bool fences = true) {
  return model::explore(
      [=](Program& program) {
        const auto node = node_of<Atomics>(looking + sleeping);
        for (std::uint32_t self = 0; self < looking + sleeping; ++self) {
          program.thread([=] {
            auto& board = (*node)[self];
            const std::uint64_t op = board.begin();
            node->show(self, op);
            std::uint32_t next = 0;
            const auto all = [&] { return board.all_have_shown(op, &next); };
            if (self >= looking) {
              node->sleep(self, true, all, tells);
            } else if (!all()) {
              if (fences) board.between_show_and_look_again();
              if (!all()) return;
            }
            node->ring_once(self, op);
            node->read_all(self, op);
          });
        }
      },
      kUsual);
}

TEST(BoardModel, WhoGoesOnOrTheSleeperItselfSeesAll) {
  for (const Tells tells : {Tells::kBefore, Tells::kFenced}) {
    expect_right(computing<Untimed>(1, 2, tells));
    expect_right(computing<Untimed>(2, 1, tells));
  }
}
TEST(BoardModel, AFenceBeforeTheSecondLookIsNeeded) {
  expect_found(computing<Untimed>(2, 1, Tells::kBefore, false), kLost);
  expect_found(computing<Untimed>(2, 1, Tells::kUnfenced), kLost);
  expect_found(computing<WithWeakFence>(2, 1), kLost);
  expect_found(computing<model::WithoutHeavyFence>(2, 1), kLost);
}

}  // namespace
}  // namespace heddle::wire::board_model
