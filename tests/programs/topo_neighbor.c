// Neighbourhood collectives in their three forms on topologies of every kind, among them grids with periods of 1 and 2,
// graphs with repeated edges and edges to oneself, and ranks without neighbours.
//
// Every block says who sent it, from which of its blocks. Which block should arrive where follows from the standard:
// in a grid, what is sent in one direction arrives from the other; of several edges between two ranks, the k-th of the
// sender is the k-th of the receiver.
#include "coll.h"

#pragma GCC diagnostic ignored "-Wstringop-overflow"  // MPI_UNWEIGHTED is no array, and the prototypes call it one
#pragma GCC diagnostic ignored "-Wstringop-overread"

enum { kMaxDegree = 64, kSmall = 3, kLarge = 20000, kGuard = -77 };

static int indegree, outdegree, sources[kMaxDegree], destinations[kMaxDegree];
static int from_block[kMaxDegree];  // which block of sources[i] arrives as block i

static int in_range(int r) { return (r % size + 2 * size) % size; }

static void find_blocks(int is_grid) {
  int* all = malloc(sizeof(int) * (size_t)(size * kMaxDegree));
  for (int i = outdegree; i < kMaxDegree; i++) destinations[i] = MPI_PROC_NULL;
  MPI_Allgather(destinations, kMaxDegree, MPI_INT, all, kMaxDegree, MPI_INT, comm);
  for (int i = 0; i < indegree; i++) {
    from_block[i] = i ^ 1;
    if (is_grid) continue;
    int before = 0, k = -1;
    for (int j = 0; j < i; j++) before += sources[j] == sources[i];
    for (const int* their = all + kMaxDegree * sources[i]; before >= 0; before -= their[k] == rank) k++;
    from_block[i] = k;
  }
  free(all);
}

static int value(int from, int block, int i) { return from * 1000003 + block * 1009 + i * 7 + 1; }
static int count_of(int from, int block) { return (from + 2 * block) % 4; }

static void check_block(const int* data, int stride, int n, int from, int block, int room) {
  if (from == MPI_PROC_NULL) n = 0;
  for (int i = 0; i < n; i++) CHECK_EQ(data[i * stride], value(from, block, i));
  for (int i = n ? (n - 1) * stride + 1 : 0; i < room; i++) CHECK_EQ(data[i], kGuard);
}

static int *out, *in;
static void clear(void) {
  for (int i = 0; i < (outdegree + 1) * kLarge; i++) out[i] = -1;
  for (int i = 0; i < (indegree + 1) * kLarge; i++) in[i] = kGuard;
}

static void equal_blocks(int n) {
  clear();
  for (int i = 0; i < n; i++) out[i] = value(rank, 0, i);
  RUN(Neighbor_allgather, neighbor_allgather, out, n, MPI_INT, in, n, MPI_INT, comm);
  for (int b = 0; b < indegree; b++) check_block(in + b * n, 1, n, sources[b], 0, n);
  check_block(in + indegree * n, 1, 0, 0, 0, n);

  clear();
  for (int b = 0; b < outdegree; b++)
    for (int i = 0; i < n; i++) out[b * n + i] = value(rank, b, i);
  RUN(Neighbor_alltoall, neighbor_alltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
  for (int b = 0; b < indegree; b++) check_block(in + b * n, 1, n, sources[b], from_block[b], n);
  check_block(in + indegree * n, 1, 0, 0, 0, n);
}

// Blocks of different lengths, empty ones among them, with gaps, the last one first.
static void unequal_blocks(void) {
  enum { kRoom = 8 };
  int in_counts[kMaxDegree], in_at[kMaxDegree], out_counts[kMaxDegree], out_at[kMaxDegree];
  MPI_Aint in_bytes[kMaxDegree], out_bytes[kMaxDegree];
  MPI_Datatype in_types[kMaxDegree], out_types[kMaxDegree], spaced;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  for (int b = 0; b < kMaxDegree; b++) {  // what lies behind the last neighbour is not looked at
    in_counts[b] = out_counts[b] = -1;
    in_types[b] = out_types[b] = MPI_DATATYPE_NULL;
  }
  for (int b = 0; b < indegree; b++) {
    in_at[b] = kRoom * (indegree - 1 - b);
    in_bytes[b] = in_at[b] * (MPI_Aint)sizeof(int);
    in_types[b] = b % 2 ? spaced : MPI_INT;
    in_counts[b] = sources[b] == MPI_PROC_NULL ? 3 : sources[b] % 4;
  }
  for (int b = 0; b < outdegree; b++) {
    out_at[b] = kRoom * (outdegree - 1 - b);
    out_bytes[b] = out_at[b] * (MPI_Aint)sizeof(int);
    out_types[b] = b % 3 ? MPI_INT : spaced;
    out_counts[b] = count_of(rank, b);
  }

  clear();
  for (int i = 0; i < rank % 4; i++) out[i] = value(rank, 0, i);
  RUN(Neighbor_allgatherv, neighbor_allgatherv, out, rank % 4, MPI_INT, in, in_counts, in_at, MPI_INT, comm);
  for (int b = 0; b < indegree; b++) check_block(in + in_at[b], 1, in_counts[b], sources[b], 0, kRoom);

  for (int b = 0; b < indegree; b++)
    in_counts[b] = sources[b] == MPI_PROC_NULL ? 3 : count_of(sources[b], from_block[b]);
  clear();
  for (int b = 0; b < outdegree; b++)
    for (int i = 0; i < out_counts[b]; i++) out[out_at[b] + i] = value(rank, b, i);
  RUN(Neighbor_alltoallv, neighbor_alltoallv, out, out_counts, out_at, MPI_INT, in, in_counts, in_at, MPI_INT, comm);
  for (int b = 0; b < indegree; b++) check_block(in + in_at[b], 1, in_counts[b], sources[b], from_block[b], kRoom);

  clear();
  for (int b = 0; b < outdegree; b++)
    for (int i = 0; i < out_counts[b]; i++) out[out_at[b] + i * (b % 3 ? 1 : 2)] = value(rank, b, i);
  RUN(Neighbor_alltoallw, neighbor_alltoallw, out, out_counts, out_bytes, out_types, in, in_counts, in_bytes, in_types,
      comm);
  for (int b = 0; b < indegree; b++)
    check_block(in + in_at[b], b % 2 ? 2 : 1, in_counts[b], sources[b], from_block[b], kRoom);
  MPI_Type_free(&spaced);
}

// Two at once, the later one waited for first; and a persistent one run again with other data.
static void overlapping(void) {
  MPI_Request first, second;
  int *more = malloc(sizeof(int) * (size_t)(indegree + 1)), mine = rank, again = rank;
  clear();
  memset(more, -1, sizeof(int) * (size_t)(indegree + 1));
  MPI_Ineighbor_allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, comm, &first);
  MPI_Ineighbor_allgather(&again, 1, MPI_INT, more, 1, MPI_INT, comm, &second);
  MPI_Wait(&second, MPI_STATUS_IGNORE);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  for (int b = 0; b < indegree; b++) {
    CHECK_EQ(in[b], sources[b] == MPI_PROC_NULL ? kGuard : sources[b]);
    CHECK_EQ(more[b], sources[b] == MPI_PROC_NULL ? -1 : sources[b]);
  }
  MPI_Neighbor_allgather_init(&mine, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &first);
  for (int run = 0; run < 5; run++) {
    mine = 100 * run + rank;
    MPI_Start(&first);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    for (int b = 0; b < indegree; b++) CHECK_EQ(in[b], sources[b] == MPI_PROC_NULL ? kGuard : 100 * run + sources[b]);
  }
  MPI_Request_free(&first);
  free(more);
}

// REQUIRES: the lists are filled in.
static void check_comm(int is_grid) {
  find_blocks(is_grid);
  out = malloc(sizeof(int) * (size_t)((outdegree + 1) * kLarge));
  in = malloc(sizeof(int) * (size_t)((indegree + 1) * kLarge));
  for (form = kBlocking; form < kForms; form++) {
    equal_blocks(kSmall);
    equal_blocks(kLarge);
    equal_blocks(0);
    unequal_blocks();
  }
  overlapping();
  free(out);
  free(in);
  MPI_Comm_free(&comm);
}

// A copy of it, since the topology goes along.
static void check_copy(MPI_Comm grid) {
  int ndims;
  MPI_Cartdim_get(grid, &ndims);
  MPI_Comm_dup(grid, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  indegree = outdegree = 2 * ndims;
  for (int d = 0; d < ndims; d++) MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]);
  memcpy(destinations, sources, sizeof sources);
  check_comm(1);
}

static void grid(int ndims, const int* dims, int periodic) {  // bit d of `periodic`: dimension d
  int periods[3] = {0, 0, 0};
  for (int d = 0; d < ndims; d++) periods[d] = periodic >> d & 1;
  MPI_Comm made, part;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &made);
  if (made == MPI_COMM_NULL) return;
  check_copy(made);
  for (int d = 0; d < ndims; d++) {
    int remain[3] = {1, 1, 1};
    remain[d] = 0;
    MPI_Cart_sub(made, remain, &part);
    check_copy(part);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&made);
}

static void grids(void) {
  int dims[3] = {0, 0, 0}, n = world_size;
  for (int periodic = 0; periodic < 2; periodic++) {
    grid(1, &n, periodic);
    grid(1, (int[]){1}, periodic);
  }
  grid(0, NULL, 0);
  for (int periodic = 0; periodic < 4; periodic++) {
    grid(2, (int[]){n, 1}, periodic);
    if (n >= 2) grid(2, (int[]){n / 2, 2}, periodic);
  }
  MPI_Dims_create(n, 3, dims);
  for (int periodic = 0; periodic < 8; periodic += 7) grid(3, dims, periodic);
}

static void graphs(void) {
  comm = MPI_COMM_WORLD;
  rank = world_rank, size = world_size;
  // To itself twice, and to the ranks beside it; with two ranks, those are one.
  int *index = malloc(sizeof(int) * (size_t)size), *edges = malloc(sizeof(int) * 4 * (size_t)size);
  for (int r = 0; r < size; r++) {
    index[r] = 4 * (r + 1);
    memcpy(edges + 4 * r, (int[]){r, in_range(r + 1), r, in_range(r - 1)}, 4 * sizeof(int));
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  indegree = outdegree = 4;
  memcpy(sources, edges + 4 * rank, 4 * sizeof(int));
  memcpy(destinations, sources, sizeof sources);
  check_comm(0);
  free(index);
  free(edges);
}

static void dist_graphs(void) {
  rank = world_rank, size = world_size;
  // Three edges to the next rank and one to the one after it, which the two ends list in different orders.
  int s[4] = {in_range(rank - 2), in_range(rank - 1), in_range(rank - 1), in_range(rank - 1)};
  int d[4] = {in_range(rank + 1), in_range(rank + 2), in_range(rank + 1), in_range(rank + 1)};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, s, MPI_UNWEIGHTED, 4, d, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  indegree = outdegree = 4;
  memcpy(sources, s, sizeof s);
  memcpy(destinations, d, sizeof d);
  check_comm(0);

  // The last rank names two edges from rank 0 to each rank, and one from itself to itself.
  int from[2] = {0, rank}, degrees[2] = {2 * size, 1}, *to = malloc(sizeof(int) * (size_t)(2 * size + 1));
  for (int i = 0; i < 2 * size; i++) to[i] = i / 2;
  to[2 * size] = size - 1;
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == size - 1 ? 2 : 0, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &comm);
  int weighted;
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  CHECK_EQ(indegree, 2 + (rank == size - 1));
  CHECK_EQ(outdegree, (rank == 0) * 2 * size + (rank == size - 1));
  MPI_Dist_graph_neighbors(comm, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations, MPI_UNWEIGHTED);
  check_comm(0);
  free(to);

  MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  indegree = outdegree = 0;
  check_comm(0);
}

static void errors(void) {
  int n = world_size, ones[2] = {1, 1}, at[2] = {0, 1}, data[4] = {0}, got[4];
  MPI_Aint bytes[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  comm = MPI_COMM_WORLD;
  CHECK_CLASS(MPI_Neighbor_allgather(data, 1, MPI_INT, got, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_allgatherv(data, 1, MPI_INT, got, ones, at, MPI_INT, comm), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_alltoall(data, 1, MPI_INT, got, 1, MPI_INT, comm), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Ineighbor_alltoallv(data, ones, at, MPI_INT, got, ones, at, MPI_INT, comm, &request),
              MPI_ERR_TOPOLOGY);
  CHECK_CLASS(
      MPI_Neighbor_alltoallw_init(data, ones, bytes, types, got, ones, bytes, types, comm, MPI_INFO_NULL, &request),
      MPI_ERR_TOPOLOGY);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &n, ones, 0, &comm);
  int negative[2] = {1, -1};
  CHECK_CLASS(MPI_Neighbor_allgather(data, -1, MPI_INT, got, 1, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgather(data, 1, MPI_DATATYPE_NULL, got, 1, MPI_INT, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Neighbor_alltoall(data, 1, MPI_INT, NULL, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgatherv(data, 1, MPI_INT, got, negative, at, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoallv(data, negative, at, MPI_INT, got, ones, at, MPI_INT, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoallv(data, ones, NULL, MPI_INT, got, ones, at, MPI_INT, comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoallw(data, ones, bytes, types, got, ones, NULL, types, comm), MPI_ERR_ARG);
  types[1] = MPI_DATATYPE_NULL;
  CHECK_CLASS(MPI_Neighbor_alltoallw(data, ones, bytes, types, got, ones, bytes, types, comm), MPI_ERR_TYPE);
  MPI_Comm_free(&comm);
}

// A rank without sources, or without destinations, may leave the arrays for them out.
static void one_way(void) {
  const int first = world_rank == 0, last = world_rank == world_size - 1;
  int source = world_rank - 1, destination = world_rank + 1, out = 100 + world_rank, in = -1;
  int zero[1] = {0}, counts[1] = {1};
  MPI_Aint places[1] = {0};
  MPI_Datatype types[1] = {MPI_INT};
  MPI_Comm way;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, !first, &source, MPI_UNWEIGHTED, !last, &destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &way);
  for (int round = 0; round < 4; round++) {
    int* some = round % 2 == 0 ? zero : counts;
    in = -1;
    if (round < 2)
      MPI_Neighbor_alltoallw(&out, last ? NULL : some, last ? NULL : places, last ? NULL : types, &in,
                             first ? NULL : some, first ? NULL : places, first ? NULL : types, way);
    else
      MPI_Neighbor_alltoallv(&out, last ? NULL : some, last ? NULL : zero, MPI_INT, &in, first ? NULL : some,
                             first ? NULL : zero, MPI_INT, way);
    CHECK_EQ(in, round % 2 == 0 || first ? -1 : 100 + source);
  }
  // Nor need there be a buffer, whatever the count: that of an empty array may be null.
  int *from = last ? NULL : &out, *into = first ? NULL : &in;
  for (int which = 0; which < 4; which++) {
    MPI_Request request = MPI_REQUEST_NULL;
    in = -1;
    if (which == 0) MPI_Neighbor_alltoall(from, 1, MPI_INT, into, 1, MPI_INT, way);
    if (which == 1) MPI_Neighbor_allgather(from, 1, MPI_INT, into, 1, MPI_INT, way);
    if (which == 2) MPI_Ineighbor_alltoall(from, 1, MPI_INT, into, 1, MPI_INT, way, &request);
    if (which == 3) {
      MPI_Neighbor_allgather_init(from, 1, MPI_INT, into, 1, MPI_INT, way, MPI_INFO_NULL, &request);
      MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (which == 3) MPI_Request_free(&request);
    CHECK_EQ(in, first ? -1 : 100 + source);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&way);
}

// The blocks to send are as many as there are destinations, not as there are sources: together these are too many.
static void too_many(void) {
  enum { kEdges = 3 };
  const int ends[kEdges] = {0, 0, 0}, others[kEdges] = {1, 1, 1}, gives = world_rank == 0, takes = world_rank == 1;
  double one = 1, in[kEdges];
  if (world_size == 1) return;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, takes ? kEdges : 0, ends, MPI_UNWEIGHTED, gives ? kEdges : 0, others,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  if (gives) {
    const MPI_Count many = (MPI_Count)1 << 58;
    CHECK_CLASS(MPI_Neighbor_alltoall_c(&one, many, MPI_DOUBLE, in, 0, MPI_DOUBLE, comm), MPI_ERR_COUNT);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  grids();
  graphs();
  dist_graphs();
  one_way();
  errors();
  too_many();
  return finish();
}
