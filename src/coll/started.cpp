#include "coll/started.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/futex.hpp"
#include "base/slab.hpp"
#include "coll/operation.hpp"
#include "mpi/handle.hpp"
#include "p2p/request.hpp"
#include "wire/board.hpp"

namespace heddle::coll {
namespace {

struct BoardOperation : mpi::Request, p2p::Task {
  BoardOperation(mpi::Comm& c, const Course& course, const Steps& steps) noexcept;

  // What each run touches lies together: between two of them others have had the core, and its caches.
  wire::Board* board = nullptr;
  std::unique_ptr<wire::Board> own_board;  // of a persistent one
  unsigned turn = 0;
  int first = 0, last = -1;  // whom it waits for in this turn
  std::uint32_t next = 0;    // and the first of them that it still waits for
  bool has_shown = false;
  bool is_by_messages = false;  // it has turned out so
  std::optional<wire::Board::WaitForRoom> waits;
  std::optional<wire::Board::Sleeps> sleeps;
  std::optional<Run> run;
  std::optional<Turn> turns[2];
  const Course course;

  wire::Board::Apart apart;  // of a nonblocking one: its place among the operations of the communicator's board
  // Of what goes by messages.
  const Steps steps;
  Messages messages;
  std::optional<Schedule> schedule;
  Progress at;
  std::string refusal;  // why the schedule could not be written: the sentence of whichever thread tried
};

constinit SharedSlab<BoardOperation, 8> operations;

void destroy(mpi::Request& request) {
  auto& operation = static_cast<BoardOperation&>(request);
  for (Datatype* type : {operation.course.round.shows.type, operation.course.round.to.type}) {
    if (type != nullptr) mpi::release(*type);
  }
  if (operation.course.round.op != nullptr) mpi::release(const_cast<Op&>(*operation.course.round.op));
  operation.own_board.reset();
  mpi::release(*operation.comm);
  operations.give_back(&operation);
}

// Whether the schedule that open_board() wrote serves all runs: of a persistent one that always goes by messages.
bool keeps_schedule(const BoardOperation& operation) noexcept {
  return operation.own_board != nullptr && operation.course.way == Way::kMessages;
}

[[gnu::hot]] bool end(BoardOperation& operation, Status status) noexcept {
  operation.waits.reset();
  operation.sleeps.reset();
  if (operation.own_board == nullptr) operation.board->end_apart(operation.apart);
  if (operation.is_by_messages && !keeps_schedule(operation)) operation.schedule.reset();
  operation.error = status.error_class();
  p2p::finish(operation);
  return true;
}

// False: not yet.
bool go_on_by_messages(BoardOperation& operation) noexcept {
  if (!heddle::coll::run(*operation.schedule, operation.at, operation.messages)) return false;
  return end(operation, Status::of_class(operation.messages.error()));
}

bool refuse(BoardOperation& operation, Status why) noexcept {
  try {
    if (last_error_class() == why.error_class()) operation.refusal = last_error_detail();
  } catch (const std::bad_alloc&) {  // without its sentence
  }
  return end(operation, why);
}

Status write_schedule(BoardOperation& operation) noexcept {
  mpi::Comm& comm = *operation.comm;
  Schedule& schedule = operation.schedule.emplace(comm.rank, comm.size, 0, &comm.plans);
  const bool is_rest = operation.run.has_value() && operation.run->has_part();
  is_rest ? operation.run->build_rest(schedule, *operation.turns[operation.turn % 2]) : operation.steps(schedule);
  schedule.join();
  return schedule.failed() ? failure(comm, schedule) : Status::ok();
}

bool turn_to_messages(BoardOperation& operation) noexcept {
  operation.is_by_messages = true;
  operation.messages.restart();
  operation.refusal.clear();
  if (!keeps_schedule(operation)) {
    if (const Status written = write_schedule(operation); !written) return refuse(operation, written);
  }
  operation.at = {};
  return go_on_by_messages(operation);
}

[[gnu::hot]] void begin_turn(BoardOperation& operation) noexcept {
  std::optional<Turn>& now = operation.turns[operation.turn % 2];
  const std::size_t bytes = operation.course.round.bytes;
  const Turn::Shows data_of = operation.run->data_of(operation.turn);
  if (operation.own_board != nullptr) {
    now.emplace(*operation.comm, *operation.board, bytes, data_of);
  } else {
    now.emplace(*operation.comm, *operation.board, bytes, data_of, operation.apart.first + operation.turn);
  }
  operation.has_shown = false;
  operation.first = operation.run->first(operation.turn);
  operation.last = operation.run->last(operation.turn);
  operation.next = static_cast<std::uint32_t>(operation.first);
}

[[gnu::always_inline]] inline bool all_are_here(BoardOperation& operation, Turn& now) noexcept {
  return operation.first > operation.last || now.have_come(operation.first, operation.last, &operation.next);
}

// Before a sleep, and before the last look: the fence of the sleep (doorbell.hpp) came before the board is told. False: it knows already.
template <class Told>
bool tell(std::optional<Told>& told, wire::Board& board) noexcept {
  if (told) return false;
  told.emplace(board);
  heavy_fence();
  return true;
}

// Whether this rank may show. If not, and its thread is about to sleep, whoever reads on looks whom to wake (wire/board.hpp).
[[gnu::hot]] bool has_room(BoardOperation& operation, Turn& now, bool before_sleep) noexcept {
  const std::size_t bytes = operation.run->shown_bytes(operation.turn);
  if (!now.may_show(bytes)) {
    if (!before_sleep || !tell(operation.waits, *operation.board) || !now.may_show(bytes)) return false;
  }
  if (operation.waits) {  // another thread that sleeps has told the board only that it waits for a place
    operation.waits.reset();
    operation.vci->domain().note_advance();
  }
  return true;
}

// Whether go_on() would do nothing, as far as one look tells: most looks of a thread that waits are of this kind, and what they take
// keeps the core from whom it waits for.
[[gnu::always_inline]] inline bool is_in_vain(BoardOperation& operation) noexcept {
  return operation.has_shown && !operation.is_by_messages && !p2p::has_losses(*operation.comm) &&
         !operation.turns[operation.turn % 2]->has_come(operation.next);
}

// True when the run is over; the operation belongs to its owner again then.
[[gnu::hot]] bool go_on(BoardOperation& operation, bool before_sleep) noexcept {
  if (operation.is_by_messages) return go_on_by_messages(operation);
  Run& run = *operation.run;
  while (true) {
    Turn& now = *operation.turns[operation.turn % 2];
    bool is_here = false;
    if (now.has_lost_member()) [[unlikely]] {
      now.give_up();
      return end(operation, now.status());
    }
    if (!operation.has_shown) {
      if (!has_room(operation, now, before_sleep)) return false;
      run.show(operation.turn, now, operation.turn != 0 ? &*operation.turns[(operation.turn + 1) % 2] : nullptr);
      operation.has_shown = true;
      is_here = all_are_here(operation, now);
      if (!is_here) now.between_show_and_look_again();  // this program may compute now, while others sleep
    }
    if (!is_here && !all_are_here(operation, now)) {
      if (!before_sleep || !tell(operation.sleeps, *operation.board) || !all_are_here(operation, now)) return false;
    }
    operation.sleeps.reset();
    if (!now.accept(operation.first, operation.last)) return end(operation, now.status());
    switch (run.act(operation.turn, now)) {
      case Run::Next::kOver:
        return end(operation, run.status());
      case Run::Next::kMessages:
        return turn_to_messages(operation);
      case Run::Next::kTurn:
        ++operation.turn;
        begin_turn(operation);
        operation.vci->domain().note_advance();
    }
  }
}

[[gnu::hot]] bool step(p2p::Task& task) noexcept {
  auto& operation = static_cast<BoardOperation&>(task);
  const bool before_sleep = operation.vci->domain().is_before_sleep();
  return (before_sleep || !is_in_vain(operation)) && go_on(operation, before_sleep);
}

[[gnu::hot]] void begin(BoardOperation& operation) noexcept {
  operation.turn = 0;
  begin_turn(operation);
  if (!go_on(operation, false)) p2p::add_task(*operation.comm, operation);
}

[[gnu::hot]] Status start(mpi::Request& request) {
  auto& operation = static_cast<BoardOperation&>(request);
  operation.complete.store(0, std::memory_order_relaxed);
  operation.active = true;
  operation.error = MPI_SUCCESS;
  operation.is_by_messages = false;
  operation.run->restart();
  begin(operation);
  return Status::ok();
}

Status explain(const mpi::Request& request) {
  const auto& operation = static_cast<const BoardOperation&>(request);
  if (!operation.is_by_messages || operation.refusal.empty()) return Status::ok();  // it may be an earlier run's
  return error(request.error, "%s", operation.refusal.c_str());
}

constexpr mpi::RequestType kBoardOperationType{.start = start,
                                               .cancel = nullptr,
                                               .destroy = destroy,
                                               .is_collective = true,
                                               .explain = explain,
                                               .must_complete = "a collective operation"};

BoardOperation::BoardOperation(mpi::Comm& c, const Course& what, const Steps& by_messages) noexcept
    : Request(kBoardOperationType), course(what), steps(by_messages), messages(c, /*blocking=*/false) {
  comm = &c;
  vci = c.vci;
  c.retain();
  // The user may free datatypes and the operation before the request (MPI 5.0, 6.12 and 6.13).
  for (Datatype* datatype : {what.round.shows.type, what.round.to.type}) {
    if (datatype != nullptr) mpi::retain(*datatype);
  }
  if (what.round.op != nullptr) mpi::retain(const_cast<Op&>(*what.round.op));
  step = coll::step;
}

Status least(mpi::Comm& comm, std::int64_t* values, int count) {
  return api::allreduce(MPI_IN_PLACE, values, count, *mpi::from_handle(MPI_INT64_T),
                        *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_MIN)), comm);
}

wire::Board::Shape shape_of(const mpi::Comm& comm, const wire::Board& common, const Course& course) noexcept {
  using wire::Board;
  const Round& round = course.round;
  const std::size_t ranks = size_of(comm.size);
  switch (course.way) {
    case Way::kCell:
      if (round.all_wait) return Board::shape_for_meeting(round.bytes);
      return Board::shape_for_one(round.bytes, ranks, round.data_of());
    case Way::kParts:
      return Board::shape_for_meeting(round.bytes);
    case Way::kPieces:
      if (round.op == nullptr && !round.is_apart) {
        return Board::shape_for_pieces(course.piece, ranks, Board::Shows::kRow);
      }
      return Board::shape_for_pieces(
          round.op != nullptr ? std::min(common.cell_bytes(), round.bytes) : common.cell_bytes(), ranks,
          Board::Shows::kEach);
    default:
      return Board::shape_for_meeting(sizeof(Place));
  }
}

// False: some rank has no memory for it, or not even for the request, or no steps.
Status open_board(mpi::Comm& comm, wire::Board& common, const Course& course, BoardOperation* operation, bool* opened) {
  const wire::Board::Shape shape = shape_of(comm, common, course);
  std::uint64_t offset = 0;
  if (comm.rank == 0 && !wire::Board::make(common.node(), common.ranks(), shape, &offset)) offset = 0;
  const std::uint64_t made = offset;
  const auto drop = [&] {
    if (made != 0) wire::Board::drop(common.node(), made, common.ranks(), shape);
  };
  if (const Status told = api::bcast(&offset, 8, mpi::byte_type(), 0, comm); !told) return drop(), told;
  wire::Board* board = nullptr;
  const auto self = static_cast<std::uint32_t>(comm.rank);
  std::int64_t good = offset != 0 && operation != nullptr &&
                      wire::Board::open(common.node(), offset, shape, self, common.regions(), &board).is_ok() &&
                      (course.way != Way::kMessages || write_schedule(*operation).is_ok());
  std::unique_ptr<wire::Board> own(board);
  const Status agreed = least(comm, &good, 1);
  *opened = agreed && good != 0;
  if (!*opened) return drop(), agreed;
  own->keep();
  own->set_reaches_all(common.reaches_all());
  own->set_ranks_on_a_core(common.ranks_on_a_core());
  operation->own_board = std::move(own);
  operation->board = operation->own_board.get();
  operation->run.emplace(comm, *operation->board, operation->course);
  return Status::ok();
}

// `by_board`: this rank would have a board for it, for all or to meet.
Outcome make_persistent(mpi::Comm& comm, const Start& start, const Course& course, wire::Board& common, bool by_board) {
  const auto bytes = static_cast<std::int64_t>(course.round.bytes);
  std::int64_t least_of[] = {by_board, bytes, -bytes};
  if (Status s = least(comm, least_of, 3); !s) return s;
  // Ranks whose arguments do not match hear of it in each run.
  if (least_of[0] == 0 || least_of[1] != -least_of[2]) return {};
  static_assert(Run::kMostTurns < wire::Board::kFewestSets);  // as begin_apart() requires
  BoardOperation* operation = operations.take(comm, course, start.steps);
  if (operation != nullptr) {
    operation->make_persistent();
  } else {
    next_tag(comm);  // as those ranks that have one
  }
  bool opened = false;
  const Status status = open_board(comm, common, course, operation, &opened);
  if (!opened && operation != nullptr) destroy(*operation);
  if (!status) return status;
  if (!opened) return {};
  *start.form.request = mpi::to_handle(static_cast<mpi::Request*>(operation));
  return Status::ok();
}

}  // namespace

Outcome set_up(mpi::Comm& comm, const Start& start, Course course, Does does, std::size_t block) {
  const Round& round = course.round;
  const bool has_gaps = round.raw && raw_bytes(*round.shows.type) == 0;
  const bool is_persistent = start.form.kind == Form::kPersistent;
  // A nonblocking one is local: it cannot make a board.
  wire::Board* common = is_persistent ? board_of(comm, Uses::kAgain) : comm.board.get();
  if (common == nullptr) return {};
  const Room room{common->cell_bytes(), common->row_bytes(), is_persistent};
  course.way = round.bytes <= kAlone ? Way::kCell : long_way_of(comm, *common, round.bytes, does, block, room);
  course.piece = piece_of(round.bytes, room);
  if (course.way == Way::kPieces && does == Does::kAllreduces)
    course = by_root(member_of(comm), course.round, course.piece);
  if (is_persistent) {
    // Where ranks share cores and each gives to each, they meet before: who runs ahead sends what nobody has asked for yet.
    const bool meets = does == Does::kExchanges && !common->has_cores();
    return make_persistent(comm, start, course, *common, (course.way != Way::kMessages || meets) && !has_gaps);
  }
  if (has_gaps) return {};
  BoardOperation* operation = operations.take(comm, course, start.steps);
  if (operation == nullptr) {  // the numbers and the tag that the others take
    wire::Board::Apart nothing;
    common->begin_apart(nothing, Run::kMostTurns);
    common->end_apart(nothing);
    next_tag(comm);
    return out_of_memory(comm);
  }
  operation->board = common;
  common->begin_apart(operation->apart, Run::kMostTurns);
  operation->run.emplace(comm, *common, operation->course);
  *start.form.request = mpi::to_handle(static_cast<mpi::Request*>(operation));
  begin(*operation);
  return Status::ok();
}

}  // namespace heddle::coll
