#include "mpi/file.hpp"

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "mpi/errhandler.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

constexpr const char* kOfTheStandard[] = {"native", "internal", "external32"};

struct Datareps {
  std::mutex mutex;
  std::map<std::string, Datarep> by_name;  // guarded by `mutex`
};

Datareps& datareps() {
  static Datareps& all = *new Datareps;
  return all;
}

Status taken(const char* name, const char* how) {
  return error(MPI_ERR_DUP_DATAREP, "there is a data representation '%s' already, %s; choose another name", name, how);
}

}  // namespace

File& no_file() noexcept {
  static File& file = *new File(static_cast<std::int32_t>(handle_value(MPI_FILE_NULL)));
  return file;
}

File* predefined_file(std::uintptr_t value) noexcept {
  return value == handle_value(MPI_FILE_NULL) ? &no_file() : nullptr;
}

Status register_datarep(const char* name, const Datarep& datarep) {
  const std::size_t length = strnlen(name, MPI_MAX_DATAREP_STRING);
  if (length == 0 || length == MPI_MAX_DATAREP_STRING) {
    return error(MPI_ERR_ARG, "datarep is a name of %s characters; it must have between 1 and %d",
                 length == 0 ? "no" : "too many", MPI_MAX_DATAREP_STRING - 1);
  }
  for (const char* own : kOfTheStandard) {
    if (std::strcmp(own, name) == 0) return taken(name, "which the standard defines");
  }
  std::lock_guard lock(datareps().mutex);
  if (!datareps().by_name.emplace(name, datarep).second) return taken(name, "which the program registered");
  return Status::ok();
}

void forget_files() noexcept {
  Errhandler* handler;
  {
    std::lock_guard lock(no_file().mutex);
    handler = std::exchange(no_file().errhandler, nullptr);
  }
  if (handler != nullptr) release(*handler);
  std::lock_guard lock(datareps().mutex);
  datareps().by_name.clear();
}

}  // namespace heddle::mpi
