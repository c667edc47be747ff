// Long data that are moved.
#include "coll/board_long.hpp"

#include "coll/straight.hpp"

namespace heddle::coll {
namespace {

const void* in_one_piece(Buffer data) noexcept { return data.type->contiguous ? data.data : nullptr; }

}  // namespace

Outcome long_bcast(mpi::Comm& comm, wire::Board& board, Buffer data, int root) {
  const std::size_t bytes = size_of(data.bytes());
  if (!is_long(board, bytes)) return agree(comm, board, bytes);
  return take(comm, board, bytes, in_one_piece(data),
              [&](Straight& from) { return comm.rank == root || from.read(root, 0, data.data, bytes); });
}

Outcome long_allgather(mpi::Comm& comm, wire::Board& board, Buffer send, Buffer recv_each) {
  const std::size_t block = size_of(recv_each.bytes());
  if (!is_long(board, block)) return agree(comm, board, block);
  const auto place = [&](int rank) { return recv_each.part(rank * recv_each.count, recv_each.count); };
  const Buffer own = send.in_place() ? place(comm.rank) : send;
  const bool fits = size_of(own.bytes()) == block && recv_each.type->contiguous;
  return take(comm, board, block, fits ? in_one_piece(own) : nullptr, [&](Straight& from) {
    if (!send.in_place()) std::memcpy(place(comm.rank).data, own.data, block);
    bool read = true;
    for (int i = 1; i < comm.size && read; ++i) {
      const int rank = (comm.rank + i) % comm.size;
      read = from.read(rank, 0, place(rank).data, block);
    }
    return read;
  });
}

Outcome long_scatter(mpi::Comm& comm, wire::Board& board, Buffer send_each, Buffer recv, int root) {
  const bool is_root = comm.rank == root;
  const std::size_t block = size_of(is_root ? send_each.bytes() : recv.bytes());
  const std::size_t bytes = block * size_of(comm.size);
  if (!is_long(board, block)) return agree(comm, board, bytes);
  const bool stays = is_root && recv.in_place();
  const bool fits = stays || (size_of(recv.bytes()) == block && recv.type->contiguous);
  const void* shown = is_root ? in_one_piece(send_each) : recv.data;
  return take(comm, board, bytes, fits ? shown : nullptr,
              [&](Straight& from) { return stays || from.read(root, block * size_of(comm.rank), recv.data, block); });
}

Outcome long_alltoall(mpi::Comm& comm, wire::Board& board, Buffer send_each, Buffer recv_each) {
  const std::size_t block = size_of(recv_each.bytes());
  const std::size_t bytes = block * size_of(comm.size);
  if (!is_long(board, block)) return agree(comm, board, bytes);
  // In place what others want would be written over.
  const bool fits = !send_each.in_place() && size_of(send_each.bytes()) == block && recv_each.type->contiguous;
  return take(comm, board, bytes, fits ? in_one_piece(send_each) : nullptr, [&](Straight& from) {
    bool read = true;
    for (int i = 0; i < comm.size && read; ++i) {
      const int rank = (comm.rank + i) % comm.size;
      read = from.read(rank, block * size_of(comm.rank), advance(recv_each.data, rank * recv_each.bytes()), block);
    }
    return read;
  });
}

}  // namespace heddle::coll
