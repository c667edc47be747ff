// HEDDLE_CHECK_COLLECTIVES=on: ranks that call different collectives, or one with different roots, operations, lengths or types,
// all get an error with a sentence that says which ranks differ and in what, and the next collective is a good one.
//   coll_check           every kind of difference, in each form
//   coll_check fatal     one, of which the job ends
#include "coll.h"

static int odd;      // the rank that is wrong
static int outcome;  // this rank's code
static double in[64], out[64];

#undef RUN
#define RUN(Blocking, nonblocking_name, ...)                        \
  do {                                                              \
    MPI_Request request_ = MPI_REQUEST_NULL;                        \
    if (form == kNonblocking) {                                     \
      CHECK_EQ(MPI_I##nonblocking_name(__VA_ARGS__, &request_), 0); \
      outcome = MPI_Wait(&request_, MPI_STATUS_IGNORE);             \
    } else if (form == kPersistent) {                               \
      MPI_##Blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
      for (int run_ = 0; run_ < 2; run_++) {                        \
        MPI_Start(&request_);                                       \
        outcome = MPI_Wait(&request_, MPI_STATUS_IGNORE);           \
      }                                                             \
      MPI_Request_free(&request_);                                  \
    } else {                                                        \
      outcome = MPI_##Blocking(__VA_ARGS__);                        \
    }                                                               \
  } while (0)

// All ranks, with that class and words in the sentence; then a collective that is right.
static void expect(int class, const char* words) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(outcome, text, &length);
  CHECK(error_class(outcome) == class && strstr(text, words) != NULL, "class %d: %s; expected %d: %s",
        error_class(outcome), text, class, words);
  double one = 1, sum = 0;
  RUN(Allreduce, allreduce, &one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  CHECK_EQ(outcome, MPI_SUCCESS);
  CHECK(sum == size, "sum %g", sum);
}

static const char* words(const char* format, int a, int b) {
  static char text[200];
  snprintf(text, sizeof text, format, a, b);
  return text;
}

static void differences(void) {
  const int wrong = rank == odd;
  RUN(Bcast, bcast, in, 8, MPI_DOUBLE, wrong ? 1 : 0, comm);
  expect(MPI_ERR_ROOT, words("rank %d calls MPI_Bcast with root %d, rank 0 with root 0", odd, 1));
  RUN(Gather, gather, in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, wrong ? 1 : 0, comm);
  expect(MPI_ERR_ROOT, words("rank %d calls MPI_Gather with root %d", odd, 1));
  RUN(Reduce, reduce, in, out, 4, MPI_DOUBLE, wrong ? MPI_MAX : MPI_SUM, 0, comm);
  expect(MPI_ERR_OP, words("rank %d calls MPI_Reduce with MPI_MAX, rank %d with MPI_SUM", odd, 0));
  RUN(Scan, scan, in, out, 4, MPI_DOUBLE, wrong ? MPI_MAX : MPI_SUM, comm);
  expect(MPI_ERR_OP, words("rank %d calls MPI_Scan", odd, 0));
  RUN(Allreduce, allreduce, in, out, wrong ? 5 : 4, MPI_DOUBLE, MPI_SUM, comm);
  expect(MPI_ERR_NOT_SAME, words("rank %d has 40 bytes where rank %d has 32", odd, 0));
  RUN(Allgather, allgather, in, wrong ? 2 : 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
  expect(MPI_ERR_NOT_SAME, words("rank %d has 16 bytes where rank %d has 8", odd, 0));
  RUN(Scatter, scatter, in, 1, MPI_DOUBLE, out, wrong ? 2 : 1, MPI_DOUBLE, 0, comm);
  expect(MPI_ERR_NOT_SAME, words("rank %d has 16 bytes where rank %d has 8", odd, 0));
  RUN(Bcast, bcast, in, 2, wrong ? MPI_INT64_T : MPI_DOUBLE, 0, comm);
  expect(MPI_ERR_TYPE, words("rank %d has data of MPI_INT64_T where rank %d has MPI_DOUBLE", odd, 0));
  if (wrong) {
    RUN(Barrier, barrier, comm);
  } else {
    RUN(Bcast, bcast, in, 1, MPI_DOUBLE, 0, comm);
  }
  expect(MPI_ERR_NOT_SAME, words("rank %d calls MPI_Barrier where rank %d calls MPI_Bcast", odd, 0));
  if (wrong) {
    RUN(Alltoall, alltoall, in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
  } else {
    RUN(Allgather, allgather, in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
  }
  expect(MPI_ERR_NOT_SAME, words("rank %d calls MPI_Alltoall where rank %d calls MPI_Allgather", odd, 0));
}

// What differs and may: the same data in other types, places that mean nothing, data in place.
static void likenesses(void) {
  MPI_Datatype two, mixed, likewise, parts[2] = {MPI_INT, MPI_DOUBLE};
  const int lengths[2] = {1, 1}, lengths_of_four[4] = {1, 1, 1, 1};
  const MPI_Aint places[2] = {0, 8}, places_of_four[4] = {0, 8, 16, 24};
  MPI_Datatype four[4] = {MPI_INT, MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
  MPI_Type_contiguous(2, MPI_DOUBLE, &two);
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  MPI_Type_create_struct(4, lengths_of_four, places_of_four, four, &likewise);
  MPI_Type_commit(&two), MPI_Type_commit(&mixed), MPI_Type_commit(&likewise);
  const int other = rank == odd;
  for (int i = 0; i < 4; i++) in[i] = rank == 0 ? i : -1;
  RUN(Bcast, bcast, in, other ? 2 : 4, other ? two : MPI_DOUBLE, 0, comm);
  CHECK_EQ(outcome, MPI_SUCCESS);
  CHECK(in[3] == 3, "%g", in[3]);
  RUN(Bcast, bcast, in, other ? 1 : 2, other ? likewise : mixed, 0, comm);
  CHECK_EQ(outcome, MPI_SUCCESS);
  out[0] = rank;
  RUN(Reduce, reduce, rank == 0 ? MPI_IN_PLACE : out, rank == 0 ? out : NULL, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
  CHECK_EQ(outcome, MPI_SUCCESS);
  if (rank == 0) CHECK(out[0] == size - 1, "%g", out[0]);
  RUN(Gather, gather, in, 1, MPI_DOUBLE, out, rank == 0 ? 1 : 99, MPI_DOUBLE, 0, comm);
  CHECK_EQ(outcome, MPI_SUCCESS);
  RUN(Bcast, bcast, in, 1, rank == 0 ? mixed : two, 0, comm);
  CHECK_CLASS(outcome, MPI_ERR_NOT_SAME);  // 12 bytes and 16
  MPI_Type_free(&two), MPI_Type_free(&mixed), MPI_Type_free(&likewise);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  rank = world_rank, size = world_size;
  if (argc > 1) {
    MPI_Bcast(in, 1, MPI_DOUBLE, rank == size - 1 ? 1 : 0, comm);
    CHECK(0, "rank %d went on", rank);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (odd = 1; odd < size; odd++) {
    for (form = kBlocking; form < kForms; form++) {
      differences();
      likenesses();
    }
  }
  MPI_Comm_free(&comm);
  return finish();
}
