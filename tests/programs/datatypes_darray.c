// MPI_Type_create_darray against the definition: who owns an element is computed one element at a time. Every kind of
// distribution, both orders, uneven sizes, elements with gaps.
#include "check.h"

enum { kDims = 4, kMost = 4000 };

typedef struct {
  int ndims, order, size;
  int gsizes[kDims], distribs[kDims], dargs[kDims], psizes[kDims];
  int total;  // elements of the array
} Array;

static unsigned seed = 1;
static int pick(int low, int high) {  // both included
  seed = seed * 1103515245u + 12345u;
  return low + (int)((seed >> 16) % (unsigned)(high - low + 1));
}

static int block(const Array* a, int d) {
  if (a->distribs[d] == MPI_DISTRIBUTE_NONE) return a->gsizes[d];
  if (a->dargs[d] != MPI_DISTRIBUTE_DFLT_DARG) return a->dargs[d];
  return a->distribs[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (a->gsizes[d] + a->psizes[d] - 1) / a->psizes[d];
}

// The rank that has element `i`, counted as the array lies in memory.
static int owner(const Array* a, int i) {
  int coordinate[kDims] = {0}, rank = 0;
  for (int n = 0; n < a->ndims; n++) {
    const int d = a->order == MPI_ORDER_C ? a->ndims - 1 - n : n;
    coordinate[d] = i % a->gsizes[d] / block(a, d) % a->psizes[d];
    i /= a->gsizes[d];
  }
  for (int d = 0; d < a->ndims; d++) rank = rank * a->psizes[d] + coordinate[d];
  return rank;
}

static Array random_array(int processes) {
  Array a;
  a.ndims = pick(1, kDims);
  a.order = pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  a.size = processes;
  a.total = 1;
  for (int d = 0; d < a.ndims; d++) {
    const int kind = pick(0, 4);
    int p = 1;
    if (d == a.ndims - 1) {
      p = processes;
    } else {
      do p = pick(1, processes);
      while (processes % p != 0);
    }
    processes /= p;
    a.psizes[d] = p;
    a.gsizes[d] = pick(1, a.ndims == 1 ? 60 : 7);
    a.total *= a.gsizes[d];
    a.dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
    a.distribs[d] = kind < 2 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    if (p == 1 && kind == 4) a.distribs[d] = MPI_DISTRIBUTE_NONE;
    if (kind == 1) a.dargs[d] = (a.gsizes[d] + p - 1) / p + pick(0, 2);
    if (kind == 2) a.dargs[d] = pick(1, 4);
    if (a.distribs[d] == MPI_DISTRIBUTE_NONE) a.dargs[d] = pick(-2, 2) * 7;  // ignored
  }
  return a;
}

static MPI_Datatype make(const Array* a, int rank, MPI_Datatype element, int wide) {
  MPI_Datatype type;
  MPI_Count gsizes[kDims];
  for (int d = 0; d < a->ndims; d++) gsizes[d] = a->gsizes[d];
  if (wide) {
    MPI_Type_create_darray_c(a->size, rank, a->ndims, gsizes, a->distribs, a->dargs, a->psizes, a->order, element,
                             &type);
  } else {
    MPI_Type_create_darray(a->size, rank, a->ndims, a->gsizes, a->distribs, a->dargs, a->psizes, a->order, element,
                           &type);
  }
  MPI_Type_commit(&type);
  return type;
}

// Elements of `ints` ints, of which the first is not there: what is packed is that of the elements owned, in order.
static void check_map(const Array* a, int rank, int gaps) {
  static int data[3 * kMost], packed[3 * kMost];
  const int ints = gaps ? 3 : 1;
  int want = 0, bytes, size, position = 0;
  MPI_Aint lb, extent;
  MPI_Datatype element = MPI_INT, type;
  if (gaps) {
    const int lengths[] = {1, 1}, places[] = {2, 1};
    MPI_Datatype pair;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &element);
    MPI_Type_free(&pair);
  }
  type = make(a, rank, element, gaps);
  if (gaps) MPI_Type_free(&element);
  for (int i = 0; i < ints * a->total; i++) data[i] = i;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lb, &extent);
  CHECK_EQ(lb, 0);
  CHECK_EQ(extent, (MPI_Aint)sizeof(int) * ints * a->total);
  MPI_Pack_size(1, type, MPI_COMM_WORLD, &size);
  CHECK(size <= (int)sizeof packed);
  MPI_Pack(data, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
  for (int i = 0; i < a->total; i++) {
    if (owner(a, i) != rank) continue;
    CHECK_EQ(packed[want], gaps ? 3 * i + 2 : i);
    want++;
    if (!gaps) continue;
    CHECK_EQ(packed[want], 3 * i + 1);
    want++;
  }
  CHECK_EQ(bytes, want * (int)sizeof(int));
  CHECK_EQ(position, bytes);

  memset(data, 0xff, sizeof data);
  position = 0;
  MPI_Unpack(packed, bytes, &position, data, 1, type, MPI_COMM_WORLD);
  for (int i = 0; i < ints * a->total; i++) {
    CHECK_EQ(data[i], owner(a, i / ints) == rank && (!gaps || i % 3 != 0) ? i : -1);
  }
  MPI_Type_free(&type);
}

// The processes hold an array together: each sends its part, and rank 0 puts them into place.
static void gather(const Array* a) {
  static int mine[kMost], whole[kMost];
  MPI_Request request;
  MPI_Datatype type = make(a, world_rank, MPI_INT, 0);
  for (int i = 0; i < a->total; i++) mine[i] = owner(a, i) == world_rank ? 1000 * world_rank + i : -1, whole[i] = -2;
  MPI_Isend(mine, 1, type, 0, 1, MPI_COMM_WORLD, &request);
  for (int r = 0; r < world_size && world_rank == 0; r++) {
    MPI_Datatype theirs = make(a, r, MPI_INT, 1);
    MPI_Recv(whole, 1, theirs, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&theirs);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < a->total && world_rank == 0; i++) CHECK_EQ(whole[i], 1000 * owner(a, i) + i);
  MPI_Type_free(&type);
}

static void contents(void) {
  const int gsizes[] = {5, 7}, distribs[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int dargs[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, psizes[] = {2, 3};
  const MPI_Count large[] = {5, (MPI_Count)7 << 32};
  const int want[] = {6, 4, 2, 5, 7, distribs[0], distribs[1], 2, dargs[1], 2, 3, MPI_ORDER_FORTRAN};
  const int want_large[] = {6, 4, 2, distribs[0], distribs[1], 2, dargs[1], 2, 3, MPI_ORDER_FORTRAN};
  int integers, addresses, types, combiner, got[12];
  MPI_Count n_integers, n_addresses, n_counts, n_types, counts[2], lb, extent, size;
  MPI_Aint none;
  MPI_Datatype type, copy, inner;
  MPI_Type_create_darray(6, 4, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  CHECK(integers == 12 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_DARRAY);
  MPI_Type_get_contents(type, 12, 0, 1, got, &none, &inner);
  CHECK(inner == MPI_SHORT);
  for (int i = 0; i < 12; i++) CHECK_EQ(got[i], want[i]);

  MPI_Type_dup(type, &copy);
  MPI_Type_free(&type);
  MPI_Type_get_envelope(copy, &integers, &addresses, &types, &combiner);
  CHECK(integers == 0 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_DUP);
  MPI_Type_get_contents(copy, 0, 0, 1, NULL, NULL, &inner);
  MPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
  CHECK_EQ(combiner, MPI_COMBINER_DARRAY);
  MPI_Type_free(&inner);
  MPI_Type_free(&copy);

  MPI_Type_create_darray_c(6, 4, 2, large, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
  MPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
  CHECK(n_integers == 10 && n_addresses == 0 && n_counts == 2 && n_types == 1 && combiner == MPI_COMBINER_DARRAY);
  MPI_Type_get_contents_c(type, 10, 0, 2, 1, got, &none, counts, &inner);
  CHECK(inner == MPI_SHORT);
  for (int i = 0; i < 10; i++) CHECK_EQ(got[i], want_large[i]);
  CHECK(counts[0] == large[0] && counts[1] == large[1]);
  MPI_Type_get_extent_c(type, &lb, &extent);
  CHECK(lb == 0 && extent == (MPI_Count)sizeof(short) * 5 * large[1]);
  // Rank 4 is at (1, 1): elements 2 and 3 of the first dimension, the middle one of three blocks of the second.
  MPI_Type_size_c(type, &size);
  CHECK_EQ(size, (MPI_Count)sizeof(short) * 2 * ((large[1] + 2) / 3));
  MPI_Type_free(&type);
}

static int attempt(int size, int rank, int ndims, int gsize, int distrib, int darg, int psize, int order) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int code = MPI_Type_create_darray(size, rank, ndims, &gsize, &distrib, &darg, &psize, order, MPI_INT, &type);
  if (code == MPI_SUCCESS) MPI_Type_free(&type);
  return code;
}

static void errors(void) {
  const int b = MPI_DISTRIBUTE_BLOCK, c = MPI_DISTRIBUTE_CYCLIC, none = MPI_DISTRIBUTE_NONE, o = MPI_ORDER_C;
  const int dflt = MPI_DISTRIBUTE_DFLT_DARG;
  const MPI_Count huge[] = {(MPI_Count)1 << 40, (MPI_Count)1 << 40};
  const int blocks[] = {b, b}, dflts[] = {dflt, dflt}, one[] = {1, 1};
  MPI_Datatype type;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 3, 4, o), MPI_SUCCESS);
  CHECK_CLASS(attempt(4, 4, 1, 10, b, 3, 4, o), MPI_ERR_ARG);  // no such rank
  CHECK_CLASS(attempt(4, -1, 1, 10, b, 3, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(0, 0, 1, 10, b, 3, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 0, 10, b, 3, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 0, b, 3, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 2, 4, o), MPI_ERR_ARG);  // the blocks do not hold it
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 0, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, c, -1, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, none, dflt, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, 99, dflt, 4, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 3, 3, o), MPI_ERR_ARG);  // 3 is not 4
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 3, 0, o), MPI_ERR_ARG);
  CHECK_CLASS(attempt(4, 3, 1, 10, b, 3, 4, 77), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_darray_c(1, 0, 2, huge, blocks, dflts, one, o, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_darray_c(1, 0, 2, huge, blocks, dflts, one, o, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  seed += (unsigned)world_rank;
  for (int i = 0; i < 1500; i++) {
    const Array a = random_array(pick(1, 12));
    check_map(&a, pick(0, a.size - 1), i % 2);
  }
  seed = 7;  // the same arrays for all
  for (int i = 0; i < 100; i++) {
    const Array a = random_array(world_size);
    gather(&a);
  }
  contents();
  errors();
  return finish();
}
