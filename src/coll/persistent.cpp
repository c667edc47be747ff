#include "coll/persistent.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/slab.hpp"
#include "coll/operation.hpp"
#include "mpi/handle.hpp"
#include "p2p/request.hpp"
#include "wire/board.hpp"

namespace heddle::coll {
namespace {

struct BoardOperation : mpi::Request, p2p::Task {
  BoardOperation(mpi::Comm& c, const Round& r) noexcept;

  std::unique_ptr<wire::Board> board;
  const Round round;
  // Of the run that is under way.
  std::optional<Turn> turn;
  bool has_shown = false;
  std::uint32_t next = 0;  // the first rank that it still waits for
};

constinit SharedSlab<BoardOperation, 8> operations;

void destroy(mpi::Request& request) {
  auto& operation = static_cast<BoardOperation&>(request);
  for (Datatype* type : {operation.round.shows.type, operation.round.to.type}) {
    if (type != nullptr) mpi::release(*type);
  }
  if (operation.round.op != nullptr) mpi::release(const_cast<Op&>(*operation.round.op));
  operation.board.reset();
  mpi::release(*operation.comm);
  operations.give_back(&operation);
}

bool end(BoardOperation& operation, Status status) noexcept {
  operation.error = status.error_class();
  p2p::finish(operation);
  return true;
}

bool all_are_here(BoardOperation& operation) noexcept {
  const Round& round = operation.round;
  return round.first > round.last || operation.turn->have_come(static_cast<std::uint32_t>(round.last), &operation.next);
}

// True when the run is over; the operation belongs to its owner again then.
bool go_on(BoardOperation& operation) noexcept {
  const Round& round = operation.round;
  Turn& turn = *operation.turn;
  if (turn.has_lost_member()) [[unlikely]] {
    turn.give_up();
    return end(operation, turn.status());
  }
  if (!operation.has_shown) {
    if (!turn.may_show(round.shows.type != nullptr ? round.bytes : 0)) return false;
    show(turn, round);
    operation.has_shown = true;
    if (!all_are_here(operation)) turn.show_again();  // this program may compute now, while others sleep
  }
  if (!all_are_here(operation)) return false;
  if (round.first <= round.last && !turn.accept(round.first, round.last)) return end(operation, turn.status());
  return end(operation, take(turn, round));
}

Status start(mpi::Request& request) {
  auto& operation = static_cast<BoardOperation&>(request);
  operation.complete.store(0, std::memory_order_relaxed);
  operation.active = true;
  operation.error = MPI_SUCCESS;
  operation.turn.emplace(*operation.comm, *operation.board, operation.round.bytes);
  operation.has_shown = false;
  operation.next = static_cast<std::uint32_t>(operation.round.first);
  if (!go_on(operation)) p2p::add_task(*operation.comm, operation);
  return Status::ok();
}

constexpr mpi::RequestType kBoardOperationType{.start = start,
                                               .cancel = nullptr,
                                               .destroy = destroy,
                                               .is_collective = true,
                                               .must_complete = "a collective operation"};

BoardOperation::BoardOperation(mpi::Comm& c, const Round& r) noexcept : Request(kBoardOperationType), round(r) {
  comm = &c;
  vci = c.vci;
  make_persistent();
  c.retain();
  // The user may free datatypes and the operation before the request (MPI 5.0, 6.13).
  for (Datatype* datatype : {round.shows.type, round.to.type}) {
    if (datatype != nullptr) mpi::retain(*datatype);
  }
  if (round.op != nullptr) mpi::retain(const_cast<Op&>(*round.op));
  step = [](p2p::Task& task) { return go_on(static_cast<BoardOperation&>(task)); };
}

Status least(mpi::Comm& comm, std::int64_t* values, int count) {
  return api::allreduce(MPI_IN_PLACE, values, count, *mpi::from_handle(MPI_INT64_T),
                        *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MIN)), comm);
}

// False: some rank has no memory for it, or not even for the request.
Status open_board(mpi::Comm& comm, wire::Board& common, const Round& round, BoardOperation* operation, bool* opened) {
  const auto shape = wire::Board::shape_for_one(round.bytes, /*all_wait=*/!round.rings);
  std::uint64_t offset = 0;
  if (comm.rank == 0 && !wire::Board::make(common.node(), common.ranks(), shape, &offset)) offset = 0;
  HEDDLE_TRY(api::bcast(&offset, 8, mpi::byte_type(), 0, comm));
  wire::Board* board = nullptr;
  const auto self = static_cast<std::uint32_t>(comm.rank);
  std::int64_t good = offset != 0 && operation != nullptr &&
                      wire::Board::open(common.node(), offset, shape, self, common.regions(), &board).is_ok();
  std::unique_ptr<wire::Board> own(board);
  HEDDLE_TRY(least(comm, &good, 1));
  *opened = good != 0;
  if (*opened) operation->board = std::move(own);
  return Status::ok();
}

}  // namespace

Outcome set_up(mpi::Comm& comm, Form form, const Round& round, bool is_short) {
  if (form.kind == Form::kNonblocking) return {};
  wire::Board* common = board_of(comm, Uses::kAgain);
  if (common == nullptr) return {};
  const bool has_gaps = round.raw && raw_bytes(*round.shows.type) == 0;
  const auto bytes = static_cast<std::int64_t>(round.bytes);
  std::int64_t least_of[] = {is_short && !has_gaps && round.bytes <= common->cell_bytes(), bytes, -bytes};
  if (Status s = least(comm, least_of, 3); !s) return s;
  if (least_of[0] == 0 || least_of[1] != -least_of[2])
    return {};  // whose arguments do not match hear of it in each run
  BoardOperation* operation = operations.take(comm, round);
  bool opened = false;
  const Status status = open_board(comm, *common, round, operation, &opened);
  if (!opened && operation != nullptr) destroy(*operation);
  if (!status) return status;
  if (!opened) return {};
  *form.request = mpi::to_handle(static_cast<mpi::Request*>(operation));
  return Status::ok();
}

}  // namespace heddle::coll
