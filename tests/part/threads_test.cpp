// Partitioned communication of two processes in one program, for the race detector: no lock of the test orders the threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "mpi/datatype_basic.hpp"
#include "p2p/api.hpp"
#include "p2p/completion.hpp"
#include "part/api.hpp"
#include "support/in_process.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

struct Cut {
  int send_partitions, receive_partitions;
  int bytes;  // in all
};

unsigned char content(int round, int i) { return static_cast<unsigned char>(round * 31 + i * 7 + i / 251); }

template <class Work>
void in_threads(int threads, Work work) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : all) thread.join();
}

// Each thread readies its share, the later ones first.
void send_rounds(mpi::Process& process, Cut cut, int threads, int rounds) {
  std::vector<unsigned char> data(static_cast<std::size_t>(cut.bytes));
  MPI_Request request;
  ASSERT_TRUE(api::psend_init(data.data(), cut.send_partitions, cut.bytes / cut.send_partitions, mpi::byte_type(), 1, 5,
                              *process.world(), nullptr, &request));
  const int each = cut.bytes / cut.send_partitions;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(api::start(&request));
    in_threads(threads, [&](int t) {
      for (int p = cut.send_partitions - 1 - t; p >= 0; p -= threads) {
        for (int i = p * each; i < (p + 1) * each; ++i) data[static_cast<std::size_t>(i)] = content(round, i);
        ASSERT_TRUE(api::pready(p, request));
      }
    });
    ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
  }
  ASSERT_TRUE(api::request_free(&request));
}

// Each thread reads a partition when it has arrived, while others arrive.
void receive_rounds(mpi::Process& process, Cut cut, int threads, int rounds) {
  std::vector<unsigned char> data(static_cast<std::size_t>(cut.bytes));
  MPI_Request request;
  ASSERT_TRUE(api::precv_init(data.data(), cut.receive_partitions, cut.bytes / cut.receive_partitions, mpi::byte_type(),
                              0, 5, *process.world(), nullptr, &request));
  const int each = cut.bytes / cut.receive_partitions;
  std::atomic<int> wrong{0};
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(api::start(&request));
    in_threads(threads, [&](int t) {
      for (int p = t; p < cut.receive_partitions; p += threads) {
        for (int flag = 0; flag == 0;) {
          ASSERT_TRUE(api::parrived(request, p, &flag));
          if (flag == 0) std::this_thread::yield();
        }
        for (int i = p * each; i < (p + 1) * each; ++i) wrong += data[static_cast<std::size_t>(i)] != content(round, i);
      }
    });
    EXPECT_EQ(wrong.load(), 0) << "round " << round;
    ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
  }
  ASSERT_TRUE(api::request_free(&request));
  vci::Vci& vci = *process.world()->vci;
  while (vci.has_busy_lanes()) vci.domain().progress_once(vci);  // the last word to the sender
}

class Threads : public testing::TestWithParam<Cut> {};

TEST_P(Threads, ReadyAndArrive) {
  test::run_processes(2, [](mpi::Process& process) {
    if (process.world()->rank == 0) {
      send_rounds(process, GetParam(), 8, 5);
    } else {
      receive_rounds(process, GetParam(), 4, 5);
    }
  });
}

TEST_P(Threads, ReadyAndArriveInBadWeather) {
  test::run_processes_in({.refuse_percent = 30, .max_delay = 6, .max_payload = 3000, .seed = 3}, 2,
                         [](mpi::Process& process) {
                           if (process.world()->rank == 0) {
                             send_rounds(process, GetParam(), 8, 2);
                           } else {
                             receive_rounds(process, GetParam(), 4, 2);
                           }
                         });
}

INSTANTIATE_TEST_SUITE_P(Cuts, Threads,
                         testing::Values(Cut{64, 64, 64 * 8}, Cut{8, 3, 8 * 3 * 500}, Cut{3, 8, 8 * 3 * 500},
                                         Cut{64, 16, 64 << 10}, Cut{8, 8, 8 * (20 << 10)}));

// What the network writes, and what it breaks off in the middle, which then goes by packets.
TEST(ThreadsOfOneSend, LongGroupsInBadWeather) {
  for (const Cut cut : {Cut{4, 3, 12 << 16}, Cut{3, 8, 3 << 18}, Cut{1, 1, 1 << 20}}) {
    for (const unsigned broken : {0u, 30u, 100u}) {
      test::run_processes_in({.refuse_percent = 10,
                              .max_delay = 6,
                              .max_payload = 30'000,
                              .fetches = true,
                              .broken_fetch_percent = broken,
                              .seed = broken + 1},
                             2, [&](mpi::Process& process) {
                               if (process.world()->rank == 0) {
                                 send_rounds(process, cut, 4, 4);
                               } else {
                                 receive_rounds(process, cut, 4, 4);
                               }
                             });
    }
  }
}

// Sixty-four at once, the last of which completes the send while the others still return; and as many that look for what arrives.
TEST(ThreadsOfOneSend, Sixtyfour) {
  for (const Cut cut : {Cut{64, 1, 64 * 40}, Cut{64, 64, 64 * 40}, Cut{64, 64, 64 * (20 << 10)}}) {
    test::run_processes(2, [&](mpi::Process& process) {
      if (process.world()->rank == 0) {
        send_rounds(process, cut, 64, 3);
      } else {
        receive_rounds(process, cut, cut.receive_partitions, 3);
      }
    });
  }
}

// Everything is ready before the receiver starts, so a task sends it; the request is freed as soon as it is complete. The
// flag orders nothing.
TEST(ThreadsOfOneSend, TheReceiverIsLate) {
  for (const Cut cut : {Cut{16, 16, 16 * 40}, Cut{8, 8, 8 * (20 << 10)}, Cut{8, 3, 8 * 3 * 500}}) {
    std::atomic<int> all_ready{0};
    test::run_processes(2, [&](mpi::Process& process) {
      std::vector<unsigned char> data(static_cast<std::size_t>(cut.bytes));
      for (int round = 1; round <= 5; ++round) {
        MPI_Request request;
        if (process.world()->rank == 0) {
          const int each = cut.bytes / cut.send_partitions;
          ASSERT_TRUE(api::psend_init(data.data(), cut.send_partitions, each, mpi::byte_type(), 1, 5, *process.world(),
                                      nullptr, &request));
          ASSERT_TRUE(api::start(&request));
          in_threads(4, [&](int t) {
            for (int p = t; p < cut.send_partitions; p += 4) {
              for (int i = p * each; i < (p + 1) * each; ++i) data[static_cast<std::size_t>(i)] = content(round, i);
              ASSERT_TRUE(api::pready(p, request));
            }
          });
          all_ready.store(round, std::memory_order_relaxed);
        } else {
          ASSERT_TRUE(api::precv_init(data.data(), cut.receive_partitions, cut.bytes / cut.receive_partitions,
                                      mpi::byte_type(), 0, 5, *process.world(), nullptr, &request));
          while (all_ready.load(std::memory_order_relaxed) != round) std::this_thread::yield();
          ASSERT_TRUE(api::start(&request));
        }
        ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
        ASSERT_TRUE(api::request_free(&request));
        for (int i = 0; i < cut.bytes; ++i) ASSERT_EQ(data[static_cast<std::size_t>(i)], content(round, i)) << i;
      }
    });
  }
}

}  // namespace
}  // namespace heddle::part
