#include "bindings/call.hpp"

#include <climits>
#include <cstring>

#include "mpi/errhandler.hpp"
#include "mpi/message.hpp"
#include "mpi/spread.hpp"
#include "mpi/win.hpp"

namespace heddle::bindings {
namespace {

constexpr const char* kFreed = "it was freed, or never was one";

Status bad(int error_class, const char* parameter, const void* handle, const void* null, const char* null_name,
           const char* kind) {
  if (handle == null) return error(error_class, "%s is %s; a live %s is needed here", parameter, null_name, kind);
  return error(error_class, "%s (%p) is not a live %s: %s", parameter, handle, kind, kFreed);
}

}  // namespace

int fail(const char* procedure, mpi::Comm* comm, Status status) {
  // A request may have held the last reference to its communicator.
  if (comm != nullptr && !comm->is(mpi::Kind::kComm)) comm = nullptr;
  if (comm != nullptr && comm->win != nullptr) return mpi::raise(*comm->win, status, procedure);
  return mpi::raise(comm, status, procedure);
}

mpi::Comm* comm_of(MPI_Message handle) {
  mpi::Message* message = mpi::from_handle(handle);
  return message == nullptr ? nullptr : message->comm;
}

int fail(const char* procedure, mpi::Session* session, Status status) {
  // A session that has ended hears of nothing.
  if (!session->is(mpi::Kind::kSession)) return fail_unattached(procedure, status);
  return mpi::raise(*session, status, procedure);
}

int fail(const char* procedure, mpi::Errhandler* errhandler, Status status) {
  return mpi::raise(*errhandler, status, procedure);
}

int not_running(const char* procedure) {
  return fail_unattached(
      procedure,
      mpi::finalized()
          ? error(MPI_ERR_OTHER, "%s was called after MPI_Finalize and outside of any session; move the call before it",
                  procedure)
          : error(MPI_ERR_OTHER,
                  "%s was called before MPI_Init and outside of any session; call MPI_Init or MPI_Session_init first",
                  procedure));
}

Status not_implemented(const char* procedure) {
  return error(MPI_ERR_UNSUPPORTED_OPERATION,
               "%s is not implemented in this version of Heddle; 'heddle info --missing' lists what is not", procedure);
}

int missing(const char* procedure, MPI_Comm comm) {
  return fail(procedure, mpi::from_handle(comm), not_implemented(procedure));
}

int missing_quietly(const char* procedure) { return not_implemented(procedure).error_class(); }

Status bad_handle(const char* parameter, MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) {
    return error(MPI_ERR_COMM, "%s is %s, which exists from MPI_Init to MPI_Finalize only; sessions make their own",
                 parameter, handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
  }
  return bad(MPI_ERR_COMM, parameter, handle, MPI_COMM_NULL, "MPI_COMM_NULL", "communicator");
}
Status bad_handle(const char* parameter, MPI_Group handle) {
  return bad(MPI_ERR_GROUP, parameter, handle, MPI_GROUP_NULL, "MPI_GROUP_NULL", "group");
}
Status bad_handle(const char* parameter, MPI_Datatype handle) {
  return bad(MPI_ERR_TYPE, parameter, handle, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL", "datatype");
}
Status bad_handle(const char* parameter, MPI_Op handle) {
  return bad(MPI_ERR_OP, parameter, handle, MPI_OP_NULL, "MPI_OP_NULL", "reduction operation");
}
Status bad_handle(const char* parameter, MPI_Request handle) {
  return bad(MPI_ERR_REQUEST, parameter, handle, MPI_REQUEST_NULL, "MPI_REQUEST_NULL", "request");
}
Status bad_handle(const char* parameter, MPI_Message handle) {
  return bad(MPI_ERR_REQUEST, parameter, handle, MPI_MESSAGE_NULL, "MPI_MESSAGE_NULL", "message");
}
Status bad_handle(const char* parameter, MPI_Info handle) {
  return bad(MPI_ERR_INFO, parameter, handle, MPI_INFO_NULL, "MPI_INFO_NULL", "info object");
}
Status bad_handle(const char* parameter, MPI_Errhandler handle) {
  return bad(MPI_ERR_ERRHANDLER, parameter, handle, MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL", "error handler");
}
Status bad_handle(const char* parameter, MPI_Session handle) {
  return bad(MPI_ERR_SESSION, parameter, handle, MPI_SESSION_NULL, "MPI_SESSION_NULL", "session");
}
Status bad_handle(const char* parameter, MPI_Win handle) {
  return bad(MPI_ERR_WIN, parameter, handle, MPI_WIN_NULL, "MPI_WIN_NULL", "window");
}

Status not_committed(const char* parameter) {
  return error(MPI_ERR_TYPE, "%s was not committed; call MPI_Type_commit before data is moved with it", parameter);
}
Status null_argument(const char* parameter) {
  return error(MPI_ERR_ARG, "%s is a null pointer; the call needs the address of a variable or an array", parameter);
}
Status negative(int error_class, const char* parameter, MPI_Count value) {
  return error(error_class, "%s is %lld; it must not be negative", parameter, static_cast<long long>(value));
}
Status bad_count(const char* parameter, MPI_Count value, const mpi::Datatype& type, MPI_Count blocks) {
  if (value < 0) return negative(MPI_ERR_COUNT, parameter, value);
  return error(
      MPI_ERR_COUNT,
      "%s is %lld; %lld blocks of so many items of %lld bytes, %lld bytes apart, are more than any memory holds",
      parameter, static_cast<long long>(value), static_cast<long long>(blocks), static_cast<long long>(type.size),
      static_cast<long long>(type.extent));
}
Status too_long(const char* parameter, MPI_Count value) {
  return error(MPI_ERR_COUNT, "%s is %lld; no memory holds arrays of that length", parameter,
               static_cast<long long>(value));
}
Status bad_rank(const char* parameter, int rank, const mpi::Comm& comm) {
  return error(MPI_ERR_RANK, "%s is %d; the communicator has ranks 0 to %d", parameter, rank, comm.peer_count - 1);
}
Status bad_root(const char* parameter, int root, const mpi::Comm& comm) {
  return error(MPI_ERR_ROOT, "%s is %d; the communicator has ranks 0 to %d", parameter, root, comm.peer_count - 1);
}
Status check_wildcard(const char* parameter, mpi::Assertion asserted, const mpi::Comm& comm) {
  if ((comm.spread->asserted & asserted) == 0) return Status::ok();
  const bool tag = asserted == mpi::kNoAnyTag;
  return error(tag ? MPI_ERR_TAG : MPI_ERR_RANK,
               "%s is %s, but the communicator was made with the assertion mpi_assert_no_any_%s; leave one of them out",
               parameter, tag ? "MPI_ANY_TAG" : "MPI_ANY_SOURCE", tag ? "tag" : "source");
}
Status bad_tag(const char* parameter, int tag) {
  return error(MPI_ERR_TAG, "%s is %d; a tag lies between 0 and %d (MPI_TAG_UB)", parameter, tag, INT_MAX);
}
Status aliased() {
  return error(MPI_ERR_BUFFER,
               "the send and the receive buffer are the same memory; pass MPI_IN_PLACE to reduce in place");
}
Status no_memory() { return error(MPI_ERR_NO_MEM, "memory ran out; nothing was started"); }

// MPI_BOTTOM is null. It is meant when displacements are addresses; then the data begins far from 0.
static bool is_address(MPI_Aint displacement) {
  constexpr MPI_Aint kFirstPage = 4096;
  return displacement >= kFirstPage || displacement < 0;
}

Status check_odd_buffer(const char* parameter, const void* buffer, MPI_Count count, const mpi::Datatype& type) {
  if (buffer != nullptr) return check_odd_bytes(parameter, buffer, count);
  if (count == 0 || type.size == 0 || is_address(type.true_lb)) return Status::ok();
  return error(MPI_ERR_BUFFER, "%s is null, but %lld elements of %lld bytes are to be moved", parameter,
               static_cast<long long>(count), static_cast<long long>(type.size));
}

Status check_odd_bytes(const char* parameter, const void* buffer, MPI_Count bytes) {
  if (buffer == MPI_IN_PLACE) return error(MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which has no meaning here", parameter);
  if (buffer == MPI_BUFFER_AUTOMATIC) {
    return error(MPI_ERR_BUFFER, "%s is MPI_BUFFER_AUTOMATIC, which has no meaning here", parameter);
  }
  if (bytes == 0) return Status::ok();
  return error(MPI_ERR_BUFFER, "%s is null, but %lld bytes are to be moved", parameter, static_cast<long long>(bytes));
}

Status check_counts(int error_class, const char* parameter, mpi::IntArray counts, MPI_Count length) {
  HEDDLE_TRY(not_null(parameter, counts.data(), length));
  for (MPI_Count i = 0; i < length; ++i) {
    MPI_Count value = counts[static_cast<std::size_t>(i)];
    if (value < 0) {
      return error(error_class, "%s[%lld] is %lld; it must not be negative", parameter, static_cast<long long>(i),
                   static_cast<long long>(value));
    }
  }
  return Status::ok();
}

Status check_types(const char* parameter, const MPI_Datatype* types, MPI_Count length) {
  HEDDLE_TRY(not_null(parameter, types, length));
  for (MPI_Count i = 0; i < length; ++i) {
    if (mpi::from_handle(types[i]) == nullptr) return bad_handle(parameter, types[i]);
  }
  return Status::ok();
}

Status check_types(const char* parameter, const MPI_Datatype* types, mpi::IntArray counts, MPI_Count length) {
  HEDDLE_TRY(not_null(parameter, types, length));
  for (MPI_Count i = 0; i < length; ++i) {
    mpi::Datatype* type = nullptr;
    if (counts[static_cast<std::size_t>(i)] > 0) HEDDLE_TRY(find_committed(parameter, types[i], type));
  }
  return Status::ok();
}

static Status check_block(const char* counts_name, MPI_Count count, const char* displacements_name,
                          MPI_Count displacement, const mpi::Datatype& type, MPI_Count farthest, MPI_Count i) {
  if (count == 0) return Status::ok();
  if (count > type.most) return bad_count(counts_name, count, type, 1);
  if (displacement <= farthest && displacement >= -farthest) return Status::ok();
  return error(MPI_ERR_ARG, "%s[%lld] is %lld, which is beyond any memory", displacements_name,
               static_cast<long long>(i), static_cast<long long>(displacement));
}

Status check_span(const char* counts_name, mpi::IntArray counts, const char* displacements_name,
                  mpi::IntArray displacements, MPI_Count length, const mpi::Datatype& type) {
  for (MPI_Count i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HEDDLE_TRY(check_block(counts_name, counts[at], displacements_name, displacements[at], type, type.most, i));
  }
  return Status::ok();
}

Status check_span(const char* counts_name, mpi::IntArray counts, const char* displacements_name,
                  mpi::IntArray displacements, MPI_Count length, const MPI_Datatype* types) {
  for (MPI_Count i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (counts[at] == 0) continue;
    HEDDLE_TRY(check_block(counts_name, counts[at], displacements_name, displacements[at], *mpi::from_handle(types[at]),
                           mpi::kSpan - 1, i));
  }
  return Status::ok();
}

Status check_span(const char* counts_name, mpi::IntArray counts, MPI_Count length, const mpi::Datatype& type) {
  MPI_Count total = 0;
  for (MPI_Count i = 0; i < length; ++i) {
    const MPI_Count count = counts[static_cast<std::size_t>(i)];
    if (count > type.most - total) return bad_count(counts_name, count, type, 1);
    total += count;
  }
  return Status::ok();
}

Status check_buffer(const char* parameter, const void* buffer, mpi::IntArray counts, int length,
                    const mpi::Datatype& type) {
  if (!mpi::is_odd_buffer(buffer)) return Status::ok();
  for (int i = 0; i < length; ++i) {
    HEDDLE_TRY(check_odd_buffer(parameter, buffer, counts[static_cast<std::size_t>(i)], type));
  }
  return Status::ok();
}

Status check_buffer(const char* parameter, const void* buffer, mpi::IntArray counts, mpi::IntArray displacements,
                    int length, const MPI_Datatype* types) {
  if (!mpi::is_odd_buffer(buffer)) return Status::ok();
  if (buffer != nullptr) return check_odd_bytes(parameter, buffer, 0);
  for (int i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (counts[at] == 0 || is_address(displacements[at])) continue;
    HEDDLE_TRY(check_odd_buffer(parameter, buffer, counts[at], *mpi::from_handle(types[at])));
  }
  return Status::ok();
}

Status name_of_null(const char* constant, char* name, int* length) {
  HEDDLE_TRY(not_null("name", name));
  HEDDLE_TRY(not_null("resultlen", length));
  *length = static_cast<int>(std::strlen(constant));
  std::memcpy(name, constant, static_cast<std::size_t>(*length) + 1);
  return Status::ok();
}

}  // namespace heddle::bindings
