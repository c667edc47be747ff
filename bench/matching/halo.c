// The halo exchange of a process whose threads each hold a subdomain: what a storm of messages does to matching.
//   halo [check] <mode> <points> <decomposition>...   XxY for 5 and 9 points, XxYxZ for 7 and 27
//   halo counts <most>                                the messages of all decompositions up to that many each way
//
// Problem: threads post receives and send at the same time, so messages come in an order of which the posted receives know
//          nothing: a search of N of them compares (N + 3) / 4 on average as they drain, where one thread's order needs 1.
// Method:  rank 0 is the process, cut into X x Y x Z subdomains; rank 1 plays all processes around it. A subdomain receives
//          one message from each of its stencil's neighbours that lies outside of the process, on one communicator, with a
//          tag of its own. All receives are posted, rank 1 is ready, rank 0 says go; the time ends with the last receive.
//   threads    a thread for each subdomain, or kMostThreads between which they are dealt, in both processes: in whatever order
//   shuffle    one thread posts, in order, one sends, in a random order, another in each round, by the round's number:
//              few cores interleave little
//   in_order   one thread posts, one sends, in the same order
// Each byte of each message is checked. `check` makes a fixed number of rounds and also holds the depth against what it must
// be with HEDDLE_MATCHING=list: 1 in order; in random order (N + 3) / 4 within 4 standard deviations, where a search of
// the k receives left compares 1 .. k of them, all as likely, so that its variance is (k * k - 1) / 12.
#include "../common/depth.h"
#include "../common/random.h"
#include "../threads/threads.h"
#include "geometry.h"

enum { kReceiver, kSender };
enum { kMostThreads = 64, kWarm = 2, kLeastRounds = 3, kMostRounds = 1000, kCheckRounds = 200 };
static const double kSeconds = 0.05;

struct Message {
  uint64_t words[4];
};

struct Part {  // what one thread receives or sends
  int count, *tags;
  MPI_Request* requests;
  double end;
};

struct Halo {
  const char* mode;
  struct Geometry geometry;
  MPI_Comm comm, control;  // the halo; go
  struct DepthReader reader;
  struct Depth before;  // the rounds that count
  int threads, is_check;
  struct Part parts[kMostThreads];
  struct Message* messages;  // by tag
  pthread_barrier_t barrier;
  int round;  // less than 0: no more
  double began, start, times[kMostRounds];
};

static struct Message message(int tag, int round) {
  struct Message made;
  for (uint64_t i = 0; i < 4; i++) made.words[i] = random_mixed(((uint64_t)tag << 32) + (uint64_t)round * 4 + i + 1);
  return made;
}

static void check_part(const struct Halo* halo, const struct Part* part) {
  for (int i = 0; i < part->count; i++) {
    struct Message expected = message(part->tags[i], halo->round);
    if (memcmp(&halo->messages[part->tags[i]], &expected, sizeof expected) != 0)
      fail("halo: round %d: the message with tag %d brought other bytes", halo->round, part->tags[i]);
  }
}

static int timed_rounds(const struct Halo* halo) { return halo->round + 1 - kWarm; }

static int is_over(const struct Halo* halo) {
  int rounds = timed_rounds(halo);
  if (halo->is_check) return rounds == kCheckRounds;
  return rounds == kMostRounds || (rounds >= kLeastRounds && bench_now() - halo->began >= kSeconds);
}

static void end_round(struct Halo* halo) {
  double end = 0;
  for (int t = 0; t < halo->threads; t++)
    if (halo->parts[t].end > end) end = halo->parts[t].end;
  if (timed_rounds(halo) > 0) halo->times[timed_rounds(halo) - 1] = end - halo->start;
  if (timed_rounds(halo) == 0) {
    halo->began = bench_now();
    halo->before = depth_read(&halo->reader, kOfComm);
  }
  halo->round = is_over(halo) ? -timed_rounds(halo) : halo->round + 1;
}

// The sender is ready; the time begins.
static void say_go(struct Halo* halo) {
  MPI_Recv(NULL, 0, MPI_INT, kSender, 0, halo->control, MPI_STATUS_IGNORE);
  halo->start = bench_now();
  MPI_Send(&halo->round, 1, MPI_INT, kSender, 0, halo->control);
}

static void receive(struct Halo* halo, int thread) {
  struct Part* part = &halo->parts[thread];
  while (halo->round >= 0) {
    for (int i = 0; i < part->count; i++)
      MPI_Irecv(&halo->messages[part->tags[i]], sizeof(struct Message), MPI_BYTE, kSender, part->tags[i], halo->comm,
                &part->requests[i]);
    pthread_barrier_wait(&halo->barrier);
    if (thread == 0) say_go(halo);
    MPI_Waitall(part->count, part->requests, MPI_STATUSES_IGNORE);
    part->end = bench_now();
    check_part(halo, part);
    pthread_barrier_wait(&halo->barrier);
    if (thread == 0) end_round(halo);
    pthread_barrier_wait(&halo->barrier);
  }
  if (thread == 0) say_go(halo);
}

static void send(struct Halo* halo, int thread) {
  struct Part* part = &halo->parts[thread];
  for (int round = 0;; round++) {
    for (int i = 0; i < part->count; i++) halo->messages[part->tags[i]] = message(part->tags[i], round);
    uint64_t state = (uint64_t)round << 32;
    if (strcmp(halo->mode, "shuffle") == 0) random_shuffle(&state, part->tags, part->count);
    pthread_barrier_wait(&halo->barrier);
    if (thread == 0)
      MPI_Sendrecv(NULL, 0, MPI_INT, kReceiver, 0, &halo->round, 1, MPI_INT, kReceiver, 0, halo->control,
                   MPI_STATUS_IGNORE);
    pthread_barrier_wait(&halo->barrier);
    if (halo->round < 0) return;
    for (int i = 0; i < part->count; i++)
      MPI_Isend(&halo->messages[part->tags[i]], sizeof(struct Message), MPI_BYTE, kReceiver, part->tags[i], halo->comm,
                &part->requests[i]);
    MPI_Waitall(part->count, part->requests, MPI_STATUSES_IGNORE);
  }
}

static void run_thread(void* context, int thread) {
  if (world.rank == kReceiver)
    receive(context, thread);
  else
    send(context, thread);
}

// The messages of subdomain s go to thread s modulo the number of threads, in the order of subdomains.
static void deal(struct Halo* halo) {
  int tag = 0, subdomains = subdomains_of(&halo->geometry);
  for (int t = 0; t < halo->threads; t++) {
    halo->parts[t] = (struct Part){0};
    halo->parts[t].tags = malloc(sizeof(int) * (size_t)halo->geometry.messages);
    halo->parts[t].requests = malloc(sizeof(MPI_Request) * (size_t)halo->geometry.messages);
  }
  for (int s = 0; s < subdomains; s++) {
    struct Part* part = &halo->parts[s % halo->threads];
    for (int left = messages_of(&halo->geometry, s); left > 0; left--) part->tags[part->count++] = tag++;
  }
}

// Of the list.
static void check_depth(const struct Halo* halo, double depth) {
  double n = halo->geometry.messages, off = depth - (n + 3) / 4, variance = 0;
  for (double k = 1; k <= n; k++) variance += (k * k - 1) / 12 / (n * n) / kCheckRounds;
  if (depth < 1 || depth > (n + 1) / 2) fail("halo: the mean depth is %g, not between 1 and %g", depth, (n + 1) / 2);
  if (strcmp(halo->mode, "in_order") == 0 && depth != 1) fail("halo: in order the mean depth is %g, not 1", depth);
  if (strcmp(halo->mode, "shuffle") == 0 && off * off > 16 * variance)
    fail("halo: the mean depth is %g, not %g with a variance of %g", depth, (n + 3) / 4, variance);
}

// All receives are there before the first message, so each message is searched for once.
static double mean_depth(struct Halo* halo) {
  struct Depth depth = depth_since(&halo->reader, kOfComm, &halo->before);
  struct Searches* searches = &depth.queues[kPosted];
  unsigned long messages = (unsigned long)halo->geometry.messages * (unsigned long)-halo->round;
  if (searches->count != messages) fail("halo: %lu searches for %lu messages", searches->count, messages);
  return (double)searches->inspected / (double)searches->count;
}

static void measure(struct Halo* halo) {
  char drain[64], depth[64];
  size_t last = (size_t)geometry_metric("drain", &halo->geometry, halo->mode, drain, sizeof drain);
  geometry_metric("depth", &halo->geometry, halo->mode, depth, sizeof depth);
  if (world.rank == kReceiver) bench_begin(drain, last, "us");

  int subdomains = subdomains_of(&halo->geometry), is_threaded = strcmp(halo->mode, "threads") == 0;
  halo->threads = !is_threaded ? 1 : subdomains < kMostThreads ? subdomains : kMostThreads;
  halo->messages = malloc(sizeof(struct Message) * (size_t)halo->geometry.messages);
  halo->round = 0;
  deal(halo);
  pthread_barrier_init(&halo->barrier, NULL, (unsigned)halo->threads);
  threads_run(halo->threads, run_thread, halo);
  pthread_barrier_destroy(&halo->barrier);

  if (world.rank == kReceiver) {
    bench_result(drain, last, bench_median(halo->times, -halo->round) * 1e6, "us");
    if (!halo->reader.missing[kOfComm]) {
      double mean = mean_depth(halo);
      if (halo->is_check) check_depth(halo, mean);
      bench_result(depth, last, mean, "entries");
    }
  }
  for (int t = 0; t < halo->threads; t++) free(halo->parts[t].tags), free(halo->parts[t].requests);
  free(halo->messages);
}

static int is_mode(const char* word) {
  return strcmp(word, "threads") == 0 || strcmp(word, "shuffle") == 0 || strcmp(word, "in_order") == 0;
}

int main(int argc, char** argv) {
  static struct Halo halo;
  struct Geometry parsed;
  if (argc == 3 && strcmp(argv[1], "counts") == 0) return geometry_table(atoi(argv[2]));
  halo.is_check = argc > 1 && strcmp(argv[1], "check") == 0;
  int first = 1 + halo.is_check, points = argc > first + 1 ? atoi(argv[first + 1]) : 0;
  if (argc < first + 3 || !is_mode(argv[first])) {
    fprintf(stderr, "halo: [check] threads|shuffle|in_order 5|7|9|27 <XxYxZ>..., or counts <most>\n");
    return 2;
  }
  for (int i = first + 2; i < argc; i++)
    if (!geometry_parse(points, argv[i], &parsed)) return 2;
  halo.mode = argv[first];
  world_init(&argc, &argv, "threads");
  if (world.size != 2) fail("halo: needs 2 ranks, has %d", world.size);
  MPI_Comm_dup(MPI_COMM_WORLD, &halo.comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &halo.control);
  if (world.rank == kReceiver) {
    depth_open(&halo.reader, halo.comm);
    depth_tell_missing(&halo.reader, kOfComm, "halo");
    if (halo.is_check && halo.reader.missing[kOfComm]) fail("halo: there is no depth to check");
  }
  for (int i = first + 2; i < argc; i++) {
    geometry_parse(points, argv[i], &halo.geometry);
    measure(&halo);
  }
  if (world.rank == kReceiver) depth_close(&halo.reader);
  MPI_Comm_free(&halo.comm);
  MPI_Comm_free(&halo.control);
  MPI_Finalize();
  return 0;
}
