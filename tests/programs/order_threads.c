// Messages that different threads send one after the other, with a happens-before between, arrive in that order: on one
// communicator, whatever their sizes, while the receiver keeps up and while it does not.
//
// Seen to fail, at the first message, when find_lane() gave every second thread the lane of another VCI to the same
// receiver (and the short way of p2p/send.hpp was off).
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { kThreads = 3, kMessages = 30000, kMaxInts = 6000 };

static int turn;  // the next message, which thread turn % kThreads sends

static int ints_of(int message) { return message % 499 == 0 ? kMaxInts : message % 41 == 0 ? 300 : 1 + message % 12; }

static void* send_my_turns(void* argument) {
  int me = *(int*)argument;
  int* data = malloc(kMaxInts * sizeof *data);
  MPI_Request request;
  for (int m = me; m < kMessages; m += kThreads) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != m) sched_yield();
    for (int i = 0; i < ints_of(m); i++) data[i] = m + i;
    if (m % 2) {
      MPI_Send(data, ints_of(m), MPI_INT, 1, 9, MPI_COMM_WORLD);
      __atomic_store_n(&turn, m + 1, __ATOMIC_RELEASE);
    } else {
      MPI_Isend(data, ints_of(m), MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
      __atomic_store_n(&turn, m + 1, __ATOMIC_RELEASE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  free(data);
  return NULL;
}

static void receive_all(void) {
  int* data = malloc(kMaxInts * sizeof *data);
  MPI_Status status;
  for (int m = 0; m < kMessages; m++) {
    if (m % 1000 == 0)
      for (int i = 0; i < 300; i++) sched_yield();  // rings fill meanwhile
    MPI_Recv(data, kMaxInts, MPI_INT, m % 7 ? 0 : MPI_ANY_SOURCE, m % 5 ? 9 : MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQ(data[0], m);
    check_status(&status, 0, 9, ints_of(m), MPI_INT);
    for (int i = 0; i < ints_of(m); i++) CHECK_EQ(data[i], m + i);
  }
  free(data);
}

int main(int argc, char** argv) {
  int provided, numbers[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  for (int t = 0; t < kThreads && world_rank == 0; t++) {
    numbers[t] = t;
    CHECK_EQ(pthread_create(&threads[t], NULL, send_my_turns, &numbers[t]), 0);
  }
  if (world_rank == 1) receive_all();
  for (int t = 0; t < kThreads && world_rank == 0; t++) pthread_join(threads[t], NULL);
  return finish();
}
