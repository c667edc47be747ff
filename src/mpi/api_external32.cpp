#include "mpi/api_external32.hpp"

#include <cstring>

#include "mpi/external32.hpp"

namespace heddle::api {
namespace {

Status check(const char* datarep) {
  if (std::strcmp(datarep, "external32") == 0) return Status::ok();
  return error(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is '%.60s'; packing knows only 'external32'", datarep);
}

// The room that the items need from *position on.
Status check_room(const mpi::Datatype& type, MPI_Count count, MPI_Count size, MPI_Count position, MPI_Count* bytes) {
  *bytes = mpi::external32_size(type, count);
  if (position < 0 || position > size) {
    return error(MPI_ERR_ARG, "position is %lld; the packed buffer has %lld bytes", static_cast<long long>(position),
                 static_cast<long long>(size));
  }
  if (*bytes <= size - position) return Status::ok();
  return error(MPI_ERR_TRUNCATE, "the items need %lld bytes at position %lld, and the packed buffer has %lld in all",
               static_cast<long long>(*bytes), static_cast<long long>(position), static_cast<long long>(size));
}

}  // namespace

Status pack_external(const char* datarep, const void* inbuf, MPI_Count incount, mpi::Datatype& datatype, void* outbuf,
                     MPI_Count outsize, MPI_Count* position) {
  HEDDLE_TRY(check(datarep));
  MPI_Count bytes = 0;
  HEDDLE_TRY(check_room(datatype, incount, outsize, *position, &bytes));
  mpi::pack_external32(datatype, incount, inbuf, static_cast<std::byte*>(outbuf) + *position);
  *position += bytes;
  return Status::ok();
}

Status unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                       MPI_Count outcount, mpi::Datatype& datatype) {
  HEDDLE_TRY(check(datarep));
  MPI_Count bytes = 0;
  HEDDLE_TRY(check_room(datatype, outcount, insize, *position, &bytes));
  mpi::unpack_external32(datatype, outcount, outbuf, static_cast<const std::byte*>(inbuf) + *position);
  *position += bytes;
  return Status::ok();
}

Status pack_external_size(const char* datarep, MPI_Count incount, mpi::Datatype& datatype, MPI_Count* size) {
  HEDDLE_TRY(check(datarep));
  *size = mpi::external32_size(datatype, incount);
  return Status::ok();
}

}  // namespace heddle::api
