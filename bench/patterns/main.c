// One exchange pattern of an application, and how deep the library's queues are searched in it.
//
//   patterns <pattern> [--iterations N] [--edge POINTS] [--imbalance µs] [--seed N] [--ranks]
//
// Prints (print_depth.h) mean, minimum and maximum over ranks of the mean search depth of each queue, first for the pattern's
// communicator alone, then for the whole process; and how long an iteration took. `--ranks` prints each rank's too. Between
// MPI_Pcontrol(1) and MPI_Pcontrol(0) there is nothing but the pattern and the barrier before it: that is what a trace holds.
#include "../common/bench.h"  // first: it asks for more of the system's headers

#include <getopt.h>

#include "patterns.h"
#include "print_depth.h"

static const struct Pattern patterns[] = {
    {"lammps", "staged exchange with 6 neighbours, one after the other", run_lammps, 0},
    {"lulesh", "26, 26 one-way and 6 neighbours, receives first (a cube of ranks)", run_lulesh, 1},
    {"hpcg", "26 neighbours on four grids, receives first, blocking sends", run_hpcg, 0},
    {"minife", "26 neighbours in the order of the matrix, blocking sends", run_minife, 0},
    {"milc", "gathers from any source in 16 directions, each with its tag", run_milc, 0},
    {"cth", "staged exchange of large messages with 6 neighbours", run_cth, 0},
    {"rings", "HPCC's natural and random rings", run_rings, 0},
    {"ordered", "exchanges whose order of arrival is determined", run_ordered, 0},
};
enum { kPatterns = sizeof patterns / sizeof *patterns };

static void explain(void) {
  fprintf(stderr, "patterns: name one pattern:");
  for (int i = 0; i < kPatterns; i++) fprintf(stderr, "\n  %-8s %s", patterns[i].name, patterns[i].what);
  fprintf(stderr, "\n");
}

static int is_cube(int n) {
  int edge = 1;
  while (edge * edge * edge < n) edge++;
  return edge * edge * edge == n;
}

// 0: the text is not a number from `least` up to a million.
static int take_number(const char* text, int least, int* value) {
  char* end;
  long number = strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || number < least || number > 1000000) return 0;
  *value = (int)number;
  return 1;
}

static int take_options(int argc, char** argv, struct World* world, int* each_rank) {
  static const struct option options[] = {{"iterations", 1, 0, 'i'}, {"edge", 1, 0, 'e'},  {"imbalance", 1, 0, 'm'},
                                          {"seed", 1, 0, 's'},       {"ranks", 0, 0, 'r'}, {0, 0, 0, 0}};
  int seed = 1;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    int good = 1;
    if (o == 'i') good = take_number(optarg, 1, &world->iterations);
    if (o == 'e') good = take_number(optarg, 1, &world->edge);
    if (o == 'm') good = take_number(optarg, 0, &world->imbalance);
    if (o == 's') good = take_number(optarg, 0, &seed);
    if (o == 'r') *each_rank = 1;
    if (o == '?') return 0;
    if (!good && world->rank == 0) fprintf(stderr, "patterns: '%s' is no number that is possible there\n", optarg);
    if (!good) return 0;
  }
  world->seed = (unsigned)seed;
  return 1;
}

static void measure(const struct Pattern* pattern, const struct World* world, int each_rank) {
  struct DepthReader reader;
  struct Depth depths[kScopes];
  depth_open(&reader, world->comm);
  for (int scope = 0; scope < kScopes; scope++) depths[scope] = depth_read(&reader, scope);
  MPI_Pcontrol(1);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = bench_now();
  pattern->run(world);
  double mine = bench_now() - start, longest;
  MPI_Pcontrol(0);
  for (int scope = 0; scope < kScopes; scope++) depths[scope] = depth_since(&reader, scope, &depths[scope]);
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world->rank == 0) bench_result(pattern->name, (size_t)world->size, 1e6 * longest / world->iterations, "us");
  for (int scope = 0; scope < kScopes; scope++) {
    if (!reader.missing[scope])
      depth_print(scope, &depths[scope], each_rank, MPI_COMM_WORLD);
    else if (world->rank == 0)
      depth_tell_missing(&reader, scope, "patterns");
  }
  depth_close(&reader);
}

int main(int argc, char** argv) {
  struct World world = {.iterations = 20, .edge = 16};
  const struct Pattern* pattern = NULL;
  int each_rank = 0;
  bench_pin();
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(0);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  if (world.rank != 0) opterr = 0;
  int good = take_options(argc, argv, &world, &each_rank);
  for (int i = 0; good && i < kPatterns; i++)
    if (optind == argc - 1 && strcmp(argv[optind], patterns[i].name) == 0) pattern = &patterns[i];
  if (good && !pattern && world.rank == 0) explain();
  if (pattern && pattern->cube && !is_cube(world.size)) {
    if (world.rank == 0)
      fprintf(stderr, "patterns: %s needs a cube of ranks, there are %d\n", pattern->name, world.size);
    pattern = NULL;
  }
  if (!pattern) {
    MPI_Finalize();
    return 2;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
  measure(pattern, &world, each_rank);
  MPI_Comm_free(&world.comm);
  MPI_Finalize();
  return 0;
}
