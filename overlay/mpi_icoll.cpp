// The nonblocking and the persistent collectives, as mpi_coll.cpp has the blocking ones.
#include "coll_call.hpp"

using namespace heddle::overlay;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return nonblocking(__func__, comm, barrier_of(), request, [&] { return PMPI_Ibarrier(comm, request); });
}

#define HEDDLE_NONBLOCKING(suffix, Count)                                                                             \
  int MPI_Ibcast##suffix(void* data, Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) { \
    return nonblocking(__func__, comm, bcast_of(data, count, type, root), request,                                    \
                       [&] { return PMPI_Ibcast##suffix(data, count, type, root, comm, request); });                  \
  }                                                                                                                   \
  int MPI_Ireduce##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op, int root,          \
                          MPI_Comm comm, MPI_Request* request) {                                                      \
    return nonblocking(__func__, comm, reduce_of(send, recv, count, type, op, root), request,                         \
                       [&] { return PMPI_Ireduce##suffix(send, recv, count, type, op, root, comm, request); });       \
  }                                                                                                                   \
  int MPI_Iallreduce##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,  \
                             MPI_Request* request) {                                                                  \
    return nonblocking(__func__, comm, allreduce_of(send, recv, count, type, op), request,                            \
                       [&] { return PMPI_Iallreduce##suffix(send, recv, count, type, op, comm, request); });          \
  }                                                                                                                   \
  int MPI_Ireduce_scatter_block##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op,      \
                                        MPI_Comm comm, MPI_Request* request) {                                        \
    return nonblocking(__func__, comm, reduce_scatter_block_of(send, recv, count, type, op), request, [&] {           \
      return PMPI_Ireduce_scatter_block##suffix(send, recv, count, type, op, comm, request);                          \
    });                                                                                                               \
  }                                                                                                                   \
  int MPI_Iallgather##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count,     \
                             MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {                                \
    return nonblocking(__func__, comm, allgather_of(send, send_count, send_type, recv, count, type), request, [&] {   \
      return PMPI_Iallgather##suffix(send, send_count, send_type, recv, count, type, comm, request);                  \
    });                                                                                                               \
  }                                                                                                                   \
  int MPI_Ialltoall##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count,      \
                            MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {                                 \
    return nonblocking(__func__, comm, alltoall_of(send, send_count, send_type, recv, count, type), request, [&] {    \
      return PMPI_Ialltoall##suffix(send, send_count, send_type, recv, count, type, comm, request);                   \
    });                                                                                                               \
  }

HEDDLE_NONBLOCKING(, int)
#if MPI_VERSION >= 4
HEDDLE_NONBLOCKING(_c, MPI_Count)
#endif

#if HEDDLE_HOST_MPI_4
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(__func__, comm, barrier_of(), request, [&] { return PMPI_Barrier_init(comm, info, request); });
}

#define HEDDLE_PERSISTENT(suffix, Count)                                                                              \
  int MPI_Bcast_init##suffix(void* data, Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,      \
                             MPI_Request* request) {                                                                  \
    return persistent(__func__, comm, bcast_of(data, count, type, root), request,                                     \
                      [&] { return PMPI_Bcast_init##suffix(data, count, type, root, comm, info, request); });         \
  }                                                                                                                   \
  int MPI_Reduce_init##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op, int root,      \
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {                                   \
    return persistent(__func__, comm, reduce_of(send, recv, count, type, op, root), request, [&] {                    \
      return PMPI_Reduce_init##suffix(send, recv, count, type, op, root, comm, info, request);                        \
    });                                                                                                               \
  }                                                                                                                   \
  int MPI_Allreduce_init##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op,             \
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {                                \
    return persistent(__func__, comm, allreduce_of(send, recv, count, type, op), request,                             \
                      [&] { return PMPI_Allreduce_init##suffix(send, recv, count, type, op, comm, info, request); }); \
  }                                                                                                                   \
  int MPI_Reduce_scatter_block_init##suffix(const void* send, void* recv, Count count, MPI_Datatype type, MPI_Op op,  \
                                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {                     \
    return persistent(__func__, comm, reduce_scatter_block_of(send, recv, count, type, op), request, [&] {            \
      return PMPI_Reduce_scatter_block_init##suffix(send, recv, count, type, op, comm, info, request);                \
    });                                                                                                               \
  }                                                                                                                   \
  int MPI_Allgather_init##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count, \
                                 MPI_Datatype type, MPI_Comm comm, MPI_Info info, MPI_Request* request) {             \
    return persistent(__func__, comm, allgather_of(send, send_count, send_type, recv, count, type), request, [&] {    \
      return PMPI_Allgather_init##suffix(send, send_count, send_type, recv, count, type, comm, info, request);        \
    });                                                                                                               \
  }                                                                                                                   \
  int MPI_Alltoall_init##suffix(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count count,  \
                                MPI_Datatype type, MPI_Comm comm, MPI_Info info, MPI_Request* request) {              \
    return persistent(__func__, comm, alltoall_of(send, send_count, send_type, recv, count, type), request, [&] {     \
      return PMPI_Alltoall_init##suffix(send, send_count, send_type, recv, count, type, comm, info, request);         \
    });                                                                                                               \
  }

HEDDLE_PERSISTENT(, int)
#if MPI_VERSION >= 4
HEDDLE_PERSISTENT(_c, MPI_Count)
#endif
#endif

}  // extern "C"
#pragma GCC visibility pop
