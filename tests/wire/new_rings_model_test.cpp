// The stack of new rings under every interleaving up to a bound, with stale values: each ring that concurrent senders
// push is adopted exactly once, with its fields; and each weakened variant is found out.
#include "wire/new_rings.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"

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

}  // namespace
}  // namespace heddle::wire
