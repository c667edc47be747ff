// Context ids do not leak: thousands of communicators made and freed, then many at once, each still apart from the
// others.
//   comm_ids [rounds]
#include "check.h"

static int memory_kb(void) {
  FILE* status = fopen("/proc/self/status", "r");
  char line[256];
  int kb = 0;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmRSS: %d kB", &kb) == 1) break;
  if (status) fclose(status);
  return kb;
}

static void make_and_free(int rounds) {
  for (int i = 0; i < rounds; i++) {
    MPI_Comm copy, half;
    int sum;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(copy, world_rank % 2, world_rank, &half);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK_EQ(sum, i * ((world_size + 1 - world_rank % 2) / 2));
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
  }
}

// All alive at once; a message in each, received in the reverse order by wildcards.
static void many(void) {
  enum { kComms = 300 };
  static MPI_Comm comms[kComms];
  static int values[kComms];
  static MPI_Request requests[kComms];
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < kComms; i++) MPI_Comm_dup(i % 2 ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kComms; i++) {
    values[i] = world_rank * 1000 + i;
    MPI_Isend(&values[i], 1, MPI_INT, right, 0, comms[i], &requests[i]);
  }
  for (int i = kComms - 1; i >= 0; i--) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE);
    CHECK_EQ(got, left * 1000 + i);
  }
  MPI_Waitall(kComms, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kComms; i += 2) MPI_Comm_free(&comms[i]);
  for (int i = 1; i < kComms; i += 2) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 5000;
  make_and_free(rounds / 5);
  many();
  int before = memory_kb();
  make_and_free(rounds);
  many();
  int grown = memory_kb() - before;
  CHECK(grown < 4096, "%d kB more after %d communicators", grown, 2 * rounds);
  return finish();
}
