// The bare limits of two cores, without any MPI; the targets scale with line, slot, copy, and switch.
//
//   line   one cache line to the other core, one way: two processes hand one word back and forth
//   slot   8 bytes one way through a ring of 256 slots of a line each, which only one side fills
//   copy   pipelined two-copy: 1 MiB messages through 8 cells of 16 KiB, copied in by one process and out by the other
//   bare   the same as a ping-pong, one way, for several sizes: what a message of that size cannot go below
//   switch from one process to the next by sched_yield, with as many on each core as the size says
//
// Processes, not threads: as ranks would be. Pinned to the first two cores of HEDDLE_BENCH_CPUS.
//   limits         all
//   limits line    only the line, in a few milliseconds
#include "../common/bench.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  kSlots = 256,
  kCells = 8,
  kCellBytes = 16 << 10,
  kMessage = 1 << 20,
  kBatches = 7,
  kRounds = 200000,
  kMessages = 400,
  kBareBytes = 16 << 20,  // moved each way by a batch of ping-pongs
  kCrowd = 8,             // on each core
  kYields = 5000
};

struct Word {
  _Alignas(128) atomic_uint value;
};

struct Slot {
  _Alignas(64) uint64_t payload;
  atomic_uint turn;
};

struct Shared {
  struct Word ping, pong, filled[kCells], drained[kCells], yielding;
  double switches[2 * kCrowd];
  _Alignas(4096) struct Slot rings[2][kSlots];  // by the side that fills it
  _Alignas(4096) char cells[kCells][kCellBytes];
};

static void wait_for(struct Word* word, unsigned value) {
  while (atomic_load_explicit(&word->value, memory_order_acquire) != value) __builtin_ia32_pause();
}

static void publish(struct Word* word, unsigned value) {
  atomic_store_explicit(&word->value, value, memory_order_release);
}

static double line_batch(struct Shared* shared, int side, unsigned* turn, int rounds) {
  double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    ++*turn;
    if (side == 0) {
      publish(&shared->ping, *turn);
      wait_for(&shared->pong, *turn);
    } else {
      wait_for(&shared->ping, *turn);
      publish(&shared->pong, *turn);
    }
  }
  return (bench_now() - start) / rounds / 2 * 1e9;
}

static double slot_batch(struct Shared* shared, int side, unsigned* turn) {
  double start = bench_now();
  for (int i = 0; i < 2 * kRounds; i++) {
    if (i % 2 == 0) ++*turn;
    struct Slot* slot = &shared->rings[i % 2][*turn % kSlots];
    if (i % 2 == side) {
      slot->payload = *turn;
      atomic_store_explicit(&slot->turn, *turn, memory_order_release);
    } else {
      while (atomic_load_explicit(&slot->turn, memory_order_acquire) != *turn) __builtin_ia32_pause();
      if (slot->payload != *turn) {
        fprintf(stderr, "limits: a slot has what was not put there\n");
        _exit(1);
      }
    }
  }
  return (bench_now() - start) / kRounds / 2 * 1e9;
}

// `turn` counts cells: cell `turn % kCells` is filled for the (turn / kCells + 1)-th time.
static void move_message(struct Shared* shared, int sends, char* user, int bytes, unsigned* turn) {
  for (int offset = 0; offset < bytes; offset += kCellBytes, ++*turn) {
    unsigned cell = *turn % kCells, lap = *turn / kCells;
    int n = bytes - offset < kCellBytes ? bytes - offset : kCellBytes;
    if (sends) {
      wait_for(&shared->drained[cell], lap);
      memcpy(shared->cells[cell], user + offset, n);
      publish(&shared->filled[cell], lap + 1);
    } else {
      wait_for(&shared->filled[cell], lap + 1);
      memcpy(user + offset, shared->cells[cell], n);
      publish(&shared->drained[cell], lap + 1);
    }
  }
}

static double copy_batch(struct Shared* shared, int side, char* user, unsigned* turn) {
  double start = bench_now();
  for (int m = 0; m < kMessages; m++) move_message(shared, side == 0, user, kMessage, turn);
  return (double)kMessages * kMessage / (bench_now() - start) / 1e9;
}

static double bare_batch(struct Shared* shared, int side, char* out, char* in, int bytes, unsigned* turn) {
  int rounds = kBareBytes / bytes;
  double start = bench_now();
  for (int m = 0; m < 2 * rounds; m++) {
    int sends = m % 2 == side;
    move_message(shared, sends, sends ? out : in, bytes, turn);
  }
  return (bench_now() - start) / rounds / 2 * 1e6;
}

static void bare(struct Shared* shared, int side, unsigned* turn) {
  static const int sizes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  int most = sizes[sizeof sizes / sizeof *sizes - 1];
  char* out = aligned_alloc(4096, most);
  char* in = aligned_alloc(4096, most);
  memset(out, 1, most);
  memset(in, 2, most);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    double values[kBatches];
    bare_batch(shared, side, out, in, sizes[s], turn);
    for (int b = 0; b < kBatches; b++) values[b] = bare_batch(shared, side, out, in, sizes[s], turn);
    if (side == 0) bench_result("bare", sizes[s], bench_median(values, kBatches), "us");
  }
  free(in);
  free(out);
}

static void run(struct Shared* shared, int side, int only_line) {
  double values[kBatches];
  unsigned turn = 0;
  int rounds = only_line ? kRounds / 20 : kRounds;
  bench_pin_to(side, 2);
  line_batch(shared, side, &turn, rounds);
  for (int b = 0; b < kBatches; b++) values[b] = line_batch(shared, side, &turn, rounds);
  if (side == 0) bench_result("line", 64, bench_median(values, kBatches), "ns");
  if (only_line) return;
  turn = 0;
  slot_batch(shared, side, &turn);
  for (int b = 0; b < kBatches; b++) values[b] = slot_batch(shared, side, &turn);
  if (side == 0) bench_result("slot", 8, bench_median(values, kBatches), "ns");
  char* user = aligned_alloc(4096, kMessage);
  memset(user, side + 1, kMessage);
  turn = 0;
  copy_batch(shared, side, user, &turn);
  for (int b = 0; b < kBatches; b++) values[b] = copy_batch(shared, side, user, &turn);
  if (side == 1) {
    for (int i = 0; i < kMessage; i++)
      if (user[i] != 1) {
        fprintf(stderr, "limits: byte %d was lost on the way\n", i);
        _exit(1);
      }
    bench_result("copy", kMessage, bench_median(values, kBatches), "GB/s");
  }
  free(user);
  bare(shared, side, &turn);
}

// One of kCrowd processes of a core: µs from one to the next.
static double yields(struct Shared* shared) {
  atomic_fetch_add(&shared->yielding.value, 1);
  while (atomic_load(&shared->yielding.value) < 2 * kCrowd) sched_yield();
  double start = bench_now();
  for (int i = 0; i < kYields; i++) sched_yield();
  return (bench_now() - start) / kYields / kCrowd * 1e6;
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

// Forked; it ends with its parent.
static pid_t child(void) {
  pid_t parent = getpid(), made = fork();
  if (made < 0) fail("limits: fork");
  if (made != 0) return made;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  return 0;
}

static int failed(pid_t pid) {
  int status;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int crowd(struct Shared* shared) {
  pid_t pids[2 * kCrowd];
  int worst = 0;
  for (int i = 0; i < 2 * kCrowd; i++) {
    pids[i] = child();
    if (pids[i] != 0) continue;
    bench_pin_to(i % 2, 2);
    shared->switches[i] = yields(shared);
    _exit(0);
  }
  for (int i = 0; i < 2 * kCrowd; i++) worst |= failed(pids[i]);
  if (worst == 0) bench_result("switch", kCrowd, bench_median(shared->switches, 2 * kCrowd), "us");
  return worst;
}

int main(int argc, char** argv) {
  int only_line = argc > 1 && strcmp(argv[1], "line") == 0;
  struct Shared* shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (shared == MAP_FAILED) fail("limits: mmap");
  if (!only_line && crowd(shared) != 0) return 1;
  pid_t other = child();
  if (other == 0) {
    run(shared, 1, only_line);
    _exit(0);
  }
  run(shared, 0, only_line);
  return failed(other);
}
