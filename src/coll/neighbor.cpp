// Neighbourhood collectives: plans whose blocks are the ends of edges (plan/neighbors.hpp).
//
// Method:  all five are two plans over descriptions of blocks; in an allgather every outgoing block is the same one. Empty blocks
//          are sent, too, so that nobody waits for one that the other side takes for empty.
// Cost:    indegree + outdegree messages, one round. What leads back to this rank is a copy.
#include "coll/api_neighbor.hpp"
#include "coll/bind.hpp"
#include "coll/operation.hpp"
#include "mpi/topology.hpp"

namespace heddle::api {
namespace {

using coll::Blocks;
using coll::Buffer;
using coll::Image;
using coll::Lengths;
using coll::Schedule;
using mpi::IntArray;

void build(Schedule& s, plan::Collective what, const plan::Neighborhoods& among, Image out, const Blocks& in) {
  const plan::Spec spec{what, static_cast<std::uint32_t>(s.size()), 0, false, &among};
  if (const plan::Plan* plan = coll::plan_of(s, spec, plan::kUnknownBytes)) {
    coll::bind(s, *plan, {.lengths = Lengths::equal(0), .input = out, .output = Image::of(in)});
  }
}

Status allgather_of(Buffer own, const Blocks& in, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form, [&](Schedule& s) {
    build(s, plan::Collective::kNeighborAllgather, comm.topology->neighborhoods, Image::own(own), in);
  });
}

Status alltoall_of(const Blocks& out, const Blocks& in, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form, [&](Schedule& s) {
    build(s, plan::Collective::kNeighborAlltoall, comm.topology->neighborhoods, Image::of(out), in);
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
