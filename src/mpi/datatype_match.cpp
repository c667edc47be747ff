// Which predefined type is it? By its class and size (MPI 5.0, 19.1.9), and by a value's and an index's type (6.9.4).
#include "mpi/api_datatype.hpp"
#include "mpi/handle.hpp"

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
  *pair_type = MPI_DATATYPE_NULL;  // which says that there is no such pair
  for (const Pair& p : kPairs) {
    if (p.value == mpi::to_handle(&value_type) && p.index == mpi::to_handle(&index_type)) *pair_type = p.pair;
  }
  return Status::ok();
}

}  // namespace heddle::api
