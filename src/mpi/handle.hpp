// From the ABI's handles to objects and back.
//
// Problem: every call of a program passes handles; finding the object must cost a compare or two, and a handle that is
//          null, freed or of another kind must be noticed before anything is read through it.
// Method:  below kPredefinedLimit a handle is one of the ABI's constants, and the predefined objects are found through
//          their value; any other handle is the object's address, believed only when it is aligned and the first word
//          is the right Kind. A predefined object carries its constant in `fortran_index`, so the way back needs no
//          table.
// Threads: any.
// Cost:    a communicator, datatype or request: two predicted branches and one load of a line that is needed anyway.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"
#include "mpi/process.hpp"

namespace heddle::mpi {

struct Datatype;
struct Errhandler;
struct File;
struct Info;
struct Message;
struct Op;
struct Request;
struct Session;
struct Win;
class Process;

// The predefined objects, by the value of the ABI's constant; null for a value that names no object.
extern const std::array<Datatype*, 256> predefined_datatypes;  // datatype.cpp, by value - kFirstDatatype
// Its size in bytes when items lie in a row without gaps, else 0.
extern const std::array<std::uint8_t, 256> predefined_sizes;
Op* predefined_op(std::uintptr_t value) noexcept;                  // op
Group* predefined_group(std::uintptr_t value) noexcept;            // group.cpp
Info* predefined_info(std::uintptr_t value) noexcept;              // info.cpp
Errhandler* predefined_errhandler(std::uintptr_t value) noexcept;  // errhandler.cpp
File* predefined_file(std::uintptr_t value) noexcept;              // file.cpp

inline constexpr std::uintptr_t kFirstDatatype = 0x200;
inline Datatype* predefined_datatype(std::uintptr_t value) noexcept {
  const std::uintptr_t i = value - kFirstDatatype;
  return i < predefined_datatypes.size() ? predefined_datatypes[i] : nullptr;
}

template <class Handle>
std::uintptr_t handle_value(Handle handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// The object at this address, if one of `kind` lives there. REQUIRES: value >= kPredefinedLimit. `T` begins with
// Object.
template <class T>
T* live_object(std::uintptr_t value, Kind kind) noexcept {
  if ((value & (alignof(std::uint64_t) - 1)) != 0) return nullptr;
  if (!reinterpret_cast<const Object*>(value)->is(kind)) return nullptr;
  return reinterpret_cast<T*>(value);
}

// Each returns null when the handle is null, freed, or not of this kind.
inline Comm* from_handle(MPI_Comm handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  if (value >= kPredefinedLimit) return live_object<Comm>(value, Kind::kComm);
  const std::uintptr_t i = value - handle_value(MPI_COMM_WORLD);
  return i < predefined_comms.size() ? predefined_comms[i].load(std::memory_order_acquire) : nullptr;
}
inline Datatype* from_handle(MPI_Datatype handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_datatype(value) : live_object<Datatype>(value, Kind::kDatatype);
}
inline Request* from_handle(MPI_Request handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? nullptr : live_object<Request>(value, Kind::kRequest);
}
inline Op* from_handle(MPI_Op handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_op(value) : live_object<Op>(value, Kind::kOp);
}
inline Group* from_handle(MPI_Group handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_group(value) : live_object<Group>(value, Kind::kGroup);
}
inline Info* from_handle(MPI_Info handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_info(value) : live_object<Info>(value, Kind::kInfo);
}
inline Errhandler* from_handle(MPI_Errhandler handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_errhandler(value) : live_object<Errhandler>(value, Kind::kErrhandler);
}
// MPI_FILE_NULL is one that no file is open behind.
inline File* from_handle(MPI_File handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? predefined_file(value) : live_object<File>(value, Kind::kFile);
}
inline Message* from_handle(MPI_Message handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? nullptr : live_object<Message>(value, Kind::kMessage);
}
inline Session* from_handle(MPI_Session handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? nullptr : live_object<Session>(value, Kind::kSession);
}

inline Win* from_handle(MPI_Win handle) noexcept {
  std::uintptr_t value = handle_value(handle);
  return value < kPredefinedLimit ? nullptr : live_object<Win>(value, Kind::kWin);
}

// The handle's value of an object: its constant when it is predefined, else its address.
inline std::uintptr_t object_value(const Object* object) noexcept {
  return object->is_predefined() ? static_cast<std::uintptr_t>(object->index())
                                 : reinterpret_cast<std::uintptr_t>(object);
}
inline const Object* as_object(const void* object) noexcept { return static_cast<const Object*>(object); }

inline MPI_Comm to_handle(const Comm* comm) noexcept {
  return comm == nullptr ? MPI_COMM_NULL : reinterpret_cast<MPI_Comm>(object_value(comm));
}
inline MPI_Datatype to_handle(const Datatype* type) noexcept {
  return type == nullptr ? MPI_DATATYPE_NULL : reinterpret_cast<MPI_Datatype>(object_value(as_object(type)));
}
inline MPI_Request to_handle(const Request* request) noexcept {
  return request == nullptr ? MPI_REQUEST_NULL : reinterpret_cast<MPI_Request>(const_cast<Request*>(request));
}
inline MPI_Op to_handle(const Op* op) noexcept {
  return op == nullptr ? MPI_OP_NULL : reinterpret_cast<MPI_Op>(object_value(as_object(op)));
}
inline MPI_Group to_handle(const Group* group) noexcept {
  return group == nullptr ? MPI_GROUP_NULL : reinterpret_cast<MPI_Group>(object_value(group));
}
inline MPI_Info to_handle(const Info* info) noexcept {
  return info == nullptr ? MPI_INFO_NULL : reinterpret_cast<MPI_Info>(object_value(as_object(info)));
}
inline MPI_Errhandler to_handle(const Errhandler* errhandler) noexcept {
  return errhandler == nullptr ? MPI_ERRHANDLER_NULL
                               : reinterpret_cast<MPI_Errhandler>(object_value(as_object(errhandler)));
}
inline MPI_File to_handle(const File* file) noexcept {
  return reinterpret_cast<MPI_File>(object_value(as_object(file)));
}
inline MPI_Message to_handle(const Message* message) noexcept {
  return message == nullptr ? MPI_MESSAGE_NULL : reinterpret_cast<MPI_Message>(const_cast<Message*>(message));
}
inline MPI_Session to_handle(const Session* session) noexcept {
  return session == nullptr ? MPI_SESSION_NULL : reinterpret_cast<MPI_Session>(const_cast<Session*>(session));
}
inline MPI_Win to_handle(const Win* win) noexcept {
  return win == nullptr ? MPI_WIN_NULL : reinterpret_cast<MPI_Win>(const_cast<Win*>(win));
}

// An address that no buffer has: null, or one of the ABI's constants.
inline bool is_odd_buffer(const void* buffer) noexcept {
  return reinterpret_cast<std::uintptr_t>(buffer) <= reinterpret_cast<std::uintptr_t>(MPI_BUFFER_AUTOMATIC);
}

// Ends a procedure that makes an object: its handle, or an error when `made` is null. `what`: "a group".
template <class T, class Handle>
Status hand_out(T* made, Handle* out, const char* what) {
  if (made == nullptr) return error(MPI_ERR_NO_MEM, "no memory for %s", what);
  *out = to_handle(made);
  return Status::ok();
}

// MPI_*_toint: the constant of a predefined object, otherwise an index that the object keeps for its life.
// 0 when memory ran out; the null object's int is its handle's constant and is the caller's affair.
int to_int(Object& object);
// MPI_*_fromint for an int that is no constant: null unless an object of `kind` lives that was given this index.
Object* from_int(int index, Kind kind);

}  // namespace heddle::mpi
