// The time of one MPI_Put among n in an epoch of MPI_Win_lock, without what the lock and the unlock take: the epoch with n
// puts, less the epoch with none, divided by n. Also the atomic calls, one by one.
//   epoch puts <kind>...       puts-<kind>-<n>, n = 1, 4, 16, 64, 256, of several sizes; ns
//   epoch atomics <kind>...    atomic-<call>-<kind>: each with a flush; µs
// Rank 1 acts on rank 0, which waits in MPI_Recv.
#include "rma.h"

static const double kSeconds = 0.05;
static const int kSizes[] = {8, 512, 32 << 10};

typedef struct {
  MPI_Win win;
  MPI_Aint start;
  char* mine;
  int bytes, puts;
  int64_t value, compare, result;
} Context;

static void lock_puts(void* context) {
  Context* c = context;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, c->win);
  for (int i = 0; i < c->puts; i++) MPI_Put(c->mine, c->bytes, MPI_BYTE, 0, c->start, c->bytes, MPI_BYTE, c->win);
  MPI_Win_unlock(0, c->win);
}

static void puts_in_epoch(Memory* memory, char* mine, int bytes) {
  Context context = {memory->win, memory->start, mine, bytes, 0, 0, 0, 0};
  double bare = measure(lock_puts, &context, kSeconds);
  for (context.puts = 1; context.puts <= 256; context.puts *= 4) {
    char metric[64];
    snprintf(metric, sizeof metric, "puts-%s-%d", memory->kind, context.puts);
    double us = measure(lock_puts, &context, kSeconds);
    bench_result(metric, (size_t)bytes, us > bare ? (us - bare) / context.puts * 1e3 : 0, "ns");
  }
}

static void fetch_and_op(void* context) {
  Context* c = context;
  MPI_Fetch_and_op(&c->value, &c->result, MPI_INT64_T, 0, c->start, MPI_SUM, c->win);
  MPI_Win_flush(0, c->win);
  c->compare++;
}

static void compare_and_swap(void* context) {
  Context* c = context;
  c->value = c->compare + 1;
  MPI_Compare_and_swap(&c->value, &c->compare, &c->result, MPI_INT64_T, 0, c->start, c->win);
  MPI_Win_flush(0, c->win);
  if (c->result != c->compare) fail("epoch: %ld was swapped, not %ld", (long)c->result, (long)c->compare);
  c->compare++;
}

static void accumulate(void* context) {
  Context* c = context;
  MPI_Accumulate(&c->value, 1, MPI_INT64_T, 0, c->start, 1, MPI_INT64_T, MPI_SUM, c->win);
  MPI_Win_flush(0, c->win);
  c->compare++;
}

static void get_accumulate(void* context) {
  Context* c = context;
  MPI_Get_accumulate(&c->value, 1, MPI_INT64_T, &c->result, 1, MPI_INT64_T, 0, c->start, 1, MPI_INT64_T, MPI_SUM,
                     c->win);
  MPI_Win_flush(0, c->win);
  c->compare++;
}

static void atomics(Memory* memory) {
  static const struct {
    const char* name;
    Step* step;
  } calls[] = {{"fetch", fetch_and_op},
               {"swap", compare_and_swap},
               {"accumulate", accumulate},
               {"getaccumulate", get_accumulate}};
  int64_t counted = 0, got = -1;
  MPI_Win_lock_all(0, memory->win);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    char metric[64];
    Context context = {memory->win, memory->start, NULL, 8, 0, 1, counted, 0};
    snprintf(metric, sizeof metric, "atomic-%s-%s", calls[i].name, memory->kind);
    bench_result(metric, 8, measure(calls[i].step, &context, 2 * kSeconds), "us");
    counted = context.compare;
  }
  MPI_Get(&got, 8, MPI_BYTE, 0, memory->start, 8, MPI_BYTE, memory->win);
  MPI_Win_unlock_all(memory->win);
  if (got != counted) fail("epoch: the target counted %ld, the origin %ld", (long)got, (long)counted);
}

static void on(const char* kind, int is_puts) {
  char metric[64];
  snprintf(metric, sizeof metric, is_puts ? "puts-%s-1" : "atomic-fetch-%s", kind);
  if (rank == 1) bench_begin(metric, 8, is_puts ? "ns" : "us");
  Memory memory = memory_make(kind, 1 << 20);
  if (rank == 1) {
    char* mine = aligned_alloc(4096, 1 << 20);
    memset(mine, 1, 1 << 20);
    for (size_t s = 0; is_puts && s < sizeof kSizes / sizeof *kSizes; s++) puts_in_epoch(&memory, mine, kSizes[s]);
    if (!is_puts) atomics(&memory);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
    free(mine);
  } else if (rank == 0) {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  memory_free(&memory);
}

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "epoch", 2);
  if (argc < 3) fail("epoch: needs `puts` or `atomics`, and kinds of windows");
  for (int i = 2; i < argc; i++) on(argv[i], is(argv[1], "puts"));
  MPI_Finalize();
  return 0;
}
