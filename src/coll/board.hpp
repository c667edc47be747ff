// Collectives of ranks that share a node by what they show each other (wire/board.hpp).
//
// Method:  each function here carries out one collective, or says that it has to go by messages: where the communicator has
//          no board, or by the length of the data. Which it is follows only from what all ranks know. Reductions begin
//          with the highest rank's operand and combine downwards, the same at every rank and for every operation.
// Threads: as the collectives: one at a time for a communicator.
// Cost:    no allocation. Barrier and allreduce of a line: each rank reads one line of each other.
#pragma once

#include <optional>

#include "base/status.hpp"
#include "coll/api.hpp"
#include "coll/buffer.hpp"
#include "mpi/comm.hpp"
#include "mpi/op.hpp"
#include "wire/board.hpp"

namespace heddle::coll {

using mpi::Op;

// Nothing: by messages.
using Outcome = std::optional<Status>;

enum class Uses { kMoves, kReduces, kAgain };

// Of one that does not block: it is begun, or a persistent one made (started.hpp). Null: it blocks.
struct Start;

// The board of a communicator that has one by now; null: by messages. It is made by the first reduction, the first persistent one, or when as many
// other collectives have been called as HEDDLE_BOARD_AFTER says, by all ranks in the same call: each function below asks once.
wire::Board* make_board(mpi::Comm& comm, Uses uses) noexcept;
inline wire::Board* board_of(mpi::Comm& comm, Uses uses) noexcept {
  if (comm.board != nullptr) [[likely]]
    return comm.board.get();
  return comm.before_board == mpi::Comm::kNever ? nullptr : make_board(comm, uses);
}

Outcome board_barrier(mpi::Comm& comm, const Start* start);
Outcome board_bcast(mpi::Comm& comm, const Start* start, Buffer data, int root);
// `own`: this rank's operand, which may be where the result goes.
Outcome board_reduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, int root);
Outcome board_allreduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op);
Outcome board_reduce_scatter_block(mpi::Comm& comm, const Start* start, const void* own, void* result, MPI_Count count,
                                   Datatype& type, Op& op);
// `send` may be MPI_IN_PLACE; `recv_each` counts at the root.
Outcome board_gather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each, int root);
Outcome board_allgather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each);
// `recv` may be MPI_IN_PLACE; `send_each` counts at the root.
Outcome board_scatter(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv, int root);
Outcome board_alltoall(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv_each);
Outcome board_scan(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, bool inclusive);

}  // namespace heddle::coll
