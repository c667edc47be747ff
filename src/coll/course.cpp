#include "coll/course.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "coll/build.hpp"
#include "coll/combining.hpp"
#include "coll/operation.hpp"

namespace heddle::coll {
namespace {

// That a rank shows: for all, or for each.
std::size_t blocks_of(const Round& round) noexcept { return round.bytes / round.each; }

Turn::Shows data_of_pieces(const Round& round) noexcept {
  return round.op == nullptr && !round.is_apart ? Turn::Shows::kRow : Turn::Shows::kAll;
}

Parts parts_of(const mpi::Comm& comm, const Round& round) noexcept { return {round.shows.count, comm.size}; }

}  // namespace

Course by_root(Member me, const Round& all, std::size_t piece) noexcept {
  Round then{.bytes = all.bytes, .raw = true, .all_wait = false};
  if (me.rank == 0) {
    then.shows = all.to;
    then.wakes = Turn::kAll;
  } else {
    then.first = then.last = 0;
    then.each = all.bytes;
    then.to = all.to;
  }
  return {.round = to_root(me, all, 0), .way = Way::kPieces, .piece = piece, .then = then};
}

Turn::Shows Run::data_by_way(unsigned turn) const noexcept {
  return way() == Way::kPieces && turn != 0 ? data_of_pieces(round_of(turn)) : Turn::Shows::kAll;
}

std::size_t Run::shown_bytes_by_way(unsigned turn) const noexcept {
  const Round& round = course_.round;
  switch (way()) {
    case Way::kMessages:
      return 0;
    case Way::kParts:
      if (turn == 0) return round.bytes;
      return size_of(parts_of(comm_, round).length(comm_.rank)) * raw_bytes(*round.shows.type);
    case Way::kPieces:
      if (turn == 0) return sizeof(Place);
      if (round_of(turn).shows.type == nullptr || round_of(turn).is_kept) return 0;
      return (round_of(turn).is_apart ? blocks_of(round_of(turn)) : 1) * piece(turn).bytes;
    default:
      return sizeof(Place);
  }
}

// Of operands as long as a cell allows; of data that one shows long enough that few turns do, and short enough that several are under way.
Pieces Run::pieces_of(const Round& round) const noexcept {
  if (round.op != nullptr) return {round.bytes, raw_bytes(*round.shows.type), board_.cell_bytes()};
  if (round.is_apart) return {round.each, kCacheLine, board_.cell_bytes() / blocks_of(round)};
  return {round.bytes, kCacheLine, course_.piece};
}

Run::Piece Run::piece(unsigned turn) const noexcept {
  const Round& round = round_of(turn);
  const Pieces all = pieces_of(round);
  const bool is_then = &round == &course_.then;
  const std::size_t i = turn - 1 - (is_then ? then_after_ : 0);
  return {round, all.begin(i), all.length(i), i + 1 == all.count() && (is_then || course_.then.bytes == 0)};
}

// As a round of their own.
Round Run::operands(const Piece& piece) const noexcept {
  Round round = piece.round;
  const std::size_t item = raw_bytes(*round.shows.type);
  const auto first = static_cast<MPI_Count>(piece.at / item);
  round.bytes = piece.bytes;
  round.shows = round.shows.part(first, static_cast<MPI_Count>(piece.bytes / item));
  if (round.to.type != nullptr) round.to = round.to.part(first, round.shows.count);
  return round;
}

// Into a cell, or out of one.
void Run::copy(wire::Copy kind, void* to, const void* from, std::size_t bytes) noexcept {
  comm_.vci->domain().copy_costs()->time(kind, bytes, [&] {
    std::memcpy(to, from, bytes);
    return bytes;
  });
}

void Run::show_piece(unsigned turn, Turn& now) noexcept {
  const Piece own = piece(turn);
  if (own.round.op != nullptr) return coll::show(now, operands(own));
  if (own.round.shows.type == nullptr) return now.show_nothing(own.round.wakes);
  if (own.round.is_apart) return show_of_each(own, now);
  now.show(now.bytes(), own.round.wakes, own.bytes, [&](std::byte* to) {
    copy(wire::Copy::kFill, to, advance(own.round.shows.data, static_cast<MPI_Count>(own.at)), own.bytes);
  });
}

// The piece of the block for each other rank.
void Run::show_of_each(const Piece& own, Turn& now) noexcept {
  const std::size_t blocks = blocks_of(own.round);
  now.show(now.bytes(), own.round.wakes, blocks * own.bytes, [&](std::byte* to) {
    const auto* from = static_cast<const std::byte*>(own.round.shows.data) + own.at;
    for (std::size_t i = 0; i < blocks; ++i) {
      if (blocks != 1 && i == size_of(comm_.rank)) continue;
      copy(wire::Copy::kFill, to + i * own.bytes, from + i * own.round.each, own.bytes);
    }
  });
}

void Run::take_of_each(const Piece& all, Turn& now) noexcept {
  const Round& round = all.round;
  const std::size_t block = round.at / round.each;  // of each, this rank's
  for (int rank = round.first; rank <= round.last; ++rank) {
    if (rank == round.except) continue;
    std::byte* const to = static_cast<std::byte*>(round.to.data) + size_of(rank) * round.each + all.at;
    if (rank != comm_.rank) {
      copy(wire::Copy::kEmpty, to, now.place(rank, blocks_of(round) * all.bytes) + block * all.bytes, all.bytes);
    } else if (const auto* own = static_cast<const std::byte*>(round.shows.data) + round.at + all.at; own != to) {
      std::memcpy(to, own, all.bytes);
    }
  }
}

Run::Next Run::take_piece(unsigned turn, Turn& now) noexcept {
  const Piece all = piece(turn);
  if (all.round.op != nullptr) {
    status_ = take(now, operands(all));
  } else {
    if (all.round.is_apart) {
      take_of_each(all, now);
    } else if (all.round.to.type != nullptr) {
      copy(wire::Copy::kEmpty, advance(all.round.to.data, static_cast<MPI_Count>(all.at)),
           now.place(all.round.first, all.bytes), all.bytes);
    }
    status_ = now.status();
  }
  return all.is_last || !status_ ? Next::kOver : Next::kTurn;
}

void Run::show_by_way(unsigned turn, Turn& now, Turn* before) noexcept {
  const Round& round = course_.round;
  switch (way()) {
    case Way::kMessages:
      return now.show_nothing(Turn::kNobody);
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

// All of it before the first one: where a rank has none, all hear of it in time.
bool Run::has_memory_for_pieces() const noexcept {
  return std::ranges::all_of(std::array{&course_.round, &course_.then}, [this](const Round* round) {
    return round->shows.type == nullptr || round->is_kept || board_.has_memory_for_all(data_of_pieces(*round));
  });
}

// Whether taking would write over what others want to read; an allreduce takes care of that.
bool Run::writes_over() const noexcept {
  const Round& round = course_.round;
  const bool gives = round.shows.type != nullptr, takes = round.to.type != nullptr;
  return gives && takes && round.shows.data == round.to.data && round.except != comm_.rank;
}

// Whether data by pieces are read instead: of two ranks; of more, whose pieces stay in a cache that all share, reading loses. The same at
// both: of what they have shown, and the number of the turn. One fills while the other empties where each has a core, and one has data.
bool Run::reads_pieces(Places& places, const Turn& now) const noexcept {
  if (comm_.size != 2 || course_.round.op != nullptr) return false;
  constexpr unsigned kInARow = 64, kTurns = 2048;
  const wire::CopyMeans costs = mean_of(places.of(0).costs, places.of(1).costs);
  const bool is_cheaper = costs.reading_is_cheaper(course_.round.one_shows && board_.has_cores());
  return is_cheaper != wire::goes_other_way(now.op(), kInARow, kTurns) && places.all_good();
}

// Null: others must not read it, or this rank cannot read theirs, or has no memory to show it.
const void* Run::data_to_read() const noexcept {
  const Round& round = course_.round;
  if (course_.way == Way::kPieces && !has_memory_for_pieces()) return nullptr;
  const bool gives = round.shows.type != nullptr, takes = round.to.type != nullptr;
  if (course_.way == Way::kAllreduce || (course_.way == Way::kPieces && round.op != nullptr)) return round.shows.data;
  if (writes_over() && course_.way != Way::kPieces) return nullptr;  // a piece is shown before any is taken over it
  if (course_.way != Way::kRead && course_.way != Way::kPieces) return round.shows.data;
  if (gives && !(round.shows.type->contiguous && size_of(round.shows.bytes()) == round.bytes)) return nullptr;
  if (takes && !(round.to.type->contiguous && size_of(round.to.bytes()) == round.each)) return nullptr;
  return gives ? round.shows.data : round.to.data;
}

Place Run::place(unsigned turn) const noexcept {
  const void* result = course_.round.to.data;
  if (turn == 0) {
    const bool may_be_read = !writes_over() && board_.may_read_pieces();
    return {.data = data_to_read(),
            .result = result,
            .good = may_be_read,
            .costs = comm_.vci->domain().copy_costs()->means()};
  }
  if (turn == 1 && course_.way == Way::kAllreduce) return {.data = result, .good = good_};
  return {.good = good_, .part = part_};
}

Run::Next Run::act_by_way(unsigned turn, Turn& now) noexcept {
  switch (way()) {
    case Way::kMessages:
      return Next::kMessages;
    case Way::kParts:
      if (turn == 0) return Next::kTurn;
      take_parts(now);
      return Next::kOver;
    case Way::kPieces:
      if (turn == 0) break;
      return take_piece(turn, now);
    default:
      break;
  }
  Places places(comm_, board_, now);
  if (turn == 0) {
    if (!places.all([](int, Place place) { return place.data != nullptr; })) return Next::kMessages;
    if (course_.way == Way::kPieces) {
      is_read_ = reads_pieces(places, now);
      if (!is_read_) return Next::kTurn;
    }
    part_ = good_ = way() == Way::kRead ? read_blocks(places) : combine(places);
    return Next::kTurn;
  }
  if (turn == 1 && course_.way == Way::kAllreduce) {
    good_ = read_parts(places);
    return Next::kTurn;
  }
  if (places.all_good() && is_whole(places)) return Next::kOver;
  if (is_read_) board_.read_no_pieces();
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
  Combining combining(comm_, operands, round.shows, *round.op);
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
    now.emplace(comm, board, bytes, run.data_of(turn));
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
