// What a target does for origins that reach it by packets: locks that are waited for, and operations that it cannot do.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "coll/api.hpp"
#include "mpi/handle.hpp"
#include "mpi/spread.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/api.hpp"
#include "rma/passive.hpp"
#include "rma/window.hpp"
#include "support/in_process.hpp"

namespace heddle::rma {
namespace {

using heddle::test::run_processes;

mpi::Datatype& long_type() { return *mpi::from_handle(MPI_LONG); }

// Without MPI. False: it took too long.
template <class Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class Packets : public testing::Test {
 protected:
  Packets() { setenv("HEDDLE_SINGLE_COPY", "off", 1); }
  ~Packets() override { unsetenv("HEDDLE_SINGLE_COPY"); }

  // body(process, window) with one long of memory, allocated by MPI or not.
  template <class Body>
  void run(int size, bool allocates, Body body) {
    run_processes(size, [&](mpi::Process& p) {
      long memory = 0, *base = &memory;
      MPI_Win win;
      ASSERT_TRUE(allocates ? api::win_allocate(sizeof(long), 1, nullptr, *p.world(), &base, &win)
                            : api::win_create(base, sizeof(long), 1, nullptr, *p.world(), &win));
      body(p, as_window(*mpi::from_handle(win)));
      ASSERT_TRUE(api::barrier(*p.world()));
      ASSERT_TRUE(api::win_free(&win)) << last_error_detail();
    });
  }
};

// As many wait in the queue of this process, whose progress this makes.
bool waits_here(Window& window, std::size_t waiters) {
  return comes_true([&] {
    EXPECT_TRUE(api::win_sync(window));
    LockGuard guard(window.comm->vci->lock());
    return window.queue.size() == waiters;
  });
}

// The target gives its own lock back and does not call MPI any more.
TEST_F(Packets, TheReleaseItselfGivesTheLockToWhoWaits) {
  for (int wanted : {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED}) {
    for (int first : {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED}) {
      if (wanted == MPI_LOCK_SHARED && first == MPI_LOCK_SHARED) continue;
      std::atomic<bool> has_it{false};
      run(2, false, [&](mpi::Process& p, Window& window) {
        if (p.world()->rank == 0) {
          ASSERT_TRUE(api::win_lock(first, 0, 0, window));
        }
        ASSERT_TRUE(api::barrier(*p.world()));
        if (p.world()->rank == 0) {
          ASSERT_TRUE(waits_here(window, 1));
          EXPECT_FALSE(has_it);
          ASSERT_TRUE(api::win_unlock(0, window));
          EXPECT_TRUE(comes_true([&] { return has_it.load(); }));
        } else {
          ASSERT_TRUE(api::win_lock(wanted, 0, 0, window));
          has_it = true;
          ASSERT_TRUE(api::win_unlock(0, window));
        }
        ASSERT_TRUE(api::barrier(*p.world()));
        EXPECT_TRUE(window.block->lock.is_idle());
      });
    }
  }
}

// One that has the target's memory mapped gives the lock back: the target, which looks at its packets only, is rung.
TEST_F(Packets, AReleaseFromElsewhereInTheNodeRingsTheTarget) {
  std::atomic<Window*> target{nullptr};
  std::atomic<bool> has_it{false};
  run(3, true, [&](mpi::Process& p, Window& window) {
    const int me = p.world()->rank;
    if (me == 0) target = &window;
    if (me == 1) window.target(0).way = Way::kMessages;
    if (me == 1) window.has_messages = true;
    if (me == 2) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    if (me == 1) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
      has_it = true;
      ASSERT_TRUE(api::win_unlock(0, window));
    }
    if (me == 2) {
      ASSERT_TRUE(comes_true([&] {
        LockGuard guard(target.load()->comm->vci->lock());
        return target.load()->queue.size() == 1;
      }));
      // As rma::unlock() does, but telling who is rung.
      Block& block = *window.target(0).block;
      bool is_rung = false;
      const auto region = static_cast<std::uint32_t>(window.target(0).region);
      window.target(0).held = kNothing;
      window.locks = 0;
      block.lock.unlock_exclusive();
      block.sleepers.wake(window.node.regions(), [&](std::uint32_t r) {
        is_rung |= r == region;
        window.node.ring(r);
      });
      EXPECT_TRUE(is_rung);
      EXPECT_TRUE(comes_true([&] { return has_it.load(); }));
    }
  });
}

TEST_F(Packets, WritersComeInTheOrderOfTheirQuestions) {
  std::atomic<int> asked{0};
  std::vector<int> order;  // guarded by the lock of the window
  run(4, false, [&](mpi::Process& p, Window& window) {
    const int me = p.world()->rank;
    if (me == 0) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
      for (int rank : {2, 3, 1}) {
        const std::size_t before = window.queue.size();
        asked = rank;
        ASSERT_TRUE(waits_here(window, before + 1));
      }
      ASSERT_TRUE(api::win_unlock(0, window));
    } else {
      ASSERT_TRUE(comes_true([&] { return asked == me; }));
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
      order.push_back(me);
      ASSERT_TRUE(api::win_unlock(0, window));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    EXPECT_EQ(order, (std::vector<int>{2, 3, 1}));
  });
}

// `away` stays away from MPI until the other target's lock was given.
TEST_F(Packets, ALockOfAllAsksAllFirst) {
  for (int away : {1, 2}) {
    std::atomic<Window*> windows[3] = {};
    run(3, false, [&](mpi::Process& p, Window& window) {
      const int me = p.world()->rank;
      windows[me] = &window;
      ASSERT_TRUE(api::barrier(*p.world()));
      if (me == 0) {
        ASSERT_TRUE(api::win_lock_all(0, window));
      }
      if (me == away) {
        Block& other = *windows[3 - away].load()->block;
        EXPECT_TRUE(comes_true([&] { return !other.lock.is_idle(); })) << "rank " << 3 - away << " is not asked";
      }
      ASSERT_TRUE(api::barrier(*p.world()));
      EXPECT_FALSE(window.block->lock.is_idle());
      ASSERT_TRUE(api::barrier(*p.world()));  // else it may be given back to who is still in the barrier before
      if (me == 0) {
        ASSERT_TRUE(api::win_unlock_all(window));
      }
      ASSERT_TRUE(api::barrier(*p.world()));
      EXPECT_TRUE(window.block->lock.is_idle());
    });
  }
}

// While it waits for rank 1 it has nothing of rank 2, which somebody may take before he gives rank 1 back.
TEST_F(Packets, ALockOfAllWaitsForOneWithoutTheLaterOnes) {
  run(4, false, [](mpi::Process& p, Window& window) {
    const int me = p.world()->rank;
    if (me == 3) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    if (me == 0) {
      ASSERT_TRUE(api::win_lock_all(0, window));
      for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(window.target(rank).held, kShared) << rank;
      ASSERT_TRUE(api::win_unlock_all(window));
    }
    if (me == 1) {
      ASSERT_TRUE(waits_here(window, 1));
    }
    if (me == 1 || me == 3) {
      char word = 0;  // the one waits now
      ASSERT_TRUE(
          me == 1 ? p2p::send(*p.world(), &word, 1, mpi::byte_type(), 3, 1, p2p::Mode::kStandard, mpi::Channel::kUser)
                  : p2p::recv(*p.world(), &word, 1, mpi::byte_type(), 1, 1, mpi::Channel::kUser, nullptr));
    }
    if (me == 3) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window));
      ASSERT_TRUE(api::win_unlock(2, window));
      ASSERT_TRUE(api::win_unlock(1, window));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    EXPECT_TRUE(window.block->lock.is_idle());
  });
}

// Rank 2 is lost for rank 0 alone, so that the others can be looked at.
TEST_F(Packets, ALockOfAllThatFailsGivesBackWhatItHas) {
  std::atomic<bool> has_failed{false};
  run_processes(3, [&](mpi::Process& p) {
    const int me = p.world()->rank;
    long memory = 0;
    MPI_Win win;
    ASSERT_TRUE(api::win_create(&memory, sizeof memory, 1, nullptr, *p.world(), &win));
    Window& window = as_window(*mpi::from_handle(win));
    ASSERT_TRUE(api::barrier(*p.world()));
    if (me == 0) {
      p.domain().lose(p.world()->group->members[2], "it is only a test");
      EXPECT_EQ(api::win_lock_all(0, window).error_class(), MPI_ERR_PROC_ABORTED);
      for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(window.target(rank).held, kNothing) << rank;
      EXPECT_FALSE(window.all);
      has_failed = true;
    }
    EXPECT_TRUE(comes_true([&] {
      p.domain().progress_once(*window.comm->vci);
      return has_failed.load();
    }));
    if (me < 2) {
      EXPECT_TRUE(window.block->lock.is_idle());
    }
  });
}

// Rank 2 has the lock of rank 0, to whom alone it is lost. Rank 1 is told, and takes nothing with it.
TEST_F(Packets, WhoWaitsForALostOneIsRefused) {
  std::atomic<bool> is_told{false};
  run_processes(3, [&](mpi::Process& p) {
    const int me = p.world()->rank;
    long memory = 0;
    MPI_Win win;
    ASSERT_TRUE(api::win_create(&memory, sizeof memory, 1, nullptr, *p.world(), &win));
    Window& window = as_window(*mpi::from_handle(win));
    if (me == 2) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    if (me == 0) {
      ASSERT_TRUE(waits_here(window, 1));
      p.domain().lose(p.world()->group->members[2], "it is only a test");
    }
    if (me == 1) {
      EXPECT_EQ(api::win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window).error_class(), MPI_ERR_PROC_ABORTED);
      EXPECT_EQ(window.target(0).held, kNothing);
      is_told = true;
    }
    EXPECT_TRUE(comes_true([&] {
      p.domain().progress_once(*window.comm->vci);
      return is_told.load();
    }));
    if (me == 0) {
      unlock(window.node, *window.block, kExclusive);
      EXPECT_TRUE(window.block->lock.is_idle()) << "nobody is counted who waits";
    }
  });
}

// A dynamic window whose target knows alone what is attached, as one of another host.
class NotAttached : public Packets {
 protected:
  template <class Body>
  void try_it(Body body) {
    run_processes(2, [&](mpi::Process& p) {
      MPI_Win win;
      ASSERT_TRUE(api::win_create_dynamic(nullptr, *p.world(), &win));
      Window& window = as_window(*mpi::from_handle(win));
      long memory[3] = {1, 2, 3};  // but for the last
      ASSERT_TRUE(api::win_attach(window, memory, 2 * sizeof(long)));
      std::uint64_t addresses[2];
      const auto mine = reinterpret_cast<std::uint64_t>(memory);
      mpi::Datatype& bytes = mpi::byte_type();
      ASSERT_TRUE(api::allgather(&mine, 8, bytes, addresses, 8, bytes, *p.world()));
      if (p.world()->rank == 0) {
        window.target(1).block = nullptr;
        body(window, static_cast<MPI_Aint>(addresses[1]));
      } else {
        body(window, 0);
      }
      ASSERT_TRUE(api::barrier(*p.world()));
      EXPECT_EQ(memory[2], 3) << "it is not attached";
      if (p.world()->rank == 1) {
        EXPECT_EQ(memory[0], 7) << "the window works on";
      }
      ASSERT_TRUE(api::win_free(&win)) << last_error_detail();
    });
  }
  static void put(Window& window, MPI_Aint at) {
    const long seven = 7;
    ASSERT_TRUE(api::put(&seven, 1, long_type(), 1, at, 1, long_type(), window));
  }
  static constexpr MPI_Aint kOutside = 2 * sizeof(long);
};

TEST_F(NotAttached, AFlushTellsOfEachKindOnce) {
  try_it([](Window& window, MPI_Aint at) {
    if (at == 0) return;
    ASSERT_TRUE(api::win_lock_all(MPI_MODE_NOCHECK, window));
    long got = -1, one = 1;
    mpi::Op& sum = *mpi::from_handle(MPI_SUM);
    for (int kind = 0; kind < 5; ++kind) {
      if (kind == 0) put(window, at + kOutside);
      if (kind == 1) {
        ASSERT_TRUE(api::get(&got, 1, long_type(), 1, at + kOutside, 1, long_type(), window));
      }
      if (kind == 2) {
        ASSERT_TRUE(api::accumulate(&one, 1, long_type(), 1, at + kOutside, 1, long_type(), sum, window));
      }
      if (kind == 3) {
        ASSERT_TRUE(api::fetch_and_op(&one, &got, long_type(), 1, at + kOutside, sum, window));
      }
      if (kind == 4) {
        ASSERT_TRUE(api::compare_and_swap(&one, &one, &got, long_type(), 1, at + kOutside, window));
      }
      EXPECT_EQ(api::win_flush(1, window).error_class(), MPI_ERR_RMA_RANGE) << kind;
      EXPECT_EQ(got, -1) << kind;
      put(window, at);
      EXPECT_TRUE(api::win_flush(1, window)) << kind;
    }
    ASSERT_TRUE(api::win_unlock_all(window));
  });
}

// Beside what is attached, in one operation of several packets.
TEST_F(NotAttached, AnOperationOfManyPacketsEnds) {
  try_it([](Window& window, MPI_Aint at) {
    if (at == 0) return;
    ASSERT_TRUE(api::win_lock_all(MPI_MODE_NOCHECK, window));
    constexpr int kLongs = 100'000;
    std::vector<long> got(kLongs, -1);
    ASSERT_TRUE(api::get(got.data(), kLongs, long_type(), 1, at, kLongs, long_type(), window));
    EXPECT_EQ(api::win_flush_all(window).error_class(), MPI_ERR_RMA_RANGE);
    put(window, at);
    EXPECT_TRUE(api::win_flush_all(window));
    ASSERT_TRUE(api::get(got.data(), 1, long_type(), 1, at, 1, long_type(), window));
    EXPECT_TRUE(api::win_unlock_all(window));
    EXPECT_EQ(got[0], 7);
    EXPECT_EQ(got[kLongs - 1], -1);
  });
}

TEST_F(NotAttached, AnUnlockTells) {
  try_it([](Window& window, MPI_Aint at) {
    if (at == 0) return;
    ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, 1, 0, window));
    put(window, at + kOutside);
    EXPECT_EQ(api::win_unlock(1, window).error_class(), MPI_ERR_RMA_RANGE);
    ASSERT_TRUE(api::win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window)) << "it was given back";
    put(window, at);
    EXPECT_TRUE(api::win_unlock(1, window));
  });
}

TEST_F(NotAttached, AFenceTellsAndIsOne) {
  try_it([](Window& window, MPI_Aint at) {
    ASSERT_TRUE(api::win_fence(0, window));
    if (at != 0) put(window, at + kOutside);
    EXPECT_EQ(api::win_fence(0, window).error_class(), at != 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    if (at != 0) put(window, at);
    EXPECT_TRUE(api::win_fence(MPI_MODE_NOSUCCEED, window));
  });
}

TEST_F(NotAttached, AWaitTellsOfItsRequestAlone) {
  try_it([](Window& window, MPI_Aint at) {
    if (at == 0) return;
    ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, 1, 0, window));
    long got = -1;
    MPI_Request handle;
    ASSERT_TRUE(api::rget(&got, 1, long_type(), 1, at + kOutside, 1, long_type(), window, &handle));
    mpi::Request* request = mpi::from_handle(handle);
    p2p::wait(*request);
    EXPECT_EQ(p2p::outcome(*request).error_class(), MPI_ERR_RMA_RANGE);
    p2p::destroy(request);
    EXPECT_EQ(got, -1);
    put(window, at);
    EXPECT_TRUE(api::win_unlock(1, window));
  });
}

// Threads of a window whose accumulates need no order go by VCIs of their own, and an unlock is the end of what all of them have sent.
TEST_F(Packets, WithoutOrderEachThreadHasItsWay) {
  run_processes(2, [](mpi::Process& p) {
    constexpr int kThreads = 4;
    constexpr long kAdds = 200;
    long memory[kThreads + 1] = {};
    const long one = 1;
    mpi::Info* info = mpi::take_info({{"accumulate_ordering", "none"}});
    MPI_Win handle;
    ASSERT_TRUE(api::win_create(memory, sizeof memory, sizeof(long), info, *p.world(), &handle)) << last_error_detail();
    mpi::release(*info);
    Window& window = as_window(*mpi::from_handle(handle));
    Target& target = window.target(0);
    ASSERT_NE(window.comm->spread, nullptr);
    if (p.world()->rank == 1) {
      ASSERT_TRUE(api::win_lock(MPI_LOCK_SHARED, 0, 0, window));
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          for (long i = 0; i < kAdds; ++i) {
            EXPECT_TRUE(
                api::accumulate(&one, 1, long_type(), 0, 0, 1, long_type(), *mpi::from_handle(MPI_SUM), window));
            EXPECT_TRUE(
                api::accumulate(&one, 1, long_type(), 0, 1 + t, 1, long_type(), *mpi::from_handle(MPI_SUM), window));
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      std::set<vci::Vci*> ways;
      for (int tag = 0; tag < kTags; ++tag) {
        if (target.of_tag(tag).sent == 0) continue;
        EXPECT_EQ(target.of_tag(tag).sent, std::uint64_t{2 * kAdds});
        ways.insert(mpi::stream_of(*window.comm, mpi::Channel::kUser, 0, tag).vci);
      }
      EXPECT_EQ(ways.size(), std::size_t{kThreads});
      ASSERT_TRUE(api::win_unlock(0, window));
      for (int tag = 0; tag < kTags; ++tag) EXPECT_EQ(target.of_tag(tag).done, target.of_tag(tag).sent);
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    if (p.world()->rank == 0) {
      EXPECT_EQ(memory[0], kThreads * kAdds);
      for (int t = 0; t < kThreads; ++t) EXPECT_EQ(memory[1 + t], kAdds);
    }
    ASSERT_TRUE(api::win_free(&handle)) << last_error_detail();
  });
}

}  // namespace
}  // namespace heddle::rma
