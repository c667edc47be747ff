// Which way a collective goes by a board, by measurement (docs/decisions/collectives.md).
#include <algorithm>

#include "coll/course.hpp"

namespace heddle::coll {
namespace {

// Bytes of a block from which it is read where it lies rather than sent, or taken from a cell; and of the part of the operands that a
// rank combines (docs/decisions/collectives.md).
constexpr std::size_t kShortestBlock = 32 << 10, kShortestPart = 16 << 10;

// Combined by one rank (docs/decisions/collectives.md): an allreduce of two of more bytes than that; of up to so many ranks, though each
// has a core, from so many bytes on; with so many on a core, whatever is too long for all to combine all.
constexpr std::size_t kLeastOfTwo = 8 << 10, kLongForFew = 256 << 10;
constexpr int kFew = 4;
constexpr std::uint32_t kManyOnACore = 16;

constexpr std::size_t kShortPiece = 16 << 10, kLongPiece = 128 << 10, kUsualPieces = 8;

// Ranks that share cores, and send long blocks and parts rather than read them (docs/decisions/collectives.md).
constexpr int kMostThatSend = 8;

// Whether operands are combined by one rank, piece by piece, though all could: they are copied once less, by others than the one who
// combines, and ranks that share cores gain nothing from combining at the same time.
bool goes_by_root(const mpi::Comm& comm, const wire::Board& board, std::size_t bytes, Does does,
                  std::size_t cell) noexcept {
  if (does != Does::kReduces && does != Does::kAllreduces) return false;
  if (does == Does::kAllreduces && board.ranks_on_a_core() >= kManyOnACore) return true;
  if (bytes <= (comm.size == 2 && does == Does::kAllreduces ? kLeastOfTwo : cell)) return false;
  return comm.size == 2 || !board.has_cores() || (comm.size <= kFew && bytes >= kLongForFew);
}

// Whether long blocks are read where they lie. Two ranks always send.
bool reads(const mpi::Comm& comm, const wire::Board& board) noexcept {
  return board.reaches_all() && comm.size > 2 && (board.has_cores() || comm.size > kMostThatSend);
}

// Of what has kMostTurns, the first of which moves nothing: whole cache lines, as pieces are.
std::size_t least_piece(std::size_t bytes) noexcept {
  constexpr std::size_t kPieces = Run::kMostTurns - 1;
  return ((bytes + kCacheLine - 1) / kCacheLine + kPieces - 1) / kPieces * kCacheLine;
}

}  // namespace

std::size_t piece_of(std::size_t bytes, Room room) noexcept {
  const std::size_t usual = std::clamp(bytes / kUsualPieces, kShortPiece, kLongPiece);
  return std::min(room.any_turns ? usual : std::max(usual, least_piece(bytes)), room.row);
}

Way long_way_of(const mpi::Comm& comm, const wire::Board& board, std::size_t bytes, Does does, std::size_t block,
                Room room) noexcept {
  const bool in_cell = bytes <= room.cell;
  if (does == Does::kShows) return in_cell ? Way::kCell : Way::kMessages;
  if (does == Does::kSpreads && (room.any_turns || least_piece(bytes) <= room.row)) {
    return in_cell && bytes < kShortestBlock ? Way::kCell : Way::kPieces;
  }
  const bool by_pieces = does == Does::kGathers || (does == Does::kExchanges && comm.size == 2);
  if (by_pieces && room.any_turns && block >= kShortestBlock) return Way::kPieces;
  if (does != Does::kReduces && does != Does::kShares && does != Does::kAllreduces) {
    if (block >= kShortestBlock && reads(comm, board)) return Way::kRead;
    return in_cell ? Way::kCell : Way::kMessages;
  }
  if (room.any_turns && block <= room.cell && goes_by_root(comm, board, bytes, does, room.cell)) return Way::kPieces;
  if (in_cell) return does == Does::kAllreduces && comm.size > 2 && bytes > kAlone ? Way::kParts : Way::kCell;
  if (block > board.cell_bytes()) return Way::kMessages;
  if (bytes / size_of(comm.size) < kShortestPart) {
    return does == Does::kReduces && room.any_turns && block <= room.cell ? Way::kPieces : Way::kMessages;
  }
  if (!reads(comm, board)) return Way::kMessages;
  return does == Does::kReduces ? Way::kReduce : does == Does::kShares ? Way::kShare : Way::kAllreduce;
}

}  // namespace heddle::coll
