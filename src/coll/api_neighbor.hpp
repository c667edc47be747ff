// Neighbourhood collectives (MPI 5.0, 8.6): each rank exchanges blocks with its neighbours in the communicator's topology.
//
// REQUIRES, of all: arguments checked by the bindings; the communicator has a topology. Blocks of a neighbour that is
// MPI_PROC_NULL are neither sent nor written.
#pragma once

#include "coll/api.hpp"

namespace heddle::api {

Status neighbor_allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                          MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form = {});
Status neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                           mpi::IntArray recvcounts, mpi::IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm,
                           coll::Form form = {});
Status neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                         MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form = {});
Status neighbor_alltoallv(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls, mpi::Datatype& sendtype,
                          void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls, mpi::Datatype& recvtype,
                          mpi::Comm& comm, coll::Form form = {});
Status neighbor_alltoallw(const void* sendbuf, mpi::IntArray sendcounts, mpi::IntArray sdispls,
                          const MPI_Datatype* sendtypes, void* recvbuf, mpi::IntArray recvcounts, mpi::IntArray rdispls,
                          const MPI_Datatype* recvtypes, mpi::Comm& comm, coll::Form form = {});

}  // namespace heddle::api
