// One turn of a board in which all show where their data lie, for the others to read or to write there.
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
  MPI_Count good = 0;            // items, or whether all went well
};
static_assert(sizeof(Place) <= wire::Board::kInline);

class Straight {
 public:
  // Waits for all. `bytes`: as the collective's arguments say, the same at each.
  Straight(mpi::Comm& comm, wire::Board& board, std::size_t bytes, Place own) noexcept
      : size_(comm.size), board_(board), turn_(comm, board, bytes) {
    turn_.show(bytes, false, sizeof own, [&](std::byte* to) { std::memcpy(to, &own, sizeof own); });
    is_good_ = turn_.await_all();
  }
  // False: they do not agree about the bytes, or some are lost.
  bool is_good() const noexcept { return is_good_; }
  Status status() const noexcept { return turn_.status(); }

  // These REQUIRE is_good(), and that this rank has not begun another turn.
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
  Turn turn_;
  bool is_good_;
};

// `get(from)` reads what this rank wants of the others' data. Nobody's change before all have it. Nothing: by messages, since
// somebody's do not lie in one piece, or could not be read; all know.
template <class Get>
Outcome take(mpi::Comm& comm, wire::Board& board, std::size_t bytes, const void* own, Get&& get) {
  bool has_all;
  {
    Straight from(comm, board, bytes, {.data = own});
    if (!from.is_good()) return from.status();
    if (!from.all([](int, Place place) { return place.data != nullptr; })) return {};
    has_all = get(from);
  }
  Straight end(comm, board, bytes, {.good = has_all});
  if (!end.is_good()) return end.status();
  if (end.all([](int, Place place) { return place.good != 0; })) return Status::ok();
  return {};
}

}  // namespace heddle::coll
