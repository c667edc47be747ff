// Generalized requests that another thread completes while this one waits: busy, or asleep already.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { kRounds = 40, kHandOvers = 3000 };

static atomic_int waiting;  // the round that the main thread waits in
static MPI_Request request;
static atomic_int frees;
static pid_t waiter;
static double completed_at;

static int query(void* extra, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void* extra) {
  (void)extra;
  atomic_fetch_add(&frees, 1);
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

// Does the system say that the thread sleeps? One that polls for ever is never seen to, so the caller counts its looks.
static int is_asleep(pid_t thread) {
  char path[64], line[512], *end;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE* f = fopen(path, "r");
  const size_t n = f == NULL ? 0 : fread(line, 1, sizeof line - 1, f);
  if (f != NULL) fclose(f);
  line[n] = '\0';
  end = strrchr(line, ')');
  return end != NULL && end[2] == 'S';
}

static void* complete_sleepers(void* unused) {
  (void)unused;
  for (int round = 1; round <= kRounds; round++) {
    while (atomic_load(&waiting) != round) sched_yield();
    for (int looks = 0; looks < 100000 && !is_asleep(waiter); looks++) sched_yield();
    completed_at = MPI_Wtime();
    MPI_Grequest_complete(request);
  }
  return NULL;
}

// A lost wake-up would leave each wait to its time limit.
static void sleeping(void) {
  pthread_t thread;
  double late = 0;
  int bytes;
  waiter = (pid_t)syscall(SYS_gettid);
  pthread_create(&thread, NULL, complete_sleepers, NULL);
  for (int round = 1; round <= kRounds; round++) {
    MPI_Status statuses[2];
    MPI_Request both[2];
    int in = -1, out = round, index, count, indices[2];
    bytes = round;
    MPI_Grequest_start(query, release, cancel, &bytes, &request);
    MPI_Irecv(&in, 1, MPI_INT, world_rank, 1, MPI_COMM_WORLD, &both[0]);
    both[1] = request;
    atomic_store(&waiting, round);
    switch (round % 4) {
      case 0:
        MPI_Wait(&both[1], &statuses[1]);
        break;
      case 1:
        MPI_Waitany(2, both, &index, &statuses[1]);
        CHECK_EQ(index, 1);
        break;
      case 2:
        MPI_Waitsome(2, both, &count, indices, &statuses[1]);
        CHECK_EQ(count, 1);
        CHECK_EQ(indices[0], 1);
        break;
      default:
        MPI_Send(&out, 1, MPI_INT, world_rank, 1, MPI_COMM_WORLD);
        MPI_Waitall(2, both, statuses);
        break;
    }
    late += MPI_Wtime() - completed_at;
    MPI_Get_count(&statuses[1], MPI_BYTE, &count);
    CHECK_EQ(count, round);
    if (round % 4 != 3) {
      MPI_Send(&out, 1, MPI_INT, world_rank, 1, MPI_COMM_WORLD);
      MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    }
    CHECK_EQ(in, round);
  }
  pthread_join(thread, NULL);
  CHECK(late < kRounds * 0.03, "the waits ended %g s late, all together", late);
  CHECK_EQ(atomic_exchange(&frees, 0), kRounds);
}

// One thread frees what the other completes, at the same time: free_fn runs once each.
static MPI_Request shared[kHandOvers];
static pthread_barrier_t ready;

static void* complete_all(void* unused) {
  (void)unused;
  for (int i = 0; i < kHandOvers; i++) {
    MPI_Request copy = shared[i];
    if (i % 100 == 0) pthread_barrier_wait(&ready);
    MPI_Grequest_complete(copy);
  }
  return NULL;
}

static void handed_over(void) {
  static MPI_Request mine[kHandOvers];
  pthread_t thread;
  for (int i = 0; i < kHandOvers; i++) {
    MPI_Grequest_start(query, release, cancel, NULL, &shared[i]);
    mine[i] = shared[i];
  }
  pthread_barrier_init(&ready, NULL, 2);
  pthread_create(&thread, NULL, complete_all, NULL);
  for (int i = 0; i < kHandOvers; i++) {
    if (i % 100 == 0) pthread_barrier_wait(&ready);
    MPI_Request_free(&mine[i]);
  }
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&ready);
  CHECK_EQ(atomic_load(&frees), kHandOvers);
}

int main(int argc, char** argv) {
  start_threaded(&argc, &argv);
  sleeping();
  handed_over();
  return finish();
}
