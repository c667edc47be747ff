// Completion meets MPI_Request_free under every interleaving up to a bound, with stale values: the request is destroyed
// exactly once and nobody writes to it afterwards; and each weakened variant is found out.
#include "p2p/ownership.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"

namespace heddle::p2p {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Untimed;
using model::Weak;
using model::Weakened;

constexpr std::size_t kCompleter = 1, kOwner = 2;
constexpr const char* kNotOnce = "destroyed exactly once";
enum class Seed { kNone, kCompletesAlone, kWritesAfterwards };

template <class Atomics, Seed kSeed = Seed::kNone>
struct Request {
  using Rules = Ownership<Atomics>;
  typename Rules::Word word{0};
  Plain<int> outcome{0};
  Plain<int> owners{0};
  int destroyed = 0;

  void destroy() {
    outcome.set(-1);
    owners.set(-1);
    ++destroyed;
  }
  void finish() {
    outcome.set(7);
    const std::uint32_t before = kSeed == Seed::kCompletesAlone ? Rules::complete_alone(word) : Rules::complete(word);
    if (kSeed == Seed::kWritesAfterwards) outcome.set(8);
    if (before == Rules::kAbandoned) destroy();
  }
  void let_go() {
    owners.set(1);
    if (!Rules::abandon(word)) destroy();
  }
};

template <class Atomics, Seed kSeed = Seed::kNone>
model::Result free_meets_completion() {
  return model::explore([](model::Program& program) {
    const auto r = std::make_shared<Request<Atomics, kSeed>>();
    program.thread([r] { r->finish(); });
    program.thread([r] { r->let_go(); });
    program.finally([r] { model::check(r->destroyed == 1, kNotOnce); });
  });
}

TEST(OwnershipModel, DestroyedExactlyOnceAndLast) { expect_right(free_meets_completion<Untimed>()); }

TEST(OwnershipModel, CompletingMustReleaseAndAcquire) {
  expect_found(free_meets_completion<Weakened<kCompleter, Weak::kUpdates>>(), model::kRace);
}
TEST(OwnershipModel, LettingGoMustReleaseAndAcquire) {
  expect_found(free_meets_completion<Weakened<kOwner, Weak::kUpdates>>(), model::kRace);
}
TEST(OwnershipModel, CompletingInTwoStepsIsNotEnough) {
  expect_found(free_meets_completion<Weakened<kCompleter, Weak::kHalves>>());
}
TEST(OwnershipModel, LettingGoInTwoStepsIsNotEnough) {
  expect_found(free_meets_completion<Weakened<kOwner, Weak::kHalves>>());
}
TEST(OwnershipModel, CompletingAloneIsForOneThread) {
  expect_found(free_meets_completion<Untimed, Seed::kCompletesAlone>());
}
TEST(OwnershipModel, NothingIsWrittenAfterCompletion) {
  expect_found(free_meets_completion<Untimed, Seed::kWritesAfterwards>(), model::kRace);
}

// The usual end: the owner waits, and destroys.
template <class Atomics>
model::Result wait_meets_completion() {
  return model::explore([](model::Program& program) {
    const auto r = std::make_shared<Request<Atomics>>();
    program.thread([r] { r->finish(); });
    program.thread([r] {
      while (r->word.load(std::memory_order_acquire) == 0) Atomics::pause();
      model::check(r->outcome.get() == 7, "the outcome is there");
      r->destroy();
    });
    program.finally([r] { model::check(r->destroyed == 1, kNotOnce); });
  });
}

TEST(OwnershipModel, WhoWaitsSeesTheOutcomeAndDestroys) {
  expect_right(wait_meets_completion<Untimed>());
  expect_found(wait_meets_completion<Weakened<kCompleter, Weak::kUpdates>>(), model::kRace);
  expect_found(wait_meets_completion<Weakened<kOwner, Weak::kLoads>>(), model::kRace);
}

// One thread owns and completes.
TEST(OwnershipModel, AloneItIsDestroyedOnceInEitherOrder) {
  for (bool free_first : {false, true}) {
    Request<Untimed, Seed::kCompletesAlone> r;
    free_first ? r.let_go() : r.finish();
    EXPECT_EQ(r.destroyed, 0);
    free_first ? r.finish() : r.let_go();
    EXPECT_EQ(r.destroyed, 1);
  }
}

}  // namespace
}  // namespace heddle::p2p
