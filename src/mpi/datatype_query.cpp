// What a program can ask of a datatype: MPI 4.1, 5.1.4, 5.1.8, 5.1.14, 6.8, and addresses (5.1.5).
#include <algorithm>
#include <cstring>
#include <mutex>

#include "mpi/api_datatype.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::Contents;
using mpi::Datatype;

std::mutex& names_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

// Predefined types have no record; they share an empty one, which is never destroyed.
const Contents& contents_of(const Datatype& type) {
  static const auto& named = *new Contents;
  return type.contents ? *type.contents : named;
}

MPI_Count length(const auto& vector) { return static_cast<MPI_Count>(vector.size()); }

Status refuse_large_counts(const Contents& contents) {
  if (contents.counts.empty()) return Status::ok();
  return error(MPI_ERR_TYPE,
               "the datatype was made with MPI_Count arguments, which this form can't return; use the _c form");
}

}  // namespace

Status type_size(Datatype& datatype, MPI_Count* size) {
  *size = datatype.size;
  return Status::ok();
}

Status type_get_extent(Datatype& datatype, MPI_Count* lb, MPI_Count* extent) {
  *lb = datatype.lb;
  *extent = datatype.extent;
  return Status::ok();
}

Status type_get_true_extent(Datatype& datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  *true_lb = datatype.true_lb;
  *true_extent = datatype.true_extent;
  return Status::ok();
}

Status type_get_name(Datatype& datatype, char* name, int* length) {
  std::lock_guard lock(names_mutex());
  const char* from = datatype.name ? datatype.name.get() : datatype.predefined_name;
  const std::size_t n = std::strlen(from);
  std::memcpy(name, from, n + 1);
  *length = static_cast<int>(n);
  return Status::ok();
}

Status type_set_name(Datatype& datatype, const char* name) {
  const std::size_t n = std::min<std::size_t>(std::strlen(name), MPI_MAX_OBJECT_NAME - 1);
  auto copy = std::make_unique<char[]>(n + 1);
  std::memcpy(copy.get(), name, n);
  std::lock_guard lock(names_mutex());
  datatype.name = std::move(copy);
  return Status::ok();
}

Status type_get_envelope(Datatype& datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* types,
                         int* combiner) {
  const Contents& c = contents_of(datatype);
  HEDDLE_TRY(refuse_large_counts(c));
  MPI_Count counts;
  return type_get_envelope(datatype, integers, addresses, &counts, types, combiner);
}

Status type_get_envelope(Datatype& datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
                         MPI_Count* types, int* combiner) {
  const Contents& c = contents_of(datatype);
  *integers = length(c.integers);
  *addresses = length(c.addresses);
  *counts = length(c.counts);
  *types = length(c.types);
  *combiner = c.combiner;
  return Status::ok();
}

Status type_get_contents(Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_types,
                         int* integers, MPI_Aint* addresses, MPI_Datatype* types) {
  HEDDLE_TRY(refuse_large_counts(contents_of(datatype)));
  return type_get_contents(datatype, max_integers, max_addresses, 0, max_types, integers, addresses, nullptr, types);
}

Status type_get_contents(Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_counts,
                         MPI_Count max_types, int* integers, MPI_Aint* addresses, MPI_Count* counts,
                         MPI_Datatype* types) {
  const Contents& c = contents_of(datatype);
  if (c.combiner == MPI_COMBINER_NAMED) {
    return error(MPI_ERR_TYPE, "%s is predefined and has no contents (MPI_COMBINER_NAMED)", datatype.predefined_name);
  }
  if (max_integers < length(c.integers) || max_addresses < length(c.addresses) || max_counts < length(c.counts) ||
      max_types < length(c.types)) {
    return error(MPI_ERR_ARG,
                 "there are %zu integers, %zu addresses, %zu large counts and %zu datatypes, and room for %lld, %lld, "
                 "%lld and %lld; ask MPI_Type_get_envelope first",
                 c.integers.size(), c.addresses.size(), c.counts.size(), c.types.size(),
                 static_cast<long long>(max_integers), static_cast<long long>(max_addresses),
                 static_cast<long long>(max_counts), static_cast<long long>(max_types));
  }
  std::copy(c.integers.begin(), c.integers.end(), integers);
  std::copy(c.addresses.begin(), c.addresses.end(), addresses);
  std::copy(c.counts.begin(), c.counts.end(), counts);
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    Datatype* type = &*c.types[i];
    if (!type->predefined) HEDDLE_TRY(mpi::clone(*c.types[i], &type));
    types[i] = mpi::to_handle(type);
  }
  return Status::ok();
}

Status get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return Status::ok();
}

}  // namespace heddle::api
