#include "p2p/p2p.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "support/in_process.hpp"

namespace heddle::p2p {
namespace {

using mpi::Process;
using test::run_processes;
using test::run_processes_in;
using test::Weather;

Datatype& byte_type() { return *mpi::from_handle(MPI_BYTE); }

std::vector<std::byte> pattern(std::size_t bytes, int seed) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>((i * 13 + static_cast<std::size_t>(seed)) & 0xFF);
  return out;
}

// Sizes on both sides of every change of path: one slot, several, a cell, rendezvous, several cells.
const std::vector<std::size_t> kSizes = {0,   1,   8,    40,   41,    96,    97,    152,
                                         153, 880, 1000, 1001, 16384, 16385, 40000, 300000};

void exchange_all_sizes(Process& process) {
  Comm& world = *process.world();
  const int peer = 1 - world.rank;
  int tag = 0;
  for (std::size_t bytes : kSizes) {
    for (Mode mode : {Mode::kStandard, Mode::kSynchronous, Mode::kReady}) {
      const auto out = pattern(bytes, tag + world.rank);
      std::vector<std::byte> in(bytes, std::byte{0xEE});
      Request *receive = nullptr, *send = nullptr;
      ASSERT_TRUE(
          irecv(world, in.data(), static_cast<MPI_Count>(bytes), byte_type(), peer, tag, Channel::kUser, &receive));
      ASSERT_TRUE(
          isend(world, out.data(), static_cast<MPI_Count>(bytes), byte_type(), peer, tag, mode, Channel::kUser, &send));
      wait(*send);
      wait(*receive);
      EXPECT_EQ(in, pattern(bytes, tag + peer)) << bytes;
      EXPECT_EQ(receive->source, peer);
      EXPECT_EQ(receive->tag, tag);
      EXPECT_EQ(receive->bytes, static_cast<MPI_Count>(bytes));
      destroy(send);
      destroy(receive);
      ++tag;
    }
  }
}

// Many messages of random sizes, half of them unexpected, received out of order by tag: order per (source, tag) must
// hold.
void storm(Process& process) {
  Comm& world = *process.world();
  constexpr int kMessages = 60, kTags = 3;
  std::vector<std::vector<std::byte>> out;
  std::vector<Request*> sends;
  auto size_of = [](int sender, int i) { return kSizes[static_cast<std::size_t>(sender * 5 + i * 7) % kSizes.size()]; };
  for (int i = 0; i < kMessages; ++i) {
    for (int to = 0; to < world.size; ++to) {
      out.push_back(pattern(size_of(world.rank, i), world.rank * 1000 + i));
      Request* send = nullptr;
      ASSERT_TRUE(isend(world, out.back().data(), static_cast<MPI_Count>(out.back().size()), byte_type(), to, i % kTags,
                        Mode::kStandard, Channel::kUser, &send));
      sends.push_back(send);
    }
  }
  std::vector<std::byte> in(300000);
  for (int tag = kTags - 1; tag >= 0; --tag) {
    std::vector<int> next(static_cast<std::size_t>(world.size), tag);
    for (int n = 0; n < world.size * kMessages / kTags; ++n) {
      MPI_Status status;
      ASSERT_TRUE(recv(world, in.data(), static_cast<MPI_Count>(in.size()), byte_type(), MPI_ANY_SOURCE, tag,
                       Channel::kUser, &status));
      int& i = next[static_cast<std::size_t>(status.MPI_SOURCE)];
      const auto expected = pattern(size_of(status.MPI_SOURCE, i), status.MPI_SOURCE * 1000 + i);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), in.begin())) << "message " << i << " overtaken or torn";
      i += kTags;
    }
  }
  for (Request* send : sends) {
    wait(*send);
    destroy(send);
  }
}

TEST(PointToPoint, EverySizeAndModeOverSharedMemory) { run_processes(2, exchange_all_sizes); }
TEST(PointToPoint, StormOverSharedMemory) { run_processes(3, storm); }
TEST(PointToPoint, StormWithOneProcessIsAllToItself) { run_processes(1, storm); }

TEST(PointToPoint, EverySizeAndModeOverATestWire) { run_processes_in({}, 2, exchange_all_sizes); }
TEST(PointToPoint, EverySizeAndModeInBadWeather) {
  run_processes_in({.refuse_percent = 50, .max_delay = 5, .max_payload = 700, .seed = 3}, 2, exchange_all_sizes);
}
TEST(PointToPoint, EverySizeAndModeFetched) { run_processes_in({.fetches = true}, 2, exchange_all_sizes); }
TEST(PointToPoint, EverySizeAndModeFetchedInBadWeather) {
  run_processes_in({.refuse_percent = 50,
                    .max_delay = 5,
                    .max_payload = 700,
                    .fetches = true,
                    .broken_fetch_percent = 30,
                    .seed = 5},
                   2, exchange_all_sizes);
}
TEST(PointToPoint, StormInBadWeather) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    run_processes_in({.refuse_percent = 30, .max_delay = 8, .max_payload = 500, .seed = seed}, 3, storm);
    run_processes_in({.refuse_percent = 30,
                      .max_delay = 8,
                      .max_payload = 500,
                      .fetches = true,
                      .broken_fetch_percent = 30,
                      .seed = seed},
                     3, storm);
  }
}

TEST(PointToPoint, TruncationIsTheReceiversErrorAndTheSenderGoesOn) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    for (std::size_t bytes : {std::size_t{16}, std::size_t{2000}, std::size_t{100000}}) {
      const auto data = pattern(bytes, 1);
      if (world.rank == 0) {
        EXPECT_TRUE(send(world, data.data(), static_cast<MPI_Count>(bytes), byte_type(), 1, 5, Mode::kSynchronous,
                         Channel::kUser));
      } else {
        std::vector<std::byte> in(bytes, std::byte{0});
        MPI_Status status;
        const Status result = recv(world, in.data(), 8, byte_type(), 0, 5, Channel::kUser, &status);
        EXPECT_EQ(result.error_class(), MPI_ERR_TRUNCATE);
        EXPECT_TRUE(std::equal(in.begin(), in.begin() + 8, data.begin()));
        EXPECT_EQ(in[8], std::byte{0}) << "written beyond the receive buffer";
        EXPECT_EQ(status.MPI_SOURCE, 0);
      }
    }
  });
}

TEST(PointToPoint, ThreadsOnTheirOwnTagsShareACommunicator) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&world, t] {
        for (int i = 0; i < 300; ++i) {
          // Mostly short; the others take every path. Each third is received only after it was sent.
          const std::size_t bytes = i % 4 == 0 ? kSizes[static_cast<std::size_t>(i + t) % kSizes.size()] : 4;
          const auto count = static_cast<MPI_Count>(bytes);
          const auto out = pattern(bytes, i * 10 + t + world.rank);
          std::vector<std::byte> in(bytes, std::byte{0xEE});
          Request *receive = nullptr, *send = nullptr;
          auto post = [&] {
            return irecv(world, in.data(), count, byte_type(), 1 - world.rank, t, Channel::kUser, &receive);
          };
          if (i % 3 != 0) {
            ASSERT_TRUE(post());
          }
          ASSERT_TRUE(isend(world, out.data(), count, byte_type(), 1 - world.rank, t,
                            i % 5 == 0 ? Mode::kSynchronous : Mode::kStandard, Channel::kUser, &send));
          if (i % 3 == 0) {
            ASSERT_TRUE(post());
          }
          wait(*receive);
          wait(*send);
          destroy(receive);
          destroy(send);
          ASSERT_EQ(in, pattern(bytes, i * 10 + t + 1 - world.rank)) << "message " << i << " of thread " << t;
        }
      });
    }
    for (auto& thread : threads) thread.join();
  });
}

TEST(PointToPoint, TheUsersWildcardDoesNotSeeCollectiveTraffic) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    int secret = 1, open = 2, got = 0;
    if (world.rank == 0) {
      ASSERT_TRUE(send(world, &secret, sizeof secret, byte_type(), 1, 0, Mode::kStandard, Channel::kCollective));
      ASSERT_TRUE(send(world, &open, sizeof open, byte_type(), 1, 0, Mode::kStandard, Channel::kUser));
    } else {
      ASSERT_TRUE(recv(world, &got, sizeof got, byte_type(), MPI_ANY_SOURCE, MPI_ANY_TAG, Channel::kUser, nullptr));
      EXPECT_EQ(got, open);
      ASSERT_TRUE(recv(world, &got, sizeof got, byte_type(), 0, 0, Channel::kCollective, nullptr));
      EXPECT_EQ(got, secret);
    }
  });
}

// What a wait looks for may be taken away by the look that finds it (a matched probe's message).
TEST(PointToPoint, AWaitEndsWithTheFirstLookThatFinds) {
  run_processes_in(test::Weather{}, 2, [](Process& process) {
    for (int last = 1; last <= 45; ++last) {  // spins, yields, and the look before the first sleep
      int looks = 0;
      process.domain().wait(*process.world()->vci, [&] { return ++looks == last; });
      EXPECT_EQ(looks, last);
    }
  });
}

}  // namespace
}  // namespace heddle::p2p
