// What a lane promises, under every interleaving up to a bound, with stale values: messages of threads that send one
// after the other keep their order, and nobody sleeps on while there is room for what waits. And each seeded bug is found.
#include "vci/lane_model.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace heddle::vci {
namespace {

using model::expect_found;
using model::expect_right;
using model::Options;
using model::Untimed;
using model::WithoutHeavyFence;
using Model = Small<Untimed, 4>;
using WithHeldCredit = Small<Untimed, 8>;  // a quarter is two, so that the receiver holds credit back

template <class Atomics>
constexpr std::uint32_t kSlots = wire::RingMemory<Atomics>::kSlots;

// Thread A sends 0, tells B by an atomic, and sends 2; B, told, sends 1. `waiting`: packets already in the ring.
template <class Atomics, Seed kSeed>
model::Result two_senders(std::uint32_t waiting, const Options& options = {}) {
  struct State : Pair<Atomics, kSeed> {
    typename Atomics::template atomic<int> gate{0};
  };
  return model::explore(
      [waiting](model::Program& program) {
        const auto s = std::make_shared<State>();
        for (std::uint32_t i = 0; i < waiting; ++i) s->lane.send(100 + i);
        const auto finish = [s] { s->lane.wait([] { return 0u; }, [s = s.get()] { return s->lane.idle(); }); };
        program.thread([s, finish] {
          s->lane.send(0);
          s->gate.store(1, std::memory_order_release);
          s->lane.send(2);
          finish();
        });
        program.thread([s, finish] {
          while (s->gate.load(std::memory_order_acquire) == 0) Atomics::pause();
          s->lane.send(1);
          finish();
        });
        program.thread([s, waiting] {
          s->receive(waiting + 3);
          for (std::uint32_t i = 0; i < waiting; ++i) model::check(s->got[i] == 100 + i, "what waited comes first");
          for (std::uint32_t m : {0u, 1u, 2u}) model::check(s->place_of(m) < waiting + 3, "each message comes");
          model::check(s->place_of(0) < s->place_of(1), "what was sent before, in another thread, comes before");
          model::check(s->place_of(0) < s->place_of(2), "what was sent before comes before");
        });
      },
      options);
}

Options bounds(std::size_t preemptions, std::size_t stale_loads) {
  Options options;
  options.preemptions = preemptions;
  options.stale_loads = stale_loads;
  return options;
}

TEST(LaneModel, KeepsTheOrderOfThreadsThatSynchronise) {
  expect_right(two_senders<Model, Seed::kNone>(0, bounds(2, 0)));
  expect_right(two_senders<Model, Seed::kNone>(0, bounds(1, 1)));
}
TEST(LaneModel, KeepsTheOrderOfWhatWaitsForRoom) {
  expect_right(two_senders<Model, Seed::kNone>(kSlots<Model>, bounds(1, 1)));
}
TEST(LaneModel, PublishingAfterTheUnlockIsFound) {
  expect_found(two_senders<Model, Seed::kPublishAfterUnlock>(0, bounds(2, 0)));
}
TEST(LaneModel, PassingTheQueueIsFound) {
  expect_found(two_senders<Model, Seed::kPassTheQueue>(kSlots<Model>, bounds(1, 0)), "comes before");
}

// One sender whose ring is full, and the receiver: each sleeps when it has nothing to do.
template <class Atomics, Seed kSeed>
model::Result full_ring(const Options& options, std::uint32_t more = 2, unsigned poll_limit = 32) {
  return model::explore(
      [=](model::Program& program) {
        const auto s = std::make_shared<Pair<Atomics, kSeed>>();
        s->poll_limit = poll_limit;
        for (std::uint32_t i = 0; i < kSlots<Atomics>; ++i) s->lane.send(i);
        program.thread([s, more] {
          for (std::uint32_t i = 0; i < more; ++i) s->lane.send(kSlots<Atomics> + i);
          s->lane.wait([] { return 0u; }, [s = s.get()] { return s->lane.idle(); });
        });
        program.thread([s, more] { s->receive(kSlots<Atomics> + more); });
        program.finally([s, more] {
          for (std::uint32_t i = 0; i < kSlots<Atomics> + more; ++i) model::check(s->got[i] == i, "all came, in order");
        });
      },
      options);
}

TEST(WaitingForRoom, NobodySleepsOn) {
  expect_right(full_ring<WithHeldCredit, Seed::kNone>(bounds(2, 1)));
  expect_right(full_ring<WithHeldCredit, Seed::kNone>(bounds(1, 3)));
  expect_right(full_ring<WithHeldCredit, Seed::kNone>(bounds(1, 1), 3, 2));
}
TEST(WaitingForRoom, SleepingWithoutTheFenceIsFound) {
  expect_found(full_ring<Small<WithoutHeavyFence, 8>, Seed::kNone>(bounds(2, 3)), model::kLost);
}
TEST(WaitingForRoom, SleepingWithoutASecondLookIsFound) {
  expect_found(full_ring<WithHeldCredit, Seed::kNoSecondLook>(bounds(2, 3)), model::kLost);
}
TEST(WaitingForRoom, AskingWithoutLookingAgainIsFound) {
  expect_found(full_ring<WithHeldCredit, Seed::kAskWithoutLooking>(bounds(2, 3)), model::kLost);
}
TEST(WaitingForRoom, AskingNobodyIsFound) {
  expect_found(full_ring<WithHeldCredit, Seed::kAskNobody>(bounds(2, 3)), model::kLost);
}
TEST(WaitingForRoom, LoweringTheFlagAfterTheRingIsFound) {
  expect_found(full_ring<WithHeldCredit, Seed::kLowerAfterRinging>(bounds(2, 1), 3, 2), model::kLost);
}

// A ring is full, with `queued` messages behind it. One thread does `act` and leaves for good; another one sleeps for the
// answer, which comes when all messages have.
template <class Atomics, Seed kSeed, class Act>
model::Result left_to_a_sleeper(const Options& options, std::uint32_t queued, Act act) {
  struct State : Pair<Atomics, kSeed> {
    typename Atomics::template atomic<int> answer{0};
  };
  return model::explore(
      [queued, act](model::Program& program) {
        const auto s = std::make_shared<State>();
        for (std::uint32_t i = 0; i < kSlots<Atomics> + queued; ++i) s->lane.send(i);
        program.thread([s, act] { act(*s); });
        program.thread([s] {
          s->lane.wait([] { return 0u; }, [s = s.get()] { return s->answer.load(std::memory_order_acquire) != 0; });
        });
        program.thread([s] {
          s->receive(kSlots<Atomics> + 1);
          s->answer.store(1, std::memory_order_release);
          s->sender_bell.ring();
        });
      },
      options);
}

// A thread finds no room, queues its message and leaves for good (MPI_Isend); another one sleeps for the answer.
template <class Atomics, Seed kSeed>
model::Result queued_by_another(const Options& options) {
  return left_to_a_sleeper<Atomics, kSeed>(options, 0, [](auto& s) { s.lane.send(kSlots<Atomics>); });
}

TEST(WaitingForRoom, WhatAnotherThreadQueuedIsSent) {
  expect_right(queued_by_another<Model, Seed::kNone>(bounds(2, 0)));
  expect_right(queued_by_another<Model, Seed::kNone>(bounds(1, 2)));
}
TEST(WaitingForRoom, QueuingSilentlyIsFound) {
  expect_found(queued_by_another<Model, Seed::kQueueSilently>(bounds(2, 0)), model::kLost);
}

// Something is queued. A thread tries to send it in vain and leaves for good (MPI_Test); another one sleeps for the
// answer, and may have met the first at the lane in its last look.
template <class Atomics, Seed kSeed>
model::Result tried_by_another(const Options& options) {
  return left_to_a_sleeper<Atomics, kSeed>(options, 1, [](auto& s) {
    bool contended = false;
    s.lane.progress(&contended);
  });
}

TEST(WaitingForRoom, WhatAnotherThreadTriedInVainIsSent) {
  expect_right(tried_by_another<Model, Seed::kNone>(bounds(2, 0)));
  expect_right(tried_by_another<Model, Seed::kNone>(bounds(1, 2)));
}
TEST(WaitingForRoom, SleepingThoughTheLaneIsTakenIsFound) {
  expect_found(tried_by_another<Model, Seed::kSleepThoughContended>(bounds(2, 0)), model::kLost);
}

}  // namespace
}  // namespace heddle::vci
