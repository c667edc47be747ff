#include "mpi/thread_level.hpp"

#include "mpi.h"

namespace heddle::mpi {
namespace {

struct Level {
  const char* name;
  int value;
};
constexpr Level kLevels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                             {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                             {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                             {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

}  // namespace

const char* thread_level_name(int level) noexcept {
  for (const Level& l : kLevels) {
    if (l.value == level) return l.name;
  }
  return "";
}

int thread_level_of(std::string_view name) noexcept {
  for (const Level& l : kLevels) {
    if (l.name == name) return l.value;
  }
  return -1;
}

}  // namespace heddle::mpi
