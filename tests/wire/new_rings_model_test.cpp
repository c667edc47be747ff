// The stack of new rings under every interleaving up to a bound, with stale values: each ring that concurrent senders
// push is adopted exactly once, with its fields; and each weakened variant is found out.
#include "wire/new_rings.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/model/broken.hpp"
#include "wire/ring_block.hpp"

namespace heddle::wire {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Weak;
using model::Weakened;

constexpr std::size_t kSender = 1;
constexpr std::size_t kReceiver = 3;
constexpr int kRingsOfASender[] = {2, 1};

struct Ring {
  std::uint64_t next = 0;
  Plain<int> sender{-1};
  int adopted = 0;
};

// Two senders push three rings while the owner polls.
template <class Atomics>
model::Result adoption() {
  struct State {
    NewRings<Atomics> list;
    Ring rings[3];
  };
  return model::explore([](model::Program& program) {
    const auto s = std::make_shared<State>();
    for (int sender = 0; sender < 2; ++sender) {
      program.thread([s, sender] {
        for (int i = 0; i < kRingsOfASender[sender]; ++i) {
          Ring& ring = s->rings[sender * 2 + i];
          ring.sender.set(sender);
          s->list.push(static_cast<std::uint64_t>(&ring - s->rings) + 1, ring.next);
        }
      });
    }
    program.thread([s] {
      for (int adopted = 0; adopted < 3;) {
        if (s->list.empty()) {
          Atomics::pause();
          continue;
        }
        s->list.take_all([&](std::uint64_t offset) -> const std::uint64_t& {
          Ring& ring = s->rings[offset - 1];
          model::check(ring.sender.get() == (offset == 3), "the ring has its sender");
          model::check(ring.adopted++ == 0, "a ring is adopted once");
          ++adopted;
          return ring.next;
        });
      }
    });
    program.finally([s] {
      for (const Ring& ring : s->rings) model::check(ring.adopted == 1, "every ring is adopted");
      model::check(s->list.empty(), "nothing is left");
    });
  });
}

TEST(NewRingsModel, EachIsAdoptedOnceWithItsFields) { expect_right(adoption<model::Untimed>()); }

TEST(NewRingsModel, PushingMustRelease) { expect_found(adoption<Weakened<kSender, Weak::kUpdates>>(), model::kRace); }
TEST(NewRingsModel, TakingMustAcquire) { expect_found(adoption<Weakened<kReceiver, Weak::kUpdates>>(), model::kRace); }
TEST(NewRingsModel, TakingInTwoStepsLosesARing) {
  expect_found(adoption<Weakened<kReceiver, Weak::kHalves>>(), model::kLost);
}
TEST(NewRingsModel, PushingInTwoStepsLosesARing) { expect_found(adoption<Weakened<kSender, Weak::kHalves>>()); }

enum class Seed { kNone, kListsItAfterwards, kLooksOnlyIntoKnownRings };

// The first packet of a new ring, for an owner that may be asleep: made and listed, filled, and the bell rung.
template <class Atomics, Seed kSeed>
model::Result first_packet() {
  struct State {
    BasicRingBlock<Atomics> blocks[2];
    NewRings<Atomics> list;
    BasicDoorbell<Atomics> bell;
    std::vector<RingConsumer<Atomics>> known;
    int got = 0;

    void list_it(std::size_t i) { list.push(i + 1, blocks[i].next); }
    bool poll(bool adopt) {
      if (adopt && !list.empty()) {
        list.take_all([&](std::uint64_t offset) -> const std::uint64_t& {
          known.emplace_back(blocks[offset - 1].ring);
          return blocks[offset - 1].next;
        });
      }
      const int before = got;
      for (auto& ring : known) got += ring.pop([](const auto&, const std::byte*) {});
      return got != before;
    }
  };
  return model::explore([](model::Program& program) {
    const auto s = std::make_shared<State>();
    for (std::size_t i = 0; i < 2; ++i) {
      program.thread([s, i] {
        if (kSeed != Seed::kListsItAfterwards) s->list_it(i);
        RingProducer<Atomics> producer(s->blocks[i].ring);
        producer.push_short({}, &i, sizeof i);
        s->bell.ring();
        if (kSeed == Seed::kListsItAfterwards) s->list_it(i);
      });
    }
    program.thread([s] {
      while (s->got < 2) {
        if (!s->poll(true)) s->bell.sleep(1, [&s = *s] { return s.poll(kSeed != Seed::kLooksOnlyIntoKnownRings); });
      }
    });
  });
}

TEST(NewRingsModel, TheFirstPacketWakesItsReceiver) { expect_right(first_packet<model::Untimed, Seed::kNone>()); }
TEST(NewRingsModel, TheHandOverMustNotBeLost) {
  expect_found(first_packet<model::Untimed, Seed::kListsItAfterwards>(), model::kLost);
  expect_found(first_packet<model::Untimed, Seed::kLooksOnlyIntoKnownRings>(), model::kLost);
  expect_found(first_packet<model::WithoutHeavyFence, Seed::kNone>(), model::kLost);
}

}  // namespace
}  // namespace heddle::wire
