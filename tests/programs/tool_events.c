// Heddle's events: what a tool is told, when, and that nothing is told twice or lost without a word.
//   tool_events             messages that came before their receive, their order and contents; VCIs that are shared
//   tool_events flow        with few HEDDLE_UNEXPECTED_HEADERS and _BYTES: senders that were told to hold back
//   tool_events lost        the second rank dies
//   tool_events threads     some send to themselves, one comes and goes as a listener
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "check.h"
#include "counter.h"

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

enum { kMost = 4096, kLast = 999999 };

// What a callback has seen.
typedef struct {
  int calls, frees, ends_itself;
  MPI_Count dropped, values[kMost][4], times[kMost];
  MPI_Comm probe;  // the first call waits there for a message with tag kLast
} Seen;

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
  (void)registration, (void)safety;
  ((Seen*)data)->frees++;
}

static void seen(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                 void* data) {
  Seen* s = data;
  MPI_Count one;
  int source = -1;
  CHECK(s->calls < kMost);
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  MPI_Count* values = s->values[s->calls];
  OK(MPI_T_event_copy(instance, values));
  OK(MPI_T_event_read(instance, 0, &one));
  CHECK_EQ(one, values[0]);
  CHECK_EQ(MPI_T_event_read(instance, 4, &one), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_read(instance, -1, &one), MPI_T_ERR_INVALID_INDEX);
  OK(MPI_T_event_get_timestamp(instance, &s->times[s->calls]));
  OK(MPI_T_event_get_source(instance, &source));
  CHECK_EQ(source, 0);
  if (s->calls++ == 0 && s->probe != MPI_COMM_NULL) MPI_Probe(MPI_ANY_SOURCE, kLast, s->probe, MPI_STATUS_IGNORE);
  if (s->ends_itself) {
    OK(MPI_T_event_handle_free(registration, s, freed));
    CHECK_EQ(s->frees, 0);  // not while it runs
    CHECK_EQ(MPI_T_event_set_dropped_handler(registration, NULL), MPI_T_ERR_INVALID_HANDLE);
  }
}

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                    void* data) {
  (void)registration;
  CHECK_EQ(source, 0);
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  CHECK(count > 0);
  ((Seen*)data)->dropped += count;
}

static void never(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                  void* data) {
  (void)instance, (void)registration, (void)safety, (void)data;
  CHECK(0, "the callback of more safety than is needed");
}

static MPI_T_event_registration listen(const char* name, Seen* s) {
  MPI_T_event_registration made;
  int index;
  memset(s, 0, sizeof *s);
  s->probe = MPI_COMM_NULL;
  OK(MPI_T_event_get_index(name, &index));
  OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &made));
  OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, never));
  OK(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, s, seen));
  OK(MPI_T_event_set_dropped_handler(made, dropped));
  return made;
}

static void descriptions(void) {
  int events, sources, in_categories = 0, categories, name_length = 64, order, bind, elements, verbosity;
  char name[64], text[512];
  OK(MPI_T_event_get_num(&events));
  CHECK(events > 0);
  for (int i = 0; i < events; i++) {
    MPI_Datatype types[8];
    MPI_Aint places[8];
    MPI_Info info;
    int found, text_length = sizeof text;
    name_length = sizeof name, elements = 8;
    OK(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, places, &elements, NULL, &info, text,
                            &text_length, &bind));
    OK(MPI_T_event_get_index(name, &found));
    CHECK_EQ(found, i);
    CHECK(elements >= 1 && elements <= 8 && text_length > 10);
    for (int e = 0; e < elements; e++) CHECK(types[e] == MPI_COUNT && places[e] == 8 * e);
    MPI_Info_free(&info);
  }
  OK(MPI_T_category_get_num(&categories));
  for (int i = 0, indices[64], n; i < categories; i++) {
    OK(MPI_T_category_get_num_events(i, &n));
    OK(MPI_T_category_get_events(i, 64, indices));
    for (int k = 0; k < n; k++) CHECK(indices[k] >= 0 && indices[k] < events);
    in_categories += n;
  }
  CHECK_EQ(in_categories, events);
  OK(MPI_T_source_get_num(&sources));
  CHECK_EQ(sources, 1);
  MPI_Count ticks, most, one, two;
  MPI_T_source_order ordering;
  name_length = sizeof name;
  OK(MPI_T_source_get_info(0, name, &name_length, NULL, NULL, &ordering, &ticks, &most, NULL));
  order = ordering;
  CHECK_EQ(order, MPI_T_SOURCE_ORDERED);
  CHECK(ticks > 0 && most > 0);
  OK(MPI_T_source_get_timestamp(0, &one));
  OK(MPI_T_source_get_timestamp(0, &two));
  CHECK(one <= two);
}

static Seen here;

// `n` messages of i bytes, tag i, that all wait before the first is received.
static void messages_from_next(MPI_Comm comm, int n, void (*all_wait)(void)) {
  const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  static char out[kMost], in[kMost];
  for (int i = 0; i < n; i++) MPI_Send(out, i, MPI_BYTE, last, i, comm);
  MPI_Send(out, 0, MPI_BYTE, last, kLast, comm);
  MPI_Recv(in, 0, MPI_BYTE, next, kLast, comm, MPI_STATUS_IGNORE);
  if (all_wait != NULL) all_wait();
  for (int i = n; i-- > 0;) MPI_Recv(in, i, MPI_BYTE, next, i, comm, MPI_STATUS_IGNORE);
}

static void unexpected(void) {
  enum { kFew = 20 };
  const int next = (world_rank + 1) % world_size;
  MPI_Comm comm;
  MPI_Count before, after;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_T_event_registration registration = listen("message_unexpected", &here);
  OK(MPI_T_source_get_timestamp(0, &before));
  MPI_Barrier(comm);  // nobody sends before all listen
  messages_from_next(comm, kFew, NULL);
  OK(MPI_T_source_get_timestamp(0, &after));
  int found = 0;
  for (int i = 0; i < here.calls; i++) {
    CHECK(before <= here.times[i] && here.times[i] <= after);
    CHECK(i == 0 || here.times[i - 1] <= here.times[i]);
    CHECK(here.values[i][0] >= 0 && here.values[i][0] < 16);
    if (here.values[i][1] != next || here.values[i][2] != found || here.values[i][3] != found) continue;
    found++;
  }
  // kLast alone may have found its receive.
  CHECK_EQ(found, kFew);
  CHECK_EQ(here.dropped, 0);
  OK(MPI_T_event_handle_free(registration, &here, freed));
  CHECK_EQ(here.frees, 1);
  const int calls = here.calls;
  MPI_Barrier(comm);
  messages_from_next(comm, kFew, NULL);
  CHECK_EQ(here.calls, calls);
  MPI_Comm_free(&comm);
}

// The callback of the first rank makes all of them wait; they are more than are kept.
static void too_many(void) {
  enum { kMany = 1500 };
  int nothing = 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  if (world_rank == 0) {
    MPI_T_event_registration registration = listen("message_unexpected", &here);
    here.probe = comm;
    Counter all = count("messages_unexpected");
    MPI_Send(&nothing, 0, MPI_INT, 1, kLast, comm);
    MPI_Probe(1, kLast, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&nothing, 0, MPI_INT, 1, kLast, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMany; i++) MPI_Recv(&nothing, 1, MPI_INT, 1, i, comm, MPI_STATUS_IGNORE);
    CHECK(here.dropped > 0, "%d calls", here.calls);
    CHECK_EQ(here.calls + here.dropped, counted(&all));
    OK(MPI_T_event_handle_free(registration, &here, NULL));
  } else if (world_rank == 1) {
    MPI_Recv(&nothing, 0, MPI_INT, 0, kLast, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMany; i++) MPI_Send(&nothing, 1, MPI_INT, 0, i, comm);
    MPI_Send(&nothing, 0, MPI_INT, 0, kLast, comm);
  }
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

static void frees_itself(void) {
  listen("message_unexpected", &here);
  here.ends_itself = 1;
  MPI_Barrier(MPI_COMM_WORLD);  // nobody sends before all listen
  messages_from_next(MPI_COMM_WORLD, 3, NULL);
  CHECK_EQ(here.calls, 1);
  CHECK_EQ(here.frees, 1);
}

static void shared_vcis(void) {
  enum { kComms = 20 };
  MPI_Comm comms[kComms];
  int vcis, flag;
  MPI_T_cvar_handle handle;
  MPI_T_event_registration registration = listen("vci_shared", &here);
  OK(MPI_T_cvar_get_index("vcis", &vcis));
  OK(MPI_T_cvar_handle_alloc(vcis, NULL, &handle, &flag));
  OK(MPI_T_cvar_read(handle, &vcis));
  OK(MPI_T_cvar_handle_free(&handle));
  for (int i = 0; i < kComms; i++) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(here.calls >= kComms - vcis + 2 && here.calls < kComms, "%d calls", here.calls);
  for (int i = 0; i < here.calls; i++) CHECK_EQ(here.values[i][0], 0);
  for (int i = 0; i < kComms; i++) MPI_Comm_free(&comms[i]);
  OK(MPI_T_event_handle_free(registration, NULL, NULL));
}

// With a budget of 64 headers and 16 KiB.
static void some_are_kept(void) {
  const MPI_Count headers = level("flow_kept_headers"), lent = level("flow_lent_headers");
  const MPI_Count bytes = level("flow_kept_bytes"), lent_bytes = level("flow_lent_bytes");
  CHECK(headers > 0 && headers + lent <= 64, "%lld kept, %lld lent", (long long)headers, (long long)lent);
  CHECK(bytes + lent_bytes <= 16384, "%lld kept, %lld lent", (long long)bytes, (long long)lent_bytes);
}

static void flow(void) {
  enum { kMany = 2000 };
  static Seen bytes;
  MPI_T_event_registration registrations[2] = {listen("flow_disabled", &here), listen("flow_bytes_disabled", &bytes)};
  Counter all = count("flow_disables"), all_bytes = count("flow_byte_disables");
  Counter held = count("flow_held"), offers = count("flow_offers");
  messages_from_next(MPI_COMM_WORLD, kMany, some_are_kept);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(level("flow_kept_headers"), 0);
  CHECK_EQ(level("flow_kept_bytes"), 0);
  const MPI_Count were_held = counted(&held), were_offered = counted(&offers);
  CHECK(were_offered > 0 && were_offered <= were_held, "%lld of %lld", (long long)were_offered, (long long)were_held);
  CHECK_EQ(here.calls, counted(&all));
  CHECK_EQ(bytes.calls, counted(&all_bytes));
  CHECK(here.calls > 0);
  for (int i = 0; i < here.calls; i++) CHECK_EQ(here.values[i][0], 0);
  for (int i = 0; i < 2; i++) OK(MPI_T_event_handle_free(registrations[i], NULL, NULL));
}

static void lost(void) {
  int in;
  MPI_T_event_registration registration = listen("process_lost", &here);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) raise(SIGKILL);
  CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
  while (here.calls == 0) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &in, MPI_STATUS_IGNORE);
  CHECK_EQ(here.calls, 1);
  CHECK_EQ(here.values[0][0], 1);
  OK(MPI_T_event_handle_free(registration, NULL, NULL));
  printf("rank %d went on\n", world_rank);
}

// A registration that threads are told by while another one ends it: no call is after its end, and each has one end.
enum { kThreads = 3 };
typedef struct {
  atomic_int calls, ends;
} Listener;
static Listener listeners[100];
static atomic_int over;

static void heard(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                  void* data) {
  Listener* listener = data;
  MPI_Count values[4];
  (void)registration, (void)safety;
  OK(MPI_T_event_copy(instance, values));
  CHECK(values[2] >= 0 && values[2] < kThreads && values[3] == 100 * values[2]);
  CHECK_EQ(listener->ends, 0);
  listener->calls++;
}
static void ended(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* data) {
  (void)registration, (void)safety;
  ((Listener*)data)->ends++;
}

static void* sends_to_itself(void* argument) {
  const int tag = (int)(intptr_t)argument;
  static char out[100 * kThreads];
  char in[100 * kThreads];
  while (!over) {
    MPI_Request request;
    int flag = 0;
    MPI_Isend(out, 100 * tag, MPI_BYTE, 0, tag, MPI_COMM_SELF, &request);
    while (!flag) MPI_Iprobe(0, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100 * tag, MPI_BYTE, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void threads(void) {
  enum { kRounds = sizeof listeners / sizeof *listeners };
  pthread_t workers[kThreads];
  int index;
  OK(MPI_T_event_get_index("message_unexpected", &index));
  for (int t = 0; t < kThreads; t++) pthread_create(&workers[t], NULL, sends_to_itself, (void*)(intptr_t)t);
  for (int i = 0; i < kRounds; i++) {
    MPI_T_event_registration registration;
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &listeners[i], heard));
    while (listeners[i].calls < 3) sched_yield();
    OK(MPI_T_event_handle_free(registration, &listeners[i], ended));
  }
  for (int i = 0; i < kRounds; i++) {
    while (listeners[i].ends == 0) sched_yield();
  }
  over = 1;
  for (int t = 0; t < kThreads; t++) pthread_join(workers[t], NULL);
  for (int i = 0; i < kRounds; i++) CHECK_EQ(listeners[i].ends, 1);
}

int main(int argc, char** argv) {
  int provided;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  descriptions();
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    start_threaded(&argc, &argv);
    threads();
    finish();
    OK(MPI_T_finalize());
    return 0;
  }
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "lost") == 0) {
    lost();
  } else if (argc > 1) {
    flow();
  } else {
    unexpected();
    too_many();
    frees_itself();
    shared_vcis();
  }
  finish();
  OK(MPI_T_finalize());
  return 0;
}
