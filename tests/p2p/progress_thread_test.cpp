// A process whose own thread is not in the library: its progress thread answers for it.
#include "vci/progress_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "support/in_process.hpp"

namespace heddle::p2p {
namespace {

using mpi::Process;

constexpr int kRounds = 200;
constexpr int kInts = 20'000;  // a rendezvous

Datatype& int_type() { return *mpi::from_handle(MPI_INT32_T); }

std::vector<int> content(int round) {
  std::vector<int> data(kInts);
  for (int i = 0; i < kInts; ++i) data[static_cast<std::size_t>(i)] = round * 31 + i;
  return data;
}

// Rank 0 begins a receive and then waits for what rank 1 says outside MPI: that its synchronous send is complete.
TEST(ProgressThread, AnswersWhileTheProgramIsElsewhere) {
  std::atomic<int> sent{0};
  test::run_processes(2, [&sent](Process& process) {
    vci::ProgressThread thread(process.domain(), true);
    ASSERT_TRUE(thread.start());
    for (int round = 1; round <= kRounds; ++round) {
      std::vector<int> data = process.world()->rank == 1 ? content(round) : std::vector<int>(kInts);
      if (process.world()->rank == 1) {
        ASSERT_TRUE(
            send(*process.world(), data.data(), kInts, int_type(), 0, round, Mode::kSynchronous, Channel::kUser));
        sent = round;
        continue;
      }
      mpi::Request* request = nullptr;
      ASSERT_TRUE(irecv(*process.world(), data.data(), kInts, int_type(), 1, round, Channel::kUser, &request));
      while (sent < round) std::this_thread::yield();
      process.domain().wait(*request->vci, [request] { return request->is_complete(); });
      ASSERT_EQ(data, content(round));
      destroy(request);
    }
    thread.stop();
    thread.stop();
  });
}

// Both threads of a rank are at work at once.
TEST(ProgressThread, GivesWayToOnesThatWait) {
  test::run_processes(3, [](Process& process) {
    vci::ProgressThread thread(process.domain(), false);
    Comm& world = *process.world();
    for (int round = 0; round < kRounds; ++round) {
      if (round % 20 == 0) {
        thread.stop();
        ASSERT_TRUE(thread.start());
      }
      int got = -1;
      mpi::Request* request = nullptr;
      ASSERT_TRUE(irecv(world, &got, 1, int_type(), (world.rank + 2) % 3, 0, Channel::kUser, &request));
      ASSERT_TRUE(send(world, &round, 1, int_type(), (world.rank + 1) % 3, 0, Mode::kStandard, Channel::kUser));
      process.domain().wait(*request->vci, [request] { return request->is_complete(); });
      ASSERT_EQ(got, round);
      destroy(request);
    }
  });
}

}  // namespace
}  // namespace heddle::p2p
