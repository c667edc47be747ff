// The counts of VCIs, read by other threads while messages flow, over shared memory and over a wire that dawdles.
#include "mpi/counts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"
#include "support/in_process.hpp"

namespace heddle::mpi {
namespace {

constexpr int kMessages = 300;

// Each rank sends to the next, with sizes for every way of sending, and receives from the one before.
void ring(Process& process) {
  Comm& world = *process.world();
  const int next = (world.rank + 1) % world.size, before = (world.rank + world.size - 1) % world.size;
  Datatype& type = *from_handle(MPI_BYTE);
  std::vector<std::byte> out(40000), in(40000);
  for (int m = 0; m < kMessages; ++m) {
    const MPI_Count bytes = m % 50 == 0 ? 40000 : m % 7 == 0 ? 700 : m % 40;
    const auto mode = m % 5 == 0 ? p2p::Mode::kSynchronous : p2p::Mode::kStandard;
    Request *receive = nullptr, *send = nullptr;
    ASSERT_TRUE(p2p::irecv(world, in.data(), 40000, type, before, m, Channel::kUser, &receive));
    ASSERT_TRUE(p2p::isend(world, out.data(), bytes, type, next, m, mode, Channel::kUser, &send));
    p2p::wait(*send);
    p2p::wait(*receive);
    p2p::destroy(send);
    p2p::destroy(receive);
  }
}

void count_ring(Process& process) {
  vci::Domain& domain = process.domain();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    vci::Counts last;
    while (!done.load()) {
      const vci::Counts now = domain.vci(0).counts();
      EXPECT_GE(now.sent, last.sent);
      EXPECT_GE(now.received, last.received);
      EXPECT_LE(now.unexpected, now.received);
      EXPECT_LE(now.queues.unexpected.length, now.queues.unexpected.max_length);
      EXPECT_LE(now.queues.posted.length, now.queues.posted.max_length);
      last = now;
    }
  });
  ring(process);
  done.store(true);
  reader.join();
  const vci::Counts end = domain.vci(0).counts();
  EXPECT_EQ(end.sent, static_cast<std::uint64_t>(kMessages));
  EXPECT_EQ(end.received, static_cast<std::uint64_t>(kMessages));
  EXPECT_EQ(end.queues.posted.length, 0u);
  EXPECT_EQ(end.queues.unexpected.length, 0u);
  EXPECT_LE(end.queues.posted.max_length, 1u);
  for (std::uint32_t i = 1; i < domain.vci_count(); ++i) EXPECT_EQ(domain.vci(i).counts().sent, 0u);
}

TEST(Counts, AreExactWhileOthersRead) { test::run_processes(2, count_ring); }

TEST(Counts, AreExactWhereMessagesWaitForRoom) {
  test::run_processes_in({.refuse_percent = 30, .max_delay = 20}, 3, count_ring);
}

TEST(Counts, StayAfterTheEnd) {
  std::array<vci::Counts, 20> counts;
  counts[19].sent = 5;
  read_counts(counts);
  EXPECT_EQ(counts[0].sent, 0u);
  EXPECT_EQ(counts[19].sent, 0u);
  test::run_processes(1, [&](Process& process) {
    open_counts(process.domain(), process.contexts());
    ring(process);
    read_counts(counts);
    EXPECT_EQ(counts[0].sent, static_cast<std::uint64_t>(kMessages));
    EXPECT_EQ(counts[1].sent, 0u);
    close_counts();
  });
  counts = {};
  read_counts(counts);
  EXPECT_EQ(counts[0].sent, static_cast<std::uint64_t>(kMessages));
  EXPECT_EQ(counts[0].received, static_cast<std::uint64_t>(kMessages));
}

}  // namespace
}  // namespace heddle::mpi
