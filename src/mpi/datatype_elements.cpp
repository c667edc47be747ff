// From the bytes of a message to items and basic elements, and back: MPI 4.1, 3.2.5, 5.1.11, 13.3.
//
// Method:  a message may end inside an item. Then the type's signature is followed downwards, at each level into the
//          one component in which the message ends; nothing is enumerated.
#include "mpi/api_datatype.hpp"
#include "mpi/status.hpp"

namespace heddle::mpi {
namespace {

MPI_Count bytes_of(const Datatype& type) { return type.size; }
MPI_Count elements_of(const Datatype& type) { return type.elements; }

MPI_Count value_bytes(const Datatype& pair) {
  switch (pair.basic) {
    case Basic::kTwoReal:
    case Basic::kTwoDoublePrecision:
    case Basic::kTwoInteger:
      return pair.size / 2;
    default:
      return pair.size - static_cast<MPI_Count>(sizeof(int));
  }
}

// Measures the shortest run of items of `type` that has `amount` of what `from` measures, by `to`. MPI_UNDEFINED when
// that ends inside a basic element. REQUIRES: amount >= 0, of a type that is not empty.
template <class Measure>
MPI_Count convert(const Datatype* type, MPI_Count amount, Measure from, Measure to) {
  MPI_Count result = 0;
  for (;;) {
    const MPI_Count items = amount / from(*type);
    MPI_Count more;
    if (__builtin_mul_overflow(items, to(*type), &more) || __builtin_add_overflow(result, more, &result)) {
      return MPI_UNDEFINED;
    }
    amount %= from(*type);
    if (amount == 0) return result;
    if (type->predefined) {
      const bool by_bytes = from == bytes_of;
      if (!is_pair(type->basic) || (by_bytes && amount != value_bytes(*type))) return MPI_UNDEFINED;
      return result + (by_bytes ? 1 : value_bytes(*type));
    }
    const Contents& c = *type->contents;
    for (std::size_t i = 0; i < c.types.size(); ++i) {
      const MPI_Count here = c.times[i] * from(*c.types[i]);
      if (amount < here) {
        type = &*c.types[i];
        break;
      }
      amount -= here;
      result += c.times[i] * to(*c.types[i]);
    }
  }
}

}  // namespace
}  // namespace heddle::mpi

namespace heddle::api {

Status get_count(const MPI_Status* status, mpi::Datatype& datatype, MPI_Count* count) {
  const MPI_Count bytes = mpi::status_bytes(*status);
  if (datatype.size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % datatype.size == 0 ? bytes / datatype.size : MPI_UNDEFINED;
  }
  return Status::ok();
}

Status get_elements(const MPI_Status* status, mpi::Datatype& datatype, MPI_Count* count) {
  const MPI_Count bytes = mpi::status_bytes(*status);
  if (datatype.size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = mpi::convert(&datatype, bytes, mpi::bytes_of, mpi::elements_of);
  }
  return Status::ok();
}

Status status_set_elements(MPI_Status* status, mpi::Datatype& datatype, MPI_Count count) {
  if (datatype.size == 0) {
    mpi::set_status_bytes(*status, 0);
    return Status::ok();
  }
  const MPI_Count bytes = mpi::convert(&datatype, count, mpi::elements_of, mpi::bytes_of);
  if (bytes < 0) {
    return error(MPI_ERR_COUNT, "%lld elements are more bytes than a status can hold", static_cast<long long>(count));
  }
  mpi::set_status_bytes(*status, bytes);
  return Status::ok();
}

}  // namespace heddle::api
