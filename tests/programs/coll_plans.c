// Plans that are compiled when a communicator is made: its first collectives compile none.
//   coll_plans        by the info key of a communicator, and at first use without it
//   coll_plans all    where HEDDLE_PLANS_AT_CREATION is on: each communicator, however it was made
//   coll_plans proved [0]    where HEDDLE_VERIFY_PLANS is on (0: off): each of those that are compiled, to make a communicator, too
//   coll_plans boards [0]    where there are boards (0: as none is proved, there is none): what goes by them compiles none
#include "check.h"

enum { kMost = 1 << 17, kMostRanks = 8 };

static double in[kMost * kMostRanks], out[kMost * kMostRanks];
static MPI_T_pvar_session session;

static MPI_T_pvar_handle count_of(MPI_Comm comm, const char* what) {
  MPI_T_pvar_handle handle;
  int index, count;
  CHECK_EQ(MPI_T_pvar_get_index(what, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
  return handle;
}

static void collectives(MPI_Comm comm, int n) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < n * size; i++) in[i] = rank + 1 + i % 3;
  MPI_Barrier(comm);
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
  CHECK_EQ(out[n - 1], size * (size + 1) / 2 + size * ((n - 1) % 3));
  MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_MAX, 0, comm);
  if (rank == 0) CHECK_EQ(out[n - 1], size + (n - 1) % 3);
  MPI_Bcast(out, n, MPI_DOUBLE, 0, comm);
  CHECK_EQ(out[n - 1], size + (n - 1) % 3);
  MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
  CHECK_EQ(out[n * size - 1], size + (n - 1) % 3);
  MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
  CHECK_EQ(out[n * size - 1], size + (n * (rank + 1) - 1) % 3);
  MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
  CHECK_EQ(out[0], size * (size + 1) / 2 + size * (n * rank % 3));
}

// How many plans the collectives bring to that count.
static unsigned long counted(MPI_Comm comm, const char* what) {
  MPI_T_pvar_handle handle = count_of(comm, what);
  unsigned long number = 99;
  const int sizes[] = {1, 100, 3000, kMost};
  for (int i = 0; i < 4; i++) collectives(comm, sizes[i]);
  CHECK_EQ(MPI_T_pvar_read(session, handle, &number), MPI_SUCCESS);
  MPI_T_pvar_handle_free(session, &handle);
  return number;
}

static unsigned long compiled_by(MPI_Comm comm) { return counted(comm, "plans_compiled"); }

static void free_checked(MPI_Comm comm, unsigned long want) {
  CHECK_EQ(compiled_by(comm), want);
  MPI_Comm_free(&comm);
}

static void by_control(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Group group;
  const int periods = 1;
  CHECK_EQ(compiled_by(MPI_COMM_WORLD), 0);
  CHECK_EQ(compiled_by(MPI_COMM_SELF), 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  free_checked(comm, 0);
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free_checked(comm, 0);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
  free_checked(comm, 0);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  free_checked(comm, 0);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
  free_checked(comm, 0);
  MPI_Group_free(&group);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periods, 1, &comm);
  free_checked(comm, 0);
}

// `usual`: plans that seven collectives take, some of them two.
static void by_info(void) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const unsigned long usual = compiled_by(comm);
  CHECK(usual >= 7, "%lu", usual);
  free_checked(comm, 0);  // by now

  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_plans_at_creation", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  free_checked(comm, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_info(comm, info);
  free_checked(comm, 0);
  MPI_Info_set(info, "heddle_reproducible", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  free_checked(comm, 0);

  MPI_Info_delete(info, "heddle_reproducible");
  MPI_Info_set(info, "heddle_plans_at_creation", "perhaps");  // is ignored
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  free_checked(comm, usual);
  MPI_Info_free(&info);
}

static unsigned long take(MPI_T_pvar_handle* handle) {
  unsigned long number = 99;
  CHECK_EQ(MPI_T_pvar_read(session, *handle, &number), MPI_SUCCESS);
  MPI_T_pvar_handle_free(session, handle);
  return number;
}

static void by_boards(int are_there) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (are_there) collectives(comm, 1);
  MPI_T_pvar_handle compiled = count_of(comm, "plans_compiled");
  for (int root = 0; root < (are_there ? world_size : 1); root++) {
    double value = world_rank + 1, most = 0;
    MPI_Reduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, root, comm);
    if (world_rank == root) CHECK_EQ(most, world_size);
    MPI_Bcast(&value, 1, MPI_DOUBLE, root, comm);
    CHECK_EQ(value, root + 1);
  }
  CHECK_EQ(take(&compiled) != 0, !are_there);
  MPI_Comm_free(&comm);
}

static void proved(int are_proved) {
  MPI_Comm comm;
  MPI_T_pvar_handle compiled_before = count_of(MPI_COMM_WORLD, "plans_compiled");
  MPI_T_pvar_handle proved_before = count_of(MPI_COMM_WORLD, "plans_verified");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK_EQ(take(&compiled_before), 1);
  CHECK_EQ(take(&proved_before), are_proved);
  MPI_Comm_free(&comm);
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const unsigned long compiled = compiled_by(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK_EQ(counted(comm, "plans_verified"), are_proved ? compiled : 0);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int provided;
  start(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  if (argc > 1 && strcmp(argv[1], "proved") == 0) {
    proved(argc == 2);
  } else if (argc > 1 && strcmp(argv[1], "boards") == 0) {
    by_boards(argc == 2);
  } else if (argc > 1) {
    by_control();
  } else {
    by_info();
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return finish();
}
