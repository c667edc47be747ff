// Windows between processes that are threads of one program, by each way to a target: mapped, through the kernel, and by
// packets. The programs of tests/programs/rma_*.c test the same between real processes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "coll/api.hpp"
#include "comm/api_comm.hpp"
#include "mpi/api_datatype.hpp"
#include "mpi/api_group.hpp"
#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "rma/api.hpp"
#include "rma/window.hpp"
#include "support/in_process.hpp"

namespace heddle::rma {
namespace {

using heddle::test::run_processes;

mpi::Win& object(MPI_Win win) { return *mpi::from_handle(win); }
mpi::Datatype& long_type() { return *mpi::from_handle(MPI_LONG); }
mpi::Op& op(MPI_Op handle) { return *mpi::from_handle(handle); }

struct Path {
  const char* name;
  const char* single_copy;  // HEDDLE_SINGLE_COPY
  bool allocates;
  Way way;
};

class Windows : public testing::TestWithParam<Path> {
 protected:
  void SetUp() override { setenv("HEDDLE_SINGLE_COPY", GetParam().single_copy, 1); }
  void TearDown() override { unsetenv("HEDDLE_SINGLE_COPY"); }

  // body(process, window, its memory) with `longs` zeros at each process.
  template <class Body>
  void run(int size, std::size_t longs, Body body) {
    run_processes(size, [&](mpi::Process& p) {
      std::vector<long> memory(longs);
      long* base = memory.data();
      const auto bytes = static_cast<MPI_Aint>(longs * sizeof(long));
      MPI_Win win;
      if (GetParam().allocates) {
        ASSERT_TRUE(api::win_allocate(bytes, sizeof(long), nullptr, *p.world(), &base, &win)) << last_error_detail();
      } else {
        ASSERT_TRUE(api::win_create(base, bytes, sizeof(long), nullptr, *p.world(), &win)) << last_error_detail();
      }
      const int next = (p.world()->rank + 1) % size;
      EXPECT_EQ(as_window(object(win)).target(next).way.load(), GetParam().way);
      body(p, object(win), base);
      ASSERT_TRUE(api::win_free(&win)) << last_error_detail();
    });
  }
};

constexpr std::size_t kMany = 5000;

TEST_P(Windows, PutsAndGetsBetweenFences) {
  run(3, 2 * kMany, [](mpi::Process& p, mpi::Win& win, long* mine) {
    const int me = p.world()->rank, size = p.world()->size, next = (me + 1) % size, last = (me + size - 1) % size;
    std::vector<long> out(kMany), in(kMany);
    for (long round = 1; round < 4; ++round) {
      std::iota(out.begin(), out.end(), 10'000 * me + round);
      ASSERT_TRUE(api::win_fence(0, win));
      ASSERT_TRUE(api::put(out.data(), kMany, long_type(), next, kMany, kMany, long_type(), win));
      ASSERT_TRUE(api::win_fence(0, win));
      for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(mine[kMany + i], 10'000 * last + round + long(i));
      ASSERT_TRUE(api::get(in.data(), kMany, long_type(), next, kMany, kMany, long_type(), win));
      ASSERT_TRUE(api::win_fence(MPI_MODE_NOSUCCEED, win));
      ASSERT_EQ(in, out);
    }
  });
}

TEST_P(Windows, AtomicOperationsOfSeveralThreadsAllCount) {
  constexpr int kThreads = 2, kRounds = 50;
  run(3, 4 + 600, [](mpi::Process& p, mpi::Win& win, long* mine) {
    ASSERT_TRUE(api::win_lock_all(0, win));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        const std::vector<long> ones(600, 1);
        for (int i = 0; i < kRounds; ++i) {
          const int target = i % p.world()->size;
          long before = -1;
          ASSERT_TRUE(api::fetch_and_op(ones.data(), &before, long_type(), 0, 0, op(MPI_SUM), win));
          ASSERT_TRUE(api::win_flush(0, win));
          ASSERT_GE(before, 0);
          ASSERT_TRUE(api::accumulate(ones.data(), 600, long_type(), target, 4, 600, long_type(), op(MPI_SUM), win));
          // One more, by comparing until nobody came between.
          for (long seen = -1, expected = 0; seen != expected;) {
            if (seen >= 0) expected = seen;
            const long wanted = expected + 1;
            ASSERT_TRUE(api::compare_and_swap(&wanted, &expected, &seen, long_type(), 0, 1, win));
            ASSERT_TRUE(api::win_flush(0, win));
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(api::win_unlock_all(win));
    ASSERT_TRUE(api::barrier(*p.world()));
    ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, p.world()->rank, 0, win));
    const int size = p.world()->size, me = p.world()->rank;
    if (me == 0) {
      EXPECT_EQ(mine[0], size * kThreads * kRounds);
    }
    if (me == 0) {
      EXPECT_EQ(mine[1], size * kThreads * kRounds);
    }
    const int turns = kRounds / size + (me < kRounds % size ? 1 : 0);
    for (int i = 0; i < 600; ++i) ASSERT_EQ(mine[4 + i], size * kThreads * turns) << i;
    ASSERT_TRUE(api::win_unlock(me, win));
  });
}

TEST_P(Windows, AnExclusiveLockLetsOneInAtATime) {
  constexpr int kRounds = 60;
  run(4, 2, [](mpi::Process& p, mpi::Win& win, long* mine) {
    for (int i = 0; i < kRounds; ++i) {
      long value[2] = {-1, -1};
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
      ASSERT_TRUE(api::get(value, 2, long_type(), 0, 0, 2, long_type(), win));
      ASSERT_TRUE(api::win_flush(0, win));
      EXPECT_EQ(value[1], -value[0]);
      const long more[2] = {value[0] + 1, -value[0] - 1};
      ASSERT_TRUE(api::put(more, 2, long_type(), 0, 0, 2, long_type(), win));
      ASSERT_TRUE(api::win_unlock(0, win));
      if (i % 4 != 0) continue;
      ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, 0, 0, win));
      ASSERT_TRUE(api::get(value, 2, long_type(), 0, 0, 2, long_type(), win));
      ASSERT_TRUE(api::win_unlock(0, win));
      EXPECT_EQ(value[1], -value[0]);
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    if (p.world()->rank == 0) {
      EXPECT_EQ(mine[0], p.world()->size * kRounds);
    }
  });
}

TEST_P(Windows, RequestsCompleteWithTheirData) {
  run(2, kMany, [](mpi::Process& p, mpi::Win& win, long* mine) {
    const int me = p.world()->rank, other = 1 - me;
    std::iota(mine, mine + kMany, 1000 * me);
    ASSERT_TRUE(api::barrier(*p.world()));
    ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, other, 0, win));
    std::vector<long> in(kMany);
    MPI_Request request;
    ASSERT_TRUE(api::rget(in.data(), kMany, long_type(), other, 0, kMany, long_type(), win, &request));
    p2p::wait(*mpi::from_handle(request));
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(in[i], 1000 * other + long(i));
    p2p::destroy(mpi::from_handle(request));
    ASSERT_TRUE(api::win_unlock(other, win));
  });
}

TEST_P(Windows, PostStartCompleteWait) {
  run(3, 3, [](mpi::Process& p, mpi::Win& win, long* mine) {
    MPI_Group all;
    ASSERT_TRUE(api::comm_group(*p.world(), &all));
    for (long round = 1; round < 5; ++round) {
      ASSERT_TRUE(api::win_post(*mpi::from_handle(all), 0, win));
      ASSERT_TRUE(api::win_start(*mpi::from_handle(all), 0, win));
      const long value = 100 * round + p.world()->rank;
      for (int rank = 0; rank < 3; ++rank) {
        ASSERT_TRUE(api::put(&value, 1, long_type(), rank, p.world()->rank, 1, long_type(), win));
      }
      ASSERT_TRUE(api::win_complete(win));
      ASSERT_TRUE(api::win_wait(win));
      for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(mine[rank], 100 * round + rank);
    }
    ASSERT_TRUE(api::group_free(&all));
  });
}

// The first component has no data, so what counts is the second; and one that only a constant of the ABI can name.
TEST_P(Windows, TheElementOfATypeIsWhatHasData) {
  run(2, 2, [](mpi::Process& p, mpi::Win& win, long* mine) {
    const MPI_Count lengths[] = {0, 1}, displacements[] = {0, 0};
    const MPI_Datatype parts[] = {MPI_CHAR, MPI_LONG};
    MPI_Datatype made, none, real;
    ASSERT_TRUE(api::type_create_struct(2, mpi::IntArray(lengths), mpi::IntArray(displacements), parts, &made, true));
    ASSERT_TRUE(api::type_create_struct(0, mpi::IntArray(lengths), mpi::IntArray(displacements), parts, &none, true));
    ASSERT_TRUE(api::type_create_f90_integer(18, &real));
    ASSERT_TRUE(api::win_fence(0, win));
    const long value = 300;
    ASSERT_TRUE(api::accumulate(&value, 1, long_type(), 0, 0, 1, *mpi::from_handle(made), op(MPI_SUM), win));
    ASSERT_TRUE(api::accumulate(&value, 0, long_type(), 0, 0, 1, *mpi::from_handle(none), op(MPI_SUM), win));
    mpi::Datatype& f90 = *mpi::from_handle(real);
    ASSERT_TRUE(api::accumulate(&value, 1, f90, 0, 1, 1, f90, op(MPI_SUM), win));
    ASSERT_TRUE(api::win_fence(0, win));
    if (p.world()->rank == 0) {
      EXPECT_EQ(mine[0], 600);
    }
    if (p.world()->rank == 0) {
      EXPECT_EQ(mine[1], 600);
    }
    ASSERT_TRUE(api::type_free(&made));
    ASSERT_TRUE(api::type_free(&none));
  });
}

// By packets. `away` stays away from MPI until the other target has answered rank 0, whose `end` follows a put to each.
template <class Body, class End>
void ask_while_one_is_away(int away, Body begin, End end, Body finish) {
  const int other = 3 - away;
  setenv("HEDDLE_SINGLE_COPY", "off", 1);
  std::atomic<Window*> origin{nullptr};
  run_processes(3, [&](mpi::Process& p) {
    long mine = 0;
    const int me = p.world()->rank;
    MPI_Win handle;
    ASSERT_TRUE(api::win_create(&mine, sizeof mine, sizeof mine, nullptr, *p.world(), &handle)) << last_error_detail();
    mpi::Win& win = object(handle);
    Window& window = as_window(win);
    begin(me, win);
    if (me == 0) origin = &window;
    ASSERT_TRUE(api::barrier(*p.world()));
    if (me == 0) {
      const long value = 5;
      for (int rank : {1, 2}) {
        ASSERT_EQ(window.target(rank).way.load(), Way::kMessages);
        ASSERT_TRUE(api::put(&value, 1, long_type(), rank, 0, 1, long_type(), win));
      }
      ASSERT_TRUE(end(win));
      for (int rank : {1, 2}) EXPECT_EQ(window.target(rank).counts.done, window.target(rank).counts.sent);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    if (me == away) {
      while (origin.load()->target(other).counts.done == 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
      EXPECT_EQ(origin.load()->target(other).counts.done, 1u)
          << "rank " << other << " is not asked while the other is away";
    }
    finish(me, win);
    ASSERT_TRUE(api::barrier(*p.world()));
    EXPECT_EQ(mine, me == 0 ? 0 : 5);
    ASSERT_TRUE(api::win_free(&handle));
  });
  unsetenv("HEDDLE_SINGLE_COPY");
}
template <class Body, class End>
void all_are_asked_first(Body begin, End end, Body finish) {
  for (int away : {1, 2}) ask_while_one_is_away(away, begin, end, finish);
}
using Part = void (*)(int, mpi::Win&);
void lock_from_0(int me, mpi::Win& win) {
  if (me == 0) {
    ASSERT_TRUE(api::win_lock_all(0, win));
  }
}
void unlock_from_0(int me, mpi::Win& win) {
  if (me == 0) {
    ASSERT_TRUE(api::win_unlock_all(win));
  }
}
void nothing(int, mpi::Win&) {}

TEST(SeveralTargets, AFlushAsksAllFirst) {
  all_are_asked_first<Part>(
      lock_from_0, [](mpi::Win& win) { return api::win_flush_all(win); }, unlock_from_0);
}
TEST(SeveralTargets, AnUnlockAsksAllFirst) {
  all_are_asked_first<Part>(
      lock_from_0, [](mpi::Win& win) { return api::win_unlock_all(win); }, nothing);
}
TEST(SeveralTargets, AFenceAsksAllFirst) {
  const Part fence = [](int, mpi::Win& win) { ASSERT_TRUE(api::win_fence(0, win)); };
  const Part others = [](int me, mpi::Win& win) {
    if (me != 0) {
      ASSERT_TRUE(api::win_fence(0, win));
    }
  };
  all_are_asked_first<Part>(
      fence, [](mpi::Win& win) { return api::win_fence(0, win); }, others);
}
TEST(SeveralTargets, ACompleteAsksAllFirst) {
  const Part begin = [](int me, mpi::Win& win) {
    MPI_Group all, group;
    ASSERT_TRUE(api::comm_group(*win.comm, &all));
    const int targets[] = {1, 2}, origin[] = {0};
    ASSERT_TRUE(api::group_incl(*mpi::from_handle(all), me == 0 ? 2 : 1, me == 0 ? targets : origin, &group));
    if (me == 0) {
      ASSERT_TRUE(api::win_start(*mpi::from_handle(group), 0, win));
    }
    if (me != 0) {
      ASSERT_TRUE(api::win_post(*mpi::from_handle(group), 0, win));
    }
    ASSERT_TRUE(api::group_free(&group));
    ASSERT_TRUE(api::group_free(&all));
  };
  const Part others = [](int me, mpi::Win& win) {
    if (me != 0) {
      ASSERT_TRUE(api::win_wait(win));
    }
  };
  all_are_asked_first<Part>(
      begin, [](mpi::Win& win) { return api::win_complete(win); }, others);
}

INSTANTIATE_TEST_SUITE_P(Ways, Windows,
                         testing::Values(Path{"Allocated", "auto", true, Way::kDirect},
                                         Path{"SameProcess", "auto", false, Way::kDirect},
                                         Path{"Kernel", "test:none", false, Way::kKernel},
                                         Path{"Messages", "off", false, Way::kMessages}),
                         [](const auto& param) { return std::string(param.param.name); });

// One item over two pieces that are attached one by one, and one that touches what lies between.
TEST(DynamicWindow, AnOperationMayTouchSeveralAttachedPieces) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Win handle;
    ASSERT_TRUE(api::win_create_dynamic(nullptr, *p.world(), &handle)) << last_error_detail();
    mpi::Win& win = object(handle);
    long memory[5] = {0, 0, 0, 0, 0};  // [0], [1] and [4] are attached
    for (int i : {0, 1, 4}) ASSERT_TRUE(api::win_attach(win, &memory[i], sizeof(long)));
    std::uint64_t addresses[2];
    const auto mine = reinterpret_cast<std::uint64_t>(memory);
    mpi::Datatype& bytes = mpi::byte_type();
    ASSERT_TRUE(api::allgather(&mine, 8, bytes, addresses, 8, bytes, *p.world()));
    const auto there = static_cast<MPI_Aint>(addresses[1 - p.world()->rank]);
    MPI_Datatype apart;
    ASSERT_TRUE(api::type_vector(2, 1, 4, long_type(), &apart, true));
    const long values[2] = {7, 8};
    ASSERT_TRUE(api::win_fence(0, win));
    ASSERT_TRUE(api::put(values, 2, long_type(), 1 - p.world()->rank, there, 1, *mpi::from_handle(apart), win))
        << last_error_detail();
    ASSERT_TRUE(api::win_fence(0, win));
    EXPECT_EQ(memory[0], 7);
    EXPECT_EQ(memory[4], 8);
    ASSERT_TRUE(api::win_fence(0, win));
    ASSERT_TRUE(api::put(values, 2, long_type(), 1 - p.world()->rank, there, 2, long_type(), win));
    ASSERT_TRUE(api::win_fence(0, win));
    EXPECT_EQ(memory[1], 8) << "neighbours in a row";
    ASSERT_TRUE(api::win_fence(0, win));
    EXPECT_EQ(api::put(values, 2, long_type(), 1 - p.world()->rank, there + 8, 2, long_type(), win).error_class(),
              MPI_ERR_RMA_RANGE);
    ASSERT_TRUE(api::win_fence(0, win));
    ASSERT_TRUE(api::type_free(&apart));
    ASSERT_TRUE(api::win_free(&handle));
  });
}

// The one has no memory left for its part: all hear of it, and nobody waits.
TEST(SharedWindow, WhatFailsAtOneFailsAtAll) {
  setenv("HEDDLE_VCIS", "1", 1);
  run_processes(2, [](mpi::Process& p) {
    MPI_Win win;
    long* base = nullptr;
    ASSERT_TRUE(api::win_allocate_shared(64, 1, nullptr, *p.world(), &base, &win)) << last_error_detail();
    wire::NodeMemory& node = as_window(object(win)).node;
    ASSERT_TRUE(api::win_free(&win));
    std::uint64_t offset = 0;
    if (p.world()->rank == 1) {
      while (node.take_block(kBlockBytes, &offset) && offset != 0) {
      }
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    EXPECT_EQ(api::win_allocate_shared(64, 1, nullptr, *p.world(), &base, &win).error_class(), MPI_ERR_NO_MEM);
    EXPECT_EQ(win, MPI_WIN_NULL);
    ASSERT_TRUE(api::barrier(*p.world()));
  });
  unsetenv("HEDDLE_VCIS");
}

// The sum of the sizes is 2^64: no small piece is made of it.
TEST(SharedWindow, MoreThanAnyNumberIsNoMemory) {
  run_processes(4, [](mpi::Process& p) {
    MPI_Win win;
    long* base = nullptr;
    const MPI_Aint quarter = MPI_Aint{1} << 62;
    EXPECT_EQ(api::win_allocate_shared(quarter, 1, nullptr, *p.world(), &base, &win).error_class(), MPI_ERR_NO_MEM);
  });
}

}  // namespace
}  // namespace heddle::rma
