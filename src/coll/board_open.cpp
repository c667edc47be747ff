// A communicator's board is made.
#include <vector>

#include "coll/api.hpp"
#include "coll/board.hpp"
#include "coll/straight.hpp"
#include "mpi/process.hpp"
#include "vci/domain.hpp"
#include "wire/board.hpp"
#include "wire/node_memory.hpp"
#include "wire/wire.hpp"

namespace heddle::coll {
namespace {

wire::NodeMemory* node_of(mpi::Comm& comm) noexcept {
  for (wire::Wire* wire : comm.process->domain().wires()) {
    if (wire::NodeMemory* node = wire->node()) return node;
  }
  return nullptr;
}

// The members' regions, by rank; empty: they are not all here.
std::vector<std::uint32_t> regions_of(const mpi::Comm& comm, const wire::NodeMemory& node) {
  std::vector<std::uint32_t> regions;
  for (wire::ProcessId member : comm.group->members) {
    const int region = node.region_of(member);
    if (region < 0) return {};
    regions.push_back(static_cast<std::uint32_t>(region));
  }
  return regions;
}

// By messages, as there is no board yet. All ranks have one afterwards, or none.
wire::Board* open_together(mpi::Comm& comm, wire::NodeMemory& node, std::vector<std::uint32_t> regions) {
  const auto shape = wire::Board::shape_for_all(static_cast<std::size_t>(comm.size));
  std::uint64_t offset = 0;
  if (comm.rank == 0 && !wire::Board::make(node, static_cast<std::uint32_t>(comm.size), shape, &offset)) offset = 0;
  if (!api::bcast(&offset, 8, mpi::byte_type(), 0, comm) || offset == 0) return nullptr;
  wire::Board* board = nullptr;
  const auto self = static_cast<std::uint32_t>(comm.rank);
  std::int32_t opened = wire::Board::open(node, offset, shape, self, std::move(regions), &board).is_ok(), all = 0;
  const Status agreed = api::allreduce(&opened, &all, 1, *mpi::from_handle(MPI_INT32_T),
                                       *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MIN)), comm);
  if (!agreed || all == 0) {
    delete board;
    return nullptr;
  }
  // Not earlier: a process that has not begun yet cannot be found.
  Straight found(comm, *board, 0, {.good = board->finds_all()});
  board->set_reaches_all(found.is_good() && found.places().all_good());
  return board;
}

}  // namespace

wire::Board* make_board(mpi::Comm& comm, Uses uses) noexcept {
  if (comm.before_board == mpi::Comm::kUndecided) {
    comm.before_board = comm.is_inter() || comm.size == 1 ? mpi::Comm::kNever : comm.process->board_after();
    if (comm.before_board == mpi::Comm::kNever) return nullptr;
  }
  // A reduction of the same arguments has to give the same bits each time.
  if (uses == Uses::kMoves && comm.before_board-- > 0) return nullptr;
  comm.before_board = mpi::Comm::kNever;  // for what follows, and unless there is one in the end
  wire::NodeMemory* node = node_of(comm);
  if (node == nullptr) return nullptr;
  std::vector<std::uint32_t> regions = regions_of(comm, *node);
  if (!regions.empty()) comm.board.reset(open_together(comm, *node, std::move(regions)));
  return comm.board.get();
}

}  // namespace heddle::coll
