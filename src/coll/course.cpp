#include "coll/course.hpp"

#include <algorithm>
#include <optional>

#include "coll/build.hpp"
#include "coll/combining.hpp"
#include "coll/operation.hpp"

namespace heddle::coll {
namespace {

// Bytes of a block from which it is read where it lies rather than sent, or taken from a cell; and of the part of the operands that a
// rank combines (docs/decisions/collectives.md).
constexpr std::size_t kShortestBlock = 32 << 10, kShortestPart = 16 << 10;

constexpr std::size_t kShortPiece = 16 << 10, kLongPiece = 128 << 10, kUsualPieces = 8;

Parts parts_of(const mpi::Comm& comm, const Round& round) noexcept { return {round.shows.count, comm.size}; }

}  // namespace

std::size_t piece_of(std::size_t bytes, Room room) noexcept {
  const std::size_t usual = std::clamp(bytes / kUsualPieces, kShortPiece, kLongPiece);
  const std::size_t needed = room.any_turns ? 0 : bytes / (Run::kMostTurns - 1) + kCacheLine;
  return std::min(std::max(usual, needed), room.row);
}

Way long_way_of(const mpi::Comm& comm, const wire::Board& board, std::size_t bytes, Does does, std::size_t block,
                Room room) noexcept {
  const bool in_cell = bytes <= room.cell;
  if (does == Does::kShows) return in_cell ? Way::kCell : Way::kMessages;
  if (does == Does::kSpreads && (room.any_turns || piece_of(bytes, room) < room.row)) {
    return in_cell && bytes < kShortestBlock ? Way::kCell : Way::kPieces;
  }
  if (does == Does::kMoves || does == Does::kSpreads) {
    if (board.reaches_all() && block >= kShortestBlock) return Way::kRead;
    return in_cell ? Way::kCell : Way::kMessages;
  }
  if (in_cell) return does == Does::kAllreduces && comm.size > 2 && bytes > kAlone ? Way::kParts : Way::kCell;
  if (block > board.cell_bytes()) return Way::kMessages;
  if (bytes / size_of(comm.size) < kShortestPart) {
    const bool by_pieces = does == Does::kReduces && room.any_turns && block <= room.cell;
    return by_pieces ? Way::kPieces : Way::kMessages;
  }
  if (!board.reaches_all()) return Way::kMessages;
  return does == Does::kReduces ? Way::kReduce : does == Does::kShares ? Way::kShare : Way::kAllreduce;
}

std::size_t Run::shown_bytes(unsigned turn) const noexcept {
  const Round& round = course_.round;
  switch (course_.way) {
    case Way::kMessages:
      return 0;
    case Way::kCell:
      return round.shows.type != nullptr ? round.bytes : 0;
    case Way::kParts:
      if (turn == 0) return round.bytes;
      return size_of(parts_of(comm_, round).length(comm_.rank)) * raw_bytes(*round.shows.type);
    case Way::kPieces:
      if (turn != 0) return round.shows.type != nullptr ? pieces().length(turn - 1) : 0;
      return sizeof(Place);
    default:
      return sizeof(Place);
  }
}

// Of operands as long as a cell allows; of data that one shows long enough that few turns do, and short enough that several are under way.
Pieces Run::pieces() const noexcept {
  const Round& round = course_.round;
  if (round.op != nullptr) return {round.bytes, raw_bytes(*round.shows.type), board_.cell_bytes()};
  return {round.bytes, kCacheLine, course_.piece};
}

// Of operands, as a round of its own.
Round Run::piece(unsigned turn) const noexcept {
  Round round = course_.round;
  const Pieces all = pieces();
  const std::size_t item = raw_bytes(*round.shows.type);
  const auto first = static_cast<MPI_Count>(all.begin(turn - 1) / item);
  round.bytes = all.length(turn - 1);
  round.shows = round.shows.part(first, static_cast<MPI_Count>(round.bytes / item));
  if (round.to.type != nullptr) round.to = round.to.part(first, round.shows.count);
  return round;
}

void Run::show_piece(unsigned turn, Turn& now) noexcept {
  const Round& round = course_.round;
  if (round.op != nullptr) return coll::show(now, piece(turn));
  if (round.shows.type == nullptr) return now.show_nothing(round.wakes);
  const Pieces all = pieces();
  now.show_alone(round.wakes, [&](std::byte* to) {
    std::memcpy(to, advance(round.shows.data, static_cast<MPI_Count>(all.begin(turn - 1))), all.length(turn - 1));
  });
}

Status Run::take_piece(unsigned turn, Turn& now) noexcept {
  const Round& round = course_.round;
  if (round.op != nullptr) return take(now, piece(turn));
  const Pieces all = pieces();
  if (round.to.type != nullptr) {
    std::memcpy(advance(round.to.data, static_cast<MPI_Count>(all.begin(turn - 1))), now.row(), all.length(turn - 1));
  }
  return now.status();
}

void Run::show(unsigned turn, Turn& now, Turn* before) noexcept {
  const Round& round = course_.round;
  switch (course_.way) {
    case Way::kMessages:
      return now.show_nothing(Turn::kNobody);
    case Way::kCell:
      return coll::show(now, round);
    case Way::kParts: {
      if (turn == 0) return coll::show(now, round);
      const Parts parts = parts_of(comm_, round);
      const std::size_t at = size_of(parts.begin(comm_.rank)) * raw_bytes(*round.to.type);
      return now.show(now.bytes(), Turn::kNobody, shown_bytes(turn), [&](std::byte* to) {
        before->fold(0, comm_.size - 1, round.bytes, at, *round.op,
                     Buffer(to, parts.length(comm_.rank), *round.to.type));
      });
    }
    case Way::kPieces:
      if (turn != 0) return show_piece(turn, now);
      return coll::show(now, place(turn));
    default:
      return coll::show(now, place(turn));
  }
}

// Null: others must not read it, or this rank cannot read theirs.
const void* Run::data_to_read() const noexcept {
  const Round& round = course_.round;
  const bool gives = round.shows.type != nullptr, takes = round.to.type != nullptr;
  // In place what others want would be written over; an allreduce takes care of that.
  const bool is_over = gives && takes && round.shows.data == round.to.data && round.except != comm_.rank;
  if (course_.way == Way::kAllreduce || (course_.way == Way::kPieces && round.op != nullptr)) return round.shows.data;
  if (is_over) return nullptr;
  if (course_.way != Way::kRead && course_.way != Way::kPieces) return round.shows.data;
  if (gives && !(round.shows.type->contiguous && size_of(round.shows.bytes()) == round.bytes)) return nullptr;
  if (takes && !(round.to.type->contiguous && size_of(round.to.bytes()) == round.each)) return nullptr;
  return gives ? round.shows.data : round.to.data;
}

Place Run::place(unsigned turn) const noexcept {
  const void* result = course_.round.to.data;
  if (turn == 0) return {.data = data_to_read(), .result = result};
  if (turn == 1 && course_.way == Way::kAllreduce) return {.data = result, .good = good_};
  return {.good = good_, .part = part_};
}

Run::Next Run::act(unsigned turn, Turn& now) noexcept {
  switch (course_.way) {
    case Way::kMessages:
      return Next::kMessages;
    case Way::kCell:
      status_ = take(now, course_.round);
      return Next::kOver;
    case Way::kParts:
      if (turn == 0) return Next::kTurn;
      take_parts(now);
      return Next::kOver;
    case Way::kPieces:
      if (turn == 0) break;
      status_ = take_piece(turn, now);
      return turn == pieces().count() || !status_ ? Next::kOver : Next::kTurn;
    default:
      break;
  }
  Places places(comm_, board_, now);
  if (turn == 0) {
    if (!places.all([](int, Place place) { return place.data != nullptr; })) return Next::kMessages;
    if (course_.way == Way::kPieces) return Next::kTurn;
    part_ = good_ = course_.way == Way::kRead ? read_blocks(places) : combine(places);
    return Next::kTurn;
  }
  if (turn == 1 && course_.way == Way::kAllreduce) {
    good_ = read_parts(places);
    return Next::kTurn;
  }
  if (places.all_good() && is_whole(places)) return Next::kOver;
  has_part_ = course_.way == Way::kAllreduce;
  return Next::kMessages;
}

void Run::take_parts(Turn& now) noexcept {
  const Parts parts = parts_of(comm_, course_.round);
  const std::size_t item = raw_bytes(*course_.round.to.type);
  for (int rank = 0; rank < comm_.size; ++rank) {
    const Buffer to = parts.of(course_.round.to, rank);
    const std::size_t bytes = size_of(to.count) * item;
    if (bytes != 0) std::memcpy(to.data, now.place(rank, bytes), bytes);
  }
}

bool Run::read_blocks(Places& from) noexcept {
  const Round& round = course_.round;
  if (round.to.type == nullptr) return true;
  for (int i = 0; i < comm_.size; ++i) {
    const int rank = (comm_.rank + i) % comm_.size;
    if (rank < round.first || rank > round.last || rank == round.except) continue;
    void* to = round.is_apart ? round.to.part(rank * round.to.count, 0).data : round.to.data;
    if (rank == comm_.rank) {
      std::memcpy(to, advance(round.shows.data, static_cast<MPI_Count>(round.at)), round.each);
    } else if (!from.read(rank, round.at, to, round.each)) {
      return false;
    }
  }
  return true;
}

// An allreduce: how many items of this rank's part there are. The others: whether there are all.
MPI_Count Run::combine(Places& operands) noexcept {
  const Round& round = course_.round;
  Combining combining(comm_, board_, operands, round.shows, *round.op);
  if (course_.way == Way::kShare) return combining.into(comm_.rank * round.to.count, round.to) == round.to.count;
  const Parts parts = parts_of(comm_, round);
  const MPI_Count begin = parts.begin(comm_.rank), length = parts.length(comm_.rank);
  if (course_.way == Way::kAllreduce) return combining.into(begin, round.to.part(begin, length));
  if (comm_.rank == course_.root) return combining.into(begin, round.to.part(begin, length)) == length;
  return combining.to_rank(course_.root, begin, length) == length;
}

bool Run::read_parts(Places& results) noexcept {
  const Parts parts = parts_of(comm_, course_.round);
  const std::size_t item = raw_bytes(*course_.round.to.type);
  for (int i = 1; i < comm_.size; ++i) {
    const int rank = (comm_.rank + i) % comm_.size;
    const std::size_t at = size_of(parts.begin(rank)) * item, bytes = size_of(results.of(rank).good) * item;
    if (!results.read(rank, at, parts.of(course_.round.to, rank).data, bytes)) return false;
  }
  return true;
}

bool Run::is_whole(Places& ends) const noexcept {
  if (course_.way != Way::kAllreduce) return true;
  const Parts parts = parts_of(comm_, course_.round);
  return ends.all([&](int rank, Place end) { return end.part == parts.length(rank); });
}

// So many items of part r are at rank r as that says; the rest of the operands is as it was.
void Run::build_rest(Schedule& schedule, Turn& last) const noexcept {
  const Round& round = course_.round;
  const Parts parts = parts_of(comm_, round);
  Places ends(comm_, board_, last);
  for (int rank = 0; rank < comm_.size; ++rank) {
    const MPI_Count begin = parts.begin(rank), end = parts.begin(rank + 1), middle = begin + ends.of(rank).part;
    build_allreduce(schedule, round.shows.part(middle, end - middle), round.to.part(middle, 0).data,
                    const_cast<Op&>(*round.op));
    schedule.join();
    build_bcast(schedule, round.to.part(begin, middle - begin), rank);
    schedule.join();
  }
}

Outcome go_through(mpi::Comm& comm, wire::Board& board, const Course& course, std::size_t bytes) {
  Run run(comm, board, course);
  std::optional<Turn> turns[2];
  for (unsigned turn = 0;; ++turn) {
    std::optional<Turn>& now = turns[turn % 2];
    now.emplace(comm, board, bytes);
    run.show(turn, *now, turn != 0 ? &*turns[(turn + 1) % 2] : nullptr);
    if (!now->await(run.first(turn), run.last(turn))) return now->status();
    switch (run.act(turn, *now)) {
      case Run::Next::kTurn:
        break;
      case Run::Next::kOver:
        return run.status();
      case Run::Next::kMessages:
        if (!run.has_part()) return {};
        return carry_out(comm, {}, [&](Schedule& schedule) { run.build_rest(schedule, *now); });
    }
  }
}

}  // namespace heddle::coll
