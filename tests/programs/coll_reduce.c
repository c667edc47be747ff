// The collectives that combine: reduce, allreduce, reduce_scatter(_block), scan, exscan, each against the serial
// result.
//
// Operations: sum of integers, maximum of doubles, and a user's that does not commute (composition of affine maps), so
// that the order of ranks shows.
#include "coll.h"

typedef struct {
  long a, b;  // x -> a x + b, modulo kPrime
} Affine;

enum { kPrime = 10007, kMaxCount = 20000 };

static MPI_Datatype affine_type;
static MPI_Op compose_op;

static Affine compose(Affine first, Affine second) {
  Affine both = {first.a * second.a % kPrime, (first.b * second.a + second.b) % kPrime};
  return both;
}

static void compose_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == affine_type);
  Affine *first = in, *second = inout;
  for (int i = 0; i < *count; i++) second[i] = compose(first[i], second[i]);
}

// One kind of element: how rank r's i-th is made, and how two are combined.
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes;
  void (*make)(void* p, int r, int i);
  void (*combine)(void* left, const void* right);  // left = left op right
} Kind;

static void make_int(void* p, int r, int i) { *(int*)p = r * 31 + i % 1000 - 7; }
static void add_int(void* l, const void* r) { *(int*)l += *(const int*)r; }
static void make_double(void* p, int r, int i) { *(double*)p = ((r * 7919 + i * 104729) % 1009) / 8.0 - 60; }
static void max_double(void* l, const void* r) {
  if (*(const double*)r > *(double*)l) *(double*)l = *(const double*)r;
}
static void make_affine(void* p, int r, int i) { *(Affine*)p = (Affine){r * 3 + i % 50 + 2, r * r + i % 70 + 1}; }
static void compose_affine(void* l, const void* r) { *(Affine*)l = compose(*(Affine*)l, *(const Affine*)r); }

// The serial result for element i over ranks [0, n).
static void expected(const Kind* kind, int n, int i, void* result) {
  char other[sizeof(Affine)];
  kind->make(result, 0, i);
  for (int r = 1; r < n; r++) {
    kind->make(other, r, i);
    kind->combine(result, other);
  }
}

static void check_range(const Kind* kind, const char* got, int n, int first, int count, const char* what) {
  char want[sizeof(Affine)];
  for (int i = 0; i < count; i++) {
    expected(kind, n, first + i, want);
    CHECK(memcmp(got + (size_t)i * kind->bytes, want, kind->bytes) == 0, "%s: element %d of %d+%d, rank %d of %d", what,
          i, first, count, rank, size);
  }
}

static char *mine, *result;

static void fill_in(const Kind* kind, int count) {
  for (int i = 0; i < count; i++) kind->make(mine + (size_t)i * kind->bytes, rank, i);
  memset(result, 0x5A, (size_t)(count + 1) * kind->bytes);
}

// MPI_IN_PLACE: the input lies in the result buffer.
static const void* input(const Kind* kind, int count, int in_place) {
  if (!in_place) return mine;
  memcpy(result, mine, (size_t)count * kind->bytes);
  return MPI_IN_PLACE;
}

static void check_guard(const Kind* kind, int count) {
  for (size_t b = 0; b < kind->bytes; b++) CHECK_EQ(result[(size_t)count * kind->bytes + b], 0x5A);
}

static void one(const Kind* kind, int count, int in_place) {
  const void* in;
  for (int root = 0; root < size; root += 1 + size / 3) {
    fill_in(kind, count);
    in = rank == root ? input(kind, count, in_place) : mine;
    RUN(Reduce, reduce, in, rank == root ? result : NULL, count, kind->type, kind->op, root, comm);
    if (rank == root) check_range(kind, result, size, 0, count, "reduce");
    check_guard(kind, count);
  }
  fill_in(kind, count);
  in = input(kind, count, in_place);
  RUN(Allreduce, allreduce, in, result, count, kind->type, kind->op, comm);
  check_range(kind, result, size, 0, count, "allreduce");
  check_guard(kind, count);

  fill_in(kind, count);
  in = input(kind, count, in_place);
  RUN(Scan, scan, in, result, count, kind->type, kind->op, comm);
  check_range(kind, result, rank + 1, 0, count, "scan");
  check_guard(kind, count);

  fill_in(kind, count);
  in = input(kind, count, in_place);
  RUN(Exscan, exscan, in, result, count, kind->type, kind->op, comm);
  if (rank > 0) check_range(kind, result, rank, 0, count, "exscan");
  check_guard(kind, count);
}

static void scattered(const Kind* kind, int count, int in_place) {
  int counts[64], first = 0, total = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = r % 3 == 1 ? 0 : count / size + r;
    if (r < rank) first += counts[r];
    total += counts[r];
  }
  fill_in(kind, total);
  const void* in = input(kind, total, in_place);
  RUN(Reduce_scatter, reduce_scatter, in, result, counts, kind->type, kind->op, comm);
  check_range(kind, result, size, first, counts[rank], "reduce_scatter");

  int block = count / size;
  fill_in(kind, block * size);
  in = input(kind, block * size, in_place);
  RUN(Reduce_scatter_block, reduce_scatter_block, in, result, block, kind->type, kind->op, comm);
  check_range(kind, result, size, rank * block, block, "reduce_scatter_block");
}

static void checks(void) {
  const Kind kinds[] = {{MPI_INT, MPI_SUM, sizeof(int), make_int, add_int},
                        {MPI_DOUBLE, MPI_MAX, sizeof(double), make_double, max_double},
                        {affine_type, compose_op, sizeof(Affine), make_affine, compose_affine}};
  static const int counts[] = {0, 1, 2, 17, 1000, kMaxCount};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (int in_place = 0; in_place < 2; in_place++) {
        one(&kinds[k], counts[c], in_place);
        scattered(&kinds[k], counts[c], in_place);
      }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  mine = malloc((kMaxCount + 64 * 64) * sizeof(Affine));
  result = malloc((kMaxCount + 64 * 64) * sizeof(Affine));
  MPI_Type_contiguous(2, MPI_LONG, &affine_type);
  MPI_Type_commit(&affine_type);
  MPI_Op_create(compose_all, 0, &compose_op);
  on_each_comm(checks);
  MPI_Op_free(&compose_op);
  MPI_Type_free(&affine_type);
  free(mine);
  free(result);
  return finish();
}
