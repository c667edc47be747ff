// Heddle's performance variables: each number, exactly, after traffic whose numbers are known; per VCI, per session.
#include <pthread.h>

#include "check.h"

enum { kMax = 64, kPosted = 11, kUnexpected = 7, kLarge = 1 << 20 };
typedef unsigned long Values[kMax];

static int vcis;
static MPI_Comm one, two, aside;  // the third keeps the ranks in step, and nothing of it is counted here

static MPI_T_pvar_handle alloc(MPI_T_pvar_session session, const char* name, int class) {
  MPI_T_pvar_handle handle;
  int index;
  CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &vcis), MPI_SUCCESS);
  CHECK(vcis <= kMax, "%d", vcis);
  return handle;
}
static MPI_T_pvar_handle counter(MPI_T_pvar_session session, const char* name) {
  return alloc(session, name, MPI_T_PVAR_CLASS_COUNTER);
}

static unsigned long at(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int vci) {
  Values values;
  CHECK_EQ(MPI_T_pvar_read(session, handle, values), MPI_SUCCESS);
  return values[vci];
}

static void in_step(void) { MPI_Barrier(aside); }

// From rank 0 to rank 1.
static void messages(MPI_Comm comm, int count, int bytes) {
  static char buffer[kLarge];
  for (int m = 0; m < count; m++) {
    if (world_rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 3, comm);
    if (world_rank == 1) MPI_Recv(buffer, bytes, MPI_BYTE, 0, 3, comm, MPI_STATUS_IGNORE);
  }
}

// The same, apart from what is read before and after it.
static void batch(MPI_Comm comm, int count) {
  in_step();
  messages(comm, count, 8);
  in_step();
}

// From rank 0 to rank 1, one after the other: no queue gets longer than one.
static void singly(MPI_Comm comm, int count) {
  for (int m = 0; m < count; m++) {
    int data = m;
    if (world_rank == 0) MPI_Ssend(&data, 1, MPI_INT, 1, 3, comm);
    if (world_rank == 1) MPI_Recv(&data, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
  }
}

// The VCI of a communicator: where messages show.
static int vci_of(MPI_T_pvar_session session, MPI_Comm comm) {
  MPI_T_pvar_handle handle = counter(session, world_rank == 0 ? "messages_sent" : "messages_received");
  Values values;
  int found = -1;
  MPI_T_pvar_start(session, handle);
  in_step();
  singly(comm, 23);
  in_step();
  MPI_T_pvar_read(session, handle, values);
  for (int i = 0; i < vcis; i++) {
    if (values[i] != 23) continue;
    CHECK_EQ(found, -1);
    found = i;
  }
  CHECK(found >= 0, "no VCI shows the 23 messages");
  MPI_T_pvar_handle_free(session, &handle);
  return found;
}

static void numbers(MPI_T_pvar_session session, int a, int b) {
  MPI_T_pvar_handle sent = counter(session, "messages_sent"), received = counter(session, "messages_received");
  CHECK_EQ(at(session, sent, a), 0);  // not started yet
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  in_step();
  messages(one, 1000, 8);
  messages(one, 5, 2000);
  messages(one, 3, kLarge);  // several packets and answers each, but one message
  singly(two, 4);
  in_step();
  CHECK_EQ(at(session, sent, a), world_rank == 0 ? 1008 : 0);
  CHECK_EQ(at(session, received, a), world_rank == 1 ? 1008 : 0);
  CHECK_EQ(at(session, sent, b), world_rank == 0 ? 4 : 0);
  CHECK_EQ(at(session, received, b), world_rank == 1 ? 4 : 0);

  // Many at once, before anybody receives: those that find no room leave later, and count then.
  MPI_Request requests[3000];
  static int data[3000];
  MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES);
  CHECK_EQ(at(session, sent, a), 0);
  in_step();
  for (int m = 0; m < 3000; m++) {
    if (world_rank == 0) MPI_Isend(&data[m], 1, MPI_INT, 1, m, one, &requests[m]);
  }
  if (world_rank == 0) MPI_Waitall(3000, requests, MPI_STATUSES_IGNORE);
  for (int m = 2999; m >= 0; m--) {
    if (world_rank == 1) MPI_Recv(&data[m], 1, MPI_INT, 0, m, one, MPI_STATUS_IGNORE);
  }
  in_step();
  CHECK_EQ(at(session, sent, a), world_rank == 0 ? 3000 : 0);
  CHECK_EQ(at(session, received, a), world_rank == 1 ? 3000 : 0);
  CHECK_EQ(at(session, received, b), 0);
  MPI_T_pvar_handle_free(session, &sent);
  MPI_T_pvar_handle_free(session, &received);
}

// Rank 1 posts some receives, rank 0 sends these messages and more. Then all of them are there, by a probe of the last.
static void queues(MPI_T_pvar_session session, int b) {
  MPI_T_pvar_handle unexpected = counter(session, "messages_unexpected");
  MPI_T_pvar_handle posted_now = alloc(session, "posted_queue_length", MPI_T_PVAR_CLASS_LEVEL);
  MPI_T_pvar_handle posted_max = alloc(session, "posted_queue_length", MPI_T_PVAR_CLASS_HIGHWATERMARK);
  MPI_T_pvar_handle waiting_now = alloc(session, "unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL);
  MPI_T_pvar_handle waiting_max = alloc(session, "unexpected_queue_length", MPI_T_PVAR_CLASS_HIGHWATERMARK);
  MPI_Request requests[kPosted];
  int data[kPosted];
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  in_step();
  if (world_rank == 1) {
    for (int m = 0; m < kPosted; m++) MPI_Irecv(&data[m], 1, MPI_INT, 0, m, two, &requests[m]);
    CHECK_EQ(at(session, posted_now, b), kPosted);
  }
  in_step();
  if (world_rank == 0) {
    for (int m = 0; m < kPosted + kUnexpected; m++) MPI_Send(&m, 1, MPI_INT, 1, m, two);
  }
  if (world_rank == 1) {
    MPI_Probe(0, kPosted + kUnexpected - 1, two, MPI_STATUS_IGNORE);
    CHECK_EQ(at(session, unexpected, b), kUnexpected);
    CHECK_EQ(at(session, posted_now, b), 0);
    CHECK_EQ(at(session, waiting_now, b), kUnexpected);
    MPI_Waitall(kPosted, requests, MPI_STATUSES_IGNORE);
    for (int m = kUnexpected - 1; m >= 0; m--) {
      MPI_Recv(data, 1, MPI_INT, 0, kPosted + m, two, MPI_STATUS_IGNORE);
      CHECK_EQ(data[0], kPosted + m);
      CHECK_EQ(at(session, waiting_now, b), m);
    }
    CHECK_EQ(at(session, unexpected, b), kUnexpected);
    CHECK_EQ(at(session, posted_max, b), kPosted);
    CHECK_EQ(at(session, waiting_max, b), kUnexpected);
  }
  in_step();
}

// What one session does, another does not feel.
static void sessions(int a) {
  const char* name = world_rank == 0 ? "messages_sent" : "messages_received";
  MPI_T_pvar_session mine, theirs;
  Values values;
  MPI_T_pvar_session_create(&mine);
  MPI_T_pvar_session_create(&theirs);
  MPI_T_pvar_handle h = counter(mine, name), same = counter(mine, name), other = counter(theirs, name);
  MPI_T_pvar_start(mine, h);
  batch(one, 10);
  CHECK_EQ(at(mine, h, a), 10);
  CHECK_EQ(at(mine, same, a), 0);
  MPI_T_pvar_start(theirs, MPI_T_PVAR_ALL_HANDLES);
  batch(one, 5);
  CHECK_EQ(at(mine, h, a), 15);
  CHECK_EQ(at(mine, same, a), 0);
  CHECK_EQ(at(theirs, other, a), 5);
  MPI_T_pvar_reset(theirs, MPI_T_PVAR_ALL_HANDLES);
  MPI_T_pvar_stop(mine, MPI_T_PVAR_ALL_HANDLES);
  batch(one, 4);
  CHECK_EQ(at(mine, h, a), 15);
  CHECK_EQ(at(theirs, other, a), 4);
  MPI_T_pvar_start(mine, h);
  MPI_T_pvar_start(mine, h);  // it runs already
  batch(one, 2);
  CHECK_EQ(at(mine, h, a), 17);

  for (int i = 0; i < vcis; i++) values[i] = 100 + (unsigned long)i;
  CHECK_EQ(MPI_T_pvar_write(mine, h, values), MPI_SUCCESS);
  batch(one, 3);
  CHECK_EQ(at(mine, h, a), 103 + a);
  CHECK_EQ(MPI_T_pvar_readreset(mine, h, values), MPI_SUCCESS);
  CHECK_EQ(values[a], 103 + a);
  CHECK_EQ(at(mine, h, a), 0);
  batch(one, 6);
  CHECK_EQ(at(mine, h, a), 6);
  MPI_T_pvar_stop(mine, h);
  CHECK_EQ(MPI_T_pvar_readreset(mine, h, values), MPI_SUCCESS);
  CHECK_EQ(values[a], 6);
  CHECK_EQ(at(mine, h, a), 0);
  CHECK_EQ(at(theirs, other, a), 15);
  MPI_T_pvar_session_free(&mine);
  CHECK_EQ(at(theirs, other, a), 15);
  MPI_T_pvar_session_free(&theirs);
}

static volatile int contended;
static void* probe(void* unused) {
  int flag;
  while (!contended) MPI_Iprobe(MPI_ANY_SOURCE, 9, one, &flag, MPI_STATUS_IGNORE);
  return unused;
}

// Polls of the one VCI while a thread waits on the other; and of one VCI by two threads.
static void polls(MPI_T_pvar_session session, int a, int b) {
  MPI_T_pvar_handle foreign = counter(session, "polls_foreign"), kept_out = counter(session, "polls_contended");
  pthread_t threads[2];
  int flag;
  MPI_T_pvar_start(session, foreign);
  MPI_T_pvar_start(session, kept_out);
  while (at(session, foreign, a) == 0) MPI_Iprobe(MPI_ANY_SOURCE, 9, two, &flag, MPI_STATUS_IGNORE);
  CHECK_EQ(at(session, foreign, b), 0);
  for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, probe, NULL);
  while (at(session, kept_out, a) == 0) continue;
  contended = 1;
  for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  in_step();
}

// Tools in threads of their own, while messages flow.
static void* tool(void* argument) {
  const int a = *(int*)argument;
  int provided;
  for (int round = 0; round < 50; round++) {
    MPI_T_pvar_session session;
    unsigned long last = 0, now;
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle handle = counter(session, world_rank == 0 ? "messages_sent" : "messages_received");
    CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    for (int i = 0; i < 20; i++, last = now) {
      now = at(session, handle, a);
      CHECK(now >= last && now <= 4000, "%lu, then %lu", last, now);
    }
    CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  }
  return NULL;
}

static void threads(MPI_T_pvar_session session, int a) {
  MPI_T_pvar_handle handle = counter(session, world_rank == 0 ? "messages_sent" : "messages_received");
  pthread_t tools[3];
  MPI_T_pvar_start(session, handle);
  for (int t = 0; t < 3; t++) pthread_create(&tools[t], NULL, tool, &a);
  batch(one, 4000);
  for (int t = 0; t < 3; t++) pthread_join(tools[t], NULL);
  CHECK_EQ(at(session, handle, a), 4000);
}

// A handle bound to a communicator.
static void bound(MPI_T_pvar_session session) {
  int index, count, data[2];
  unsigned long value;
  MPI_T_pvar_handle handle;
  MPI_Comm comm, none = MPI_COMM_NULL;
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  CHECK_EQ(MPI_T_pvar_get_index("receives_open", MPI_T_PVAR_CLASS_LEVEL, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, &none, &handle, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  for (int i = 0; i < 2; i++) {
    MPI_T_pvar_read(session, handle, &value);
    CHECK_EQ(value, i);
    MPI_Irecv(&data[i], 1, MPI_INT, 0, i, comm, &requests[i]);
  }
  MPI_T_pvar_read(session, handle, &value);
  CHECK_EQ(value, 2);
  for (int i = 0; i < 2; i++) MPI_Send(&i, 1, MPI_INT, 0, i, comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_T_pvar_read(session, handle, &value);
  CHECK_EQ(value, 0);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  MPI_Comm_free(&comm);
  CHECK_EQ(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  int provided;
  MPI_T_pvar_session session;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  MPI_Comm_dup(MPI_COMM_WORLD, &aside);
  MPI_T_pvar_session_create(&session);
  int a = vci_of(session, one), b = vci_of(session, two);
  CHECK(a != b, "both communicators use VCI %d", a);
  numbers(session, a, b);
  queues(session, b);
  sessions(a);
  polls(session, a, b);
  threads(session, a);
  bound(session);

  MPI_T_pvar_handle sent = counter(session, "messages_sent");
  MPI_T_pvar_start(session, sent);
  batch(two, 12);
  CHECK_EQ(at(session, sent, b), world_rank == 0 ? 12 : 0);
  MPI_Finalize();
  CHECK_EQ(at(session, sent, b), world_rank == 0 ? 12 : 0);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return 0;
}
