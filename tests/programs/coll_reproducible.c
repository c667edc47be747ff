// The same operands give the same bits: however many stand beside them, in whatever form the reduction is called, and, with the
// digest that is printed, wherever the ranks are.
//   coll_reproducible          where HEDDLE_REPRODUCIBLE is set
//   coll_reproducible info     by the info key of a communicator, and not without it
#include "check.h"

enum { kMost = 200000, kFew = 30 };

static double own[kMost], result[kMost];
static const int sizes[] = {kFew, 100, 2500, 40000, kMost};
enum { kSizes = sizeof sizes / sizeof *sizes };

// Of all magnitudes, so that each order of adding gives other bits.
static double operand(int rank, int i) {
  const unsigned x = (unsigned)(rank * 7919 + i % kFew * 104729 + 12345) * 2654435761u;
  static const double magnitudes[] = {1e-3, 1, 1e3, 1e7, 1e9, 1e12, 1e15};
  return (double)(x >> 8) * magnitudes[x % 7] * ((x >> 3 & 1) ? 1 : -1);
}

typedef void (*Reduce)(int n, MPI_Comm comm, MPI_Request* request);
static void all_blocking(int n, MPI_Comm comm, MPI_Request* request) {
  (void)request;
  MPI_Allreduce(own, result, n, MPI_DOUBLE, MPI_SUM, comm);
}
static void all_begun(int n, MPI_Comm comm, MPI_Request* request) {
  MPI_Iallreduce(own, result, n, MPI_DOUBLE, MPI_SUM, comm, request);
}
static void all_kept(int n, MPI_Comm comm, MPI_Request* request) {
  MPI_Allreduce_init(own, result, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request);
}
static void to_one(int n, MPI_Comm comm, MPI_Request* request) {
  (void)request;
  MPI_Reduce(own, result, n, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Bcast(result, n, MPI_DOUBLE, 0, comm);
}
static void to_one_begun(int n, MPI_Comm comm, MPI_Request* request) {
  MPI_Ireduce(own, result, n, MPI_DOUBLE, MPI_SUM, 0, comm, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Bcast(result, n, MPI_DOUBLE, 0, comm);
}
static void scan(int n, MPI_Comm comm, MPI_Request* request) {
  (void)request;
  MPI_Scan(own, result, n, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Bcast(result, n, MPI_DOUBLE, world_size - 1, comm);
}
static void scan_begun(int n, MPI_Comm comm, MPI_Request* request) {
  MPI_Iscan(own, result, n, MPI_DOUBLE, MPI_SUM, comm, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Bcast(result, n, MPI_DOUBLE, world_size - 1, comm);
}

static int same(const double* a, const double* b) { return memcmp(a, b, kFew * sizeof *a) == 0; }

// Whether all of them give `first`, which the first one sets.
static int all_same(const Reduce* ways, int count, MPI_Comm comm, double first[kFew]) {
  int all = 1;
  for (int way = 0; way < count; way++) {
    for (int s = 0; s < kSizes; s++) {
      const int n = sizes[s] / kFew * kFew;
      MPI_Request request = MPI_REQUEST_NULL;
      for (int i = 0; i < n; i++) own[i] = operand(world_rank, i), result[i] = 0;
      ways[way](n, comm, &request);
      if (ways[way] == all_kept) MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (ways[way] == all_kept) MPI_Request_free(&request);
      if (way == 0 && s == 0) memcpy(first, result, kFew * sizeof *first);
      for (int i = 0; i < n; i += kFew) all &= same(result + i, first);
    }
  }
  return all;
}

static void print_digest(const char* what, const double first[kFew]) {
  uint64_t digest = 14695981039346656037u;
  for (size_t i = 0; i < kFew * sizeof *first; i++)
    digest = (digest ^ ((const unsigned char*)first)[i]) * 1099511628211u;
  if (world_rank == 0) printf("%s %016llx\n", what, (unsigned long long)digest);
}

// Blocks of a reduce_scatter, of each length.
static void scattered(MPI_Comm comm) {
  double first[kFew];
  int begun = 0;
  for (int s = 0; s < 4; s++) {
    const int n = sizes[s] / kFew * kFew / world_size / kFew * kFew;
    if (n == 0) continue;
    for (int i = 0; i < n * world_size; i++) own[i] = operand(world_rank, i % n);
    for (int form = 0; form < 2; form++) {
      MPI_Request request = MPI_REQUEST_NULL;
      memset(result, 0, sizeof result);
      if (form == 0) MPI_Reduce_scatter_block(own, result, n, MPI_DOUBLE, MPI_SUM, comm);
      if (form == 1) MPI_Ireduce_scatter_block(own, result, n, MPI_DOUBLE, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (!begun++) memcpy(first, result, sizeof first);
      for (int i = 0; i < n; i += kFew) CHECK(same(result + i, first), "block of %d, form %d, item %d", n, form, i);
    }
  }
}

static void reproducible(MPI_Comm comm) {
  static const Reduce all[] = {all_blocking, all_begun, all_kept}, one[] = {to_one, to_one_begun},
                      scans[] = {scan, scan_begun};
  double first[kFew];
  CHECK(all_same(all, 3, comm, first));
  print_digest("allreduce", first);
  CHECK(all_same(one, 2, comm, first));
  print_digest("reduce", first);
  CHECK(all_same(scans, 2, comm, first));
  print_digest("scan", first);
  scattered(comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc < 2) {
    reproducible(MPI_COMM_WORLD);
    return finish();
  }
  static const Reduce ways[] = {all_blocking, all_begun, all_kept, scan, scan_begun};
  double first[kFew];
  MPI_Comm comm;
  MPI_Info info, used;
  char value[8];
  int found;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_reproducible", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get(used, "heddle_reproducible", 7, value, &found);
  CHECK(found && strcmp(value, "true") == 0);
  MPI_Info_free(&used);
  reproducible(comm);
  MPI_Info_set(info, "heddle_reproducible", "maybe");  // is ignored
  MPI_Comm_set_info(comm, info);
  reproducible(comm);
  // Else they depend on the length, or this test shows nothing.
  MPI_Info_set(info, "heddle_reproducible", "false");
  MPI_Comm_set_info(comm, info);
  const int some_differ = !all_same(ways, 3, comm, first) | !all_same(ways + 3, 2, comm, first);
  CHECK(some_differ || world_size < 5, "%d ranks add in one order", world_size);
  MPI_Info_set(info, "heddle_reproducible", "true");
  MPI_Comm_set_info(comm, info);
  reproducible(comm);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  return finish();
}
