// What part.c's requests are made by, and what they match.
#pragma once

#include "check.h"

static int to, from;
static int sends(void) { return world_rank == 0; }
static int receives(void) { return world_rank == world_size - 1; }

static MPI_Request psend(const void* b, int parts, MPI_Count n, MPI_Datatype t, int tag, MPI_Comm c) {
  MPI_Request r;
  MPI_Psend_init(b, parts, n, t, to, tag, c, MPI_INFO_NULL, &r);
  return r;
}
static MPI_Request precv(void* b, int parts, MPI_Count n, MPI_Datatype t, int tag, MPI_Comm c) {
  MPI_Request r;
  MPI_Precv_init(b, parts, n, t, from, tag, c, MPI_INFO_NULL, &r);
  return r;
}

// Of two senders, if there are, with two tags each: what is set up matches by source and tag, in whatever order either side does it.
static void match(void) {
  enum { kParts = 3, kTags = 2, kMost = 2 };
  const int senders = world_size < 3 ? 1 : kMost, sending = world_rank < senders;
  int out[kTags][kParts], in[kMost][kTags][kParts];
  MPI_Request s[kTags], r[kMost][kTags];
  for (int t = 0; t < kTags && sending; t++) {
    s[t] = psend(out[t], kParts, 1, MPI_INT, 40 + t, MPI_COMM_WORLD);
    for (int i = 0; i < kParts; i++) out[t][i] = 1000 * world_rank + 100 * t + i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int peer = senders; receives() && peer-- > 0;) {
    for (int t = kTags; t-- > 0;) {
      MPI_Precv_init(in[peer][t], kParts, 1, MPI_INT, peer, 40 + t, MPI_COMM_WORLD, MPI_INFO_NULL, &r[peer][t]);
      MPI_Start(&r[peer][t]);
    }
  }
  for (int t = 0; t < kTags && sending; t++) {
    MPI_Start(&s[t]);
    MPI_Pready_range(0, kParts - 1, s[t]);
  }
  for (int t = 0; t < kTags && receives(); t++) {
    for (int peer = 0; peer < senders; peer++) {
      MPI_Status status;
      MPI_Wait(&r[peer][t], &status);
      check_status(&status, peer, 40 + t, kParts, MPI_INT);
      for (int i = 0; i < kParts; i++) CHECK_EQ(in[peer][t][i], 1000 * peer + 100 * t + i);
      MPI_Request_free(&r[peer][t]);
    }
  }
  for (int t = 0; t < kTags && sending; t++) {
    MPI_Wait(&s[t], MPI_STATUS_IGNORE);
    MPI_Request_free(&s[t]);
  }
}

// A receive of partitions lets plain messages pass.
static void pass(void) {
  int out = 7, in = -1, said = -1;
  MPI_Request s = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL, plain = MPI_REQUEST_NULL;
  if (receives()) {
    r = precv(&in, 1, 1, MPI_INT, 9, MPI_COMM_WORLD);
    MPI_Start(&r);
    MPI_Irecv(&said, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &plain);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (sends()) {
    MPI_Send(&(int){43}, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    s = psend(&out, 1, 1, MPI_INT, 9, MPI_COMM_WORLD);
    MPI_Start(&s);
    MPI_Pready(0, s);
  }
  if (receives()) {
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    CHECK_EQ(said, 43);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 7);
    MPI_Request_free(&r);
  }
  if (sends()) {
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
  }
}

// The totals differ: an error at both sides, each time, whoever asks for it how. Another exchange of the same call is well.
static void totals_differ(void) {
  int a[6] = {0}, b[6], flag, code;
  MPI_Request s[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status[2];
  if (sends()) s[0] = psend(a, 2, 2, MPI_INT, 2, MPI_COMM_WORLD), s[1] = psend(a + 4, 2, 1, MPI_INT, 3, MPI_COMM_WORLD);
  if (receives())
    r[0] = precv(b, 1, 3, MPI_INT, 2, MPI_COMM_WORLD), r[1] = precv(b + 4, 1, 2, MPI_INT, 3, MPI_COMM_WORLD);
  for (int epoch = 0; epoch < 8; epoch++) {
    a[4] = 10 * epoch, a[5] = 10 * epoch + 1;
    if (receives()) MPI_Startall(2, r);
    if (sends()) {
      MPI_Startall(2, s);
      for (int i = 0; i < 2; i++) MPI_Pready_range(0, 1, s[i]);
    }
    for (int side = 0; side < 2; side++) {
      if (side == 0 ? !receives() : !sends()) continue;
      MPI_Request* q = side == 0 ? r : s;
      const int how = epoch % 4;
      if (how == 0) CHECK_CLASS(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
      if (how == 1) {
        do code = MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
        while (code == MPI_SUCCESS && !flag);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK_EQ(flag, 1);
      }
      if (how == 2 && side == 0) {
        do code = MPI_Parrived(q[0], 0, &flag);
        while (code == MPI_SUCCESS && !flag);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK_EQ(flag, 1);
        CHECK_CLASS(MPI_Parrived(q[0], 0, &flag), MPI_ERR_TRUNCATE);  // as often as asked
      }
      if (how >= 2) {  // all at once
        if (how == 2) {
          code = MPI_Waitall(2, q, status);
        } else {
          do code = MPI_Testall(2, q, &flag, status);
          while (code == MPI_SUCCESS && !flag);
        }
        CHECK_EQ(error_class(code), MPI_ERR_IN_STATUS);
        CHECK_EQ(error_class(status[0].MPI_ERROR), MPI_ERR_TRUNCATE);
        CHECK_EQ(status[1].MPI_ERROR, MPI_SUCCESS);
      } else {
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
      }
      MPI_Parrived(r[0], 0, &flag);  // null or inactive
      CHECK_EQ(flag, 1);
    }
    if (receives()) CHECK(b[4] == 10 * epoch && b[5] == 10 * epoch + 1, "%d %d in epoch %d", b[4], b[5], epoch);
  }
  for (int i = 0; i < 2; i++) {
    if (sends()) MPI_Request_free(&s[i]);
    if (receives()) MPI_Request_free(&r[i]);
  }
}
