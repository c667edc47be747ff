// A rank that finds no memory for what it would show the others (here for want of a higher limit on file sizes): short data go on, long ones
// by messages, and what is between is MPI_ERR_NO_MEM at each rank that needs that rank's data. Nobody waits for ever, and later it works again.
#include <sys/resource.h>

#include "coll.h"

enum { kShort = 2, kCell = 1000, kLong = 300 * 1000 };  // ints

static int in[kLong], out[kLong];
static int poor;  // the rank

static void limit(int is_low) {
  static struct rlimit before;
  struct rlimit low;
  if (rank == poor) {
    if (is_low) getrlimit(RLIMIT_FSIZE, &before);
    low = before;
    if (is_low) low.rlim_cur = 4096;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  }
}

static int by_form(int count) {
  MPI_Request request;
  int code;
  memset(out, 0, sizeof out);
  if (form == kBlocking) return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  if (form == kNonblocking) {
    code = MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &request);
  } else {
    code = MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    if (code == MPI_SUCCESS) code = MPI_Start(&request);
  }
  CHECK_EQ(code, MPI_SUCCESS);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == kPersistent) MPI_Request_free(&request);
  return code;
}
static void check_sum(int count) {
  for (int i = 0; i < count; i++) CHECK_EQ(out[i], size * (size - 1) / 2 + size * i);
}

static int bcast(int count, int root) {
  for (int i = 0; i < count; i++) out[i] = rank == root ? i : 0;
  const int code = MPI_Bcast(out, count, MPI_INT, root, comm);
  for (int i = 0; i < count && code == MPI_SUCCESS; i++) CHECK_EQ(out[i], i);
  return code;
}

static void checks(int is_poor) {
  const int needs_it = is_poor ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  for (form = kBlocking; form < kForms; form++) {
    static const int good[] = {kShort, kLong};
    for (int i = 0; i < 2; i++) {
      CHECK_CLASS(by_form(good[i]), MPI_SUCCESS);
      check_sum(good[i]);
    }
    // A persistent one has all its memory from the beginning.
    CHECK_CLASS(by_form(kCell), form == kPersistent ? MPI_SUCCESS : needs_it);
    if (form == kPersistent || !is_poor) check_sum(kCell);
  }
  CHECK_CLASS(bcast(kCell, poor), needs_it);
  CHECK_CLASS(bcast(kCell, 0), MPI_SUCCESS);
  CHECK_CLASS(bcast(kLong, poor), MPI_SUCCESS);
  CHECK_CLASS(bcast(kLong, 0), MPI_SUCCESS);
  CHECK_CLASS(MPI_Reduce(in, out, kCell, MPI_INT, MPI_SUM, 0, comm),
              rank == 0 || rank == poor ? needs_it : MPI_SUCCESS);
  if (rank == 0 && !is_poor) check_sum(kCell);
  CHECK_CLASS(MPI_Reduce(in, out, kLong, MPI_INT, MPI_SUM, 0, comm), MPI_SUCCESS);
  if (rank == 0) check_sum(kLong);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  rank = world_rank, size = world_size, poor = size - 1;
  for (int i = 0; i < kLong; i++) in[i] = rank + i;
  for (int before = 0; before < 2; before++) {  // whether the cells have been used
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    form = kBlocking;
    CHECK_CLASS(by_form(kShort), MPI_SUCCESS);
    if (before) checks(0);
    limit(1);
    checks(before ? 0 : 1);
    limit(0);
    checks(0);
    MPI_Comm_free(&comm);
  }
  return finish();
}
