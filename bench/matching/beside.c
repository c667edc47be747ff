// Two threads of a process that both search: one posts receives, one takes in what comes for them, behind queues of D.
//   beside <D>...
//
// Problem: under one lock a message that searches the posted receives and a receive that searches the unexpected messages wait
//          for each other, though they look at different queues (tail queues: match/tail_queue.hpp).
// Method:  rank 1 has D receives outstanding that nothing comes for, and D messages that nobody wants, on one communicator.
//          Its main thread then receives batches of messages of another tag; a second thread waits in MPI_Recv for the last
//          message of all and so takes in what comes. Rank 0 is up to kAhead batches ahead. In each message's way are so a search
//          of D receives and one of D messages, whichever comes first. The time of a message is that of a batch ÷ kBatch, the median.
// Cost:    kSeconds for each D. Three threads that work: on two cores rank 0 has to be through soon, and is while searches are long.
// Checked: the number of each message; the D of both kinds at the end.
#include "../threads/threads.h"

enum { kBatch = 64, kAhead = 4, kFewest = 5, kMost = 100000, kMaxDepth = 8192 };
enum Tag { kData, kCredit, kEnd, kNever, kUnwanted = kNever + kMaxDepth };
static const double kSeconds = 0.3;

static void send_all(MPI_Comm comm, int depth) {
  int more, number = 0;
  for (int i = 0; i < depth; i++) MPI_Send(&i, 1, MPI_INT, 1, kUnwanted + i, comm);
  MPI_Send(NULL, 0, MPI_INT, 1, kCredit, comm);
  for (;;) {
    MPI_Recv(&more, 1, MPI_INT, 1, kCredit, comm, MPI_STATUS_IGNORE);
    if (!more) break;
    for (int i = 0; i < kBatch; i++, number++) MPI_Send(&number, 1, MPI_INT, 1, kData, comm);
  }
  MPI_Send(NULL, 0, MPI_INT, 1, kEnd, comm);
  for (int i = 0; i < depth; i++) MPI_Send(&i, 1, MPI_INT, 1, kNever + i, comm);
}

static void* wait_for_end(void* comm) {
  MPI_Recv(NULL, 0, MPI_INT, 0, kEnd, *(MPI_Comm*)comm, MPI_STATUS_IGNORE);
  return NULL;
}

static void receive_batch(MPI_Comm comm, int* number) {
  int in[kBatch];
  MPI_Request requests[kBatch];
  for (int i = 0; i < kBatch; i++) MPI_Irecv(&in[i], 1, MPI_INT, 0, kData, comm, &requests[i]);
  MPI_Waitall(kBatch, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kBatch; i++, ++*number)
    if (in[i] != *number) fail("beside: message %d came as number %d", in[i], *number);
}

static double receive_batches(MPI_Comm comm) {
  static double times[kMost];
  int more = 1, number = 0, rounds = 0;
  for (int i = 0; i < kAhead; i++) MPI_Send(&more, 1, MPI_INT, 0, kCredit, comm);
  receive_batch(comm, &number);  // warms up
  for (double begin = bench_now(), now = begin; rounds < kFewest || (rounds < kMost && now - begin < kSeconds);
       rounds++) {
    MPI_Send(&more, 1, MPI_INT, 0, kCredit, comm);
    double start = now;
    receive_batch(comm, &number);
    now = bench_now();
    times[rounds] = (now - start) / kBatch * 1e9;
  }
  for (int i = 1; i < kAhead; i++) receive_batch(comm, &number);
  more = 0;
  MPI_Send(&more, 1, MPI_INT, 0, kCredit, comm);
  return bench_median(times, rounds);
}

static void measure(MPI_Comm comm, int depth) {
  static int never[kMaxDepth];
  static MPI_Request requests[kMaxDepth];
  pthread_t taker;
  if (world.rank == 0) return send_all(comm, depth);
  bench_begin("beside", (size_t)depth, "ns");
  for (int i = 0; i < depth; i++) MPI_Irecv(&never[i], 1, MPI_INT, 0, kNever + i, comm, &requests[i]);
  MPI_Recv(NULL, 0, MPI_INT, 0, kCredit, comm, MPI_STATUS_IGNORE);  // all that nobody wants are here
  if (pthread_create(&taker, NULL, wait_for_end, &comm) != 0) fail("beside: no thread");
  double ns = receive_batches(comm);
  pthread_join(taker, NULL);
  MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
  for (int i = 0, in; i < depth; i++) {
    MPI_Recv(&in, 1, MPI_INT, 0, kUnwanted + i, comm, MPI_STATUS_IGNORE);
    if (in != i || never[i] != i) fail("beside: %d and %d came instead of %d", in, never[i], i);
  }
  bench_result("beside", (size_t)depth, ns, "ns");
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  world_init(&argc, &argv, "threads");
  if (world.size != 2) fail("beside: 2 ranks, not %d", world.size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 1; i < argc; i++) {
    int depth = atoi(argv[i]);
    if (depth < 1 || depth > kMaxDepth) fail("beside: D is 1 to %d, not %s", kMaxDepth, argv[i]);
    measure(comm, depth);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
