// Sessions: before, beside and after the world, several at once, their process sets, communicators from groups, buffers,
// error handlers, what belongs to the world alone.
//   sessions           all of it, on every rank
//   sessions alone     rank 0 opens a session, makes its own communicator and ends; no other rank calls MPI
//   sessions solo      this rank opens and closes a session
//   sessions some      the same for the first two ranks together
//   sessions probe     the odd ranks open and close a session before MPI_Init
//   sessions threads   sessions of several threads at once, beside MPI_Init
//   sessions flood     more messages than fit, to be the first or the second program of a rank
//   sessions fail      rank 0 ends in its second session
//   sessions child     a forked child has no part in it
//   sessions atexit    MPI_Finalize is called when the program ends
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int handler_calls;

static void count_call(MPI_Session* session, int* code, ...) {
  (void)session;
  (void)code;
  handler_calls++;
}

static MPI_Session open_session(const char* level) {
  MPI_Session session;
  MPI_Info info = MPI_INFO_NULL;
  if (level != NULL) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
  }
  CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
  CHECK(session != MPI_SESSION_NULL);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return session;
}

static void close_session(MPI_Session* session) {
  CHECK_EQ(MPI_Session_finalize(session), MPI_SUCCESS);
  CHECK(*session == MPI_SESSION_NULL);
}

static MPI_Comm comm_of(MPI_Group group, const char* tag) {
  MPI_Comm comm;
  CHECK_EQ(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
  return comm;
}

static MPI_Comm world_of(MPI_Session session, const char* tag) {
  MPI_Group group;
  CHECK_EQ(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_SUCCESS);
  MPI_Comm comm = comm_of(group, tag);
  MPI_Group_free(&group);
  return comm;
}

static void check_comm(MPI_Comm comm, int size) {
  int rank, found, sum = -1, in = -1;
  MPI_Comm_size(comm, &found);
  MPI_Comm_rank(comm, &rank);
  CHECK_EQ(found, size);
  CHECK_EQ(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  CHECK_EQ(sum, size * (size - 1) / 2);
  int out = 7 * rank + 1, next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(&out, 1, MPI_INT, next, 4, &in, 1, MPI_INT, before, 4, comm, MPI_STATUS_IGNORE);
  CHECK_EQ(in, 7 * before + 1);
}

static void process_sets(MPI_Session session) {
  int sets, length = 0, flag;
  char name[64], value[16];
  MPI_Info info;
  MPI_Group group;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  CHECK(sets >= 2, "%d", sets);
  int seen = 0;
  for (int i = 0; i < sets; i++) {
    length = 0;
    strcpy(name, "kept");
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK(strcmp(name, "kept") == 0, "%s", name);
    int whole = length;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK_EQ(length, whole);
    CHECK_EQ((int)strlen(name) + 1, whole);
    int is_world = strcmp(name, "mpi://WORLD") == 0, is_self = strcmp(name, "mpi://SELF") == 0;
    seen |= is_world | is_self << 1;
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag);
    CHECK(flag);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    int size, rank;
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK_EQ(atoi(value), size);
    if (is_world) CHECK_EQ(rank, world_rank);
    if (is_self) CHECK(size == 1 && rank == 0, "%d %d", size, rank);
    MPI_Group_free(&group);
    length = 5;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK(strlen(name) == 4 && length == whole, "%s, %d", name, length);
  }
  CHECK_EQ(seen, 3);
  CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://nowhere", &group), MPI_ERR_ARG);
  CHECK(group == MPI_GROUP_NULL);
  CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, sets, &length, name), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://nowhere", &info), MPI_ERR_ARG);
}

static void levels(void) {
  const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
  char value[64];
  int flag;
  MPI_Info info;
  MPI_Session session;
  for (int i = 0; i < 4; i++) {
    session = open_session(names[i]);
    MPI_Session_get_info(session, &info);
    MPI_Info_get(info, "thread_level", sizeof value - 1, value, &flag);
    CHECK(flag && strcmp(value, names[i]) == 0, "%s", value);
    MPI_Info_free(&info);
    close_session(&session);
  }
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "many");
  CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
  CHECK(session == MPI_SESSION_NULL);
  MPI_Info_free(&info);
}

static void error_handlers(void) {
  MPI_Errhandler handler, of_comm, found;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  CHECK_EQ(MPI_Session_create_errhandler(count_call, &handler), MPI_SUCCESS);
  CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, handler, &session), MPI_SUCCESS);
  handler_calls = 0;
  MPI_Session_get_errhandler(session, &found);
  CHECK(found == handler);
  MPI_Errhandler_free(&found);
  CHECK_CLASS(MPI_Session_get_pset_info(session, "none", NULL), MPI_ERR_ARG);
  CHECK_EQ(handler_calls, 1);
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
  CHECK_EQ(handler_calls, 2);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Session_get_pset_info(session, "none", NULL), MPI_ERR_ARG);
  CHECK_EQ(handler_calls, 2);
  // Handlers of another kind of object.
  CHECK_EQ(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)count_call, &of_comm), MPI_SUCCESS);
  CHECK_CLASS(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  CHECK_CLASS(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, handler, &comm), MPI_ERR_ERRHANDLER);
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(handler_calls, 3);  // it hears of its own unfitness
  CHECK_EQ(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, of_comm, &comm), MPI_SUCCESS);
  CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
  CHECK_EQ(handler_calls, 4);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&of_comm);
  MPI_Errhandler_free(&handler);
  close_session(&session);
}

enum { kLong = 50000 };  // ints; too many to leave at once

static void buffers(MPI_Session session) {
  MPI_Comm comm = world_of(session, "buffers"), copy;
  const int bytes = kLong * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  char *memory = malloc((size_t)bytes), *back;
  int *out = malloc(kLong * sizeof *out), *in = malloc(kLong * sizeof *in);
  int size, rank, peers;
  MPI_Request request, receive;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &peers);
  MPI_Comm_dup(comm, &copy);
  const int next = (rank + 1) % peers, before = (rank + peers - 1) % peers;
  for (int i = 0; i < kLong; i++) out[i] = rank * 1000 + i;
  CHECK_CLASS(MPI_Bsend(out, kLong, MPI_INT, next, 0, copy), MPI_ERR_BUFFER);
  MPI_Session_attach_buffer(session, memory, bytes);
  CHECK_CLASS(MPI_Session_attach_buffer(session, memory, bytes), MPI_ERR_BUFFER);
  CHECK_EQ(MPI_Bsend(out, kLong, MPI_INT, next, 0, copy), MPI_SUCCESS);  // derived from the session, like its parent
  CHECK_CLASS(MPI_Bsend(out, kLong, MPI_INT, next, 0, comm), MPI_ERR_BUFFER);  // full
  for (int i = 0; i < kLong; i++) out[i] = -1;
  MPI_Session_iflush_buffer(session, &request);
  MPI_Irecv(in, kLong, MPI_INT, before, 0, copy, &receive);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_flush_buffer(session);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = 0; i < kLong; i++) CHECK_EQ(in[i], before * 1000 + i);
  MPI_Session_detach_buffer(session, &back, &size);
  CHECK(back == memory && size == bytes, "%d", size);
  CHECK_CLASS(MPI_Bsend(out, kLong, MPI_INT, next, 0, copy), MPI_ERR_BUFFER);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  free(memory);
  free(out);
  free(in);
}

static void from_groups(MPI_Session session, int size) {
  MPI_Group world, part;
  MPI_Comm comm, other;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  // Two at once that share members, in the order that suits each rank: the strings tell them apart.
  int backwards[64];
  for (int i = 0; i < size; i++) backwards[i] = size - 1 - i;
  MPI_Group_incl(world, size, backwards, &part);
  comm = comm_of(part, "backwards");
  other = comm_of(world, "forwards");
  int rank;
  MPI_Comm_rank(comm, &rank);
  CHECK_EQ(rank, size - 1 - world_rank);
  check_comm(comm, size);
  check_comm(other, size);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
  MPI_Group_free(&part);
  comm = comm_of(MPI_GROUP_EMPTY, "nobody");
  CHECK(comm == MPI_COMM_NULL);
  // The members only.
  int last = size - 1;
  MPI_Group_incl(world, 1, &last, &part);
  if (world_rank == last) {
    comm = comm_of(part, "the last");
    check_comm(comm, 1);
    MPI_Comm_free(&comm);
  } else {
    CHECK_CLASS(MPI_Comm_create_from_group(part, "the last", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP);
  }
  MPI_Group_free(&part);
  char* longest = malloc(MPI_MAX_STRINGTAG_LEN + 2);
  memset(longest, 'x', MPI_MAX_STRINGTAG_LEN + 1);
  longest[MPI_MAX_STRINGTAG_LEN + 1] = '\0';
  CHECK_CLASS(MPI_Comm_create_from_group(world, longest, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
  free(longest);
  MPI_Group_free(&world);
}

static void intercomm(MPI_Session session, int size) {
  if (size < 2) return;
  MPI_Group world, mine, theirs;
  MPI_Comm comm, copies[2], merged;
  MPI_Request request;
  int half = (size + 1) / 2, first = world_rank < half, ranges[2][3] = {{0, half - 1, 1}, {half, size - 1, 1}};
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_range_incl(world, 1, &ranges[first ? 0 : 1], &mine);
  MPI_Group_range_incl(world, 1, &ranges[first ? 1 : 0], &theirs);
  CHECK_EQ(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
           MPI_SUCCESS);
  MPI_Comm_dup(comm, &copies[0]);
  CHECK_EQ(MPI_Comm_idup(comm, &copies[1], &request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; i++) {
    MPI_Comm with = i == 0 ? comm : copies[i - 1];
    int remote, sum = -1, flag;
    MPI_Comm_test_inter(with, &flag);
    CHECK(flag);
    MPI_Comm_remote_size(with, &remote);
    CHECK_EQ(remote, first ? size - half : half);
    CHECK_EQ(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, with), MPI_SUCCESS);
    CHECK_EQ(sum, first ? (half + size - 1) * (size - half) / 2 : (half - 1) * half / 2);
    CHECK_EQ(MPI_Barrier(with), MPI_SUCCESS);
  }
  MPI_Intercomm_merge(copies[1], !first, &merged);
  check_comm(merged, size);
  MPI_Comm_free(&merged);
  for (int i = 0; i < 2; i++) MPI_Comm_free(&copies[i]);
  MPI_Comm_free(&comm);
  MPI_Group_free(&mine);
  MPI_Group_free(&theirs);
  MPI_Group_free(&world);
}

// What comes of different sessions, or of a session and the world, is not taken in one call. `comm` is of one and
// `other` of another; both have all ranks in the same order.
static void mixed(MPI_Comm comm, MPI_Comm other) {
  MPI_Group group, strange, made, all[2];
  MPI_Comm part;
  int result, rank, size, here = 0, there = -1;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(other, &strange);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Group_compare(group, strange, &result), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_translate_ranks(group, 1, &here, strange, &there), MPI_ERR_GROUP);
  CHECK_EQ(there, -1);
  CHECK_CLASS(MPI_Group_union(group, strange, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_intersection(strange, group, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_difference(group, strange, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_compare(comm, other, &result), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_create(comm, strange, &part), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create_group(other, group, 0, &part), MPI_ERR_GROUP);
  // The empty one is everybody's.
  CHECK_EQ(MPI_Group_union(group, MPI_GROUP_EMPTY, &all[0]), MPI_SUCCESS);
  CHECK_EQ(MPI_Group_union(MPI_GROUP_EMPTY, group, &all[1]), MPI_SUCCESS);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(MPI_Group_compare(group, all[i], &result), MPI_SUCCESS);
    CHECK_EQ(result, MPI_IDENT);
    CHECK_CLASS(MPI_Group_compare(all[i], strange, &result), MPI_ERR_GROUP);  // it has not lost where it came from
    MPI_Group_free(&all[i]);
  }
  if (size > 1) {  // the halves reach each other through one that fits the first half alone
    const int half = (size + 1) / 2, first = rank < half;
    MPI_Comm mine, theirs;
    MPI_Comm_split(comm, first, rank, &mine);
    MPI_Comm_split(other, first, rank, &theirs);
    const int code = MPI_Intercomm_create(first ? mine : theirs, 0, comm, first ? half : 0, 3, &part);
    CHECK(code != MPI_SUCCESS);
    if (!first) CHECK_CLASS(code, MPI_ERR_COMM);
    CHECK(part == MPI_COMM_NULL);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&theirs);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&strange);
}

// What one user of the library does who knows of no other.
static void whole_session(const char* name) {
  MPI_Session session = open_session(NULL);
  MPI_Comm comm = world_of(session, name);
  int size;
  MPI_Comm_size(comm, &size);
  check_comm(comm, size);
  MPI_Comm_free(&comm);
  close_session(&session);
}

static void check_flags(int want_initialized, int want_finalized) {
  int initialized, finalized;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  CHECK(initialized == want_initialized && finalized == want_finalized, "%d, %d", initialized, finalized);
}

static int everything(void) {
  check_flags(0, 0);
  MPI_Session session = open_session(NULL), beside = open_session("MPI_THREAD_SERIALIZED");
  check_flags(0, 0);
  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &world_rank);
  MPI_Group_size(group, &world_size);
  MPI_Group_free(&group);
  process_sets(session);
  levels();
  error_handlers();
  buffers(beside);
  from_groups(session, world_size);
  intercomm(session, world_size);
  // Two libraries in one process: neither waits for the other, and one ends while the other goes on.
  MPI_Comm one = world_of(session, "one"), two = world_of(beside, "two");
  check_comm(one, world_size);
  check_comm(two, world_size);
  MPI_Comm_free(&two);
  close_session(&beside);
  check_comm(one, world_size);
  MPI_Comm_free(&one);
  close_session(&session);
  for (int i = 0; i < 20; i++) whole_session("again");
  // The world, with a session that outlives it.
  session = open_session(NULL);
  MPI_Init(NULL, NULL);
  check_flags(1, 0);
  one = world_of(session, "beside the world");
  check_comm(one, world_size);
  check_comm(MPI_COMM_WORLD, world_size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  mixed(one, MPI_COMM_WORLD);
  beside = open_session(NULL);
  two = world_of(beside, "beside another");
  mixed(one, two);
  MPI_Comm_free(&two);
  close_session(&beside);
  whole_session("within the world");
  MPI_Finalize();
  check_flags(1, 1);
  check_comm(one, world_size);
  MPI_Comm_free(&one);
  close_session(&session);
  for (int i = 0; i < 20; i++) whole_session("after the world");
  return 0;
}

static int some(int ranks) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL || atoi(rank) >= ranks) return 0;
  MPI_Session session = open_session(NULL);
  MPI_Group world, group;
  int range[1][3] = {{0, ranks - 1, 1}};
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_range_incl(world, 1, range, &group);
  MPI_Comm comm = comm_of(group, "some");
  check_comm(comm, ranks);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  close_session(&session);
  return 0;
}

static int job_rank(void) { return atoi(getenv("PMI_RANK")); }

static int solo(void) {
  MPI_Session session = open_session(NULL);
  close_session(&session);
  return 0;
}

static int probe(void) {
  if (job_rank() % 2 == 1) {
    MPI_Session session = open_session(NULL);
    close_session(&session);
  }
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  check_comm(MPI_COMM_WORLD, world_size);
  MPI_Finalize();
  return 0;
}

static void* user(void* number) {
  char tag[32];
  snprintf(tag, sizeof tag, "thread %d", *(int*)number);
  for (int i = 0; i < 20; i++) whole_session(tag);
  return NULL;
}

static int threads(void) {
  enum { kThreads = 3 };
  pthread_t thread[kThreads];
  int number[kThreads], provided;
  for (int i = 0; i < kThreads; i++) {
    number[i] = i;
    pthread_create(&thread[i], NULL, user, &number[i]);
  }
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  check_comm(MPI_COMM_WORLD, world_size);
  MPI_Finalize();
  for (int i = 0; i < kThreads; i++) pthread_join(thread[i], NULL);
  return 0;
}

static int flood(void) {
  enum { kMessages = 20000 };
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  int data[100] = {0};
  if (world_rank == 0) {
    for (int i = 0; i < kMessages; i++) {
      data[99] = i;
      MPI_Send(data, i % 2 == 0 ? 1 : 100, MPI_INT, world_size - 1, i % 2, MPI_COMM_WORLD);
    }
  }
  if (world_rank == world_size - 1) {
    for (int i = 0; i < kMessages; i++) {
      MPI_Recv(data, 100, MPI_INT, 0, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (i % 2 == 1) CHECK_EQ(data[99], i);
    }
  }
  // Left for nobody: the next program of this rank must not find it.
  if (world_rank == 0) MPI_Send(data, 1, MPI_INT, world_size - 1, 77, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

static int fail_later(void) {
  whole_session("first");
  MPI_Session session = open_session(NULL);
  MPI_Comm comm = world_of(session, "second");
  if (job_rank() == 0) exit(0);
  MPI_Barrier(comm);
  return 0;
}

static int child(void) {
  whole_session("before");
  pid_t pid = fork();
  int status;
  if (pid == 0) {
    MPI_Session session;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS) _exit(1);
    exit(3);  // whatever the library does at the end of a program
  }
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%d", status);
  whole_session("after");
  return 0;
}

static void finalize(void) { MPI_Finalize(); }

static int at_exit(void) {
  atexit(finalize);
  MPI_Init(NULL, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "alone") == 0) return some(1);
  if (strcmp(what, "some") == 0) return some(2);
  if (strcmp(what, "solo") == 0) return solo();
  if (strcmp(what, "probe") == 0) return probe();
  if (strcmp(what, "threads") == 0) return threads();
  if (strcmp(what, "flood") == 0) return flood();
  if (strcmp(what, "fail") == 0) return fail_later();
  if (strcmp(what, "child") == 0) return child();
  if (strcmp(what, "atexit") == 0) return at_exit();
  return everything();
}
