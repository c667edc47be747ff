/* Every procedure with an MPI_Count form does the same in both: here each _c form moves data that is then compared.
 *
 * Runs with any number of ranks. Everyone sends to the next rank and receives from the one before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, next, before, wrong = 0;
static const MPI_Comm world = MPI_COMM_WORLD;

static void expect(int good, const char* what, int line) {
  if (good) return;
  fprintf(stderr, "rank %d, line %d: %s\n", rank, line, what);
  ++wrong;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define OK(call) expect((call) == MPI_SUCCESS, #call, __LINE__)

enum { kMax = 64 };
static long out[kMax], in[kMax];

/* What rank r sends: r * 1000, r * 1000 + 1, ... */
static long value(int r, int i) { return 1000L * r + i; }
static void fill(void) {
  int i;
  for (i = 0; i < kMax; ++i) {
    out[i] = value(rank, i);
    in[i] = -1;
  }
}
static void expect_from(const long* data, int n, int r, int first, int line) {
  int i;
  for (i = 0; i < n; ++i) {
    if (data[i] == value(r, first + i)) continue;
    fprintf(stderr, "rank %d, line %d: element %d is %ld, not %ld\n", rank, line, i, data[i], value(r, first + i));
    ++wrong;
    return;
  }
}
#define FROM(data, n, r, first) expect_from(data, n, r, first, __LINE__)

static void finish_receive(MPI_Request* request, int line) {
  MPI_Status status;
  MPI_Count n = -1;
  expect(MPI_Wait(request, &status) == MPI_SUCCESS, "MPI_Wait", line);
  expect(MPI_Get_count_c(&status, MPI_LONG, &n) == MPI_SUCCESS && n == 5, "MPI_Get_count_c", line);
  expect(status.MPI_SOURCE == before, "MPI_SOURCE", line);
  expect_from(in, 5, before, 0, line);
  fill();
}

static void sends(void) {
  MPI_Request request, sent;
  MPI_Status status;
  void* buffer = malloc(1 << 16);
  MPI_Count attached = 0;
  OK(MPI_Buffer_attach_c(buffer, 1 << 16));
  fill();
#define RECEIVE() OK(MPI_Irecv_c(in, 5, MPI_LONG, before, 1, world, &request))
#define CHECK() finish_receive(&request, __LINE__)
#define BLOCKING(call) (RECEIVE(), OK(call), CHECK())
  BLOCKING(MPI_Send_c(out, 5, MPI_LONG, next, 1, world));
  BLOCKING(MPI_Bsend_c(out, 5, MPI_LONG, next, 1, world));
  RECEIVE();
  OK(MPI_Barrier(world)); /* the ready modes need the receive to be there */
  OK(MPI_Rsend_c(out, 5, MPI_LONG, next, 1, world));
  CHECK();
#define NONBLOCKING(call) (RECEIVE(), OK(MPI_Barrier(world)), OK(call), CHECK(), OK(MPI_Wait(&sent, MPI_STATUS_IGNORE)))
  NONBLOCKING(MPI_Isend_c(out, 5, MPI_LONG, next, 1, world, &sent));
  NONBLOCKING(MPI_Ibsend_c(out, 5, MPI_LONG, next, 1, world, &sent));
  NONBLOCKING(MPI_Issend_c(out, 5, MPI_LONG, next, 1, world, &sent));
  NONBLOCKING(MPI_Irsend_c(out, 5, MPI_LONG, next, 1, world, &sent));
#define PERSISTENT(call) \
  (OK(call), NONBLOCKING(MPI_Start(&sent)), NONBLOCKING(MPI_Start(&sent)), OK(MPI_Request_free(&sent)))
  PERSISTENT(MPI_Send_init_c(out, 5, MPI_LONG, next, 1, world, &sent));
  PERSISTENT(MPI_Bsend_init_c(out, 5, MPI_LONG, next, 1, world, &sent));
  PERSISTENT(MPI_Ssend_init_c(out, 5, MPI_LONG, next, 1, world, &sent));
  PERSISTENT(MPI_Rsend_init_c(out, 5, MPI_LONG, next, 1, world, &sent));

  /* A synchronous send needs the other side to receive: take turns through MPI_PROC_NULL where a rank is alone. */
  if (size > 1) {
    if (rank % 2 == 0) {
      OK(MPI_Ssend_c(out, 5, MPI_LONG, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 2, world));
    } else {
      OK(MPI_Recv_c(in, 5, MPI_LONG, rank - 1, 2, world, &status));
      FROM(in, 5, rank - 1, 0);
    }
  } else {
    OK(MPI_Ssend_c(out, 5, MPI_LONG, MPI_PROC_NULL, 2, world));
    OK(MPI_Recv_c(in, 5, MPI_LONG, MPI_PROC_NULL, 2, world, &status));
  }
  fill();

  OK(MPI_Recv_init_c(in, 5, MPI_LONG, before, 3, world, &request));
  OK(MPI_Start(&request));
  OK(MPI_Send_c(out, 5, MPI_LONG, next, 3, world));
  OK(MPI_Wait(&request, &status));
  FROM(in, 5, before, 0);
  OK(MPI_Request_free(&request));
  fill();

  OK(MPI_Sendrecv_c(out, 5, MPI_LONG, next, 4, in, 5, MPI_LONG, before, 4, world, &status));
  FROM(in, 5, before, 0);
  memcpy(in, out, sizeof in);
  OK(MPI_Sendrecv_replace_c(in, 5, MPI_LONG, next, 5, before, 5, world, &status));
  FROM(in, 5, before, 0);
  fill();
  OK(MPI_Isendrecv_c(out, 5, MPI_LONG, next, 6, in, 5, MPI_LONG, before, 6, world, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  FROM(in, 5, before, 0);
  memcpy(in, out, sizeof in);
  OK(MPI_Isendrecv_replace_c(in, 5, MPI_LONG, next, 7, before, 7, world, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  FROM(in, 5, before, 0);
  fill();

  MPI_Message message;
  OK(MPI_Isend_c(out, 5, MPI_LONG, next, 8, world, &sent));
  OK(MPI_Mprobe(before, 8, world, &message, &status));
  OK(MPI_Mrecv_c(in, 5, MPI_LONG, &message, &status));
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  EXPECT(message == MPI_MESSAGE_NULL);
  FROM(in, 5, before, 0);
  fill();
  OK(MPI_Isend_c(out, 5, MPI_LONG, next, 9, world, &sent));
  OK(MPI_Mprobe(before, 9, world, &message, &status));
  OK(MPI_Imrecv_c(in, 5, MPI_LONG, &message, &request));
  CHECK();
  OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));

  void* back = NULL;
  OK(MPI_Buffer_detach_c(&back, &attached));
  EXPECT(back == buffer && attached == 1 << 16);
  OK(MPI_Comm_attach_buffer_c(world, buffer, 1 << 16));
  attached = 0;
  OK(MPI_Comm_detach_buffer_c(world, &back, &attached));
  EXPECT(back == buffer && attached == 1 << 16);
  MPI_Session session;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_attach_buffer_c(session, buffer, 1 << 16));
  attached = 0;
  OK(MPI_Session_detach_buffer_c(session, &back, &attached));
  EXPECT(back == buffer && attached == 1 << 16);
  OK(MPI_Session_finalize(&session));
  free(buffer);
}

/* EACH((Bcast, bcast, arguments...), check): each collective in its three forms, with the same check. */
#define BLOCKING_FORM(name, nonblocking_name, ...) MPI_##name##_c(__VA_ARGS__)
#define NONBLOCKING_FORM(name, nonblocking_name, ...) MPI_I##nonblocking_name##_c(__VA_ARGS__, request)
#define PERSISTENT_FORM(name, nonblocking_name, ...) MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, request)
#define EACH(call, check)                     \
  do {                                        \
    fill();                                   \
    OK(BLOCKING_FORM call);                   \
    check;                                    \
    fill();                                   \
    OK(NONBLOCKING_FORM call);                \
    OK(MPI_Wait(request, MPI_STATUS_IGNORE)); \
    check;                                    \
    fill();                                   \
    OK(PERSISTENT_FORM call);                 \
    OK(MPI_Start(request));                   \
    OK(MPI_Wait(request, MPI_STATUS_IGNORE)); \
    OK(MPI_Request_free(request));            \
    check;                                    \
  } while (0)

static void collectives(void) {
  int root = size - 1, r;
  MPI_Request one, *request = &one;
  MPI_Count* counts = malloc(sizeof(MPI_Count) * (size_t)size);
  MPI_Aint* displs = malloc(sizeof(MPI_Aint) * (size_t)size);
  MPI_Aint* bytes = malloc(sizeof(MPI_Aint) * (size_t)size);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)size);
  for (r = 0; r < size; ++r) {
    counts[r] = 2;
    displs[r] = 2 * r;
    bytes[r] = 2 * r * (MPI_Aint)sizeof(long);
    types[r] = MPI_LONG;
  }

  EACH((Bcast, bcast, rank == root ? out : in, 3, MPI_LONG, root, world), FROM(rank == root ? out : in, 3, root, 0));

#define GATHERED \
  for (r = 0; r < size; ++r) FROM(in + 2 * r, 2, r, 0)
  EACH((Gather, gather, out, 2, MPI_LONG, in, 2, MPI_LONG, root, world), if (rank == root) GATHERED);
  EACH((Gatherv, gatherv, out, 2, MPI_LONG, in, counts, displs, MPI_LONG, root, world), if (rank == root) GATHERED);
  EACH((Allgather, allgather, out, 2, MPI_LONG, in, 2, MPI_LONG, world), GATHERED);
  EACH((Allgatherv, allgatherv, out, 2, MPI_LONG, in, counts, displs, MPI_LONG, world), GATHERED);

  EACH((Scatter, scatter, out, 2, MPI_LONG, in, 2, MPI_LONG, root, world), FROM(in, 2, root, 2 * rank));
  EACH((Scatterv, scatterv, out, counts, displs, MPI_LONG, in, 2, MPI_LONG, root, world), FROM(in, 2, root, 2 * rank));

#define EXCHANGED \
  for (r = 0; r < size; ++r) FROM(in + 2 * r, 2, r, 2 * rank)
  EACH((Alltoall, alltoall, out, 2, MPI_LONG, in, 2, MPI_LONG, world), EXCHANGED);
  EACH((Alltoallv, alltoallv, out, counts, displs, MPI_LONG, in, counts, displs, MPI_LONG, world), EXCHANGED);
  EACH((Alltoallw, alltoallw, out, counts, bytes, types, in, counts, bytes, types, world), EXCHANGED);

  /* Sums over ranks a..b of value(r, i). */
#define SUM(a, b, i) (1000L * ((b) * ((b) + 1) / 2 - ((a)-1) * (a) / 2) + ((b) - (a) + 1L) * (i))
#define SUMMED(a, b, first) EXPECT(in[0] == SUM(a, b, first) && in[1] == SUM(a, b, (first) + 1))
  EACH((Reduce, reduce, out, in, 2, MPI_LONG, MPI_SUM, root, world), if (rank == root) SUMMED(0, size - 1, 0));
  EACH((Allreduce, allreduce, out, in, 2, MPI_LONG, MPI_SUM, world), SUMMED(0, size - 1, 0));
  EACH((Reduce_scatter, reduce_scatter, out, in, counts, MPI_LONG, MPI_SUM, world), SUMMED(0, size - 1, 2 * rank));
  EACH((Reduce_scatter_block, reduce_scatter_block, out, in, 2, MPI_LONG, MPI_SUM, world),
       SUMMED(0, size - 1, 2 * rank));
  EACH((Scan, scan, out, in, 2, MPI_LONG, MPI_SUM, world), SUMMED(0, rank, 0));
  EACH((Exscan, exscan, out, in, 2, MPI_LONG, MPI_SUM, world), if (rank > 0) SUMMED(0, rank - 1, 0));
  free(counts);
  free(displs);
  free(bytes);
  free(types);
}

/* Round a ring: block 0 comes from the rank before, what that one sends to the next rank is its block 1. */
static void neighbors(void) {
  int one_period = 1;
  MPI_Comm ring;
  MPI_Request one, *request = &one;
  MPI_Count counts[2] = {2, 2};
  MPI_Aint displs[2] = {0, 2}, bytes[2] = {0, 2 * (MPI_Aint)sizeof(long)};
  MPI_Datatype types[2] = {MPI_LONG, MPI_LONG};
  OK(MPI_Cart_create(world, 1, &size, &one_period, 0, &ring));
#define BOTH_SENT(first, second) FROM(in, 2, before, first), FROM(in + 2, 2, next, second), EXPECT(in[4] == -1)
  EACH((Neighbor_allgather, neighbor_allgather, out, 2, MPI_LONG, in, 2, MPI_LONG, ring), BOTH_SENT(0, 0));
  EACH((Neighbor_allgatherv, neighbor_allgatherv, out, 2, MPI_LONG, in, counts, displs, MPI_LONG, ring),
       BOTH_SENT(0, 0));
  EACH((Neighbor_alltoall, neighbor_alltoall, out, 2, MPI_LONG, in, 2, MPI_LONG, ring), BOTH_SENT(2, 0));
  EACH((Neighbor_alltoallv, neighbor_alltoallv, out, counts, displs, MPI_LONG, in, counts, displs, MPI_LONG, ring),
       BOTH_SENT(2, 0));
  EACH((Neighbor_alltoallw, neighbor_alltoallw, out, counts, bytes, types, in, counts, bytes, types, ring),
       BOTH_SENT(2, 0));
  OK(MPI_Comm_free(&ring));
}

static void largest(void* invec, void* inoutvec, MPI_Count* len, MPI_Datatype* type) {
  long *a = invec, *b = inoutvec;
  MPI_Count i;
  (void)type;
  for (i = 0; i < *len; ++i) b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void operations(void) {
  MPI_Op op;
  OK(MPI_Op_create_c(largest, 1, &op));
  fill();
  OK(MPI_Allreduce_c(out, in, 4, MPI_LONG, op, world));
  FROM(in, 4, size - 1, 0);
  fill();
  OK(MPI_Reduce_local_c(out, in, 4, MPI_LONG, op));
  FROM(in, 4, rank, 0);
  OK(MPI_Op_free(&op));
}

/* Sends one element of the type to oneself, as longs. */
static void expect_layout(MPI_Datatype type, int n, const int* where, int line) {
  MPI_Request request;
  MPI_Count count = 0, lb, extent, total = 0;
  int i;
  expect(MPI_Type_commit(&type) == MPI_SUCCESS, "MPI_Type_commit", line);
  fill();
  OK(MPI_Irecv_c(in, kMax, MPI_LONG, rank, 10, world, &request));
  OK(MPI_Send_c(out, 1, type, rank, 10, world));
  MPI_Status status;
  OK(MPI_Wait(&request, &status));
  OK(MPI_Get_elements_c(&status, MPI_LONG, &count));
  expect(count == n, "number of elements", line);
  for (i = 0; i < n; ++i) expect(in[i] == out[where[i]], "element", line);
  OK(MPI_Type_size_c(type, &total));
  expect(total == n * (MPI_Count)sizeof(long), "MPI_Type_size_c", line);
  OK(MPI_Type_get_true_extent_c(type, &lb, &extent));
  expect(lb == where[0] * (MPI_Count)sizeof(long), "true lower bound", line);
  expect(extent == (where[n - 1] - where[0] + 1) * (MPI_Count)sizeof(long), "true extent", line);
  OK(MPI_Type_free(&type));
}

static void types(void) {
  const MPI_Count word = sizeof(long);
  MPI_Datatype type;
  MPI_Count lengths[2] = {2, 1}, elements[2] = {1, 5}, bytes[2], lb, extent;
  MPI_Datatype both[2] = {MPI_LONG, MPI_LONG};
  bytes[0] = 1 * word;
  bytes[1] = 5 * word;
  OK(MPI_Type_contiguous_c(3, MPI_LONG, &type));
  expect_layout(type, 3, (int[]){0, 1, 2}, __LINE__);
  OK(MPI_Type_vector_c(2, 2, 4, MPI_LONG, &type));
  expect_layout(type, 4, (int[]){0, 1, 4, 5}, __LINE__);
  OK(MPI_Type_create_hvector_c(2, 1, 3 * word, MPI_LONG, &type));
  expect_layout(type, 2, (int[]){0, 3}, __LINE__);
  OK(MPI_Type_indexed_c(2, lengths, elements, MPI_LONG, &type));
  expect_layout(type, 3, (int[]){1, 2, 5}, __LINE__);
  OK(MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_LONG, &type));
  expect_layout(type, 3, (int[]){1, 2, 5}, __LINE__);
  OK(MPI_Type_create_struct_c(2, lengths, bytes, both, &type));
  expect_layout(type, 3, (int[]){1, 2, 5}, __LINE__);
  lengths[0] = 9;
  OK(MPI_Type_create_darray_c(2, 1, 1, lengths, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2}, (int[]){2}, MPI_ORDER_C,
                              MPI_LONG, &type));
  expect_layout(type, 4, (int[]){2, 3, 6, 7}, __LINE__);
  OK(MPI_Type_create_resized_c(MPI_LONG, -word, 4 * word, &type));
  OK(MPI_Type_get_extent_c(type, &lb, &extent));
  EXPECT(lb == -word && extent == 4 * word);
  OK(MPI_Type_free(&type));
}

static void packing(void) {
  char packed[256];
  MPI_Count bound = 0, position = 0, used;
  fill();
  OK(MPI_Pack_size_c(5, MPI_LONG, world, &bound));
  EXPECT(bound >= 5 * (MPI_Count)sizeof(long) && bound <= (MPI_Count)sizeof packed);
  OK(MPI_Pack_c(out, 2, MPI_LONG, packed, sizeof packed, &position, world));
  OK(MPI_Pack_c(out + 2, 3, MPI_LONG, packed, sizeof packed, &position, world));
  used = position;
  position = 0;
  OK(MPI_Unpack_c(packed, used, &position, in, 5, MPI_LONG, world));
  EXPECT(position == used);
  FROM(in, 5, rank, 0);
}

static void statuses(void) {
  MPI_Status status;
  MPI_Count n = 0;
  memset(&status, 0, sizeof status);
  OK(MPI_Status_set_elements_c(&status, MPI_LONG, (MPI_Count)3 << 31));
  OK(MPI_Get_count_c(&status, MPI_LONG, &n));
  EXPECT(n == (MPI_Count)3 << 31);
  OK(MPI_Get_elements_c(&status, MPI_LONG, &n));
  EXPECT(n == (MPI_Count)3 << 31);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  sends();
  collectives();
  neighbors();
  operations();
  types();
  packing();
  statuses();
  int all = 0;
  MPI_Allreduce_c(&wrong, &all, 1, MPI_INT, MPI_SUM, world);
  MPI_Finalize();
  if (rank == 0) puts(all == 0 ? "every count form agrees" : "FAILED");
  return all != 0;
}
