// Derived datatypes over the wire: what leaves by one layout arrives by another of the same signature, holes untouched.
#include <stddef.h>

#include "check.h"

static int other;
static MPI_Comm pair;

// Sends n of `type` at `from`; the peer receives m of `into` and both compare with what packing alone gives.
static void check_pair(const void* from, int n, MPI_Datatype out_type, void* to, size_t to_bytes, int m,
                       MPI_Datatype in_type) {
  int position = 0, room;
  unsigned char* expected = malloc(to_bytes);
  memset(to, 0xC3, to_bytes);
  memset(expected, 0xC3, to_bytes);
  MPI_Pack_size(n, out_type, MPI_COMM_WORLD, &room);
  char* packed = malloc((size_t)room + 1);
  MPI_Pack(from, n, out_type, packed, room, &position, MPI_COMM_WORLD);
  int bytes = position;
  position = 0;
  MPI_Unpack(packed, bytes, &position, expected, m, in_type, MPI_COMM_WORLD);
  CHECK_EQ(position, bytes);
  MPI_Sendrecv(from, n, out_type, other, 1, to, m, in_type, other, 1, pair, MPI_STATUS_IGNORE);
  CHECK(memcmp(to, expected, to_bytes) == 0, "wire and pack differ");
  // The packed bytes may be received as the type, and the type as packed bytes.
  memset(to, 0xC3, to_bytes);
  MPI_Sendrecv(packed, bytes, MPI_PACKED, other, 2, to, m, in_type, other, 2, pair, MPI_STATUS_IGNORE);
  CHECK(memcmp(to, expected, to_bytes) == 0, "packed send and pack differ");
  free(packed);
  free(expected);
}

static void vectors(int blocks, int length, int stride) {
  size_t n = (size_t)blocks * (size_t)stride;
  int *from = malloc(n * sizeof(int)), *to = malloc(n * sizeof(int));
  for (size_t i = 0; i < n; i++) from[i] = (int)i * 3 + 1;
  MPI_Datatype vector, hvector;
  MPI_Type_vector(blocks, length, stride, MPI_INT, &vector);
  MPI_Type_create_hvector(blocks, length, (MPI_Aint)(stride * (int)sizeof(int)), MPI_INT, &hvector);
  MPI_Type_commit(&vector);
  MPI_Type_commit(&hvector);
  check_pair(from, 1, vector, to, n * sizeof(int), 1, hvector);
  for (size_t i = 0; i < n; i++) {
    int in_block = (int)(i % (size_t)stride) < length;
    CHECK_EQ(to[i], in_block ? (int)i * 3 + 1 : (int)0xC3C3C3C3);
  }
  check_pair(from, 1, vector, to, n * sizeof(int), blocks * length, MPI_INT);
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < length; i++) CHECK_EQ(to[b * length + i], (b * stride + i) * 3 + 1);
  MPI_Type_free(&vector);
  MPI_Type_free(&hvector);
  free(from);
  free(to);
}

typedef struct {
  char c;
  double d;
  short s[3];
  long l;
} Record;

static MPI_Datatype record_type(void) {
  int lengths[] = {1, 1, 3, 1};
  MPI_Aint places[] = {offsetof(Record, c), offsetof(Record, d), offsetof(Record, s), offsetof(Record, l)};
  MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG}, bare, type;
  MPI_Type_create_struct(4, lengths, places, parts, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(Record), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&bare);  // what was made of it lives on
  return type;
}

static void records(int n) {
  Record *from = malloc(sizeof(Record) * (size_t)n), *to = malloc(sizeof(Record) * (size_t)n);
  MPI_Datatype type = record_type();
  int size;
  for (int i = 0; i < n; i++)
    from[i] = (Record){(char)i, i / 4.0, {(short)i, (short)(i + 1), (short)(i + 2)}, 1000000007L * i};
  MPI_Type_size(type, &size);
  CHECK_EQ(size, 1 + 8 + 6 + 8);
  check_pair(from, n, type, to, sizeof(Record) * (size_t)n, n, type);
  for (int i = 0; i < n; i++) {
    CHECK(to[i].c == (char)i && to[i].d == i / 4.0 && to[i].s[0] == (short)i && to[i].s[1] == (short)(i + 1) &&
              to[i].s[2] == (short)(i + 2) && to[i].l == 1000000007L * i,
          "record %d", i);
    CHECK_EQ(((unsigned char*)&to[i])[1], 0xC3);
  }
  MPI_Type_free(&type);
  free(from);
  free(to);
}

// Out of order, by indices: a permutation that the receiver undoes.
static void permutation(int n) {
  int *lengths = malloc(sizeof(int) * (size_t)n), *places = malloc(sizeof(int) * (size_t)n);
  double *from = malloc(sizeof(double) * (size_t)n), *to = malloc(sizeof(double) * (size_t)n);
  MPI_Aint* bytes = malloc(sizeof(MPI_Aint) * (size_t)n);
  MPI_Datatype forth, back, block;
  for (int i = 0; i < n; i++) {
    lengths[i] = 1, places[i] = (int)((i * 7919L) % n), bytes[i] = places[i] * (MPI_Aint)sizeof(double);
    from[i] = i * 1.5;
  }
  MPI_Type_indexed(n, lengths, places, MPI_DOUBLE, &forth);
  MPI_Type_create_hindexed(n, lengths, bytes, MPI_DOUBLE, &back);
  MPI_Type_create_indexed_block(n, 1, places, MPI_DOUBLE, &block);
  MPI_Type_commit(&forth);
  MPI_Type_commit(&back);
  MPI_Type_commit(&block);
  check_pair(from, 1, forth, to, sizeof(double) * (size_t)n, n, MPI_DOUBLE);
  for (int i = 0; i < n; i++) CHECK(to[i] == places[i] * 1.5, "element %d is %g", i, to[i]);
  check_pair(from, 1, forth, to, sizeof(double) * (size_t)n, 1, back);
  for (int i = 0; i < n; i++) CHECK(to[i] == i * 1.5, "element %d is %g", i, to[i]);
  check_pair(from, 1, block, to, sizeof(double) * (size_t)n, 1, forth);
  for (int i = 0; i < n; i++) CHECK(to[i] == i * 1.5, "element %d is %g", i, to[i]);
  MPI_Type_free(&forth);
  MPI_Type_free(&back);
  MPI_Type_free(&block);
  free(lengths), free(places), free(from), free(to), free(bytes);
}

// A message that ends in the middle of a type: counts and elements say how far it came.
static void partial(void) {
  MPI_Datatype three;
  MPI_Status status;
  int data[9] = {0}, out[9] = {0}, count;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  for (int sent = 0; sent <= 9; sent++) {
    MPI_Sendrecv(out, sent, MPI_INT, other, 3, data, 3, three, other, 3, pair, &status);
    MPI_Get_count(&status, three, &count);
    CHECK_EQ(count, sent % 3 ? MPI_UNDEFINED : sent / 3);
    MPI_Get_elements(&status, three, &count);
    CHECK_EQ(count, sent);
  }
  MPI_Type_free(&three);
}

// A freed type lives as long as the communication that uses it.
static void freed_in_flight(void) {
  enum { kRows = 3000 };
  int *from = malloc(sizeof(int) * kRows * 4), *to = malloc(sizeof(int) * kRows * 4);
  MPI_Datatype column;
  MPI_Request requests[2];
  for (int i = 0; i < kRows * 4; i++) from[i] = i, to[i] = -1;
  MPI_Type_vector(kRows, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Irecv(to, 1, column, other, 4, pair, &requests[0]);
  MPI_Barrier(pair);
  MPI_Isend(from, 1, column, other, 4, pair, &requests[1]);
  MPI_Type_free(&column);
  CHECK(column == MPI_DATATYPE_NULL);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kRows * 4; i++) CHECK_EQ(to[i], i % 4 ? -1 : i);
  free(from);
  free(to);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  other = world_size - 1 - world_rank;  // on one rank: itself
  pair = MPI_COMM_WORLD;
  static const int counts[] = {1, 2, 7, 100, 3000, 60000};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    vectors(counts[c], 1, 3);
    vectors(counts[c], 5, 8);
    records(counts[c]);
    permutation(counts[c]);
  }
  partial();
  freed_in_flight();
  return finish();
}
