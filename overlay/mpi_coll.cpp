// The blocking collectives: by plans where that is asked for or faster, else the host's. What the overlay does not understand the host gets as
// it is, so that its errors are the host's.
#include <sched.h>

#include <new>

#include "coll_call.hpp"

namespace heddle::overlay {
namespace {

constexpr unsigned kSpins = 50;

int raise(const char* name, MPI_Comm comm, int error_class, const char* text) {
  Identity caller;
  caller.handle = comm;
  return fail(name, &caller, error_class, "%s", text);
}

}  // namespace

int conclude_collective(const char* name, MPI_Comm comm, int error_class) {
  if (error_class == MPI_SUCCESS) return MPI_SUCCESS;
  return raise(name, comm, error_class, "a message of this collective failed; the counts of all ranks have to match");
}

int no_memory(const char* name, MPI_Comm comm) {
  return raise(name, comm, MPI_ERR_NO_MEM, "no memory for a planned collective");
}

int run_blocking(const char* name, MPI_Comm handle, CollComm& comm, const Wanted& wanted, std::uint64_t bytes) {
  Board* board = comm.may_take_memory(wanted.kind, bytes) ? comm.board() : nullptr;
  if (board != nullptr && !board->takes(wanted.kind, bytes)) board = nullptr;
  (board != nullptr ? coll_counts.by_memory : coll_counts.by_messages).fetch_add(1, std::memory_order_relaxed);
  // Before anything fails: the others count this one, too.
  const int tag = board != nullptr ? 0 : comm.next_tag();
  Job& job = comm.blocking;
  try {
    job.prepare(wanted, bytes, comm.plan(wanted.kind, wanted.root, bytes, comm.spare_plan), comm.rank, comm.size);
    if (board == nullptr) job.begin(comm.own(), tag);
  } catch (const std::bad_alloc&) {
    if (board != nullptr) board->skip();
    return no_memory(name, handle);
  }
  if (board != nullptr) {
    job.go_by(*board);
    return MPI_SUCCESS;
  }
  for (unsigned n = 0; !job.advance(); ++n) {
    engine().step();
    if (n > kSpins) sched_yield();
  }
  job.give_back();
  return conclude_collective(name, handle, job.error());
}

}  // namespace heddle::overlay

using namespace heddle::overlay;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  return blocking(
      __func__, comm, barrier_of(), [&] { return PMPI_Barrier(comm); },
      [&](MPI_Request* r) { return PMPI_Ibarrier(comm, r); });
}

#define HEDDLE_BLOCKING(suffix, Count)                                                                                \
  int MPI_Bcast##suffix(void* data, Count count, MPI_Datatype type, int root, MPI_Comm comm) {                        \
    return blocking(                                                                                                  \
        __func__, comm, bcast_of(data, count, type, root),                                                            \
        [&] { return PMPI_Bcast##suffix(data, count, type, root, comm); },                                            \
        [&](MPI_Request* r) { return PMPI_Ibcast##suffix(data, count, type, root, comm, r); });                       \
  }                                                                                                                   \
  int MPI_Reduce##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op, int root,           \
                         MPI_Comm comm) {                                                                             \
    return blocking(                                                                                                  \
        __func__, comm, reduce_of(send, recv, count, type, op, root),                                                 \
        [&] { return PMPI_Reduce##suffix(send, recv, count, type, op, root, comm); },                                 \
        [&](MPI_Request* r) { return PMPI_Ireduce##suffix(send, recv, count, type, op, root, comm, r); });            \
  }                                                                                                                   \
  int MPI_Allreduce##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) { \
    return blocking(                                                                                                  \
        __func__, comm, allreduce_of(send, recv, count, type, op),                                                    \
        [&] { return PMPI_Allreduce##suffix(send, recv, count, type, op, comm); },                                    \
        [&](MPI_Request* r) { return PMPI_Iallreduce##suffix(send, recv, count, type, op, comm, r); });               \
  }                                                                                                                   \
  int MPI_Reduce_scatter_block##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op,       \
                                       MPI_Comm comm) {                                                               \
    return blocking(                                                                                                  \
        __func__, comm, reduce_scatter_block_of(send, recv, count, type, op),                                         \
        [&] { return PMPI_Reduce_scatter_block##suffix(send, recv, count, type, op, comm); },                         \
        [&](MPI_Request* r) { return PMPI_Ireduce_scatter_block##suffix(send, recv, count, type, op, comm, r); });    \
  }                                                                                                                   \
  int MPI_Allgather##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count,      \
                            MPI_Datatype type, MPI_Comm comm) {                                                       \
    return blocking(                                                                                                  \
        __func__, comm, allgather_of(send, send_count, send_type, recv, count, type),                                 \
        [&] { return PMPI_Allgather##suffix(send, send_count, send_type, recv, count, type, comm); },                 \
        [&](MPI_Request* r) {                                                                                         \
          return PMPI_Iallgather##suffix(send, send_count, send_type, recv, count, type, comm, r);                    \
        });                                                                                                           \
  }                                                                                                                   \
  int MPI_Alltoall##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count,       \
                           MPI_Datatype type, MPI_Comm comm) {                                                        \
    return blocking(                                                                                                  \
        __func__, comm, alltoall_of(send, send_count, send_type, recv, count, type),                                  \
        [&] { return PMPI_Alltoall##suffix(send, send_count, send_type, recv, count, type, comm); },                  \
        [&](MPI_Request* r) {                                                                                         \
          return PMPI_Ialltoall##suffix(send, send_count, send_type, recv, count, type, comm, r);                     \
        });                                                                                                           \
  }

HEDDLE_BLOCKING(, int)
#if MPI_VERSION >= 4
HEDDLE_BLOCKING(_c, MPI_Count)
#endif

}  // extern "C"
#pragma GCC visibility pop
