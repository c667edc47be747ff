// Datatypes that are looked up, not constructed: Fortran's by precision and range or by size, and pairs.
#include "check.h"

static MPI_Datatype real(int p, int r) {
  MPI_Datatype type;
  MPI_Type_create_f90_real(p, r, &type);
  return type;
}
static MPI_Datatype complex_(int p, int r) {
  MPI_Datatype type;
  MPI_Type_create_f90_complex(p, r, &type);
  return type;
}
static MPI_Datatype integer(int r) {
  MPI_Datatype type;
  MPI_Type_create_f90_integer(r, &type);
  return type;
}

static int size_of(MPI_Datatype type) {
  int size;
  MPI_Type_size(type, &size);
  return size;
}

static void check_record(MPI_Datatype type, int want_combiner, int n, int first, int second) {
  int integers, addresses, types, combiner, got[2] = {-1, -1}, length;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Datatype copy, inner;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  CHECK(integers == n && addresses == 0 && types == 0 && combiner == want_combiner);
  MPI_Type_get_contents(type, 2, 0, 0, got, NULL, NULL);
  CHECK_EQ(got[0], first);
  CHECK_EQ(got[1], second);
  MPI_Type_get_name(type, name, &length);
  CHECK_EQ(length, 0);
  MPI_Type_dup(type, &copy);
  MPI_Type_get_envelope(copy, &integers, &addresses, &types, &combiner);
  CHECK(integers == 0 && types == 1 && combiner == MPI_COMBINER_DUP);
  MPI_Type_get_contents(copy, 0, 0, 1, NULL, NULL, &inner);
  CHECK(inner == type);
  CHECK_EQ(size_of(copy), size_of(type));
  MPI_Type_free(&copy);
  CHECK_CLASS(MPI_Type_free(&inner), MPI_ERR_TYPE);
  CHECK(inner == type);
}

static void f90(void) {
  const int none = MPI_UNDEFINED;
  double values[2], total[2];
  MPI_Datatype row, type;
  MPI_Request request;
  int32_t number = 5 + world_rank, sum;
  CHECK_EQ(size_of(real(6, 37)), 4);
  CHECK_EQ(size_of(real(7, 37)), 8);
  CHECK_EQ(size_of(real(6, 38)), 8);
  CHECK_EQ(size_of(real(15, none)), 8);
  CHECK_EQ(size_of(real(none, 307)), 8);
  CHECK_EQ(size_of(real(none, 308)), 16);
  CHECK_EQ(size_of(real(33, 4931)), 16);
  CHECK_EQ(size_of(complex_(6, 37)), 8);
  CHECK_EQ(size_of(complex_(15, 307)), 16);
  CHECK_EQ(size_of(complex_(33, none)), 32);
  CHECK_EQ(size_of(integer(0)), 1);
  CHECK_EQ(size_of(integer(2)), 1);
  CHECK_EQ(size_of(integer(3)), 2);
  CHECK_EQ(size_of(integer(9)), 4);
  CHECK_EQ(size_of(integer(10)), 8);
  CHECK_EQ(size_of(integer(18)), 8);
  CHECK_EQ(size_of(integer(38)), 16);
  CHECK(real(15, 307) == real(15, 307));
  CHECK(real(15, 307) != real(15, 306));
  CHECK(real(15, none) != real(15, 307));
  CHECK(complex_(15, 307) == complex_(15, 307));
  CHECK(complex_(15, 307) != real(15, 307));
  CHECK(integer(9) == integer(9) && integer(9) != integer(8));
  check_record(real(15, none), MPI_COMBINER_F90_REAL, 2, 15, none);
  check_record(complex_(5, 20), MPI_COMBINER_F90_COMPLEX, 2, 5, 20);
  check_record(integer(12), MPI_COMBINER_F90_INTEGER, 1, 12, -1);

  // They move data and are reduced like predefined ones, and are components of others.
  values[0] = world_rank + 0.5, values[1] = -world_rank;
  MPI_Allreduce(values, total, 2, real(15, 300), MPI_SUM, MPI_COMM_WORLD);
  CHECK(total[0] == world_size * (world_size - 1) / 2 + 0.5 * world_size, "%g", total[0]);
  CHECK(total[1] == -world_size * (world_size - 1) / 2, "%g", total[1]);
  MPI_Allreduce(&number, &sum, 1, integer(9), MPI_MAX, MPI_COMM_WORLD);
  CHECK_EQ(sum, 4 + world_size);
  MPI_Type_contiguous(2, real(15, 300), &row);
  MPI_Type_commit(&row);
  MPI_Irecv(total, 2, MPI_DOUBLE, world_rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(values, 1, row, world_rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(total[0] == values[0] && total[1] == values[1]);
  MPI_Type_free(&row);

  CHECK_CLASS(MPI_Allreduce(values, total, 2, real(15, 300), MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Type_create_f90_real(34, none, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_real(6, 4932, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_real(none, none, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_real(-1, 10, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_complex(6, -1, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_complex(34, none, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_integer(-1, &type), MPI_ERR_ARG);
}

static void match_size(void) {
  const struct {
    int typeclass, size;
    MPI_Datatype want;
  } rows[] = {{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
              {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
              {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
              {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
              {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
  MPI_Datatype type;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    MPI_Type_match_size(rows[i].typeclass, rows[i].size, &type);
    CHECK(type == rows[i].want, "row %zu", i);
    CHECK_EQ(size_of(type), rows[i].size);
  }
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 0, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_match_size(12345, 4, &type), MPI_ERR_ARG);
}

static void value_index(void) {
  const struct {
    MPI_Datatype value, index, want;
  } rows[] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}, {MPI_DOUBLE, MPI_CHAR, MPI_DATATYPE_NULL},
      {MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL}};
  struct {
    double value;
    int index;
  } mine = {world_rank == world_size - 1 ? -4 : world_rank, 10 + world_rank}, least;
  MPI_Datatype pair;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    pair = MPI_BYTE;
    MPI_Type_get_value_index(rows[i].value, rows[i].index, &pair);
    CHECK(pair == rows[i].want, "row %zu", i);
  }
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  MPI_Allreduce(&mine, &least, 1, pair, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least.value == -4 && least.index == 9 + world_size, "%g at %d", least.value, least.index);
  CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  f90();
  match_size();
  value_index();
  return finish();
}
