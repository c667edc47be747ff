// MPI_Put and MPI_Get between layouts: every pair of ten derived types of one signature, both ways, holes untouched; records,
// nothing, oneself, MPI_PROC_NULL, megabytes. Each rank's window has another displacement unit.
#include <stddef.h>

#include "rma.h"

enum { kInts = 120, kKinds = 10, kRegion = 8192, kMiddle = kRegion / 2, kLarge = 4 << 20 };

// A type of 120 ints, all within kMiddle bytes of an address on both sides; *n of it make up the signature.
static MPI_Datatype layout(int kind, int* n) {
  MPI_Datatype type, inner;
  int lengths[kInts], places[kInts];
  MPI_Aint bytes[kInts];
  int sizes[] = {12, 20}, parts[] = {10, 12}, firsts[] = {1, 5};
  *n = 1;
  switch (kind) {
    case 0:
      MPI_Type_contiguous(kInts, MPI_INT, &type);
      break;
    case 1:
      *n = 4;
      MPI_Type_vector(10, 3, 7, MPI_INT, &type);
      break;
    case 2:
      *n = 2;
      MPI_Type_create_hvector(15, 4, -68, MPI_INT, &type);  // backwards
      break;
    case 3:
      for (int i = 0; i < kInts; i++) lengths[i] = 1, places[i] = i * 49 % kInts * 2;
      MPI_Type_indexed(kInts, lengths, places, MPI_INT, &type);
      break;
    case 4:
      for (int i = 0; i < 15; i++) lengths[i] = i + 1, bytes[i] = 3 + 70 * i - 500;  // no int on its boundary
      MPI_Type_create_hindexed(15, lengths, bytes, MPI_INT, &type);
      break;
    case 5:
      MPI_Type_create_subarray(2, sizes, parts, firsts, MPI_ORDER_C, MPI_INT, &type);
      break;
    case 6:
      *n = 30;
      MPI_Type_contiguous(4, MPI_INT, &inner);
      MPI_Type_create_resized(inner, -24, 44, &type);
      MPI_Type_free(&inner);
      break;
    case 7:
      *n = 60;
      MPI_Type_contiguous(2, MPI_INT, &inner);
      MPI_Type_create_resized(inner, 0, -32, &type);  // each before the one before
      MPI_Type_free(&inner);
      break;
    case 8:
      for (int i = 0; i < kInts / 3; i++) places[i] = 4 * (i ^ 5);
      MPI_Type_create_indexed_block(kInts / 3, 3, places, MPI_INT, &type);
      break;
    default:
      *n = kInts;
      MPI_Type_dup(MPI_INT, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

// What n of `from_type` at `from` leave at `to` as m of `to_type`, by packing alone.
static void by_packing(const void* from, int n, MPI_Datatype from_type, void* to, int m, MPI_Datatype to_type) {
  int room, position = 0, bytes;
  MPI_Pack_size(n, from_type, MPI_COMM_WORLD, &room);
  char* packed = malloc((size_t)room + 1);
  MPI_Pack(from, n, from_type, packed, room, &position, MPI_COMM_WORLD);
  bytes = position, position = 0;
  MPI_Unpack(packed, bytes, &position, to, m, to_type, MPI_COMM_WORLD);
  free(packed);
}

static void compare(const void* found, const void* expected, size_t bytes, const char* what, int from, int to) {
  const unsigned char *a = found, *b = expected;
  for (size_t i = 0; i < bytes; i++)
    CHECK(a[i] == b[i], "%s, layout %d to %d, byte %zu: %d, expected %d", what, from, to, i, a[i], b[i]);
}

static int right, left;

// One layout at the origin and every other at the target, each in a region of its own.
static void pairs(Window* w, int kind) {
  int n, m[kKinds];
  MPI_Datatype type = layout(kind, &n), types[kKinds];
  unsigned char *mine = malloc((size_t)kKinds * kRegion), *expected = malloc(kRegion);
  for (int k = 0; k < kKinds; k++) types[k] = layout(k, &m[k]);
  for (int get = 0; get < 2; get++) {
    fill(w->base, (size_t)kKinds * kRegion, (unsigned)(world_rank + 10));
    fill(mine, (size_t)kKinds * kRegion, (unsigned)(world_rank + 20));
    MPI_Win_fence(0, w->win);
    for (int k = 0; k < kKinds; k++) {
      unsigned char* at_origin = mine + k * kRegion + kMiddle;
      MPI_Aint place = at(w, right, k * kRegion + kMiddle);
      if (get)
        MPI_Get(at_origin, n, type, right, place, m[k], types[k], w->win);
      else
        MPI_Put(at_origin, n, type, right, place, m[k], types[k], w->win);
    }
    MPI_Win_fence(0, w->win);
    unsigned char *theirs = malloc((size_t)kKinds * kRegion), *all = malloc((size_t)kKinds * kRegion);
    fill(theirs, (size_t)kKinds * kRegion, (unsigned)(get ? right + 10 : left + 20));
    fill(all, (size_t)kKinds * kRegion, (unsigned)(get ? world_rank + 20 : world_rank + 10));
    for (int k = 0; k < kKinds; k++) {
      const unsigned char *from = theirs + k * kRegion, *found = (get ? mine : w->base) + k * kRegion;
      memcpy(expected, all + k * kRegion, kRegion);
      if (get)
        by_packing(from + kMiddle, m[k], types[k], expected + kMiddle, n, type);
      else
        by_packing(from + kMiddle, n, type, expected + kMiddle, m[k], types[k]);
      compare(found, expected, kRegion, get ? "get" : "put", get ? k : kind, get ? kind : k);
    }
    free(theirs), free(all);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int k = 0; k < kKinds; k++) MPI_Type_free(&types[k]);
  MPI_Type_free(&type);
  free(mine), free(expected);
}

typedef struct {
  char c;
  double d;
  short s[3];
  long l;
} Record;

// The same signature in another order of memory.
typedef struct {
  long l;
  short s[3];
  double d;
  char c;
} Mirrored;

static MPI_Datatype record(const MPI_Aint* places, MPI_Aint extent) {
  const int lengths[] = {1, 1, 3, 1};
  const MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG};
  MPI_Datatype bare, type;
  MPI_Type_create_struct(4, lengths, places, parts, &bare);
  MPI_Type_create_resized(bare, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&bare);  // and the types may go before the epoch ends
  return type;
}

static void records(Window* w) {
  enum { kRecords = 50 };
  const MPI_Aint straight[] = {offsetof(Record, c), offsetof(Record, d), offsetof(Record, s), offsetof(Record, l)};
  const MPI_Aint mirrored[] = {offsetof(Mirrored, c), offsetof(Mirrored, d), offsetof(Mirrored, s),
                               offsetof(Mirrored, l)};
  MPI_Datatype here = record(straight, sizeof(Record)), there = record(mirrored, sizeof(Mirrored));
  Record out[kRecords], back[kRecords];
  const Mirrored* in = (const Mirrored*)w->base;
  memset(w->base, 0xC3, sizeof(Mirrored) * kRecords);
  for (int i = 0; i < kRecords; i++) {
    short s = (short)(i - world_rank);
    out[i] = (Record){(char)i, i / 4.0 + world_rank, {s, (short)(s + 1), (short)(s + 2)}, 1000000007L * i + world_rank};
  }
  MPI_Win_fence(0, w->win);
  MPI_Put(out, kRecords, here, right, at(w, right, 0), kRecords, there, w->win);
  MPI_Type_free(&there);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kRecords; i++) {
    short s = (short)(i - left);
    CHECK(in[i].c == (char)i && in[i].d == i / 4.0 + left && in[i].s[0] == s && in[i].s[2] == (short)(s + 2) &&
              in[i].l == 1000000007L * i + left,
          "record %d of rank %d: %d %g %d %d %ld", i, left, in[i].c, in[i].d, in[i].s[0], in[i].s[2], in[i].l);
    CHECK_EQ(((const unsigned char*)&in[i])[sizeof(Mirrored) - 1], 0xC3);
  }
  there = record(mirrored, sizeof(Mirrored));
  MPI_Win_fence(0, w->win);
  MPI_Get(back, kRecords, here, right, at(w, right, 0), kRecords, there, w->win);
  MPI_Type_free(&here);
  MPI_Type_free(&there);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kRecords; i++)
    CHECK(back[i].c == out[i].c && back[i].d == out[i].d && back[i].s[1] == out[i].s[1] && back[i].l == out[i].l,
          "record %d came back as %d %g %d %ld", i, back[i].c, back[i].d, back[i].s[1], back[i].l);
}

// What moves nothing, what goes nowhere, and what stays at home.
static void edges(Window* w) {
  int value = 77, got = -1;
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  fill(w->base, 256, 3);
  MPI_Win_fence(0, w->win);
  MPI_Put(NULL, 0, MPI_INT, right, at(w, right, 0), 0, MPI_INT, w->win);
  MPI_Get(NULL, 0, MPI_DOUBLE, right, at(w, right, 0), 0, MPI_DOUBLE, w->win);
  MPI_Put(&value, 5, nothing, right, at(w, right, 0), 3, nothing, w->win);
  MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win);
  MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, (MPI_Aint)1 << 40, 1, MPI_INT, w->win);
  MPI_Get(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win);
  MPI_Win_fence(0, w->win);
  CHECK_EQ(got, -1);
  CHECK_PATTERN(w->base, 256, 3);
  MPI_Put(&value, 1, MPI_INT, world_rank, at(w, world_rank, 64), 1, MPI_INT, w->win);
  MPI_Win_fence(0, w->win);
  MPI_Get(&got, 1, MPI_INT, world_rank, at(w, world_rank, 64), 1, MPI_INT, w->win);
  MPI_Win_fence(0, w->win);
  CHECK_EQ(got, 77);
  CHECK_PATTERN(w->base, 64, 3);
  MPI_Type_free(&nothing);
}

static void large(Window* w) {
  unsigned char *mine = malloc(kLarge), *got = malloc(kLarge);
  MPI_Datatype columns;
  MPI_Type_vector(kLarge / 128, 1, 16, MPI_DOUBLE, &columns);  // 256 KiB of doubles, 128 bytes apart
  MPI_Type_commit(&columns);
  fill(mine, kLarge, (unsigned)world_rank);
  MPI_Win_fence(0, w->win);
  MPI_Put(mine, kLarge, MPI_BYTE, right, at(w, right, 0), kLarge, MPI_BYTE, w->win);
  MPI_Win_fence(0, w->win);
  CHECK_PATTERN(w->base, kLarge, (unsigned)left);
  MPI_Get_c(got, kLarge / 8, MPI_DOUBLE, right, at(w, right, 0), kLarge / 8, MPI_DOUBLE, w->win);
  MPI_Win_fence(0, w->win);
  CHECK_PATTERN(got, kLarge, (unsigned)world_rank);
  memset(got, 0, kLarge);
  MPI_Get(got, kLarge / 128, MPI_DOUBLE, right, at(w, right, 0), 1, columns, w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kLarge / 128; i++) CHECK(memcmp(got + 8 * i, mine + 128 * i, 8) == 0, "column's element %d", i);
  memset(mine, 0x5A, kLarge);
  MPI_Put_c(mine, kLarge / 128, MPI_DOUBLE, right, at(w, right, 0), 1, columns, w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kLarge; i++) {
    unsigned char want = i % 128 < 8 ? 0x5A : pattern((size_t)i, (unsigned)left);
    CHECK(w->base[i] == want, "byte %d is %d, expected %d", i, w->base[i], want);
  }
  MPI_Type_free(&columns);
  free(mine), free(got);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, (MPI_Aint)kKinds * kRegion, 1 << world_rank % 4);
  for (int kind = 0; kind < kKinds; kind++) pairs(&w, kind);
  records(&w);
  edges(&w);
  window_close(&w);
  window_open(&w, flavor, kLarge, 8);
  large(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
