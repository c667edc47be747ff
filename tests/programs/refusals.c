// Communicators that one rank alone cannot make, because of an argument that it alone has wrong: it is told what is wrong, the
// others that it could not take part, nobody waits, and the parent works afterwards. And MPI_Comm_split_type whose ranks do not
// ask for the same.
#include "check.h"

#pragma GCC diagnostic ignored "-Wstringop-overread"  // null arrays are the point

static int odd;  // the rank that is wrong

static void check(int code, int class, const char* what) {
  int sum = 0, one = 1;
  CHECK(error_class(code) == class, "%s: rank %d, of which %d is wrong: class %d, expected %d", what, world_rank, odd,
        error_class(code), class);
  CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQ(sum, world_size);
}

// The other group hears that it is over, and not why.
static void check_between(int code, int class, const char* what) {
  if (world_rank == odd || error_class(code) == MPI_SUCCESS) return check(code, class, what);
  check(class, class, what);
}
#define REFUSED_BETWEEN(class, call) check_between(call, class, #call)
#define REFUSED(class, call) check(call, class, #call)

static void topologies(void) {
  const int wrong = world_rank == odd, zero = 0, one = 1, dims[2] = {world_size, 1}, periods[2] = {0, 0};
  const int *no_dims = wrong ? NULL : dims, *no_periods = wrong ? NULL : periods;
  int ends[64], edges[64];
  MPI_Comm made, grid, *no_place = wrong ? NULL : &made;
  MPI_Info stale;
  for (int i = 0; i < world_size; i++) ends[i] = i + 1, edges[i] = (i + 1) % world_size;
  REFUSED(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, no_dims, periods, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, no_periods, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, no_place));
  REFUSED(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, wrong ? -1 : 2, dims, periods, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, world_size, wrong ? NULL : ends, edges, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, world_size, ends, wrong ? NULL : edges, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, world_size, ends, edges, 0, no_place));
  REFUSED(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, wrong ? -1 : 1, &world_rank, &one, &zero, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, wrong ? NULL : &world_rank, &one, &zero, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                             0, no_place));
  MPI_Info_create(&stale);
  MPI_Info freed = stale;
  MPI_Info_free(&stale);
  REFUSED(MPI_ERR_INFO, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, MPI_UNWEIGHTED, 1, &zero,
                                                       MPI_UNWEIGHTED, wrong ? freed : MPI_INFO_NULL, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, wrong ? NULL : &zero, MPI_UNWEIGHTED, 1, &zero,
                                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  REFUSED(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, MPI_UNWEIGHTED, 1, &zero,
                                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, no_place));
  CHECK_EQ(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid), MPI_SUCCESS);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  REFUSED(MPI_ERR_ARG, MPI_Cart_sub(grid, wrong ? NULL : dims, &made));
  MPI_Comm_free(&grid);
}

static void splits(void) {
  const int wrong = world_rank == odd;
  MPI_Comm made = MPI_COMM_NULL;
  REFUSED(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_WORLD, wrong ? -7 : 0, 0, &made));
  REFUSED(MPI_ERR_ARG,
          MPI_Comm_split_type(MPI_COMM_WORLD, wrong ? 12345 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
  REFUSED(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, wrong ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_COMM_TYPE_SHARED, 0,
                                           MPI_INFO_NULL, &made));
  REFUSED(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, wrong ? MPI_COMM_TYPE_HW_GUIDED : MPI_COMM_TYPE_HW_UNGUIDED,
                                           0, MPI_INFO_NULL, &made));
  REFUSED(MPI_SUCCESS,
          MPI_Comm_split_type(MPI_COMM_WORLD, wrong ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
  CHECK((made == MPI_COMM_NULL) == wrong);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static void between_groups(void) {
  const int high = world_rank >= world_size / 2, wrong = world_rank == odd;
  MPI_Comm half, inter, made;
  MPI_Comm_split(MPI_COMM_WORLD, high, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : world_size / 2, 0, &inter);
  MPI_Comm_free(&half);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  REFUSED(MPI_ERR_COMM, MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made));
  REFUSED_BETWEEN(MPI_ERR_COMM, MPI_Comm_split_type(inter, wrong ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0,
                                                    MPI_INFO_NULL, &made));
  REFUSED_BETWEEN(MPI_ERR_ARG, MPI_Comm_split(inter, wrong ? -7 : 0, 0, &made));
  const int dims = world_rank, periods = 0;
  REFUSED(MPI_ERR_COMM, MPI_Cart_create(inter, 1, &dims, &periods, 0, &made));
  MPI_Comm_free(&inter);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; i++) {
    odd = i == 0 ? 0 : world_size - 1;
    topologies();
    splits();
    between_groups();
  }
  return finish();
}
