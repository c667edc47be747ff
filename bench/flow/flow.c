// What flow control costs, whom it stops and what it keeps, in five workloads.
//   <program> MESSAGES BYTES WORKLOAD...
//
//   pairs  ranks 2i and 2i + 1 send each other MESSAGES in turns: nobody is overloaded
//   flood  all send MESSAGES to rank 0, as fast as they can; it takes what comes, from any source
//   turns  the same, but rank 0 takes one of each source in turn: what it waits for may stand behind what it cannot keep
//   last   the same, but first rank 0 receives what each of them sends last
//   slow   rank 1 sends MESSAGES to rank 0, which takes one each millisecond; the others exchange MESSAGES as in `pairs`, and
//          it is they who are timed: they have nothing to do with the slow one
//
// Results: the time; the peak memory of rank 0, which is what it has grown by meanwhile at most; what the layer has counted,
//          of all ranks together. A layer that a workload stops for ever ends by the deadline of whoever has started it.
// Checked: all of every message, which tells its source and its number.
// The sleep of the slow one stands for computation. It takes no core, so that nobody else waits for that.
#include "../common/bench.h"
#include "../common/memory.h"
#include "layer.h"

enum { kData = 1, kLast, kGo, kHere, kTime, kCounts };  // tags

static int messages, rank, ranks;
static size_t bytes;
static uint64_t* data;

static uint64_t word_of(int source, int number, size_t at) {
  return (uint64_t)source << 48 ^ (uint64_t)number << 16 ^ at * 0x9e3779b97f4a7c15u;
}

static void send_one(int to, int number) {
  for (size_t at = 0; at < bytes / 8; ++at) data[at] = word_of(rank, number, at);
  flow_send(to, kData, data, bytes);
}

static void verify(int from, int number) {
  for (size_t at = 0; at < bytes / 8; ++at) {
    if (data[at] != word_of(from, number, at)) flow_fail("is not what was sent", from, number);
  }
}

static void receive_one(int from, int number) {
  flow_receive(from, kData, data, bytes);
  verify(from, number);
}

static void send_go(int to) { flow_send(to, kGo, &rank, sizeof rank); }
static void await_go(void) {
  int from;
  flow_receive(0, kGo, &from, sizeof from);
}

// Rank 0 hears of all that they are here, and then they of it. It asks one after the other: what stands between the workloads
// shall not overload it.
static void meet(void) {
  for (int other = 1, here; other < ranks && rank == 0; ++other) {
    send_go(other);
    flow_receive(other, kHere, &here, sizeof here);
  }
  if (rank != 0) {
    await_go();
    flow_send(0, kHere, &rank, sizeof rank);
    await_go();
  }
  for (int other = 1; other < ranks && rank == 0; ++other) send_go(other);
}

static void exchange(int partner) {
  for (int i = 0; i < messages; ++i) {
    if (rank < partner) send_one(partner, i);
    receive_one(partner, i);
    if (rank > partner) send_one(partner, i);
  }
}

// The longest of what ranks first, first + 2, … took; for rank `first` alone.
static double slowest(double mine, int first) {
  if (rank != first && (rank - first) % 2 == 0) flow_send(first, kTime, &mine, sizeof mine);
  for (int other = first + 2; other < ranks && rank == first; other += 2) {
    double theirs;
    flow_receive(other, kTime, &theirs, sizeof theirs);
    if (theirs > mine) mine = theirs;
  }
  return mine;
}

static double pairs(void) {
  const double begin = bench_now();
  exchange(rank ^ 1);
  return slowest(bench_now() - begin, 0);
}

static void send_all(void) {
  for (int i = 0; i < messages; ++i) send_one(0, i);
}

static void receive_in_turn(void) {
  for (int i = 0; i < messages; ++i) {
    for (int source = 1; source < ranks; ++source) receive_one(source, i);
  }
}

static void receive_any(void) {
  int* const next = calloc((size_t)ranks, sizeof *next);
  for (int left = messages * (ranks - 1); left > 0; --left) {
    const int source = flow_receive(kFlowAny, kData, data, bytes);
    verify(source, next[source]++);
  }
  free(next);
}

static double flood(void) {
  const double begin = bench_now();
  if (rank == 0) {
    receive_any();
  } else {
    send_all();
  }
  return bench_now() - begin;
}

static double turns(void) {
  const double begin = bench_now();
  if (rank == 0) {
    receive_in_turn();
  } else {
    send_all();
  }
  return bench_now() - begin;
}

static double last(void) {
  const double begin = bench_now();
  if (rank == 0) {
    for (int source = 1, theirs; source < ranks; ++source) flow_receive(source, kLast, &theirs, sizeof theirs);
    receive_in_turn();
  } else {
    send_all();
    flow_send(0, kLast, &rank, sizeof rank);
  }
  return bench_now() - begin;
}

static double slow(void) {
  const double begin = bench_now();
  if (rank == 0) {
    for (int i = 0; i < messages; ++i) {
      nanosleep(&(struct timespec){0, 1000000}, NULL);
      receive_one(1, i);
    }
    double time;
    flow_receive(2, kTime, &time, sizeof time);
    return time;
  }
  if (rank == 1) {
    for (int i = 0; i < messages; ++i) send_one(0, i);
    return 0;
  }
  exchange(rank ^ 1);
  const double time = slowest(bench_now() - begin, 2);
  if (rank == 2) flow_send(0, kTime, &time, sizeof time);
  return time;
}

static const struct Workload {
  const char* name;
  double (*run)(void);
  int fewest;    // ranks
  int in_pairs;  // so many of them that it comes out even
} kWorkloads[] = {
    {"pairs", pairs, 2, 1}, {"flood", flood, 2, 0}, {"turns", turns, 2, 0}, {"slow", slow, 4, 1}, {"last", last, 2, 0}};

static void result(const char* workload, const char* what, double value, const char* unit) {
  char metric[128];
  snprintf(metric, sizeof metric, "flow-%s-%s-%s", flow_name, workload, what);
  bench_result(metric, (size_t)ranks, value, unit);
}

static void run(const struct Workload* workload) {
  char metric[128];
  snprintf(metric, sizeof metric, "flow-%s-%s-time", flow_name, workload->name);
  if (rank == 0) bench_begin(metric, (size_t)ranks, "s");
  uint64_t before[kFlowCounts] = {0}, counts[kFlowCounts] = {0};
  meet();
  flow_counts(before);
  const long resident = memory_begin();
  const double time = workload->run();
  const long most = memory_kib("VmHWM");
  if (rank != 0) await_go();  // by then it is over for all, and what each has counted is all
  const int counted = flow_counts(counts);
  for (int i = 0; i < kFlowCounts; ++i) counts[i] -= before[i];
  if (rank != 0) return flow_send(0, kCounts, counts, sizeof counts);
  for (int other = 1; other < ranks; ++other) {
    uint64_t theirs[kFlowCounts];
    send_go(other);
    flow_receive(other, kCounts, theirs, sizeof theirs);
    for (int i = 0; i < kFlowCounts; ++i) counts[i] += theirs[i];
  }
  result(workload->name, "time", time, "s");
  result(workload->name, "memory", (double)(most - resident) / 1024, "MiB");
  for (int i = 0; i < kFlowCounts && counted && flow_count_names[i]; ++i) {
    result(workload->name, flow_count_names[i], (double)counts[i], "msg");
  }
}

static const struct Workload* find(const char* name) {
  for (size_t i = 0; i < sizeof kWorkloads / sizeof kWorkloads[0]; ++i) {
    if (!strcmp(kWorkloads[i].name, name)) return &kWorkloads[i];
  }
  return NULL;
}

int main(int argc, char** argv) {
  bench_pin();
  messages = argc > 3 ? atoi(argv[1]) : 0;
  bytes = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
  if (messages < 1 || bytes < 8 || bytes % 8 != 0) {
    fprintf(stderr, "usage: flow MESSAGES BYTES pairs|flood|turns|slow|last...; BYTES is a multiple of 8\n");
    return 1;
  }
  const size_t of_counts = sizeof(uint64_t[kFlowCounts]), most = bytes > of_counts ? bytes : of_counts;
  data = malloc(most);
  flow_open(&argc, &argv, most);
  rank = flow_rank();
  ranks = flow_ranks();
  for (int i = 3; i < argc; ++i) {
    const struct Workload* const workload = find(argv[i]);
    if (workload == NULL || ranks < workload->fewest || (workload->in_pairs && ranks % 2 != 0)) {
      fprintf(stderr, "flow: no workload %s for %d ranks\n", argv[i], ranks);
      return 1;
    }
    run(workload);
  }
  flow_close();
  free(data);
  return 0;
}
