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

inline int call_blocking(const Case& c, bool by_host, MPI_Comm comm) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  switch (c.kind) {
    case CollKind::kBarrier:
      return by_host ? PMPI_Barrier(comm) : MPI_Barrier(comm);
    case CollKind::kBcast:
      return (by_host ? PMPI_Bcast : MPI_Bcast)(c.out, n, MPI_BYTE, 0, comm);
    case CollKind::kReduce:
      return (by_host ? PMPI_Reduce : MPI_Reduce)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm);
    case CollKind::kAllreduce:
      return (by_host ? PMPI_Allreduce : MPI_Allreduce)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm);
    case CollKind::kAllgather:
      return (by_host ? PMPI_Allgather : MPI_Allgather)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm);
    case CollKind::kReduceScatterBlock:
      return (by_host ? PMPI_Reduce_scatter_block : MPI_Reduce_scatter_block)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM,
                                                                              comm);
    case CollKind::kAlltoall:
      return (by_host ? PMPI_Alltoall : MPI_Alltoall)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm);
  }
  return MPI_SUCCESS;
}

inline int call_nonblocking(const Case& c, bool by_host, MPI_Comm comm, MPI_Request* r) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  switch (c.kind) {
    case CollKind::kBarrier:
      return (by_host ? PMPI_Ibarrier : MPI_Ibarrier)(comm, r);
    case CollKind::kBcast:
      return (by_host ? PMPI_Ibcast : MPI_Ibcast)(c.out, n, MPI_BYTE, 0, comm, r);
    case CollKind::kReduce:
      return (by_host ? PMPI_Ireduce : MPI_Ireduce)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm, r);
    case CollKind::kAllreduce:
      return (by_host ? PMPI_Iallreduce : MPI_Iallreduce)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, r);
    case CollKind::kAllgather:
      return (by_host ? PMPI_Iallgather : MPI_Iallgather)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, r);
    case CollKind::kReduceScatterBlock:
      return (by_host ? PMPI_Ireduce_scatter_block : MPI_Ireduce_scatter_block)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM,
                                                                                comm, r);
    case CollKind::kAlltoall:
      return (by_host ? PMPI_Ialltoall : MPI_Ialltoall)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, r);
  }
  return MPI_SUCCESS;
}

#if HEDDLE_HOST_MPI_4
inline int make_request(const Case& c, bool by_host, MPI_Comm comm, MPI_Request* r) {
  const auto n = static_cast<int>(c.bytes), items = n / static_cast<int>(sizeof(double));
  const MPI_Info none = MPI_INFO_NULL;
  switch (c.kind) {
    case CollKind::kBarrier:
      return (by_host ? PMPI_Barrier_init : MPI_Barrier_init)(comm, none, r);
    case CollKind::kBcast:
      return (by_host ? PMPI_Bcast_init : MPI_Bcast_init)(c.out, n, MPI_BYTE, 0, comm, none, r);
    case CollKind::kReduce:
      return (by_host ? PMPI_Reduce_init : MPI_Reduce_init)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, 0, comm, none, r);
    case CollKind::kAllreduce:
      return (by_host ? PMPI_Allreduce_init : MPI_Allreduce_init)(c.in, c.out, items, MPI_DOUBLE, MPI_SUM, comm, none,
                                                                  r);
    case CollKind::kAllgather:
      return (by_host ? PMPI_Allgather_init : MPI_Allgather_init)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, none, r);
    case CollKind::kReduceScatterBlock:
      return (by_host ? PMPI_Reduce_scatter_block_init : MPI_Reduce_scatter_block_init)(c.in, c.out, items, MPI_DOUBLE,
                                                                                        MPI_SUM, comm, none, r);
    case CollKind::kAlltoall:
      return (by_host ? PMPI_Alltoall_init : MPI_Alltoall_init)(c.in, n, MPI_BYTE, c.out, n, MPI_BYTE, comm, none, r);
  }
  return MPI_SUCCESS;
}
#endif

}  // namespace heddle::overlay
