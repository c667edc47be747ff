#include "mpi/topology.hpp"

namespace heddle::mpi {
namespace {

const char* name_of(int kind) {
  switch (kind) {
    case MPI_CART:
      return "a Cartesian topology (MPI_Cart_create)";
    case MPI_GRAPH:
      return "a graph topology (MPI_Graph_create)";
    default:
      return "a distributed graph topology (MPI_Dist_graph_create or MPI_Dist_graph_create_adjacent)";
  }
}

}  // namespace

std::vector<int> Grid::coords(int rank) const {
  std::vector<int> result(dims.size());
  for (std::size_t i = dims.size(); i-- > 0; rank /= dims[i]) result[i] = rank % dims[i];
  return result;
}

int Grid::rank(const std::vector<int>& coords) const {
  int result = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + coords[i];
  return result;
}

int Grid::shifted(int from, int direction, MPI_Count disp) const {
  const auto along = static_cast<std::size_t>(direction);
  std::vector<int> at = coords(from);
  MPI_Count there = at[along] + disp;
  if (periods[along] != 0) {
    there %= dims[along];
    if (there < 0) there += dims[along];
  } else if (there < 0 || there >= dims[along]) {
    return MPI_PROC_NULL;
  }
  at[along] = static_cast<int>(there);
  return rank(at);
}

std::shared_ptr<Topology> make_grid(Grid grid, int rank) {
  auto made = std::make_shared<Topology>();
  made->kind = MPI_CART;
  made->set_own(rank, plan::grid_neighbors(grid.dims, grid.periods, rank));
  made->grid = std::move(grid);
  return made;
}

std::shared_ptr<Topology> make_graph(Graph graph, int rank) {
  auto made = std::make_shared<Topology>();
  made->kind = MPI_GRAPH;
  const auto first = graph.edges.begin() + graph.first(rank);
  plan::Neighbors own;
  own.sources.assign(first, first + graph.degree(rank));
  own.destinations = own.sources;
  made->set_own(rank, std::move(own));
  made->graph = std::move(graph);
  return made;
}

Status check_topology(const Comm& comm) {
  if (comm.topology != nullptr) return Status::ok();
  return error(MPI_ERR_TOPOLOGY,
               "the communicator has no topology, so nobody has neighbours in it; make one with MPI_Cart_create, "
               "MPI_Graph_create or MPI_Dist_graph_create");
}

Status check_topology(const Comm& comm, int kind) {
  if (comm.topology != nullptr && comm.topology->kind == kind) return Status::ok();
  return error(MPI_ERR_TOPOLOGY, "the communicator has %s; %s is needed here",
               comm.topology == nullptr ? "no topology" : name_of(comm.topology->kind), name_of(kind));
}

}  // namespace heddle::mpi
