// An implicit finite-element proxy: conjugate gradients whose threads exchange their halos themselves.
//   elements <nodes> <threads>...      nodes each way of the whole brick
//
// Problem: with threads a rank's boundary goes in more and smaller messages, in an order that nobody chose: computation
//          shrinks with the threads, communication grows (as miniFE's in Figure 1 of "The Upcoming Storm: The Implications of
//          Increasing Core Count on Scalable System Software", Dosanjh and others, 2018).
// Method:  the brick of brick.h. An iteration exchanges the direction's halo, multiplies, and sums twice over all ranks. A
//          thread posts its own receives, packs and sends what its partners need, and waits for its own: one communicator for
//          all threads of a rank, and a tag for each pair of threads. A barrier of the rank's threads ends each phase, and thread
//          0's clock there says how long it was:
//
//     communication   exchange |                  | allreduce |               | allreduce |
//     computation              | A p, part of p Ap|           | x, r, part rr |           | p
//
// With more threads than cores the two parts depend on who gets them: where waiting leaves the cores to another rank's
// computation, that takes less than it would with a core a rank, and the waiting more. What counts then is the iteration.
// A wrong halo is seen: each solution is held against the known one at each node, and for all numbers of threads the
// iterations must be as many, but one, and the norms the same within rounding.
#include "brick.h"

#include "../common/depth.h"
#include "../threads/threads.h"

enum { kMostThreads = 64, kMostNodes = 200 };
enum Kind { kComputation, kCommunication, kKinds };
static const double kSeconds = 0.3, kReduction = 1e-12, kAccuracy = 1e-8, kRounding = 1e-9;

struct Team {
  struct Brick brick;
  struct Box box;
  struct Part parts[kMostThreads];
  MPI_Comm halos, sums;
  double *x, *r, *p, *q;          // by row of the rank; p also what comes from outside
  double parts_of[kMostThreads];  // of the sum under way
  double sum, last, seconds[kKinds];
  int iterations;
  pthread_barrier_t barrier;
};

static void end_phase(struct Team* team, int thread, enum Kind kind) {
  pthread_barrier_wait(&team->barrier);
  if (thread != 0) return;
  double now = bench_now();
  team->seconds[kind] += now - team->last;
  team->last = now;
}

static double sum_over_all(struct Team* team, int thread, double mine) {
  team->parts_of[thread] = mine;
  end_phase(team, thread, kComputation);
  if (thread == 0) {
    double rank_sum = 0;
    for (int t = 0; t < team->brick.threads; t++) rank_sum += team->parts_of[t];
    MPI_Allreduce(&rank_sum, &team->sum, 1, MPI_DOUBLE, MPI_SUM, team->sums);
  }
  end_phase(team, thread, kCommunication);
  return team->sum;
}

// A tag says which thread sends to which.
static void exchange(struct Team* team, int thread, double* packed, MPI_Request* requests) {
  struct Part* part = &team->parts[thread];
  for (int l = 0; l < part->count; l++) {
    struct Link* link = &part->links[l];
    MPI_Irecv(team->p + link->at, link->receives, MPI_DOUBLE, link->rank, link->thread * kMostThreads + thread,
              team->halos, &requests[l]);
  }
  for (int l = 0; l < part->count; l++) {
    struct Link* link = &part->links[l];
    for (int i = 0; i < link->sends; i++) packed[i] = team->p[link->rows[i]];
    MPI_Isend(packed, link->sends, MPI_DOUBLE, link->rank, thread * kMostThreads + link->thread, team->halos,
              &requests[part->count + l]);
    packed += link->sends;
  }
  MPI_Waitall(2 * part->count, requests, MPI_STATUSES_IGNORE);
}

// q = A p on the thread's rows; its part of p q.
static double multiply(struct Team* team, const struct Part* part) {
  double product = 0;
  for (int i = 0; i < part->rows; i++) {
    double sum = 0;
    for (int e = part->start[i]; e < part->start[i + 1]; e++) sum += part->values[e] * team->p[part->columns[e]];
    team->q[part->first + i] = sum;
    product += sum * team->p[part->first + i];
  }
  return product;
}

static double set_out(struct Team* team, const struct Part* part) {
  double square = 0;
  for (int i = 0, row = part->first; i < part->rows; i++, row++) {
    team->x[row] = 0;
    team->p[row] = team->r[row] = part->right[i];
    square += part->right[i] * part->right[i];
  }
  return square;
}

static double step(struct Team* team, const struct Part* part, double alpha) {
  double square = 0;
  for (int row = part->first; row < part->first + part->rows; row++) {
    team->x[row] += alpha * team->p[row];
    team->r[row] -= alpha * team->q[row];
    square += team->r[row] * team->r[row];
  }
  return square;
}

static void solve(void* context, int thread) {
  struct Team* team = context;
  struct Part* part = &team->parts[thread];
  int sends = 0, iterations = 0, most = 20 * team->brick.n + 100;
  for (int l = 0; l < part->count; l++) sends += part->links[l].sends;
  double* packed = malloc(((size_t)sends + 1) * sizeof *packed);
  MPI_Request* requests = malloc((2 * (size_t)part->count + 1) * sizeof *requests);

  double square = sum_over_all(team, thread, set_out(team, part)), enough = square * kReduction * kReduction;
  if (thread == 0) memset(team->seconds, 0, sizeof team->seconds);
  for (; square > enough; iterations++) {
    if (iterations == most) fail("elements: no convergence in %d iterations", most);
    exchange(team, thread, packed, requests);
    end_phase(team, thread, kCommunication);
    double alpha = square / sum_over_all(team, thread, multiply(team, part));
    double next = sum_over_all(team, thread, step(team, part, alpha)), beta = next / square;
    for (int row = part->first; row < part->first + part->rows; row++)
      team->p[row] = team->r[row] + beta * team->p[row];
    square = next;
    end_phase(team, thread, kComputation);
  }
  if (thread == 0) team->iterations = iterations;
  free(packed), free(requests);
}

// Held against the known solution, and against that of the first number of threads.
static void check_solution(const struct Team* team) {
  static int iterations_before;
  static double norm_before;
  double error = 0, square = 0;
  for (int row = 0, node[3]; row < box_rows(&team->box); row++) {
    box_node(&team->box, row, node);
    double off = team->x[row] - brick_exact(&team->brick, node);
    error = off > error ? off : -off > error ? -off : error;
    square += team->x[row] * team->x[row];
  }
  error = largest_of_all(error);
  square = sum_of_all(square);
  if (!(error <= kAccuracy)) fail("elements: the solution is off by %g after %d iterations", error, team->iterations);
  if (iterations_before == 0) iterations_before = team->iterations, norm_before = square;
  if (abs(team->iterations - iterations_before) > 1 || !(square - norm_before <= kRounding * norm_before) ||
      !(norm_before - square <= kRounding * norm_before))
    fail("elements: %d threads take %d iterations to %.17g, and it was %d to %.17g", team->brick.threads,
         team->iterations, square, iterations_before, norm_before);
}

static void make_part(void* context, int thread) {
  struct Team* team = context;
  team->parts[thread] = brick_part(&team->brick, world.rank, thread);
}

static void make(struct Team* team, int threads) {
  team->brick.threads = threads;
  team->box = brick_box(&team->brick, world.rank);
  threads_run(threads, make_part, team);
  int rows = box_rows(&team->box), end = rows;
  for (int t = 0; t < threads; end += team->parts[t++].externals) brick_settle(&team->parts[t], end);
  team->x = malloc((size_t)(3 * rows + end) * sizeof *team->x);
  team->r = team->x + rows;
  team->q = team->r + rows;
  team->p = team->q + rows;
  pthread_barrier_init(&team->barrier, NULL, (unsigned)threads);
}

static void unmake(struct Team* team) {
  pthread_barrier_destroy(&team->barrier);
  for (int t = 0; t < team->brick.threads; t++) brick_free(&team->parts[t]);
  free(team->x);
}

static void result(const char* metric, int threads, double value, const char* unit) {
  if (world.rank == 0) bench_result(metric, (size_t)threads, value, unit);
}

static void measure(struct Team* team, int threads, const struct DepthReader* reader) {
  double seconds[kKinds] = {0, 0};
  int iterations = 0, goes_on = 1;
  if (world.rank == 0) bench_begin("communicate-elements", (size_t)threads, "us");
  make(team, threads);
  threads_run(threads, solve, team);
  check_solution(team);
  struct Depth before = depth_read(reader, kOfComm);
  while (goes_on) {
    threads_run(threads, solve, team);
    check_solution(team);
    for (int k = 0; k < kKinds; k++) seconds[k] += team->seconds[k];
    iterations += team->iterations;
    goes_on = seconds[kComputation] + seconds[kCommunication] < kSeconds;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, team->sums);
  }
  for (int k = 0; k < kKinds; k++) seconds[k] = sum_of_all(seconds[k]) / world.size / iterations * 1e6;
  result("compute-elements", threads, seconds[kComputation], "us");
  result("communicate-elements", threads, seconds[kCommunication], "us");
  result("iterate-elements", threads, seconds[kComputation] + seconds[kCommunication], "us");
  if (!reader->missing[kOfComm]) {
    struct Depth mine = depth_since(reader, kOfComm, &before);
    double count = sum_of_all((double)mine.queues[kPosted].count);
    double inspected = sum_of_all((double)mine.queues[kPosted].inspected);
    if (count > 0) result("depth-elements", threads, inspected / count, "entries");
  }
  unmake(team);
}

int main(int argc, char** argv) {
  static struct Team team;
  struct DepthReader reader;
  team.brick.n = argc > 2 ? atoi(argv[1]) : 0;
  int is_fit = team.brick.n >= 1 && team.brick.n <= kMostNodes;
  for (int i = 2; i < argc; i++) is_fit = is_fit && atoi(argv[i]) >= 1 && atoi(argv[i]) <= kMostThreads;
  if (!is_fit) {
    fprintf(stderr, "elements: <nodes, up to %d> <threads, up to %d>...\n", kMostNodes, kMostThreads);
    return 2;
  }
  world_init(&argc, &argv, "threads");
  MPI_Dims_create(world.size, 3, team.brick.ranks);
  if (team.brick.ranks[0] > team.brick.n) fail("elements: %d nodes for %d ranks", team.brick.n, team.brick.ranks[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &team.halos);
  MPI_Comm_dup(MPI_COMM_WORLD, &team.sums);
  depth_open(&reader, team.halos);
  if (world.rank == 0) depth_tell_missing(&reader, kOfComm, "elements");
  for (int i = 2; i < argc; i++) measure(&team, atoi(argv[i]), &reader);
  depth_close(&reader);
  MPI_Comm_free(&team.halos);
  MPI_Comm_free(&team.sums);
  MPI_Finalize();
  return 0;
}
