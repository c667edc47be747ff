// Collectives over real messages: ranks are threads with a Process each, over shared memory and over a wire that
// delays, reorders and refuses. What the schedules compute is tested without processes (data_test, reduce_test); here:
// that blocking, nonblocking and overlapping collectives run them, clean up, and report errors.
#include <gtest/gtest.h>

#include <numeric>

#include "coll/api.hpp"
#include "mpi/api_datatype.hpp"
#include "mpi/api_op.hpp"
#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"
#include "plan/text.hpp"
#include "support/in_process.hpp"

// The tests ask for more memory than there is; the sanitizers' allocators must say so as malloc does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace heddle::coll::test {
namespace {

using heddle::test::run_processes;
using heddle::test::run_processes_in;
using heddle::test::Weather;
using mpi::Comm;
using mpi::Datatype;
using mpi::IntArray;
using mpi::Process;

Datatype& int_type() { return *mpi::from_handle(MPI_INT); }
mpi::Op& sum() { return *mpi::from_handle(MPI_SUM); }

// Waits as MPI_Wait does. Returns the error class.
int complete(MPI_Request handle) {
  mpi::Request* request = mpi::from_handle(handle);
  p2p::wait(*request);
  const int error = request->error;
  p2p::destroy(request);
  return error;
}

void each_blocking(Process& process) {
  Comm& world = *process.world();
  const int me = world.rank, size = world.size;
  std::vector<int> all(size), back(size), ones(size, 1), places(size);
  std::iota(places.begin(), places.end(), 0);
  const IntArray counts(ones.data()), displs(places.data());
  for (int root = 0; root < size; ++root) {
    const int mine = me * 10 + root;
    ASSERT_TRUE(api::barrier(world));
    int data = me == root ? 77 + root : 0;
    ASSERT_TRUE(api::bcast(&data, 1, int_type(), root, world));
    EXPECT_EQ(data, 77 + root);
    const auto expect_all = [&](bool here) {
      for (int i = 0; here && i < size; ++i) EXPECT_EQ(all[i], i * 10 + root);
      std::fill(all.begin(), all.end(), -1);
    };
    ASSERT_TRUE(api::gather(&mine, 1, int_type(), all.data(), 1, int_type(), root, world));
    expect_all(me == root);
    ASSERT_TRUE(api::gatherv(&mine, 1, int_type(), all.data(), counts, displs, int_type(), root, world));
    expect_all(me == root);
    ASSERT_TRUE(api::allgather(&mine, 1, int_type(), all.data(), 1, int_type(), world));
    expect_all(true);
    ASSERT_TRUE(api::allgatherv(&mine, 1, int_type(), all.data(), counts, displs, int_type(), world));
    expect_all(true);
    for (int i = 0; i < size; ++i) all[i] = 100 * me + i;
    int part = -1;
    ASSERT_TRUE(api::scatter(all.data(), 1, int_type(), &part, 1, int_type(), root, world));
    EXPECT_EQ(part, 100 * root + me);
    ASSERT_TRUE(api::scatterv(all.data(), counts, displs, int_type(), &part, 1, int_type(), root, world));
    EXPECT_EQ(part, 100 * root + me);
    ASSERT_TRUE(api::alltoall(all.data(), 1, int_type(), back.data(), 1, int_type(), world));
    for (int i = 0; i < size; ++i) EXPECT_EQ(back[i], 100 * i + me);
    std::fill(back.begin(), back.end(), -1);
    ASSERT_TRUE(api::alltoallv(all.data(), counts, displs, int_type(), back.data(), counts, displs, int_type(), world));
    for (int i = 0; i < size; ++i) EXPECT_EQ(back[i], 100 * i + me);
    std::vector<int> bytes(size);
    for (int i = 0; i < size; ++i) bytes[i] = 4 * i;
    const std::vector<MPI_Datatype> types(size, MPI_INT);
    std::fill(back.begin(), back.end(), -1);
    ASSERT_TRUE(api::alltoallw(all.data(), counts, IntArray(bytes.data()), types.data(), back.data(), counts,
                               IntArray(bytes.data()), types.data(), world));
    for (int i = 0; i < size; ++i) EXPECT_EQ(back[i], 100 * i + me);
    int result = -1;
    ASSERT_TRUE(api::reduce(&mine, &result, 1, int_type(), sum(), root, world));
    const int total = 10 * (size * (size - 1) / 2) + size * root;
    EXPECT_EQ(result, me == root ? total : -1);
    ASSERT_TRUE(api::allreduce(&mine, &result, 1, int_type(), sum(), world));
    EXPECT_EQ(result, total);
    ASSERT_TRUE(api::scan(&mine, &result, 1, int_type(), sum(), world));
    EXPECT_EQ(result, 10 * (me * (me + 1) / 2) + (me + 1) * root);
    result = -1;
    ASSERT_TRUE(api::exscan(&mine, &result, 1, int_type(), sum(), world));
    EXPECT_EQ(result, me == 0 ? -1 : 10 * (me * (me - 1) / 2) + me * root);
    ASSERT_TRUE(api::reduce_scatter(all.data(), &part, counts, int_type(), sum(), world));
    EXPECT_EQ(part, 100 * (size * (size - 1) / 2) + size * me);
    ASSERT_TRUE(api::reduce_scatter_block(all.data(), &part, 1, int_type(), sum(), world));
    EXPECT_EQ(part, 100 * (size * (size - 1) / 2) + size * me);
  }
}

TEST(Processes, EachBlocking) {
  for (int size : {1, 2, 3, 5, 8}) run_processes(size, each_blocking);
}

TEST(Processes, EachBlockingInBadWeather) {
  run_processes_in(Weather{.refuse_percent = 20, .max_delay = 3}, 3, each_blocking);
}

// The plan that the world's allreduce of an int has run.
std::string allreduce_plan(const Comm& comm) {
  const plan::Plan* plan =
      comm.plans.find({plan::Collective::kAllreduce, static_cast<std::uint32_t>(comm.size), 0, false}, sizeof(int));
  return plan == nullptr ? "none" : plan::print(plan->choice);
}

TEST(Processes, ByNodesWhereRanksOfANodeAreInARow) {
  const struct {
    std::vector<int> nodes;
    const char* plan;
  } jobs[] = {{{0, 0, 0, 1, 1, 1, 2, 2, 2}, "nodes 3 1"},
              {{1, 1, 0, 0, 2, 2, 3, 3}, "nodes 2 1"},
              {{0, 1, 0, 1}, "recursive"},
              {{0, 0, 1, 1, 2}, "recursive"},
              {{0, 0, 0, 0}, "recursive"}};
  for (const auto& job : jobs) {
    run_processes_in(
        Weather{.max_delay = 1}, static_cast<int>(job.nodes.size()),
        [&](Process& process) {
          each_blocking(process);
          EXPECT_EQ(allreduce_plan(*process.world()), job.plan);
        },
        vci::LongMessages::kRendezvous, job.nodes);
  }
}

// All started before any is waited for, and waited for in the reverse order.
void many_outstanding(Process& process) {
  Comm& world = *process.world();
  const int me = world.rank, size = world.size;
  constexpr int kRounds = 12, kInts = 3000;
  std::vector<MPI_Request> requests;
  std::vector<std::vector<int>> sums(kRounds), gathered(kRounds), sent(kRounds), scans(kRounds);
  for (int i = 0; i < kRounds; ++i) {
    const int ints = i % 3 == 0 ? kInts : 1;
    sent[i].assign(ints, me + i);
    sums[i].resize(ints);
    scans[i].resize(ints);
    gathered[i].resize(ints * size);
    MPI_Request r[4];
    ASSERT_TRUE(
        api::allreduce(sent[i].data(), sums[i].data(), ints, int_type(), sum(), world, coll::nonblocking(&r[0])));
    ASSERT_TRUE(api::barrier(world, coll::nonblocking(&r[1])));
    ASSERT_TRUE(api::allgather(sent[i].data(), ints, int_type(), gathered[i].data(), ints, int_type(), world,
                               coll::nonblocking(&r[2])));
    ASSERT_TRUE(api::scan(sent[i].data(), scans[i].data(), ints, int_type(), sum(), world, coll::nonblocking(&r[3])));
    requests.insert(requests.end(), r, r + 4);
  }
  for (std::size_t i = requests.size(); i-- > 0;) EXPECT_EQ(complete(requests[i]), MPI_SUCCESS);
  for (int i = 0; i < kRounds; ++i) {
    for (int x : sums[i]) ASSERT_EQ(x, size * (size - 1) / 2 + size * i);
    for (int x : scans[i]) ASSERT_EQ(x, me * (me + 1) / 2 + (me + 1) * i);
    const int ints = static_cast<int>(sent[i].size());
    for (int k = 0; k < ints * size; ++k) ASSERT_EQ(gathered[i][k], k / ints + i);
  }
}

TEST(Nonblocking, ManyOutstanding) {
  for (int size : {1, 2, 4, 7}) run_processes(size, many_outstanding);
}

TEST(Nonblocking, ManyOutstandingInBadWeather) {
  run_processes_in(Weather{.refuse_percent = 10, .max_delay = 5}, 3, many_outstanding);
}

void keep_first(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < 2 * *length; ++i) static_cast<int*>(inout)[i] = static_cast<int*>(in)[i];
}

// MPI 4.1, 6.12: the user may free what a started collective uses.
TEST(Nonblocking, TypeAndOperationMayBeFreedAtOnce) {
  run_processes(4, [](Process& process) {
    Comm& world = *process.world();
    MPI_Datatype pair;
    MPI_Op first;
    ASSERT_TRUE(api::type_contiguous(2, int_type(), &pair, false));
    ASSERT_TRUE(api::type_commit(&pair));
    ASSERT_TRUE(api::op_create(keep_first, false, &first, false));
    Datatype& type = *mpi::from_handle(pair);
    const auto references = [&] { return type.references.load(); };
    std::vector<int> send(2000, world.rank + 5), recv(2000), data(2000, world.rank);
    MPI_Request reduction, copy;
    ASSERT_TRUE(api::allreduce(send.data(), recv.data(), 1000, type, *mpi::from_handle(first), world,
                               coll::nonblocking(&reduction)));
    ASSERT_TRUE(api::bcast(data.data(), 1000, type, 2, world, coll::nonblocking(&copy)));
    type.retain();  // so that the test may look at it below
    ASSERT_TRUE(api::type_free(&pair));
    ASSERT_TRUE(api::op_free(&first));
    EXPECT_EQ(complete(reduction), MPI_SUCCESS);
    EXPECT_EQ(complete(copy), MPI_SUCCESS);
    EXPECT_EQ(references(), 1u) << "the collectives must let go of the type";
    mpi::release(type);
    EXPECT_EQ(recv, std::vector<int>(2000, 5));
    EXPECT_EQ(data, std::vector<int>(2000, 2));
  });
}

TEST(Nonblocking, GoesOnWhileAnotherOperationIsWaitedFor) {
  run_processes(3, [](Process& process) {
    Comm& world = *process.world();
    std::vector<int> data(100000, world.rank == 0 ? 9 : 0);
    MPI_Request bcast;
    ASSERT_TRUE(api::bcast(data.data(), 100000, int_type(), 0, world, coll::nonblocking(&bcast)));
    ASSERT_TRUE(api::barrier(world));
    // The broadcast is complete at the leaves only if rank 0 sends while it waits here for an answer to it.
    if (world.rank == 0) {
      int answer = 0;
      for (int from : {1, 2}) {
        ASSERT_TRUE(p2p::recv(world, &answer, 1, int_type(), from, 3, mpi::Channel::kUser, nullptr));
        EXPECT_EQ(answer, 9);
      }
      EXPECT_EQ(complete(bcast), MPI_SUCCESS);
    } else {
      EXPECT_EQ(complete(bcast), MPI_SUCCESS);
      ASSERT_TRUE(p2p::send(world, &data[99999], 1, int_type(), 0, 3, p2p::Mode::kStandard, mpi::Channel::kUser));
    }
  });
}

TEST(Processes, AWildcardDoesNotSeeCollectives) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    int got = 0, mine = 40 + world.rank, total = 0;
    mpi::Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(world, &got, 1, int_type(), MPI_ANY_SOURCE, MPI_ANY_TAG, mpi::Channel::kUser, &receive));
    ASSERT_TRUE(api::allreduce(&mine, &total, 1, int_type(), sum(), world));
    EXPECT_EQ(total, 81);
    EXPECT_FALSE(p2p::test(*receive));
    ASSERT_TRUE(api::barrier(world));
    ASSERT_TRUE(p2p::send(world, &mine, 1, int_type(), 1 - world.rank, 0, p2p::Mode::kStandard, mpi::Channel::kUser));
    p2p::wait(*receive);
    EXPECT_EQ(got, 41 - world.rank);
    p2p::destroy(receive);
  });
}

// The tag must neither turn negative nor differ between ranks when the count of collectives passes 2^31.
TEST(Processes, TagsWrapAround) {
  run_processes(3, [](Process& process) {
    Comm& world = *process.world();
    for (std::uint32_t near : {0x7FFFFFFDu, 0xFFFFFFFDu}) {
      world.collective_sequence = near;
      for (int i = 0; i < 6; ++i) {
        int mine = world.rank + i, total = 0;
        ASSERT_TRUE(api::allreduce(&mine, &total, 1, int_type(), sum(), world));
        EXPECT_EQ(total, 3 + 3 * i);
      }
    }
  });
}

TEST(Errors, TruncationReachesTheCaller) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    std::vector<int> data(100, 1);
    const int count = world.rank == 0 ? 100 : 50;
    const int expected = world.rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    EXPECT_EQ(api::bcast(data.data(), count, int_type(), 0, world).error_class(), expected);
    MPI_Request request;
    ASSERT_TRUE(api::bcast(data.data(), count, int_type(), 0, world, coll::nonblocking(&request)));
    EXPECT_EQ(complete(request), expected);
    ASSERT_TRUE(api::barrier(world));
  });
}

TEST(Errors, NoMemory) {
  run_processes(1, [](Process& process) {
    Comm& self = *process.self();
    int data = 0;
    const MPI_Count huge = MPI_Count{1} << 58;
    const auto exchange = [&](Form form) {
      return api::alltoall(MPI_IN_PLACE, 0, int_type(), &data, huge, int_type(), self, form);
    };
    const Status s = exchange({});
    EXPECT_EQ(s.error_class(), MPI_ERR_NO_MEM);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(exchange(nonblocking(&request)).error_class(), MPI_ERR_NO_MEM);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(self.references.load(), 1u);
  });
}

TEST(Errors, ScanOfAnIntercommunicator) {
  run_processes(1, [](Process& process) {
    Comm& self = *process.self();
    self.remote_group = self.group;
    int in = 1, out = 0;
    EXPECT_EQ(api::scan(&in, &out, 1, int_type(), sum(), self).error_class(), MPI_ERR_COMM);
    EXPECT_NE(std::string(last_error_detail()).find("MPI_Intercomm_merge"), std::string::npos);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(api::exscan(&in, &out, 1, int_type(), sum(), self, coll::nonblocking(&request)).error_class(),
              MPI_ERR_COMM);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    self.remote_group = nullptr;
    EXPECT_TRUE(api::barrier(self));
  });
}

// Threads of one process each use a communicator's collectives in turn; other threads' waits carry them on.
TEST(Threads, CollectivesOnTwoCommunicatorsAtOnce) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    Comm& self = *process.self();
    std::thread other([&self] {
      for (int i = 0; i < 200; ++i) {
        int one = 1, total = 0;
        MPI_Request request;
        ASSERT_TRUE(api::allreduce(&one, &total, 1, int_type(), sum(), self, coll::nonblocking(&request)));
        EXPECT_EQ(complete(request), MPI_SUCCESS);
        EXPECT_EQ(total, 1);
      }
    });
    for (int i = 0; i < 200; ++i) {
      int mine = world.rank + i, total = 0;
      MPI_Request request;
      ASSERT_TRUE(api::allreduce(&mine, &total, 1, int_type(), sum(), world, coll::nonblocking(&request)));
      EXPECT_EQ(complete(request), MPI_SUCCESS);
      EXPECT_EQ(total, 2 * i + 1);
    }
    other.join();
  });
}

}  // namespace
}  // namespace heddle::coll::test
