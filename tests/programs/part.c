// Partitioned communication (MPI 5.0, 4.2): every rule, and what other libraries have been seen to break.
//   part [rules | comms | mapping | errors | threads | prepare | huge] [written | unwritten]; the first rank sends, the last one receives; alone, it does both
// Of Heddle alone: `written`: the network has written some of its partitions into the receiver's buffer; `unwritten`: none.
#include <pthread.h>

#include "part_match.h"

// Weak: null where a library lacks it.
__attribute__((weak)) int MPIX_Pbuf_prepare(MPI_Request request);
__attribute__((weak)) int MPIX_Pbuf_prepareall(int count, MPI_Request requests[]);

// No byte of a partition that is not ready has moved: `ready` of ps are, in the order of this epoch.
static void check_old(const unsigned char* in, int ps, size_t each, int ready, unsigned epoch) {
  for (int k = ready; k < ps; k++) {
    const size_t begin = (size_t)((k * 7919LL + epoch) % ps) * each;
    for (size_t i = begin; i < begin + each; i++) CHECK(in[i] == 0xEE, "byte %zu of epoch %u has come", i, epoch);
  }
}

// Every partition apart and in a scattered order, several epochs; what has arrived is there and nothing else has.
static void cut(int ps, int pr, MPI_Count each_s) {
  const size_t total = (size_t)ps * (size_t)each_s, each_r = total / (size_t)pr;
  CHECK_EQ(each_r * (size_t)pr, total);
  unsigned char *out = calloc(1, total + 1), *in = calloc(1, total + 1);
  MPI_Request s = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL;
  if (sends()) s = psend(out, ps, each_s, MPI_BYTE, 3, MPI_COMM_WORLD);
  if (receives()) r = precv(in, pr, (MPI_Count)each_r, MPI_BYTE, 3, MPI_COMM_WORLD);
  for (unsigned epoch = 1; epoch <= 4; epoch++) {
    int flag, ready = 0;
    if (receives()) {
      memset(in, 0xEE, total + 1);
      MPI_Start(&r);
    }
    if (sends()) {
      memset(out, 0xAA, total + 1);
      MPI_Start(&s);
    }
    for (int k = 0; k < ps; k++) {
      const int p = (int)((k * 7919LL + epoch) % ps);  // ps is no multiple of 7919
      if (receives()) {
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
        check_old(in, ps, (size_t)each_s, ready, epoch);
      }
      if (world_size > 1) MPI_Barrier(MPI_COMM_WORLD);
      if (sends()) {
        for (size_t i = (size_t)p * (size_t)each_s; i < (size_t)(p + 1) * (size_t)each_s; i++)
          out[i] = pattern(i, epoch);
        MPI_Pready(p, s);
        if (k + 1 < ps) {
          MPI_Request_get_status(s, &flag, MPI_STATUS_IGNORE);
          CHECK_EQ(flag, 0);
        }
      }
      ready++;
      if (receives()) {
        for (int q = 0; q < pr; q++) {
          // Exactly those arrive all of whose bytes are ready, and they do before anything else is.
          int due = 1;
          const size_t a = (size_t)q * each_r, b = a + each_r;
          for (int j = 0; j < ps; j++) {
            int is_ready = 0;
            for (int m = 0; m < ready; m++) is_ready |= (int)((m * 7919LL + epoch) % ps) == j;
            if (!is_ready && (size_t)j * (size_t)each_s < b && (size_t)(j + 1) * (size_t)each_s > a) due = 0;
          }
          if (due) {
            do MPI_Parrived(r, q, &flag);
            while (!flag);
            for (size_t i = a; i < b; i++) CHECK(in[i] == pattern(i, epoch), "byte %zu of epoch %u", i, epoch);
          } else {
            MPI_Parrived(r, q, &flag);
            CHECK_EQ(flag, 0);
          }
        }
        MPI_Message message;
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);  // partitions are no messages
        check_old(in, ps, (size_t)each_s, ready, epoch);
      }
      if (world_size > 1) MPI_Barrier(MPI_COMM_WORLD);
    }
    if (sends()) {
      // Which never makes it inactive: then it could be started.
      for (int twice = 0; twice < 2; twice++) {
        do MPI_Request_get_status(s, &flag, MPI_STATUS_IGNORE);
        while (!flag);
      }
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      CHECK_CLASS(MPI_Start(&s), MPI_ERR_REQUEST);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
      MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    if (receives()) {
      MPI_Status status;
      MPI_Count count;
      for (int twice = 0; twice < 2; twice++) {
        do MPI_Request_get_status(r, &flag, &status);
        while (!flag);
      }
      MPI_Wait(&r, &status);
      CHECK_EQ(status.MPI_SOURCE, from);
      CHECK_EQ(status.MPI_TAG, 3);
      MPI_Get_count_c(&status, MPI_BYTE, &count);
      CHECK_EQ(count, total);
      CHECK_PATTERN(in, total, epoch);
      CHECK_EQ(in[total], 0xEE);
      MPI_Parrived(r, 0, &flag);  // inactive
      CHECK_EQ(flag, 1);
    }
  }
  if (sends()) MPI_Request_free(&s);
  if (receives()) MPI_Request_free(&r);
  free(out);
  free(in);
}

static void mapping(void) {
  cut(1, 1, 5);
  cut(8, 3, 3);
  cut(3, 8, 8);
  cut(8, 3, 30000);
  cut(16, 1, 4096);
  cut(64, 4, 100);
  cut(2, 6, 3 << 18);
  cut(8, 3, 3 << 16);
  cut(3, 5, 1000005);
}

static void rules(void) {
  int flag, a[8], b[8];
  MPI_Status status;
  MPI_Request s[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
  CHECK_EQ(flag, 1);
  // Freed before it was ever started; they match each other, and no others.
  if (sends()) s[0] = psend(a, 2, 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (sends()) MPI_Request_free(&s[0]);
  if (receives()) r[0] = precv(b, 2, 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (receives()) MPI_Request_free(&r[0]);
  // Posted order, one Startall, one Waitall; no probe sees a set-up, no receive takes it.
  MPI_Comm comm;
  MPI_Datatype vec;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_vector(2, 1, 2, MPI_INT, &vec);
  MPI_Type_commit(&vec);
  MPI_Datatype wide;
  MPI_Type_create_resized(vec, 0, 16, &wide);
  MPI_Type_commit(&wide);
  if (sends()) s[0] = psend(a, 2, 1, wide, 1, comm), s[1] = psend(a + 1, 1, 2, MPI_INT, 1, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  CHECK_EQ(flag, 0);
  // A plain message is for plain receives, and passes what is set up.
  int said = -1;
  MPI_Request plain = MPI_REQUEST_NULL;
  if (receives()) MPI_Irecv(&said, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &plain);
  MPI_Barrier(MPI_COMM_WORLD);
  if (sends()) MPI_Send(&(int){41}, 1, MPI_INT, to, 1, comm);
  if (receives()) {
    MPI_Wait(&plain, &status);
    CHECK_EQ(said, 41);
    check_status(&status, from, 1, 1, MPI_INT);
  }
  if (receives()) r[0] = precv(b, 1, 4, MPI_INT, 1, comm), r[1] = precv(b + 4, 2, 1, MPI_INT, 1, comm);
  MPI_Type_free(&vec);
  MPI_Type_free(&wide);
  MPI_Comm_free(&comm);
  for (int epoch = 0; epoch < 3; epoch++) {
    for (int i = 0; i < 8; i++) a[i] = 100 * epoch + i, b[i] = -1;
    if (sends()) {
      MPI_Startall(2, s);
      MPI_Testall(2, s, &flag, MPI_STATUSES_IGNORE);
      CHECK_EQ(flag, 0);  // also from the second start on
    }
    if (receives()) MPI_Startall(2, r);
    if (sends()) {
      const int list[] = {1, 0};
      MPI_Pready_range(0, 0, s[1]);
      MPI_Pready_list(2, list, s[0]);
      MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
    }
    if (receives()) {
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
      const int want[] = {0, 2, 4, 6, 1, 2};
      for (int i = 0; i < 6; i++) CHECK_EQ(b[i], 100 * epoch + want[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 2; i++) {
    if (sends()) MPI_Request_free(&s[i]);
    if (receives()) MPI_Request_free(&r[i]);
  }
  // No bytes: complete when every partition is ready, not before. And no partitions.
  for (int parts = 0; parts < 4; parts += 3) {
    if (sends()) s[0] = psend(a, parts, 0, MPI_INT, 1, MPI_COMM_WORLD);
    if (receives()) r[0] = precv(b, 2, 0, MPI_INT, 1, MPI_COMM_WORLD);
    for (int epoch = 0; epoch < 3; epoch++) {
      if (receives()) MPI_Start(&r[0]);
      if (sends()) MPI_Start(&s[0]);
      if (parts != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (receives()) {
          MPI_Parrived(r[0], 0, &flag);
          CHECK_EQ(flag, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (sends()) MPI_Pready_range(0, parts - 1, s[0]);
      }
      if (sends()) MPI_Wait(&s[0], MPI_STATUS_IGNORE);
      if (receives()) {
        MPI_Wait(&r[0], &status);
        check_status(&status, from, 1, 0, MPI_INT);
      }
    }
    if (sends()) MPI_Request_free(&s[0]);
    if (receives()) MPI_Request_free(&r[0]);
  }
  // MPI_PROC_NULL, and a free while it is active.
  MPI_Psend_init(a, 3, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s[0]);
  MPI_Precv_init(b, 3, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  for (int epoch = 0; epoch < 2; epoch++) {
    MPI_Start(&s[0]);
    MPI_Start(&r[0]);
    MPI_Parrived(r[0], 1, &flag);
    CHECK_EQ(flag, 1);
    MPI_Pready_range(0, 2, s[0]);
    MPI_Wait(&s[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], &status);
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  }
  MPI_Request_free(&s[0]);
  MPI_Request_free(&r[0]);
  a[0] = 77;
  if (sends()) {
    s[0] = psend(a, 1, 1, MPI_INT, 5, MPI_COMM_WORLD);
    MPI_Start(&s[0]);
    MPI_Pready(0, s[0]);
    MPI_Request_free(&s[0]);
  }
  if (receives()) {
    r[0] = precv(b, 1, 1, MPI_INT, 5, MPI_COMM_WORLD);
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK_EQ(b[0], 77);
    MPI_Request_free(&r[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // A receive that is let go while it is active, before there is a sender: what it was started for arrives all the same.
  static volatile int late[2] = {-1, -1};
  if (receives()) {
    r[0] = precv((void*)late, 2, 1, MPI_INT, 6, MPI_COMM_WORLD);
    MPI_Start(&r[0]);
    MPI_Request_free(&r[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (sends()) {
    a[0] = 78, a[1] = 79;
    s[0] = psend(a, 2, 1, MPI_INT, 6, MPI_COMM_WORLD);
    MPI_Start(&s[0]);
    MPI_Pready_range(0, 1, s[0]);
    MPI_Wait(&s[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&s[0]);
  }
  while (receives() && late[1] == -1) MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  if (receives()) CHECK(late[0] == 78 && late[1] == 79, "%d %d", late[0], late[1]);
  MPI_Barrier(MPI_COMM_WORLD);
}

// One exchange on a communicator that is freed before the first start.
static void on(MPI_Comm comm, int dest, int source) {
  enum { kParts = 6, kBytes = 5000 };
  static unsigned char out[kParts * kBytes], in[kParts * kBytes];
  MPI_Request s = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL;
  MPI_Status status;
  const int world_to = to, world_from = from;
  to = dest, from = source;
  if (sends()) s = psend(out, kParts, kBytes, MPI_BYTE, 7, comm);
  if (receives()) r = precv(in, 4, kParts * kBytes / 4, MPI_BYTE, 7, comm);
  MPI_Comm_free(&comm);
  for (unsigned epoch = 0; epoch < 3; epoch++) {
    if (receives()) memset(in, 0, sizeof in), MPI_Start(&r);
    if (sends()) {
      MPI_Start(&s);
      fill(out, sizeof out, epoch);
      for (int p = kParts; p-- > 0;) MPI_Pready(p, s);
      MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    if (receives()) {
      MPI_Wait(&r, &status);
      check_status(&status, source, 7, (int)sizeof in, MPI_BYTE);
      CHECK_PATTERN(in, sizeof in, epoch);
    }
  }
  if (sends()) MPI_Request_free(&s);
  if (receives()) MPI_Request_free(&r);
  to = world_to, from = world_from;
}

static void comms(void) {
  MPI_Comm comm, half;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  on(comm, to, from);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);  // the other way round
  on(comm, world_size - 1 - to, world_size - 1 - from);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "part", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  on(comm, to, from);
  MPI_Session_finalize(&session);
  if (world_size == 1) return;
  MPI_Comm_split(MPI_COMM_WORLD, receives(), 0, &half);  // the receiver alone on one side
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, receives() ? 0 : world_size - 1, 8, &comm);
  MPI_Comm_free(&half);
  on(comm, 0, 0);
}

static void errors(void) {
  int a[4] = {0}, flag, b[4];
  MPI_Request s = MPI_REQUEST_NULL, r = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Precv_init(b, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Precv_init(b, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Precv_init(b, -1, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_ARG);
  if (sends()) {
    s = psend(a, 2, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Pready(0, s), MPI_ERR_REQUEST);
    MPI_Start(&s);
    CHECK_CLASS(MPI_Pready(2, s), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, s), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(0, 1 << 30, s), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    MPI_Pready(1, s);
    CHECK_CLASS(MPI_Pready(1, s), MPI_ERR_ARG);
  }
  if (receives()) {
    r = precv(b, 2, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Parrived(r, 2, &flag), MPI_ERR_ARG);
    MPI_Start(&r);
    CHECK_CLASS(MPI_Pready(0, r), MPI_ERR_REQUEST);
  }
  if (sends()) {
    MPI_Pready(0, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
  }
  if (receives()) {
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
  }
  totals_differ();
}

enum { kThreads = 8, kEach = 4, kBytes = 20000 };
static MPI_Request shared_send, shared_receive;
static unsigned char *sent, *got;
static unsigned now;
static void* make_ready(void* arg) {
  const int t = (int)(intptr_t)arg;
  for (int k = 0; k < kEach; k++) {
    const int p = k * kThreads + t;
    for (size_t i = (size_t)p * kBytes; i < (size_t)(p + 1) * kBytes; i++) sent[i] = pattern(i, now);
    MPI_Pready(p, shared_send);
  }
  return NULL;
}
static void* look(void* arg) {
  const int t = (int)(intptr_t)arg;
  const size_t each = (size_t)kBytes * kThreads * kEach / 5;  // 32 into 5
  for (int p = t; p < 5; p += 2) {
    int flag;
    do MPI_Parrived(shared_receive, p, &flag);
    while (!flag);
    for (size_t i = (size_t)p * each; i < (size_t)(p + 1) * each; i++) CHECK(got[i] == pattern(i, now), "byte %zu", i);
  }
  return NULL;
}
static void threads(void) {
  const size_t total = (size_t)kBytes * kThreads * kEach;
  sent = malloc(total);
  got = malloc(total);
  if (sends()) shared_send = psend(sent, kThreads * kEach, kBytes, MPI_BYTE, 1, MPI_COMM_WORLD);
  if (receives()) shared_receive = precv(got, 5, (MPI_Count)total / 5, MPI_BYTE, 1, MPI_COMM_WORLD);
  for (now = 1; now <= 20; now++) {
    pthread_t t[kThreads + 2];
    int n = 0;
    if (receives()) {
      memset(got, 0, total);
      MPI_Start(&shared_receive);
      for (int i = 0; i < 2; i++) pthread_create(&t[n++], NULL, look, (void*)(intptr_t)i);
    }
    if (sends()) {
      MPI_Start(&shared_send);
      for (int i = 0; i < kThreads; i++) pthread_create(&t[n++], NULL, make_ready, (void*)(intptr_t)i);
    }
    while (n > 0) pthread_join(t[--n], NULL);
    if (sends()) MPI_Wait(&shared_send, MPI_STATUS_IGNORE);
    if (receives()) MPI_Wait(&shared_receive, MPI_STATUS_IGNORE);
  }
  if (sends()) MPI_Request_free(&shared_send);
  if (receives()) MPI_Request_free(&shared_receive);
  free(sent);
  free(got);
}

// After MPIX_Pbuf_prepare MPI_Pready moves its partition by itself: the sender calls MPI no more until it has arrived.
static void prepare(void) {
  enum { kParts = 4, kBytes = 30000 };
  static unsigned char out[kParts * kBytes], in[kParts * kBytes];
  MPI_Comm node;
  MPI_Win win;
  volatile int* word;  // what the receiver says past MPI
  MPI_Aint bytes;
  int unit, size;
  CHECK(MPIX_Pbuf_prepare != NULL && MPIX_Pbuf_prepareall != NULL, "this library has none");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  CHECK_EQ(size, world_size);
  MPI_Win_allocate_shared(world_rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, node, &word, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &word);
  *word = 0;
  MPI_Request s[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int i = 0; i < 2; i++) {
    if (sends()) s[i] = psend(out, kParts, kBytes, MPI_BYTE, i, MPI_COMM_WORLD);
    if (receives()) r[i] = precv(in, kParts, kBytes, MPI_BYTE, i, MPI_COMM_WORLD);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (sends()) CHECK_CLASS(MPIX_Pbuf_prepare(s[0]), MPI_ERR_REQUEST);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  fill(out, sizeof out, 1);
  for (int epoch = 1; epoch <= 5; epoch++) {
    memset(in, 0, sizeof in);
    MPI_Barrier(MPI_COMM_WORLD);
    if (sends()) {
      MPI_Startall(2, s);
      *word = 10 * epoch;
    }
    if (receives()) {
      while (*word < 10 * epoch) continue;  // the sender would be through with an MPI_Pready that waits for nobody
      MPI_Startall(2, r);
    }
    // Alone, in any order.
    MPI_Request all[4] = {s[0], r[0], r[1], s[1]};
    if (world_size == 1) {
      MPIX_Pbuf_prepareall(4, all);
      MPI_Pready_range(0, kParts - 1, s[0]);
    } else if (sends()) {
      MPIX_Pbuf_prepare(s[1]);
      MPIX_Pbuf_prepareall(2, s);
      for (int p = 0; p < kParts; p++) MPI_Pready(p, s[0]);
      while (*word < 10 * epoch + 1) continue;
    } else if (receives()) {
      MPIX_Pbuf_prepareall(2, r);
    }
    if (receives()) {
      for (int flag = 0, p = kParts; p-- > 0; flag = 0)
        while (!flag) MPI_Parrived(r[0], p, &flag);
      CHECK_PATTERN(in, sizeof in, 1);
      *word = 10 * epoch + 1;
    }
    if (sends()) MPI_Pready_range(0, kParts - 1, s[1]);
    if (sends()) MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
    if (receives()) MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; i++) {
    if (sends()) MPI_Request_free(&s[i]);
    if (receives()) MPI_Request_free(&r[i]);
  }
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

// One byte in so many, all pages among them, and both ends of each partition.
static size_t next_looked_at(size_t i, size_t partition) {
  const size_t there = i + 4001, end = (i / partition + 1) * partition - 1;
  return i == end ? i + 1 : there < end ? there : end;
}

static void huge_one(int ps, int pr, size_t total) {
  unsigned char* data = malloc(total);
  CHECK(data != NULL, "this test needs %zu bytes a rank", total);
  MPI_Request s, r;
  if (sends()) {
    for (size_t i = 0; i < total; i = next_looked_at(i, total / (size_t)ps)) data[i] = pattern(i, 5);
    MPI_Psend_init_c(data, ps, (MPI_Count)(total / (size_t)ps), MPI_BYTE, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Start(&s);
    for (int p = ps; p-- > 0;) MPI_Pready(p, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
  } else if (receives()) {
    MPI_Status status;
    MPI_Count count;
    MPI_Precv_init_c(data, pr, (MPI_Count)(total / (size_t)pr), MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    for (int flag = 0, p = 0; p < pr; p++, flag = 0) {
      while (!flag) MPI_Parrived(r, p, &flag);
    }
    for (size_t i = 0; i < total; i = next_looked_at(i, total / (size_t)ps))
      CHECK(data[i] == pattern(i, 5), "byte %zu", i);
    MPI_Wait(&r, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    CHECK_EQ(count, total);
    MPI_Request_free(&r);
  }
  free(data);
}

static void huge(void) {
  CHECK(world_size > 1, "needs two ranks");
  const size_t gib = (size_t)1 << 30;
  huge_one(1, 1, 2 * gib + 4099);
  huge_one(5, 3, 15 * (gib / 7 / 8 * 8));  // 2.1 GiB
}

// Of Heddle: partitions of sends here that the network has written, and their bytes.
static MPI_T_pvar_session session;
static MPI_T_pvar_handle written[2];
static void start_counting(void) {
  static const char* const names[] = {"partitions_written", "partition_bytes_written"};
  int provided, index, vcis;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &written[i], &vcis), MPI_SUCCESS);
    CHECK(vcis <= 64, "%d", vcis);
    MPI_T_pvar_start(session, written[i]);
  }
}
static void check_written(int some) {
  unsigned long values[2][64] = {{0}}, sum[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(MPI_T_pvar_read(session, written[i], values[i]), MPI_SUCCESS);
    for (int k = 0; k < 64; k++) sum[i] += values[i][k];
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  const unsigned long least = some && sends() ? 1 : 0;
  CHECK(least ? sum[0] >= least : sum[0] == 0, "%lu partitions", sum[0]);
  CHECK(sum[1] >= sum[0] * (192 << 10) && (sum[1] == 0) == (sum[0] == 0), "%lu bytes", sum[1]);  // no shorter ones
  if (sends()) printf("part: the network has written %lu partitions, %lu bytes\n", sum[0], sum[1]);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "rules";
  start_threaded(&argc, &argv);
  to = world_size - 1;
  from = 0;
  if (argc > 2) start_counting();
  if (strcmp(what, "rules") == 0) rules(), match(), pass();
  if (strcmp(what, "comms") == 0) comms();
  if (strcmp(what, "prepare") == 0) prepare();
  if (strcmp(what, "huge") == 0) huge();
  if (strcmp(what, "mapping") == 0) mapping();
  if (strcmp(what, "errors") == 0) errors();
  if (strcmp(what, "threads") == 0) threads();
  if (argc > 2) check_written(strcmp(argv[2], "written") == 0);
  return finish();
}
