// Turns of a board in which all show where their data lie, for the others to read or to write there.
//
// Threads: one at a time, as the collective's.
// Cost:    of a read or a write: one system call, about 1 us, and one copy.
#pragma once

#include "coll/turn.hpp"

namespace heddle::coll {

// What a rank shows.
struct Place {
  const void* data = nullptr;    // null: not in one piece, or it must not be read
  const void* result = nullptr;  // where the others may write
  MPI_Count good = 0;       // items, or whether all went well; in the first turn, whether pieces may be read instead
  MPI_Count part = 0;       // in the last turn of an allreduce: items of this rank's part that are in its result
  wire::CopyMeans costs{};  // in the first turn
};
static_assert(sizeof(Place) <= wire::Board::kInline);

// What the ranks have shown in a turn. REQUIRES: all have come, and this rank has not begun another.
class Places {
 public:
  Places(mpi::Comm& comm, wire::Board& board, Turn& turn) noexcept : size_(comm.size), board_(board), turn_(turn) {}

  Place of(int rank) noexcept {
    Place place;
    std::memcpy(&place, turn_.place(rank, sizeof place), sizeof place);
    return place;
  }
  template <class Holds>
  bool all(Holds&& holds) noexcept {
    for (int rank = 0; rank < size_; ++rank) {
      if (!holds(rank, of(rank))) return false;
    }
    return true;
  }
  bool all_good() noexcept {
    return all([](int, Place place) { return place.good != 0; });
  }
  // From byte `at` of the rank's data, and to byte `at` of its result. False: the system did not allow all of it.
  bool read(int rank, std::size_t at, void* here, std::size_t bytes) noexcept {
    return board_.read(static_cast<std::uint32_t>(rank), address(of(rank).data, at), static_cast<std::byte*>(here),
                       bytes);
  }
  bool write(int rank, std::size_t at, const void* here, std::size_t bytes) noexcept {
    return board_.write(static_cast<std::uint32_t>(rank), address(of(rank).result, at),
                        static_cast<const std::byte*>(here), bytes);
  }

 private:
  static std::uint64_t address(const void* base, std::size_t at) noexcept {
    return reinterpret_cast<std::uint64_t>(base) + at;
  }

  const int size_;
  wire::Board& board_;
  Turn& turn_;
};

inline void show(Turn& turn, const Place& own) noexcept {
  turn.show(turn.bytes(), Turn::kNobody, sizeof own, [&](std::byte* to) { std::memcpy(to, &own, sizeof own); });
}

// Both, waiting for all. `bytes`: as the collective's arguments say, the same at each.
class Straight {
 public:
  Straight(mpi::Comm& comm, wire::Board& board, std::size_t bytes, Place own) noexcept
      : turn_(comm, board, bytes, Turn::Shows::kAll), places_(comm, board, turn_) {
    show(turn_, own);
    is_good_ = turn_.await_all();
  }
  Straight(const Straight&) = delete;
  Straight& operator=(const Straight&) = delete;

  // False: they do not agree about the bytes, or some are lost.
  bool is_good() const noexcept { return is_good_; }
  Status status() const noexcept { return turn_.status(); }
  // REQUIRES: is_good().
  Places& places() noexcept { return places_; }

 private:
  Turn turn_;
  Places places_;
  bool is_good_;
};

}  // namespace heddle::coll
