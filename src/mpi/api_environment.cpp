#include "mpi/api_environment.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/hardware.hpp"

namespace heddle::api {
namespace {

constexpr std::size_t kAlignment = 64;  // of MPI_Alloc_mem: a cache line, and the widest vector register

Status hand_out(Info* made, MPI_Info* out) { return mpi::hand_out(made, out, "an info object"); }

struct NamedType {
  const char* name;
  MPI_Datatype handle;
};

constexpr int kFortranSizes = 4;
const NamedType kFortranDefaults[kFortranSizes] = {
    {"logical", MPI_LOGICAL}, {"integer", MPI_INTEGER}, {"real", MPI_REAL}, {"double_precision", MPI_DOUBLE_PRECISION}};
const NamedType kFortranOptional[] = {
    {"logical1", MPI_LOGICAL1},
    {"logical2", MPI_LOGICAL2},
    {"logical4", MPI_LOGICAL4},
    {"logical8", MPI_LOGICAL8},
    {"logical16", MPI_LOGICAL16},
    {"integer1", MPI_INTEGER1},
    {"integer2", MPI_INTEGER2},
    {"integer4", MPI_INTEGER4},
    {"integer8", MPI_INTEGER8},
    {"integer16", MPI_INTEGER16},
    {"real2", MPI_REAL2},
    {"real4", MPI_REAL4},
    {"real8", MPI_REAL8},
    {"real16", MPI_REAL16},
    {"complex4", MPI_COMPLEX4},
    {"complex8", MPI_COMPLEX8},
    {"complex16", MPI_COMPLEX16},
    {"complex32", MPI_COMPLEX32},
    {"double_complex", MPI_DOUBLE_COMPLEX},
};

// A compiler's kinds as the datatypes have them (MPI 5.0, 21.4.1).
std::vector<Info::Pair> fortran_pairs() {
  std::vector<Info::Pair> pairs;
  for (const NamedType& type : kFortranDefaults) {
    pairs.emplace_back("mpi_" + std::string(type.name) + "_size", std::to_string(mpi::from_handle(type.handle)->size));
  }
  for (const NamedType& type : kFortranOptional) {
    const mpi::Datatype* object = mpi::from_handle(type.handle);
    pairs.emplace_back("mpi_" + std::string(type.name) + "_supported",
                       object != nullptr && object->size > 0 ? "true" : "false");
  }
  return pairs;
}

// .TRUE. is 1 in every kind, little-endian like the machine.
Status check_logical_size(int size) {
  for (int known : {1, 2, 4, 8, 16}) {
    if (size == known) return Status::ok();
  }
  return error(MPI_ERR_ARG, "a Fortran LOGICAL of %d bytes is not supported; it has 1, 2, 4, 8 or 16", size);
}

}  // namespace

Status get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return Status::ok();
}

Status get_library_version(char* version, int* resultlen) {
  *resultlen = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Heddle %s, MPI %d.%d, ABI %d.%d", HEDDLE_VERSION,
                             MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  return Status::ok();
}

Status get_processor_name(char* name, int* resultlen) {
  if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) {
    return error(MPI_ERR_OTHER, "the kernel does not tell the name of this machine: %s", std::strerror(errno));
  }
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *resultlen = static_cast<int>(std::strlen(name));
  return Status::ok();
}

Status get_hw_resource_info(MPI_Info* hw_info) {
  // Each key is a type of resource that MPI_Comm_split_type knows; "true": this process is confined to one of it.
  std::vector<Info::Pair> pairs = {{mpi::kSharedMemory, "true"}};
  for (const mpi::Resource& resource : mpi::resources_of(mpi::own_processors())) {
    pairs.emplace_back(mpi::kHwlocScheme + resource.type, resource.instance == mpi::kNotConfined ? "false" : "true");
  }
  return hand_out(mpi::take_info(std::move(pairs)), hw_info);
}

Status abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return Status::ok();
}

Status abi_get_info(MPI_Info* info) {
  return hand_out(mpi::take_info({{"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
                                  {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
                                  {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))}}),
                  info);
}

Status abi_get_fortran_info(MPI_Info* info) { return hand_out(mpi::take_info(fortran_pairs()), info); }

Status abi_set_fortran_info(Info* info) {
  if (info == nullptr) return error(MPI_ERR_INFO, "info is MPI_INFO_NULL; it must describe the Fortran compiler");
  for (const auto& [key, known] : fortran_pairs()) {
    const std::optional<std::string> wanted = info->get(key);
    if (wanted && *wanted != known) {
      return error(MPI_ERR_ABI, "%s is to be %s, but it is %s in this library and cannot be changed", key.c_str(),
                   wanted->c_str(), known.c_str());
    }
  }
  return Status::ok();
}

Status abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  HEDDLE_TRY(check_logical_size(logical_size));
  std::memset(logical_false, 0, static_cast<std::size_t>(logical_size));
  std::memset(logical_true, 0, static_cast<std::size_t>(logical_size));
  *static_cast<unsigned char*>(logical_true) = 1;
  *is_set = 1;
  return Status::ok();
}

Status abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  unsigned char yes[16], no[16];
  int is_set;
  HEDDLE_TRY(abi_get_fortran_booleans(logical_size, yes, no, &is_set));
  const auto bytes = static_cast<std::size_t>(logical_size);
  if (std::memcmp(yes, logical_true, bytes) == 0 && std::memcmp(no, logical_false, bytes) == 0) return Status::ok();
  return error(MPI_ERR_ABI, "in this library .TRUE. is 1 and .FALSE. is 0, and that cannot be changed");
}

Status alloc_mem(MPI_Aint size, Info* info, void* baseptr) {
  if (size < 0) return error(MPI_ERR_ARG, "size is %lld; it must not be negative", static_cast<long long>(size));
  std::size_t alignment = kAlignment;
  if (info != nullptr) {
    if (const auto wanted = info->get("mpi_minimum_memory_alignment")) {
      std::size_t bytes = 0;
      const auto [end, failed] = std::from_chars(wanted->data(), wanted->data() + wanted->size(), bytes);
      const bool is_power = bytes != 0 && (bytes & (bytes - 1)) == 0;
      if (failed != std::errc() || end != wanted->data() + wanted->size() || !is_power) {
        return error(MPI_ERR_INFO_VALUE, "mpi_minimum_memory_alignment is '%.40s'; it must be a power of two",
                     wanted->c_str());
      }
      alignment = std::max(alignment, bytes);
    }
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max<std::size_t>(static_cast<std::size_t>(size), 1)) != 0) {
    return error(MPI_ERR_NO_MEM, "no memory for %lld bytes", static_cast<long long>(size));
  }
  std::memcpy(baseptr, &memory, sizeof memory);
  return Status::ok();
}

Status free_mem(void* base) {
  std::free(base);
  return Status::ok();
}

double wtick() noexcept {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

}  // namespace heddle::api
