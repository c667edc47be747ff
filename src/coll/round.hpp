// One turn of a board as data: what a rank shows, for whom it waits, and what it takes from them.
//
// Problem: a blocking collective and a persistent one do the same; only the first may wait.
// Method:  a function for each collective says what its round is, once; carry_out() goes through it and waits, started.cpp looks
//          how far it can go.
// Threads: as a turn's.
#pragma once

#include "coll/turn.hpp"

namespace heddle::coll {

struct Round {
  std::size_t bytes = 0;   // of what each rank shows, as this rank's arguments say
  Buffer shows;            // no type: nothing, but that it is there
  bool raw = false;        // as it lies in memory (raw_bytes); otherwise packed
  bool is_kept = false;    // nobody else reads it: it stays where it lies
  bool one_shows = false;  // nobody but one shows data; the same at each rank
  bool all_wait = true;    // for all; the same at each rank
  int wakes = Turn::kNobody;
  int first = 0, last = -1;  // the ranks that it waits for

  // What it takes of each of them: `each` bytes, from byte `at` on.
  std::size_t at = 0, each = 0;
  Buffer to;               // no type: nothing
  bool is_apart = false;   // of rank r the r-th part of so many; otherwise it is of the only one, or combined
  int except = -1;         // not of this rank
  const Op* op = nullptr;  // combines them, the highest first

  Turn::Shows data_of() const noexcept {
    return one_shows ? Turn::Shows::kOne : all_wait ? Turn::Shows::kAll : Turn::Shows::kEach;
  }
};

inline Status error_of_own_block(std::size_t block, Buffer place) {
  return error(block > size_of(place.bytes()) ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME,
               "this rank's own block has %zu bytes, and the place for it %lld; they have to match", block,
               static_cast<long long>(place.bytes()));
}

[[gnu::hot]] inline void show(Turn& turn, const Round& round) noexcept {
  if (round.shows.type == nullptr || round.is_kept) return turn.show_nothing(round.wakes);
  if (!round.raw) return turn.show(round.shows, round.wakes);
  turn.show(turn.bytes(), round.wakes, round.bytes,
            [&](std::byte* to) { std::memcpy(to, round.shows.data, round.bytes); });
}

// REQUIRES: all that it waits for have come.
[[gnu::hot]] inline Status take(Turn& turn, const Round& round) noexcept {
  if (round.to.type == nullptr) return turn.status();
  if (round.op != nullptr) {
    const void* own = round.is_kept ? round.shows.data : nullptr;
    turn.fold(round.first, round.last, round.bytes, round.at, *round.op, round.to, own);
    return turn.status();
  }
  if (size_of(round.to.bytes()) != round.each) return error_of_own_block(round.each, round.to);
  for (int rank = round.first; rank <= round.last; ++rank) {
    if (rank == round.except) continue;
    const Buffer to = round.is_apart ? round.to.part(rank * round.to.count, round.to.count) : round.to;
    turn.copy_in(turn.place(rank, round.bytes) + round.at, to);
  }
  return turn.status();
}

[[gnu::hot]] inline Status carry_out(mpi::Comm& comm, wire::Board& board, const Round& round) noexcept {
  Turn turn(comm, board, round.bytes, round.data_of());
  show(turn, round);
  if (!turn.await(round.first, round.last)) return turn.status();
  return take(turn, round);
}

}  // namespace heddle::coll
