// Cartesian topologies: what they say of each rank, who has a place, what is copied with the communicator, and errors.
#include "check.h"

static int topology_of(MPI_Comm comm) {
  int kind;
  MPI_Topo_test(comm, &kind);
  return kind;
}

static void check_dims(int nodes, int ndims, const int* given, const int* want) {
  int dims[8];
  memcpy(dims, given, sizeof(int) * (size_t)ndims);
  MPI_Dims_create(nodes, ndims, dims);
  for (int i = 0; i < ndims; i++) CHECK(dims[i] == want[i], "%d: dims[%d] is %d, not %d", nodes, i, dims[i], want[i]);
}
#define DIMS(nodes, ndims, given, ...) check_dims(nodes, ndims, (int[8])given, (int[]){__VA_ARGS__})
#define FREE \
  { 0 }
#define FIXED(...) \
  { __VA_ARGS__ }

static void dims(void) {
  DIMS(6, 2, FREE, 3, 2);
  DIMS(7, 2, FREE, 7, 1);
  DIMS(1, 3, FREE, 1, 1, 1);
  DIMS(8, 3, FREE, 2, 2, 2);
  DIMS(12, 3, FREE, 3, 2, 2);
  DIMS(180, 2, FREE, 15, 12);
  DIMS(72, 3, FREE, 6, 4, 3);
  DIMS(1 << 30, 3, FREE, 1024, 1024, 1024);
  DIMS(2147483647, 4, FREE, 2147483647, 1, 1, 1);
  DIMS(6, 1, FREE, 6);
  DIMS(1, 0, FREE, 0);
  MPI_Dims_create(6, 3, (int[]){0, 3, 0});
  check_dims(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
  check_dims(24, 3, (int[]){2, 0, 0}, (int[]){2, 4, 3});
  check_dims(6, 2, (int[]){2, 3}, (int[]){2, 3});
  for (int n = 1; n <= 3000; n++) {  // against all pairs
    int d[2] = {0, 0}, best = 1;
    MPI_Dims_create(n, 2, d);
    for (int b = 1; b * b <= n; b++) best = n % b == 0 ? b : best;
    CHECK(d[0] == n / best && d[1] == best, "%d is %d x %d", n, d[0], d[1]);
  }
  int d[3] = {0, 3, 0};
  CHECK_CLASS(MPI_Dims_create(7, 3, d), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(7, 1, (int[]){3}), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(6, 2, (int[]){-2, 0}), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(6, 2, (int[]){2, 2}), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(6, -1, d), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(2, 0, d), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(0, 2, d), MPI_ERR_ARG);
}

// What every call says of a grid, against its definition: row-major ranks.
static void check_grid(MPI_Comm grid, int ndims, const int* dims, const int* periods) {
  int rank, size, n, got_dims[3], got_periods[3], coords[3], back;
  MPI_Comm_rank(grid, &rank);
  MPI_Comm_size(grid, &size);
  CHECK_EQ(topology_of(grid), MPI_CART);
  MPI_Cartdim_get(grid, &n);
  CHECK_EQ(n, ndims);
  MPI_Cart_get(grid, ndims, got_dims, got_periods, coords);
  for (int r = 0, product = 1; r < 1; r++) {
    for (int d = ndims - 1; d >= 0; d--) {
      CHECK_EQ(got_dims[d], dims[d]);
      CHECK_EQ(got_periods[d], !!periods[d]);
      CHECK_EQ(coords[d], rank / product % dims[d]);
      product *= dims[d];
    }
    CHECK_EQ(product, size);
  }
  for (int r = 0; r < size; r++) {
    int at[3];
    MPI_Cart_coords(grid, r, ndims, at);
    MPI_Cart_rank(grid, at, &back);
    CHECK_EQ(back, r);
  }
  for (int d = 0; d < ndims; d++) {
    for (int disp = -5; disp <= 5; disp++) {
      int source, dest, at[3];
      MPI_Cart_shift(grid, d, disp, &source, &dest);
      for (int side = 0; side < 2; side++) {
        memcpy(at, coords, sizeof at);
        at[d] += side ? disp : -disp;
        int want = MPI_PROC_NULL;
        if (periods[d] || (at[d] >= 0 && at[d] < dims[d])) MPI_Cart_rank(grid, at, &want);
        CHECK_EQ(side ? dest : source, want);
      }
    }
    int at[3];
    memcpy(at, coords, sizeof at);
    at[d] = -1;
    CHECK_CLASS(MPI_Cart_rank(grid, at, &back), periods[d] ? MPI_SUCCESS : MPI_ERR_ARG);
    if (periods[d]) {
      at[d] = dims[d] - 1;
      int want;
      MPI_Cart_rank(grid, at, &want);
      CHECK_EQ(back, want);
    }
    at[d] = 7 * dims[d];
    CHECK_CLASS(MPI_Cart_rank(grid, at, &back), periods[d] ? MPI_SUCCESS : MPI_ERR_ARG);
  }
}

static void grids(void) {
  int d[3] = {0, 0, 0}, periods[3] = {1, 0, 5}, rank;
  MPI_Comm grid, copy, other;
  MPI_Request request;
  MPI_Dims_create(world_size, 3, d);
  MPI_Cart_create(MPI_COMM_WORLD, 3, d, periods, 1, &grid);
  check_grid(grid, 3, d, periods);
  MPI_Cart_map(MPI_COMM_WORLD, 3, d, periods, &rank);
  CHECK_EQ(rank, world_rank);

  MPI_Comm_dup(grid, &copy);
  check_grid(copy, 3, d, periods);
  MPI_Comm_free(&copy);
  MPI_Comm_idup(grid, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_grid(copy, 3, d, periods);
  MPI_Comm_free(&grid);  // a copy outlives what it was made from
  MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &grid);
  MPI_Comm_free(&copy);
  check_grid(grid, 3, d, periods);
  MPI_Comm_split(grid, 0, 0, &other);
  CHECK_EQ(topology_of(other), MPI_UNDEFINED);
  MPI_Comm_free(&other);

  // Every choice of dimensions that stay.
  int coords[3];
  MPI_Cart_get(grid, 3, d, periods, coords);
  for (int mask = 0; mask < 8; mask++) {
    int remain[3], kept_dims[3], kept_periods[3], kept_coords[3], n = 0;
    for (int i = 0; i < 3; i++) {
      remain[i] = (mask >> i & 1) * 3;
      if (!remain[i]) continue;
      kept_dims[n] = d[i], kept_periods[n] = periods[i], kept_coords[n++] = coords[i];
    }
    MPI_Cart_sub(grid, remain, &other);
    check_grid(other, n, kept_dims, kept_periods);
    int r, want, sum, members;
    MPI_Comm_rank(other, &r);
    MPI_Comm_size(other, &members);
    MPI_Cart_rank(other, kept_coords, &want);
    CHECK_EQ(r, want);
    // Its members agree in the coordinates that went.
    for (int i = 0; i < 3; i++) {
      if (remain[i]) continue;
      MPI_Allreduce(&coords[i], &sum, 1, MPI_INT, MPI_SUM, other);
      CHECK_EQ(sum, members * coords[i]);
    }
    MPI_Comm_free(&other);
  }
  MPI_Comm_free(&grid);
}

static void places(void) {
  MPI_Comm grid;
  int rank, size;
  for (int n = 1; n <= world_size; n++) {  // a grid smaller than the communicator
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, (int[]){n % 2}, 0, &grid);
    CHECK_EQ(grid != MPI_COMM_NULL, world_rank < n);
    MPI_Cart_map(MPI_COMM_WORLD, 1, &n, (int[]){0}, &rank);
    CHECK_EQ(rank, world_rank < n ? world_rank : MPI_UNDEFINED);
    if (grid == MPI_COMM_NULL) continue;
    check_grid(grid, 1, &n, (int[]){n % 2});
    MPI_Comm_free(&grid);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid);  // a point
  CHECK_EQ(grid != MPI_COMM_NULL, world_rank == 0);
  if (grid == MPI_COMM_NULL) return;
  check_grid(grid, 0, NULL, NULL);
  MPI_Comm_size(grid, &size);
  CHECK_EQ(size, 1);
  MPI_Cart_rank(grid, NULL, &rank);
  CHECK_EQ(rank, 0);
  MPI_Comm_free(&grid);
}

static void errors(void) {
  int n = world_size, zero = 0, more = world_size + 1, a, b, c[2];
  MPI_Comm grid, other;
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, &zero, &zero, 0, &grid), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, &more, &zero, 0, &grid), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){65536, 65536}, (int[]){0, 0}, 0, &grid), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, -1, &n, &zero, 0, &grid), MPI_ERR_DIMS);
  CHECK(grid == MPI_COMM_NULL);
  // One rank's error is everyone's, and none waits.
  int mine = world_rank == world_size - 1 ? -3 : n;
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, &mine, &zero, 0, &grid), MPI_ERR_DIMS);
  if (world_size > 1) {
    int period = world_rank == 1;
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &period, 0, &grid), MPI_ERR_ARG);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){n, 1}, (int[]){0, 1}, 0, &grid);
  CHECK_CLASS(MPI_Cart_coords(grid, n, 2, c), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Cart_coords(grid, -1, 2, c), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Cart_coords(grid, 0, 1, c), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_get(grid, 1, c, c, c), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_shift(grid, 2, 1, &a, &b), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_shift(grid, -1, 1, &a, &b), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_rank(grid, NULL, &a), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_sub(grid, NULL, &other), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_map(MPI_COMM_WORLD, 1, &zero, &zero, &a), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Graphdims_get(grid, &a, &b), MPI_ERR_TOPOLOGY);
  MPI_Cart_shift(grid, 0, 2147483647, &a, &b);
  CHECK_EQ(b, MPI_PROC_NULL);
  MPI_Cart_shift(grid, 1, -2147483647 - 1, &a, &b);
  CHECK(a == world_rank && b == world_rank, "%d and %d", a, b);
  MPI_Comm_free(&grid);

  CHECK_EQ(topology_of(MPI_COMM_WORLD), MPI_UNDEFINED);
  CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &a), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_get(MPI_COMM_WORLD, 1, c, c, c), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_rank(MPI_COMM_WORLD, c, &a), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, c), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &a, &b), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_sub(MPI_COMM_WORLD, &n, &other), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  dims();
  grids();
  places();
  errors();
  return finish();
}
