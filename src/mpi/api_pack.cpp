// MPI_Pack and MPI_Unpack: MPI 4.1, 5.2. The packed form is the stream of a message, without anything around it, so
// what was packed piece by piece can be received with the type that describes it all.
#include "mpi/api_datatype.hpp"
#include "mpi/pack.hpp"

namespace heddle::api {
namespace {

// The bytes of `count` items, which have to lie in [*position, size).
Status room(const char* what, MPI_Count count, const mpi::Datatype& type, MPI_Count position, MPI_Count size,
            std::size_t* bytes) {
  if (position < 0 || position > size) {
    return error(MPI_ERR_ARG, "position is %lld; the packed buffer has %lld bytes", static_cast<long long>(position),
                 static_cast<long long>(size));
  }
  const MPI_Count total = total_bytes(type, count);
  if (total > size - position) {
    return error(MPI_ERR_TRUNCATE, "%s %lld bytes at position %lld of a packed buffer of %lld bytes", what,
                 static_cast<long long>(total), static_cast<long long>(position), static_cast<long long>(size));
  }
  *bytes = static_cast<std::size_t>(total);
  return Status::ok();
}

}  // namespace

Status pack(const void* inbuf, MPI_Count incount, mpi::Datatype& datatype, void* outbuf, MPI_Count outsize,
            MPI_Count* position, mpi::Comm&) {
  std::size_t bytes = 0;
  HEDDLE_TRY(room("there is no room for", incount, datatype, *position, outsize, &bytes));
  mpi::PackCursor cursor;
  cursor.init(datatype, incount, inbuf);
  if (bytes != 0) cursor.pack(static_cast<std::byte*>(outbuf) + *position, bytes);
  *position += static_cast<MPI_Count>(bytes);
  return Status::ok();
}

Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
              mpi::Datatype& datatype, mpi::Comm&) {
  std::size_t bytes = 0;
  HEDDLE_TRY(room("there are no", outcount, datatype, *position, insize, &bytes));
  mpi::PackCursor cursor;
  cursor.init(datatype, outcount, outbuf);
  if (bytes != 0) cursor.unpack(static_cast<const std::byte*>(inbuf) + *position, bytes);
  *position += static_cast<MPI_Count>(bytes);
  return Status::ok();
}

Status pack_size(MPI_Count incount, mpi::Datatype& datatype, mpi::Comm&, MPI_Count* size) {
  if (__builtin_mul_overflow(incount, datatype.size, size)) {
    return error(MPI_ERR_COUNT, "%lld items of %lld bytes do not fit into 63 bits", static_cast<long long>(incount),
                 static_cast<long long>(datatype.size));
  }
  return Status::ok();
}

}  // namespace heddle::api
