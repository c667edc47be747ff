// Everything at once, for as long as wanted: soak [seconds [seed [threads]]], under MPI_THREAD_MULTIPLE.
//
// Method:  rounds. Each rank has `threads` senders and as many receivers, all at work at once. What each sender sends in a
//          round (to whom, size, tag, communicator, mode) follows from the seed, so each receiver knows what must come, and
//          checks every byte, the order of what has one source and tag, and that nothing else came. Sizes favour the
//          borders between the ways that a message can take. Nobody can block for ever: senders wait only for receivers,
//          and a receiver posts all receives that are not for any message before it first blocks.
// Replays: a run prints its seed; the same seed gives the same messages, though not the same timing.
// Hangs:   when nothing moves for kStalled seconds, each rank prints where each of its threads stands, and the job ends.
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum {
  kMessages = 30,
  kMaxThreads = 8,
  kMaxRanks = 64,
  kMaxBytes = 300 * 1024,
  kTags = 4,
  kNobodysTag = 4000,
  kStalled = 20
};
// Receives on a communicator of a receiver: by source and tag, by source, by tag, or any message.
enum Class { kExact, kBySource, kByTag, kAny, kClasses };
enum Mode { kSend, kIsend, kSsend, kIssend, kBsend, kIbsend, kPersistent, kFreed, kModes };

typedef struct {
  int from, to, to_thread, class, tag, bytes, mode;
  unsigned seed;
} Message;

// One thread, and where it stands.
typedef struct {
  int receives, number;
  volatile int round;
  const char* volatile what;
  volatile int done, of;
  volatile int peer, tag, bytes;
} Worker;

static unsigned seed_of_run;
static int threads_each;
static MPI_Comm comms[kMaxThreads][kClasses];
static Worker workers[2 * kMaxThreads];
static pthread_barrier_t gate;
static volatile int go_on = 1, current_round;
static volatile unsigned long long moves;

typedef unsigned long long Random;
static unsigned draw(Random* r, unsigned below) {
  *r += 0x9E3779B97F4A7C15ull;
  Random z = *r;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return (unsigned)((z ^ (z >> 31)) >> 32) % below;
}
static Random random_of(int round, int rank, int thread, int purpose) {
  Random r = ((Random)seed_of_run << 32) ^ ((Random)round << 16) ^ ((Random)rank << 10) ^ ((Random)thread << 4) ^
             (Random)purpose;
  draw(&r, 1);
  return r;
}

static int draw_size(Random* r) {
  static const int kBorders[] = {0, 1, 8, 39, 40, 41, 95, 96, 97, 16383, 16384, 16385, 65536, kMaxBytes - 1, kMaxBytes};
  unsigned kind = draw(r, 20);
  if (kind < 10) return kBorders[draw(r, sizeof kBorders / sizeof *kBorders)];
  return (int)draw(r, kind < 16 ? 200 : kind < 19 ? 20000 : kMaxBytes + 1);
}

// What sender `thread` of rank `from` sends in a round.
static void plan(int round, int from, int thread, Message* out) {
  Random r = random_of(round, from, thread, 1);
  for (int i = 0; i < kMessages; i++) {
    Message* m = &out[i];
    m->from = from;
    m->to = (int)draw(&r, (unsigned)world_size);
    m->to_thread = (int)draw(&r, (unsigned)threads_each);
    m->class = (int)draw(&r, kClasses);
    m->tag = thread * kTags + (int)draw(&r, kTags);
    m->bytes = draw_size(&r);
    m->mode = (int)draw(&r, kModes);
    if ((m->mode == kBsend || m->mode == kIbsend) && m->bytes > 20000)
      m->mode = kIsend;  // the attached buffer is small
    m->seed = draw(&r, 1u << 30);
  }
}

static void stands(Worker* w, const char* what, int done, int of, int peer, int tag, int bytes) {
  w->what = what;
  w->done = done, w->of = of, w->peer = peer, w->tag = tag, w->bytes = bytes;
  __atomic_fetch_add(&moves, 1, __ATOMIC_RELAXED);
}

// Between the two the first thread of each rank meets those of the others.
static void wait_for_everybody(Worker* w) {
  stands(w, "waits for the others", w->done, w->of, -1, -1, 0);
  pthread_barrier_wait(&gate);
  pthread_barrier_wait(&gate);
}

static void send_all(Worker* w, int round) {
  static const char* const kNames[] = {"MPI_Send",  "MPI_Isend",  "MPI_Ssend", "MPI_Issend",
                                       "MPI_Bsend", "MPI_Ibsend", "MPI_Start", "MPI_Request_free"};
  Message messages[kMessages];
  unsigned char* buffers[kMessages];
  MPI_Request requests[kMessages];
  plan(round, world_rank, w->number, messages);
  for (int i = 0; i < kMessages; i++) {
    const Message* m = &messages[i];
    MPI_Comm comm = comms[m->to_thread][m->class];
    MPI_Request* request = &requests[i];
    unsigned char* b = buffers[i] = malloc((size_t)m->bytes + 1);
    fill(b, (size_t)m->bytes, m->seed);
    *request = MPI_REQUEST_NULL;
    stands(w, kNames[m->mode], i, kMessages, m->to, m->tag, m->bytes);
    switch (m->mode) {
      case kSend:
        MPI_Send(b, m->bytes, MPI_BYTE, m->to, m->tag, comm);
        break;
      case kSsend:
        MPI_Ssend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm);
        break;
      case kBsend:
        MPI_Bsend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm);
        break;
      case kIsend:
        MPI_Isend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm, request);
        break;
      case kIssend:
        MPI_Issend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm, request);
        break;
      case kIbsend:
        MPI_Ibsend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm, request);
        break;
      case kPersistent:
        MPI_Send_init(b, m->bytes, MPI_BYTE, m->to, m->tag, comm, request);
        MPI_Start(request);
        break;
      case kFreed:  // its buffer lives until everybody has everything
        MPI_Isend(b, m->bytes, MPI_BYTE, m->to, m->tag, comm, request);
        MPI_Request_free(request);
        break;
    }
    if (m->mode == kBsend) memset(b, 0, (size_t)m->bytes);
  }
  stands(w, "MPI_Waitall of its sends", kMessages, kMessages, -1, -1, 0);
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; i++)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  wait_for_everybody(w);
  for (int i = 0; i < kMessages; i++) free(buffers[i]);
}

// What one receiver has to get in a round, and what it did about it, in the order of posting.
typedef struct {
  int count, posted, pending;
  Message* expected;
  char* claimed;  // of `expected`: posted for, or found in what came
  struct Receive {
    unsigned char* buffer;
    MPI_Request request;
    MPI_Status status;
    int class, exact;  // index of the message that must come, or -1
  } * receives;
} Inbox;

static void collect(int round, int thread, Inbox* in) {
  size_t most = (size_t)(world_size * threads_each * kMessages);
  in->expected = malloc(most * sizeof *in->expected);
  in->count = 0;
  for (int rank = 0; rank < world_size; rank++)
    for (int t = 0; t < threads_each; t++) {
      Message messages[kMessages];
      plan(round, rank, t, messages);
      for (int i = 0; i < kMessages; i++)
        if (messages[i].to == world_rank && messages[i].to_thread == thread) in->expected[in->count++] = messages[i];
    }
  in->posted = in->pending = 0;
  in->claimed = calloc((size_t)in->count + 1, 1);
  in->receives = calloc((size_t)in->count + 1, sizeof *in->receives);
}

// The first message not yet claimed of that class, source and tag; a negative one stands for any.
static int find(const Inbox* in, int class, int source, int tag) {
  for (int i = 0; i < in->count; i++) {
    const Message* m = &in->expected[i];
    if (!in->claimed[i] && m->class == class && (source < 0 || m->from == source) && (tag < 0 || m->tag == tag))
      return i;
  }
  return -1;
}

static struct Receive* new_receive(Inbox* in, int class) {
  struct Receive* receive = &in->receives[in->posted++];
  receive->buffer = malloc(kMaxBytes + 1);
  receive->class = class;
  receive->exact = -1;
  receive->request = MPI_REQUEST_NULL;
  return receive;
}

// Receives that name a source or a tag, in any order that the plan does not forbid; none of them blocks.
static void post(Worker* w, Inbox* in, Random* r) {
  int left = 0;
  for (int i = 0; i < in->count; i++) left += in->expected[i].class != kAny;
  while (left > 0) {
    int i = (int)draw(r, (unsigned)in->count);
    const Message* m = &in->expected[i];
    if (in->claimed[i] || m->class == kAny) continue;
    int source = m->class == kByTag ? MPI_ANY_SOURCE : m->from, tag = m->class == kBySource ? MPI_ANY_TAG : m->tag;
    struct Receive* receive = new_receive(in, m->class);
    if (m->class == kExact) {
      i = receive->exact = find(in, kExact, source, tag);
      receive->buffer[in->expected[i].bytes] = 0xEE;
    }
    in->claimed[i] = 1;
    --left;
    stands(w, "MPI_Irecv", in->posted, in->count, m->from, m->tag, m->bytes);
    MPI_Comm comm = comms[w->number][m->class];
    if (draw(r, 3) == 0) {
      MPI_Recv_init(receive->buffer, kMaxBytes, MPI_BYTE, source, tag, comm, &receive->request);
      MPI_Start(&receive->request);
    } else {
      MPI_Irecv(receive->buffer, kMaxBytes, MPI_BYTE, source, tag, comm, &receive->request);
    }
  }
  for (int i = 0; i < in->count; i++) in->claimed[i] = 0;
}

static void cancel_one(Worker* w, Random* r) {
  int value, cancelled;
  MPI_Request request;
  MPI_Status status;
  stands(w, "MPI_Cancel", 0, 0, -1, kNobodysTag, 0);
  MPI_Irecv(&value, 1, MPI_INT, draw(r, 2) ? MPI_ANY_SOURCE : (int)draw(r, (unsigned)world_size), kNobodysTag,
            comms[w->number][draw(r, kClasses)], &request);
  if (draw(r, 2)) sched_yield();
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled, "a receive that nobody sends to was not cancelled");
}

// Whatever comes, in every way that takes it. A receive that is cancelled may have got its message already.
static void take_any(Worker* w, Inbox* in, Random* r) {
  MPI_Comm comm = comms[w->number][kAny];
  int left = 0, flag = 0;
  for (int i = 0; i < in->count; i++) left += in->expected[i].class == kAny;
  while (left > 0) {
    static const char* const kNames[] = {
        "MPI_Recv", "MPI_Irecv", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Cancel of a receive"};
    struct Receive* receive = new_receive(in, kAny);
    unsigned char* b = receive->buffer;
    MPI_Status* s = &receive->status;
    MPI_Message message;
    unsigned way = draw(r, 7);
    stands(w, kNames[way], in->posted, in->count, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    --left;
    switch (way) {
      case 0:
        MPI_Recv(b, kMaxBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, s);
        break;
      case 1:
        MPI_Irecv(b, kMaxBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receive->request);
        break;
      case 2:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, s);
        MPI_Recv(b, kMaxBytes, MPI_BYTE, s->MPI_SOURCE, s->MPI_TAG, comm, s);
        break;
      case 3:
        for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, s);
        MPI_Recv(b, kMaxBytes, MPI_BYTE, s->MPI_SOURCE, s->MPI_TAG, comm, s);
        break;
      case 4:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, s);
        MPI_Mrecv(b, kMaxBytes, MPI_BYTE, &message, s);
        break;
      case 5:
        for (flag = 0; !flag;) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, s);
        MPI_Imrecv(b, kMaxBytes, MPI_BYTE, &message, &receive->request);
        break;
      case 6:
        MPI_Irecv(b, kMaxBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receive->request);
        MPI_Cancel(&receive->request);
        MPI_Wait(&receive->request, s);
        MPI_Test_cancelled(s, &flag);
        if (flag) {
          ++left;
          --in->posted;
          free(b);
        }
        break;
    }
  }
}

static void complete(Worker* w, Inbox* in, Random* r) {
  int n = in->posted, way = (int)draw(r, 4);
  MPI_Request* requests = malloc((size_t)(n + 1) * sizeof *requests);
  int* places = malloc((size_t)(n + 1) * sizeof *places);
  int* indices = malloc((size_t)(n + 1) * sizeof *indices);
  MPI_Status* statuses = malloc((size_t)(n + 1) * sizeof *statuses);
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (in->receives[i].request == MPI_REQUEST_NULL) continue;
    places[count] = i;
    requests[count++] = in->receives[i].request;
  }
  static const char* const kNames[] = {"MPI_Waitall", "MPI_Waitany", "MPI_Testsome", "MPI_Wait"};
  for (int done = 0; done < count;) {
    int some = 0;
    stands(w, kNames[way], done, count, -1, -1, 0);
    switch (way) {
      case 0:
        MPI_Waitall(count, requests, statuses);
        for (; some < count; some++) indices[some] = some;
        break;
      case 1:
        MPI_Waitany(count, requests, &indices[0], &statuses[0]);
        some = 1;
        break;
      case 2:
        do {
          MPI_Testsome(count, requests, &some, indices, statuses);
        } while (some == 0);
        break;
      case 3:
        indices[0] = count - 1 - done;
        MPI_Wait(&requests[indices[0]], &statuses[0]);
        some = 1;
        break;
    }
    for (int i = 0; i < some; i++) in->receives[places[indices[i]]].status = statuses[i];
    done += some;
  }
  for (int i = 0; i < count; i++)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  free(requests), free(places), free(indices), free(statuses);
}

// Messages of one source, tag and communicator come in the order of sending to receives in the order of posting.
static void verify(Worker* w, Inbox* in) {
  CHECK_EQ(in->posted, in->count);
  for (int n = 0; n < in->posted; n++) {
    struct Receive* receive = &in->receives[n];
    int i = find(in, receive->class, receive->status.MPI_SOURCE, receive->status.MPI_TAG);
    stands(w, "checks what came", n, in->count, receive->status.MPI_SOURCE, receive->status.MPI_TAG, 0);
    CHECK(i >= 0, "seed %u, round %d: a message from rank %d with tag %d that nobody sent", seed_of_run, w->round,
          receive->status.MPI_SOURCE, receive->status.MPI_TAG);
    const Message* m = &in->expected[i];
    if (receive->exact >= 0) {
      CHECK_EQ(i, receive->exact);
      CHECK_EQ(receive->buffer[m->bytes], 0xEE);
    }
    check_status(&receive->status, m->from, m->tag, m->bytes, MPI_BYTE);
    CHECK_PATTERN(receive->buffer, (size_t)m->bytes, m->seed);
    in->claimed[i] = 1;
    free(receive->buffer);
  }
}

static void receive_all(Worker* w, int round) {
  Random r = random_of(round, world_rank, w->number, 2);
  Inbox in;
  collect(round, w->number, &in);
  for (unsigned i = draw(&r, 200); i > 0; i--) sched_yield();  // what comes meanwhile is unexpected
  post(w, &in, &r);
  for (unsigned i = draw(&r, 4); i > 0; i--) cancel_one(w, &r);
  take_any(w, &in, &r);
  complete(w, &in, &r);
  verify(w, &in);
  free(in.expected), free(in.claimed), free(in.receives);
  wait_for_everybody(w);
}

static void* work(void* argument) {
  Worker* w = argument;
  for (;;) {
    pthread_barrier_wait(&gate);
    if (!go_on) return NULL;
    w->round = current_round;
    (w->receives ? receive_all : send_all)(w, w->round);
  }
}

static void* watch(void* unused) {
  unsigned long long seen = 0;
  for (int quiet = 0; go_on; quiet = seen == moves ? quiet + 1 : 0, seen = moves, sleep(1)) {
    if (quiet < kStalled) continue;
    for (int i = 0; i < 2 * threads_each; i++) {
      Worker* w = &workers[i];
      fprintf(stderr, "soak: seed %u: rank %d %s %d: round %d, %d of %d: %s, peer %d, tag %d, %d bytes\n", seed_of_run,
              world_rank, w->receives ? "receiver" : "sender", w->number, w->round, w->done, w->of, w->what, w->peer,
              w->tag, w->bytes);
    }
    sleep(3);  // for the other ranks to say it too
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return unused;
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 6;
  int provided, size_of_buffer = 32 << 20;
  seed_of_run = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : (unsigned)time(NULL);
  threads_each = argc > 3 ? atoi(argv[3]) : 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  CHECK(threads_each >= 1 && threads_each <= kMaxThreads, "1 to %d threads", kMaxThreads);
  MPI_Bcast(&seed_of_run, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (world_rank == 0)
    printf("soak: seed %u, %d ranks, %d senders and receivers each\n", seed_of_run, world_size, threads_each);
  fflush(stdout);

  for (int t = 0; t < threads_each; t++)
    for (int c = 0; c < kClasses; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t][c]);
  void* buffer = malloc((size_t)size_of_buffer);
  MPI_Buffer_attach(buffer, size_of_buffer);
  pthread_barrier_init(&gate, NULL, (unsigned)(2 * threads_each + 1));
  pthread_t threads[2 * kMaxThreads], watcher;
  for (int i = 0; i < 2 * threads_each; i++) {
    workers[i] = (Worker){.receives = i % 2, .number = i / 2, .what = "begins"};
    CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  CHECK_EQ(pthread_create(&watcher, NULL, watch, NULL), 0);

  double end = MPI_Wtime() + seconds;
  for (int again = 1;; current_round++) {
    if (world_rank == 0) again = MPI_Wtime() < end;
    MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    go_on = again;
    pthread_barrier_wait(&gate);
    if (!again) break;
    pthread_barrier_wait(&gate);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_wait(&gate);
  }
  for (int i = 0; i < 2 * threads_each; i++) pthread_join(threads[i], NULL);
  pthread_join(watcher, NULL);
  MPI_Buffer_detach(&buffer, &size_of_buffer);
  free(buffer);
  for (int t = 0; t < threads_each; t++)
    for (int c = 0; c < kClasses; c++) MPI_Comm_free(&comms[t][c]);
  if (world_rank == 0)
    printf("soak: %d rounds, %lld messages\n", current_round,
           (long long)current_round * world_size * threads_each * kMessages);
  return finish();
}
