// Each collective once: its builder with the caller's arguments, carried out in the form that was asked for.
#include "coll/api.hpp"

#include "coll/board.hpp"
#include "coll/build.hpp"
#include "coll/check.hpp"
#include "coll/operation.hpp"
#include "coll/started.hpp"
#include "mpi/process.hpp"

namespace heddle::api {

using coll::Blocks;
using coll::Buffer;
using coll::Called;
using coll::Outcome;
using coll::Record;
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

// `record` says what this rank was called with.
template <class Steps, class RecordOf>
Status by_messages(mpi::Comm& comm, coll::Form form, const Steps& steps, RecordOf&& record) {
  if (comm.process->checks_collectives() && !comm.is_inter()) [[unlikely]] {
    return coll::carry_out(comm, form, [&](Schedule& s) {
      coll::build_check(s, record());
      steps(s);
    });
  }
  return coll::carry_out(comm, form, steps);
}

// `by_board(start)` tries that; `steps_of()` gives the builder of what goes by messages.
template <class ByBoard, class StepsOf, class RecordOf>
Status carry_out(mpi::Comm& comm, coll::Form form, ByBoard&& by_board, StepsOf&& steps_of, RecordOf&& record) {
  if (form.kind == coll::Form::kBlocking) {
    if (const Outcome outcome = by_board(nullptr)) return *outcome;
    return by_messages(comm, form, steps_of(), record);
  }
  const auto steps = steps_of();
  const coll::Start start{form, coll::Steps(steps)};
  if (const Outcome outcome = by_board(&start)) return *outcome;
  return by_messages(comm, form, steps, record);
}

}  // namespace

[[gnu::hot]] Status barrier(mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form, [&](const coll::Start* start) { return coll::board_barrier(comm, start); },
      [&] { return barrier_steps(); }, [&] { return Record(Called::kBarrier); });
}
[[gnu::hot]] Status bcast(void* buffer, MPI_Count count, mpi::Datatype& datatype, int root, mpi::Comm& comm,
                          coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) { return coll::board_bcast(comm, start, Buffer(buffer, count, datatype), root); },
      [&] { return bcast_steps(buffer, count, datatype, root); },
      [&] { return Record(Called::kBcast, root).giving(Buffer(buffer, count, datatype)); });
}
Status gather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
              mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_gather(comm, start, Buffer(sendbuf, sendcount, sendtype),
                                  Buffer(recvbuf, recvcount, recvtype), root);
      },
      [&] { return gather_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root); },
      [&] {
        return Record(Called::kGather, root)
            .giving(Buffer(sendbuf, sendcount, sendtype))
            .taking(comm.rank == root ? Buffer(recvbuf, recvcount, recvtype) : Buffer());
      });
}
Status gatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, IntArray recvcounts,
               IntArray displs, mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return by_messages(comm, form,
                     gatherv_steps(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root),
                     [&] { return Record(Called::kGatherv, root); });
}
Status scatter(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, MPI_Count recvcount,
               mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_scatter(comm, start, Buffer(sendbuf, sendcount, sendtype),
                                   Buffer(recvbuf, recvcount, recvtype), root);
      },
      [&] { return scatter_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root); },
      [&] {
        return Record(Called::kScatter, root)
            .giving(comm.rank == root ? Buffer(sendbuf, sendcount, sendtype) : Buffer())
            .taking(Buffer(recvbuf, recvcount, recvtype));
      });
}
Status scatterv(const void* sendbuf, IntArray sendcounts, IntArray displs, mpi::Datatype& sendtype, void* recvbuf,
                MPI_Count recvcount, mpi::Datatype& recvtype, int root, mpi::Comm& comm, coll::Form form) {
  return by_messages(comm, form,
                     scatterv_steps(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root),
                     [&] { return Record(Called::kScatterv, root); });
}
[[gnu::hot]] Status allgather(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                              MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_allgather(comm, start, Buffer(sendbuf, sendcount, sendtype),
                                     Buffer(recvbuf, recvcount, recvtype));
      },
      [&] { return allgather_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype); },
      [&] {
        return Record(Called::kAllgather)
            .giving(Buffer(sendbuf, sendcount, sendtype))
            .taking(Buffer(recvbuf, recvcount, recvtype));
      });
}
Status allgatherv(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf, IntArray recvcounts,
                  IntArray displs, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return by_messages(comm, form, allgatherv_steps(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype),
                     [&] { return Record(Called::kAllgatherv); });
}
[[gnu::hot]] Status alltoall(const void* sendbuf, MPI_Count sendcount, mpi::Datatype& sendtype, void* recvbuf,
                             MPI_Count recvcount, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_alltoall(comm, start, Buffer(sendbuf, sendcount, sendtype),
                                    Buffer(recvbuf, recvcount, recvtype));
      },
      [&] { return alltoall_steps(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype); },
      [&] {
        return Record(Called::kAlltoall)
            .giving(Buffer(sendbuf, sendcount, sendtype))
            .taking(Buffer(recvbuf, recvcount, recvtype));
      });
}
Status alltoallv(const void* sendbuf, IntArray sendcounts, IntArray sdispls, mpi::Datatype& sendtype, void* recvbuf,
                 IntArray recvcounts, IntArray rdispls, mpi::Datatype& recvtype, mpi::Comm& comm, coll::Form form) {
  return by_messages(comm, form,
                     alltoallv_steps(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype),
                     [&] { return Record(Called::kAlltoallv); });
}
Status alltoallw(const void* sendbuf, IntArray sendcounts, IntArray sdispls, const MPI_Datatype* sendtypes,
                 void* recvbuf, IntArray recvcounts, IntArray rdispls, const MPI_Datatype* recvtypes, mpi::Comm& comm,
                 coll::Form form) {
  return by_messages(comm, form,
                     alltoallw_steps(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes),
                     [&] { return Record(Called::kAlltoallw); });
}
[[gnu::hot]] Status reduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                           int root, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_reduce(comm, start, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, root);
      },
      [&] { return reduce_steps(sendbuf, recvbuf, count, datatype, op, root); },
      [&] { return Record(Called::kReduce, root).with(op).giving(Buffer(nullptr, count, datatype)); });
}
[[gnu::hot]] Status allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
                              mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_allreduce(comm, start, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op);
      },
      [&] { return allreduce_steps(sendbuf, recvbuf, count, datatype, op); },
      [&] { return Record(Called::kAllreduce).with(op).giving(Buffer(nullptr, count, datatype)); });
}
Status reduce_scatter(const void* sendbuf, void* recvbuf, IntArray recvcounts, mpi::Datatype& datatype, mpi::Op& op,
                      mpi::Comm& comm, coll::Form form) {
  return by_messages(comm, form, reduce_scatter_steps(sendbuf, recvbuf, recvcounts, datatype, op),
                     [&] { return Record(Called::kReduceScatter).with(op); });
}
[[gnu::hot]] Status reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                         mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm, coll::Form form) {
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_reduce_scatter_block(comm, start, operand(sendbuf, recvbuf), recvbuf, recvcount, datatype,
                                                op);
      },
      [&] { return reduce_scatter_block_steps(sendbuf, recvbuf, recvcount, datatype, op); },
      [&] { return Record(Called::kReduceScatterBlock).with(op).giving(Buffer(nullptr, recvcount, datatype)); });
}
Status scan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op, mpi::Comm& comm,
            coll::Form form) {
  HEDDLE_TRY(coll::check_intra(comm));
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_scan(comm, start, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, true);
      },
      [&] { return scan_steps(sendbuf, recvbuf, count, datatype, op); },
      [&] { return Record(Called::kScan).with(op).giving(Buffer(nullptr, count, datatype)); });
}
Status exscan(const void* sendbuf, void* recvbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op,
              mpi::Comm& comm, coll::Form form) {
  HEDDLE_TRY(coll::check_intra(comm));
  return carry_out(
      comm, form,
      [&](const coll::Start* start) {
        return coll::board_scan(comm, start, Buffer(operand(sendbuf, recvbuf), count, datatype), recvbuf, op, false);
      },
      [&] { return exscan_steps(sendbuf, recvbuf, count, datatype, op); },
      [&] { return Record(Called::kExscan).with(op).giving(Buffer(nullptr, count, datatype)); });
}

}  // namespace heddle::api
