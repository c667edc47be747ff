// From the arguments of a collective to what is to be done, or to the host.
//
// Problem: all ranks have to go the same way, and each sees only its own arguments.
// Method:  what decides is the same at all ranks in every right program: the communicator, the bytes, and for a reduction the type and
//          the operation. Arguments that are wrong go to the host, whose errors they are then.
#pragma once

#include <new>

#include "coll_comm.hpp"
#include "coll_types.hpp"
#include "engine.hpp"
#include "errors.hpp"

namespace heddle::overlay {

// Wanted, and the bytes of the vector or of a rank's block. `right`: what can be said without the communicator.
struct Asked {
  Wanted wanted;
  std::uint64_t bytes = 0;
  bool right = false;
};

// False: an argument is wrong, or not for a plan.
inline bool bytes_of(MPI_Count count, MPI_Datatype type, std::uint64_t* bytes) {
  if (count < 0 || type == MPI_DATATYPE_NULL) return false;
  const KnownType known = known_type(type);
  const MPI_Count size = known.kind != TypeKind::kUnknown ? known.size : type_size(type);
  MPI_Count all = 0;
  if (size < 0 || __builtin_mul_overflow(size, count, &all)) return false;
  *bytes = static_cast<std::uint64_t>(all);
  return true;
}

inline Asked barrier_of() { return {Wanted(), 0, true}; }

inline Asked bcast_of(void* data, MPI_Count count, MPI_Datatype type, int root) {
  Asked a{{CollKind::kBcast, nullptr, data, 0, count, MPI_BYTE, type, MPI_OP_NULL, root}};
  a.right = bytes_of(count, type, &a.bytes);
  return a;
}

inline Asked combined_of(CollKind kind, const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         int root) {
  Asked a{{kind, send, recv, 0, count, MPI_BYTE, type, op, root}};
  a.right = combines(op, known_type(type).kind) && bytes_of(count, type, &a.bytes);
  return a;
}
inline Asked reduce_of(const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root) {
  return combined_of(CollKind::kReduce, send, recv, count, type, op, root);
}
inline Asked allreduce_of(const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  return combined_of(CollKind::kAllreduce, send, recv, count, type, op, 0);
}
inline Asked reduce_scatter_block_of(const void* send, void* recv, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  return combined_of(CollKind::kReduceScatterBlock, send, recv, count, type, op, 0);
}

inline Asked moved_of(CollKind kind, const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                      MPI_Count count, MPI_Datatype type) {
  Asked a{{kind, send, recv, send_count, count, send_type, type, MPI_OP_NULL, 0}};
  std::uint64_t sent = 0;
  a.right = bytes_of(count, type, &a.bytes);
  if (a.right && send != MPI_IN_PLACE) a.right = bytes_of(send_count, send_type, &sent) && sent == a.bytes;
  return a;
}
inline Asked allgather_of(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv, MPI_Count count,
                          MPI_Datatype type) {
  return moved_of(CollKind::kAllgather, send, send_count, send_type, recv, count, type);
}
inline Asked alltoall_of(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv, MPI_Count count,
                         MPI_Datatype type) {
  return moved_of(CollKind::kAlltoall, send, send_count, send_type, recv, count, type);
}

// Data can be there. MPI_BOTTOM is null, but has a type of its own with it.
inline bool is_right(const void* data, MPI_Datatype type) {
  return data != MPI_IN_PLACE && (data != nullptr || known_type(type).kind == TypeKind::kUnknown) && is_committed(type);
}

// Of those that are significant at this rank.
inline bool buffers_are_right(const Asked& asked, int rank) {
  const Wanted& w = asked.wanted;
  if (asked.bytes == 0) return true;
  const bool gets = w.kind != CollKind::kReduce || w.root == rank;
  if (gets && !is_right(w.recv, w.type)) return false;
  if (w.kind == CollKind::kBcast) return true;
  if (w.send == MPI_IN_PLACE) return gets;
  return is_right(w.send, w.op == MPI_OP_NULL ? w.send_type : w.type);
}

// By a plan: the communicator. Null: by the host.
inline CollComm* planned(MPI_Comm handle, const Asked& asked, Way way) {
  CollComm* comm = planned_comm(handle);
  if (comm == nullptr || !asked.right || !comm->plans(asked.wanted.kind, way, asked.bytes)) return nullptr;
  if (asked.wanted.root < 0 || asked.wanted.root >= comm->size || !buffers_are_right(asked, comm->rank)) return nullptr;
  if (way != Way::kNonblocking && !comm->open()) return nullptr;
  return comm;
}

int run_blocking(const char* name, MPI_Comm handle, CollComm& comm, const Wanted& wanted, std::uint64_t bytes);
int conclude_collective(const char* name, MPI_Comm comm, int error_class);
int no_memory(const char* name, MPI_Comm comm);

// A blocking one of the host. In the host a rank moves nothing of what is under way here, which others may wait for before they come to
// this. So where that can be, the host gets it as a nonblocking one: at all ranks, since the two forms don't match each other.
template <class Host, class Later>
int by_host(MPI_Comm handle, Host host, Later later) {
  CollComm* comm = planned_comm(handle);
  if (comm == nullptr || !comm->has_later_ones) return host();
  comm->open();  // in Open MPI 5.0.11 an MPI_Comm_idup that is under way and a nonblocking collective on its parent get in each other's way
  MPI_Request request;
  const int rc = later(&request);
  return rc == MPI_SUCCESS ? engine().finish(request, MPI_STATUS_IGNORE) : rc;
}

// By a plan, or by the host: host(), or later(&request).
template <class Host, class Later>
int blocking(const char* name, MPI_Comm handle, const Asked& asked, Host host, Later later) try {
  CollComm* comm = planned(handle, asked, Way::kBlocking);
  if (comm != nullptr) return run_blocking(name, handle, *comm, asked.wanted, asked.bytes);
  return by_host(handle, host, later);
} catch (const std::bad_alloc&) {
  return no_memory(name, handle);
}

int run_nonblocking(CollComm& comm, const char* name, MPI_Comm handle, const Asked& asked, MPI_Request* request);
int make_persistent(CollComm& comm, int tag, const char* name, MPI_Comm handle, const Asked& asked,
                    MPI_Request* request);

template <class Host>
int nonblocking(const char* name, MPI_Comm handle, const Asked& asked, MPI_Request* request, Host host) try {
  CollComm* comm = planned(handle, asked, Way::kNonblocking);
  if (comm == nullptr) return host();
  comm->has_later_ones = true;
  return run_nonblocking(*comm, name, handle, asked, request);
} catch (const std::bad_alloc&) {
  return no_memory(name, handle);
}

template <class Host>
int persistent(const char* name, MPI_Comm handle, const Asked& asked, MPI_Request* request, Host host) try {
  CollComm* comm = planned(handle, asked, Way::kPersistent);
  const int tag = comm == nullptr ? -1 : comm->keep_tag();
  if (tag < 0) return host();
  comm->has_later_ones = true;
  return make_persistent(*comm, tag, name, handle, asked, request);
} catch (const std::bad_alloc&) {
  return no_memory(name, handle);
}

}  // namespace heddle::overlay
