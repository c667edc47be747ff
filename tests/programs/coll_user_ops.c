// A user's operation is called with legal arguments only, in every reduction and every form of it: items to combine, the datatype that the
// call was given, and two vectors of its own each; and in the order of the ranks.
//   coll_user_ops
#include <stddef.h>

#include "check.h"

enum { kMost = 6000, kGuard = 16 };  // items of two ints
typedef struct {
  int a, b;
} Pair;

static MPI_Datatype pair;
static int calls;

// x -> a x + b, modulo 2^32: composing does not commute.
static Pair compose(Pair first, Pair second) {
  return (Pair){(int)((unsigned)first.a * (unsigned)second.a),
                (int)((unsigned)first.b * (unsigned)second.a + (unsigned)second.b)};
}
static Pair operand(int rank, int i) { return (Pair){2 * ((rank * 7 + i) % 50) + 3, rank * 13 + i % 100}; }

static void check_arguments(const void* in, const void* inout, const int* length, const MPI_Datatype* type) {
  CHECK(in != NULL && inout != NULL && length != NULL && type != NULL);
  CHECK(*length > 0 && *length <= kMost * world_size, "%d items", *length);
  CHECK(*type == pair, "another datatype");
  const char *i = in, *o = inout;
  const ptrdiff_t bytes = (ptrdiff_t)(sizeof(Pair) * (size_t)*length);
  CHECK(o + bytes <= i || i + bytes <= o, "the vectors overlap");
  CHECK((uintptr_t)in % sizeof(int) == 0 && (uintptr_t)inout % sizeof(int) == 0);
  calls++;
}

static void in_order(void* in, void* inout, int* length, MPI_Datatype* type) {
  check_arguments(in, inout, length, type);
  const Pair* left = in;
  Pair* right = inout;
  for (int i = 0; i < *length; i++) right[i] = compose(left[i], right[i]);
}
static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  check_arguments(in, inout, length, type);
  const Pair* left = in;
  Pair* right = inout;
  for (int i = 0; i < *length; i++) right[i] = (Pair){left[i].a + right[i].a, left[i].b + right[i].b};
}

typedef enum { kReduce, kAllreduce, kScan, kExscan, kScatter, kScatterBlock, kKinds } Kind;
static const char* const names[kKinds] = {"reduce", "allreduce",      "scan",
                                          "exscan", "reduce_scatter", "reduce_scatter_block"};
typedef enum { kBlocking, kBegun, kPersistent, kForms } Form;

static Pair *in, *out;
static int counts[64];

static MPI_Request call(Kind kind, Form form, const void* from, int n, MPI_Op op) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info none = MPI_INFO_NULL;
  const int root = world_size / 2;
  MPI_Request r = MPI_REQUEST_NULL;
  switch (kind) {
    case kReduce:
      if (form == kBlocking) MPI_Reduce(from, out, n, pair, op, root, w);
      if (form == kBegun) MPI_Ireduce(from, out, n, pair, op, root, w, &r);
      if (form == kPersistent) MPI_Reduce_init(from, out, n, pair, op, root, w, none, &r);
      break;
    case kAllreduce:
      if (form == kBlocking) MPI_Allreduce(from, out, n, pair, op, w);
      if (form == kBegun) MPI_Iallreduce(from, out, n, pair, op, w, &r);
      if (form == kPersistent) MPI_Allreduce_init(from, out, n, pair, op, w, none, &r);
      break;
    case kScan:
      if (form == kBlocking) MPI_Scan(from, out, n, pair, op, w);
      if (form == kBegun) MPI_Iscan(from, out, n, pair, op, w, &r);
      if (form == kPersistent) MPI_Scan_init(from, out, n, pair, op, w, none, &r);
      break;
    case kExscan:
      if (form == kBlocking) MPI_Exscan(from, out, n, pair, op, w);
      if (form == kBegun) MPI_Iexscan(from, out, n, pair, op, w, &r);
      if (form == kPersistent) MPI_Exscan_init(from, out, n, pair, op, w, none, &r);
      break;
    case kScatter:
      if (form == kBlocking) MPI_Reduce_scatter(from, out, counts, pair, op, w);
      if (form == kBegun) MPI_Ireduce_scatter(from, out, counts, pair, op, w, &r);
      if (form == kPersistent) MPI_Reduce_scatter_init(from, out, counts, pair, op, w, none, &r);
      break;
    default:
      if (form == kBlocking) MPI_Reduce_scatter_block(from, out, n, pair, op, w);
      if (form == kBegun) MPI_Ireduce_scatter_block(from, out, n, pair, op, w, &r);
      if (form == kPersistent) MPI_Reduce_scatter_block_init(from, out, n, pair, op, w, none, &r);
  }
  return r;
}

// Of the ranks before `end`, item i.
static Pair combined(int end, int i, int commutes) {
  Pair all = operand(0, i);
  for (int r = 1; r < end; r++) {
    const Pair next = operand(r, i);
    all = commutes ? (Pair){all.a + next.a, all.b + next.b} : compose(all, next);
  }
  return all;
}

static void run_one(Kind kind, Form form, int n, int in_place, int commutes, MPI_Op op) {
  const int scatters = kind >= kScatter, items = scatters ? n * world_size : n;
  int first = 0, got = n, end = world_size;
  for (int r = 0; r < world_size; r++) counts[r] = n;
  if (kind == kScatter && world_size > 1)
    counts[0] = 0, counts[world_size - 1] = 2 * n;  // of different lengths, one none
  if (scatters) {
    for (int r = 0; r < world_rank; r++) first += counts[r];
    got = counts[world_rank];
  }
  if (kind == kScan) end = world_rank + 1;
  if (kind == kExscan) end = world_rank, got = world_rank == 0 ? 0 : n;
  if (kind == kReduce && world_rank != world_size / 2) got = 0, in_place = 0;
  for (int run = 0; run < (form == kPersistent ? 3 : 1); run++) {
    static MPI_Request request;
    for (int i = 0; i < items; i++) in[i] = operand(world_rank, i);
    for (int i = 0; i < items + kGuard; i++) out[i] = (Pair){-1, -1};
    if (in_place) memcpy(out, in, (size_t)items * sizeof *in);
    if (run == 0) request = call(kind, form, in_place ? MPI_IN_PLACE : in, n, op);
    if (form == kPersistent) MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < got; i++) {
      const Pair want = combined(end, first + i, commutes);
      CHECK(out[i].a == want.a && out[i].b == want.b, "%s, form %d, %d items, item %d", names[kind], form, n, i);
    }
    for (int i = items; i < items + kGuard; i++)
      CHECK(out[i].a == -1 && out[i].b == -1, "%s wrote too far", names[kind]);
    if (form == kPersistent && run == 2) MPI_Request_free(&request);
  }
}

int main(int argc, char** argv) {
  const int sizes[] = {0, 1, 7, 300, kMost};
  MPI_Op ops[2];
  start(&argc, &argv);
  in = malloc((size_t)(kMost * world_size + kGuard) * sizeof *in);
  out = malloc((size_t)(kMost * world_size + kGuard) * sizeof *out);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(in_order, 0, &ops[0]);
  MPI_Op_create(add, 1, &ops[1]);
  for (Kind kind = 0; kind < kKinds; kind++) {
    for (int commutes = 0; commutes < 2; commutes++) {
      calls = 0;
      for (Form form = 0; form < kForms; form++)
        for (int s = 0; s < 5; s++)
          for (int in_place = 0; in_place < 2; in_place++)
            run_one(kind, form, sizes[s], in_place, commutes, ops[commutes]);
      MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(calls > 0 || world_size <= (kind == kExscan ? 2 : 1), "%s never called it", names[kind]);
    }
  }
  MPI_Op_free(&ops[0]);
  MPI_Op_free(&ops[1]);
  MPI_Type_free(&pair);
  free(in);
  free(out);
  return finish();
}
