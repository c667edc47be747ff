// A backlog's ring under every interleaving up to a bound, with stale values: each entry is done once, in order, by whoever
// comes first; what came of it can be read; nobody touches the ring once it is let go. And each weakened variant is found out.
#include "rma/backlog_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/model/broken.hpp"

namespace heddle::rma {
namespace {

using model::expect_found;
using model::expect_right;
using model::Options;
using model::Plain;
using model::Program;
using model::Result;
using model::Untimed;
using model::Weak;
using model::Weakened;

constexpr std::size_t kOrigin = 1, kTarget = 2;
constexpr int kFailing = 1, kError = MPI_ERR_RANK;  // that entry fails
constexpr unsigned kForEver = ~0u;
enum class Kernel { kWorks, kRefuses };

// An atomic is memory as well: whoever gives it back has to come after everybody who uses it.
struct Lifetimes : Untimed {
  template <class T>
  class atomic : public Untimed::atomic<T> {
   public:
    using Base = Untimed::atomic<T>;
    using Base::Base;
    T load(std::memory_order order) const noexcept { return touch(), Base::load(order); }
    void store(T value, std::memory_order order) noexcept { touch(), Base::store(value, order); }
    T exchange(T value, std::memory_order order) noexcept { return touch(), Base::exchange(value, order); }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      return touch(), Base::compare_exchange_strong(expected, desired, success, failure);
    }

   private:
    void touch() const noexcept { Untimed::reads(this, sizeof *this); }
  };
};

// One thread's stores to what is of type T are relaxed.
template <std::size_t kThread, class Of>
struct WeakStores : Lifetimes {
  template <class T>
  class atomic : public Lifetimes::atomic<T> {
   public:
    using Base = Lifetimes::atomic<T>;
    using Base::Base;
    void store(T value, std::memory_order order) noexcept {
      const model::Scheduler* s = model::Scheduler::current();
      const bool here = std::is_same_v<T, Of> && s != nullptr && s->self() == kThread;
      Base::store(value, here ? std::memory_order_relaxed : order);
    }
  };
};
using Tail = std::uint64_t;  // the target's: head
using Seen = std::uint16_t;
using Busy = std::uint32_t;

enum class Seed { kNone, kSeenFirst, kIgnoresBusy, kAsksOnce, kIgnoresRoom, kPostsFirst };

template <class Atomics>
struct Node {
  using Ring = BasicBacklogRing<Atomics, 4>;
  static constexpr std::uint32_t kOver = 1u << 16;

  Ring ring;
  typename Atomics::template atomic<std::uint32_t> packets{0};  // the wire: how many have left
  Plain<int> window{0};                                         // how many entries have been done
  int collected = 0, failed = 0;

  static int number(const std::byte* at) {
    int value = -1;
    Atomics::reads(at, sizeof value);
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  // By either side.
  int perform(typename Ring::Entry& entry) {
    const int i = number(entry.in());
    model::check(window.get() == i, "each entry is done once, in its order");
    window.set(i + 1);
    if (i == kFailing) return kError;
    const int result = 100 + i;
    Atomics::writes(entry.result(), sizeof result);
    std::memcpy(entry.result(), &result, sizeof result);
    return MPI_SUCCESS;
  }
};

// As backlog.cpp does it.
template <class Atomics, Seed kSeed>
class Origin {
 public:
  Origin(Node<Atomics>& node, unsigned patience, Kernel kernel)
      : node_(node), ring_(node.ring), patience_(patience), kernel_(kernel) {}

  void add(std::uint16_t units) {
    const std::uint64_t end = tail_ + Ring::skipped(tail_, units) + units;
    if (end - collected_ > Ring::kUnits && kSeed != Seed::kIgnoresRoom) settle(end - Ring::kUnits);
    typename Ring::Entry& entry = ring_.begin(&tail_, units);
    entry.kind = static_cast<std::uint8_t>(Kind::kPut);
    entry.bytes = sizeof added_;
    entry.rows = 1;
    entry.has_in = entry.out_is = 1;
    std::memcpy(entry.in(), &added_, sizeof added_);
    ++added_;
    ring_.publish(tail_ += units);
  }
  void ask() {
    if (ring_.has_seen(packets_) && !(kSeed == Seed::kAsksOnce && packets_ != 0)) post();
  }
  void settle_all() { settle(tail_); }
  void let_go() {
    while (kSeed == Seed::kIgnoresBusy ? !ring_.has_seen(packets_) : !ring_.is_left(packets_)) Atomics::pause();
    Atomics::writes(&ring_, sizeof ring_);
    node_.packets.store(packets_ | Node<Atomics>::kOver, std::memory_order_release);
  }

 private:
  using Ring = typename Node<Atomics>::Ring;

  void settle(std::uint64_t position) {
    if (!ring_.is_done(position)) wait_for_target(position);
    if (!ring_.is_done(position)) do_it();
    model::check(ring_.is_done(position), "whoever was to do it has done it");
    collect();
  }
  void post() { node_.packets.store(++packets_, std::memory_order_release); }
  void wait_for_target(std::uint64_t position) {
    for (unsigned round = 0; round < patience_ && !ring_.is_done(position); ++round) {
      ask();
      if (patience_ == kForEver) Atomics::pause();
    }
  }
  void do_it() {
    while (!ring_.try_take()) Atomics::pause();
    ring_.do_rest(tail_, [&](std::uint64_t* position) {
      if (kernel_ == Kernel::kRefuses) return false;
      typename Ring::Entry& entry = ring_.at(*position);
      if (entry.kind != Ring::kSkip) {
        if (const int error = node_.perform(entry); error != MPI_SUCCESS) node_.failed = error, entry.fail();
      }
      *position += entry.units;
      return true;
    });
    if (kSeed == Seed::kPostsFirst) post();
    ring_.give_back();
    if (kernel_ == Kernel::kWorks) return;
    if (kSeed != Seed::kPostsFirst) post();
    while (!ring_.has_seen(packets_)) Atomics::pause();  // a question behind that packet is answered
  }
  void collect() {
    const std::uint64_t head = ring_.head.load(std::memory_order_acquire);
    ring_.for_each(collected_, head, [&](typename Ring::Entry& entry) {
      model::check(entry.has_result() == (node_.collected != kFailing), "one that fails gives nothing");
      if (entry.has_result()) {
        model::check(node_.number(entry.result()) == 100 + node_.collected, "what came of it is there");
      }
      ++node_.collected;
    });
    collected_ = head;
    const int failure = ring_.failure.exchange(MPI_SUCCESS, std::memory_order_relaxed);
    if (failure != MPI_SUCCESS) node_.failed = failure;
  }

  Node<Atomics>& node_;
  Ring& ring_;
  const unsigned patience_;
  const Kernel kernel_;
  std::uint64_t tail_ = 0, collected_ = 0;
  std::uint16_t packets_ = 0;
  int added_ = 0;
};

// As backlog_target.cpp does it.
template <class Atomics, Seed kSeed>
void serve_all(Node<Atomics>& node) {
  for (std::uint16_t served = 0;;) {
    const std::uint32_t packets = node.packets.load(std::memory_order_acquire);
    if (static_cast<std::uint16_t>(packets) != served) {
      ++served;
      if (kSeed == Seed::kSeenFirst) node.ring.seen.store(served, std::memory_order_release);
      node.ring.serve(served, [&] { node.ring.do_entries([&](auto& entry) { return node.perform(entry); }); });
    } else if ((packets & Node<Atomics>::kOver) != 0) {
      return;
    } else {
      Atomics::pause();
    }
  }
}

struct Sizes {
  std::vector<std::uint16_t> units;
  std::size_t ask_after = 0;  // entries: a hint before the flush
};
const Sizes kFew{{1, 1}, 1}, kOverTheEnd{{1, 2, 2}, 1}, kSoon{{1, 1, 1}, 1};

// The origin waits for so many rounds and does what is left.
template <class Atomics = Lifetimes, Seed kSeed = Seed::kNone>
Result run(const Sizes& sizes, unsigned patience, Kernel kernel = Kernel::kWorks, Options options = {}) {
  return model::explore(
      [&sizes, patience, kernel](Program& program) {
        const auto node = std::make_shared<Node<Atomics>>();
        program.thread([n = node.get(), &sizes, patience, kernel] {
          Origin<Atomics, kSeed> origin(*n, patience, kernel);
          for (std::size_t i = 0; i < sizes.units.size(); ++i) {
            if (i != 0 && i == sizes.ask_after) origin.ask();
            origin.add(sizes.units[i]);
          }
          origin.settle_all();
          origin.let_go();
        });
        program.thread([n = node.get()] { serve_all<Atomics, kSeed>(*n); });
        program.finally([node, &sizes] {
          const int all = static_cast<int>(sizes.units.size());
          model::check(node->window.get() == all && node->collected == all, "all is done and collected");
          model::check(node->failed == kError, "the error is seen");
        });
      },
      options);
}

const Options kFewer{.stale_loads = 1};

TEST(BacklogRing, ATargetThatMakesProgressDoesAll) {
  expect_right(run(kFew, kForEver));
  expect_right(run(kOverTheEnd, kForEver, Kernel::kWorks, kFewer));
}
TEST(BacklogRing, AnOriginWithoutPatienceDoesTheRest) {
  expect_right(run(kFew, 0));
  expect_right(run(kFew, 2));
  expect_right(run(kOverTheEnd, 0, Kernel::kWorks, kFewer));
  expect_right(run(kOverTheEnd, 1, Kernel::kWorks, kFewer));
}
TEST(BacklogRing, WhatTheKernelRefusesTheTargetDoes) {
  expect_right(run(kFew, 0, Kernel::kRefuses));
  expect_found((run<Lifetimes, Seed::kPostsFirst>(kFew, 0, Kernel::kRefuses)));
}

TEST(BacklogRing, EntriesAndWhatCameOfThemAreReleased) {
  expect_found((run<WeakStores<kOrigin, Tail>>(kFew, kForEver)), model::kRace);
  expect_found((run<WeakStores<kTarget, Tail>>(kFew, kForEver)), model::kRace);
  expect_found((run<WeakStores<kOrigin, Busy>>(kSoon, 0)), model::kRace);
  expect_found((run<WeakStores<kTarget, Busy>>(kFew, 1)), model::kRace);
}
TEST(BacklogRing, TheRingIsTakenInOneStepThatAcquires) {
  expect_found((run<Weakened<kOrigin, Weak::kHalves, Lifetimes>>(kFew, 0)));
  expect_found((run<Weakened<kTarget, Weak::kHalves, Lifetimes>>(kFew, 0)));
  expect_found((run<Weakened<kOrigin, Weak::kUpdates, Lifetimes>>(kFew, 0)), model::kRace);
  expect_found((run<Weakened<kTarget, Weak::kUpdates, Lifetimes>>(kSoon, 0)), model::kRace);
}
TEST(BacklogRing, ItIsLetGoWhenTheTargetIsThrough) {
  expect_found((run<WeakStores<kTarget, Seen>>(kFew, 0)), model::kRace);
  expect_found((run<Lifetimes, Seed::kSeenFirst>(kFew, 0)), model::kRace);
  expect_found((run<Lifetimes, Seed::kIgnoresBusy>(kFew, 0)), model::kRace);
}
TEST(BacklogRing, ATargetThatHasLookedTooEarlyIsAskedAgain) {
  expect_found((run<Lifetimes, Seed::kAsksOnce>(kFew, kForEver)), model::kLost);
}
TEST(BacklogRing, AnEntryStaysUntilItIsCollected) {
  expect_found((run<Lifetimes, Seed::kIgnoresRoom>(kOverTheEnd, 0)));
}

static_assert(sizeof(BasicBacklogRing<Lifetimes>) == sizeof(BacklogRing), "the model tests the real layout");

}  // namespace
}  // namespace heddle::rma
