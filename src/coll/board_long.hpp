// Collectives of a node whose data are too long for a cell: each rank reads what it needs where it lies.
//
// Problem: through cells everything is copied twice; by messages each link of a chain waits for the one before.
// Method:  all show the addresses of their data (straight.hpp), then all read at the same time, and nobody returns before all
//          have read. In a reduction rank r combines part r of the operands, in chunks that stay in its cache, and the others
//          read the part from its result.
//          Data that do not lie in one piece somewhere, ranks whose memory the system does not let others read, and what could
//          not be read in the end go by messages or through cells: all ranks know the same about that.
// Threads: as the collectives.
// Cost:    two or three turns of the board; each byte is copied once.
#pragma once

#include "coll/board.hpp"

namespace heddle::coll {

// Whether blocks of so many bytes are read faster than they go by messages, or through cells to all (docs/decisions/collectives.md).
inline bool is_long(const wire::Board& board, std::size_t block) noexcept {
  constexpr std::size_t kShortest = 32 << 10;
  return board.reaches_all() && block >= kShortest;
}

Outcome long_bcast(mpi::Comm& comm, wire::Board& board, Buffer data, int root);
Outcome long_allgather(mpi::Comm& comm, wire::Board& board, Buffer send, Buffer recv_each);
Outcome long_scatter(mpi::Comm& comm, wire::Board& board, Buffer send_each, Buffer recv, int root);
Outcome long_alltoall(mpi::Comm& comm, wire::Board& board, Buffer send_each, Buffer recv_each);

// Of those that reduce: REQUIRES: raw_bytes of the type, which a cell has room for.
Outcome long_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, Op& op, int root);
Outcome long_allreduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, const Op& op);
Outcome long_reduce_scatter_block(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer result, const Op& op);
// Of what a cell has room for, through it.
Status bcast_cell(mpi::Comm& comm, wire::Board& board, Buffer data, int root);
// The same of the items `own` of operands that have `all` bytes.
Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, Buffer result, const Op& op);

}  // namespace heddle::coll
