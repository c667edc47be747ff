// What an overlay over another MPI can get wrong beyond the rules of partitioned communication (tests/programs/part.c). One program, as each host
// builds it once.
//   overlay [mixed | aggregate | types | reuse | ahead | early [order] | behind | single | asking | barrier | comms | many | threads | together | misuse]; the first rank sends, the last one receives
#include "overlay_threads.h"

// Requests of both kinds, null and inactive ones in one array.
static void mixed(void) {
  enum { kBytes = 5000 };
  static unsigned char out[2][kBytes], in[2][kBytes];
  int plain_out = 7, plain_in = 0, flag, index, n, indices[5];
  MPI_Status statuses[5], status;
  MPI_Request s = psend(out[0], 5, kBytes / 5, 1, MPI_COMM_WORLD, MPI_INFO_NULL),
              r = precv(in[0], 2, kBytes / 2, 1, MPI_COMM_WORLD),
              s2 = psend(out[1], 1, kBytes, 1, MPI_COMM_WORLD, MPI_INFO_NULL),
              r2 = precv(in[1], 4, kBytes / 4, 1, MPI_COMM_WORLD);
  for (unsigned epoch = 0; epoch < 6; epoch++) {
    fill(out[0], kBytes, 2 * epoch);
    fill(out[1], kBytes, 2 * epoch + 1);
    memset(in, 0, sizeof in);
    plain_in = 0;
    if (receives()) {
      MPI_Request all[5] = {r, MPI_REQUEST_NULL, MPI_REQUEST_NULL, r2, MPI_REQUEST_NULL};
      MPI_Testany(5, all, &index, &flag, &status);  // nothing is active
      CHECK(flag && index == MPI_UNDEFINED, "%d %d", flag, index);
      MPI_Testsome(5, all, &n, indices, statuses);
      CHECK_EQ(n, MPI_UNDEFINED);
      MPI_Startall(2, (MPI_Request[]){r, r2});
      MPI_Irecv(&plain_in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &all[2]);
      MPI_Testall(5, all, &flag, statuses);
      CHECK_EQ(flag, 0);
      MPI_Testany(5, all, &index, &flag, &status);
      CHECK_EQ(flag, 0);
      MPI_Testsome(5, all, &n, indices, statuses);
      CHECK_EQ(n, 0);
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_size == 1) {
        MPI_Startall(2, (MPI_Request[]){s, s2});
        MPI_Pready(0, s2);
        MPI_Pready_range(0, 4, s);
        MPI_Send(&plain_out, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
      }
      if (epoch % 3 == 0) {
        for (int i = 0; i < 5; i++) statuses[i].MPI_ERROR = 99;
        MPI_Waitall(5, all, statuses);
        check_status(&statuses[0], from, 1, kBytes, MPI_BYTE);
        check_status(&statuses[2], from, 1, 1, MPI_INT);
        check_status(&statuses[3], from, 1, kBytes, MPI_BYTE);
        CHECK(all[2] == MPI_REQUEST_NULL && all[0] == r && all[3] == r2, "handles");
      }
      unsigned seen = 0;
      while (epoch % 3 == 1 && seen != 13) {
        MPI_Waitany(5, all, &index, &status);
        CHECK(index == 0 || index == 2 || index == 3, "%d", index);
        CHECK(!(seen >> index & 1), "%d twice", index);
        seen |= 1u << index;
        check_status(&status, from, 1, index == 2 ? 1 : kBytes, index == 2 ? MPI_INT : MPI_BYTE);
      }
      while (epoch % 3 == 2 && seen != 13) {
        MPI_Waitsome(5, all, &n, indices, statuses);
        CHECK(n > 0, "%d", n);
        for (int i = 0; i < n; i++) {
          CHECK(!(seen >> indices[i] & 1), "%d twice", indices[i]);
          seen |= 1u << indices[i];
          check_status(&statuses[i], from, 1, indices[i] == 2 ? 1 : kBytes, indices[i] == 2 ? MPI_INT : MPI_BYTE);
        }
      }
      CHECK_EQ(plain_in, 7);
      CHECK_PATTERN(in[0], kBytes, 2 * epoch);
      CHECK_PATTERN(in[1], kBytes, 2 * epoch + 1);
      MPI_Testall(5, all, &flag, MPI_STATUSES_IGNORE);
      CHECK_EQ(flag, 1);
      if (world_size == 1) MPI_Waitall(2, (MPI_Request[]){s, s2}, MPI_STATUSES_IGNORE);
    } else if (sends()) {
      MPI_Startall(2, (MPI_Request[]){s, s2});
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Pready(0, s2);
      MPI_Pready_range(0, 4, s);
      MPI_Request all[3] = {s, MPI_REQUEST_NULL, s2};
      MPI_Isend(&plain_out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &all[1]);
      MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // The host's part of an array: a message that does not fit says which it was, and what is inactive is not over.
  if (receives()) {
    short small = 0;
    MPI_Request idle, all[3];
    MPI_Recv_init(&plain_in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &idle);
    MPI_Start(&r);
    all[0] = idle, all[1] = r, all[2] = MPI_REQUEST_NULL;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Request_get_status_any(3, all, &index, &flag, &status);
    CHECK(!flag, "%d", index);
    MPI_Request_get_status_some(3, all, &n, indices, statuses);
    CHECK_EQ(n, 0);
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(&small, 1, MPI_SHORT, from, 4, MPI_COMM_WORLD, &all[2]);
    if (world_size == 1) MPI_Send(&plain_out, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
    const int rc = MPI_Waitany(3, all, &index, &status);
    int error_class = 0;
    MPI_Error_class(rc, &error_class);
    CHECK_EQ(error_class, MPI_ERR_TRUNCATE);
    CHECK_EQ(index, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (world_size == 1) {
      MPI_Start(&s);
      MPI_Pready_range(0, 4, s);
    } else {
      MPI_Send(&index, 1, MPI_INT, from, 5, MPI_COMM_WORLD);
    }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    for (flag = 0; !flag;) MPI_Request_get_status_any(3, all, &index, &flag, &status);
    CHECK_EQ(index, 1);
    check_status(&status, from, 1, kBytes, MPI_BYTE);
#endif
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (world_size == 1) MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&idle);
  } else if (sends()) {
    MPI_Send(&plain_out, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
    MPI_Start(&s);
    MPI_Recv(&n, 1, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pready_range(0, 4, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free_both(&s, &r);
  free_both(&s2, &r2);
}

// Groups as large as the program likes, and never so large that a partition of the receiver waits for one that is not its own.
static void aggregate(void) {
  static const char* const kTargets[] = {"0", "100", "1000000", "nonsense"};
  enum { kParts = 24, kEach = 40, kReceivers = 4, kBytes = kParts * kEach };
  static unsigned char out[kBytes], in[kBytes];
  for (unsigned t = 0; t < 4; t++) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "heddle_aggregate_bytes", kTargets[t]);
    MPI_Request s = psend(out, kParts, kEach, 2, MPI_COMM_WORLD, info),
                r = precv(in, kReceivers, kBytes / kReceivers, 2, MPI_COMM_WORLD);
    MPI_Info_free(&info);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
      memset(in, 0, sizeof in);
      fill(out, sizeof out, epoch);
      if (receives()) MPI_Start(&r);
      if (sends()) MPI_Start(&s);
      for (int q = kReceivers; q-- > 0;) {
        if (sends()) MPI_Pready_range(q * kParts / kReceivers, (q + 1) * kParts / kReceivers - 1, s);
        for (int flag = 0; receives() && !flag;) MPI_Parrived(r, q, &flag);
        if (receives()) {
          for (int i = q * kBytes / kReceivers; i < (q + 1) * kBytes / kReceivers; i++)
            CHECK(in[i] == pattern((size_t)i, epoch), "byte %d", i);
          for (int p = 0, flag; p < q; p++) {
            MPI_Parrived(r, p, &flag);
            CHECK_EQ(flag, 0);
          }
        }
        MPI_Barrier(MPI_COMM_WORLD);
      }
      if (sends()) MPI_Wait(&s, MPI_STATUS_IGNORE);
      if (receives()) MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    free_both(&s, &r);
  }
}

// A sender that is a start ahead: what it makes ready is not seen before the receiver starts, too.
static void ahead(void) {
  enum { kBytes = 3000 };
  static unsigned char out[kBytes], in[kBytes];
  int word = 0, flag;
  MPI_Request s = psend(out, 3, kBytes / 3, 1, MPI_COMM_WORLD, MPI_INFO_NULL),
              r = precv(in, 2, kBytes / 2, 1, MPI_COMM_WORLD);
  CHECK(world_size > 1, "needs two ranks");
  for (unsigned epoch = 0; epoch < 300; epoch++) {  // more than a byte counts
    if (sends()) {
      MPI_Start(&s);
      fill(out, kBytes, epoch);
      MPI_Pready_range(0, 2, s);
      if (epoch > 0) MPI_Send(&word, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
      MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    if (receives()) {
      if (epoch > 0) {
        MPI_Recv(&word, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 20; i++) MPI_Iprobe(from, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK_PATTERN(in, kBytes, epoch - 1);
        MPI_Parrived(r, 0, &flag);
        CHECK_EQ(flag, 1);  // inactive
      }
      MPI_Start(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      CHECK_PATTERN(in, kBytes, epoch);
    }
  }
  free_both(&s, &r);
}

// Types with gaps, and one that has none but turns its items round, at both sides; cuts in the middle of items. The types are freed
// at once.
static void types(void) {
  enum { kInts = 60 };
  int out[2 * kInts], in[3 * kInts];
  MPI_Datatype pair, wide, turned, triple, sparse;
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &wide);
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_INT, &turned);
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(2, wide, &pair);
#else
  MPI_Type_contiguous(2, wide, &pair);
#endif
  MPI_Type_vector(3, 1, 2, MPI_INT, &triple);
  MPI_Type_create_resized(triple, 0, 7 * (MPI_Aint)sizeof(int), &sparse);
  for (int way = 0; way < 3; way++) {
    MPI_Datatype from_type, to_type;
    MPI_Type_dup(way == 0 ? pair : way == 1 ? turned : MPI_INT, &from_type);
    MPI_Type_dup(way == 0 ? turned : way == 1 ? MPI_INT : sparse, &to_type);
    MPI_Type_commit(&from_type);
    MPI_Type_commit(&to_type);
    const int each = way == 2 ? kInts / 4 : kInts / 2 / 5, parts = way == 2 ? 4 : 5;
    const int items = way == 0 ? kInts / 2 / 3 : way == 1 ? kInts / 3 : kInts / 3 / 4, receivers = way == 2 ? 4 : 3;
    MPI_Request s = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL;
    if (sends()) MPI_Psend_init(out, parts, each, from_type, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    if (receives()) MPI_Precv_init(in, receivers, items, to_type, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Type_free(&from_type);
    MPI_Type_free(&to_type);
    for (int epoch = 0; epoch < 3; epoch++) {
      for (int i = 0; i < 2 * kInts; i++) out[i] = 1000 * epoch + i;
      memset(in, 0xFF, sizeof in);
      if (receives()) MPI_Start(&r);
      if (sends()) MPI_Start(&s);
      if (sends()) MPI_Pready_range(0, parts - 1, s);
      for (int q = 0, flag = 0; receives() && q < receivers; q += flag) MPI_Parrived(r, q, &flag);
      for (int k = 0; receives() && k < kInts; k++) {  // the k-th item of the signature
        const int there = way == 0 ? 2 * k : way == 1 ? k ^ 1 : k;
        const int here = way == 0 ? k ^ 1 : way == 1 ? k : k / 3 * 7 + k % 3 * 2;
        CHECK_EQ(in[here], 1000 * epoch + there);
      }
      for (int i = 0; receives() && way == 2 && i < kInts / 3 * 7; i++)
        CHECK(i % 7 == 0 || i % 7 == 2 || i % 7 == 4 || in[i] == -1, "a gap");
      if (sends()) MPI_Wait(&s, MPI_STATUS_IGNORE);
      if (receives()) MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    free_both(&s, &r);
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&wide);
  MPI_Type_free(&turned);
  MPI_Type_free(&triple);
  MPI_Type_free(&sparse);
}

// A sender that is a start ahead frees its request, and sets another up: that one must not meet what the first has left on its way.
static void reuse(void) {
  enum { kBytes = 200 };
  static unsigned char out[2][kBytes], in[2][kBytes];
  CHECK(world_size > 1, "needs two ranks");
  for (unsigned round = 0; round < 10; round++) {
    int word = 0;
    MPI_Request s[2], r[2];
    fill(out[0], kBytes, round);
    fill(out[1], kBytes, round + 50);
    memset(in, 0, sizeof in);
    s[0] = psend(out[0], 2, kBytes / 2, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
    r[0] = precv(in[0], 2, kBytes / 2, 1, MPI_COMM_WORLD);
    if (receives()) MPI_Start(&r[0]), MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    if (sends()) {
      for (int epoch = 0; epoch < 2; epoch++) {
        MPI_Start(&s[0]);
        MPI_Pready_range(0, 1, s[0]);
        if (epoch == 0) MPI_Wait(&s[0], MPI_STATUS_IGNORE);
      }
      MPI_Request_free(&s[0]);
      MPI_Send(&word, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    }
    s[1] = psend(out[1], 2, kBytes / 2, 2, MPI_COMM_WORLD, MPI_INFO_NULL);
    r[1] = precv(in[1], 2, kBytes / 2, 2, MPI_COMM_WORLD);
    if (sends())
      MPI_Start(&s[1]), MPI_Pready_range(0, 1, s[1]), MPI_Wait(&s[1], MPI_STATUS_IGNORE), MPI_Request_free(&s[1]);
    if (receives()) {
      MPI_Recv(&word, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memset(in, 0, sizeof in);
      for (int i = 1; i >= 0; i--) {
        MPI_Start(&r[i]);
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        CHECK_PATTERN(in[i], kBytes, round + 50 * (unsigned)i);
        MPI_Request_free(&r[i]);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// One side is in a call of the host that ends only when the partitioned operation is over at the other one, which makes its init call
// after that: who waits in the host must answer all the same.
static void behind(int by_barrier) {
  CHECK(world_size == 2, "needs two ranks");
  for (size_t bytes = 64; bytes <= 4 << 20; bytes *= 256) {
    for (int receiver_waits = 0; receiver_waits < 2; receiver_waits++) {
      unsigned char* data = calloc(1, bytes);
      MPI_Request r = MPI_REQUEST_NULL;
      int word = 0;
      const int waits = receives() == receiver_waits, other = 1 - world_rank;
      if (!waits) MPI_Recv(&word, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (sends()) fill(data, bytes, 9);
      r = sends() ? psend(data, 4, (MPI_Count)bytes / 4, 1, MPI_COMM_WORLD, MPI_INFO_NULL)
                  : precv(data, 2, (MPI_Count)bytes / 2, 1, MPI_COMM_WORLD);
      MPI_Start(&r);
      if (sends()) MPI_Pready_range(0, 3, r);
      if (!waits) MPI_Wait(&r, MPI_STATUS_IGNORE);
      if (waits) MPI_Send(&word, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
      if (by_barrier) {
        MPI_Barrier(MPI_COMM_WORLD);
      } else if (waits) {
        MPI_Recv(&word, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Send(&word, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
      }
      if (waits) MPI_Wait(&r, MPI_STATUS_IGNORE);
      CHECK_PATTERN(data, bytes, 9);
      MPI_Request_free(&r);
      free(data);
    }
  }
}

// The same, where the one who waits asks in a loop: with a test, a probe, or for the status.
static void asking(void) {
  CHECK(world_size == 2, "needs two ranks");
  unsigned char data[256];
  for (int way = 0; way < 4; way++) {
    int word = way, flag = 0;
    MPI_Request r = sends() ? psend(data, 4, sizeof data / 4, 1, MPI_COMM_WORLD, MPI_INFO_NULL)
                            : precv(data, 2, sizeof data / 2, 1, MPI_COMM_WORLD);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
      if (sends()) fill(data, sizeof data, epoch);
      MPI_Start(&r);
      if (sends()) {
        MPI_Pready_range(0, 3, r);
        MPI_Request answer;
        MPI_Message message;
        if (way < 2) MPI_Irecv(&word, 1, MPI_INT, to, 5, MPI_COMM_WORLD, &answer);
        for (flag = 0; !flag;) {
          if (way == 0) MPI_Test(&answer, &flag, MPI_STATUS_IGNORE);
          if (way == 1) MPI_Request_get_status(answer, &flag, MPI_STATUS_IGNORE);
          if (way == 2) MPI_Iprobe(to, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
          if (way == 3) MPI_Improbe(to, 5, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        }
        if (way == 1) MPI_Wait(&answer, MPI_STATUS_IGNORE);
        if (way == 2) MPI_Recv(&word, 1, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (way == 3) MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK_EQ(word, way);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
      } else {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_PATTERN(data, sizeof data, epoch);
        MPI_Send(&word, 1, MPI_INT, from, 5, MPI_COMM_WORLD);
      }
    }
    MPI_Request_free(&r);
  }
  // Who has asked whether the receiver is ready may let it go on only then, each time.
  MPI_Request r = sends() ? psend(data, 1, sizeof data, 2, MPI_COMM_WORLD, MPI_INFO_NULL)
                          : precv(data, 1, sizeof data, 2, MPI_COMM_WORLD);
  for (int epoch = 0; epoch < 3; epoch++) {
    MPI_Start(&r);
    if (sends()) {
      MPIX_Pbuf_prepare(r);
      MPI_Send(&epoch, 1, MPI_INT, to, 6, MPI_COMM_WORLD);
      fill(data, sizeof data, (unsigned)epoch);
      MPI_Pready(0, r);
    } else {
      int go = -1;
      MPI_Recv(&go, 1, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQ(go, epoch);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_PATTERN(data, sizeof data, (unsigned)epoch);
  }
  MPI_Request_free(&r);
}

// Communicators of the same two processes, by many ways to make one: what is set up on one meets nothing of another, though all have
// one tag and the receiver takes them in another order.
static void comms(void) {
  enum { kMost = 16, kBytes = 300 };
  static unsigned char out[kMost][kBytes], in[kMost][kBytes];
  MPI_Comm comms[kMost];
  int n = 0, ends[2] = {0, world_size - 1}, period = 0, dims[1] = {world_size};
  MPI_Group world, two;
  MPI_Request idup;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, world_size == 1 ? 1 : 2, ends, &two);
  comms[n++] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[n++]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[n++]);
  MPI_Comm_dup(comms[1], &comms[n++]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &comms[n++]);
  MPI_Comm_idup(MPI_COMM_WORLD, &comms[n++], &idup);
  MPI_Wait(&idup, MPI_STATUS_IGNORE);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, &period, 0, &comms[n++]);
  MPI_Comm_create(MPI_COMM_WORLD, world, &comms[n++]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &comms[n++]);
  const int whole = n;
  MPI_Comm pair[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  if (sends() || receives()) {  // the others take no part
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &pair[0]);
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &pair[1]);
    comms[n++] = pair[0];
    comms[n++] = pair[1];
  }
  if (!sends() && !receives()) n = 0;
  MPI_Request s[kMost], r[kMost];
  for (int i = 0; i < n; i++) {
    fill(out[i], kBytes, (unsigned)i);
    const int last = i < whole ? world_size - 1 : (world_size > 1);
    s[i] = r[i] = MPI_REQUEST_NULL;
    if (sends()) MPI_Psend_init(out[i], 3, kBytes / 3, MPI_BYTE, last, 1, comms[i], MPI_INFO_NULL, &s[i]);
  }
  for (int k = 0; k < n && receives(); k++) {
    const int i = (k * 7 + 3) % n;
    MPI_Precv_init(in[i], 2, kBytes / 2, MPI_BYTE, 0, 1, comms[i], MPI_INFO_NULL, &r[i]);
  }
  CHECK(n == 0 || n % 7 != 0, "an order is missing");
  if (receives()) MPI_Startall(n, r);
  if (sends()) {
    MPI_Startall(n, s);
    for (int i = 0; i < n; i++) MPI_Pready_range(0, 2, s[i]);
    MPI_Waitall(n, s, MPI_STATUSES_IGNORE);
  }
  if (receives()) {
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) CHECK_PATTERN(in[i], kBytes, (unsigned)i);
  }
  for (int i = 0; i < n; i++) free_both(&s[i], &r[i]);
  for (int i = 1; i < whole; i++) MPI_Comm_free(&comms[i]);
  if (pair[0] != MPI_COMM_NULL) MPI_Comm_free(&pair[0]);
  if (pair[1] != MPI_COMM_NULL) MPI_Comm_free(&pair[1]);
  MPI_Group_free(&two);
  MPI_Group_free(&world);
}

// More requests than a host attaches buffers to a window, and receives that share, or overlap in, their buffer.
static void many(void) {
  enum { kMany = 150, kBytes = 96 };
  static unsigned char out[kMany][kBytes], in[kMany][kBytes], shared[2 * kBytes];
  MPI_Request s[kMany], r[kMany];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kMany; i++) {
      s[i] = psend(out[i], 4, kBytes / 4, i, MPI_COMM_WORLD, MPI_INFO_NULL);
      r[i] = precv(in[i], 3, kBytes / 3, i, MPI_COMM_WORLD);
    }
    for (unsigned epoch = 0; epoch < 3; epoch++) {
      memset(in, 0, sizeof in);
      if (receives()) MPI_Startall(kMany, r);
      if (sends()) MPI_Startall(kMany, s);
      for (int k = 0; k < kMany; k++) {
        const int i = (k * 77 + 5) % kMany;
        fill(out[i], kBytes, epoch + 10 * (unsigned)i);
        if (sends()) MPI_Pready_range(0, 3, s[i]);
      }
      if (sends()) MPI_Waitall(kMany, s, MPI_STATUSES_IGNORE);
      if (receives()) MPI_Waitall(kMany, r, MPI_STATUSES_IGNORE);
      for (int i = 0; i < kMany && receives(); i++) CHECK_PATTERN(in[i], kBytes, epoch + 10 * (unsigned)i);
    }
    for (int i = 0; i < kMany; i++) free_both(&s[i], &r[i]);
  }
  for (int i = 0; i < 3; i++) {
    s[i] = psend(out[i], 1, kBytes, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
    r[i] = precv(shared + (i == 2 ? kBytes / 2 : 0), 1, kBytes, 1, MPI_COMM_WORLD);
  }
  for (int k = 0; k < 9; k++) {
    const int i = k % 3;
    fill(out[i], kBytes, (unsigned)k);
    memset(shared, 0, sizeof shared);
    if (receives()) MPI_Start(&r[i]);
    if (sends()) {
      MPI_Start(&s[i]);
      MPI_Pready(0, s[i]);
      MPI_Wait(&s[i], MPI_STATUS_IGNORE);
    }
    if (receives()) {
      MPI_Wait(&r[i], MPI_STATUS_IGNORE);
      CHECK_PATTERN(shared + (i == 2 ? kBytes / 2 : 0), kBytes, (unsigned)k);
    }
  }
  for (int i = 0; i < 3; i++) free_both(&s[i], &r[i]);
}

// With the handler that ends the job.
static void misuse(void) {
  MPI_Request s = psend(sent, 3, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
  MPI_Start(&s);
  MPI_Pready(7, s);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "mixed";
  if (strcmp(what, "single") == 0 || strcmp(what, "asking") == 0) {
    start(&argc, &argv);
  } else {
    start_threaded(&argc, &argv);
  }
  to = world_size - 1;
  from = 0;
  if (strcmp(what, "mixed") == 0) mixed();
  if (strcmp(what, "aggregate") == 0) aggregate();
  if (strcmp(what, "types") == 0) types();
  if (strcmp(what, "reuse") == 0) reuse();
  if (strcmp(what, "ahead") == 0) ahead();
  if (strcmp(what, "early") == 0) early(argc > 2);  // `order`
  if (strcmp(what, "behind") == 0 || strcmp(what, "single") == 0) behind(0);
  if (strcmp(what, "barrier") == 0) behind(1);
  if (strcmp(what, "asking") == 0) asking();
  if (strcmp(what, "comms") == 0) comms();
  if (strcmp(what, "many") == 0) many();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "together") == 0) together();
  if (strcmp(what, "misuse") == 0) misuse();
  return finish();
}
