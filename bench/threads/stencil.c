// Halo exchange of a 2-D stencil: the time of one iteration's exchange, without any computation between.
//   stencil <kind> <threads> <edge>...      kinds of threads.h but `one`, and
//     funneled      thread 0 alone calls MPI, for the edges of all threads, in one message a side
//
//        process 0 | process 1        A column of workers in each process (everywhere: in each half of the ranks), periodic
//        ----------+----------        both ways: east and west lie in the other process, north and south in the same one.
//         worker 0 | worker 0         Between threads of a process the neighbour's edge is read in place, once its thread has
//         worker 1 | worker 1         said that it is there; all else goes through MPI.
//
// Edges exist twice, for even and odd iterations: a worker is at most one iteration ahead of its neighbours.
// Each halo's first and last value is checked in every iteration, and all of them in the first ones.
#include "threads.h"

#include <stdatomic.h>

enum Direction { kEast, kWest, kNorth, kSouth, kDirections };
enum { kWarm = 10, kBatch = 20, kMost = 2000 };
static const double kSeconds = 0.1;

struct Worker {
  _Alignas(128) atomic_int published;  // edges of this iteration can be read
  double* out[2][kDirections];         // its edges
  double* in[2][kDirections];          // its halos
};

struct Mesh {
  struct Worker workers[kMaxThreads];
  struct Way ways[kMaxThreads];
  double *out[2][2], *in[2][2];  // funneled: the edges of all threads, to and from the east and the west
  _Alignas(128) atomic_int arrived;
  int funneled, threads, edge, first, iterations, all;
};

static const enum Direction kOpposite[] = {kWest, kEast, kSouth, kNorth};

static int column(void) { return world.rank >= world.size / 2; }
static int column_height(const struct Mesh* mesh) { return world.everywhere ? world.size / 2 : mesh->threads; }

static double value(int x, int y, enum Direction direction, int iteration, int i) {
  return (((x * 1024.0 + y) * kDirections + direction) * 1024 + iteration % 1024) * 65536 + i;
}

static void set_edges(const struct Mesh* mesh, int y, double* const* out, int iteration) {
  int last = mesh->edge - 1, step = mesh->all || last == 0 ? 1 : last;
  for (int d = 0; d < kDirections; d++)
    for (int i = 0; i <= last; i += step) out[d][i] = value(column(), y, d, iteration, i);
}

// A halo in the east is the edge that the eastern neighbour has in the west.
static void check_halos(const struct Mesh* mesh, int y, double* const* in, int iteration) {
  int last = mesh->edge - 1, step = mesh->all || last == 0 ? 1 : last, height = column_height(mesh);
  for (int d = 0; d < kDirections; d++) {
    int from_x = d == kEast || d == kWest ? !column() : column();
    int from_y = d == kNorth ? (y + 1) % height : d == kSouth ? (y + height - 1) % height : y;
    for (int i = 0; i <= last; i += step) {
      double expected = value(from_x, from_y, kOpposite[d], iteration, i);
      if (in[d][i] != expected)
        fail("stencil: iteration %d: halo %d has %.17g at %d, not %.17g", iteration, d, in[d][i], i, expected);
    }
  }
}

static void wait_until(atomic_int* word, int iteration) {
  while (atomic_load_explicit(word, memory_order_acquire) < iteration) sched_yield();
}

static void say(atomic_int* word, int iteration) { atomic_store_explicit(word, iteration, memory_order_release); }

// In direction d a halo comes from where an edge goes to; it was sent there the other way.
static void post_halos(struct Way way, const int* peers, int directions, double** in, int count,
                       MPI_Request* requests) {
  for (int d = 0; d < directions; d++)
    MPI_Irecv(in[d], count, MPI_DOUBLE, peers[d], way.tag * kDirections + (int)kOpposite[d], way.comm, &requests[d]);
}

static void send_edges(struct Way way, const int* peers, int directions, double** out, int count,
                       MPI_Request* requests) {
  for (int d = 0; d < directions; d++)
    MPI_Isend(out[d], count, MPI_DOUBLE, peers[d], way.tag * kDirections + d, way.comm, &requests[d]);
}

static void iterate_everywhere(struct Mesh* mesh, int k) {
  struct Worker* me = &mesh->workers[0];
  int height = world.size / 2, y = world.rank % height, base = column() * height, half = k & 1;
  int other = mesh->ways[0].first, peers[] = {other, other, base + (y + 1) % height, base + (y + height - 1) % height};
  MPI_Request requests[2 * kDirections];
  post_halos(mesh->ways[0], peers, kDirections, me->in[half], mesh->edge, requests);
  set_edges(mesh, y, me->out[half], k);
  send_edges(mesh->ways[0], peers, kDirections, me->out[half], mesh->edge, requests + kDirections);
  MPI_Waitall(2 * kDirections, requests, MPI_STATUSES_IGNORE);
  check_halos(mesh, y, me->in[half], k);
}

// The halos between threads of this process: from the edges of the next and of the previous one.
static void copy_neighbours(struct Mesh* mesh, int t, int k) {
  int threads = mesh->threads, half = k & 1;
  struct Worker *me = &mesh->workers[t], *north = &mesh->workers[(t + 1) % threads];
  struct Worker* south = &mesh->workers[(t + threads - 1) % threads];
  size_t bytes = (size_t)mesh->edge * sizeof(double);
  wait_until(&north->published, k);
  memcpy(me->in[half][kNorth], north->out[half][kSouth], bytes);
  wait_until(&south->published, k);
  memcpy(me->in[half][kSouth], south->out[half][kNorth], bytes);
}

static void iterate_threads(struct Mesh* mesh, int t, int k) {
  struct Worker* me = &mesh->workers[t];
  struct Way way = mesh->ways[t];
  int other = way.first + way.step * t, peers[] = {other, other}, half = k & 1;
  MPI_Request requests[4];
  post_halos(way, peers, 2, me->in[half], mesh->edge, requests);
  set_edges(mesh, t, me->out[half], k);
  say(&me->published, k);
  send_edges(way, peers, 2, me->out[half], mesh->edge, requests + 2);
  copy_neighbours(mesh, t, k);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  check_halos(mesh, t, me->in[half], k);
}

static void iterate_funneled(struct Mesh* mesh, int t, int k) {
  struct Worker* me = &mesh->workers[t];
  struct Way way = mesh->ways[0];
  int peers[] = {way.first, way.first}, count = mesh->threads * mesh->edge, half = k & 1;
  MPI_Request requests[4];
  if (t == 0) post_halos(way, peers, 2, mesh->in[half], count, requests);
  set_edges(mesh, t, me->out[half], k);
  say(&me->published, k);
  copy_neighbours(mesh, t, k);
  if (t == 0) {
    for (int other = 1; other < mesh->threads; other++) wait_until(&mesh->workers[other].published, k);
    send_edges(way, peers, 2, mesh->out[half], count, requests + 2);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    say(&mesh->arrived, k);
  }
  wait_until(&mesh->arrived, k);
  check_halos(mesh, t, me->in[half], k);
}

static void run_worker(void* context, int t) {
  struct Mesh* mesh = context;
  for (int k = mesh->first; k < mesh->first + mesh->iterations; k++) {
    if (world.everywhere)
      iterate_everywhere(mesh, k);
    else if (mesh->funneled)
      iterate_funneled(mesh, t, k);
    else
      iterate_threads(mesh, t, k);
  }
}

// seconds, the same in every process
static double run(struct Mesh* mesh, int iterations, int all) {
  mesh->iterations = iterations;
  mesh->all = all;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = bench_now();
  threads_run(mesh->threads, run_worker, mesh);
  mesh->first += iterations;
  return largest_of_all(bench_now() - start);
}

// µs of one iteration: of batches that grow, but not so far that a library which suddenly collapses never gets to the end.
static double run_batches(struct Mesh* mesh) {
  double seconds = 0;
  int iterations = 0;
  for (int batch = kBatch; seconds < kSeconds;
       batch = batch * 2 < kMost ? batch * 2 : kMost, iterations += mesh->iterations)
    seconds += run(mesh, batch, 0);
  return seconds / iterations * 1e6;
}

// Of each worker the four edges and halos; of a funneled process those in the east and west stand in one piece.
static double* give_memory(struct Mesh* mesh) {
  size_t edge = (size_t)mesh->edge, side = edge * (size_t)mesh->threads;
  double *memory = calloc(4 * kDirections * side, sizeof *memory), *next = memory;
  for (int half = 0; half < 2; half++)
    for (int d = 0; d < kDirections; d++, next += 2 * side) {
      if (d < 2) mesh->out[half][d] = next, mesh->in[half][d] = next + side;
      for (int t = 0; t < mesh->threads; t++) {
        mesh->workers[t].out[half][d] = next + (size_t)t * edge;
        mesh->workers[t].in[half][d] = next + side + (size_t)t * edge;
      }
    }
  return memory;
}

static double measure(const char* kind, int threads, int edge) {
  static struct Mesh mesh;
  mesh.funneled = strcmp(kind, "funneled") == 0;
  mesh.threads = threads;
  mesh.edge = edge;
  mesh.first = 1;
  mesh.arrived = 0;
  for (int t = 0; t < threads; t++) mesh.workers[t].published = 0;
  ways_make(mesh.funneled ? "one" : kind, threads, mesh.ways);
  double* memory = give_memory(&mesh);
  run(&mesh, kWarm, 1);
  double us = run_batches(&mesh);
  ways_free(threads, mesh.ways);
  free(memory);
  return us;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  int threads = argc > 2 ? atoi(argv[2]) : 0;
  world_init(&argc, &argv, kind);
  if (argc < 4 || threads < 1 || threads > kMaxThreads) fail("stencil: <kind> <threads> <edge>...");
  if (world.size % 2 != 0 || (world.size != 2 && !world.everywhere)) fail("stencil: needs 2 ranks, has %d", world.size);
  if (strcmp(kind, "endpoints") == 0 && !has_endpoints()) {
    if (world.rank == 0) printf("absent\n");
    argc = 0;
  }
  for (int i = 3; i < argc; i++) {
    char metric[64];
    snprintf(metric, sizeof metric, "stencil-%s-%d", kind, world.everywhere ? world.size / 2 : threads);
    if (world.rank == 0) bench_begin(metric, (size_t)atoi(argv[i]), "us");
    double us = measure(kind, world.everywhere ? 1 : threads, atoi(argv[i]));
    if (world.rank == 0) bench_result(metric, (size_t)atoi(argv[i]), us, "us");
  }
  MPI_Finalize();
  return 0;
}
