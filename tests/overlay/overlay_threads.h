// What overlay.c tests with threads: partitions that get ready at once, that are looked at meanwhile, and that are seen early.
#pragma once

#include <pthread.h>
#include <sched.h>

#include "../programs/check.h"

int MPIX_Pbuf_prepare(MPI_Request request) __attribute__((weak));  // of the overlay

static int to, from;
static int sends(void) { return world_rank == 0; }
static int receives(void) { return world_rank == world_size - 1; }

static MPI_Request psend(const void* b, int parts, MPI_Count each, int tag, MPI_Comm c, MPI_Info info) {
  MPI_Request r = MPI_REQUEST_NULL;
  if (sends()) MPI_Psend_init(b, parts, each, MPI_BYTE, to, tag, c, info, &r);
  return r;
}
static MPI_Request precv(void* b, int parts, MPI_Count each, int tag, MPI_Comm c) {
  MPI_Request r = MPI_REQUEST_NULL;
  if (receives()) MPI_Precv_init(b, parts, each, MPI_BYTE, from, tag, c, MPI_INFO_NULL, &r);
  return r;
}
static void free_both(MPI_Request* s, MPI_Request* r) {
  if (sends()) MPI_Request_free(s);
  if (receives()) MPI_Request_free(r);
}

// The first partition arrives while none of the others is ready. And when threads ready all of these at once, one is seen while others
// are not there, in some epoch at least (`in_order`): its flag does not wait behind data that was put later.
static MPI_Request early_send;
static void* ready_one(void* arg) {
  MPI_Pready((int)(intptr_t)arg, early_send);
  return NULL;
}
static void early(int in_order) {
  enum { kLarge = 4 << 20, kCount = 8, kEnd = 64, kEpochs = 10, kBound = 20 };
  const size_t total = (size_t)kLarge * kCount;
  unsigned char *out = calloc(1, total), *in = calloc(1, total), old[kEnd];
  int word = 0, flag, apart = 0;
  CHECK(world_size > 1 && out != NULL && in != NULL, "needs two ranks, and memory");
  memset(old, 0xEE, kEnd);
  MPI_Request s = psend(out, kCount, kLarge, 1, MPI_COMM_WORLD, MPI_INFO_NULL),
              r = precv(in, kCount, kLarge, 1, MPI_COMM_WORLD);
  for (unsigned epoch = 1; epoch <= kEpochs; epoch++) {
    if (sends()) {
      fill(out, total, epoch);
      MPI_Start(&s);
      MPIX_Pbuf_prepare(s);
      MPI_Pready(0, s);
      MPI_Recv(&word, 1, MPI_INT, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      pthread_t threads[kCount];
      early_send = s;
      for (int p = 1; p < kCount; p++) pthread_create(&threads[p], NULL, ready_one, (void*)(intptr_t)p);
      for (int p = 1; p < kCount; p++) pthread_join(threads[p], NULL);
      MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    if (receives()) {
      memset(in, 0xEE, total);
      MPI_Start(&r);
      MPIX_Pbuf_prepare(r);
      const double end = MPI_Wtime() + kBound;
      for (flag = 0; !flag;) {
        MPI_Parrived(r, 0, &flag);
        CHECK(flag || MPI_Wtime() < end, "nothing in epoch %u", epoch);
      }
      CHECK_PATTERN(in, kLarge, epoch);
      for (int p = 1; p < kCount; p++) {
        MPI_Parrived(r, p, &flag);
        CHECK(!flag && memcmp(in + (size_t)p * kLarge, old, kEnd) == 0, "%d is not ready in epoch %u", p, epoch);
      }
      MPI_Send(&word, 1, MPI_INT, from, 2, MPI_COMM_WORLD);
      int absent = 0;
      for (int p = flag = 0; !flag; p = (p + 1) % (kCount - 1)) MPI_Parrived(r, 1 + p, &flag);
      for (int p = 2; p <= kCount; p++) absent += memcmp(in + (size_t)p * kLarge - kEnd, old, kEnd) == 0;
      apart += absent != 0;
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      CHECK_PATTERN(in, total, epoch);
    }
  }
  if (receives()) {
    printf("overlay: one partition is seen before the others are there in %d of %d epochs\n", apart, kEpochs);
    CHECK(apart > 0 || !in_order, "never");
  }
  free_both(&s, &r);
  free(out);
  free(in);
}

enum { kThreads = 64, kEach = 16, kParts = kThreads * kEach, kPart = 24 };
static MPI_Request the_send, the_receive;
static unsigned char sent[kParts * kPart], got[kParts * kPart];
static unsigned now;
static void* make_ready(void* arg) {
  for (int k = 0; k < kEach; k++) {
    const int p = k * kThreads + (int)(intptr_t)arg;
    for (int i = p * kPart; i < (p + 1) * kPart; i++) sent[i] = pattern((size_t)i, now);
    MPI_Pready(p, the_send);
  }
  return NULL;
}
static void* look(void* arg) {
  for (int p = (int)(intptr_t)arg; p < 48; p += 4) {
    for (int flag = 0; !flag;) MPI_Parrived(the_receive, p, &flag);
    for (int i = p * (kParts * kPart / 48); i < (p + 1) * (kParts * kPart / 48); i++)
      CHECK(got[i] == pattern((size_t)i, now), "byte %d", i);
  }
  return NULL;
}
static void threads(void) {
  the_send = psend(sent, kParts, kPart, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
  the_receive = precv(got, 48, kParts * kPart / 48, 1, MPI_COMM_WORLD);
  for (now = 1; now <= 8; now++) {
    pthread_t t[kThreads + 4];
    int n = 0;
    memset(got, 0, sizeof got);
    if (receives()) MPI_Start(&the_receive);
    if (sends()) MPI_Start(&the_send);
    if (receives() && !sends()) MPIX_Pbuf_prepare(the_receive);
    if (sends()) MPIX_Pbuf_prepare(the_send);
    for (int i = 0; receives() && i < 4; i++) pthread_create(&t[n++], NULL, look, (void*)(intptr_t)i);
    for (int i = 0; sends() && i < kThreads; i++) pthread_create(&t[n++], NULL, make_ready, (void*)(intptr_t)i);
    // Waited for while they are made ready; or only when all has arrived.
    const int late = now % 2 == 0;
    if (sends() && !late) MPI_Wait(&the_send, MPI_STATUS_IGNORE);
    while (n > 0) pthread_join(t[--n], NULL);
    if (late) MPI_Barrier(MPI_COMM_WORLD);
    if (sends() && late) MPI_Wait(&the_send, MPI_STATUS_IGNORE);
    if (receives()) MPI_Wait(&the_receive, MPI_STATUS_IGNORE);
  }
  free_both(&the_send, &the_receive);
}

// Two threads are ready at the same moment, again and again, and then nobody calls the overlay at the sender until all has arrived: what
// one leaves to the other, that one must see. As often as a busy machine lets them in a few seconds: each round is several turns of
// its scheduler.
enum { kRounds = 20000, kSeconds = 5, kNoMore = kRounds + 1 };
static int arrived_at[2];
static void* ready_together(void* arg) {
  const int me = (int)(intptr_t)arg;
  int goes_on = 1;
  for (int round = 1; goes_on; round++) {
    if (me == 0) {
      MPI_Start(&the_send);
      if (round == 1) MPIX_Pbuf_prepare(the_send);
    }
    __atomic_store_n(&arrived_at[me], round, __ATOMIC_RELEASE);
    for (int spins = 0; __atomic_load_n(&arrived_at[1 - me], __ATOMIC_ACQUIRE) < round; spins++)
      if (spins > 1000) sched_yield();
    if (me == 1 && __atomic_load_n(&arrived_at[0], __ATOMIC_ACQUIRE) == kNoMore) break;
    sent[me] = (unsigned char)(round + me);
    MPI_Pready(me, the_send);
    if (me == 0) {
      MPI_Recv(&goes_on, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&the_send, MPI_STATUS_IGNORE);
    }
  }
  if (me == 0) __atomic_store_n(&arrived_at[0], kNoMore, __ATOMIC_RELEASE);
  return NULL;
}
static void together(void) {
  CHECK(world_size == 2, "needs two ranks");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_aggregate_bytes", "0");
  the_send = psend(sent, 2, 1, 1, MPI_COMM_WORLD, info);
  the_receive = precv(got, 2, 1, 1, MPI_COMM_WORLD);
  MPI_Info_free(&info);
  pthread_t other;
  if (sends()) {
    pthread_create(&other, NULL, ready_together, (void*)1);
    ready_together((void*)0);
    pthread_join(other, NULL);
  }
  const double end = MPI_Wtime() + kSeconds;
  for (int round = 1, goes_on = receives(); goes_on; round++) {
    MPI_Start(&the_receive);
    MPI_Wait(&the_receive, MPI_STATUS_IGNORE);
    CHECK(got[0] == (unsigned char)round && got[1] == (unsigned char)(round + 1), "%d %d in round %d", got[0], got[1],
          round);
    goes_on = round < kRounds && MPI_Wtime() < end;
    MPI_Send(&goes_on, 1, MPI_INT, from, 1, MPI_COMM_WORLD);
  }
  free_both(&the_send, &the_receive);
}
