// The types of Fortran's numbers by their precision and range (MPI 5.0, 19.1.9): the same object each time that the same
// arguments are given, committed, never freed, and without a name.
//
// Method:  a copy of the predefined type of the kind that gfortran's selected_real_kind and selected_int_kind choose, with
//          a record of the arguments.
// Threads: any; one mutex.
#include <array>
#include <cfloat>
#include <map>
#include <mutex>

#include "mpi/api_datatype.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::Datatype;

struct Kind {
  int digits;
  int range;  // powers of ten, in both directions
  MPI_Datatype real;
  MPI_Datatype complex;
};
// From the shortest on. binary128 is not in <cfloat>. The long double of some machines is one of its neighbours.
const Kind kKinds[] = {
    {FLT_DIG, std::min(FLT_MAX_10_EXP, -FLT_MIN_10_EXP), MPI_REAL4, MPI_COMPLEX8},
    {DBL_DIG, std::min(DBL_MAX_10_EXP, -DBL_MIN_10_EXP), MPI_REAL8, MPI_COMPLEX16},
    {LDBL_DIG, std::min(LDBL_MAX_10_EXP, -LDBL_MIN_10_EXP), MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

struct IntegerKind {
  int range;
  MPI_Datatype type;
};
const IntegerKind kIntegerKinds[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16}};

// The type made for these arguments; `like` is what it is a copy of.
Status find_or_make(int combiner, std::initializer_list<int> arguments, MPI_Datatype like, MPI_Datatype* newtype) {
  static auto& mutex = *new std::mutex;  // neither is ever destroyed: the types are used until the program ends
  static auto& made = *new std::map<std::vector<int>, Datatype*>;
  std::vector<int> key(arguments);
  key.push_back(combiner);
  std::lock_guard lock(mutex);
  Datatype*& type = made[std::move(key)];
  if (type == nullptr) {
    mpi::TypeBuilder builder(combiner, false);
    for (int argument : arguments) builder.record_int(argument);
    auto contents = builder.contents();
    HEDDLE_TRY(mpi::clone(*mpi::from_handle(like), &type));
    type->contents = std::move(contents);
    type->predefined = true;
  }
  *newtype = mpi::to_handle(type);
  return Status::ok();
}

// MPI_UNDEFINED stands for an argument that is left out.
bool is_left_out(int argument) noexcept { return argument == MPI_UNDEFINED; }
bool is_legal(int argument) noexcept { return argument >= 0 || is_left_out(argument); }

Status create(int combiner, int p, int r, MPI_Datatype Kind::*member, MPI_Datatype* newtype) {
  if (!is_legal(p) || !is_legal(r) || (is_left_out(p) && is_left_out(r))) {
    return error(MPI_ERR_ARG,
                 "p = %d digits and r = %d powers of ten: give one of them, the other may be MPI_UNDEFINED", p, r);
  }
  for (const Kind& kind : kKinds) {
    if (p > kind.digits || r > kind.range) continue;  // MPI_UNDEFINED is less than any
    return find_or_make(combiner, {p, r}, kind.*member, newtype);
  }
  return error(MPI_ERR_ARG, "no real of Fortran has %d digits and a range of %d powers of ten", p, r);
}

}  // namespace

Status type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return create(MPI_COMBINER_F90_REAL, p, r, &Kind::real, newtype);
}

Status type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return create(MPI_COMBINER_F90_COMPLEX, p, r, &Kind::complex, newtype);
}

Status type_create_f90_integer(int r, MPI_Datatype* newtype) {
  if (r < 0) return error(MPI_ERR_ARG, "r is %d; a range is a number of powers of ten", r);
  for (const IntegerKind& kind : kIntegerKinds) {
    if (r <= kind.range) return find_or_make(MPI_COMBINER_F90_INTEGER, {r}, kind.type, newtype);
  }
  return error(MPI_ERR_ARG, "no integer of Fortran has a range of %d powers of ten", r);
}

}  // namespace heddle::api
