// What every generated C function is made of: may it be called now, who handles its errors, are its arguments legal.
//
// Problem: 664 procedures must refuse what the standard calls an error, with its error class and a sentence that a
//          person can act on, while an 8-byte send may spend a handful of nanoseconds here.
// Method:  `call(name, blame, body)` is the frame of every function: it checks the state of the program, finds the
//          object whose error handler is responsible, runs `body` and hands a failure to that handler. `body` is the
//          generated list of checks and then the call of heddle::api. A check is an inline compare whose failing side
//          is a cold function in call.cpp that writes the sentence.
// Threads: any.
// Cost:    on success: compares of arguments that are in registers, and one load per object. Nothing is allocated.
#pragma once

#include <new>

#include "base/own_procedure.hpp"
#include "base/status.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/int_array.hpp"
#include "mpi/op.hpp"
#include "mpi/request.hpp"
#include "mpi/session.hpp"
#include "mpi/state.hpp"

// A procedure is PMPI_X; MPI_X is a weak alias, so that a tool may define its own and call PMPI_X.
#define HEDDLE_PUBLIC __attribute__((visibility("default")))
#define HEDDLE_ALIAS(name) __attribute__((weak, alias(#name)))
// The rest of a procedure, into which it jumps, so that its own frame is gone.
#define HEDDLE_CHECKED(name)                                                                        \
  [[gnu::section("heddle_checked"), gnu::used]] static const NamedFunction name_of_checked_##name { \
    reinterpret_cast<const void*>(checked_##name), #name                                            \
  }

namespace heddle::bindings {

enum class Phase { kRunning, kAnyTime };
inline constexpr auto kRunning = Phase::kRunning;
inline constexpr auto kAnyTime = Phase::kAnyTime;
enum class NullRequest { kMayBeNull, kMustBeLive };
inline constexpr auto kMayBeNull = NullRequest::kMayBeNull;
inline constexpr auto kMustBeLive = NullRequest::kMustBeLive;

// Failures ------------------------------------------------------------------------------------------------------------

// Hands `status` to the error handler of `comm` (of MPI_COMM_SELF when null); what the handler leaves is returned to
// the caller.
[[gnu::cold]] int fail(const char* procedure, mpi::Comm* comm, Status status);
[[gnu::cold]] int fail(const char* procedure, mpi::Session* session, Status status);
[[gnu::cold]] int fail(const char* procedure, mpi::Errhandler* errhandler, Status status);
[[gnu::cold]] int fail(const char* procedure, mpi::Win* win, Status status);    // call_window.cpp
[[gnu::cold]] int fail(const char* procedure, mpi::File* file, Status status);  // call_file.cpp
inline int fail_unattached(const char* procedure, Status status) {
  return fail(procedure, static_cast<mpi::Comm*>(nullptr), status);
}
[[gnu::cold]] int not_running(const char* procedure);
// What is not implemented says so, through the error handler of the communicator, or not through any.
[[gnu::cold]] int missing(const char* procedure, MPI_Comm comm = MPI_COMM_NULL);
[[gnu::cold]] int missing_quietly(const char* procedure);
[[gnu::cold]] Status not_implemented(const char* procedure);

[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Comm handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Group handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Datatype handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Op handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Request handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Message handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Info handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Errhandler handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Session handle);
[[gnu::cold]] Status bad_handle(const char* parameter, MPI_Win handle);
[[gnu::cold]] Status not_committed(const char* parameter);
[[gnu::cold]] Status null_argument(const char* parameter);
[[gnu::cold]] Status negative(int error_class, const char* parameter, MPI_Count value);
[[gnu::cold]] Status bad_count(const char* parameter, MPI_Count value, const mpi::Datatype& type, MPI_Count blocks);
[[gnu::cold]] Status too_long(const char* parameter, MPI_Count value);
[[gnu::cold]] Status bad_rank(const char* parameter, int rank, const mpi::Comm& comm);
[[gnu::cold]] Status bad_root(const char* parameter, int root, const mpi::Comm& comm);
[[gnu::cold]] Status bad_tag(const char* parameter, int tag);
// A wildcard, in a communicator that may have been asserted to see none.
[[gnu::cold]] Status check_wildcard(const char* parameter, mpi::Assertion asserted, const mpi::Comm& comm);
[[gnu::cold]] Status aliased();
[[gnu::cold]] Status no_memory();
// An address that no buffer has: null, or one of the ABI's constants. Null is legal for nothing to move and for a type
// that holds addresses of its own.
[[gnu::cold]] Status check_odd_buffer(const char* parameter, const void* buffer, MPI_Count count,
                                      const mpi::Datatype& type);
[[gnu::cold]] Status check_odd_bytes(const char* parameter, const void* buffer, MPI_Count bytes);

// Longer checks, off the message path.
Status check_counts(int error_class, const char* parameter, mpi::IntArray counts, MPI_Count length);
Status check_types(const char* parameter, const MPI_Datatype* types, MPI_Count length);
// Only the types that go with a count above zero mean something.
Status check_types(const char* parameter, const MPI_Datatype* types, mpi::IntArray counts, MPI_Count length);
// Of blocks that lie displacements[i] items from the start (bytes, where each has its own type): no end of one overflows.
// REQUIRES: check_counts(), check_types().
Status check_span(const char* counts_name, mpi::IntArray counts, const char* displacements_name,
                  mpi::IntArray displacements, MPI_Count length, const mpi::Datatype& type);
Status check_span(const char* counts_name, mpi::IntArray counts, const char* displacements_name,
                  mpi::IntArray displacements, MPI_Count length, const MPI_Datatype* types);
// Of blocks that lie in a row.
Status check_span(const char* counts_name, mpi::IntArray counts, MPI_Count length, const mpi::Datatype& type);
Status check_buffer(const char* parameter, const void* buffer, mpi::IntArray counts, int length,
                    const mpi::Datatype& type);
Status check_buffer(const char* parameter, const void* buffer, mpi::IntArray counts, mpi::IntArray displacements,
                    int length, const MPI_Datatype* types);

// Checks --------------------------------------------------------------------------------------------------------------

inline Status not_null(const char* parameter, const volatile void* pointer) {
  return pointer != nullptr ? Status::ok() : null_argument(parameter);
}
inline Status not_null(const char* parameter, const volatile void* array, MPI_Count length) {
  return array != nullptr || length <= 0 ? Status::ok() : null_argument(parameter);
}
template <class Function>
requires std::is_function_v<Function> Status not_null(const char* parameter, Function* function) {
  return function != nullptr ? Status::ok() : null_argument(parameter);
}

inline Status not_negative(int error_class, const char* parameter, MPI_Count value) {
  return value >= 0 ? Status::ok() : negative(error_class, parameter, value);
}

// A negative count is a large one, too.
inline Status check_count(const char* parameter, MPI_Count value, const mpi::Datatype& type) {
  if (static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(type.most)) [[likely]]
    return Status::ok();
  return bad_count(parameter, value, type, 1);
}
// Of each of so many equal blocks in a row.
inline Status check_count(const char* parameter, MPI_Count value, const mpi::Datatype& type, MPI_Count blocks) {
  MPI_Count all;
  if (value >= 0 && !__builtin_mul_overflow(value, blocks, &all) && all <= type.most) [[likely]]
    return Status::ok();
  return bad_count(parameter, value, type, blocks);
}

// Of arrays: one that is longer than memory is not looked into.
inline Status check_length(const char* parameter, MPI_Count value) {
  return value <= mpi::kSpan / MPI_Count{sizeof(MPI_Count)} ? Status::ok() : too_long(parameter, value);
}

template <class Handle, class T>
Status find(const char* parameter, Handle handle, T*& object) {
  object = mpi::from_handle(handle);
  return object != nullptr ? Status::ok() : bad_handle(parameter, handle);
}
inline Status find_or_null(const char* parameter, MPI_Info handle, mpi::Info*& object) {
  if (handle == MPI_INFO_NULL) return Status::ok();
  return find(parameter, handle, object);
}
inline Status find_committed(const char* parameter, MPI_Datatype handle, mpi::Datatype*& type) {
  HEDDLE_TRY(find(parameter, handle, type));
  return type->committed ? Status::ok() : not_committed(parameter);
}
// Stands in for a datatype that the standard tells us not to look at.
inline mpi::Datatype* ignored_type() { return mpi::from_handle(MPI_BYTE); }

inline Status check_dest(const char* parameter, int rank, const mpi::Comm& comm) {
  return comm.has_peer(rank) || rank == MPI_PROC_NULL ? Status::ok() : bad_rank(parameter, rank, comm);
}
inline Status check_source(const char* parameter, int rank, const mpi::Comm& comm) {
  if (rank != MPI_ANY_SOURCE) return check_dest(parameter, rank, comm);
  return comm.spread == nullptr ? Status::ok() : check_wildcard(parameter, mpi::kNoAnySource, comm);
}
inline Status check_root(const char* parameter, int root, const mpi::Comm& comm) {
  if (comm.has_peer(root) || (comm.is_inter() && (root == MPI_ROOT || root == MPI_PROC_NULL))) return Status::ok();
  return bad_root(parameter, root, comm);
}
// Not of the root's group in an intercommunicator, whose other members have no data in a rooted collective.
inline bool takes_part(int root, const mpi::Comm& comm) { return root >= 0 || !comm.is_inter(); }
inline bool is_root(int root, const mpi::Comm& comm) { return root == (comm.is_inter() ? MPI_ROOT : comm.rank); }

// MPI_TAG_UB is INT_MAX: every tag that is not negative is legal.
inline Status check_send_tag(const char* parameter, int tag) {
  return tag >= 0 ? Status::ok() : bad_tag(parameter, tag);
}
inline Status check_recv_tag(const char* parameter, int tag, const mpi::Comm& comm) {
  if (tag >= 0) return Status::ok();
  if (tag != MPI_ANY_TAG) return bad_tag(parameter, tag);
  return comm.spread == nullptr ? Status::ok() : check_wildcard(parameter, mpi::kNoAnyTag, comm);
}

inline Status check_buffer(const char* parameter, const void* buffer, MPI_Count count, const mpi::Datatype& type) {
  return !mpi::is_odd_buffer(buffer) ? Status::ok() : check_odd_buffer(parameter, buffer, count, type);
}
inline Status check_bytes(const char* parameter, const void* buffer, MPI_Count bytes) {
  return !mpi::is_odd_buffer(buffer) ? Status::ok() : check_odd_bytes(parameter, buffer, bytes);
}
inline Status not_in_place(const char* parameter, const void* buffer) {
  return buffer != MPI_IN_PLACE ? Status::ok() : check_odd_bytes(parameter, buffer, 0);
}
// Between the groups of an intercommunicator nothing is in place (MPI 5.0, 6.2.3).
inline Status check_in_place(const char* parameter, const void* buffer, const mpi::Comm& comm) {
  return buffer != MPI_IN_PLACE || !comm.is_inter() ? Status::ok() : check_odd_bytes(parameter, buffer, 0);
}
// A reduction must not read and write the same memory (MPI 5.0, 6.9.1); it cannot be told apart from a slip otherwise.
inline Status not_aliased(const void* send, const void* receive, MPI_Count count, const mpi::Datatype& type) {
  return send != receive || mpi::is_odd_buffer(send) || count == 0 || type.size == 0 ? Status::ok() : aliased();
}

Status name_of_null(const char* constant, char* name, int* length);

// The value of a count in an int OUT argument (MPI 5.0, 2.5.8).
inline int narrow(MPI_Count value) {
  int small = static_cast<int>(value);
  return small == value ? small : MPI_UNDEFINED;
}

// The frame -----------------------------------------------------------------------------------------------------------

// Nothing of ours is thrown through the C interface; what could be is an allocation that failed.
template <class Body, class... Object>
[[gnu::always_inline]] inline Status run(Body& body, Object&... object) {
  try {
    return body(object...);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

template <class Blame, class Body, class... Object>
[[gnu::always_inline]] inline int finish(const char* procedure, Blame* blame, Body& body, Object&... object) {
  Status status = run(body, object...);
  if (!status) [[unlikely]]
    return fail(procedure, blame, status);
  return MPI_SUCCESS;
}

template <Phase phase>
[[gnu::always_inline]] inline bool allowed() {
  return phase == Phase::kAnyTime || mpi::running();
}

struct OnNothing {};

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnNothing, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  return finish<mpi::Comm>(procedure, nullptr, body);
}

struct OnComm {
  const char* parameter;
  MPI_Comm handle;
};

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnComm on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  mpi::Comm* comm = mpi::from_handle(on.handle);
  if (comm == nullptr) [[unlikely]]
    return fail_unattached(procedure, bad_handle(on.parameter, on.handle));
  return finish(procedure, comm, body, *comm);
}

// A communicator that the procedure ends: it is given by address.
struct ThroughComm {
  const char* parameter;
  MPI_Comm* handle;
};

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, ThroughComm on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  if (on.handle == nullptr) [[unlikely]]
    return fail_unattached(procedure, null_argument(on.parameter));
  mpi::Comm* comm = mpi::from_handle(*on.handle);
  if (comm == nullptr) [[unlikely]]
    return fail_unattached(procedure, bad_handle(on.parameter, *on.handle));
  return finish(procedure, comm, body);
}

struct OnSession {
  const char* parameter;
  MPI_Session handle;
};

template <Phase phase, class Body>
int call(const char* procedure, OnSession on, Body body) {
  if (!allowed<phase>()) return not_running(procedure);
  mpi::Session* session = mpi::from_handle(on.handle);
  if (session == nullptr) return fail_unattached(procedure, bad_handle(on.parameter, on.handle));
  return finish(procedure, session, body, *session);
}

// A session that the procedure ends.
struct ThroughSession {
  const char* parameter;
  MPI_Session* handle;
};

template <Phase phase, class Body>
int call(const char* procedure, ThroughSession on, Body body) {
  if (on.handle == nullptr) return fail_unattached(procedure, null_argument(on.parameter));
  return call<phase>(procedure, OnSession{on.parameter, *on.handle}, [&](mpi::Session&) { return body(); });
}

// The error handler of what is to be made hears of a failure to make it.
struct OnErrhandler {
  const char* parameter;
  MPI_Errhandler handle;
};

template <Phase phase, class Body>
int call(const char* procedure, OnErrhandler on, Body body) {
  if (!allowed<phase>()) return not_running(procedure);
  mpi::Errhandler* errhandler = mpi::from_handle(on.handle);
  if (errhandler == nullptr) return fail_unattached(procedure, bad_handle(on.parameter, on.handle));
  return finish(procedure, errhandler, body, *errhandler);
}

struct OnRequest {
  const char* parameter;
  const MPI_Request* handle;
  NullRequest null;
};

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnRequest on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  if (on.handle == nullptr) [[unlikely]]
    return fail_unattached(procedure, null_argument(on.parameter));
  mpi::Comm* blame = nullptr;
  if (*on.handle != MPI_REQUEST_NULL || on.null == kMustBeLive) {
    mpi::Request* request = mpi::from_handle(*on.handle);
    if (request == nullptr) [[unlikely]]
      return fail_unattached(procedure, bad_handle(on.parameter, *on.handle));
    blame = request->comm;
  }
  return finish(procedure, blame, body);
}

// The error handler is that of the first request that belongs to a communicator.
struct OnRequests {
  const char* parameter;
  const char* length_parameter;
  MPI_Count length;
  const MPI_Request* handles;
  NullRequest null;
};

inline Status check_requests(const OnRequests& on, mpi::Comm*& blame) {
  HEDDLE_TRY(not_negative(MPI_ERR_COUNT, on.length_parameter, on.length));
  HEDDLE_TRY(not_null(on.parameter, on.handles, on.length));
  for (MPI_Count i = on.length; i-- > 0;) {
    if (on.handles[i] == MPI_REQUEST_NULL && on.null == kMayBeNull) continue;
    mpi::Request* request = mpi::from_handle(on.handles[i]);
    if (request == nullptr) [[unlikely]]
      return bad_handle(on.parameter, on.handles[i]);
    if (request->comm != nullptr) blame = request->comm;
  }
  return Status::ok();
}

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnRequests on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  mpi::Comm* blame = nullptr;
  if (Status status = check_requests(on, blame); !status) [[unlikely]]
    return fail(procedure, blame, status);
  return finish(procedure, blame, body);
}

struct OnMessage {
  const char* parameter;
  const MPI_Message* handle;
};

// The communicator that the message came through; null for MPI_MESSAGE_NO_PROC.
mpi::Comm* comm_of(MPI_Message handle);

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnMessage on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  if (on.handle == nullptr) [[unlikely]]
    return fail_unattached(procedure, null_argument(on.parameter));
  if (*on.handle != MPI_MESSAGE_NO_PROC && mpi::from_handle(*on.handle) == nullptr) [[unlikely]] {
    return fail_unattached(procedure, bad_handle(on.parameter, *on.handle));
  }
  return finish(procedure, comm_of(*on.handle), body);
}

}  // namespace heddle::bindings
