// A rank dies, and the others, who handle errors themselves, go on without it: what waits for it fails with
// MPI_ERR_PROC_ABORTED and says why, everything else works (MPI 5.0, 9.3).
//
// lost PLACE [HOW [DIRECTORY]]: what the others do, and how the second rank ends: "kill" (default) or "exit". "host": the upper
// half of the ranks, a host's, does not end by itself: each makes DIRECTORY/there.RANK, calls MPI no more, and waits for its
// end. With HEDDLE_TEST_THREADS in the environment, under MPI_THREAD_MULTIPLE.
#include <mpix.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { LARGE = 4 << 20, MIDDLE = 700 << 10 };  // one that a network brings behind its announcement

static const char *how = "kill", *directory = ".";
static int victim = 1, victims = 1;  // the first, and how many
static MPI_Comm left;                // made before: all but the victims

static void die(void) {
  if (strcmp(how, "exit") == 0) _exit(3);
  if (strcmp(how, "host") == 0) {
    char path[512];
    snprintf(path, sizeof path, "%s/there.%d", directory, world_rank);
    fclose(fopen(path, "w"));
    for (;;) pause();
  }
  raise(SIGKILL);
}

static int am_victim(void) { return world_rank >= victim && world_rank < victim + victims; }

static void check_lost(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK_EQ(error_class(code), MPI_ERR_PROC_ABORTED);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "of the communicator is lost: ") != NULL, "%s", text);
}

// The others work, all kinds of traffic.
static void check_left(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK_EQ(size, world_size - victims);
  for (int i = 0; i < 20; i++) {
    int sum = 0, mine = rank + i;
    CHECK_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, size * (size - 1) / 2 + i * size);
  }
  static unsigned char out[LARGE], in[LARGE];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  fill(out, LARGE, (unsigned)rank);
  CHECK_EQ(MPI_Sendrecv(out, LARGE, MPI_BYTE, to, 1, in, LARGE, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE),
           MPI_SUCCESS);
  CHECK_PATTERN(in, LARGE, (unsigned)from);
}

// Everybody knows: until an operation says so.
static void until_known(void) {
  char byte;
  check_lost(MPI_Recv(&byte, 1, MPI_CHAR, victim, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void in_receive(void) {
  char byte[4];
  MPI_Status status;
  if (am_victim()) {
    if (world_rank != victim) die();
    MPI_Send("last", 4, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
    die();
  }
  check_lost(MPI_Recv(byte, 4, MPI_CHAR, victim, 5, MPI_COMM_WORLD, &status));
  check_lost(MPI_Recv(byte, 4, MPI_CHAR, victim, 5, MPI_COMM_WORLD, &status));  // and again
  if (world_rank == 0) {
    // What it has sent before is not lost.
    CHECK_EQ(MPI_Recv(byte, 4, MPI_CHAR, victim, 6, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(memcmp(byte, "last", 4) == 0, "%.4s", byte);
    check_status(&status, victim, 6, 4, MPI_CHAR);
  }
}

static void in_wildcards(void) {
  int a = -1, b = -1, index, flag, done[2];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  if (am_victim()) die();
  const int other = victim == 1 ? 2 : 1, peer = world_rank == 0 ? other : 0;
  check_lost(MPI_Recv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  check_lost(MPI_Probe(victim, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  check_lost(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));

  if (world_rank == 0 || world_rank == other) {  // one of two is lost, and the other comes
    MPI_Irecv(&a, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&world_rank, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_EQ(error_class(statuses[0].MPI_ERROR), MPI_ERR_PROC_ABORTED);
    CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(b, peer);
  }
  MPI_Irecv(&a, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[0]);
  check_lost(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
  CHECK_EQ(index, 0);
  CHECK(requests[0] == MPI_REQUEST_NULL);
  MPI_Irecv(&a, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[0]);
  requests[1] = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Waitsome(2, requests, &flag, done, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(flag, 1);
  CHECK_EQ(error_class(statuses[0].MPI_ERROR), MPI_ERR_PROC_ABORTED);
  MPI_Irecv(&a, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[0]);
  int code = MPI_SUCCESS;
  for (flag = 0; !flag && code == MPI_SUCCESS;) code = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  check_lost(code);
  // A persistent one can be started again, and fails again.
  MPI_Recv_init(&a, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[0]);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(MPI_Start(&requests[0]), MPI_SUCCESS);
    check_lost(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  }
  MPI_Request_free(&requests[0]);
}

// Sends that the victim never receives, short and long, before and after its end.
static void in_send(void) {
  static unsigned char data[LARGE];
  MPI_Request requests[3], free_one;
  if (am_victim()) {
    char go;
    if (world_rank != victim) die();
    for (int i = 0; i < world_size - victims; i++)
      MPI_Recv(&go, 1, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  MPI_Isend(data, MIDDLE, MPI_BYTE, victim, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(data, LARGE, MPI_BYTE, victim, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(data, 1, MPI_BYTE, victim, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(data, LARGE, MPI_BYTE, victim, 3, MPI_COMM_WORLD, &free_one);
  MPI_Request_free(&free_one);
  MPI_Isend(data, MIDDLE, MPI_BYTE, victim, 3, MPI_COMM_WORLD, &free_one);
  MPI_Request_free(&free_one);
  MPI_Send("g", 1, MPI_CHAR, victim, 9, MPI_COMM_WORLD);
  check_lost(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  check_lost(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  check_lost(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
  check_lost(MPI_Send(data, 1, MPI_BYTE, victim, 4, MPI_COMM_WORLD));
  check_lost(MPI_Send(data, MIDDLE, MPI_BYTE, victim, 4, MPI_COMM_WORLD));
  check_lost(MPI_Send(data, LARGE, MPI_BYTE, victim, 4, MPI_COMM_WORLD));
  check_lost(MPI_Ssend(data, 1, MPI_BYTE, victim, 4, MPI_COMM_WORLD));
  check_lost(
      MPI_Sendrecv(data, 1, MPI_BYTE, victim, 4, data + 1, 1, MPI_BYTE, victim, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

// Only one of the others waits for the victims; of a host's, the rest calls no MPI until it has heard of the loss.
static void in_one_waits(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/heard", directory);
  if (am_victim()) die();
  if (world_rank == 0) {
    MPI_Request* requests = malloc((size_t)victims * sizeof *requests);
    MPI_Status* statuses = malloc((size_t)victims * sizeof *statuses);
    for (int i = 0; i < victims; i++) MPI_Irecv(NULL, 0, MPI_BYTE, victim + i, 5, MPI_COMM_WORLD, &requests[i]);
    CHECK_CLASS(MPI_Waitall(victims, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < victims; i++) {
      if (requests[i] != MPI_REQUEST_NULL) statuses[i].MPI_ERROR = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      CHECK_EQ(error_class(statuses[i].MPI_ERROR), MPI_ERR_PROC_ABORTED);
    }
    free(requests);
    free(statuses);
    if (strcmp(how, "host") == 0) fclose(fopen(path, "w"));
  }
  while (strcmp(how, "host") == 0 && access(path, F_OK) != 0) usleep(1000);
  for (int r = 1; r < world_size && world_rank == 0; r++) {
    if (r < victim || r >= victim + victims) CHECK_EQ(MPI_Send(NULL, 0, MPI_BYTE, r, 6, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  if (world_rank != 0) CHECK_EQ(MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

// More sends than any ring holds, in the middle of which it dies.
static void in_flood(void) {
  char byte = 0;
  if (am_victim()) {
    for (int i = 0; i < 1000 && world_rank == victim; i++)
      MPI_Recv(&byte, 1, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  int code = MPI_SUCCESS;
  for (long i = 0; code == MPI_SUCCESS; i++) {
    CHECK(i < 100000000, "no send fails");
    code = MPI_Send(&byte, 1, MPI_CHAR, victim, 1, MPI_COMM_WORLD);
  }
  check_lost(code);
}

// Dies while long messages go both ways.
static void long_messages(int bytes) {
  unsigned char* data = malloc((size_t)bytes);
  fill(data, (size_t)bytes, victim);
  MPI_Request requests[2];
  if (am_victim()) {
    if (world_rank != victim) die();
    for (int i = 0;; i++) {
      MPI_Isend(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
      if (i == 2) {
        int flag;
        for (int tests = 0; tests < 5; tests++) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        die();
      }
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  if (world_rank == 0) {
    int code = MPI_SUCCESS, whole = 0;
    for (; code == MPI_SUCCESS; whole++) {
      memset(data, 0, (size_t)bytes);
      code = MPI_Recv(data, bytes, MPI_BYTE, victim, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS) CHECK_PATTERN(data, (size_t)bytes, victim);
    }
    check_lost(code);
    CHECK(whole >= 3, "only %d", whole);
  }
  until_known();
  free(data);
}

static void in_long_messages(void) { long_messages(64 << 20); }
static void in_middle_messages(void) { long_messages(MIDDLE); }

static void make_among_the_living(MPI_Comm* comm) {
  MPI_Group all, living;
  int gone[][3] = {{victim, victim + victims - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_excl(all, 1, gone, &living);
  CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, living, 3, comm), MPI_SUCCESS);
  MPI_Group_free(&all);
  MPI_Group_free(&living);
}

// Dies between collectives that all others are in, of every kind, short and long.
static void in_collectives(void) {
  static int data[1 << 18], result[1 << 18];
  int code = MPI_SUCCESS, i;
  for (i = 0; code == MPI_SUCCESS; i++) {
    CHECK(i < 1000000, "no collective fails");
    if (am_victim() && i == 40) die();
    const int n = i % 4 == 0 ? 1 << 18 : 1;
    data[0] = i;
    MPI_Request request;
    switch (i % 5) {
      case 0:
        code = MPI_Allreduce(data, result, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (code == MPI_SUCCESS) CHECK_EQ(result[0], i);
        break;
      case 1:
        code = MPI_Barrier(MPI_COMM_WORLD);
        break;
      case 2:
        code = MPI_Ibcast(data, n, MPI_INT, i % world_size, MPI_COMM_WORLD, &request);
        if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
      case 3:
        code = MPI_Gather(data, 1, MPI_INT, result, 1, MPI_INT, 0, MPI_COMM_WORLD);
        break;
      default:
        code = MPI_Iallreduce(data, result, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
        for (int flag = 0; code == MPI_SUCCESS && !flag;) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  }
  check_lost(code);
  CHECK(i >= 40, "collective %d", i);
  check_lost(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Comm dup;
  check_lost(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
}

static void in_persistent_collective(void) {
  int one = 1, sum = 0, code = MPI_SUCCESS, i;
  MPI_Request request;
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (i = 0; code == MPI_SUCCESS; i++) {
    CHECK(i < 1000000, "no collective fails");
    if (am_victim() && i == 10) die();
    code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) CHECK_EQ(sum, world_size);
  }
  check_lost(code);
  MPI_Request_free(&request);
}

// One takes what comes from anybody, and lets no loss disturb it.
static void in_work(void) {
  enum { EACH = 50, BYTES = 100000 };
  static unsigned char data[BYTES];
  if (am_victim()) die();
  until_known();
  const int workers = world_size - victims - 1;
  for (int i = 0; world_rank == 0 && i < workers * EACH;) {
    MPI_Status status;
    const int code = MPI_Recv(data, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    if (code != MPI_SUCCESS) {
      check_lost(code);
      continue;
    }
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    CHECK_PATTERN(data, (size_t)bytes, (unsigned)status.MPI_SOURCE);
    i++;
  }
  fill(data, BYTES, (unsigned)world_rank);
  for (int i = 0; world_rank != 0 && i < EACH; i++)
    CHECK_EQ(MPI_Send(data, i % 2 ? BYTES : 100, MPI_BYTE, 0, 7, MPI_COMM_WORLD), MPI_SUCCESS);
}

// The root gives up and goes on with its buffer; a member that comes late must not take that for the message.
static void in_late_member(void) {
  static unsigned char data[LARGE];
  if (am_victim()) die();
  fill(data, LARGE, 1);
  if (world_rank == 0) {
    check_lost(MPI_Bcast(data, LARGE, MPI_BYTE, 0, MPI_COMM_WORLD));
    memset(data, 0xee, LARGE);
    return;
  }
  memset(data, 0, LARGE);
  usleep(500000);  // no call of MPI, by which it would hear of the loss
  const int code = MPI_Bcast(data, LARGE, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) return check_lost(code);
  CHECK_PATTERN(data, LARGE, 1);
}

// The program tries again without the lost one, by the same tag.
static void in_creation(void) {
  MPI_Group all;
  MPI_Comm made;
  if (am_victim()) die();
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  check_lost(MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &made));
  MPI_Group_free(&all);
}

// It dies while the others are in MPI_Finalize.
static void in_finalize(void) {
  if (!am_victim()) return;
  sleep(1);
  die();
}

// What was let go and can never arrive keeps nobody from leaving.
static void in_buffered(void) {
  static unsigned char data[LARGE];
  MPI_Request request;
  if (am_victim()) die();
  MPI_Buffer_attach(malloc(2 * LARGE), 2 * LARGE);
  int code = MPI_Bsend(data, LARGE, MPI_BYTE, victim, 1, MPI_COMM_WORLD);  // it may be lost already
  if (code != MPI_SUCCESS) check_lost(code);
  code = MPI_Irecv(data, 1, MPI_BYTE, victim, 1, MPI_COMM_WORLD, &request);
  CHECK_EQ(code, MPI_SUCCESS);
  MPI_Request_free(&request);
  void* buffer;
  int size;
  MPI_Buffer_detach(&buffer, &size);
  CHECK_EQ(size, 2 * LARGE);
  free(buffer);
}

// It dies between its start and its last MPI_Pready, and as a receiver, while the others wait in every way there is.
enum { PARTS = 4, PART = 100000 };
static unsigned char parts_in[5 * PARTS * PART], parts_out[5 * PARTS * PART];

static MPI_Request psend(int i, int peer) {
  MPI_Request r;
  CHECK_EQ(
      MPI_Psend_init(parts_out + i * PARTS * PART, PARTS, PART, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
      MPI_SUCCESS);
  return r;
}
static MPI_Request precv(int i, int peer) {
  MPI_Request r;
  CHECK_EQ(
      MPI_Precv_init(parts_in + i * PARTS * PART, PARTS, PART, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
      MPI_SUCCESS);
  return r;
}

static void in_partitioned(void) {
  int flag;
  fill(parts_out, sizeof parts_out, 3);
  if (am_victim()) {
    if (world_rank != victim) die();
    for (int r = 0; r < world_size; r++) {
      if (r >= victim && r < victim + victims) continue;
      MPI_Request request[3] = {psend(0, r), precv(1, r), precv(3, r)};
      MPI_Startall(3, request);
      MPI_Pready(0, request[0]);
      // The other one's first partitions are here, so it has been told of the starts; then it has this one's.
      for (flag = 0; !flag;) MPI_Parrived(request[1], 0, &flag);
      MPI_Recv(NULL, 0, MPI_BYTE, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    die();
  }
  // 0 and 1 both sides have, of 2 the victim has none; 3 is let go.
  MPI_Request r = precv(0, victim), s = psend(1, victim), no_r = precv(2, victim), no_s = psend(2, victim);
  MPI_Request go_s = psend(3, victim), go_r = precv(4, victim);
  MPI_Request all[] = {r, s, no_r, no_s, go_s, go_r};
  CHECK_EQ(MPI_Startall(6, all), MPI_SUCCESS);
  CHECK_EQ(MPI_Pready(0, s), MPI_SUCCESS);
  CHECK_EQ(MPI_Pready_range(0, PARTS - 1, no_s), MPI_SUCCESS);
  CHECK_EQ(MPI_Request_free(&go_s), MPI_SUCCESS);
  CHECK_EQ(MPI_Request_free(&go_r), MPI_SUCCESS);
  for (flag = 0; !flag;) CHECK_EQ(MPI_Parrived(r, 0, &flag), MPI_SUCCESS);
  CHECK_PATTERN(parts_in, PART, 3);
  MPI_Send(NULL, 0, MPI_BYTE, victim, 9, MPI_COMM_WORLD);
  int code = MPI_SUCCESS;
  for (flag = 0; !flag;)
    code = MPI_Parrived(r, 1, &flag);  // nobody waits for ever, whether he looks at the code or not
  check_lost(code);
  CHECK_EQ(MPI_Parrived(r, 0, &flag), MPI_SUCCESS);  // which had come
  CHECK_EQ(flag, 1);
  check_lost(MPIX_Pbuf_prepare(no_s));
  check_lost(MPIX_Pbuf_prepare(no_r));
  code = MPI_Pready_range(1, PARTS - 1, s);  // large ones, into what is no process any more, maybe
  if (code != MPI_SUCCESS) check_lost(code);
  MPI_Request wait_for[] = {r, no_r, no_s};
  for (int i = 0; i < 3; i++) check_lost(MPI_Wait(&wait_for[i], MPI_STATUS_IGNORE));
  code = MPI_Wait(&s, MPI_STATUS_IGNORE);  // it may all have gone, to nobody
  if (code != MPI_SUCCESS) check_lost(code);
  for (int i = 0; i < 3; i++) check_lost(MPI_Start(&wait_for[i]));
  for (int i = 0; i < 3; i++) CHECK_EQ(MPI_Request_free(&wait_for[i]), MPI_SUCCESS);
  CHECK_EQ(MPI_Request_free(&s), MPI_SUCCESS);
}

// A partition that is over stays so; those that wait for the lost one, and those that are not ready yet, end.
static void in_partitioned_collective(void) {
  static int in[4], out[4];
  int flag, code = MPI_SUCCESS;
  MPI_Request r;
  CHECK_EQ(MPIX_Pallreduce_init(in, out, 4, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_SUCCESS);
  CHECK_EQ(MPI_Start(&r), MPI_SUCCESS);
  in[0] = 5;
  CHECK_EQ(MPI_Pready(0, r), MPI_SUCCESS);
  for (flag = 0; !flag;) CHECK_EQ(MPI_Parrived(r, 0, &flag), MPI_SUCCESS);
  CHECK_EQ(out[0], 5 * world_size);
  if (am_victim()) {
    for (int i = 0; i < world_size - victims; i++)
      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  for (int v = victim; v < victim + victims; v++) MPI_Send(NULL, 0, MPI_BYTE, v, 9, MPI_COMM_WORLD);
  CHECK_EQ(MPI_Pready(1, r), MPI_SUCCESS);
  for (flag = 0; !flag;) code = MPI_Parrived(r, 1, &flag);
  check_lost(code);
  for (flag = 0; !flag;) code = MPI_Parrived(r, 3, &flag);
  check_lost(code);
  check_lost(MPI_Pready(3, r));
  CHECK_EQ(MPI_Parrived(r, 0, &flag), MPI_SUCCESS);
  CHECK_EQ(flag, 1);
  check_lost(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_EQ(MPI_Start(&r), MPI_SUCCESS);
  code = MPI_Pready(2, r);
  if (code != MPI_SUCCESS) check_lost(code);
  check_lost(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
}

static void* receive_in_vain(void* comm) {
  char byte;
  check_lost(MPI_Recv(&byte, 1, MPI_CHAR, victim, 5, *(MPI_Comm*)comm, MPI_STATUS_IGNORE));
  return NULL;
}

// One thread waits for the victim while others work, each on a communicator of its own.
static void in_threads(void) {
  enum { WAITING = 3 };
  MPI_Comm comms[WAITING];
  pthread_t threads[WAITING];
  for (int i = 0; i < WAITING; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  if (am_victim()) {
    sleep(1);  // the others are at work
    die();
  }
  for (int i = 0; i < WAITING; i++) pthread_create(&threads[i], NULL, receive_in_vain, &comms[i]);
  for (int i = 0; i < 20; i++) check_left(left);
  for (int i = 0; i < WAITING; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < WAITING; i++) MPI_Comm_free(&comms[i]);
}

// Rank 2 handles nothing: its call ends the job.
static void in_fatal(void) {
  char byte;
  if (world_rank == 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(left == MPI_COMM_NULL ? MPI_COMM_SELF : left);
  if (am_victim()) die();
  if (world_rank == 2) MPI_Recv(&byte, 1, MPI_CHAR, victim, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (;;) pause();
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } places[] = {{"receive", in_receive},
                {"wildcards", in_wildcards},
                {"send", in_send},
                {"one_waits", in_one_waits},
                {"flood", in_flood},
                {"long", in_long_messages},
                {"middle", in_middle_messages},
                {"collectives", in_collectives},
                {"persistent", in_persistent_collective},
                {"threads", in_threads},
                {"work", in_work},
                {"late", in_late_member},
                {"creation", in_creation},
                {"finalize", in_finalize},
                {"buffered", in_buffered},
                {"partitioned", in_partitioned},
                {"partitioned_collective", in_partitioned_collective},
                {"fatal", in_fatal}};
  getenv("HEDDLE_TEST_THREADS") != NULL ? start_threaded(&argc, &argv) : start(&argc, &argv);
  if (argc > 2) how = argv[2];
  if (argc > 3) directory = argv[3];
  CHECK(world_size >= 3, "needs three ranks");
  if (strcmp(how, "host") == 0) victim = world_size / 2, victims = world_size - victim;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_EQ(MPI_Comm_split(MPI_COMM_WORLD, am_victim() ? MPI_UNDEFINED : 0, world_rank, &left), MPI_SUCCESS);
  // Nobody ends before all others are past this.
  for (int v = victim; v < victim + victims && !am_victim(); v++) MPI_Send(NULL, 0, MPI_BYTE, v, 1000, MPI_COMM_WORLD);
  for (int r = 0; r < world_size - victims && am_victim(); r++)
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    if (argc > 1 && strcmp(argv[1], places[i].name) == 0) places[i].run();
  }
  check_left(left);
  MPI_Comm made;
  make_among_the_living(&made);
  check_left(made);
  MPI_Comm_free(&made);
  MPI_Comm_free(&left);
  MPI_Finalize();
  printf("rank %d went on\n", world_rank);
  return 0;
}
