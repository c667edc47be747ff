// One communicator over several VCIs: what the assertions of all ranks allow, and what they forbid.
#include <pthread.h>

#include "check.h"

enum { kThreads = 6, kMessages = 300, kMax = 70000 };

static MPI_Comm spread;

// A duplicate of MPI_COMM_WORLD; this rank asserts what is not null.
static MPI_Comm duplicate(const char* first, const char* second) {
  MPI_Info info;
  MPI_Comm comm;
  MPI_Info_create(&info);
  if (first) MPI_Info_set(info, first, "true");
  if (second) MPI_Info_set(info, second, "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static int bytes_of(int message) { return message % 29 == 0 ? kMax : message % 7 == 0 ? 900 : message % 50; }

// A thread with a tag of its own, around a ring: messages of one tag come in order, whatever the others do.
static void* ring(void* argument) {
  const int tag = 37 * (int)(intptr_t)argument;
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  unsigned char *out = malloc(kMax), *in = malloc(kMax);
  for (int m = 0; m < kMessages; m++) {
    MPI_Request request;
    MPI_Status status;
    int n, flag = 0;
    fill(out, (size_t)bytes_of(m), (unsigned)(tag + m));
    if (m % 5 != 0) MPI_Irecv(in, kMax, MPI_BYTE, left, tag, spread, &request);
    if (m % 3 == 0) {
      MPI_Request send;
      MPI_Issend(out, bytes_of(m), MPI_BYTE, right, tag, spread, &send);
      if (m % 5 == 0) {
        MPI_Probe(left, tag, spread, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK_EQ(n, bytes_of(m));
        MPI_Recv(in, kMax, MPI_BYTE, left, tag, spread, &status);
      } else {
        MPI_Wait(&request, &status);
      }
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    } else {
      MPI_Request send;
      MPI_Isend(out, bytes_of(m), MPI_BYTE, right, tag, spread, &send);
      if (m % 5 == 0) {
        MPI_Message message;
        while (!flag) MPI_Improbe(left, tag, spread, &flag, &message, &status);
        MPI_Mrecv(in, kMax, MPI_BYTE, &message, &status);
      } else {
        while (!flag) MPI_Test(&request, &flag, &status);
      }
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(status.MPI_TAG, tag);
    CHECK_EQ(n, bytes_of(m));
    CHECK_PATTERN(in, (size_t)n, (unsigned)(tag + m));
  }
  free(out);
  free(in);
  return NULL;
}

static void test_threads(const char* first, const char* second) {
  pthread_t threads[kThreads];
  spread = duplicate(first, second);
  for (int t = 0; t < kThreads; t++) pthread_create(&threads[t], NULL, ring, (void*)(intptr_t)t);
  int sum = 0;
  for (int i = 0; i < 50; i++) {  // collectives go on beside
    MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, spread);
    CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  }
  for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
  MPI_Comm_free(&spread);
}

// Every rank sends every tag to everybody, receives in another order, from a persistent request too.
static void test_all_tags(void) {
  enum { kTags = 40 };
  MPI_Comm comm = duplicate("mpi_assert_no_any_tag", "mpi_assert_no_any_source");
  for (int peer = 0; peer < world_size; peer++) {
    for (int tag = 0; tag < kTags; tag++) {
      int value[2] = {world_rank, tag};
      MPI_Send(value, 2, MPI_INT, peer, tag, comm);
    }
  }
  for (int peer = world_size - 1; peer >= 0; peer--) {
    for (int tag = kTags - 1; tag >= 0; tag--) {
      int value[2] = {-1, -1};
      MPI_Request request;
      MPI_Recv_init(value, 2, MPI_INT, peer, tag, comm, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      CHECK_EQ(value[0], peer);
      CHECK_EQ(value[1], tag);
    }
  }
  MPI_Comm_free(&comm);
}

// It lives until the receives that are under way are through.
static void test_free_with_receives(void) {
  MPI_Comm comm = duplicate("mpi_assert_no_any_tag", NULL);
  int in[8], out[8];
  MPI_Request requests[16];
  for (int i = 0; i < 8; i++) MPI_Irecv(&in[i], 1, MPI_INT, world_rank, i, comm, &requests[i]);
  for (int i = 0; i < 8; i++) {
    out[i] = 100 + i;
    MPI_Isend(&out[i], 1, MPI_INT, world_rank, i, comm, &requests[8 + i]);
  }
  MPI_Comm_free(&comm);
  MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 8; i++) CHECK_EQ(in[i], 100 + i);
}

static void check_wildcards(MPI_Comm comm, int source_class, int tag_class) {
  int value, flag;
  MPI_Request request;
  MPI_Message message;
  if (source_class != MPI_SUCCESS) {
    CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE), source_class);
    CHECK_CLASS(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request), source_class);
  }
  if (tag_class != MPI_SUCCESS) {
    CHECK_CLASS(MPI_Recv_init(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &request), tag_class);
    CHECK_CLASS(MPI_Improbe(0, MPI_ANY_TAG, comm, &flag, &message, MPI_STATUS_IGNORE), tag_class);
  }
  CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE), source_class);
  CHECK_CLASS(MPI_Iprobe(0, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), tag_class);
}

static void test_wildcards(void) {
  MPI_Comm comm = duplicate("mpi_assert_no_any_tag", NULL);
  check_wildcards(comm, MPI_SUCCESS, MPI_ERR_TAG);
  char value[8];
  int flag;
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get(info, "mpi_assert_no_any_tag", 7, value, &flag);
  CHECK(flag && strcmp(value, "true") == 0);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  comm = duplicate("mpi_assert_no_any_source", NULL);
  check_wildcards(comm, MPI_ERR_RANK, MPI_SUCCESS);
  MPI_Comm_free(&comm);
  // What one rank does not assert, nobody may rely on.
  comm = duplicate(world_rank == 0 ? NULL : "mpi_assert_no_any_tag", "mpi_assert_no_any_source");
  check_wildcards(comm, MPI_ERR_RANK, MPI_SUCCESS);
  int out = 5, in = 0;
  MPI_Request send;
  MPI_Isend(&out, 1, MPI_INT, world_rank, 11, comm, &send);
  MPI_Recv(&in, 1, MPI_INT, world_rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  CHECK_EQ(in, 5);
  MPI_Comm_free(&comm);
}

static void check_hint(MPI_Info info, const char* key, const char* want) {
  char value[64] = "";
  int flag, length = sizeof value;
  MPI_Info_get_string(info, key, &length, value, &flag);
  CHECK(flag && strcmp(value, want) == 0, "%s is '%s', expected '%s'", key, flag ? value : "not there", want);
}

// What nobody has asserted is false, what has no meaning is not taken, and who asks hears of all that there is.
static void test_what_is_told(void) {
  static const char* keys[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                               "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering"};
  enum { kKeys = sizeof keys / sizeof *keys };
  MPI_Comm comm, copy;
  MPI_Info given, told;
  MPI_Request request;
  MPI_Comm_get_info(MPI_COMM_WORLD, &told);
  for (int i = 0; i < kKeys; i++) check_hint(told, keys[i], "false");
  check_hint(told, "mpi_memory_alloc_kinds", "system,mpi");
  MPI_Info_free(&told);
  check_hint(MPI_INFO_ENV, "mpi_memory_alloc_kinds", "system,mpi");
  for (int i = 0; i < kKeys; i++) {
    MPI_Info_create(&given);
    MPI_Info_set(given, keys[i], "true");
    MPI_Info_set(given, keys[(i + 1) % kKeys], "perhaps");
    MPI_Info_set(given, "mpi_memory_alloc_kinds", "none");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, given, &comm, &request);
    MPI_Info_free(&given);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_info(comm, &told);
    for (int k = 0; k < kKeys; k++) check_hint(told, keys[k], k == i ? "true" : "false");
    check_hint(told, "mpi_memory_alloc_kinds", "system,mpi");
    MPI_Info_set(told, keys[i], "nonsense");  // is a copy, and no hint
    MPI_Comm_set_info(comm, told);
    MPI_Info_free(&told);
    MPI_Comm_get_info(comm, &told);
    check_hint(told, keys[i], "true");
    MPI_Info_free(&told);
    // What the way of the messages depends on stays as it is, and whoever asks hears that.
    MPI_Info_create(&given);
    MPI_Info_set(given, keys[i], "false");
    MPI_Comm_set_info(comm, given);
    MPI_Info_free(&given);
    MPI_Comm_get_info(comm, &told);
    check_hint(told, keys[i], i < 2 ? "true" : "false");
    MPI_Info_free(&told);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check_wildcards(comm, i == 1 ? MPI_ERR_RANK : MPI_SUCCESS, i == 0 ? MPI_ERR_TAG : MPI_SUCCESS);
    MPI_Comm_dup(comm, &copy);  // has no hints of the original (MPI 5.0, 7.4.2)
    MPI_Comm_get_info(copy, &told);
    check_hint(told, keys[i], "false");
    MPI_Info_free(&told);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char** argv) {
  start_threaded(&argc, &argv);
  test_what_is_told();
  test_all_tags();
  test_free_with_receives();
  test_wildcards();
  test_threads("mpi_assert_no_any_tag", NULL);
  test_threads("mpi_assert_no_any_tag", "mpi_assert_no_any_source");
  return finish();
}
