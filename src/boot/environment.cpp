#include "boot/environment.hpp"

#include <charconv>
#include <cstdlib>

#include "mpi.h"

namespace heddle::boot {

bool parse_int(std::string_view text, int low, int high, int& value) noexcept {
  int parsed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (failure != std::errc() || end != text.data() + text.size() || parsed < low || parsed > high) return false;
  value = parsed;
  return true;
}

int environment_int(const char* name, int low, int high, int otherwise) noexcept {
  const char* text = std::getenv(name);
  int value = 0;
  return text != nullptr && parse_int(text, low, high, value) ? value : otherwise;
}

Status require_environment_int(const char* name, int low, int high, int& value) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return error(
        MPI_ERR_OTHER,
        "PMI_FD is set but %s is not: the launcher's environment is incomplete. Start with mpiexec, or unset PMI_FD",
        name);
  }
  if (parse_int(text, low, high, value)) return Status::ok();
  return error(MPI_ERR_OTHER,
               "%s is '%.60s', not a number between %d and %d: the environment was left by something else. "
               "Start with mpiexec, or unset PMI_FD, PMI_RANK and PMI_SIZE",
               name, text, low, high);
}

Status read_detection_time(int& seconds) {
  const char* value = std::getenv("HEDDLE_DETECTION_TIME");
  if (value == nullptr || parse_int(value, 1, 86'400, seconds)) return Status::ok();
  return error(MPI_ERR_ARG, "HEDDLE_DETECTION_TIME is '%.40s', not a number of seconds from 1 to 86400", value);
}

}  // namespace heddle::boot
