// MPI_Pack and MPI_Unpack against what the machine does without them, in one process.
//   pack [seconds per figure]
//
// Blocks, a stride of twice the block: against one memcpy of as many bytes in a row, and against one memcpy for each block.
// A column of doubles: against the loop that a user would write. Each in turn with the other, so that the ratio is of one
// moment; the median of many turns. "l1" and "l2" have all of it in a first- or second-level cache, "memory" in none. There, and
// for every other double anywhere, what the machine itself can do stands beside it: the fastest of several bare loops
// (bare.h) against Heddle and against memcpy or the loop, and what only reads the blocks. Blocks at irregular places and an
// array of structs: bytes per second.
#include "../common/bench.h"
#include "bare.h"

#include <mpi.h>
#include <stddef.h>

enum { kTurns = 41, kRoom = 64 << 20 };

static char *memory, *packed;
static double turn_seconds;

typedef struct {
  MPI_Datatype type;
  int count;
  size_t bytes;
  size_t block;
  long doubles, stride;  // of a column
} Case;

static void hide(void) { __asm__ volatile("" ::: "memory"); }  // what was written counts as read

static void pack(const Case* c) {
  int position = 0;
  MPI_Pack(memory, c->count, c->type, packed, (int)c->bytes, &position, MPI_COMM_SELF);
}
static void unpack(const Case* c) {
  int position = 0;
  MPI_Unpack(packed, (int)c->bytes, &position, memory, c->count, c->type, MPI_COMM_SELF);
}
static void copy_out(const Case* c) { memcpy(packed, memory, c->bytes); }
static void copy_in(const Case* c) { memcpy(memory, packed, c->bytes); }
static void copy_each_out(const Case* c) {
  for (size_t i = 0, n = c->bytes / c->block; i < n; i++)
    memcpy(packed + i * c->block, memory + i * 2 * c->block, c->block);
}
static void copy_each_in(const Case* c) {
  for (size_t i = 0, n = c->bytes / c->block; i < n; i++)
    memcpy(memory + i * 2 * c->block, packed + i * c->block, c->block);
}

// Within one line of code: a loop that crosses into another takes two cycles an element on a Zen 4 instead of one.
__attribute__((noinline, aligned(64))) static void gather(double* out, const double* in, long n, long stride) {
  for (long i = 0; i < n; i++) out[i] = in[i * stride];
}
__attribute__((noinline, aligned(64))) static void scatter(double* out, const double* in, long n, long stride) {
  for (long i = 0; i < n; i++) out[i * stride] = in[i];
}
static void gather_column(const Case* c) { gather((double*)packed, (const double*)memory, c->doubles, c->stride); }
static void scatter_column(const Case* c) { scatter((double*)memory, (const double*)packed, c->doubles, c->stride); }

static BareLoop* bare_loop;  // the one that bare() runs
static void bare(const Case* c) {
  Bare b = {memory, packed, c->bytes, c->block, c->block ? 2 * c->block : (size_t)c->stride * 8};
  bare_loop(&b);
}

typedef void Work(const Case*);

static double seconds_of(Work* work, const Case* c, int rounds) {
  double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    work(c);
    hide();
  }
  return (bench_now() - start) / rounds;
}

static int rounds_of(Work* work, const Case* c) {
  seconds_of(work, c, 1);
  double once = seconds_of(work, c, 3);
  int rounds = (int)(turn_seconds / once);
  return rounds > 0 ? rounds : 1;
}

// How many times as fast as `other`.
static double times_as_fast(Work* work, Work* other, const Case* c) {
  int mine = rounds_of(work, c), others = rounds_of(other, c);
  double ratios[kTurns];
  for (int t = 0; t < kTurns; t++) {
    double before = seconds_of(other, c, others), between = seconds_of(work, c, mine);
    ratios[t] = before / between;
  }
  return bench_median(ratios, kTurns);
}

static double bytes_per_ns(Work* work, const Case* c) {
  int rounds = rounds_of(work, c);
  double rates[kTurns];
  for (int t = 0; t < kTurns; t++) rates[t] = (double)c->bytes / seconds_of(work, c, rounds) * 1e-9;
  return bench_median(rates, kTurns);
}

static void beside(const char* what, size_t size, Work* work, Work* other, const Case* c) {
  bench_result(what, size, times_as_fast(work, other, c), "x");
}

// bare() runs the fastest of `loops`, which take turns.
static void choose(BareLoop* const* loops, const Case* c) {
  enum { kRounds = 15, kMost = 16 };
  static double times[kMost][kRounds];
  bare_loop = loops[0];
  int rounds = rounds_of(bare, c);
  for (int t = 0; t < kRounds; t++) {
    for (int i = 0; loops[i]; i++) {
      bare_loop = loops[i];
      times[i][t] = seconds_of(bare, c, rounds);
    }
  }
  double best = 1e9;
  for (int i = 0; loops[i]; i++) {
    double median = bench_median(times[i], kRounds);
    if (median < best) best = median, bare_loop = loops[i];
  }
}

// The fastest of `loops` against `other`.
static void bare_beside(const char* what, size_t size, Work* other, const Case* c, BareLoop* const* loops) {
  if (!bare_can()) return;
  choose(loops, c);
  beside(what, size, bare, other, c);
}

typedef struct {
  const char* name;
  size_t bytes;  // packed
  size_t span;   // of a column
} Place;

static void blocks(const Place* place, size_t block) {
  Case c = {.count = 1, .bytes = place->bytes, .block = block};
  char what[40];
  MPI_Type_vector((int)(c.bytes / block), (int)block, (int)(2 * block), MPI_BYTE, &c.type);
  MPI_Type_commit(&c.type);
  snprintf(what, sizeof what, "pack-%s", place->name);
  beside(what, block, pack, copy_out, &c);
  snprintf(what, sizeof what, "unpack-%s", place->name);
  beside(what, block, unpack, copy_in, &c);
  snprintf(what, sizeof what, "pack-%s-each", place->name);
  beside(what, block, pack, copy_each_out, &c);
  snprintf(what, sizeof what, "unpack-%s-each", place->name);
  beside(what, block, unpack, copy_each_in, &c);
  if (strcmp(place->name, "memory") == 0) {
    bare_beside("pack-memory-can", block, copy_out, &c, bare_gathers);
    if (bare_can()) beside("pack-memory-bare", block, pack, bare, &c);
    bare_beside("pack-memory-parts", block, copy_out, &c, bare_parts_of);
    bare_beside("unpack-memory-can", block, copy_in, &c, bare_scatters);
    if (bare_can()) beside("unpack-memory-bare", block, unpack, bare, &c);
  }
  MPI_Type_free(&c.type);
}

static const char* column_row(const char* way, const Place* place, const char* what) {
  static char row[40];
  snprintf(row, sizeof row, "%scolumn-%s%s", way, place->name, what);
  return row;
}
static void column(const Place* place, long stride) {
  Case c = {.count = 1, .stride = stride, .doubles = (long)place->span / (stride * 8)};
  c.bytes = (size_t)c.doubles * 8;
  MPI_Type_vector((int)c.doubles, 1, (int)stride, MPI_DOUBLE, &c.type);
  MPI_Type_commit(&c.type);
  const size_t apart = (size_t)stride * 8;
  const BareColumn* loops = stride == 2 ? &bare_every_other_double : &bare_any_column;
  beside(column_row("", place, ""), apart, pack, gather_column, &c);
  beside(column_row("into-", place, ""), apart, unpack, scatter_column, &c);
  if (stride == 2 || strcmp(place->name, "memory") == 0) {
    bare_beside(column_row("", place, "-read"), apart, gather_column, &c, loops->read);
    bare_beside(column_row("", place, "-can"), apart, gather_column, &c, loops->out);
    if (bare_can()) beside(column_row("", place, "-bare"), apart, pack, bare, &c);
    bare_beside(column_row("into-", place, "-can"), apart, scatter_column, &c, loops->in);
    if (bare_can()) beside(column_row("into-", place, "-bare"), apart, unpack, bare, &c);
  }
  MPI_Type_free(&c.type);
}

// 8 columns of a matrix with rows of 1024 doubles, one after the other.
enum { kColumns = 8, kRow = 1024 };
static void gather_columns(const Case* c) {
  for (long j = 0; j < kColumns; j++) {
    gather((double*)packed + j * c->doubles, (const double*)memory + j, c->doubles, kRow);
  }
}
static void scatter_columns(const Case* c) {
  for (long j = 0; j < kColumns; j++) {
    scatter((double*)memory + j, (const double*)packed + j * c->doubles, c->doubles, kRow);
  }
}
static void columns(long rows) {
  Case c = {.count = kColumns, .doubles = rows, .bytes = (size_t)rows * kColumns * 8};
  MPI_Datatype one;
  MPI_Type_vector((int)rows, 1, kRow, MPI_DOUBLE, &one);
  MPI_Type_create_resized(one, 0, 8, &c.type);
  MPI_Type_commit(&c.type);
  beside("columns", (size_t)rows, pack, gather_columns, &c);
  beside("into-columns", (size_t)rows, unpack, scatter_columns, &c);
  MPI_Type_free(&one);
  MPI_Type_free(&c.type);
}

// Blocks of 3 doubles at places that follow no rule.
static void indexed(void) {
  enum { kBlocks = 4096 };
  static int displacements[kBlocks];
  for (int i = 0, at = 0; i < kBlocks; i++, at += 4 + (i * 7919 >> 3) % 3) displacements[i] = at;
  Case c = {.count = 1, .bytes = kBlocks * 3 * 8};
  MPI_Type_create_indexed_block(kBlocks, 3, displacements, MPI_DOUBLE, &c.type);
  MPI_Type_commit(&c.type);
  bench_result("pack-indexed", 24, bytes_per_ns(pack, &c), "GB/s");
  bench_result("unpack-indexed", 24, bytes_per_ns(unpack, &c), "GB/s");
  MPI_Type_free(&c.type);
}

static void structs(void) {
  struct Particle {
    double place[3];
    int kind;
    float charge;
    double speed[3];
    long internal[2];  // stays at home
  };
  int lengths[] = {3, 1, 1, 3};
  MPI_Aint places[] = {offsetof(struct Particle, place), offsetof(struct Particle, kind),
                       offsetof(struct Particle, charge), offsetof(struct Particle, speed)};
  MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_FLOAT, MPI_DOUBLE}, one;
  Case c = {.count = 2048, .bytes = 2048 * 56};
  MPI_Type_create_struct(4, lengths, places, types, &one);
  MPI_Type_create_resized(one, 0, sizeof(struct Particle), &c.type);
  MPI_Type_commit(&c.type);
  bench_result("pack-struct", 56, bytes_per_ns(pack, &c), "GB/s");
  bench_result("unpack-struct", 56, bytes_per_ns(unpack, &c), "GB/s");
  // An int and a double with a hole between them, which is more than one block.
  int short_lengths[] = {1, 1};
  MPI_Aint short_places[] = {0, 8};
  MPI_Datatype short_types[] = {MPI_INT, MPI_DOUBLE};
  Case pairs = {.count = 8192, .bytes = 8192 * 12};
  MPI_Type_create_struct(2, short_lengths, short_places, short_types, &pairs.type);
  MPI_Type_commit(&pairs.type);
  bench_result("pack-struct", 12, bytes_per_ns(pack, &pairs), "GB/s");
  bench_result("unpack-struct", 12, bytes_per_ns(unpack, &pairs), "GB/s");
  MPI_Type_free(&one);
  MPI_Type_free(&c.type);
  MPI_Type_free(&pairs.type);
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  turn_seconds = (argc > 1 ? atof(argv[1]) : 0.1) / kTurns / 2;
  memory = aligned_alloc(4096, 2 * kRoom);
  memset(memory, 1, 2 * kRoom);
  static const Place places[] = {{"l1", 8 << 10, 16 << 10}, {"l2", 128 << 10, 256 << 10}, {"memory", 16 << 20, kRoom}};
  for (int p = 0; p < 3; p++) {
    // Right behind it: a Zen 4 finds a line of its first-level cache by a hash of the page's address, and two pages with the same
    // hash, as two allocations have in one process and not in the next, put each other out.
    packed = memory + places[p].span;
    blocks(&places[p], 64);
    blocks(&places[p], 256);
    if (p > 0) blocks(&places[p], 4096);  // two of them in 8 KiB time the call
    column(&places[p], 2);
    column(&places[p], 8);
    if (p > 0) column(&places[p], 64);
  }
  columns(256);
  columns(4096);
  indexed();
  structs();
  MPI_Finalize();
  return 0;
}
