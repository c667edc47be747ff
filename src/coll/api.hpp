// The intracommunicator collectives, blocking and nonblocking, for the bindings and for the layers above.
//
// REQUIRES, of all: arguments checked by the bindings. What the standard says is not significant (at ranks that are not
// the root, or beside MPI_IN_PLACE) is ignored: any type object and count will do.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/int_array.hpp"
#include "mpi/op.hpp"

namespace heddle::api {

Status barrier(mpi::Comm& comm);
Status ibarrier(mpi::Comm& comm, MPI_Request* request);

Status bcast(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm);
Status ibcast(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm, MPI_Request* request);

Status gather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              mpi::Datatype& recvtype, int root, mpi::Comm& comm);
Status igather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               mpi::Datatype& recvtype, int root, mpi::Comm& comm, MPI_Request* request);
Status gatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
               mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, int root, mpi::Comm& comm);
Status igatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, int root, mpi::Comm& comm,
                MPI_Request* request);

Status scatter(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               mpi::Datatype& recvtype, int root, mpi::Comm& comm);
Status iscatter(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                mpi::Datatype& recvtype, int root, mpi::Comm& comm, MPI_Request* request);
Status scatterv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray displs, mpi::Datatype& sendtype,
                void* recvbuf, MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm);
Status iscatterv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray displs, mpi::Datatype& sendtype,
                 void* recvbuf, MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm,
                 MPI_Request* request);

Status allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 mpi::Datatype& recvtype, mpi::Comm& comm);
Status iallgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                  mpi::Datatype& recvtype, mpi::Comm& comm, MPI_Request* request);
Status allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                  mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm);
Status iallgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                   mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm,
                   MPI_Request* request);

Status alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                mpi::Datatype& recvtype, mpi::Comm& comm);
Status ialltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 mpi::Datatype& recvtype, mpi::Comm& comm, MPI_Request* request);
Status alltoallv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, mpi::Datatype& sendtype,
                 void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, mpi::Datatype& recvtype,
                 mpi::Comm& comm);
Status ialltoallv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, mpi::Datatype& sendtype,
                  void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, mpi::Datatype& recvtype,
                  mpi::Comm& comm, MPI_Request* request);
Status alltoallw(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, const MPI_Datatype* sendtypes,
                 void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, const MPI_Datatype* recvtypes,
                 mpi::Comm& comm);
Status ialltoallw(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, const MPI_Datatype* sendtypes,
                  void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, const MPI_Datatype* recvtypes,
                  mpi::Comm& comm, MPI_Request* request);

Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, int root,
              mpi::Comm& comm);
Status ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, int root,
               mpi::Comm& comm, MPI_Request* request);
Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                 mpi::Comm& comm);
Status iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                  mpi::Comm& comm, MPI_Request* request);
Status reduce_scatter(const void* sendbuf, void* recvbuf, mpi::IntArray recvcounts, mpi::Datatype& datatype,
                      mpi::Op& op, mpi::Comm& comm);
Status ireduce_scatter(const void* sendbuf, void* recvbuf, mpi::IntArray recvcounts, mpi::Datatype& datatype,
                       mpi::Op& op, mpi::Comm& comm, MPI_Request* request);
Status reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, mpi::Datatype& datatype,
                            mpi::Op& op, mpi::Comm& comm);
Status ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, mpi::Datatype& datatype,
                             mpi::Op& op, mpi::Comm& comm, MPI_Request* request);
Status scan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm);
Status iscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm,
             MPI_Request* request);
Status exscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
              mpi::Comm& comm);
Status iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
               mpi::Comm& comm, MPI_Request* request);

}  // namespace heddle::api
