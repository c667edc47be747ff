// The collectives, for the bindings and for the layers above. One function serves the three forms of each.
//
// REQUIRES, of all: arguments checked by the bindings. What the standard says is not significant (at ranks that are not
// the root, or beside MPI_IN_PLACE) is ignored: any type object and count will do.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/int_array.hpp"
#include "mpi/op.hpp"

namespace heddle::coll {

// How a collective is carried out.
struct Form {
  enum Kind : unsigned char { kBlocking, kNonblocking, kPersistent };

  Kind kind = kBlocking;
  MPI_Request* request = nullptr;  // set, unless it blocks
};
inline Form nonblocking(MPI_Request* request) noexcept { return {Form::kNonblocking, request}; }
inline Form persistent(MPI_Request* request) noexcept { return {Form::kPersistent, request}; }

}  // namespace heddle::coll

namespace heddle::api {

Status barrier(mpi::Comm& comm, coll::Form form = {});
Status bcast(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm, coll::Form form = {});
Status gather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form = {});
Status gatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
               mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, int root, mpi::Comm& comm,
               coll::Form form = {});
Status scatter(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form = {});
Status scatterv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray displs, mpi::Datatype& sendtype,
                void* recvbuf, MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm,
                coll::Form form = {});
Status allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form = {});
Status allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                  mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm,
                  coll::Form form = {});
Status alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form = {});
Status alltoallv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, mpi::Datatype& sendtype,
                 void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, mpi::Datatype& recvtype,
                 mpi::Comm& comm, coll::Form form = {});
Status alltoallw(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, const MPI_Datatype* sendtypes,
                 void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, const MPI_Datatype* recvtypes,
                 mpi::Comm& comm, coll::Form form = {});
Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, int root,
              mpi::Comm& comm, coll::Form form = {});
Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                 mpi::Comm& comm, coll::Form form = {});
Status reduce_scatter(const void* sendbuf, void* recvbuf, mpi::IntArray recvcounts, mpi::Datatype& datatype,
                      mpi::Op& op, mpi::Comm& comm, coll::Form form = {});
Status reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, mpi::Datatype& datatype,
                            mpi::Op& op, mpi::Comm& comm, coll::Form form = {});
Status scan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm,
            coll::Form form = {});
Status exscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
              mpi::Comm& comm, coll::Form form = {});

}  // namespace heddle::api
