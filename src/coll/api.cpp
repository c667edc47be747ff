// Each collective once: its builder with the caller's arguments, carried out in the form that was asked for.
#include "coll/api.hpp"

#include "coll/board.hpp"
#include "coll/build.hpp"
#include "coll/operation.hpp"

namespace heddle::api {

using coll::Blocks;
using coll::Buffer;
using coll::Outcome;
using coll::Schedule;
using mpi::IntArray;

namespace {

// Where this rank's operand of a reduction lies.
const void* operand(const void* sendbuf, const void* recvbuf) { return sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf; }

auto barrier_steps() {
  return [](Schedule& s) { s.is_inter() ? coll::build_inter_barrier(s) : coll::build_barrier(s); };
}

auto bcast_steps(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root) {
  return [=, &datatype](Schedule& s) {
    if (s.is_inter()) return coll::build_inter_bcast(s, Buffer(buffer, count, datatype), root);
    coll::build_bcast(s, Buffer(buffer, count, datatype), root);
  };
}

auto gather_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                  mpi::Datatype& recvtype, int root) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_gather(s, Buffer(sendbuf, sendcount, sendtype),
                                      Blocks(Buffer(recvbuf, recvcount, recvtype)), root);
    coll::build_gather(s, Buffer(sendbuf, sendcount, sendtype), Buffer(recvbuf, recvcount, recvtype), root);
  };
}

auto gatherv_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                   IntArray recvcounts, IntArray displs, mpi::Datatype& recvtype, int root) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_gather(s, Buffer(sendbuf, sendcount, sendtype),
                                      Blocks(recvbuf, recvcounts, displs, recvtype), root);
    coll::build_gatherv(s, Buffer(sendbuf, sendcount, sendtype), Blocks(recvbuf, recvcounts, displs, recvtype), root);
  };
}

auto scatter_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                   MPI_Count recvcount, mpi::Datatype& recvtype, int root) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_scatter(s, Blocks(Buffer(sendbuf, sendcount, sendtype)),
                                       Buffer(recvbuf, recvcount, recvtype), root);
    coll::build_scatter(s, Buffer(sendbuf, sendcount, sendtype), Buffer(recvbuf, recvcount, recvtype), root);
  };
}

auto scatterv_steps(const void* sendbuf, IntArray sendcounts, IntArray displs, mpi::Datatype& sendtype, void* recvbuf,
                    MPI_Count recvcount, mpi::Datatype& recvtype, int root) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_scatter(s, Blocks(sendbuf, sendcounts, displs, sendtype),
                                       Buffer(recvbuf, recvcount, recvtype), root);
    coll::build_scatterv(s, Blocks(sendbuf, sendcounts, displs, sendtype), Buffer(recvbuf, recvcount, recvtype), root);
  };
}

auto allgather_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                     MPI_Count recvcount, mpi::Datatype& recvtype) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_allgather(s, Buffer(sendbuf, sendcount, sendtype),
                                         Blocks(Buffer(recvbuf, recvcount, recvtype)));
    coll::build_allgather(s, Buffer(sendbuf, sendcount, sendtype), Buffer(recvbuf, recvcount, recvtype));
  };
}

auto allgatherv_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                      IntArray recvcounts, IntArray displs, mpi::Datatype& recvtype) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_allgather(s, Buffer(sendbuf, sendcount, sendtype),
                                         Blocks(recvbuf, recvcounts, displs, recvtype));
    coll::build_allgatherv(s, Buffer(sendbuf, sendcount, sendtype), Blocks(recvbuf, recvcounts, displs, recvtype));
  };
}

auto alltoall_steps(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                    MPI_Count recvcount, mpi::Datatype& recvtype) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_alltoall(s, Blocks(Buffer(sendbuf, sendcount, sendtype)),
                                        Blocks(Buffer(recvbuf, recvcount, recvtype)));
    coll::build_alltoall(s, Blocks(Buffer(sendbuf, sendcount, sendtype)), Blocks(Buffer(recvbuf, recvcount, recvtype)));
  };
}

auto alltoallv_steps(const void* sendbuf, IntArray sendcounts, IntArray sdispls, mpi::Datatype& sendtype, void* recvbuf,
                     IntArray recvcounts, IntArray rdispls, mpi::Datatype& recvtype) {
  return [=, &sendtype, &recvtype](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_alltoall(s, Blocks(sendbuf, sendcounts, sdispls, sendtype),
                                        Blocks(recvbuf, recvcounts, rdispls, recvtype));
    coll::build_alltoall(s, Blocks(sendbuf, sendcounts, sdispls, sendtype),
                         Blocks(recvbuf, recvcounts, rdispls, recvtype));
  };
}

auto alltoallw_steps(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype* sendtypes,
                     void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype* recvtypes) {
  return [=](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_alltoall(s, Blocks(sendbuf, sendcounts, sdispls, sendtypes),
                                        Blocks(recvbuf, recvcounts, rdispls, recvtypes));
    coll::build_alltoall(s, Blocks(sendbuf, sendcounts, sdispls, sendtypes),
                         Blocks(recvbuf, recvcounts, rdispls, recvtypes));
  };
}

auto reduce_steps(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, int root) {
  return [=, &datatype, &op](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_reduce(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, root);
    coll::build_reduce(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, root);
  };
}

auto allreduce_steps(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op) {
  return [=, &datatype, &op](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_allreduce(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op);
    coll::build_allreduce(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op);
  };
}

auto reduce_scatter_steps(const void* sendbuf, void* recvbuf, IntArray recvcounts, mpi::Datatype& datatype,
                          mpi::Op& op) {
  return [=, &datatype, &op](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_reduce_scatter(s, operand(sendbuf, recvbuf), recvbuf, recvcounts, datatype, op);
    coll::build_reduce_scatter(s, operand(sendbuf, recvbuf), recvbuf, recvcounts, datatype, op);
  };
}

auto reduce_scatter_block_steps(const void* sendbuf, void* recvbuf, MPI_Count recvcount, mpi::Datatype& datatype,
                                mpi::Op& op) {
  return [=, &datatype, &op](Schedule& s) {
    if (s.is_inter())
      return coll::build_inter_reduce_scatter_block(s, operand(sendbuf, recvbuf), recvbuf, recvcount, datatype, op);
    coll::build_reduce_scatter_block(s, operand(sendbuf, recvbuf), recvbuf, recvcount, datatype, op);
  };
}

auto scan_steps(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op) {
  return [=, &datatype, &op](Schedule& s) {
    coll::build_scan(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op);
  };
}

auto exscan_steps(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op) {
  return [=, &datatype, &op](Schedule& s) {
    coll::build_exscan(s, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op);
  };
}

}  // namespace

Status barrier(mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome = coll::board_barrier(comm, form)) return *outcome;
  return coll::carry_out(comm, form, barrier_steps());
}
Status bcast(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome = coll::board_bcast(comm, form, Buffer(buffer, count, datatype), root)) return *outcome;
  return coll::carry_out(comm, form, bcast_steps(buffer, count, datatype, root));
}
Status gather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome = coll::board_gather(comm, form, Buffer(sendbuf, sendcount, sendtype),
                                                 Buffer(recvbuf, recvcount, recvtype), root))
    return *outcome;
  return coll::carry_out(comm, form, gather_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
}
Status gatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, IntArray recvcounts,
               IntArray displs, mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form,
                         gatherv_steps(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root));
}
Status scatter(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome = coll::board_scatter(comm, form, Buffer(sendbuf, sendcount, sendtype),
                                                  Buffer(recvbuf, recvcount, recvtype), root))
    return *outcome;
  return coll::carry_out(comm, form, scatter_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
}
Status scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, mpi::Datatype& sendtype, void* recvbuf,
                MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form,
                         scatterv_steps(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root));
}
Status allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                 mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome =
          coll::board_allgather(comm, form, Buffer(sendbuf, sendcount, sendtype), Buffer(recvbuf, recvcount, recvtype)))
    return *outcome;
  return coll::carry_out(comm, form, allgather_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
Status allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form,
                         allgatherv_steps(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}
Status alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
                mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome =
          coll::board_alltoall(comm, form, Buffer(sendbuf, sendcount, sendtype), Buffer(recvbuf, recvcount, recvtype)))
    return *outcome;
  return coll::carry_out(comm, form, alltoall_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}
Status alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, mpi::Datatype& sendtype, void* recvbuf,
                 IntArray recvcounts, IntArray rdispls, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(
      comm, form, alltoallv_steps(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}
Status alltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype* sendtypes,
                 void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype* recvtypes, mpi::Comm& comm,
                 coll::Form form) {
  return coll::carry_out(
      comm, form, alltoallw_steps(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}
Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, int root,
              mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome =
          coll::board_reduce(comm, form, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, root))
    return *outcome;
  return coll::carry_out(comm, form, reduce_steps(sendbuf, recvbuf, count, datatype, op, root));
}
Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                 mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome =
          coll::board_allreduce(comm, form, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op))
    return *outcome;
  return coll::carry_out(comm, form, allreduce_steps(sendbuf, recvbuf, count, datatype, op));
}
Status reduce_scatter(const void* sendbuf, void* recvbuf, IntArray recvcounts, mpi::Datatype& datatype, mpi::Op& op,
                      mpi::Comm& comm, coll::Form form) {
  return coll::carry_out(comm, form, reduce_scatter_steps(sendbuf, recvbuf, recvcounts, datatype, op));
}
Status reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, mpi::Datatype& datatype,
                            mpi::Op& op, mpi::Comm& comm, coll::Form form) {
  if (const Outcome outcome =
          coll::board_reduce_scatter_block(comm, form, operand(sendbuf, recvbuf), recvbuf, recvcount, datatype, op))
    return *outcome;
  return coll::carry_out(comm, form, reduce_scatter_block_steps(sendbuf, recvbuf, recvcount, datatype, op));
}
Status scan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm,
            coll::Form form) {
  HEDDLE_TRY(coll::check_intra(comm));
  if (const Outcome outcome =
          coll::board_scan(comm, form, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, true))
    return *outcome;
  return coll::carry_out(comm, form, scan_steps(sendbuf, recvbuf, count, datatype, op));
}
Status exscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
              mpi::Comm& comm, coll::Form form) {
  HEDDLE_TRY(coll::check_intra(comm));
  if (const Outcome outcome =
          coll::board_scan(comm, form, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, false))
    return *outcome;
  return coll::carry_out(comm, form, exscan_steps(sendbuf, recvbuf, count, datatype, op));
}

}  // namespace heddle::api
