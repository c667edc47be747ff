// MPI_THREAD_MULTIPLE: threads that send, receive, wait and make communicators at once, each message verified.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kMessages = 400, kMax = 40000 };

static MPI_Comm own[kThreads];

typedef void Body(int thread);

typedef struct {
  Body* body;
  int thread;
} Job;

static void* run(void* argument) {
  Job* job = argument;
  job->body(job->thread);
  return NULL;
}

static void in_threads(Body* body) {
  pthread_t threads[kThreads];
  Job jobs[kThreads];
  for (int t = 0; t < kThreads; t++) {
    jobs[t] = (Job){body, t};
    CHECK_EQ(pthread_create(&threads[t], NULL, run, &jobs[t]), 0);
  }
  for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int bytes_of(int message) { return message % 37 == 0 ? kMax : message % 11 == 0 ? 3000 : message % 60; }

// Around a ring, both ways at once.
static void exchange(MPI_Comm comm, int tag, int thread) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  unsigned char *out = malloc(kMax), *in = malloc(kMax);
  for (int m = 0; m < kMessages; m++) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int bytes = bytes_of(m);
    unsigned seed = (unsigned)(m * kThreads + thread);
    fill(out, (size_t)bytes, seed + (unsigned)world_rank);
    memset(in, 0, (size_t)bytes);
    MPI_Irecv(in, kMax, MPI_BYTE, left, tag, comm, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, right, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    check_status(&statuses[0], left, tag, bytes, MPI_BYTE);
    CHECK_PATTERN(in, (size_t)bytes, seed + (unsigned)left);
  }
  free(out);
  free(in);
}

static void own_communicator(int t) { exchange(own[t], 5, t); }
static void own_tag(int t) { exchange(MPI_COMM_WORLD, t, t); }
static void to_itself(int t) {
  for (int m = 0; m < kMessages; m++) {
    int value = m * kThreads + t, got = -1;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, t, &got, 1, MPI_INT, 0, t, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(got, value);
  }
}

// Any thread may take any message: each is taken exactly once, and the sums say so. Matched probes make it safe.
static long taken_sum;
static void anybody(int t) {
  int right = (world_rank + 1) % world_size;
  long sum = 0;
  for (int m = 0; m < kMessages; m++) {
    int value = m * kThreads + t, got, flag = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    MPI_Isend(&value, 1, MPI_INT, right, 77, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    sum += got;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  __atomic_fetch_add(&taken_sum, sum, __ATOMIC_RELAXED);
}

// Each thread makes, uses and frees communicators out of its own; collectives run at once on different ones.
static void make_communicators(int t) {
  for (int i = 0; i < 25; i++) {
    MPI_Comm copy;
    int mine = t + i, sum;
    MPI_Comm_dup(own[t], &copy);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy);
    CHECK_EQ(sum, mine * world_size);
    MPI_Comm_free(&copy);
  }
}

// One thread posts the request, another waits for it.
static MPI_Request handed_over[kThreads];
static int handed_value[kThreads];
static void wait_for_anothers(int t) {
  int other = (t + 1) % kThreads;
  MPI_Status status;
  MPI_Wait(&handed_over[other], &status);
  check_status(&status, (world_rank + world_size - 1) % world_size, 200 + other, 1, MPI_INT);
  CHECK_EQ(handed_value[other], 900 + other);
}

// A thread that waits in a blocking receive does not keep the others from making the message that it waits for.
static void wait_while_others_work(int t) {
  int value = 3;
  if (t == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 300, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value, 4);
  } else if (t == kThreads - 1) {
    for (int i = 0; i < 50; i++) to_itself(t);
    value = 4;
    MPI_Send(&value, 1, MPI_INT, 0, 300, MPI_COMM_SELF);
  }
}

int main(int argc, char** argv) {
  int provided, is_main;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main);
  for (int t = 0; t < kThreads; t++) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
  in_threads(own_communicator);
  in_threads(own_tag);
  in_threads(to_itself);
  in_threads(anybody);
  long all = (long)kThreads * kMessages;
  CHECK_EQ(taken_sum, all * (all - 1) / 2);
  in_threads(make_communicators);
  for (int t = 0; t < kThreads; t++)
    MPI_Irecv(&handed_value[t], 1, MPI_INT, MPI_ANY_SOURCE, 200 + t, MPI_COMM_WORLD, &handed_over[t]);
  for (int t = 0; t < kThreads; t++) {
    int value = 900 + t;
    MPI_Send(&value, 1, MPI_INT, (world_rank + 1) % world_size, 200 + t, MPI_COMM_WORLD);
  }
  in_threads(wait_for_anothers);
  in_threads(wait_while_others_work);
  for (int t = 0; t < kThreads; t++) MPI_Comm_free(&own[t]);
  return finish();
}
