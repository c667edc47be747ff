// Which predefined type is it? By its class and size (MPI 5.0, 19.1.9), and by a value's and an index's type (6.9.4).
//
// A pair without a name is made when it is first asked for: the same object each time, committed, never freed.
#include <map>
#include <mutex>
#include <utility>

#include "mpi/api_datatype.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"
#include "mpi/op_kernels.hpp"

namespace heddle::api {
namespace {

struct Sized {
  int typeclass;
  int size;
  MPI_Datatype type;
};
const Sized kSized[] = {
    {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
    {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
    {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
    {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
    {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
    {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
    {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
    {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},  {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
    {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},  {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
};

struct Pair {
  MPI_Datatype value, index, pair;
};
const Pair kPairs[] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
    {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
    {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
    {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

bool is_value(const mpi::Datatype& type) noexcept {
  return type.predefined && mpi::find_kernel(mpi::OpId::kMin, type.basic) != nullptr;
}
bool is_index(const mpi::Datatype& type) noexcept {
  return type.predefined && type.basic >= mpi::Basic::kInt8 && type.basic <= mpi::Basic::kMultiLanguage;
}

// C's struct { value; index; }.
Status make_pair(mpi::Datatype& value, mpi::Datatype& index, mpi::Datatype** out) {
  mpi::TypeBuilder builder(MPI_COMBINER_VALUE_INDEX, false);
  const MPI_Count offset = mpi::index_offset(value, index);
  builder.place(value, 0, 1, 0, 1);
  builder.place(index, offset, 1, 0, 1);
  builder.record_type(value, 1);
  builder.record_type(index, 1);
  mpi::SequenceBuilder sequence(builder.memory);
  sequence.add(0, value.layout);
  sequence.add(offset, index.layout);
  HEDDLE_TRY(builder.finish(sequence.finish(), out));
  (*out)->basic = mpi::Basic::kValueIndex;
  (*out)->committed = true;
  (*out)->predefined = true;
  return Status::ok();
}

Status find_or_make(mpi::Datatype& value, mpi::Datatype& index, MPI_Datatype* out) {
  static auto& mutex = *new std::mutex;  // neither is ever destroyed: the types are used until the program ends
  static auto& made = *new std::map<std::pair<mpi::Datatype*, mpi::Datatype*>, mpi::Datatype*>;
  std::lock_guard lock(mutex);
  mpi::Datatype*& type = made[{&value, &index}];
  if (type == nullptr) HEDDLE_TRY(make_pair(value, index, &type));
  *out = mpi::to_handle(type);
  return Status::ok();
}

}  // namespace

Status type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  bool known = false;
  for (const Sized& s : kSized) {
    if (s.typeclass != typeclass) continue;
    known = true;
    if (s.size != size) continue;
    *datatype = s.type;
    return Status::ok();
  }
  if (known) return error(MPI_ERR_ARG, "no predefined type of this class has %d bytes", size);
  return error(MPI_ERR_ARG, "typeclass is %d; give MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL or MPI_TYPECLASS_COMPLEX",
               typeclass);
}

Status type_get_value_index(mpi::Datatype& value_type, mpi::Datatype& index_type, MPI_Datatype* pair_type) {
  for (const Pair& p : kPairs) {
    if (p.value != mpi::to_handle(&value_type) || p.index != mpi::to_handle(&index_type)) continue;
    *pair_type = p.pair;
    return Status::ok();
  }
  *pair_type = MPI_DATATYPE_NULL;  // which says that there is no such pair
  return is_value(value_type) && is_index(index_type) ? find_or_make(value_type, index_type, pair_type) : Status::ok();
}

}  // namespace heddle::api
