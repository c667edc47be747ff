// Put, get and accumulate beside send and receive, 8 bytes to 4 MiB, two ranks: the time of one that is complete, and the bytes per second of
// many in one epoch. Rank 1 acts, rank 0 waits in MPI_Recv.
//   sizes <point>...
//   create, allocate, shared, dynamic    on a window of that kind
//     put-<kind>, get-<kind>, sum-<kind> µs of one and its MPI_Win_flush, in an epoch of MPI_Win_lock_all; sum: MPI_Accumulate of doubles
//     <what>-rows-<kind>                 the same of every other double at both ends, to 256 KiB of them
//     <what>-bandwidth-<kind>            GB/s of kWindow of them and one flush
//   send
//     rma-send                           µs of MPI_Send and MPI_Recv one way, half of there and back
//     send-bandwidth                     GB/s of kWindow of MPI_Isend, answered by an empty message
// What a window's memory holds at the end is verified.
#include "rma.h"

enum { kWindow = 32, kMost = 4 << 20, kMostRows = 256 << 10 };
static const double kSeconds = 0.08;
static const int kSizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20};

typedef struct {
  MPI_Win win;
  MPI_Aint start;
  char* mine;
  int bytes, many;
  MPI_Datatype type;  // of one-sided operations; of doubles
  int count;
} Context;

static void put(void* context) {
  Context* c = context;
  for (int i = 0; i < c->many; i++) MPI_Put(c->mine, c->count, c->type, 0, c->start, c->count, c->type, c->win);
  MPI_Win_flush(0, c->win);
}

static void get(void* context) {
  Context* c = context;
  for (int i = 0; i < c->many; i++) MPI_Get(c->mine, c->count, c->type, 0, c->start, c->count, c->type, c->win);
  MPI_Win_flush(0, c->win);
}

static void sum(void* context) {
  Context* c = context;
  for (int i = 0; i < c->many; i++)
    MPI_Accumulate(c->mine, c->count, c->type, 0, c->start, c->count, c->type, MPI_SUM, c->win);
  MPI_Win_flush(0, c->win);
}

static void ping(void* context) {
  Context* c = context;
  for (int half = 0; half < 2; half++) {
    if (half == rank)
      MPI_Send(c->mine, c->bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(c->mine, c->bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void window_of_sends(void* context) {
  Context* c = context;
  MPI_Request requests[kWindow];
  for (int i = 0; i < kWindow; i++) {
    if (rank == 1)
      MPI_Isend(c->mine, c->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(c->mine, c->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  if (rank == 1)
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
}

// The last put is what the last get fetches.
static const struct {
  const char* name;
  void (*run)(void*);
} kOperations[] = {{"sum", sum}, {"put", put}, {"get", get}};

static void one_sided(const char* kind, char* mine) {
  char metric[64];
  snprintf(metric, sizeof metric, "%s-%s", kOperations[0].name, kind);
  if (rank == 1) bench_begin(metric, (size_t)kSizes[0], "us");
  Memory memory = memory_make(kind, kMost);
  if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) {
    MPI_Win_lock_all(0, memory.win);
    for (size_t which = 0; which < sizeof kOperations / sizeof *kOperations; which++) {
      const char* name = kOperations[which].name;
      memset(mine, 0, kMost);
      for (size_t s = 1; kSizes[s] <= kMostRows; s++) {
        MPI_Datatype type;
        MPI_Type_vector(kSizes[s] / (int)sizeof(double), 1, 2, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        Context context = {memory.win, memory.start, mine, kSizes[s], 1, type, 1};
        snprintf(metric, sizeof metric, "%s-rows-%s", name, kind);
        bench_result(metric, (size_t)kSizes[s], measure(kOperations[which].run, &context, kSeconds), "us");
        MPI_Type_free(&type);
      }
      for (size_t s = 0; s < sizeof kSizes / sizeof *kSizes; s++) {
        const int doubles = kSizes[s] / (int)sizeof(double);
        Context context = {memory.win, memory.start, mine, kSizes[s], 1, MPI_DOUBLE, doubles};
        memset(mine, kOperations[which].run == put ? 1 + (int)s : 0, kMost);
        snprintf(metric, sizeof metric, "%s-%s", name, kind);
        bench_result(metric, (size_t)kSizes[s], measure(kOperations[which].run, &context, kSeconds), "us");
        context.many = kWindow;
        snprintf(metric, sizeof metric, "%s-bandwidth-%s", name, kind);
        double us = measure(kOperations[which].run, &context, kSeconds);
        bench_result(metric, (size_t)kSizes[s], kWindow * (double)kSizes[s] / us * 1e-3, "GB/s");
      }
    }
    MPI_Win_unlock_all(memory.win);
    for (int i = 0; i < kMost; i++)  // what the last put left, fetched by the last get
      if (mine[i] != (int)(sizeof kSizes / sizeof *kSizes)) fail("sizes: byte %d is %d", i, mine[i]);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
  }
  memory_free(&memory);
}

static void two_sided(char* mine) {
  if (rank == 1) bench_begin("rma-send", (size_t)kSizes[0], "us");
  for (size_t s = 0; s < sizeof kSizes / sizeof *kSizes; s++) {
    Context context = {.mine = mine, .bytes = kSizes[s]};
    double us = measure_all(ping, &context, kSeconds) / 2;
    if (rank == 1) bench_result("rma-send", (size_t)kSizes[s], us, "us");
    us = measure_all(window_of_sends, &context, kSeconds);
    if (rank == 1) bench_result("send-bandwidth", (size_t)kSizes[s], kWindow * (double)kSizes[s] / us * 1e-3, "GB/s");
  }
}

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "sizes", 2);
  if (argc < 2 || ranks != 2) fail("sizes: needs 2 ranks, and kinds of windows or `send`");
  char* mine = aligned_alloc(4096, kMost);
  memset(mine, 1, kMost);
  for (int i = 1; i < argc; i++) {
    if (is(argv[i], "send"))
      two_sided(mine);
    else
      one_sided(argv[i], mine);
  }
  free(mine);
  MPI_Finalize();
  return 0;
}
