// Partitioned collectives of several processes in one program, for the race detector: no lock of the test orders the threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "mpi/handle.hpp"
#include "p2p/api.hpp"
#include "p2p/completion.hpp"
#include "part/api.hpp"
#include "part/api_collective.hpp"
#include "support/in_process.hpp"

namespace heddle::part {
namespace {

constexpr int kThreads = 16, kRounds = 3;

mpi::Datatype& int_type() { return *mpi::from_handle(MPI_INT); }
mpi::Op& sum() { return *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_SUM)); }

int content(int rank, int round, int i) { return rank * 100003 + round * 1009 + i; }

template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) all.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : all) thread.join();
}

// Every thread readies its partitions, in an order of its rank's own, and then reads others' as they arrive.
template <class Fill, class Check>
void run_rounds(MPI_Request request, int rank, int partitions, bool gives, Fill fill, Check check) {
  std::atomic<int> wrong{0};
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(api::start(&request));
    in_threads([&](int t) {
      for (int k = partitions / kThreads; gives && k-- > 0;) {
        const int p = (k * kThreads + t + rank * 5 + round) % partitions;
        fill(p, round);
        ASSERT_TRUE(api::pready(p, request));
      }
      for (int p = partitions - 1 - t; p >= 0; p -= kThreads) {
        for (int flag = 0; flag == 0;) {
          ASSERT_TRUE(api::parrived(request, p, &flag));
          if (flag == 0) std::this_thread::yield();
        }
        wrong += check(p, round);
      }
    });
    ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
    EXPECT_EQ(wrong.load(), 0) << "round " << round;
  }
  ASSERT_TRUE(api::request_free(&request));
}

struct Cut {
  int ranks, partitions, count;
};

void reduce(mpi::Process& process, Cut cut) {
  mpi::Comm& world = *process.world();
  std::vector<int> in(static_cast<std::size_t>(cut.partitions * cut.count)), out(in.size());
  MPI_Request request;
  ASSERT_TRUE(api::pallreduce_init(in.data(), out.data(), cut.partitions, cut.count, int_type(), sum(), world, nullptr,
                                   &request));
  run_rounds(
      request, world.rank, cut.partitions, true,
      [&](int p, int round) {
        for (int i = p * cut.count; i < (p + 1) * cut.count; ++i)
          in[static_cast<std::size_t>(i)] = content(world.rank, round, i);
      },
      [&](int p, int round) {
        int wrong = 0;
        for (int i = p * cut.count; i < (p + 1) * cut.count; ++i) {
          int want = 0;
          for (int r = 0; r < cut.ranks; ++r) want += content(r, round, i);
          wrong += out[static_cast<std::size_t>(i)] != want;
        }
        return wrong;
      });
}

// The last rank is the root, and the only one that says what is ready.
void broadcast(mpi::Process& process, Cut cut) {
  mpi::Comm& world = *process.world();
  const int root = cut.ranks - 1;
  std::vector<int> data(static_cast<std::size_t>(cut.partitions * cut.count));
  MPI_Request request;
  ASSERT_TRUE(api::pbcast_init(data.data(), cut.partitions, cut.count, int_type(), root, world, nullptr, &request));
  run_rounds(
      request, world.rank, cut.partitions, world.rank == root,
      [&](int p, int round) {
        for (int i = p * cut.count; i < (p + 1) * cut.count; ++i)
          data[static_cast<std::size_t>(i)] = content(7, round, i);
      },
      [&](int p, int round) {
        int wrong = 0;
        for (int i = p * cut.count; i < (p + 1) * cut.count; ++i)
          wrong += data[static_cast<std::size_t>(i)] != content(7, round, i);
        return wrong;
      });
}

class Collectives : public testing::TestWithParam<Cut> {};

TEST_P(Collectives, Reduce) {
  test::run_processes(GetParam().ranks, [](mpi::Process& process) { reduce(process, GetParam()); });
}

TEST_P(Collectives, Broadcast) {
  test::run_processes(GetParam().ranks, [](mpi::Process& process) { broadcast(process, GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Cuts, Collectives, testing::Values(Cut{1, 16, 3}, Cut{2, 64, 5}, Cut{3, 32, 700}));

TEST(CollectivesInBadWeather, BothInTurn) {
  const Cut cut{3, 16, 900};
  test::run_processes_in({.refuse_percent = 30, .max_delay = 6, .max_payload = 3000, .seed = 3}, cut.ranks,
                         [&](mpi::Process& process) {
                           reduce(process, cut);
                           broadcast(process, cut);
                         });
}

// Later collectives keep their tags where the ranks do not agree about the partitions, and nothing is left behind.
TEST(CollectivesThatDiffer, AllHearOfIt) {
  test::run_processes(3, [](mpi::Process& process) {
    mpi::Comm& world = *process.world();
    int in[4] = {1, 2, 3, 4}, out[6] = {};
    const std::uint32_t references = world.references.load();
    MPI_Request request = MPI_REQUEST_NULL;
    const Status status =
        api::pallreduce_init(in, out, world.rank == 1 ? 2 : 4, 1, int_type(), sum(), world, nullptr, &request);
    EXPECT_EQ(status.error_class(), MPI_ERR_ARG);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(world.references.load(), references);
    // One rank has no memory for what it puts aside.
    const MPI_Count count = world.rank == 1 ? MPI_Count{1} << 57 : 1;
    const Status none =
        api::palltoall_init(MPI_IN_PLACE, 2, 0, int_type(), out, count, int_type(), world, nullptr, &request);
    EXPECT_EQ(none.error_class(), MPI_ERR_NO_MEM);
    EXPECT_EQ(world.references.load(), references);
    reduce(process, {3, 16, 1});
  });
}

}  // namespace
}  // namespace heddle::part
