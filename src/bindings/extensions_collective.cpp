// The partitioned collectives of mpix.h.
#include <mpix.h>
#include "bindings/call.hpp"
#include "part/api_collective.hpp"

using namespace heddle;
using namespace heddle::bindings;

namespace {

// Both sides are cut the same, where both count.
Status check_partitions(int sendpartitions, int recvpartitions) {
  HEDDLE_TRY(not_negative(MPI_ERR_ARG, "sendpartitions", sendpartitions));
  if (sendpartitions == recvpartitions) return Status::ok();
  return error(MPI_ERR_ARG, "sendpartitions is %d and recvpartitions %d; they have to be equal", sendpartitions,
               recvpartitions);
}

// One side of a collective that has blocks: `blocks` of them, each of `partitions` partitions.
struct Side {
  const char *buffer_name, *count_name, *type_name;
  const void* buffer;
  int partitions;
  MPI_Count count;
  MPI_Datatype handle;
  bool counts;  // its arguments are significant
  mpi::Datatype* type = ignored_type();

  Status check(MPI_Count blocks) {
    if (!counts) return Status::ok();
    HEDDLE_TRY(find_committed(type_name, handle, type));
    HEDDLE_TRY(not_negative(MPI_ERR_ARG, "partitions", partitions));
    HEDDLE_TRY(check_count(count_name, count, *type, blocks * partitions));
    return check_buffer(buffer_name, buffer, count * partitions, *type);
  }
  MPI_Count count_or_none() const { return counts ? count : 0; }
};

Side sends(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, bool counts) {
  return {"sendbuf", "sendcount", "sendtype", buffer, partitions, count, type, counts};
}
Side receives(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, bool counts) {
  return {"recvbuf", "recvcount", "recvtype", buffer, partitions, count, type, counts};
}

// Of both sides, of which at least one counts: how many there are.
Status find_partitions(const Side& send, const Side& receive, int* partitions) {
  *partitions = send.counts ? send.partitions : receive.partitions;
  return send.counts && receive.counts ? check_partitions(send.partitions, receive.partitions) : Status::ok();
}

// What all have in common.
Status check_common(MPI_Info info, MPI_Request* request, mpi::Info*& info_) {
  HEDDLE_TRY(find_or_null("info", info, info_));
  return not_null("request", request);
}

// A vector of items, in partitions.
Status check_vector(int partitions, MPI_Count count, MPI_Datatype datatype, mpi::Datatype*& type) {
  HEDDLE_TRY(find_committed("datatype", datatype, type));
  HEDDLE_TRY(not_negative(MPI_ERR_ARG, "partitions", partitions));
  return check_count("count", count, *type, partitions);
}

}  // namespace

extern "C" {

HEDDLE_PUBLIC int PMPIX_Pbcast_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype datatype, int root,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return call<kRunning>("MPIX_Pbcast_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    mpi::Datatype* type = nullptr;
    HEDDLE_TRY(check_root("root", root, comm_));
    HEDDLE_TRY(check_common(info, request, info_));
    HEDDLE_TRY(check_vector(partitions, count, datatype, type));
    HEDDLE_TRY(not_in_place("buffer", buffer));
    HEDDLE_TRY(check_buffer("buffer", buffer, count * partitions, *type));
    return api::pbcast_init(buffer, partitions, count, *type, root, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pbcast_init) int MPIX_Pbcast_init(void*, int, MPI_Count, MPI_Datatype, int, MPI_Comm,
                                                                   MPI_Info, MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Preduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return call<kRunning>("MPIX_Preduce_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    mpi::Datatype* type = nullptr;
    mpi::Op* op_ = nullptr;
    HEDDLE_TRY(check_root("root", root, comm_));
    HEDDLE_TRY(find("op", op, op_));
    HEDDLE_TRY(check_common(info, request, info_));
    HEDDLE_TRY(check_vector(partitions, count, datatype, type));
    const MPI_Count all = count * partitions;
    const bool at_root = is_root(root, comm_);
    if (!at_root || sendbuf != MPI_IN_PLACE) HEDDLE_TRY(check_buffer("sendbuf", sendbuf, all, *type));
    if (at_root) HEDDLE_TRY(check_buffer("recvbuf", recvbuf, all, *type));
    HEDDLE_TRY(mpi::check_op(*op_, *type));
    if (at_root) HEDDLE_TRY(not_aliased(sendbuf, recvbuf, all, *type));
    return api::preduce_init(sendbuf, recvbuf, partitions, count, *type, *op_, root, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Preduce_init) int MPIX_Preduce_init(const void*, void*, int, MPI_Count, MPI_Datatype,
                                                                     MPI_Op, int, MPI_Comm, MPI_Info, MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Pallreduce_init(const void* sendbuf, void* recvbuf, int partitions, MPI_Count count,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                        MPI_Request* request) {
  return call<kRunning>("MPIX_Pallreduce_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    mpi::Datatype* type = nullptr;
    mpi::Op* op_ = nullptr;
    HEDDLE_TRY(find("op", op, op_));
    HEDDLE_TRY(check_common(info, request, info_));
    HEDDLE_TRY(check_vector(partitions, count, datatype, type));
    const MPI_Count all = count * partitions;
    if (sendbuf != MPI_IN_PLACE) HEDDLE_TRY(check_buffer("sendbuf", sendbuf, all, *type));
    HEDDLE_TRY(check_buffer("recvbuf", recvbuf, all, *type));
    HEDDLE_TRY(mpi::check_op(*op_, *type));
    HEDDLE_TRY(not_aliased(sendbuf, recvbuf, all, *type));
    return api::pallreduce_init(sendbuf, recvbuf, partitions, count, *type, *op_, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pallreduce_init) int MPIX_Pallreduce_init(const void*, void*, int, MPI_Count,
                                                                           MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                                                                           MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Pgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void* recvbuf, int recvpartitions, MPI_Count recvcount,
                                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return call<kRunning>("MPIX_Pgather_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    int partitions = 0;
    HEDDLE_TRY(check_root("root", root, comm_));
    HEDDLE_TRY(check_common(info, request, info_));
    const bool at_root = is_root(root, comm_);
    Side send = sends(sendbuf, sendpartitions, sendcount, sendtype, !(at_root && sendbuf == MPI_IN_PLACE));
    Side receive = receives(recvbuf, recvpartitions, recvcount, recvtype, at_root);
    HEDDLE_TRY(find_partitions(send, receive, &partitions));
    HEDDLE_TRY(send.check(1));
    HEDDLE_TRY(receive.check(comm_.peer_count));
    return api::pgather_init(sendbuf, partitions, send.count_or_none(), *send.type, recvbuf, receive.count_or_none(),
                             *receive.type, root, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pgather_init) int MPIX_Pgather_init(const void*, int, MPI_Count, MPI_Datatype, void*,
                                                                     int, MPI_Count, MPI_Datatype, int, MPI_Comm,
                                                                     MPI_Info, MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Pscatter_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, int recvpartitions, MPI_Count recvcount,
                                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                      MPI_Request* request) {
  return call<kRunning>("MPIX_Pscatter_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    int partitions = 0;
    HEDDLE_TRY(check_root("root", root, comm_));
    HEDDLE_TRY(check_common(info, request, info_));
    const bool at_root = is_root(root, comm_);
    Side send = sends(sendbuf, sendpartitions, sendcount, sendtype, at_root);
    Side receive = receives(recvbuf, recvpartitions, recvcount, recvtype, !(at_root && recvbuf == MPI_IN_PLACE));
    HEDDLE_TRY(find_partitions(send, receive, &partitions));
    HEDDLE_TRY(send.check(comm_.peer_count));
    HEDDLE_TRY(receive.check(1));
    return api::pscatter_init(sendbuf, partitions, send.count_or_none(), *send.type, recvbuf, receive.count_or_none(),
                              *receive.type, root, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pscatter_init) int MPIX_Pscatter_init(const void*, int, MPI_Count, MPI_Datatype, void*,
                                                                       int, MPI_Count, MPI_Datatype, int, MPI_Comm,
                                                                       MPI_Info, MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Pallgather_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf, int recvpartitions, MPI_Count recvcount,
                                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return call<kRunning>("MPIX_Pallgather_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    int partitions = 0;
    HEDDLE_TRY(check_common(info, request, info_));
    Side send = sends(sendbuf, sendpartitions, sendcount, sendtype, sendbuf != MPI_IN_PLACE);
    Side receive = receives(recvbuf, recvpartitions, recvcount, recvtype, true);
    HEDDLE_TRY(find_partitions(send, receive, &partitions));
    HEDDLE_TRY(send.check(1));
    HEDDLE_TRY(receive.check(comm_.peer_count));
    return api::pallgather_init(sendbuf, partitions, send.count_or_none(), *send.type, recvbuf, recvcount,
                                *receive.type, comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pallgather_init) int MPIX_Pallgather_init(const void*, int, MPI_Count, MPI_Datatype,
                                                                           void*, int, MPI_Count, MPI_Datatype,
                                                                           MPI_Comm, MPI_Info, MPI_Request*);

HEDDLE_PUBLIC int PMPIX_Palltoall_init(const void* sendbuf, int sendpartitions, MPI_Count sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, int recvpartitions, MPI_Count recvcount,
                                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return call<kRunning>("MPIX_Palltoall_init", OnComm{"comm", comm}, [&](mpi::Comm& comm_) -> Status {
    mpi::Info* info_ = nullptr;
    int partitions = 0;
    HEDDLE_TRY(check_common(info, request, info_));
    Side send = sends(sendbuf, sendpartitions, sendcount, sendtype, sendbuf != MPI_IN_PLACE);
    Side receive = receives(recvbuf, recvpartitions, recvcount, recvtype, true);
    HEDDLE_TRY(find_partitions(send, receive, &partitions));
    HEDDLE_TRY(send.check(comm_.peer_count));
    HEDDLE_TRY(receive.check(comm_.peer_count));
    return api::palltoall_init(sendbuf, partitions, send.count_or_none(), *send.type, recvbuf, recvcount, *receive.type,
                               comm_, info_, request);
  });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Palltoall_init) int MPIX_Palltoall_init(const void*, int, MPI_Count, MPI_Datatype,
                                                                         void*, int, MPI_Count, MPI_Datatype, MPI_Comm,
                                                                         MPI_Info, MPI_Request*);

}  // extern "C"
