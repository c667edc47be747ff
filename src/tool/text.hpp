// What a query gives back (MPI 5.0, 15.3.3): texts that may be cut, values that may be declined, names that are searched.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "mpi.h"

namespace heddle::tool {

// `length`: in: bytes of `buffer`; out: bytes that the whole text needs, where it did not fit or none was wanted, and else
// what it took; both with the terminating null. Nothing is returned where `length` is null.
inline void give_text(std::string_view text, char* buffer, int* length) noexcept {
  if (length == nullptr) return;
  const auto needed = static_cast<int>(text.size()) + 1;
  if (buffer != nullptr && *length > 0) {
    const auto bytes = static_cast<std::size_t>(std::min(*length, needed) - 1);
    std::memcpy(buffer, text.data(), bytes);
    buffer[bytes] = '\0';
  }
  *length = needed;
}

template <class T>
void give(T value, T* out) noexcept {
  if (out != nullptr) *out = value;
}

inline Status check_index(const char* parameter, int index, std::size_t count) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return Status::ok();
  if (count == 0) return error(MPI_T_ERR_INVALID_INDEX, "%s is %d, but there is none to be named", parameter, index);
  return error(MPI_T_ERR_INVALID_INDEX, "%s is %d; it lies between 0 and %zu", parameter, index, count - 1);
}

inline Status no_such_name(const char* kind, const char* name) {
  return error(MPI_T_ERR_INVALID_NAME, "there is no %s '%.80s'; MPI_T_*_get_info lists the names", kind, name);
}

// The place of `name` among `rows`, which have a `name`.
template <class Row>
Status find_name(const char* kind, const char* name, std::span<const Row> rows, int* index) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::string_view(name) != rows[i].name) continue;
    *index = static_cast<int>(i);
    return Status::ok();
  }
  return no_such_name(kind, name);
}

}  // namespace heddle::tool
