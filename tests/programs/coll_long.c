// Collectives of data that are too long for the cells of a board, which few ranks send (with a core for each, or more than eight, each
// rank reads them where they lie); also where a rank's data have
// gaps, so that they cannot be, and (by HEDDLE_SINGLE_COPY=test:...) where reading fails in the middle.
#include "coll.h"

typedef struct {
  unsigned a, b;  // x -> a x + b
} Affine;

enum { kMost = 250 * 1000 };

static MPI_Datatype affine_type, gapped_type;  // two ints each; the second with a gap behind them
static MPI_Op compose_op;
static Affine *in, *out;
static Affine* scattered;  // items of gapped_type: 12 bytes apart

static void compose_all(void* first, void* inout, int* count, MPI_Datatype* type) {
  const Affine* f = first;
  Affine* s = inout;
  CHECK(*type == affine_type);
  for (int i = 0; i < *count; i++) s[i] = (Affine){f[i].a * s[i].a, f[i].b * s[i].a + s[i].b};
}

static Affine item(int from, int to, int i) {
  return (Affine){(unsigned)(from * 7919 + to * 104729 + i) | 1, (unsigned)element(from, to, i)};
}
static Affine composed(int i) {
  Affine all = item(0, 0, i);
  for (int r = 1; r < size; r++) {
    const Affine next = item(r, 0, i);
    all = (Affine){all.a * next.a, all.b * next.a + next.b};
  }
  return all;
}
static void check_item(Affine got, Affine want, const char* what, int i) {
  CHECK(got.a == want.a && got.b == want.b, "%s: item %d is %u %u, expected %u %u", what, i, got.a, got.b, want.a,
        want.b);
}

static char* gapped(int i) { return (char*)scattered + (size_t)i * 12; }
static void check_moved(int to_gaps, int i, Affine want, const char* what) {
  Affine got = out[i];
  if (to_gaps) memcpy(&got, gapped(i), sizeof got);
  check_item(got, want, what, i);
}

// `gaps`: the rank whose data have them; -1: nobody's.
static void moves(int count, int root, int gaps) {
  const int mine = rank == gaps;
  void* to = mine ? (void*)scattered : out;
  MPI_Datatype type = mine ? gapped_type : affine_type;
  const int block = count / size;

  for (int i = 0; i < count; i++) out[i] = item(root, 0, i), memcpy(gapped(i), &out[i], sizeof *out);
  if (rank != root) memset(to, 0, (size_t)count * 8);
  RUN(Bcast, bcast, to, count, type, root, comm);
  for (int i = 0; i < count; i++) check_moved(mine, i, item(root, 0, i), "bcast");

  for (int r = 0; r < size; r++)
    for (int i = 0; i < block; i++) in[r * block + i] = item(rank, r, i);
  memset(to, 0, (size_t)count * 8);
  RUN(Scatter, scatter, in, block, affine_type, to, block, type, root, comm);
  for (int i = 0; i < block; i++) check_moved(mine, i, item(root, rank, i), "scatter");
  RUN(Scatter, scatter, in, block, affine_type, rank == root ? MPI_IN_PLACE : to, block, type, root, comm);

  memset(to, 0, (size_t)count * 8);
  RUN(Alltoall, alltoall, in, block, affine_type, to, block, type, comm);
  for (int i = 0; i < block * size; i++) check_moved(mine, i, item(i / block, rank, i % block), "alltoall");
  RUN(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, block, affine_type, comm);
  for (int i = 0; i < block * size; i++) check_item(in[i], item(i / block, rank, i % block), "alltoall in place", i);

  for (int i = 0; i < block; i++) in[i] = item(rank, 0, i);
  memset(to, 0, (size_t)count * 8);
  RUN(Allgather, allgather, in, block, affine_type, to, block, type, comm);
  for (int i = 0; i < block * size; i++) check_moved(mine, i, item(i / block, 0, i % block), "allgather");
  for (int i = 0; i < block; i++) out[rank * block + i] = in[i];
  RUN(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, block, affine_type, comm);
  for (int i = 0; i < block * size; i++) check_item(out[i], item(i / block, 0, i % block), "allgather in place", i);
}

static void fill_in(int count, int in_place) {
  for (int i = 0; i < count; i++) in[i] = item(rank, 0, i);
  memset(out, 0, (size_t)(count + 1) * sizeof *out);
  if (in_place) memcpy(out, in, (size_t)count * sizeof *out);
}
static void check_reduced(int first, int count, const char* what) {
  for (int i = 0; i < count; i++) check_item(out[i], composed(first + i), what, i);
}

static void reduces(int count, int root, int in_place) {
  const int here = in_place && rank == root;
  fill_in(count, here);
  RUN(Reduce, reduce, here ? MPI_IN_PLACE : in, out, count, affine_type, compose_op, root, comm);
  if (rank == root) check_reduced(0, count, "reduce");
  fill_in(count, in_place);
  RUN(Allreduce, allreduce, in_place ? MPI_IN_PLACE : in, out, count, affine_type, compose_op, comm);
  check_reduced(0, count, "allreduce");
  check_item(out[count], (Affine){0, 0}, "behind it", count);
  const int block = count / size;
  fill_in(count, in_place);
  RUN(Reduce_scatter_block, reduce_scatter_block, in_place ? MPI_IN_PLACE : in, out, block, affine_type, compose_op,
      comm);
  check_reduced(rank * block, block, "reduce_scatter_block");

  // A predefined operation, which combines where the own operand lies.
  unsigned *numbers = (unsigned*)in, *sums = (unsigned*)out;
  for (int i = 0; i < 2 * count; i++) numbers[i] = sums[i] = (unsigned)element(rank, 0, i);
  RUN(Allreduce, allreduce, in_place ? MPI_IN_PLACE : numbers, sums, 2 * count, MPI_UNSIGNED, MPI_SUM, comm);
  for (int i = 0; i < 2 * count; i++) {
    unsigned want = 0;
    for (int r = 0; r < size; r++) want += (unsigned)element(r, 0, i);
    CHECK(sums[i] == want, "sum %d is %u, expected %u", i, sums[i], want);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  comm = MPI_COMM_WORLD, rank = world_rank, size = world_size;
  in = malloc((kMost + 1) * sizeof *in), out = malloc((kMost + 1) * sizeof *out), scattered = calloc(kMost + 1, 12);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &affine_type);
  MPI_Type_create_resized(affine_type, 0, 12, &gapped_type);
  MPI_Type_commit(&affine_type);
  MPI_Type_commit(&gapped_type);
  MPI_Op_create(compose_all, 0, &compose_op);
  static const int counts[] = {8200, 60001, kMost};  // of 8 bytes
  for (int c = 0; c < 3 * kForms; c++) {
    const int count = counts[c / kForms], root = c % size;
    form = c % kForms;
    for (int gaps = -1; gaps < 2; gaps++) moves(count, root, gaps);
    for (int in_place = 0; in_place < 2; in_place++) reduces(count, root, in_place);
  }
  MPI_Op_free(&compose_op);
  MPI_Type_free(&affine_type);
  MPI_Type_free(&gapped_type);
  free(in), free(out), free(scattered);
  return finish();
}
