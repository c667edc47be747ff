// The collectives that move data: broadcast, gather, scatter, allgather, alltoall and their v- and w-variants, for
// every root.
#include "coll.h"

static const int kCounts[] = {0, 1, 3, 40, 100, 5000, 70000};
enum { kSizes = sizeof kCounts / sizeof *kCounts };

static int* ints(size_t n) {
  int* p = malloc((n + 1) * sizeof *p);
  for (size_t i = 0; i <= n; i++) p[i] = -1;
  return p;
}

static void broadcast(int root, int count) {
  int* data = ints((size_t)count);
  for (int i = 0; i < count && rank == root; i++) data[i] = element(root, 0, i);
  RUN(Bcast, bcast, data, count, MPI_INT, root, comm);
  for (int i = 0; i < count; i++) CHECK_EQ(data[i], element(root, 0, i));
  CHECK_EQ(data[count], -1);
  free(data);
}

// A root that nobody keeps waiting runs ahead of the others: what they have not read yet has to stay.
static void root_ahead(int root, int count) {
  int* data = ints((size_t)count);
  for (int round = 0; round < 300; round++) {
    for (int i = 0; i < count; i++) data[i] = rank == root ? element(root, round, i) : -1;
    MPI_Bcast(data, count, MPI_INT, root, comm);
    for (int i = 0; i < count; i++) CHECK_EQ(data[i], element(root, round, i));
  }
  free(data);
}

static void gather(int root, int count, int in_place) {
  int *mine = ints((size_t)count), *all = ints((size_t)count * (size_t)size);
  for (int i = 0; i < count; i++) mine[i] = all[rank * count + i] = element(rank, root, i);
  RUN(Gather, gather, in_place && rank == root ? MPI_IN_PLACE : mine, count, MPI_INT, rank == root ? all : NULL, count,
      MPI_INT, root, comm);
  for (int r = 0; r < size && rank == root; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(all[r * count + i], element(r, root, i));
  CHECK_EQ(all[count * size], -1);
  free(mine);
  free(all);
}

static void scatter(int root, int count, int in_place) {
  int *mine = ints((size_t)count), *all = ints((size_t)count * (size_t)size);
  for (int r = 0; r < size && rank == root; r++)
    for (int i = 0; i < count; i++) all[r * count + i] = element(root, r, i);
  int keep = in_place && rank == root;
  RUN(Scatter, scatter, rank == root ? all : NULL, count, MPI_INT, keep ? MPI_IN_PLACE : mine, count, MPI_INT, root,
      comm);
  for (int i = 0; i < count; i++) CHECK_EQ(keep ? all[rank * count + i] : mine[i], element(root, rank, i));
  CHECK_EQ(mine[count], -1);
  free(mine);
  free(all);
}

static void allgather(int count, int in_place) {
  int *mine = ints((size_t)count), *all = ints((size_t)count * (size_t)size);
  for (int i = 0; i < count; i++) mine[i] = element(rank, 0, i);
  if (in_place) memcpy(all + rank * count, mine, (size_t)count * sizeof *mine);
  RUN(Allgather, allgather, in_place ? MPI_IN_PLACE : mine, count, MPI_INT, all, count, MPI_INT, comm);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(all[r * count + i], element(r, 0, i));
  CHECK_EQ(all[count * size], -1);
  free(mine);
  free(all);
}

static void alltoall(int count, int in_place) {
  int *out = ints((size_t)count * (size_t)size), *in = ints((size_t)count * (size_t)size);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) out[r * count + i] = element(rank, r, i);
  if (in_place) memcpy(in, out, (size_t)count * (size_t)size * sizeof *in);
  RUN(Alltoall, alltoall, in_place ? MPI_IN_PLACE : out, count, MPI_INT, in, count, MPI_INT, comm);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(in[r * count + i], element(r, rank, i));
  CHECK_EQ(in[count * size], -1);
  free(out);
  free(in);
}

// The v-variants: rank r's block for rank q has (base + r + 2 q) % 5 elements, with holes between the blocks.
static int length(int base, int from, int to) { return (base + from + 2 * to) % 5 * (base / 10 + 1); }

static void layout(int base, int from_all, int* counts, int* places, int* total) {
  *total = 2;
  for (int r = 0; r < size; r++) {
    counts[r] = from_all ? length(base, r, rank) : length(base, rank, r);
    places[r] = *total;
    *total += counts[r] + 3;
  }
}

static void check_blocks(const int* data, const int* counts, const int* places, int total, int to) {
  int* expected = ints((size_t)total);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < counts[r]; i++) expected[places[r] + i] = element(r, to, i);
  for (int i = 0; i < total; i++) CHECK_EQ(data[i], expected[i]);
  free(expected);
}

static void vectors(int root, int base) {
  int counts[64], places[64], total, n = length(base, rank, root);
  int* mine = ints((size_t)n);
  for (int i = 0; i < n; i++) mine[i] = element(rank, root, i);

  layout(base, 1, counts, places, &total);
  for (int r = 0; r < size; r++) counts[r] = length(base, r, root);
  total += size * 5 * (base / 10 + 1);
  for (int r = 1, at = places[0] + counts[0] + 3; r < size; at += counts[r] + 3, r++) places[r] = at;
  int* all = ints((size_t)total);
  RUN(Gatherv, gatherv, mine, n, MPI_INT, all, counts, places, MPI_INT, root, comm);
  if (rank == root) check_blocks(all, counts, places, total, root);
  for (int i = 0; i < total; i++) all[i] = -1;
  RUN(Allgatherv, allgatherv, mine, n, MPI_INT, all, counts, places, MPI_INT, comm);
  check_blocks(all, counts, places, total, root);
  for (int i = 0; i < total; i++) all[i] = -1;
  for (int i = 0; i < n; i++) all[places[rank] + i] = mine[i];
  RUN(Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT, comm);
  check_blocks(all, counts, places, total, root);
  for (int i = 0; i < n; i++) mine[i] = -1;
  RUN(Scatterv, scatterv, all, counts, places, MPI_INT, mine, n, MPI_INT, root, comm);
  for (int i = 0; i < n; i++) CHECK_EQ(mine[i], element(rank, root, i));
  CHECK_EQ(mine[n], -1);
  free(mine);
  free(all);
}

// alltoallw takes bytes for places and a type for each peer: ints from even ranks, pairs of shorts from odd ones.
static void alltoall_vectors(int base, int w) {
  int out_counts[64], out_places[64], out_total, in_counts[64], in_places[64], in_total;
  layout(base, 0, out_counts, out_places, &out_total);
  layout(base, 1, in_counts, in_places, &in_total);
  int *out = ints((size_t)out_total), *in = ints((size_t)in_total);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < out_counts[r]; i++) out[out_places[r] + i] = element(rank, r, i);
  if (!w) {
    RUN(Alltoallv, alltoallv, out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    check_blocks(in, in_counts, in_places, in_total, rank);
  } else {
    MPI_Datatype pair, out_types[64], in_types[64];
    int out_bytes[64], in_bytes[64];
    MPI_Type_contiguous(2, MPI_SHORT, &pair);
    MPI_Type_commit(&pair);
    for (int r = 0; r < size; r++) {
      out_types[r] = rank % 2 ? pair : MPI_INT, in_types[r] = r % 2 ? pair : MPI_INT;
      out_bytes[r] = out_places[r] * (int)sizeof(int), in_bytes[r] = in_places[r] * (int)sizeof(int);
    }
    RUN(Alltoallw, alltoallw, out, out_counts, out_bytes, out_types, in, in_counts, in_bytes, in_types, comm);
    check_blocks(in, in_counts, in_places, in_total, rank);
    MPI_Type_free(&pair);
  }
  free(out);
  free(in);
}

static void checks(void) {
  for (int s = 0; s < kSizes; s++) {
    int count = kCounts[s];
    if (count <= 100) root_ahead(size - 1, count);
    for (int root = 0; root < size; root++) {
      broadcast(root, count);
      if (count > 5000) continue;
      for (int in_place = 0; in_place < 2; in_place++) {
        gather(root, count, in_place);
        scatter(root, count, in_place);
      }
    }
    for (int in_place = 0; in_place < 2 && count <= 5000; in_place++) {
      allgather(count, in_place);
      alltoall(count, in_place);
    }
  }
  for (int base = 0; base < 25; base += 6) {
    for (int root = 0; root < size; root++) vectors(root, base);
    for (int w = 0; w < 2; w++) alltoall_vectors(base, w);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  on_each_comm(checks);
  return finish();
}
