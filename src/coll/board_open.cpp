// A communicator's board is made.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <vector>

#include "boot/boot.hpp"
#include "coll/api.hpp"
#include "coll/board.hpp"
#include "coll/proof.hpp"
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

bool are_here(const mpi::Comm& comm, const wire::NodeMemory& node) noexcept {
  return std::ranges::all_of(comm.group->members, [&](wire::ProcessId member) { return node.region_of(member) >= 0; });
}

// REQUIRES: are_here().
Status open(const mpi::Comm& comm, wire::NodeMemory& node, std::uint64_t offset, const wire::Board::Shape& shape,
            wire::Board** board) noexcept try {
  std::vector<std::uint32_t> regions;
  for (wire::ProcessId member : comm.group->members) {
    regions.push_back(static_cast<std::uint32_t>(node.region_of(member)));
  }
  return wire::Board::open(node, offset, shape, static_cast<std::uint32_t>(comm.rank), regions, board);
} catch (const std::bad_alloc&) {
  return error(MPI_ERR_NO_MEM, "no memory for the regions of %d ranks", comm.size);
}

// Whether its rounds are proved, where nothing is to be used that is not. By one for all: they would prove the same.
bool may_use(const mpi::Comm& comm, std::uint32_t ranks) noexcept {
  if (!comm.process->verifies_plans() || prove_rounds(ranks)) return true;
  static std::atomic_flag is_told;
  if (!is_told.test_and_set(std::memory_order_relaxed)) {
    char line[512];
    std::snprintf(
        line, sizeof line,
        "heddle: rank %d: HEDDLE_VERIFY_PLANS: %s; collectives of %u ranks of a node go by messages, which is slower",
        comm.process->boot().rank(), last_error_detail(), ranks);
    boot::write_message(line);
  }
  return false;
}

// By messages, as there is no board yet. All ranks have one afterwards, or none.
wire::Board* open_together(mpi::Comm& comm, wire::NodeMemory& node) {
  const auto ranks = static_cast<std::uint32_t>(comm.size);
  const auto shape = wire::Board::shape_for_all(ranks);
  std::uint64_t offset = 0;
  if (comm.rank == 0 && (!may_use(comm, ranks) || !wire::Board::make(node, ranks, shape, &offset))) offset = 0;
  const std::uint64_t made = offset;
  if (!api::bcast(&offset, 8, mpi::byte_type(), 0, comm)) {
    if (made != 0) wire::Board::drop(node, made, ranks, shape);
    return nullptr;
  }
  if (offset == 0) return nullptr;
  wire::Board* board = nullptr;
  std::int32_t opened = open(comm, node, offset, shape, &board).is_ok(), all = 0;
  const Status agreed = api::allreduce(&opened, &all, 1, *mpi::from_handle(MPI_INT32_T),
                                       *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MIN)), comm);
  if (!agreed || all == 0) {
    delete board;
    if (made != 0) wire::Board::drop(node, made, ranks, shape);
    return nullptr;
  }
  board->keep();
  // Not earlier: a process that has not begun yet cannot be found.
  Straight found(comm, *board, 0, {.good = board->finds_all(), .part = comm.process->domain().ranks_on_a_core()});
  board->set_reaches_all(found.is_good() && found.places().all_good());
  if (found.is_good()) {
    MPI_Count most = 1;
    for (int rank = 0; rank < comm.size; ++rank) most = std::max(most, found.places().of(rank).part);
    board->set_ranks_on_a_core(static_cast<std::uint32_t>(most));
  }
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
  if (are_here(comm, *node)) comm.board.reset(open_together(comm, *node));
  return comm.board.get();
}

}  // namespace heddle::coll
