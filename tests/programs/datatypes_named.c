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

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
  MPI_Datatype pair;
  MPI_Type_get_value_index(value, index, &pair);
  return pair;
}

static void check_pair(MPI_Datatype value, MPI_Datatype index, int size, MPI_Aint extent) {
  MPI_Datatype pair = pair_of(value, index), parts[2], copy;
  int integers, addresses, types, combiner, length;
  MPI_Aint lb, got;
  char name[MPI_MAX_OBJECT_NAME];
  CHECK(pair != MPI_DATATYPE_NULL && pair == pair_of(value, index));
  MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner);
  CHECK(integers == 0 && addresses == 0 && types == 2 && combiner == MPI_COMBINER_VALUE_INDEX);
  MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, parts);
  CHECK(parts[0] == value && parts[1] == index);
  MPI_Type_get_name(pair, name, &length);
  CHECK_EQ(length, 0);
  CHECK_EQ(size_of(pair), size);
  MPI_Type_get_extent(pair, &lb, &got);
  CHECK_EQ(lb, 0);
  CHECK_EQ(got, extent);
  MPI_Type_dup(pair, &copy);
  MPI_Type_free(&copy);
  copy = pair;
  CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
  CHECK(copy == pair);
}

// Pairs that have no name: the members of a C struct, wherever they are.
static void unnamed_pairs(void) {
  struct Wide {
    double value;
    int64_t index;
  } wide[3], widest[3];
  struct Narrow {
    int8_t value;
    uint16_t index;
  } narrow, narrowest;
  struct Padded {
    int64_t value;
    uint8_t index;
  } padded[2], paddedest[2];
  struct Big {
    long double value;
    uint32_t index;
  } big, biggest;
  MPI_Datatype type;
  MPI_Status status;
  int elements;
  const int last = world_size - 1;
  check_pair(MPI_DOUBLE, MPI_INT64_T, 16, 16);
  check_pair(MPI_INT8_T, MPI_UINT16_T, 3, 4);
  check_pair(MPI_INT64_T, MPI_UINT8_T, 9, 16);
  check_pair(MPI_LONG_DOUBLE, MPI_UINT32_T, 20, 32);
  check_pair(MPI_REAL16, MPI_INTEGER16, 32, 32);
  check_pair(MPI_REAL2, MPI_INTEGER1, 3, 4);
  check_pair(MPI_COUNT, MPI_AINT, 16, 16);
  check_pair(MPI_INT, MPI_LONG, 12, 16);
  CHECK(pair_of(MPI_DOUBLE, MPI_LONG) != pair_of(MPI_DOUBLE, MPI_INT64_T));
  CHECK(pair_of(MPI_DOUBLE, MPI_FLOAT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_C_DOUBLE_COMPLEX, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_C_BOOL, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_DOUBLE_INT, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_INT, MPI_BYTE) == MPI_DATATYPE_NULL);
  MPI_Type_dup(MPI_DOUBLE, &type);
  CHECK(pair_of(type, MPI_INT) == MPI_DATATYPE_NULL);
  MPI_Type_free(&type);

  // The last rank has the least; all have the same, so that the index decides; the last has the greatest.
  wide[0] = (struct Wide){-world_rank, 1000 - world_rank};
  wide[1] = (struct Wide){2.5, ((int64_t)1 << 40) - world_rank};
  wide[2] = (struct Wide){world_rank, -world_rank};
  type = pair_of(MPI_DOUBLE, MPI_INT64_T);
  MPI_Allreduce(wide, widest, 3, type, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(widest[0].value == -last && widest[0].index == 1000 - last);
  CHECK(widest[1].value == 2.5 && widest[1].index == ((int64_t)1 << 40) - last);
  CHECK(widest[2].value == 0 && widest[2].index == 0);
  MPI_Allreduce(wide, widest, 3, type, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(widest[0].value == 0 && widest[0].index == 1000);
  CHECK(widest[1].value == 2.5 && widest[1].index == ((int64_t)1 << 40) - last);
  CHECK(widest[2].value == last && widest[2].index == -last);

  narrow = (struct Narrow){(int8_t)(world_rank == last ? -100 : 100), (uint16_t)(40000 + world_rank)};
  MPI_Allreduce(&narrow, &narrowest, 1, pair_of(MPI_INT8_T, MPI_UINT16_T), MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(narrowest.value == -100 && narrowest.index == 40000 + last);
  narrow = (struct Narrow){7, (uint16_t)(world_rank == last ? 3 : 40000)};  // an unsigned index
  MPI_Allreduce(&narrow, &narrowest, 1, pair_of(MPI_INT8_T, MPI_UINT16_T), MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(narrowest.value == 7 && narrowest.index == 3);

  // What is between the members is nobody's.
  memset(padded, 0x11, sizeof padded);
  memset(paddedest, 0x22, sizeof paddedest);
  for (int i = 0; i < 2; i++) padded[i].value = world_rank + i, padded[i].index = (uint8_t)(200 + world_rank);
  MPI_Allreduce(padded, paddedest, 2, pair_of(MPI_INT64_T, MPI_UINT8_T), MPI_MAXLOC, MPI_COMM_WORLD);
  for (int i = 0; i < 2; i++) {
    CHECK(paddedest[i].value == last + i && paddedest[i].index == 200 + last);
    for (size_t b = 9; b < sizeof paddedest[i]; b++) CHECK_EQ(((unsigned char*)&paddedest[i])[b], 0x22);
  }

  paddedest[0].value = paddedest[1].value = -1;
  MPI_Reduce_local(padded, paddedest, 2, pair_of(MPI_INT64_T, MPI_UINT8_T), MPI_MAXLOC);
  CHECK(paddedest[1].value == world_rank + 1 && paddedest[1].index == 200 + world_rank);
  for (size_t b = 9; b < sizeof paddedest[1]; b++) CHECK_EQ(((unsigned char*)&paddedest[1])[b], 0x22);

  big = (struct Big){-1.25L * world_rank, (uint32_t)world_rank};
  MPI_Allreduce(&big, &biggest, 1, pair_of(MPI_LONG_DOUBLE, MPI_UINT32_T), MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(biggest.value == -1.25L * last && biggest.index == (uint32_t)last);
  CHECK_CLASS(MPI_Allreduce(&big, &biggest, 1, pair_of(MPI_LONG_DOUBLE, MPI_UINT32_T), MPI_SUM, MPI_COMM_WORLD),
              MPI_ERR_OP);

  // In a message it is a value and an index: two elements.
  MPI_Sendrecv(padded, 2, pair_of(MPI_INT64_T, MPI_UINT8_T), world_rank, 0, paddedest, 2,
               pair_of(MPI_INT64_T, MPI_UINT8_T), world_rank, 0, MPI_COMM_WORLD, &status);
  CHECK(paddedest[1].value == world_rank + 1 && paddedest[1].index == 200 + world_rank);
  MPI_Get_elements(&status, pair_of(MPI_INT64_T, MPI_UINT8_T), &elements);
  CHECK_EQ(elements, 4);
  MPI_Status_set_elements(&status, pair_of(MPI_INT64_T, MPI_UINT8_T), 3);
  MPI_Get_elements(&status, MPI_BYTE, &elements);
  CHECK_EQ(elements, 9 + 8);
}

static void external(void) {
  struct {
    int16_t value;
    int64_t index;
  } pair = {-2, 0x0102030405060708}, back = {0, 0};
  const unsigned char want[] = {0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8};
  unsigned char packed[16];
  MPI_Aint position = 0;
  MPI_Pack_external("external32", &pair, 1, pair_of(MPI_INT16_T, MPI_INT64_T), packed, sizeof packed, &position);
  CHECK_EQ(position, 10);
  CHECK(memcmp(packed, want, 10) == 0);
  position = 0;
  MPI_Unpack_external("external32", packed, 10, &position, &back, 1, pair_of(MPI_INT16_T, MPI_INT64_T));
  CHECK(back.value == pair.value && back.index == pair.index);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  f90();
  match_size();
  value_index();
  unnamed_pairs();
  external();
  return finish();
}
