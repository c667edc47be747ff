// Cartesian topologies.
#include <algorithm>

#include "coll/operation.hpp"
#include "comm/api_topology.hpp"
#include "comm/with_topology.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using comm::Digest;
using mpi::Grid;

// The grid that the arguments describe, and how many processes it has.
Status read_grid(const Comm& comm, int ndims, const int* dims, const int* periods, Grid* grid, int* processes) {
  if (ndims < 0) return error(MPI_ERR_DIMS, "ndims is %d; it must not be negative", ndims);
  MPI_Count product = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 1) {
      return error(MPI_ERR_DIMS, "dims[%d] is %d; a dimension has at least size 1 (MPI_Dims_create replaces zeros)", i,
                   dims[i]);
    }
    product *= dims[i];
    if (product > comm.size) {
      return error(MPI_ERR_DIMS, "the first %d of %d dimensions take %lld processes, and the communicator has %d",
                   i + 1, ndims, static_cast<long long>(product), comm.size);
    }
    grid->dims.push_back(dims[i]);
    grid->periods.push_back(periods[i] != 0);
  }
  *processes = static_cast<int>(product);
  return Status::ok();
}

Status find_grid(const Comm& comm, const Grid** grid) {
  HEDDLE_TRY(mpi::check_topology(comm, MPI_CART));
  *grid = &comm.topology->grid;
  return Status::ok();
}

Status check_room(const Grid& grid, MPI_Count maxdims) {
  if (maxdims >= grid.ndims()) return Status::ok();
  return error(MPI_ERR_ARG, "maxdims is %lld, but the grid has %d dimensions (MPI_Cartdim_get)",
               static_cast<long long>(maxdims), grid.ndims());
}

}  // namespace

Status refuse_topology(Comm& comm, Status refusal) { return comm::refuse(comm, refusal); }

Status cart_create(Comm& comm, int ndims, const int* dims, const int* periods, int, MPI_Comm* comm_cart) {
  HEDDLE_TRY(coll::check_intra(comm));
  *comm_cart = MPI_COMM_NULL;
  Grid grid;
  int processes = 0;
  const Status judged = read_grid(comm, ndims, dims, periods, &grid, &processes);
  Digest digest;
  digest.add(grid.dims);
  digest.add(grid.periods);
  const bool member = comm.rank < processes;
  Creation creation(comm);
  HEDDLE_TRY(comm::agree(comm, creation, judged, digest, member));
  if (!member) return Status::ok();
  return comm::make_with_topology(creation, comm::first_ranks(processes), mpi::make_grid(std::move(grid), comm.rank),
                                  comm_cart);
}

// The members that agree with this one in every dimension that goes.
Status cart_sub(Comm& comm, const int* remain_dims, MPI_Comm* newcomm) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  *newcomm = MPI_COMM_NULL;
  if (remain_dims == nullptr && grid->ndims() > 0) {
    return comm::refuse(
        comm, error(MPI_ERR_ARG, "remain_dims is a null pointer; it needs a flag for each of the %d dimensions",
                    grid->ndims()));
  }
  Digest digest;
  Grid sub;
  for (int i = 0; i < grid->ndims(); ++i) {
    const auto d = static_cast<std::size_t>(i);
    digest.add(remain_dims[i] != 0);
    if (remain_dims[i] == 0) continue;
    sub.dims.push_back(grid->dims[d]);
    sub.periods.push_back(grid->periods[d]);
  }
  const std::vector<int> mine = grid->coords(comm.rank);
  std::vector<int> ranks;  // their order is that of the coordinates that remain
  int rank = 0;
  for (int other = 0; other < comm.size; ++other) {
    const std::vector<int> coords = grid->coords(other);
    bool together = true;
    for (std::size_t i = 0; i < mine.size(); ++i) together &= remain_dims[i] != 0 || coords[i] == mine[i];
    if (!together) continue;
    if (other == comm.rank) rank = static_cast<int>(ranks.size());
    ranks.push_back(other);
  }
  Creation creation(comm);
  HEDDLE_TRY(comm::agree(comm, creation, Status::ok(), digest, true));
  return comm::make_with_topology(creation, ranks, mpi::make_grid(std::move(sub), rank), newcomm);
}

Status cart_map(Comm& comm, int ndims, const int* dims, const int* periods, int* newrank) {
  Grid grid;
  int processes = 0;
  HEDDLE_TRY(read_grid(comm, ndims, dims, periods, &grid, &processes));
  *newrank = comm.rank < processes ? comm.rank : MPI_UNDEFINED;
  return Status::ok();
}

Status cartdim_get(Comm& comm, int* ndims) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  *ndims = grid->ndims();
  return Status::ok();
}

Status cart_get(Comm& comm, MPI_Count maxdims, int* dims, int* periods, int* coords) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  HEDDLE_TRY(check_room(*grid, maxdims));
  std::copy(grid->dims.begin(), grid->dims.end(), dims);
  std::copy(grid->periods.begin(), grid->periods.end(), periods);
  const std::vector<int> mine = grid->coords(comm.rank);
  std::copy(mine.begin(), mine.end(), coords);
  return Status::ok();
}

Status cart_rank(Comm& comm, const int* coords, int* rank) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  if (coords == nullptr && grid->ndims() > 0) {
    return error(MPI_ERR_ARG, "coords is a null pointer; the grid has %d dimensions", grid->ndims());
  }
  std::vector<int> inside;
  for (int i = 0; i < grid->ndims(); ++i) {
    const auto d = static_cast<std::size_t>(i);
    const int size = grid->dims[d];
    int coordinate = coords[i];
    if (grid->periods[d] != 0) {
      coordinate %= size;
      if (coordinate < 0) coordinate += size;
    } else if (coordinate < 0 || coordinate >= size) {
      return error(MPI_ERR_ARG, "coords[%d] is %d; the dimension is not periodic and has coordinates 0 to %d", i,
                   coordinate, size - 1);
    }
    inside.push_back(coordinate);
  }
  *rank = grid->rank(inside);
  return Status::ok();
}

Status cart_coords(Comm& comm, int rank, MPI_Count maxdims, int* coords) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  if (rank < 0 || rank >= comm.size) {
    return error(MPI_ERR_RANK, "rank is %d; the grid has ranks 0 to %d", rank, comm.size - 1);
  }
  HEDDLE_TRY(check_room(*grid, maxdims));
  const std::vector<int> result = grid->coords(rank);
  std::copy(result.begin(), result.end(), coords);
  return Status::ok();
}

Status cart_shift(Comm& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Grid* grid = nullptr;
  HEDDLE_TRY(find_grid(comm, &grid));
  if (direction < 0 || direction >= grid->ndims()) {
    return error(MPI_ERR_ARG, "direction is %d; the grid has %d dimensions, counted from 0", direction, grid->ndims());
  }
  *rank_source = grid->shifted(comm.rank, direction, -MPI_Count{disp});
  *rank_dest = grid->shifted(comm.rank, direction, disp);
  return Status::ok();
}

}  // namespace heddle::api
