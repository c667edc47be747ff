// A partitioned collective is made: one bound collective for each partition (collective.hpp).
#include "part/api_collective.hpp"

#include <memory>
#include <new>
#include <vector>

#include "coll/build.hpp"
#include "coll/check.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "part/collective.hpp"

namespace heddle::api {
namespace {

using coll::Blocks;
using coll::Buffer;
using coll::Called;
using coll::Record;
using coll::Schedule;
using mpi::IntArray;
using part::Collective;

// Partition `partition` of items that lie one after the other. MPI_IN_PLACE stays that.
Buffer part_of(const void* data, int partition, MPI_Count count, mpi::Datatype& type) {
  const Buffer first(data, count, type);
  return first.in_place() ? first : first.part(partition * count, count);
}

// The same partition of the blocks of all ranks.
class Rows {
 public:
  Rows(const mpi::Comm& comm, int partitions, MPI_Count count) noexcept
      : ranks_(static_cast<std::size_t>(comm.size)), partitions_(partitions), count_(count) {}

  // Good until the next call. The first one throws std::bad_alloc where there is no memory.
  Blocks of(const void* data, int partition, mpi::Datatype& type) {
    counts_.resize(ranks_, count_);
    places_.resize(ranks_);
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      places_[rank] = (static_cast<MPI_Count>(rank) * partitions_ + partition) * counts_[rank];
    }
    return Blocks(data, IntArray(counts_.data()), IntArray(places_.data()), type);
  }

 private:
  const std::size_t ranks_;
  const MPI_Count partitions_, count_;
  std::vector<MPI_Count> counts_, places_;
};

// Null: `*failed` says why.
template <class Build>
std::unique_ptr<Collective> make_parts(mpi::Comm& comm, int partitions, const Collective::Uses& uses, bool gives,
                                       Build& build, int* failed) noexcept try {
  auto made = std::make_unique<Collective>(comm, uses, gives);
  for (int p = 0; p < partitions; ++p) {
    Schedule& schedule = made->add();
    build(schedule, p);
    schedule.join();
    *failed = schedule.error();
    if (schedule.failed()) return nullptr;
  }
  return made;
} catch (const std::bad_alloc&) {
  *failed = MPI_ERR_NO_MEM;
  return nullptr;
}

// least[i]: the least that any rank has there.
template <std::size_t N>
Status find_least(std::int64_t (&least)[N], mpi::Comm& comm) {
  return allreduce(MPI_IN_PLACE, least, N, *mpi::from_handle(MPI_INT64_T),
                   *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MIN)), comm);
}

// `build(schedule, partition)` writes the steps of a partition; `gives`: this rank has something that becomes ready.
template <class Build>
Status make(mpi::Comm& comm, int partitions, const Collective::Uses& uses, bool gives, const Record& record,
            MPI_Request* request, Build build) {
  HEDDLE_TRY(coll::check_intra(comm));
  if (comm.process->checks_collectives()) {
    HEDDLE_TRY(coll::carry_out(comm, {}, [&](Schedule& s) { coll::build_check(s, record); }));
  }
  std::int64_t numbers[] = {partitions, -std::int64_t{partitions}};
  HEDDLE_TRY(find_least(numbers, comm));
  if (numbers[0] != -numbers[1]) {
    return error(MPI_ERR_ARG,
                 "%d partitions here, %lld at one rank and %lld at another; all ranks have to say the same", partitions,
                 static_cast<long long>(numbers[0]), -static_cast<long long>(numbers[1]));
  }
  int failed = MPI_SUCCESS;
  std::unique_ptr<Collective> made = make_parts(comm, partitions, uses, gives, build, &failed);
  std::int64_t outcome[] = {-std::int64_t{failed}};  // one that failed somewhere fails everywhere
  HEDDLE_TRY(find_least(outcome, comm));
  if (outcome[0] != -MPI_ERR_NO_MEM && outcome[0] != 0) return Status::of_class(static_cast<int>(-outcome[0]));
  if (outcome[0] != 0) {
    return error(MPI_ERR_NO_MEM, "some rank has no memory for a partitioned collective of %d partitions", partitions);
  }
  made->settle(comm.collective_sequence.fetch_add(static_cast<std::uint32_t>(partitions), std::memory_order_relaxed));
  *request = mpi::to_handle(static_cast<mpi::Request*>(made.release()));
  return Status::ok();
}

}  // namespace

Status pbcast_init(void* buffer, int partitions, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm,
                   mpi::Info*, MPI_Request* request) {
  return make(comm, partitions, {.send = &datatype}, comm.rank == root,
              Record(Called::kPbcast, root).giving(Buffer(nullptr, partitions * count, datatype)), request,
              [&](Schedule& s, int p) { coll::build_bcast(s, part_of(buffer, p, count, datatype), root); });
}

Status preduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, mpi::Datatype& datatype,
                    mpi::Op& op, int root, mpi::Comm& comm, mpi::Info*, MPI_Request* request) {
  const void* own = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return make(comm, partitions, {.send = &datatype, .op = &op}, true,
              Record(Called::kPreduce, root).with(op).giving(Buffer(nullptr, partitions * count, datatype)), request,
              [&](Schedule& s, int p) {
                void* result = comm.rank == root ? part_of(recvbuf, p, count, datatype).data : nullptr;
                coll::build_reduce(s, part_of(own, p, count, datatype), result, op, root);
              });
}

Status pallreduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, mpi::Datatype& datatype,
                       mpi::Op& op, mpi::Comm& comm, mpi::Info*, MPI_Request* request) {
  const void* own = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return make(comm, partitions, {.send = &datatype, .op = &op}, true,
              Record(Called::kPallreduce).with(op).giving(Buffer(nullptr, partitions * count, datatype)), request,
              [&](Schedule& s, int p) {
                coll::build_allreduce(s, part_of(own, p, count, datatype), part_of(recvbuf, p, count, datatype).data,
                                      op);
              });
}

Status pgather_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                    MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, mpi::Info*,
                    MPI_Request* request) {
  Rows rows(comm, partitions, recvcount);
  Record record = Record(Called::kPgather, root).giving(Buffer(sendbuf, partitions * sendcount, sendtype));
  if (comm.rank == root) record.taking(Buffer(recvbuf, partitions * recvcount, recvtype));
  return make(comm, partitions, {.send = &sendtype, .recv = &recvtype}, true, record, request, [&](Schedule& s, int p) {
    coll::build_gatherv(s, part_of(sendbuf, p, sendcount, sendtype), rows.of(recvbuf, p, recvtype), root);
  });
}

Status pscatter_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                     MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, mpi::Info*,
                     MPI_Request* request) {
  Rows rows(comm, partitions, sendcount);
  Record record = Record(Called::kPscatter, root).taking(Buffer(recvbuf, partitions * recvcount, recvtype));
  if (comm.rank == root) record.giving(Buffer(sendbuf, partitions * sendcount, sendtype));
  return make(comm, partitions, {.send = &sendtype, .recv = &recvtype}, comm.rank == root, record, request,
              [&](Schedule& s, int p) {
                coll::build_scatterv(s, rows.of(sendbuf, p, sendtype), part_of(recvbuf, p, recvcount, recvtype), root);
              });
}

Status pallgather_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                       MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, mpi::Info*,
                       MPI_Request* request) {
  Rows rows(comm, partitions, recvcount);
  return make(comm, partitions, {.send = &sendtype, .recv = &recvtype}, true,
              Record(Called::kPallgather)
                  .giving(Buffer(sendbuf, partitions * sendcount, sendtype))
                  .taking(Buffer(recvbuf, partitions * recvcount, recvtype)),
              request, [&](Schedule& s, int p) {
                coll::build_allgatherv(s, part_of(sendbuf, p, sendcount, sendtype), rows.of(recvbuf, p, recvtype));
              });
}

Status palltoall_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                      MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, mpi::Info*, MPI_Request* request) {
  Rows from(comm, partitions, sendcount), to(comm, partitions, recvcount);
  return make(comm, partitions, {.send = &sendtype, .recv = &recvtype}, true,
              Record(Called::kPalltoall)
                  .giving(Buffer(sendbuf, partitions * sendcount, sendtype))
                  .taking(Buffer(recvbuf, partitions * recvcount, recvtype)),
              request, [&](Schedule& s, int p) {
                coll::build_alltoall(s, from.of(sendbuf, p, sendtype), to.of(recvbuf, p, recvtype));
              });
}

}  // namespace heddle::api
