#include "mpi/error_text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace heddle::mpi {
namespace {

struct Entry {
  int error_class;
  const char* name;
  const char* text;
};

#define ENTRY(name, text) \
  { name, #name, text }
constexpr Entry kEntries[] = {
    ENTRY(MPI_SUCCESS, "no error"),
    ENTRY(MPI_ERR_BUFFER, "the buffer is not valid"),
    ENTRY(MPI_ERR_COUNT, "the count is not valid"),
    ENTRY(MPI_ERR_TYPE, "the datatype is not valid"),
    ENTRY(MPI_ERR_TAG, "the tag is not valid"),
    ENTRY(MPI_ERR_COMM, "the communicator is not valid"),
    ENTRY(MPI_ERR_RANK, "the rank is not one of the communicator or group"),
    ENTRY(MPI_ERR_REQUEST, "the request is not valid"),
    ENTRY(MPI_ERR_ROOT, "the root is not valid"),
    ENTRY(MPI_ERR_GROUP, "the group is not valid"),
    ENTRY(MPI_ERR_OP, "the operation is not valid"),
    ENTRY(MPI_ERR_TOPOLOGY, "the topology is not valid"),
    ENTRY(MPI_ERR_DIMS, "the dimensions are not valid"),
    ENTRY(MPI_ERR_ARG, "an argument is not valid"),
    ENTRY(MPI_ERR_UNKNOWN, "an unknown error"),
    ENTRY(MPI_ERR_TRUNCATE, "the message is longer than the receive buffer"),
    ENTRY(MPI_ERR_OTHER, "an error that has no class of its own"),
    ENTRY(MPI_ERR_INTERN, "an internal error of the MPI library"),
    ENTRY(MPI_ERR_PENDING, "the request has not completed yet"),
    ENTRY(MPI_ERR_IN_STATUS, "the error codes are in the statuses"),
    ENTRY(MPI_ERR_ACCESS, "permission denied"),
    ENTRY(MPI_ERR_AMODE, "the access mode is not valid"),
    ENTRY(MPI_ERR_ASSERT, "the assertion is not valid"),
    ENTRY(MPI_ERR_BAD_FILE, "the file name is not valid"),
    ENTRY(MPI_ERR_BASE, "the base address is not valid"),
    ENTRY(MPI_ERR_CONVERSION, "a data conversion function failed"),
    ENTRY(MPI_ERR_DISP, "the displacement is not valid"),
    ENTRY(MPI_ERR_DUP_DATAREP, "a data representation of this name exists already"),
    ENTRY(MPI_ERR_FILE_EXISTS, "the file exists already"),
    ENTRY(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    ENTRY(MPI_ERR_FILE, "the file handle is not valid"),
    ENTRY(MPI_ERR_INFO_KEY, "the info key is not valid"),
    ENTRY(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    ENTRY(MPI_ERR_INFO_VALUE, "the info value is not valid"),
    ENTRY(MPI_ERR_INFO, "the info object is not valid"),
    ENTRY(MPI_ERR_IO, "input or output failed"),
    ENTRY(MPI_ERR_KEYVAL, "the attribute key is not valid"),
    ENTRY(MPI_ERR_LOCKTYPE, "the lock type is not valid"),
    ENTRY(MPI_ERR_NAME, "the service name is not published"),
    ENTRY(MPI_ERR_NO_MEM, "memory ran out"),
    ENTRY(MPI_ERR_NOT_SAME, "an argument of a collective call is not the same in all processes"),
    ENTRY(MPI_ERR_NO_SPACE, "no space is left"),
    ENTRY(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    ENTRY(MPI_ERR_PORT, "the port name is not valid"),
    ENTRY(MPI_ERR_QUOTA, "the quota is exceeded"),
    ENTRY(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    ENTRY(MPI_ERR_RMA_ATTACH, "the memory cannot be attached"),
    ENTRY(MPI_ERR_RMA_CONFLICT, "conflicting accesses to the window"),
    ENTRY(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    ENTRY(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    ENTRY(MPI_ERR_RMA_SYNC, "wrong synchronisation of the window"),
    ENTRY(MPI_ERR_SERVICE, "the service name was not published, so it cannot be withdrawn"),
    ENTRY(MPI_ERR_SIZE, "the size is not valid"),
    ENTRY(MPI_ERR_SPAWN, "processes could not be started"),
    ENTRY(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    ENTRY(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"),
    ENTRY(MPI_ERR_WIN, "the window is not valid"),
    ENTRY(MPI_ERR_RMA_FLAVOR, "the window has the wrong flavor"),
    ENTRY(MPI_ERR_PROC_ABORTED, "a peer process has ended"),
    ENTRY(MPI_ERR_VALUE_TOO_LARGE, "the value does not fit into the output argument"),
    ENTRY(MPI_ERR_SESSION, "the session is not valid"),
    ENTRY(MPI_ERR_ERRHANDLER, "the error handler is not valid"),
    ENTRY(MPI_ERR_ABI, "the ABI setting is not valid"),
    ENTRY(MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialized"),
    ENTRY(MPI_T_ERR_NOT_ACCESSIBLE, "the tool interface is not accessible now"),
    ENTRY(MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    ENTRY(MPI_T_ERR_NOT_SUPPORTED, "the tool interface does not support this"),
    ENTRY(MPI_T_ERR_MEMORY, "the tool interface is out of memory"),
    ENTRY(MPI_T_ERR_INVALID, "an argument of the tool interface is not valid"),
    ENTRY(MPI_T_ERR_INVALID_INDEX, "the index is not valid"),
    ENTRY(MPI_T_ERR_INVALID_ITEM, "the item index is out of range"),
    ENTRY(MPI_T_ERR_INVALID_SESSION, "the tool session is not valid"),
    ENTRY(MPI_T_ERR_INVALID_HANDLE, "the tool handle is not valid"),
    ENTRY(MPI_T_ERR_INVALID_NAME, "the variable or category name is not valid"),
    ENTRY(MPI_T_ERR_OUT_OF_HANDLES, "no tool handles are left"),
    ENTRY(MPI_T_ERR_OUT_OF_SESSIONS, "no tool sessions are left"),
    ENTRY(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set now"),
    ENTRY(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    ENTRY(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    ENTRY(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    ENTRY(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and written atomically"),
    ENTRY(MPI_ERR_LASTCODE, "the last error code of the standard"),
};
#undef ENTRY

const Entry* find_entry(int error_class) noexcept {
  auto it = std::lower_bound(std::begin(kEntries), std::end(kEntries), error_class,
                             [](const Entry& e, int c) { return e.error_class < c; });
  return it != std::end(kEntries) && it->error_class == error_class ? it : nullptr;
}

// A class or a code that the user added; a class is its own class.
struct UserCode {
  int error_class;
  std::optional<std::string> text = std::nullopt;
  int codes = 0;  // of this class, when it is one
};

struct UserCodes {
  std::mutex mutex;
  std::map<int, UserCode> by_number;
  int last_used = MPI_ERR_LASTCODE;
};

UserCodes& user_codes() {
  static UserCodes& codes = *new UserCodes;  // never destroyed: errors happen until the program ends
  return codes;
}

Status unknown_code(int code) {
  return error(MPI_ERR_ARG, "%d is not an error class or code of MPI, nor one that was added and not removed", code);
}

// A number that the standard keeps for itself and that MPI 5.0 does not use.
bool is_reserved(int code) { return code > MPI_SUCCESS && code < MPI_ERR_LASTCODE && find_entry(code) == nullptr; }

void copy_out(const char* text, char* out, int* length) {
  int n = std::snprintf(out, MPI_MAX_ERROR_STRING, "%s", text);
  *length = std::min(n, MPI_MAX_ERROR_STRING - 1);
}

// The user's entry for `code`, or null. REQUIRES: the mutex is held.
UserCode* find_user(UserCodes& codes, int code) {
  auto it = codes.by_number.find(code);
  return it == codes.by_number.end() ? nullptr : &it->second;
}

}  // namespace

const char* error_class_name(int error_class) noexcept {
  const Entry* entry = find_entry(error_class);
  return entry == nullptr ? nullptr : entry->name;
}

const char* error_class_text(int error_class) noexcept {
  const Entry* entry = find_entry(error_class);
  return entry == nullptr ? nullptr : entry->text;
}

Status error_string(int code, char* out, int* length) {
  if (const Entry* entry = find_entry(code)) {
    bool has_detail = code != MPI_SUCCESS && last_error_class() == code && last_error_detail()[0] != '\0';
    std::string text = std::string(entry->name) + ": " + entry->text;
    if (has_detail) text = text + ": " + last_error_detail();
    copy_out(text.c_str(), out, length);
    return Status::ok();
  }
  if (is_reserved(code)) {
    copy_out(("error " + std::to_string(code) + ", which is no error class of MPI 5.0").c_str(), out, length);
    return Status::ok();
  }
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  const UserCode* user = find_user(codes, code);
  if (user == nullptr) return unknown_code(code);
  copy_out(user->text ? user->text->c_str() : "", out, length);
  return Status::ok();
}

Status error_class_of(int code, int* error_class) {
  if (find_entry(code) != nullptr || is_reserved(code)) {
    *error_class = is_reserved(code) ? MPI_ERR_UNKNOWN : code;
    return Status::ok();
  }
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  const UserCode* user = find_user(codes, code);
  if (user == nullptr) return unknown_code(code);
  *error_class = user->error_class;
  return Status::ok();
}

Status add_error_class(int* error_class) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  int number = codes.last_used + 1;
  codes.by_number.emplace(number, UserCode{number});
  *error_class = codes.last_used = number;
  return Status::ok();
}

Status add_error_code(int error_class, int* code) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  UserCode* parent = find_user(codes, error_class);
  bool is_user_class = parent != nullptr && parent->error_class == error_class;
  if (!is_user_class && find_entry(error_class) == nullptr) {
    return error(MPI_ERR_ARG, "%d is not an error class, so it can have no codes", error_class);
  }
  int number = codes.last_used + 1;
  codes.by_number.emplace(number, UserCode{error_class});
  if (is_user_class) ++parent->codes;
  *code = codes.last_used = number;
  return Status::ok();
}

Status add_error_string(int code, const char* text) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  UserCode* user = find_user(codes, code);
  if (user == nullptr) {
    return error(MPI_ERR_ARG, "%d was not added by MPI_Add_error_class or MPI_Add_error_code, so it can have no text",
                 code);
  }
  user->text = std::string(text).substr(0, MPI_MAX_ERROR_STRING - 1);
  return Status::ok();
}

Status remove_error_class(int error_class) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  UserCode* user = find_user(codes, error_class);
  if (user == nullptr || user->error_class != error_class) {
    return error(MPI_ERR_ARG, "%d was not added by MPI_Add_error_class, so it cannot be removed", error_class);
  }
  if (user->codes > 0) {
    return error(MPI_ERR_ARG, "error class %d still has %d error code(s); remove them first", error_class, user->codes);
  }
  if (user->text) return error(MPI_ERR_ARG, "error class %d still has its text; remove that first", error_class);
  codes.by_number.erase(error_class);
  return Status::ok();
}

Status remove_error_code(int code) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  UserCode* user = find_user(codes, code);
  if (user == nullptr || user->error_class == code) {
    return error(MPI_ERR_ARG, "%d was not added by MPI_Add_error_code, so it cannot be removed", code);
  }
  if (user->text) return error(MPI_ERR_ARG, "error code %d still has its text; remove that first", code);
  if (UserCode* parent = find_user(codes, user->error_class)) --parent->codes;
  codes.by_number.erase(code);
  return Status::ok();
}

Status remove_error_string(int code) {
  UserCodes& codes = user_codes();
  std::lock_guard lock(codes.mutex);
  UserCode* user = find_user(codes, code);
  if (user == nullptr || !user->text) {
    return error(MPI_ERR_ARG, "%d has no text from MPI_Add_error_string to remove", code);
  }
  user->text.reset();
  return Status::ok();
}

const int* last_used_code() noexcept { return &user_codes().last_used; }

}  // namespace heddle::mpi
