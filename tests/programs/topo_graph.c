// Graphs and distributed graphs: neighbours, weights, repeated edges, who has a place, copies, and errors.
#include "check.h"

#pragma GCC diagnostic ignored "-Wstringop-overflow"  // MPI_UNWEIGHTED is no array, and the prototypes call it one
#pragma GCC diagnostic ignored "-Wstringop-overread"

static int topology_of(MPI_Comm comm) {
  int kind;
  MPI_Topo_test(comm, &kind);
  return kind;
}

// Node i has edges to itself, to the next one, and twice to node 0.
enum { kDegree = 4 };
static int index_[64], edges_[64 * kDegree];
static void describe(int nodes) {
  for (int i = 0; i < nodes; i++) {
    index_[i] = kDegree * (i + 1);
    memcpy(edges_ + kDegree * i, (int[]){i, (i + 1) % nodes, 0, 0}, kDegree * sizeof(int));
  }
}

static void check_graph(MPI_Comm graph, int nodes) {
  int n, e, index[64], edges[64 * kDegree], neighbors[kDegree];
  CHECK_EQ(topology_of(graph), MPI_GRAPH);
  MPI_Graphdims_get(graph, &n, &e);
  CHECK_EQ(n, nodes);
  CHECK_EQ(e, nodes * kDegree);
  MPI_Graph_get(graph, n, e, index, edges);
  CHECK(memcmp(index, index_, sizeof(int) * (size_t)n) == 0);
  CHECK(memcmp(edges, edges_, sizeof(int) * (size_t)e) == 0);
  for (int r = 0; r < nodes; r++) {
    MPI_Graph_neighbors_count(graph, r, &n);
    CHECK_EQ(n, kDegree);
    MPI_Graph_neighbors(graph, r, n, neighbors);
    for (int i = 0; i < n; i++) CHECK_EQ(neighbors[i], edges_[kDegree * r + i]);
  }
}

static void graphs(void) {
  MPI_Comm graph, copy;
  int rank, n, e;
  for (int nodes = 1; nodes <= world_size; nodes++) {
    describe(nodes);
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index_, edges_, 1, &graph);
    CHECK_EQ(graph != MPI_COMM_NULL, world_rank < nodes);
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index_, edges_, &rank);
    CHECK_EQ(rank, world_rank < nodes ? world_rank : MPI_UNDEFINED);
    if (graph == MPI_COMM_NULL) continue;
    check_graph(graph, nodes);
    MPI_Comm_dup(graph, &copy);
    MPI_Comm_free(&graph);
    check_graph(copy, nodes);
    CHECK_CLASS(MPI_Graph_neighbors(copy, 0, kDegree - 1, edges_), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_get(copy, nodes - 1, nodes * kDegree, index_, edges_), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_get(copy, nodes, nodes * kDegree - 1, index_, edges_), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_neighbors_count(copy, nodes, &n), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cartdim_get(copy, &n), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&copy);
  }
  MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph);
  CHECK(graph == MPI_COMM_NULL);
  describe(world_size);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, world_size + 1, index_, edges_, 0, &graph), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, index_, edges_, 0, &graph), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){-1}, edges_, 0, &graph), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){1}, 0, &graph), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, NULL, 0, &graph), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_map(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){-1}, &n), MPI_ERR_ARG);
  if (world_rank == world_size - 1) edges_[0] = -7;  // one rank's error is everyone's
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, world_size, index_, edges_, 0, &graph), MPI_ERR_ARG);
  if (world_size > 1) {
    edges_[0] = world_rank % 2;
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, world_size, index_, edges_, 0, &graph), MPI_ERR_ARG);
  }
  CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &e), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_get(MPI_COMM_WORLD, 1, 1, index_, edges_), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &n), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 1, edges_), MPI_ERR_TOPOLOGY);
}

// Rank r: in-edges from r-1 and r+1 and itself, out-edges to r+1 and r-1 and itself; weights say both ends.
static int weight(int from, int to) { return 100 * from + to; }

static void adjacent(void) {
  int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size, in, out, weighted;
  int sources[3] = {before, next, world_rank}, destinations[3] = {next, before, world_rank}, sw[3], dw[3];
  int gs[4] = {-1, -1, -1, -1}, gd[4] = {-1, -1, -1, -1}, gsw[4] = {-1, -1, -1, -1}, gdw[4] = {-1, -1, -1, -1};
  MPI_Comm graph, copy;
  for (int i = 0; i < 3; i++) {
    sw[i] = weight(sources[i], world_rank);
    dw[i] = weight(world_rank, destinations[i]);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, sw, 3, destinations, dw, MPI_INFO_NULL, 1, &graph);
  MPI_Comm_dup(graph, &copy);
  MPI_Comm_free(&graph);
  CHECK_EQ(topology_of(copy), MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(copy, &in, &out, &weighted);
  CHECK(in == 3 && out == 3 && weighted == 1, "%d %d %d", in, out, weighted);
  MPI_Dist_graph_neighbors(copy, 4, gs, gsw, 4, gd, gdw);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(gs[i], sources[i]);
    CHECK_EQ(gd[i], destinations[i]);
    CHECK_EQ(gsw[i], sw[i]);
    CHECK_EQ(gdw[i], dw[i]);
  }
  CHECK(gs[3] == -1 && gd[3] == -1 && gsw[3] == -1 && gdw[3] == -1);
  memset(gs, -1, sizeof gs), memset(gd, -1, sizeof gd);
  MPI_Dist_graph_neighbors(copy, 1, gs, MPI_UNWEIGHTED, 2, gd, MPI_UNWEIGHTED);  // room for the first ones only
  CHECK(gs[0] == before && gs[1] == -1 && gd[1] == before && gd[2] == -1, "%d %d %d %d", gs[0], gs[1], gd[1], gd[2]);
  MPI_Comm_free(&copy);

  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, MPI_UNWEIGHTED, 3, destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK_EQ(weighted, 0);
  gsw[0] = -5;
  MPI_Dist_graph_neighbors(graph, 3, gs, gsw, 3, gd, gdw);
  CHECK_EQ(gsw[0], -5);
  CHECK_CLASS(MPI_Graphdims_get(graph, &in, &out), MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&graph);

  // A star: only rank 0 has out-edges, so the others have empty weights.
  int ones[64], all[64];
  for (int i = 0; i < world_size; i++) ones[i] = 1 + i, all[i] = i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){0}, (int[]){1 + world_rank}, world_rank ? 0 : world_size,
                                 all, world_rank ? MPI_WEIGHTS_EMPTY : ones, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 1 && out == (world_rank ? 0 : world_size) && weighted == 1, "%d %d %d", in, out, weighted);
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 0 && out == 0 && weighted == 1, "%d %d %d", in, out, weighted);
  MPI_Comm_free(&graph);
}

// Rank 0 and the last rank name all edges i -> i+1: rank 0 in order, with weights 10, the last one backwards, with 20.
static void distributed(void) {
  int sources[64], degrees[64], destinations[64], weights[64], n = 0, in, out, weighted;
  int last = world_size - 1, namers = world_size > 1 ? 2 : 1;
  if (world_rank == 0 || world_rank == last) {
    for (; n < world_size; n++) {
      int i = world_rank == 0 ? n : last - n;
      sources[n] = i, degrees[n] = 1, destinations[n] = (i + 1) % world_size, weights[n] = world_rank == 0 ? 10 : 20;
    }
  }
  MPI_Comm graph;
  for (int with = 0; with < 2; with++) {
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                          with ? (n ? weights : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);
    CHECK_EQ(topology_of(graph), MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == namers && out == namers && weighted == with, "%d %d %d", in, out, weighted);
    int s[2], d[2], sw[2] = {-1, -1}, dw[2] = {-1, -1};
    MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw);
    for (int i = 0; i < namers; i++) {
      CHECK_EQ(s[i], (world_rank + last) % world_size);
      CHECK_EQ(d[i], (world_rank + 1) % world_size);
      CHECK_EQ(sw[i], with ? 10 * (i + 1) : -1);
      CHECK_EQ(dw[i], sw[i]);
    }
    MPI_Comm_free(&graph);
  }
  // Rank 0 names two edges from itself to everyone; the weights show that both ends have them in one order.
  // Who names none need not know that there are weights.
  n = world_rank == 0;
  sources[0] = 0, degrees[0] = 2 * world_size;
  for (int i = 0; i < 2 * world_size; i++) destinations[i] = i % world_size, weights[i] = 100 - i;
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, n ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL,
                        0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 2 && out == (n ? 2 * world_size : 0) && weighted == 1, "%d %d %d", in, out, weighted);
  int s[2], d[64], sw[2], dw[64], seen[64] = {0};
  MPI_Dist_graph_neighbors(graph, in, s, sw, out, d, dw);
  for (int i = 0; i < in; i++) CHECK(s[i] == 0 && sw[i] == 100 - world_rank - i * world_size, "%d %d", s[i], sw[i]);
  for (int i = 0; i < out; i++) CHECK_EQ(dw[i], 100 - d[i] - seen[d[i]]++ * world_size);
  MPI_Comm_free(&graph);
}

static void errors(void) {
  MPI_Comm graph, world = MPI_COMM_WORLD;
  int self = world_rank, bad = world_size, one = 1, negative = -1, n, m, w;
  int mine = world_rank == 0 ? bad : self;  // one rank's error is everyone's
#define ADJACENT(in, s, sw, out, d, dw, class) \
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(world, in, s, sw, out, d, dw, MPI_INFO_NULL, 0, &graph), class)
  ADJACENT(1, &mine, &one, 1, &self, &one, MPI_ERR_RANK);
  ADJACENT(1, &self, &one, 1, &mine, &one, MPI_ERR_RANK);
  ADJACENT(1, &self, &negative, 1, &self, &one, MPI_ERR_ARG);
  ADJACENT(1, &self, MPI_WEIGHTS_EMPTY, 1, &self, &one, MPI_ERR_ARG);
  ADJACENT(1, &self, MPI_UNWEIGHTED, 1, &self, &one, MPI_ERR_ARG);
  ADJACENT(-1, &self, &one, 1, &self, &one, MPI_ERR_ARG);
  if (world_size > 1) {
    int* mixed = world_rank == 0 ? &one : MPI_UNWEIGHTED;
    ADJACENT(1, &self, mixed, 1, &self, mixed, MPI_ERR_ARG);
  }
#define CREATE(n, s, degrees, d, w, class) \
  CHECK_CLASS(MPI_Dist_graph_create(world, n, s, degrees, d, w, MPI_INFO_NULL, 0, &graph), class)
  CREATE(1, &mine, &one, &self, &one, MPI_ERR_RANK);
  CREATE(1, &self, &one, &mine, &one, MPI_ERR_RANK);
  CREATE(1, &self, &negative, &self, &one, MPI_ERR_ARG);
  CREATE(1, &self, &one, &self, &negative, MPI_ERR_ARG);
  CREATE(1, &self, &one, NULL, &one, MPI_ERR_ARG);
  CHECK(graph == MPI_COMM_NULL);
  CHECK_CLASS(MPI_Dist_graph_neighbors_count(world, &n, &m, &w), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_neighbors(world, 1, &n, &m, 1, &n, &m), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  graphs();
  adjacent();
  distributed();
  errors();
  return finish();
}
