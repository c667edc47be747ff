// Neighbourhood collectives: one message for each edge.
//
// Method:  all five are the same schedule over two descriptions of blocks; in an allgather every outgoing block is the
//          same one. Which of several edges between two ranks a block takes follows from the order of the messages
//          (mpi/topology.hpp). Empty blocks are sent, too, so that nobody waits for one that the other side
//          takes for empty.
// Cost:    indegree + outdegree messages, one round. An edge to this rank itself is a message, too.
#include "coll/api_neighbor.hpp"
#include "coll/operation.hpp"
#include "mpi/topology.hpp"

namespace heddle::api {
namespace {

using coll::Blocks;
using coll::Buffer;
using coll::Schedule;
using mpi::IntArray;
using mpi::Topology;

// `out(i)`: the block for destination i.
template <class Outgoing>
void build(Schedule& s, const Topology& topology, Outgoing out, const Blocks& in) {
  for (int i = 0; i < topology.indegree(); ++i) {
    const int slot = topology.receive_slot(i);
    const int source = topology.sources[static_cast<std::size_t>(slot)];
    if (source != MPI_PROC_NULL) s.recv(in[slot], source);
  }
  for (int i = 0; i < topology.outdegree(); ++i) {
    const int destination = topology.destinations[static_cast<std::size_t>(i)];
    if (destination != MPI_PROC_NULL) s.send(out(i), destination);
  }
}

Status allgather_of(Buffer own, const Blocks& in, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form, [&](Schedule& s) {
    build(
        s, *comm.topology, [&](int) { return own; }, in);
  });
}

Status alltoall_of(const Blocks& out, const Blocks& in, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form, [&](Schedule& s) {
    build(
        s, *comm.topology, [&](int i) { return out[i]; }, in);
  });
}

}  // namespace

Status neighbor_allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                          MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return allgather_of(Buffer(sendbuf, sendcount, sendtype), Blocks(Buffer(recvbuf, recvcount, recvtype)), comm, form);
}
Status neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                           IntArray recvcounts, IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm,
                           coll::Form form) {
  return allgather_of(Buffer(sendbuf, sendcount, sendtype), Blocks(recvbuf, recvcounts, displs, recvtype), comm, form);
}
Status neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                         MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return alltoall_of(Blocks(Buffer(sendbuf, sendcount, sendtype)), Blocks(Buffer(recvbuf, recvcount, recvtype)), comm,
                     form);
}
Status neighbor_alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, mpi::Datatype& sendtype,
                          void* recvbuf, IntArray recvcounts, IntArray rdispls, mpi::Datatype& recvtype,
                          mpi::Comm& comm, coll::Form form) {
  return alltoall_of(Blocks(sendbuf, sendcounts, sdispls, sendtype), Blocks(recvbuf, recvcounts, rdispls, recvtype),
                     comm, form);
}
Status neighbor_alltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype* sendtypes,
                          void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype* recvtypes,
                          mpi::Comm& comm, coll::Form form) {
  return alltoall_of(Blocks(sendbuf, sendcounts, sdispls, sendtypes), Blocks(recvbuf, recvcounts, rdispls, recvtypes),
                     comm, form);
}

}  // namespace heddle::api
