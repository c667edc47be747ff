// Who does a short access: the target while it waits in MPI, the origin alone while it does not, and never both.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "coll/api.hpp"
#include "mpi/counts.hpp"
#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"
#include "rma/api.hpp"
#include "rma/backlog.hpp"
#include "rma/window.hpp"
#include "support/in_process.hpp"
#include "vci/event_log.hpp"
#include "wire/single_copy.hpp"

namespace heddle::rma {
namespace {

using Clock = std::chrono::steady_clock;

mpi::Datatype& long_type() { return *mpi::from_handle(MPI_LONG); }
mpi::Op& sum() { return *mpi::from_handle(MPI_SUM); }

constexpr std::size_t kLongs = 64;

// origin(window) at rank 1, and meanwhile target(its memory, window) at rank 0, with a window of MPI_Win_create that the kernel reaches.
template <class Origin, class Target>
void run(const char* single_copy, Origin origin, Target target) {
  setenv("HEDDLE_SINGLE_COPY", single_copy, 1);
  test::run_processes(2, [&](mpi::Process& p) {
    long memory[kLongs] = {};
    MPI_Win handle;
    ASSERT_TRUE(api::win_create(memory, sizeof memory, sizeof(long), nullptr, *p.world(), &handle))
        << last_error_detail();
    Window& window = as_window(*mpi::from_handle(handle));
    ASSERT_TRUE(api::barrier(*p.world()));
    if (p.world()->rank == 1) {
      ASSERT_EQ(window.target(0).way.load(), Way::kKernel);
      ASSERT_TRUE(api::win_lock_all(0, window));
      origin(window);
      ASSERT_TRUE(api::win_unlock_all(window));
    } else {
      target(memory, window);
    }
    ASSERT_TRUE(api::win_free(&handle)) << last_error_detail();
  });
  unsetenv("HEDDLE_SINGLE_COPY");
}

// A put, a sum and what comes back of both.
void access(Window& window, long round) {
  const long value = 100 + round, one = 1;
  long was = -1, got = -1;
  ASSERT_TRUE(api::put(&value, 1, long_type(), 0, 1, 1, long_type(), window));
  ASSERT_TRUE(api::fetch_and_op(&one, &was, long_type(), 0, 0, sum(), window));
  ASSERT_TRUE(api::win_flush(0, window));
  ASSERT_TRUE(api::get(&got, 1, long_type(), 0, 1, 1, long_type(), window));
  ASSERT_TRUE(api::win_flush(0, window));
  ASSERT_EQ(was, round);
  ASSERT_EQ(got, value);
}

TEST(Backlog, ATargetThatIsAwayIsNotNeeded) {
  std::atomic<bool> is_done{false};
  constexpr long kRounds = 100;
  run(
      "test:none",
      [&](Window& window) {
        for (long i = 0; i < kRounds; ++i) access(window, i);
        is_done = true;
      },
      [&](const long* memory, Window&) {
        const auto deadline = Clock::now() + std::chrono::seconds(20);
        while (!is_done && Clock::now() < deadline) std::this_thread::yield();
        EXPECT_TRUE(is_done);
        EXPECT_EQ(memory[0], kRounds);
        EXPECT_EQ(memory[1], 100 + kRounds - 1);
      });
}

// What does not fit behind the ring's end and before its oldest entry, in the only place where both are short of one unit.
TEST(Backlog, TheLongestEntryWaitsForItsRoom) {
  constexpr int kLongest = 512;
  static long sums[kLongest], ones[kLongest], was[kLongest];
  std::fill_n(ones, kLongest, 1);
  setenv("HEDDLE_SINGLE_COPY", "test:none", 1);
  test::run_processes(2, [&](mpi::Process& p) {
    MPI_Win handle;
    ASSERT_TRUE(api::win_create(sums, sizeof sums, sizeof(long), nullptr, *p.world(), &handle));
    Window& window = as_window(*mpi::from_handle(handle));
    ASSERT_TRUE(api::barrier(*p.world()));
    if (p.world()->rank == 1) {
      ASSERT_TRUE(api::win_lock_all(0, window));
      for (long round = 0; round < 4; ++round) {
        for (int i = 0; i < 128 + 256; ++i) {
          const long value = 1000 * round + i;
          ASSERT_TRUE(api::put(&value, 1, long_type(), 0, i, 1, long_type(), window));
          if (i == 127) {
            ASSERT_TRUE(api::win_flush(0, window));
          }
        }
        std::fill_n(was, kLongest, -1);
        ASSERT_TRUE(api::get_accumulate(ones, kLongest, long_type(), was, kLongest, long_type(), 0, 0, kLongest,
                                        long_type(), sum(), window));
        ASSERT_TRUE(api::win_flush(0, window));
        for (int i = 0; i < kLongest; ++i) ASSERT_EQ(was[i], i < 384 ? 1000 * round + i : round) << i;
      }
      ASSERT_TRUE(api::win_unlock_all(window));
    }
    ASSERT_TRUE(api::win_free(&handle));
  });
  unsetenv("HEDDLE_SINGLE_COPY");
}

// Threads that come at once write into backlogs of their own, and each one's flush does what stands in all of them.
TEST(Backlog, ThreadsDoNotMeet) {
  constexpr int kThreads = 4;
  constexpr long kRounds = 5000;
  const auto hammer = [](Window& window, int thread) {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    const auto has_two = [&window] {
      const Backlog* const first = window.target(0).backlog.load();
      return first != nullptr && first->beside() != nullptr;
    };
    for (long round = 0; round < kRounds || (!has_two() && Clock::now() < deadline); ++round) {
      const long values[2] = {round, -round}, one = 1;
      long got[2] = {}, was = -1;
      ASSERT_TRUE(api::put(values, 2, long_type(), 0, 2 * thread, 2, long_type(), window));
      ASSERT_TRUE(api::fetch_and_op(&one, &was, long_type(), 0, 2 * kThreads + thread, sum(), window));
      ASSERT_TRUE(api::win_flush(0, window));
      ASSERT_TRUE(api::get(got, 2, long_type(), 0, 2 * thread, 2, long_type(), window));
      ASSERT_TRUE(api::win_flush(0, window));
      ASSERT_EQ(was, round);
      ASSERT_EQ(got[0], round);
      ASSERT_EQ(got[1], -round);
    }
    EXPECT_TRUE(has_two());
  };
  run(
      "test:none",
      [&](Window& window) {
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { hammer(window, i); });
        for (std::thread& thread : threads) thread.join();
      },
      [](const long*, Window&) {});
}

TEST(Backlog, ATargetThatWaitsInMpiDoesIt) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "ranks outnumber cores: no target is asked";
  run(
      "test:none",
      [](Window& window) {
        const wire::SingleCopyStats& stats = window.target(0).memory->all().stats();
        const auto deadline = Clock::now() + std::chrono::seconds(20);
        // Enough to ask the target before the flush, and then the core is given to it: the machine may be busy.
        constexpr std::uint64_t kPuts = 100;
        std::uint64_t by_kernel = kPuts * sizeof(long);
        for (long round = 0; by_kernel == kPuts * sizeof(long) && Clock::now() < deadline; ++round) {
          const std::uint64_t before = stats.bytes_copied;
          for (std::uint64_t i = 0; i < kPuts; ++i) {
            ASSERT_TRUE(api::put(&round, 1, long_type(), 0, 0, 1, long_type(), window));
          }
          for (int i = 0; i < 20; ++i) std::this_thread::yield();
          ASSERT_TRUE(api::win_flush(0, window));
          by_kernel = stats.bytes_copied - before;
        }
        EXPECT_LT(by_kernel, kPuts * sizeof(long));
      },
      [](const long*, Window&) {});  // goes to the barrier of MPI_Win_free
}

// The target comes and goes: for a round of progress at a time, or for many.
TEST(Backlog, ATargetThatComesAndGoesDoesNothingTwice) {
  std::atomic<bool> is_done{false};
  constexpr long kRounds = 2000;
  run(
      "test:none",
      [&](Window& window) {
        for (long i = 0; i < kRounds; ++i) access(window, i);
        is_done = true;
      },
      [&](const long* memory, Window& window) {
        const auto deadline = Clock::now() + std::chrono::seconds(20);
        for (unsigned seed = 1; !is_done && Clock::now() < deadline; seed = seed * 1664525 + 1013904223) {
          for (unsigned n = seed >> 28; n > 0; --n) ASSERT_TRUE(api::win_sync(window));
          const auto away = Clock::now() + std::chrono::nanoseconds(seed >> 18);
          while (Clock::now() < away) {
          }
        }
        EXPECT_TRUE(is_done);
        EXPECT_EQ(memory[0], kRounds);
      });
}

// The kernel refuses in the middle of what was written down: the target does the rest, and each sum once.
TEST(Backlog, WhatTheKernelRefusesTheTargetDoes) {
  for (const char* fault :
       {"test:refuse@2", "test:refuse@3", "test:refuse@40", "test:refuse@41", "test:short@2,refuse@4"}) {
    run(
        fault,
        [&](Window& window) {
          const long ones[4] = {1, 1, 1, 1};
          long was = -1;
          constexpr long kSums = 50;
          for (long i = 0; i < kSums; ++i) {
            ASSERT_TRUE(api::put(ones, 4, long_type(), 0, 8 + i % 50, 4, long_type(), window));
            ASSERT_TRUE(api::accumulate(ones, 4, long_type(), 0, 0, 4, long_type(), sum(), window));
          }
          ASSERT_TRUE(api::fetch_and_op(ones, &was, long_type(), 0, 3, sum(), window));
          ASSERT_TRUE(api::win_flush(0, window)) << last_error_detail();
          EXPECT_EQ(was, kSums) << fault;
        },
        [](const long*, Window&) {});
  }
}

// While the target does what the kernel refused, the origin waits with the backlog's lock held: tools are told later, and may use
// the window. Told too soon they would wait for themselves for ever.
thread_local bool is_origin = false;
Target* seen_by_tool = nullptr;
std::atomic<int> told{0};

TEST(Backlog, EventsAreToldWithItsLockOpen) {
  vci::EventLog& log = mpi::event_log();
  log.listen([]() noexcept {
    if (!is_origin) return;  // the origin's thread is to find it
    vci::Occurrence occurrence;
    while (mpi::event_log().take(&occurrence)) {
    }
    ++told;
    if (seen_by_tool != nullptr) {
      EXPECT_TRUE(finish_backlog(*seen_by_tool));
    }
  });
  log.want(vci::EventLog::bit(vci::Event::kSharedVci));
  std::atomic<Target*> target_seen_from_origin{nullptr};
  run(
      "test:refuse@1",
      [&](Window& window) {
        Target& target = window.target(0);
        ASSERT_TRUE(target.is_by_kernel());
        const long one = 1;
        mpi::event_log().note(vci::Event::kSharedVci, 0);
        is_origin = true;
        seen_by_tool = &target;
        target_seen_from_origin = &target;
        ASSERT_TRUE(api::put(&one, 1, long_type(), 0, 0, 1, long_type(), window));
        ASSERT_TRUE(api::win_flush(0, window));
        ASSERT_TRUE(target.is_by_messages());
        ASSERT_TRUE(api::win_sync(window));
        seen_by_tool = nullptr;
      },
      [&](const long*, Window&) {  // away until the kernel has refused
        const auto deadline = Clock::now() + std::chrono::seconds(20);
        const auto has_refused = [&] {
          const Target* const target = target_seen_from_origin;
          return target != nullptr && target->is_by_messages();
        };
        while (!has_refused() && Clock::now() < deadline) std::this_thread::yield();
        EXPECT_TRUE(has_refused());
      });
  EXPECT_GT(told, 0);
  log.want(0);
  log.listen([]() noexcept {});
}

}  // namespace
}  // namespace heddle::rma
