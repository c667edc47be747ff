// The collectives of tune_coll.cpp, each by the host or by the overlay, and its three ways.
#pragma once

#include "coll_kinds.hpp"
#include "host.hpp"

namespace heddle::overlay {

struct Case {
  CollKind kind;
  Way way;
  std::uint64_t bytes;  // of the vector, or of a rank's block
  char *in, *out;
};

// Calls, and not a choice of addresses: an address is looked for when the overlay is loaded, and the host may come after it.
#define HEDDLE_EITHER(name, ...) (by_host ? PMPI_##name(__VA_ARGS__) : MPI_##name(__VA_ARGS__))

inline int call_blocking(const Case& c, bool by_host, MPI_Comm comm) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  switch (c.kind) {
    case CollKind::kBarrier:
      return HEDDLE_EITHER(Barrier, comm);
    case CollKind::kBcast:
      return HEDDLE_EITHER(Bcast, c.out, n, MPI_BYTE, 0, comm);
    case CollKind::kReduce:
      return HEDDLE_EITHER(Reduce, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm);
    case CollKind::kAllreduce:
      return HEDDLE_EITHER(Allreduce, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm);
    case CollKind::kAllgather:
      return HEDDLE_EITHER(Allgather, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm);
    case CollKind::kReduceScatterBlock:
      return HEDDLE_EITHER(Reduce_scatter_block, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm);
    case CollKind::kAlltoall:
      return HEDDLE_EITHER(Alltoall, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm);
  }
  return MPI_SUCCESS;
}

inline int call_nonblocking(const Case& c, bool by_host, MPI_Comm comm, MPI_Request* r) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  switch (c.kind) {
    case CollKind::kBarrier:
      return HEDDLE_EITHER(Ibarrier, comm, r);
    case CollKind::kBcast:
      return HEDDLE_EITHER(Ibcast, c.out, n, MPI_BYTE, 0, comm, r);
    case CollKind::kReduce:
      return HEDDLE_EITHER(Ireduce, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm, r);
    case CollKind::kAllreduce:
      return HEDDLE_EITHER(Iallreduce, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, r);
    case CollKind::kAllgather:
      return HEDDLE_EITHER(Iallgather, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, r);
    case CollKind::kReduceScatterBlock:
      return HEDDLE_EITHER(Ireduce_scatter_block, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, r);
    case CollKind::kAlltoall:
      return HEDDLE_EITHER(Ialltoall, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, r);
  }
  return MPI_SUCCESS;
}

#if HEDDLE_HOST_MPI_4
inline int make_request(const Case& c, bool by_host, MPI_Comm comm, MPI_Request* r) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  const MPI_Info none = MPI_INFO_NULL;
  switch (c.kind) {
    case CollKind::kBarrier:
      return HEDDLE_EITHER(Barrier_init, comm, none, r);
    case CollKind::kBcast:
      return HEDDLE_EITHER(Bcast_init, c.out, n, MPI_BYTE, 0, comm, none, r);
    case CollKind::kReduce:
      return HEDDLE_EITHER(Reduce_init, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm, none, r);
    case CollKind::kAllreduce:
      return HEDDLE_EITHER(Allreduce_init, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, none, r);
    case CollKind::kAllgather:
      return HEDDLE_EITHER(Allgather_init, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, none, r);
    case CollKind::kReduceScatterBlock:
      return HEDDLE_EITHER(Reduce_scatter_block_init, c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, none, r);
    case CollKind::kAlltoall:
      return HEDDLE_EITHER(Alltoall_init, c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, none, r);
  }
  return MPI_SUCCESS;
}
#endif

inline void start(bool by_host, MPI_Request* r) { HEDDLE_EITHER(Start, r); }
inline void wait(bool by_host, MPI_Request* r) { HEDDLE_EITHER(Wait, r, MPI_STATUS_IGNORE); }
inline void free_request(bool by_host, MPI_Request* r) { HEDDLE_EITHER(Request_free, r); }

#undef HEDDLE_EITHER

}  // namespace heddle::overlay
