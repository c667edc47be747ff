// Partitioned collectives (mpix.h): each partition by itself, ready in another order at each rank, several runs.
//   part_coll [content | early | errors | threads | mismatch]
#include <mpix.h>
#include <pthread.h>

#include "coll.h"

enum { kRuns = 3, kMostParts = 32 };

static unsigned seed;
static unsigned draw(void) { return seed = seed * 1103515245u + 12345u, seed >> 16; }

// An order of the partitions that is this rank's own.
static void shuffle(int* order, int parts, int run) {
  seed = 7u + 131u * (unsigned)rank + 17u * (unsigned)run;
  for (int i = 0; i < parts; i++) order[i] = i;
  for (int i = parts - 1; i > 0; i--) {
    const int j = (int)(draw() % (unsigned)(i + 1)), was = order[i];
    order[i] = order[j], order[j] = was;
  }
}

static int value(int from, int to, int i, int run) { return element(from, to, i) + run * 50021; }

// Does not commute: the matrix (a 1; 0 b) as two numbers, multiplied modulo 2^32.
static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  const unsigned* l = in;
  unsigned* r = inout;
  (void)type;
  for (int i = 0; i < *length; i++, l += 2, r += 2) r[1] = l[0] * r[1] + l[1], r[0] *= l[0];
}

static MPI_Op chain;
static MPI_Datatype pair;

typedef enum { kBcast, kReduce, kAllreduce, kChain, kGather, kScatter, kAllgather, kAlltoall, kKinds } Kind;
static int rooted(Kind k) { return k == kBcast || k == kReduce || k == kGather || k == kScatter; }
static int gives(Kind k, int root) { return (k != kBcast && k != kScatter) || rank == root; }
static int gets(Kind k, int root) { return (k != kReduce && k != kGather) || rank == root; }
static int sends_blocks(Kind k) { return k == kScatter || k == kAlltoall; }
static int gets_blocks(Kind k) { return k == kGather || k == kAllgather || k == kAlltoall; }

typedef struct {
  Kind kind;
  int root, parts, count, place;  // place: in place
  int *in, *out;                  // ints; a pair has two
  MPI_Request request;
} Operation;

static void make(Operation* o) {
  const MPI_Info none = MPI_INFO_NULL;
  const int p = o->parts, n = o->count;
  const void* in = o->place ? MPI_IN_PLACE : o->in;
  switch (o->kind) {
    case kBcast:
      MPIX_Pbcast_init(o->out, p, n, MPI_INT, o->root, comm, none, &o->request);
      break;
    case kReduce:
      if (rank != o->root) in = o->in;
      MPIX_Preduce_init(in, o->out, p, n, MPI_INT, MPI_SUM, o->root, comm, none, &o->request);
      break;
    case kAllreduce:
      MPIX_Pallreduce_init(in, o->out, p, n, MPI_INT, MPI_SUM, comm, none, &o->request);
      break;
    case kChain:
      MPIX_Pallreduce_init(in, o->out, p, n / 2, pair, chain, comm, none, &o->request);
      break;
    case kGather:
      if (rank != o->root) in = o->in;
      MPIX_Pgather_init(in, p, n, MPI_INT, o->out, p, n, MPI_INT, o->root, comm, none, &o->request);
      break;
    case kScatter:
      MPIX_Pscatter_init(o->in, p, n, MPI_INT, o->place && rank == o->root ? MPI_IN_PLACE : o->out, p, n, MPI_INT,
                         o->root, comm, none, &o->request);
      break;
    case kAllgather:
      MPIX_Pallgather_init(in, p, n, MPI_INT, o->out, p, n, MPI_INT, comm, none, &o->request);
      break;
    default:
      MPIX_Palltoall_init(in, p, n, MPI_INT, o->out, p, n, MPI_INT, comm, none, &o->request);
  }
}

// Fills what this rank gives of partition p; the item of partition p that is the i-th is number p * count + i.
static void fill_part(const Operation* o, int p, int run) {
  const int n = o->count, all = o->parts * n;
  const int at_root = rank == o->root;
  int* to = o->place && (!rooted(o->kind) || (at_root && o->kind != kScatter)) ? o->out : o->in;
  int own = 0;  // where this rank's block is
  if (o->kind == kBcast) to = o->out;
  if (to == o->out && (o->kind == kAllgather || o->kind == kGather)) own = rank * all;
  for (int b = 0; b < (sends_blocks(o->kind) ? size : 1); b++)
    for (int i = p * n; i < (p + 1) * n; i++)
      to[own + b * all + i] = value(rank, sends_blocks(o->kind) ? b : 0, i, run);
}

static void check_part(const Operation* o, int p, int run) {
  const int n = o->count, all = o->parts * n;
  if (!gets(o->kind, o->root) || (o->kind == kScatter && o->place && rank == o->root)) return;
  if (o->kind == kChain) {
    for (int i = p * n; i < (p + 1) * n; i += 2) {
      unsigned right[2] = {(unsigned)value(size - 1, 0, i, run), (unsigned)value(size - 1, 0, i + 1, run)};
      for (int r = size - 2, one = 1; r >= 0; r--) {
        unsigned left[2] = {(unsigned)value(r, 0, i, run), (unsigned)value(r, 0, i + 1, run)};
        multiply(left, right, &one, NULL);
      }
      CHECK_EQ((unsigned)o->out[i], right[0]);
      CHECK_EQ((unsigned)o->out[i + 1], right[1]);
    }
    return;
  }
  for (int b = 0; b < (gets_blocks(o->kind) ? size : 1); b++) {
    for (int i = p * n; i < (p + 1) * n; i++) {
      int want = 0;
      switch (o->kind) {
        case kBcast:
          want = value(o->root, 0, i, run);
          break;
        case kScatter:
          want = value(o->root, rank, i, run);
          break;
        case kReduce:
        case kAllreduce:
          for (int r = 0; r < size; r++) want += value(r, 0, i, run);
          break;
        case kAlltoall:
          want = value(b, rank, i, run);
          break;
        default:
          want = value(b, 0, i, run);
      }
      CHECK(o->out[b * all + i] == want, "kind %d, partition %d of %d, block %d, item %d: %d, expected %d", o->kind, p,
            o->parts, b, i, o->out[b * all + i], want);
    }
  }
}

static void allocate(Operation* o) {
  const size_t ints = (size_t)size * (size_t)o->parts * (size_t)o->count + 1;
  o->in = calloc(ints, sizeof(int)), o->out = calloc(ints, sizeof(int));
}

static void discard(Operation* o) {
  MPI_Request_free(&o->request);
  free(o->in), free(o->out);
}

// All kinds at once, partitions of all of them mixed; read as they arrive, in an order of their own.
static void all_kinds(int parts, int count, int place) {
  Operation o[kKinds];
  int order[kKinds * kMostParts], seen[kKinds * kMostParts];
  for (int k = 0; k < kKinds; k++) {
    o[k] = (Operation){.kind = (Kind)k, .root = (k + parts) % size, .parts = parts, .count = count, .place = place};
    allocate(&o[k]);
    make(&o[k]);
  }
  for (int run = 1; run <= kRuns; run++) {
    int left = 0;
    for (int k = 0; k < kKinds; k++) MPI_Start(&o[(k + rank) % kKinds].request);
    shuffle(order, kKinds * parts, run);
    for (int i = 0; i < kKinds * parts; i++) {
      const int k = order[i] / parts, p = order[i] % parts;
      seen[order[i]] = 0, left++;
      if (!gives((Kind)k, o[k].root)) continue;
      fill_part(&o[k], p, run);
      MPI_Pready(p, o[k].request);
    }
    while (left > 0) {
      for (int i = 0; i < kKinds * parts; i++) {
        int flag;
        if (seen[i]) continue;
        MPI_Parrived(o[i / parts].request, i % parts, &flag);
        if (!flag) continue;
        check_part(&o[i / parts], i % parts, run);
        seen[i] = 1, left--;
      }
    }
    for (int k = 0; k < kKinds; k++) MPI_Wait(&o[(k + 3 * rank) % kKinds].request, MPI_STATUS_IGNORE);
    for (int k = 0; k < kKinds; k++)
      for (int p = 0; p < parts; p++) check_part(&o[k], p, run);
  }
  for (int k = 0; k < kKinds; k++) discard(&o[k]);
}

static void content(void) {
  all_kinds(1, 2, 0);
  all_kinds(7, 6, 0);
  all_kinds(7, 6, 1);
  all_kinds(3, 12000, 0);
  all_kinds(5, 0, 0);
  all_kinds(0, 4, 0);
  all_kinds(kMostParts, 2, 1);
}

// A partition ends at all ranks while no other is ready anywhere; and MPI_Parrived knows them apart.
static void early(void) {
  enum { kParts = 5, kCount = 700 };
  for (int k = 0; k < kKinds; k++) {
    Operation o = {.kind = (Kind)k, .root = size - 1, .parts = kParts, .count = kCount};
    allocate(&o);
    make(&o);
    for (int run = 1; run <= kRuns; run++) {
      int flag;
      MPI_Start(&o.request);
      for (int i = 0; i < kParts; i++) {
        const int p = (2 * i + run) % kParts;
        if (gives(o.kind, o.root)) {
          fill_part(&o, p, run);
          i % 2 ? MPI_Pready_list(1, &p, o.request) : MPI_Pready_range(p, p, o.request);
        }
        do MPI_Parrived(o.request, p, &flag);
        while (!flag);
        check_part(&o, p, run);
        MPI_Barrier(comm);  // it is over everywhere, and nothing else is ready
        for (int j = i + 1; j < kParts; j++) {
          const int q = (2 * j + run) % kParts;
          MPI_Parrived(o.request, q, &flag);
          CHECK_EQ(flag, 0);
        }
        MPI_Request_get_status(o.request, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, i + 1 == kParts);
        MPI_Barrier(comm);
      }
      MPI_Wait(&o.request, MPI_STATUS_IGNORE);
      CHECK(o.request != MPI_REQUEST_NULL);
      MPI_Parrived(o.request, 0, &flag);  // inactive
      CHECK_EQ(flag, 1);
    }
    discard(&o);
  }
}

static void errors(void) {
  int in[4] = {1, 2, 3, 4}, out[4], flag;
  MPI_Request r, one;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info none = MPI_INFO_NULL;
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, -1, 1, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, -1, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_COUNT);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 1 << 30, (MPI_Count)1 << 60, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_COUNT);
  CHECK_CLASS(MPIX_Pallreduce_init(in, in, 2, 1, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_BUFFER);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, MPI_OP_NULL, w, none, &r), MPI_ERR_OP);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, 1, MPI_FLOAT, MPI_BAND, w, none, &r), MPI_ERR_OP);
  CHECK_CLASS(MPIX_Pallreduce_init(NULL, out, 2, 1, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_BUFFER);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, MPI_SUM, w, none, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, none, &r), MPI_ERR_COMM);
  CHECK_CLASS(MPIX_Pbcast_init(in, 2, 1, MPI_DATATYPE_NULL, 0, w, none, &r), MPI_ERR_TYPE);
  CHECK_CLASS(MPIX_Pbcast_init(in, 2, 1, MPI_INT, size, w, none, &r), MPI_ERR_ROOT);
  CHECK_CLASS(MPIX_Pallgather_init(in, 2, 1, MPI_INT, out, 1, 2, MPI_INT, w, none, &r), MPI_ERR_ARG);
  if (size > 1) {  // of which all hear
    CHECK_CLASS(MPIX_Pallreduce_init(in, out, rank == 0 ? 3 : 4, 1, MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Pbcast_init(in, rank == 1 ? 1 : 2, 1, MPI_INT, 0, w, none, &r), MPI_ERR_ARG);
    MPI_Comm half, inter;
    MPI_Comm_split(w, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, w, 1 - rank % 2, 8, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, MPI_SUM, inter, none, &r), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  CHECK_CLASS(MPIX_Pallreduce_init(in, out, 4, 1, MPI_INT, MPI_SUM, w, none, &r), MPI_SUCCESS);
  CHECK_CLASS(MPIX_Pbcast_init(out, 4, 1, MPI_INT, 0, w, none, &one), MPI_SUCCESS);
  CHECK_CLASS(MPI_Pready(0, r), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(r, 4, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Pbuf_prepare(r), MPI_ERR_REQUEST);
  for (int run = 1; run <= 2; run++) {
    const int list[] = {1, 0}, bad[] = {2, 7}, again[] = {3, 2};
    MPI_Start(&r);
    CHECK_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(4, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(3, 4, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(2, 1, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, bad, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(r, -1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, list, r), MPI_SUCCESS);
    CHECK_CLASS(MPI_Pready(0, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_free(&r), MPI_ERR_REQUEST);  // it is under way
    CHECK_CLASS(MPI_Pready(2, r), MPI_SUCCESS);
    CHECK_CLASS(MPI_Pready_list(2, again, r), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Pready(0, r), MPI_ERR_REQUEST);
    for (int i = 0; i < 4; i++) CHECK_EQ(out[i], size * in[i]);
    MPI_Start(&one);
    CHECK_CLASS(MPI_Pready(0, one), rank == 0 ? MPI_SUCCESS : MPI_ERR_REQUEST);
    if (rank == 0) CHECK_CLASS(MPI_Pready_range(1, 3, one), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&one, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Barrier(w);
  }
  MPI_Request_free(&r);
  MPI_Request_free(&one);
  // A rank with fewer items than the others: an error there, of the partition and of the whole; and the next run is as any.
  if (size > 1) {
    static int long_in[2 * 3000];
    CHECK_CLASS(MPIX_Pbcast_init(long_in, 2, rank == 1 ? 2999 : 3000, MPI_INT, 0, w, none, &r), MPI_SUCCESS);
    for (int run = 1; run <= 2; run++) {
      const int want = rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
      int found = MPI_SUCCESS;
      MPI_Start(&r);
      if (rank == 0) CHECK_CLASS(MPI_Pready_range(0, 1, r), MPI_SUCCESS);
      for (flag = 0; !flag;) found = MPI_Parrived(r, 1, &flag);
      if (size == 2) CHECK_EQ(error_class(found), want);  // who hears from rank 1 has less, too
      found = MPI_Wait(&r, MPI_STATUS_IGNORE);
      if (size == 2) CHECK_EQ(error_class(found), want);
    }
    MPI_Request_free(&r);
  }
}

static void expect(int outcome, int class, const char* words) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(outcome, text, &length);
  CHECK(error_class(outcome) == class && strstr(text, words) != NULL, "class %d: %s; expected %d: %s",
        error_class(outcome), text, class, words);
}

// With HEDDLE_CHECK_COLLECTIVES: who means something else hears of it.
static void mismatch(void) {
  int in[4] = {1, 2, 3, 4}, out[4];
  MPI_Request r;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info none = MPI_INFO_NULL;
  expect(MPIX_Pbcast_init(in, 2, 1, MPI_INT, rank == 0, w, none, &r), MPI_ERR_ROOT, "calls MPIX_Pbcast_init with root");
  expect(MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, w, none, &r), MPI_ERR_OP,
         "with MPI_MAX");
  expect(MPIX_Pallreduce_init(in, out, 2, 1 + (rank == 1), MPI_INT, MPI_SUM, w, none, &r), MPI_ERR_NOT_SAME,
         "rank 1 has 16 bytes where rank 0 has 8");
  expect(rank == 0 ? MPIX_Pallreduce_init(in, out, 2, 1, MPI_INT, MPI_SUM, w, none, &r)
                   : MPIX_Palltoall_init(in, 2, 1, MPI_INT, out, 2, 1, MPI_INT, w, none, &r),
         MPI_ERR_NOT_SAME, "rank 1 calls MPIX_Palltoall_init where rank 0 calls MPIX_Pallreduce_init");
}

enum { kThreads = 16, kEach = 4, kItems = 600 };
static Operation shared;
static int now;
static void* make_ready(void* arg) {
  const int t = (int)(intptr_t)arg;
  for (int k = 0; k < kEach; k++) {
    const int p = ((k + rank) % kEach) * kThreads + t;
    fill_part(&shared, p, now);
    MPI_Pready(p, shared.request);
  }
  for (int p = t; p < shared.parts; p += kThreads) {
    int flag;
    do MPI_Parrived(shared.request, p, &flag);
    while (!flag);
    check_part(&shared, p, now);
  }
  return NULL;
}
static void threads(void) {
  const Kind kinds[] = {kAllreduce, kChain, kAllgather};
  for (int k = 0; k < 3; k++) {
    shared = (Operation){.kind = kinds[k], .parts = kThreads * kEach, .count = kItems};
    allocate(&shared);
    make(&shared);
    for (now = 1; now <= 3; now++) {
      pthread_t t[kThreads];
      MPI_Start(&shared.request);
      for (int i = 0; i < kThreads; i++) pthread_create(&t[i], NULL, make_ready, (void*)(intptr_t)i);
      for (int i = 0; i < kThreads; i++) pthread_join(t[i], NULL);
      MPI_Wait(&shared.request, MPI_STATUS_IGNORE);
    }
    discard(&shared);
  }
}

// On the first ranks, as many as there are, each number of them.
static void on_each_size(void (*checks)(void)) {
  for (int n = 1; n <= world_size; n++) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < n ? 0 : MPI_UNDEFINED, -world_rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    checks();
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "content";
  strcmp(what, "threads") == 0 ? start_threaded(&argc, &argv) : start(&argc, &argv);
  comm = MPI_COMM_WORLD, rank = world_rank, size = world_size;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(multiply, 0, &chain);
  if (strcmp(what, "content") == 0) on_each_size(content);
  if (strcmp(what, "early") == 0) on_each_size(early);
  if (strcmp(what, "errors") == 0) errors();
  if (strcmp(what, "mismatch") == 0) mismatch();
  if (strcmp(what, "threads") == 0) threads();
  MPI_Op_free(&chain);
  MPI_Type_free(&pair);
  return finish();
}
