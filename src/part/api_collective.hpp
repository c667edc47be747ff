// Partitioned collectives, for mpix.h. `count` is of a partition, of each rank's block where there are blocks.
//
// REQUIRES, of all: arguments checked by the bindings; `info` may be null. What is not significant is ignored, as in coll/api.hpp.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/info.hpp"
#include "mpi/op.hpp"

namespace heddle::api {

Status pbcast_init(void* buffer, int partitions, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm,
                   mpi::Info* info, MPI_Request* request);
Status preduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, mpi::Datatype& datatype,
                    mpi::Op& op, int root, mpi::Comm& comm, mpi::Info* info, MPI_Request* request);
Status pallreduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count, mpi::Datatype& datatype,
                       mpi::Op& op, mpi::Comm& comm, mpi::Info* info, MPI_Request* request);
// The same number of partitions on both sides.
Status pgather_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                    MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, mpi::Info* info,
                    MPI_Request* request);
Status pscatter_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                     MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, mpi::Info* info,
                     MPI_Request* request);
Status pallgather_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                       MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, mpi::Info* info,
                       MPI_Request* request);
Status palltoall_init(const void* sendbuf, int partitions, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                      MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, mpi::Info* info,
                      MPI_Request* request);

}  // namespace heddle::api
