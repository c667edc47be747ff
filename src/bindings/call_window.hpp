// call.hpp, and what the procedures of one-sided communication need beside it.
//
// Problem: as in call.hpp; and an 8-byte MPI_Put has more arguments than an MPI_Send, two datatypes among them.
// Method:  the frame of call.hpp for a window, whose error handler hears of what fails on it (MPI 5.0, 12.6), and checks
//          of ranks, displacements, assertions and of what is moved.
// Threads: any.
// Cost:    as in call.hpp: compares, and one load per object, two where the window's communicator is asked.
#pragma once

#include <climits>

#include "bindings/call.hpp"
#include "mpi/datatype_basic.hpp"
#include "mpi/win.hpp"

namespace heddle::bindings {

[[gnu::cold]] Status bad_target(const char* parameter, int rank, const mpi::Win& win);
[[gnu::cold]] Status bad_disp(const char* parameter, MPI_Aint disp);
[[gnu::cold]] Status bad_disp_unit(const char* parameter, MPI_Aint unit);
[[gnu::cold]] Status bad_assertion(const char* parameter, int assertion, int known);
[[gnu::cold]] Status bad_lock_type(const char* parameter, int lock_type);
[[gnu::cold]] Status does_not_fit(const char* from_name, MPI_Count from_bytes, const char* to_name, MPI_Count to_bytes);
[[gnu::cold]] Status too_few(const char* from_name, MPI_Count from_bytes, const char* to_name, MPI_Count to_bytes);
[[gnu::cold]] Status is_no_op(const char* parameter);
// Types without data are no other items.
[[gnu::cold]] Status check_other_items(const char* parameter, const mpi::Datatype& type, const mpi::Datatype& target);
[[gnu::cold]] Status not_predefined(const char* parameter);
[[gnu::cold]] Status not_swappable(const char* parameter, const mpi::Datatype& type);
[[gnu::cold]] Status no_window_between_groups();

// Checks --------------------------------------------------------------------------------------------------------------

inline Status check_target(const char* parameter, int rank, const mpi::Win& win) {
  return win.comm->has_peer(rank) || rank == MPI_PROC_NULL ? Status::ok() : bad_target(parameter, rank, win);
}

// What MPI_Win_create_dynamic makes has addresses for displacements; nothing is displaced where there is no target.
inline Status check_target_disp(const char* parameter, MPI_Aint disp, int target_rank, const mpi::Win& win) {
  if (disp >= 0 || win.flavor == MPI_WIN_FLAVOR_DYNAMIC || target_rank == MPI_PROC_NULL) return Status::ok();
  return bad_disp(parameter, disp);
}

// The attribute that tells it is an int (MPI 5.0, 12.2.6).
inline Status check_disp_unit(const char* parameter, MPI_Aint unit) {
  return unit > 0 && unit <= INT_MAX ? Status::ok() : bad_disp_unit(parameter, unit);
}

inline Status check_assertion(const char* parameter, int assertion, int known) {
  return (assertion & ~known) == 0 ? Status::ok() : bad_assertion(parameter, assertion, known);
}

inline Status check_lock_type(const char* parameter, int lock_type) {
  if (lock_type == MPI_LOCK_EXCLUSIVE || lock_type == MPI_LOCK_SHARED) return Status::ok();
  return bad_lock_type(parameter, lock_type);
}

// What is moved from one place fits into the other (MPI 5.0, 12.3.1). REQUIRES: check_count(), of both.
inline Status check_fit(const char* from_name, MPI_Count from_count, const mpi::Datatype& from, const char* to_name,
                        MPI_Count to_count, const mpi::Datatype& to) {
  const MPI_Count from_bytes = from_count * from.size, to_bytes = to_count * to.size;
  return from_bytes <= to_bytes ? Status::ok() : does_not_fit(from_name, from_bytes, to_name, to_bytes);
}

// What is combined and fetched in one is as much at both ends: of an element that is fetched and not combined the standard does
// not speak. REQUIRES: as check_fit().
inline Status check_same_size(const char* from_name, MPI_Count from_count, const mpi::Datatype& from,
                              const char* to_name, MPI_Count to_count, const mpi::Datatype& to) {
  HEDDLE_TRY(check_fit(from_name, from_count, from, to_name, to_count, to));
  const MPI_Count from_bytes = from_count * from.size, to_bytes = to_count * to.size;
  return from_bytes == to_bytes ? Status::ok() : too_few(from_name, from_bytes, to_name, to_bytes);
}

// MPI_NO_OP is for what fetches (MPI 5.0, 12.3.4).
inline Status not_no_op(const char* parameter, const mpi::Op& op) {
  return op.id != mpi::OpId::kNoOp ? Status::ok() : is_no_op(parameter);
}

// An accumulate takes items of one predefined type, at the origin as at the target (MPI 5.0, 12.3.4).
inline Status check_same_items(const char* parameter, const mpi::Datatype& type, const mpi::Datatype& target) {
  return type.basic == target.basic ? Status::ok() : check_other_items(parameter, type, target);
}

inline Status check_predefined(const char* parameter, const mpi::Datatype& type) {
  return type.predefined ? Status::ok() : not_predefined(parameter);
}

// What MPI_Compare_and_swap takes: integers of C and Fortran, logicals, multi-language types, bytes.
inline Status check_swappable(const char* parameter, const mpi::Datatype& type) {
  using mpi::Basic;
  const bool is_integer = type.basic >= Basic::kInt8 && type.basic <= Basic::kMultiLanguage;
  const bool is_logical_or_byte = type.basic >= Basic::kBool && type.basic <= Basic::kByte;
  return type.predefined && (is_integer || is_logical_or_byte) ? Status::ok() : not_swappable(parameter, type);
}

inline Status check_intracomm(const mpi::Comm& comm) {
  return !comm.is_inter() ? Status::ok() : no_window_between_groups();
}

// The frame -----------------------------------------------------------------------------------------------------------

struct OnWin {
  const char* parameter;
  MPI_Win handle;
};

template <Phase phase, class Body>
[[gnu::always_inline]] inline int call(const char* procedure, OnWin on, Body body) {
  if (!allowed<phase>()) [[unlikely]]
    return not_running(procedure);
  mpi::Win* win = mpi::from_handle(on.handle);
  if (win == nullptr) [[unlikely]]
    return fail_unattached(procedure, bad_handle(on.parameter, on.handle));
  return finish(procedure, win, body, *win);
}

// A window that the procedure ends: it is given by address.
struct ThroughWin {
  const char* parameter;
  MPI_Win* handle;
};

template <Phase phase, class Body>
int call(const char* procedure, ThroughWin on, Body body) {
  if (on.handle == nullptr) return fail_unattached(procedure, null_argument(on.parameter));
  return call<phase>(procedure, OnWin{on.parameter, *on.handle}, [&](mpi::Win&) { return body(); });
}

}  // namespace heddle::bindings
