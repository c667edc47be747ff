// In which order reductions combine, seen as expressions: the operation is not known to be anything. It makes of two values a name
// for "the first with the second", so a result tells the tree by which it was made, whatever way it went: through cells or from
// memory, in pieces or in parts, by messages.
//   coll_trees         all ranks have the same tree, of each rank's operand once, in the order of ranks
//   coll_trees fold    and it is the one that a board's rounds are proved with, from the highest rank downwards: of whatever is short,
//                      and of reduces and allreduces, but for long nonblocking ones, which may go by messages
//   coll_trees fold shares    of long reduce_scatter_blocks, too (with a core for each rank, which reads the operands where they lie)
#include "coll.h"

typedef struct {
  uint64_t tree;           // the name
  uint64_t leaves, power;  // which operands, in which order; of an operation that commutes, which
} Term;

enum { kMost = 200 * 1000 };

static MPI_Datatype term_type;
static MPI_Op with_op[2];  // is not commutative, is
static Term *in, *out;
static int has_to_fold, shares_have_to;

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

static Term leaf(int of, int i) {
  const uint64_t name = mix((uint64_t)of << 32 | (uint64_t)i);
  return (Term){name, mix(name), 0xd6e8feb86659fd93u};
}
static Term with(Term a, Term b, int commutes) {
  const uint64_t leaves = commutes ? a.leaves + b.leaves : a.leaves * b.power + b.leaves;
  return (Term){mix(3 * mix(a.tree) + b.tree), leaves, a.power * b.power};
}
// The operands of ranks 0 to `last`.
static Term folded(int last, int i, int commutes) {
  Term all = leaf(last, i);
  for (int r = last - 1; r >= 0; r--) all = with(leaf(r, i), all, commutes);
  return all;
}

static void combine(void* first, void* inout, int* count, int commutes) {
  const Term* a = first;
  Term* b = inout;
  for (int i = 0; i < *count; i++) b[i] = with(a[i], b[i], commutes);
}
static void combine_in_order(void* first, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == term_type);
  combine(first, inout, count, 0);
}
static void combine_in_any(void* first, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == term_type);
  combine(first, inout, count, 1);
}

// Items of the result, from item `first` of the operands on, of ranks 0 to `last`.
static void check_result(const char* what, int first, int count, int last, int commutes, int folds) {
  for (int i = 0; i < count; i++) {
    const Term want = folded(last, first + i, commutes);
    CHECK(out[i].leaves == want.leaves && out[i].power == want.power, "%s of %d: item %d is not of ranks 0 to %d", what,
          count, i, last);
    CHECK(!folds || out[i].tree == want.tree, "%s of %d: item %d is combined by another tree", what, count, i);
  }
  CHECK(memcmp(&out[count], &(Term){0}, sizeof *out) == 0, "%s of %d: written behind it", what, count);
}

// All ranks have one tree for each item.
static void check_same(const char* what, int count) {
  uint64_t own[2] = {0}, most[2];
  for (int i = 0; i < count; i++) own[0] = mix(own[0] + out[i].tree);
  own[1] = ~own[0];
  MPI_Allreduce(own, most, 2, MPI_UINT64_T, MPI_MAX, comm);
  CHECK(most[0] == ~most[1], "%s of %d: the ranks' trees differ", what, count);
}

static const void* bring(int count, int result, int in_place) {
  for (int i = 0; i < count; i++) in[i] = leaf(rank, i);
  memset(out, 0, (size_t)(result + 1) * sizeof *out);
  if (in_place) memcpy(out, in, (size_t)count * sizeof *out);
  return in_place ? MPI_IN_PLACE : in;
}

static void reductions(int count, int root, int in_place, int commutes) {
  const MPI_Op op = with_op[commutes];
  const int block = count / size, is_short = count < 300;
  const int folds = has_to_fold && (form != kNonblocking || is_short);
  const void* from = bring(count, count, in_place);
  RUN(Allreduce, allreduce, from, out, count, term_type, op, comm);
  check_result("allreduce", 0, count, size - 1, commutes, folds);
  check_same("allreduce", count);

  from = bring(count, count, in_place && rank == root);
  RUN(Reduce, reduce, from, out, count, term_type, op, root, comm);
  if (rank == root) check_result("reduce", 0, count, size - 1, commutes, folds);

  from = bring(count, block, 0);
  RUN(Reduce_scatter_block, reduce_scatter_block, from, out, block, term_type, op, comm);
  check_result("reduce_scatter_block", rank * block, block, size - 1, commutes, folds && (shares_have_to || is_short));

  from = bring(count, count, in_place);
  RUN(Scan, scan, from, out, count, term_type, op, comm);
  check_result("scan", 0, count, rank, commutes, folds && is_short);

  from = bring(count, count, in_place && rank > 0);
  RUN(Exscan, exscan, from, out, count, term_type, op, comm);
  if (rank > 0) check_result("exscan", 0, count, rank - 1, commutes, folds && is_short);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  has_to_fold = argc > 1 && strcmp(argv[1], "fold") == 0, shares_have_to = argc > 2;
  comm = MPI_COMM_WORLD, rank = world_rank, size = world_size;
  in = malloc((kMost + 1) * sizeof *in), out = malloc((kMost + 1) * sizeof *out);
  MPI_Type_contiguous(3, MPI_UINT64_T, &term_type);
  MPI_Type_commit(&term_type);
  MPI_Op_create(combine_in_order, 0, &with_op[0]);
  MPI_Op_create(combine_in_any, 1, &with_op[1]);
  static const int counts[] = {1, 42, 43, 299, 1400, 11000, kMost};  // of 24 bytes
  const int lengths = size > 8 ? 6 : 7;
  for (int c = 0; c < lengths; c++) {
    for (form = 0; form < kForms; form++) {
      for (int commutes = 0; commutes < 2; commutes++) {
        for (int in_place = 0; in_place < 2; in_place++)
          reductions(counts[c], (c + (int)form) % size, in_place, commutes);
      }
    }
  }
  MPI_Op_free(&with_op[0]), MPI_Op_free(&with_op[1]);
  MPI_Type_free(&term_type);
  free(in), free(out);
  return finish();
}
