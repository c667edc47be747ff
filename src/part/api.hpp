// Partitioned communication (MPI 5.0, chapter 4), for the generated bindings: arguments are checked, but for partitions,
// wildcards and what kind of request it is.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/info.hpp"

namespace heddle::api {

// `info` is null for MPI_INFO_NULL; heddle_aggregate_bytes of a send is the size that groups of partitions grow to.
Status psend_init(const void* buf, int partitions, MPI_Count count, mpi::Datatype& type, int dest, int tag,
                  mpi::Comm& comm, mpi::Info* info, MPI_Request* request);
Status precv_init(void* buf, int partitions, MPI_Count count, mpi::Datatype& type, int source, int tag, mpi::Comm& comm,
                  mpi::Info* info, MPI_Request* request);
Status pready(int partition, MPI_Request request);
// Both ends belong to the range.
Status pready_range(int partition_low, int partition_high, MPI_Request request);
Status pready_list(int length, const int partitions[], MPI_Request request);
// An error of a receive that is over without this partition is told here too, with *flag set: nobody waits for it any more.
Status parrived(MPI_Request request, int partition, int* flag);
// mpix.h. The request is live.
Status pbuf_prepare(MPI_Request request);
Status pbuf_prepareall(int count, const MPI_Request requests[]);

}  // namespace heddle::api
