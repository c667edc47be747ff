// How many rounds a thread spins before it yields, where there are more waiters than cores, and what it learns from them.
#include "vci/patience.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/cpu.hpp"

namespace heddle::vci {
namespace {

using Step = Patience::Step;

constexpr unsigned kSpins = 1000, kYields = 64;

// Rounds in vain until the first yield, of a wait that nothing ends.
unsigned spins_in_vain(bool crowded, unsigned cost = 1) {
  Patience patience(Patience::learnt(), cost, !crowded);
  for (unsigned round = 1;; ++round) {
    if (patience.next(crowded, kSpins, kYields) == Step::kYield) return round;
  }
}

void arrives_after(unsigned rounds) {
  Patience patience(Patience::learnt());
  while (rounds-- > 0) EXPECT_EQ(patience.next(true, kSpins, kYields), Step::kSpin);
  patience.restart();
}

TEST(Patience, SpinsFewerRoundsWhereThatBringsNothingAndMoreWhereItDoes) {
  Patience::learnt() = {};
  EXPECT_EQ(spins_in_vain(true), 16u);
  EXPECT_EQ(spins_in_vain(true), 15u);
  for (int i = 0; i < 20; ++i) spins_in_vain(true);
  EXPECT_EQ(spins_in_vain(true), 2u);
  arrives_after(1);
  EXPECT_EQ(spins_in_vain(true), 4u);
  arrives_after(2);
  Patience patience(Patience::learnt());
  for (int round = 1; round < 6; ++round) EXPECT_EQ(patience.next(true, kSpins, kYields), Step::kSpin);
  patience.end();
  EXPECT_EQ(spins_in_vain(true), 12u);
}

TEST(Patience, LearnsNothingFromWhatComesAtOnceOrAfterAYield) {
  for (int i = 0; i < 20; ++i) spins_in_vain(true);
  arrives_after(0);
  Patience patience(Patience::learnt());
  EXPECT_EQ(patience.next(true, kSpins, kYields), Step::kSpin);
  EXPECT_EQ(patience.next(true, kSpins, kYields), Step::kYield);
  patience.restart();
  EXPECT_EQ(spins_in_vain(true), 2u);
}

// With a network a round takes as long as a yield.
TEST(Patience, WithANetworkEveryRoundOfACrowdIsFollowedByAYield) {
  Patience::learnt() = {};
  for (int wait = 0; wait < 2; ++wait) {
    Patience patience(Patience::learnt(), 2, true, 4);
    for (unsigned round = 1; round < kYields; ++round) {
      ASSERT_EQ(patience.next(true, kSpins, kYields), Step::kYield) << "round " << round;
      patience.yield();
    }
    EXPECT_EQ(patience.next(true, kSpins, kYields), Step::kSleep);  // however long the yields took
  }
  EXPECT_EQ(spins_in_vain(true), 16u);  // it has learnt nothing from them
}

TEST(Patience, YieldsNowAndThenBeforeEveryRoundWhereOnlyThreadsAreTooMany) {
  Patience::learnt() = {};
  for (const unsigned few : {64u, 60u}) {  // it learns there, too
    Patience patience(Patience::learnt(), 1, true, 4);
    for (unsigned round = 1; round < 70; ++round) {
      const Step step = patience.next(true, kSpins, kYields);
      EXPECT_EQ(step, round % 16 == 0 || round >= few ? Step::kYield : Step::kSpin) << "round " << round;
    }
  }
}

TEST(Patience, SleepsAfterItsYields) {
  Patience patience(Patience::learnt());
  unsigned yields = 0;
  Step step;
  while ((step = patience.next(true, kSpins, kYields)) != Step::kSleep) yields += step == Step::kYield;
  EXPECT_EQ(yields, kYields);
}

TEST(Patience, WithACoreForEachItSpinsThemAllUnlessSiblingsCompute) {
  EXPECT_EQ(spins_in_vain(false), 16u);
  Patience alone(Patience::learnt());
  unsigned rounds = 0;
  while (alone.next(false, 100, kYields) == Step::kSpin) ++rounds;
  EXPECT_EQ(rounds, 99u);
}

// What comes when the spins and yields are over, of up to `most` rounds; a wait that nothing ends. `meanwhile` runs in each.
template <class Meanwhile>
unsigned lingers(std::int64_t linger_ns, unsigned most, Meanwhile meanwhile) {
  Patience patience(Patience::learnt());
  EXPECT_EQ(patience.next(false, 0, 2, 0), Step::kYield);
  for (unsigned round = 0; round < most; ++round) {
    if (patience.next(false, 0, 2, linger_ns) == Step::kSleep) return round;
    meanwhile();
  }
  return most;
}

constexpr std::int64_t kHour = 3'600'000'000'000;
const auto nothing = [] {};
void loses_the_core() {
  const std::int64_t until = now_ns() + 2000;
  while (now_ns() < until) {
  }
}

// Somebody may really want this core, so not every wait does.
TEST(Patience, LingersWhereItWouldSleep) {
  constexpr unsigned kRounds = 5000;
  unsigned longest = 0;
  for (int wait = 0; wait < 1000 && longest < kRounds; ++wait) {
    longest = std::max(longest, lingers(kHour, kRounds, nothing));
  }
  EXPECT_EQ(longest, kRounds);
}

// Rounds in a crowd until it sleeps; `meanwhile` runs in each yield.
template <class Meanwhile>
unsigned rounds_in_crowd(std::int64_t linger_ns, Meanwhile meanwhile, unsigned cost = 1) {
  Patience patience(Patience::learnt(), cost);
  for (unsigned round = 1;; ++round) {
    const Step step = patience.next(true, kSpins, kYields, linger_ns);
    if (step == Step::kSleep) return round;
    if (step == Step::kYield) meanwhile();
  }
}

TEST(Patience, LingersInACrowdWhereNobodyTakesItsYields) {
  constexpr unsigned kFew = 16 + kYields + 1;
  Patience::learnt() = {};
  unsigned longest = 0;
  std::int64_t took = 0;
  for (int wait = 0; wait < 1000 && longest < 10 * kFew; ++wait) {  // a real stranger may take some
    const std::int64_t before = now_ns();
    longest = std::max(longest, rounds_in_crowd(kHour, nothing));
    took = now_ns() - before;
  }
  EXPECT_GE(longest, 10 * kFew);
  EXPECT_GE(took, 200'000);
  EXPECT_LE(rounds_in_crowd(0, nothing), kFew) << "it is told not to";
  EXPECT_LE(rounds_in_crowd(kHour, nothing, 2), kFew) << "with a network";
}

TEST(Patience, DoesNotLingerInACrowdThatTakesItsYields) {
  constexpr unsigned kFew = 16 + kYields + 1;
  Patience::learnt() = {};
  EXPECT_LE(rounds_in_crowd(kHour, loses_the_core), 2 * kFew);
  unsigned at_once = 0;
  for (int wait = 0; wait < 200; ++wait) at_once += rounds_in_crowd(kHour, loses_the_core) <= kFew;
  EXPECT_GE(at_once, 190u);
}

TEST(Patience, LingersNoLongerThanItIsTold) {
  EXPECT_EQ(lingers(0, 5000, nothing), 0u);
  unsigned longest = 0;
  for (int wait = 0; wait < 1000; ++wait) longest = std::max(longest, lingers(100'000, ~0U, nothing));
  EXPECT_GT(longest, 0u);
}

TEST(Patience, DoesNotLingerWhereTheCoreIsWanted) {
  const unsigned rounds = lingers(kHour, 1 << 20, loses_the_core);
  EXPECT_LT(rounds, 1u << 20);
  // Nor in the next waits.
  unsigned sleeps = 0;
  for (int wait = 0; wait < 200; ++wait) sleeps += lingers(kHour, 2000, loses_the_core) == 0;
  EXPECT_GE(sleeps, 190u);
}

// Here really: a thread that computes on the same core.
TEST(Patience, YieldsItsCoreToAStranger) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> over{false};
  std::thread stranger([&over] {  // where it was made
    while (!over.load(std::memory_order_relaxed)) cpu_relax();
  });
  const std::int64_t deadline = now_ns() + 20'000'000'000;
  int gave_way = 0;
  for (int wait = 0; wait < 3; ++wait) {
    Patience patience(Patience::learnt());
    Step step = Step::kSpin;
    while (step != Step::kSleep && now_ns() < deadline) {
      step = patience.next(false, 0, 2, kHour);
      if (step == Step::kYield) patience.yield();
    }
    gave_way += step == Step::kSleep;
  }
  over = true;
  stranger.join();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(gave_way, 3);
}

}  // namespace
}  // namespace heddle::vci
