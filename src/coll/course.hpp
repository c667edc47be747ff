// A collective by a board as data and in turns, each of which ends when all whom this rank waits for have come.
//
// Problem: a blocking collective, a nonblocking and a persistent one do the same; only the first may wait.
// Method:  a course says what moves and which way (round.hpp: what a rank shows and takes); a run of it knows for each turn what
//          this rank shows and what it does when the others have come. go_through() waits in each turn; started.cpp looks
//          how far it can go.
//            kCell       one turn: data lie in the lines or cells of the board
//            kParts      two: an allreduce in cells, of which each rank combines a part and shows that
//            kRead       two: all show addresses, and read what they need of the others' data where it lies; then that they have it
//            kReduce, kShare  two: the same, each combines a part of the operands: for the root's result, for its own
//            kAllreduce  three: the same, and between them all read the parts of the others
//            kPieces     one, to see that all agree; then one for each piece, through cells: of the root's data, of the operands for
//                        it, of what all give to all; of an allreduce of the operands for rank 0, and then of its result. Data
//                        of two ranks are read instead, as by kRead, where they have found that it costs less (wire/copy_costs.hpp)
//            kMessages   one, to see that all agree, since ranks that go different ways would wait for each other, or only to meet
//                        (started.cpp); then by messages
//          Data that do not lie in one piece somewhere, and what could not be read in the end, go by messages: all ranks know the
//          same about that.
// Threads: one at a time for a run.
// Cost:    of reading: a system call for each rank and piece, and each byte is copied once.
#pragma once

#include <algorithm>

#include "coll/rounds.hpp"
#include "coll/schedule.hpp"
#include "coll/straight.hpp"

namespace heddle::coll {

// Up to here each rank combines all operands by itself; beyond that each combines a part, and shows it.
inline constexpr std::size_t kAlone = 1024;

enum class Way : std::uint8_t { kCell, kParts, kRead, kReduce, kShare, kAllreduce, kPieces, kMessages };

struct Course {
  Round round;  // of operations that combine: what is shown is this rank's operand
  Way way = Way::kCell;
  int root = 0;           // kReduce
  std::size_t piece = 0;  // kPieces, of data that one rank shows: bytes of each at most
  Round then = {};        // kPieces, of an allreduce: how the result comes to all
};

// What a collective does with what all show: some can only go through cells. kSpreads: one's data to all; kGathers: all's; kExchanges: of
// each a block to each.
enum class Does : std::uint8_t { kShows, kSpreads, kGathers, kExchanges, kReduces, kShares, kAllreduces };

// What a way is for. `cell`, `row`: their bytes; `any_turns`: not only kMostTurns.
struct Room {
  std::size_t cell, row;
  bool any_turns;
};

// Of one that blocks.
inline Room room_of(const wire::Board& board) noexcept { return {board.cell_bytes(), board.row_bytes(), true}; }

// Which way it goes, by what all ranks know. `block`: the bytes that go from one rank to one other, of what moves; an item's, of what
// is combined.
Way long_way_of(const mpi::Comm& comm, const wire::Board& board, std::size_t bytes, Does does, std::size_t block,
                Room room) noexcept;
// Of one that blocks.
inline Way way_of(const mpi::Comm& comm, const wire::Board& board, std::size_t bytes, Does does,
                  std::size_t block) noexcept {
  if (bytes <= kAlone) [[likely]]
    return Way::kCell;
  return long_way_of(comm, board, bytes, does, block, room_of(board));
}

// Bytes of a piece of so many that one rank shows.
std::size_t piece_of(std::size_t bytes, Room room) noexcept;
// The course by pieces of an allreduce that is the round `all`; `piece`: of its result.
Course by_root(Member me, const Round& all, std::size_t piece) noexcept;
// Of a course by pieces: as few as will do of at most `most` bytes, of whole units, all about as long. REQUIRES: unit <= most.
class Pieces {
 public:
  Pieces(std::size_t bytes, std::size_t unit, std::size_t most) noexcept
      : bytes_(bytes),
        unit_(unit),
        units_((bytes + unit - 1) / unit),
        count_((units_ + most / unit - 1) / (most / unit)) {}
  std::size_t count() const noexcept { return count_; }
  std::size_t begin(std::size_t i) const noexcept {
    const auto units = static_cast<std::size_t>(static_cast<unsigned __int128>(units_) * i / count_);
    return std::min(units * unit_, bytes_);
  }
  std::size_t length(std::size_t i) const noexcept { return begin(i + 1) - begin(i); }

 private:
  const std::size_t bytes_, unit_, units_, count_;
};

class Run {
 public:
  static constexpr unsigned kMostTurns = 3;  // but by pieces
  enum class Next : std::uint8_t { kTurn, kOver, kMessages };

  Run(mpi::Comm& comm, wire::Board& board, const Course& course) noexcept
      : comm_(comm), board_(board), course_(course) {
    if (course.then.bytes != 0) then_after_ = static_cast<unsigned>(pieces_of(course.round).count());
  }

  // For the course once more.
  void restart() noexcept {
    has_part_ = is_read_ = false;
    status_ = Status::ok();
  }

  // In turn number `turn`: whom this rank waits for, who shows data, the bytes that this rank shows,
  int first(unsigned turn) const noexcept { return waits_for_all(turn) ? 0 : round_of(turn).first; }
  int last(unsigned turn) const noexcept { return waits_for_all(turn) ? comm_.size - 1 : round_of(turn).last; }
  Turn::Shows data_of(unsigned turn) const noexcept {
    return course_.way == Way::kCell ? course_.round.data_of() : data_by_way(turn);
  }
  std::size_t shown_bytes(unsigned turn) const noexcept {
    if (course_.way != Way::kCell) return shown_bytes_by_way(turn);
    return course_.round.shows.type != nullptr && !course_.round.is_kept ? course_.round.bytes : 0;
  }
  // shows them (`before`: the turn before, if there was one),
  void show(unsigned turn, Turn& now, Turn* before) noexcept {
    course_.way == Way::kCell ? coll::show(now, course_.round) : show_by_way(turn, now, before);
  }
  // and what follows when they have come.
  Next act(unsigned turn, Turn& now) noexcept {
    if (course_.way != Way::kCell) return act_by_way(turn, now);
    status_ = take(now, course_.round);
    return Next::kOver;
  }

  // After kOver.
  Status status() const noexcept { return status_; }
  // After kMessages. True: a part of the result is there, and build_rest() writes the steps for what is not, as `last`, the turn
  // that it was, tells. False: all has to go by messages.
  bool has_part() const noexcept { return has_part_; }
  void build_rest(Schedule& schedule, Turn& last) const noexcept;

 private:
  bool waits_for_all(unsigned turn) const noexcept {
    return course_.way != Way::kCell && (way() != Way::kPieces || turn == 0);
  }
  // The same of all ways but kCell, which is inline: nearly all calls are of it (docs/decisions/hot-pages.md).
  Turn::Shows data_by_way(unsigned turn) const noexcept;
  std::size_t shown_bytes_by_way(unsigned turn) const noexcept;
  void show_by_way(unsigned turn, Turn& now, Turn* before) noexcept;
  Next act_by_way(unsigned turn, Turn& now) noexcept;
  Pieces pieces_of(const Round& round) const noexcept;
  Way way() const noexcept { return is_read_ ? Way::kRead : course_.way; }
  const Round& round_of(unsigned turn) const noexcept { return turn > then_after_ ? course_.then : course_.round; }
  struct Piece {
    const Round& round;
    std::size_t at, bytes;
    bool is_last;
  };
  Piece piece(unsigned turn) const noexcept;
  Round operands(const Piece& piece) const noexcept;
  void copy(wire::Copy kind, void* to, const void* from, std::size_t bytes) noexcept;
  void show_piece(unsigned turn, Turn& now) noexcept;
  void show_of_each(const Piece& own, Turn& now) noexcept;
  void take_of_each(const Piece& all, Turn& now) noexcept;
  Next take_piece(unsigned turn, Turn& now) noexcept;
  Place place(unsigned turn) const noexcept;
  bool writes_over() const noexcept;
  bool reads_pieces(Places& places, const Turn& now) const noexcept;
  bool has_memory_for_pieces() const noexcept;
  const void* data_to_read() const noexcept;
  void take_parts(Turn& now) noexcept;
  bool read_blocks(Places& from) noexcept;
  MPI_Count combine(Places& operands) noexcept;
  bool read_parts(Places& results) noexcept;
  bool is_whole(Places& ends) const noexcept;

  mpi::Comm& comm_;
  wire::Board& board_;
  const Course& course_;
  unsigned then_after_ = ~0u;  // the last turn of course_.round, where another follows
  MPI_Count good_ = 0;         // of the turn before
  MPI_Count part_ = 0;         // of an allreduce: the items of this rank's part that it has combined
  bool has_part_ = false;
  bool is_read_ = false;  // though by pieces
  Status status_ = Status::ok();
};

// Waits in each turn. `bytes`: of what each rank brings in all, as its arguments say. Nothing: by messages, as all know.
Outcome go_through(mpi::Comm& comm, wire::Board& board, const Course& course, std::size_t bytes);

}  // namespace heddle::coll
