#include "mpi/api_info.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

Status hand_out(Info* made, MPI_Info* out) { return mpi::hand_out(made, out, "an info object"); }

Status check(const Info* info) {
  return info != nullptr ? Status::ok()
                         : error(MPI_ERR_INFO, "info is MPI_INFO_NULL; make an object with MPI_Info_create first");
}

Status check_writable(const Info* info) {
  HEDDLE_TRY(check(info));
  return !info->read_only ? Status::ok() : error(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed; change a copy of it");
}

Status check_key(const char* key) {
  const std::size_t length = strnlen(key, MPI_MAX_INFO_KEY);
  if (length == 0) return error(MPI_ERR_INFO_KEY, "the key is empty");
  if (length < MPI_MAX_INFO_KEY) return Status::ok();
  return error(MPI_ERR_INFO_KEY, "the key '%.32s...' is longer than %d characters (MPI_MAX_INFO_KEY - 1)", key,
               MPI_MAX_INFO_KEY - 1);
}

void copy_text(const std::string& text, char* out, std::size_t room) {
  const std::size_t n = std::min(text.size(), room);
  std::memcpy(out, text.data(), n);
  out[n] = '\0';
}

}  // namespace

Status info_create(MPI_Info* info) { return hand_out(mpi::take_info(), info); }

Status info_create_env(int argc, char* argv[], MPI_Info* info) {
  if (argc < 0 || (argc > 0 && argv == nullptr)) {
    return error(MPI_ERR_ARG, "argc is %d and argv is %s; pass main's, or 0 and a null pointer", argc,
                 argv == nullptr ? "null" : "an array");
  }
  return hand_out(mpi::take_info(mpi::environment_pairs(argc, argv)), info);
}

Status info_dup(Info* info, MPI_Info* newinfo) {
  HEDDLE_TRY(check(info));
  return hand_out(mpi::take_info(info->copy()), newinfo);
}

Status info_free(MPI_Info* info) {
  Info* object = mpi::from_handle(*info);
  HEDDLE_TRY(check_writable(object));
  mpi::release(*object);
  *info = MPI_INFO_NULL;
  return Status::ok();
}

Status info_set(Info* info, const char* key, const char* value) {
  HEDDLE_TRY(check_writable(info));
  HEDDLE_TRY(check_key(key));
  if (strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL) {
    return error(MPI_ERR_INFO_VALUE, "the value of '%s' is longer than %d characters (MPI_MAX_INFO_VAL - 1)", key,
                 MPI_MAX_INFO_VAL - 1);
  }
  info->set(key, value);
  return Status::ok();
}

Status info_delete(Info* info, const char* key) {
  HEDDLE_TRY(check_writable(info));
  HEDDLE_TRY(check_key(key));
  return info->erase(key) ? Status::ok() : error(MPI_ERR_INFO_NOKEY, "the info object has no key '%s'", key);
}

Status info_get_string(Info* info, const char* key, int* buflen, char* value, int* flag) {
  HEDDLE_TRY(check(info));
  HEDDLE_TRY(check_key(key));
  if (*buflen < 0) return error(MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
  const std::optional<std::string> found = info->get(key);
  *flag = found.has_value();
  if (!found) return Status::ok();
  if (*buflen > 0) {
    if (value == nullptr) return error(MPI_ERR_ARG, "value is null, but buflen is %d", *buflen);
    copy_text(*found, value, static_cast<std::size_t>(*buflen) - 1);
  }
  *buflen = static_cast<int>(found->size()) + 1;
  return Status::ok();
}

Status info_get_nkeys(Info* info, int* nkeys) {
  HEDDLE_TRY(check(info));
  std::lock_guard lock(info->mutex);
  *nkeys = static_cast<int>(info->pairs.size());
  return Status::ok();
}

Status info_get_nthkey(Info* info, int n, char* key) {
  HEDDLE_TRY(check(info));
  std::lock_guard lock(info->mutex);
  if (n < 0 || static_cast<std::size_t>(n) >= info->pairs.size()) {
    return error(MPI_ERR_ARG, "n is %d, but the info object has %zu keys", n, info->pairs.size());
  }
  copy_text(info->pairs[static_cast<std::size_t>(n)].first, key, MPI_MAX_INFO_KEY - 1);
  return Status::ok();
}

Status info_get(Info* info, const char* key, int valuelen, char* value, int* flag) {
  HEDDLE_TRY(check(info));
  HEDDLE_TRY(check_key(key));
  if (valuelen < 0) return error(MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
  const std::optional<std::string> found = info->get(key);
  *flag = found.has_value();
  if (found) copy_text(*found, value, static_cast<std::size_t>(valuelen));
  return Status::ok();
}

Status info_get_valuelen(Info* info, const char* key, int* valuelen, int* flag) {
  HEDDLE_TRY(check(info));
  HEDDLE_TRY(check_key(key));
  const std::optional<std::string> found = info->get(key);
  *flag = found.has_value();
  if (found) *valuelen = static_cast<int>(found->size());
  return Status::ok();
}

}  // namespace heddle::api
