// A communicator's own matching engine, and what MPI_T tells of it: every engine gives the same messages, and counts what it
// inspects. Each rank talks to the next and to the one before.
#include <pthread.h>

#include "check.h"

enum { kMany = 300 };

static const char* const kEngines[] = {"adaptive", "list",   "array_list", "array_list:2", "array_list:64",
                                       "vector",   "fuzzy8", "fuzzy16",    "hash",         "hash:16",
                                       "grid",     "grid:2", "tail_queue"};
static int next_rank, last_rank;

static MPI_Comm with_engine(const char* engine, int spread) {
  MPI_Info info;
  MPI_Comm comm;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_matching", engine);
  if (spread) MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

static void check_hint(MPI_Comm comm, const char* want) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int size = sizeof value, there;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get_string(info, "heddle_matching", &size, value, &there);
  CHECK_EQ(there, want != NULL);
  if (want != NULL) CHECK(strcmp(value, want) == 0, "'%s' and not '%s'", value, want);
  MPI_Info_free(&info);
}

static void set_engine(MPI_Comm comm, const char* engine) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_matching", engine);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
}

// Step i of an order of 0 .. kMany - 1 that jumps: 7 has no divisor in common with kMany.
static int jump(int i) { return (7 * i + 3) % kMany; }

// Receives first, every fifth of any source; the messages come in another order. `change`: to another engine in between.
static void receive_expected(MPI_Comm comm, const char* change) {
  MPI_Request requests[kMany];
  int data[kMany], got[kMany];
  for (int i = 0; i < kMany; i++) {
    MPI_Irecv(&got[i], 1, MPI_INT, i % 5 == 0 ? MPI_ANY_SOURCE : last_rank, i, comm, &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMany; i++) {
    if (i == kMany / 2 && change != NULL) set_engine(comm, change);
    data[i] = 1000 * world_rank + jump(i);
    MPI_Send(&data[i], 1, MPI_INT, next_rank, jump(i), comm);
  }
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; i++) CHECK_EQ(got[i], 1000 * last_rank + i);
}

// Messages first, known by the one that follows them; receives take them in another order, with each kind of wildcard.
static void receive_unexpected(MPI_Comm comm, const char* change, int tags_too) {
  MPI_Status status;
  int got;
  for (int i = 0; i < kMany; i++) {
    const int data = 1000 * world_rank + i;
    MPI_Send(&data, 1, MPI_INT, next_rank, i, comm);
  }
  MPI_Sendrecv(NULL, 0, MPI_INT, next_rank, kMany, NULL, 0, MPI_INT, last_rank, kMany, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < kMany - 10; i++) {
    if (i == kMany / 2 && change != NULL) set_engine(comm, change);
    const int tag = jump(i);
    MPI_Recv(&got, 1, MPI_INT, i % 3 == 0 ? MPI_ANY_SOURCE : last_rank, tag, comm, &status);
    CHECK_EQ(got, 1000 * last_rank + tag);
    CHECK_EQ(status.MPI_SOURCE, last_rank);
  }
  int left[10], lefts = 0;
  for (int tag = 0; tag < kMany; tag++) {
    int taken = 0;
    for (int i = 0; i < kMany - 10; i++) taken |= jump(i) == tag;
    if (!taken) left[lefts++] = tag;
  }
  CHECK_EQ(lefts, 10);
  for (int i = 0; i < 10; i++) {  // the oldest first
    MPI_Recv(&got, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : last_rank, tags_too ? MPI_ANY_TAG : left[i], comm, &status);
    CHECK_EQ(status.MPI_TAG, left[i]);
    CHECK_EQ(got, 1000 * last_rank + left[i]);
  }
}

static MPI_T_pvar_session session;

static MPI_T_pvar_handle variable(const char* name, int class, MPI_Comm* comm, int* count) {
  int index;
  MPI_T_pvar_handle handle;
  CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, comm, &handle, count), MPI_SUCCESS);
  if (class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_TIMER) MPI_T_pvar_start(session, handle);
  return handle;
}
static unsigned long value(MPI_T_pvar_handle handle) {
  unsigned long values[64] = {0}, sum = 0;
  CHECK_EQ(MPI_T_pvar_read(session, handle, values), MPI_SUCCESS);
  for (int i = 0; i < 64; i++) sum += values[i];
  return sum;
}

// In the reverse order a list inspects all that is left: N, N - 1, ... 1.
static void check_counts(void) {
  MPI_Comm comm = with_engine("list", 0);
  int one, depths, vcis;
  MPI_T_pvar_handle searches = variable("comm_posted_searches", MPI_T_PVAR_CLASS_COUNTER, &comm, &one);
  MPI_T_pvar_handle inspected = variable("comm_posted_inspected", MPI_T_PVAR_CLASS_COUNTER, &comm, &one);
  MPI_T_pvar_handle deepest = variable("comm_posted_search_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK, &comm, &one);
  MPI_T_pvar_handle longest = variable("comm_posted_queue_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, &comm, &one);
  MPI_T_pvar_handle late = variable("comm_unexpected_inspected", MPI_T_PVAR_CLASS_COUNTER, &comm, &one);
  MPI_T_pvar_handle bytes = variable("comm_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &comm, &one);
  MPI_T_pvar_handle waiting = variable("comm_unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL, &comm, &one);
  MPI_T_pvar_handle time = variable("comm_matching_time", MPI_T_PVAR_CLASS_TIMER, &comm, &one);
  MPI_T_pvar_handle histogram = variable("comm_posted_depth_histogram", MPI_T_PVAR_CLASS_COUNTER, &comm, &depths);
  MPI_T_pvar_handle whole = variable("posted_searches", MPI_T_PVAR_CLASS_COUNTER, NULL, &vcis);
  MPI_T_pvar_handle all_bytes = variable("unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL, &vcis);
  MPI_T_pvar_handle all_time = variable("matching_time", MPI_T_PVAR_CLASS_TIMER, NULL, &vcis);
  CHECK_EQ(one, 1);
  CHECK_EQ(depths, 20);
  enum { kFew = 100 };
  MPI_Request requests[kFew];
  char data[kFew], got[kFew];
  for (int i = 0; i < kFew; i++) MPI_Irecv(&got[i], 1, MPI_CHAR, last_rank, i, comm, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = kFew; i-- > 0;) data[i] = (char)i, MPI_Send(&data[i], 1, MPI_CHAR, next_rank, i, comm);
  MPI_Waitall(kFew, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kFew; i++) CHECK_EQ(got[i], i);
  CHECK_EQ(value(searches), kFew);
  CHECK_EQ(value(inspected), kFew * (kFew + 1) / 2);
  CHECK_EQ(value(deepest), kFew);
  CHECK_EQ(value(longest), kFew);
  CHECK(value(whole) >= kFew, "%lu", value(whole));
  CHECK(value(time) > 0 && value(all_time) >= value(time), "%lu ns of %lu", value(time), value(all_time));
  unsigned long counts[20];
  MPI_T_pvar_read(session, histogram, counts);
  for (int i = 0; i < 20; i++) {  // of 1, 2 to 3, 4 to 7, ... 64 to 100
    CHECK_EQ(counts[i], (unsigned long)(i == 0 ? 0 : i < 7 ? 1 << (i - 1) : i == 7 ? 37 : 0));
  }

  CHECK_EQ(value(late), 0);
  MPI_Barrier(MPI_COMM_WORLD);  // a neighbour's next messages would be counted too
  char payload[24] = "twenty-four bytes, yes!";
  for (int i = 0; i < 3; i++) MPI_Send(payload, sizeof payload, MPI_CHAR, next_rank, i, comm);
  MPI_Sendrecv(NULL, 0, MPI_CHAR, next_rank, 9, NULL, 0, MPI_CHAR, last_rank, 9, comm, MPI_STATUS_IGNORE);
  CHECK_EQ(value(waiting), 3);
  CHECK_EQ(value(bytes), 3 * sizeof payload);
  CHECK(value(all_bytes) >= 3 * sizeof payload, "%lu", value(all_bytes));
  const unsigned long before = value(late);
  for (int i = 3; i-- > 0;) {
    memset(payload, 0, sizeof payload);
    MPI_Recv(payload, sizeof payload, MPI_CHAR, last_rank, i, comm, MPI_STATUS_IGNORE);
    CHECK(strcmp(payload, "twenty-four bytes, yes!") == 0, "'%.24s'", payload);
  }
  CHECK_EQ(value(late) - before, 3 + 2 + 1);
  CHECK_EQ(value(bytes), 0);
  CHECK_EQ(value(waiting), 0);

  MPI_T_pvar_stop(session, time);
  MPI_T_pvar_handle_free(session, &time);
  MPI_T_pvar_handle_free(session, &all_time);
  MPI_Comm_free(&comm);
  CHECK_EQ(MPI_T_pvar_stop(session, searches), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_reset(session, searches), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_readreset(session, searches, &one), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
}

// In the reverse order of receives the communicator's engine compares from `least` to `most` entries.
static void check_reverse(MPI_Comm comm, unsigned long least, unsigned long most) {
  MPI_Request requests[kMany];
  int data[kMany], got[kMany], count;
  MPI_T_pvar_handle inspected = variable("comm_posted_inspected", MPI_T_PVAR_CLASS_COUNTER, &comm, &count);
  for (int i = 0; i < kMany; i++) MPI_Irecv(&got[i], 1, MPI_INT, last_rank, i, comm, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = kMany; i-- > 0;) data[i] = i, MPI_Send(&data[i], 1, MPI_INT, next_rank, i, comm);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; i++) CHECK_EQ(got[i], i);
  CHECK(value(inspected) >= least && value(inspected) <= most, "%lu", value(inspected));
  MPI_T_pvar_handle_free(session, &inspected);
}

// The process's engine changes between messages and within a batch of them; a communicator with its own keeps that.
static void check_change_of_process(void) {
  char engine[1024], found[1024];
  MPI_T_cvar_handle handle;
  MPI_Comm own = with_engine("list", 0), common, watched;
  int index, count;
  MPI_Comm_dup(MPI_COMM_WORLD, &common);
  MPI_Comm_dup(MPI_COMM_WORLD, &watched);
  CHECK_EQ(MPI_T_cvar_get_index("matching", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
  MPI_T_pvar_handle inspected = variable("posted_inspected", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
  unsigned long by_list = 0;
  strcpy(engine, "list");
  CHECK_EQ(MPI_T_cvar_write(handle, engine), MPI_SUCCESS);
  check_reverse(watched, kMany * (kMany + 1) / 2, kMany * (kMany + 1) / 2);
  for (size_t e = 0; e < sizeof kEngines / sizeof kEngines[0]; e++) {
    strcpy(engine, kEngines[e]);
    MPI_Request requests[kMany];
    int data[kMany], got[kMany];
    const unsigned long before = value(inspected);
    for (int i = 0; i < kMany; i++) {
      if (i == kMany / 2) CHECK_EQ(MPI_T_cvar_write(handle, engine), MPI_SUCCESS);
      MPI_Irecv(&got[i], 1, MPI_INT, last_rank, i, common, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = kMany; i-- > 0;) data[i] = i, MPI_Send(&data[i], 1, MPI_INT, next_rank, i, common);
    MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMany; i++) CHECK_EQ(got[i], i);
    const unsigned long compared = value(inspected) - before;
    CHECK_EQ(MPI_T_cvar_read(handle, found), MPI_SUCCESS);
    CHECK(strcmp(found, engine) == 0, "'%.100s' and not '%s'", found, engine);
    if (strcmp(engine, "list") == 0) by_list = compared;
    if (strcmp(engine, "hash") == 0) CHECK(compared * 10 < by_list, "hash: %lu, list: %lu", compared, by_list);
  }
  CHECK(by_list >= kMany * (kMany + 1) / 2, "%lu", by_list);
  strcpy(engine, "hash");
  CHECK_EQ(MPI_T_cvar_write(handle, engine), MPI_SUCCESS);
  check_hint(own, "list");
  check_reverse(own, kMany * (kMany + 1) / 2, kMany * (kMany + 1) / 2);
  check_reverse(watched, 0, kMany * 10);  // not a list any more
  strcpy(engine, "telepathy");
  CHECK_EQ(MPI_T_cvar_write(handle, engine), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_read(handle, found), MPI_SUCCESS);
  CHECK(strcmp(found, "hash") == 0, "'%.100s'", found);
  strcpy(engine, "adaptive");
  CHECK_EQ(MPI_T_cvar_write(handle, engine), MPI_SUCCESS);
  MPI_T_cvar_handle_free(&handle);
  MPI_Comm_free(&common);
  MPI_Comm_free(&watched);
  MPI_Comm_free(&own);
}

// Below MPI_THREAD_MULTIPLE another thread may look, and change nothing.
static void* look_from_outside(void* nothing) {
  static const char* const kTouching[] = {"matching_time", "comm_matching_time", "comm_posted_searches"};
  static const int kClasses[] = {MPI_T_PVAR_CLASS_TIMER, MPI_T_PVAR_CLASS_TIMER, MPI_T_PVAR_CLASS_COUNTER};
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_T_pvar_handle handle;
  int index, count;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(MPI_T_pvar_get_index(kTouching[i], kClasses[i], &index), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count), MPI_T_ERR_NOT_ACCESSIBLE);
  }
  MPI_T_cvar_handle engine;
  CHECK_EQ(MPI_T_cvar_get_index("matching", &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &engine, &count), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_write(engine, "list"), MPI_T_ERR_NOT_ACCESSIBLE);
  MPI_T_cvar_handle_free(&engine);
  handle = variable("posted_searches", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
  CHECK_EQ(value(handle), 0);
  MPI_T_pvar_handle_free(session, &handle);
  return nothing;
}

int main(int argc, char** argv) {
  int provided;
  start(&argc, &argv);
  next_rank = (world_rank + 1) % world_size;
  last_rank = (world_rank + world_size - 1) % world_size;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  const int engines = (int)(sizeof kEngines / sizeof kEngines[0]);
  for (int e = 0; e < engines; e++) {
    for (int spread = 0; spread < 2; spread++) {
      MPI_Comm comm = with_engine(kEngines[e], spread);
      check_hint(comm, kEngines[e]);
      receive_expected(comm, NULL);
      receive_unexpected(comm, NULL, !spread);
      const char* other = kEngines[(e + 3) % engines];
      receive_expected(comm, other);
      receive_unexpected(comm, kEngines[e], !spread);
      check_hint(comm, kEngines[e]);
      MPI_Comm_free(&comm);
    }
  }
  MPI_Comm odd = with_engine("telepathy", 0);
  check_hint(odd, NULL);
  receive_expected(odd, "list:7");
  check_hint(odd, NULL);
  set_engine(odd, "vector");
  set_engine(odd, "list:7");
  check_hint(odd, "vector");
  MPI_Comm_free(&odd);
  check_counts();
  check_change_of_process();
  pthread_t other;
  pthread_create(&other, NULL, look_from_outside, NULL);
  pthread_join(other, NULL);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return finish();
}
