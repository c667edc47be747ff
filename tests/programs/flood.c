// A flood: every other rank sends rank 0 more than it may keep before it receives anything, while it waits for something
// that each of them sends last. Nothing is lost, the order is MPI's (5.0, 3.5), and rank 0 stays within a budget.
//
//   flood MESSAGES BYTES WAY [isend] [limit MIB] [disables N]
//
// WAY is how rank 0 takes them afterwards: `order`, `reverse` (each message has a tag of its own), `any` (both wildcards),
// `source` (one source at a time, any tag), `probe`, `mprobe`, `iprobe`, `improbe`; or `last`: it waits for a barrier, and what was sent last must come last. `limit`: the resident memory of rank 0 may grow by so much.
// `disables`: at least so often its library said that it has no room; unknown libraries are not asked.
#include "../../bench/common/memory.h"
#include "check.h"

enum { LAST = 1000000 };

static int messages, bytes;
static MPI_Comm apart;
static const char* way;
static int distinct;  // whether each message has a tag of its own

static int tag_of(int i) { return distinct ? i : 7; }

static unsigned seed_of(int source, int i) { return (unsigned)(source * 7919 + i); }

static void verify(const unsigned char* buffer, const MPI_Status* status, int source, int i) {
  check_status(status, source, tag_of(i), bytes, MPI_BYTE);
  CHECK_PATTERN(buffer, (size_t)bytes, seed_of(source, i));
}

static void send_all(int isend) {
  MPI_Request* requests = isend ? malloc(sizeof *requests * (size_t)(messages + 1)) : NULL;
  unsigned char* buffers = malloc((size_t)bytes * (size_t)(isend ? messages : 1) + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < messages; ++i) {
    unsigned char* buffer = buffers + (isend ? (size_t)bytes * (size_t)i : 0);
    fill(buffer, (size_t)bytes, seed_of(world_rank, i));
    if (isend) {
      MPI_Isend(buffer, bytes, MPI_BYTE, 0, tag_of(i), MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Send(buffer, bytes, MPI_BYTE, 0, tag_of(i), MPI_COMM_WORLD);
      memset(buffer, 0, (size_t)bytes);  // the library has it, or a copy
    }
  }
  if (isend) {
    MPI_Isend(&messages, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD, &requests[messages]);
    if (!strcmp(way, "last")) MPI_Barrier(apart);
    MPI_Waitall(messages + 1, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(&messages, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD);
  }
  if (!isend && !strcmp(way, "last")) MPI_Barrier(apart);
  free(requests);
  free(buffers);
}

static void wait_for_last(void) {
  if (!strcmp(way, "last")) {
    MPI_Barrier(apart);
    return;
  }
  for (int source = world_size - 1; source > 0; --source) {
    int n = 0;
    MPI_Recv(&n, 1, MPI_INT, source, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(n, messages);
  }
}

// Receives the message that a probe has found.
static void take_probed(unsigned char* buffer, int source, int tag, MPI_Status* status) {
  int flag = 0;
  MPI_Status found;
  MPI_Message message;
  if (!strcmp(way, "probe")) {
    MPI_Probe(source, tag, MPI_COMM_WORLD, &found);
  } else if (!strcmp(way, "iprobe")) {
    while (!flag) MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &found);
  } else if (!strcmp(way, "mprobe")) {
    MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &found);
  } else {
    while (!flag) MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &found);
  }
  if (strstr(way, "mprobe")) {
    MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, status);
  } else {
    MPI_Recv(buffer, bytes, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, MPI_COMM_WORLD, status);
  }
  CHECK_EQ(status->MPI_SOURCE, found.MPI_SOURCE);
  CHECK_EQ(status->MPI_TAG, found.MPI_TAG);
}

static void receive_all(void) {
  unsigned char* buffer = malloc((size_t)bytes + 1);
  int* next = calloc((size_t)world_size, sizeof *next);
  const int total = messages * (world_size - 1);
  for (int k = 0; k < total; ++k) {
    MPI_Status status;
    int source = 1 + k % (world_size - 1), i = k / (world_size - 1);
    if (!strcmp(way, "last")) {
      MPI_Recv(buffer, bytes, MPI_BYTE, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else if (!strcmp(way, "any")) {
      MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      source = status.MPI_SOURCE;
      i = next[source]++;
    } else if (!strcmp(way, "source")) {
      source = 1 + k / messages;
      i = k % messages;
      MPI_Recv(buffer, bytes, MPI_BYTE, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else if (!strcmp(way, "reverse")) {
      i = messages - 1 - i;
      MPI_Recv(buffer, bytes, MPI_BYTE, source, tag_of(i), MPI_COMM_WORLD, &status);
    } else if (strstr(way, "probe")) {
      while (next[source] == messages) source = 1 + source % (world_size - 1);
      take_probed(buffer, k % 3 == 0 ? MPI_ANY_SOURCE : source, k % 2 == 0 ? MPI_ANY_TAG : 7, &status);
      source = status.MPI_SOURCE;
      i = next[source]++;
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, source, tag_of(i), MPI_COMM_WORLD, &status);
    }
    verify(buffer, &status, source, i);
  }
  for (int source = 1; source < world_size && !strcmp(way, "last"); ++source) {
    int n = 0;
    MPI_Status status;
    MPI_Recv(&n, 1, MPI_INT, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQ(status.MPI_TAG, LAST);
    CHECK_EQ(n, messages);
  }
  free(next);
  free(buffer);
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter = MPI_T_PVAR_HANDLE_NULL;

static void start_counter(void) {
  int provided, index, vcis;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_pvar_get_index("flow_disables", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &vcis);
  MPI_T_pvar_start(session, counter);
}

static void check_disables(unsigned long least) {
  unsigned long values[64] = {0}, sum = 0;
  if (counter == MPI_T_PVAR_HANDLE_NULL) return;
  CHECK_EQ(MPI_T_pvar_read(session, counter, values), MPI_SUCCESS);
  for (int i = 0; i < 64; ++i) sum += values[i];
  printf("flood: no room %lu times\n", sum);
  CHECK(sum >= least, "no room %lu times, expected at least %lu", sum, least);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  messages = atoi(argv[1]);
  bytes = atoi(argv[2]);
  way = argv[3];
  distinct = !strcmp(way, "reverse") || !strcmp(way, "order");
  int isend = 0, disables = -1;
  long limit = 0;
  for (int a = 4; a < argc; ++a) {
    if (!strcmp(argv[a], "isend")) isend = 1;
    if (!strcmp(argv[a], "limit")) limit = atol(argv[++a]);
    if (!strcmp(argv[a], "disables")) disables = atoi(argv[++a]);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  MPI_Barrier(apart);  // what its connections take is no part of the flood
  if (world_rank != 0) {
    send_all(isend);
  } else {
    start_counter();
    const long before = memory_begin();
    MPI_Barrier(MPI_COMM_WORLD);
    wait_for_last();
    receive_all();
    const long grown = memory_kib("VmHWM") - before;
    printf("flood: %d x %d bytes of %d ranks, %s: memory grew by %.1f MiB\n", messages, bytes, world_size - 1, way,
           (double)grown / 1024);
    CHECK(limit == 0 || grown <= limit * 1024, "%ld KiB", grown);
    if (disables >= 0) check_disables((unsigned long)disables);
  }
  MPI_Comm_free(&apart);
  return finish();
}
