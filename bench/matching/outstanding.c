// What a message costs a receiver that has D receives outstanding, or D messages that came before their receives.
//   outstanding <posted|unexpected> <random|reversed|in_order> <D>...
//
// Problem: a list that is searched costs each message D/4 entries on average when the order is random. It shows in MPI only when
//          all D receives, each with a tag of its own, are on one communicator from one source: no library can tell them apart
//          by less than the tag.
// Method:  rank 1 receives from rank 0, messages of 8 bytes. A round of
//            posted      posts receives of the tags 0 to D - 1 and then says go; rank 0 sends in the given order; timed from
//                        the go until MPI_Waitall has returned
//            unexpected  says go; rank 0 sends the tags 0 to D - 1 and then a last message of another tag. When that has been
//                        received all D are in the queue of unexpected messages, since messages do not overtake; timed is
//                        posting the receives in the given order and their MPI_Waitall
//          A cell is the median over the rounds of the time divided by D. A shuffle is drawn anew for each round (from a fixed
//          seed), so that no branch predictor learns it; rank 0 has shuffled before rank 1 posts.
//          A barrier instead of the last message would not do: MPICH's goes past its queue of messages, so that they arrive while
//          the receives are posted, and 420 ns for a message of 64 is their way, not the search. That is how MPICH's column of the
//          table came about which the targets are from; from D = 1024 the search hides the difference.
// Cost:    rounds go on for kSeconds, kFewest of them at least: that is what a quadratic library takes at D = 16384. The go and
//          the first message are part of `posted`: one round trip, which counts at D = 1 and not at 64.
// Checked: every message of every round tells its round and its tag.
#include "../common/bench.h"
#include "../common/fail.h"
#include "../common/random.h"

#include <mpi.h>

enum { kFewest = 3, kMost = 20000, kMaxDepth = 32000 };  // 32767 is the largest tag that MPI promises
static const double kSeconds = 0.25;

enum Order { kRandom, kReversed, kInOrder };
static const char* const kOrders[] = {"random", "reversed", "in_order"};

struct Cell {
  int unexpected, depth, rank;
  enum Order order;
  uint64_t seed;
  int tags[kMaxDepth];  // in the given order
  uint64_t in[kMaxDepth];
  MPI_Request requests[kMaxDepth];
  double times[kMost];
};

static void put_in_order(struct Cell* cell) {
  for (int i = 0; i < cell->depth; i++) cell->tags[i] = cell->order == kReversed ? cell->depth - 1 - i : i;
  if (cell->order == kRandom) random_shuffle(&cell->seed, cell->tags, cell->depth);
}

static void send_rounds(struct Cell* cell) {
  int go = 1;
  for (uint64_t round = 0;; round++) {
    if (!cell->unexpected) put_in_order(cell);
    MPI_Send(NULL, 0, MPI_BYTE, 1, cell->depth, MPI_COMM_WORLD);
    MPI_Recv(&go, 1, MPI_INT, 1, cell->depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!go) return;
    for (int i = 0; i < cell->depth; i++) {
      int tag = cell->unexpected ? i : cell->tags[i];
      uint64_t out = round << 32 | (uint64_t)tag;
      MPI_Send(&out, sizeof out, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
    }
    if (cell->unexpected) MPI_Send(NULL, 0, MPI_BYTE, 1, cell->depth, MPI_COMM_WORLD);
  }
}

static void post(struct Cell* cell, const int* tags) {
  for (int i = 0; i < cell->depth; i++) {
    int tag = tags ? tags[i] : i;
    MPI_Irecv(&cell->in[tag], sizeof cell->in[tag], MPI_BYTE, 0, tag, MPI_COMM_WORLD, &cell->requests[i]);
  }
}

static void say_go(struct Cell* cell, int go) { MPI_Send(&go, 1, MPI_INT, 0, cell->depth, MPI_COMM_WORLD); }

// ns per message
static double round_of(struct Cell* cell) {
  double start;
  if (cell->unexpected) {
    put_in_order(cell);
    say_go(cell, 1);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, cell->depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start = bench_now();
    post(cell, cell->tags);
  } else {
    post(cell, NULL);
    start = bench_now();
    say_go(cell, 1);
  }
  MPI_Waitall(cell->depth, cell->requests, MPI_STATUSES_IGNORE);
  return (bench_now() - start) / cell->depth * 1e9;
}

static double receive_rounds(struct Cell* cell) {
  int rounds = 0;
  double begin = bench_now();
  for (uint64_t round = 0;; round++) {
    memset(cell->in, 255, (size_t)cell->depth * sizeof *cell->in);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, cell->depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // rank 0 is ready
    if (rounds == kMost || (rounds >= kFewest && bench_now() - begin > kSeconds)) break;
    double ns = round_of(cell);
    if (round > 0) cell->times[rounds++] = ns;  // the first one warms up
    for (int tag = 0; tag < cell->depth; tag++)
      if (cell->in[tag] != (round << 32 | (uint64_t)tag))
        fail("outstanding: round %lu: tag %d brought the message of round %lu with tag %lu", (unsigned long)round, tag,
             (unsigned long)(cell->in[tag] >> 32), (unsigned long)(cell->in[tag] & 0xffffffff));
  }
  say_go(cell, 0);
  return bench_median(cell->times, rounds);
}

int main(int argc, char** argv) {
  static struct Cell cell;
  int size, order = 0;
  char metric[64];
  bench_pin();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &cell.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (argc > 3 && order < 3 && strcmp(argv[2], kOrders[order]) != 0) order++;
  cell.unexpected = argc > 1 && strcmp(argv[1], "unexpected") == 0;
  if (size != 2 || argc < 4 || order == 3 || (!cell.unexpected && strcmp(argv[1], "posted") != 0)) {
    if (cell.rank == 0)
      fprintf(stderr, "outstanding: needs 2 ranks and: posted|unexpected random|reversed|in_order <D>...\n");
    MPI_Finalize();
    return 2;
  }
  cell.order = (enum Order)order;
  snprintf(metric, sizeof metric, "%s-%s", argv[1], argv[2]);
  for (int i = 3; i < argc; i++) {
    cell.depth = atoi(argv[i]);
    cell.seed = (uint64_t)cell.depth;
    if (cell.depth < 1 || cell.depth > kMaxDepth) fail("outstanding: D is 1 to %d, not %s", kMaxDepth, argv[i]);
    if (cell.rank == 0) {
      send_rounds(&cell);
      continue;
    }
    bench_begin(metric, (size_t)cell.depth, "ns");
    bench_result(metric, (size_t)cell.depth, receive_rounds(&cell), "ns");
  }
  MPI_Finalize();
  return 0;
}
