// The round of each collective by a board: what one rank of so many shows, for whom it waits, and what it takes of them.
//
// Method:  pure, of what all ranks know and of this rank's own buffers: so the rounds of all ranks can be proved together (proof.hpp).
//          Reductions combine what they take from the highest rank downwards, the same at every rank and for every operation.
// Threads: any.
#pragma once

#include "coll/round.hpp"

namespace heddle::coll {

struct Member {
  int rank, size;
};
inline Member member_of(const mpi::Comm& comm) noexcept { return {comm.rank, comm.size}; }

// All show that they are there, or `shows`, and wait for all.
inline Round round_of_all(Member me, std::size_t bytes, Buffer shows) noexcept {
  Round round{.bytes = bytes, .shows = shows};
  round.last = me.size - 1;
  return round;
}

// The root shows, the others wait for it.
inline Round round_from_root(Member me, std::size_t bytes, Buffer shows, int root) noexcept {
  Round round{.bytes = bytes, .one_shows = true, .all_wait = false};
  if (me.rank == root) {
    round.shows = shows;
    round.wakes = Turn::kAll;
  } else {
    round.first = round.last = root;
  }
  return round;
}

inline Round barrier_round(Member me) noexcept { return round_of_all(me, 0, {}); }

inline Round bcast_round(Member me, Buffer data, int root) noexcept {
  Round round = round_from_root(me, size_of(data.bytes()), data, root);
  if (me.rank == root) return round;
  round.each = round.bytes;
  round.to = data;
  return round;
}

inline Round gather_round(Member me, Buffer send, Buffer recv_each, int root) noexcept {
  Round round{.bytes = size_of(me.rank == root ? recv_each.bytes() : send.bytes()), .all_wait = false};
  if (!send.in_place()) round.shows = send;
  if (me.rank != root) {
    round.wakes = root;
    return round;
  }
  round.last = me.size - 1;
  round.each = round.bytes;
  round.to = recv_each;
  round.is_apart = true;
  if (send.in_place()) round.except = root;
  return round;
}

inline Round allgather_round(Member me, Buffer send, Buffer recv_each) noexcept {
  const Buffer own = send.in_place() ? recv_each.part(me.rank * recv_each.count, recv_each.count) : send;
  Round round = round_of_all(me, size_of(recv_each.bytes()), own);
  round.each = round.bytes;
  round.to = recv_each;
  round.is_apart = true;
  if (send.in_place()) round.except = me.rank;
  return round;
}

inline Round scatter_round(Member me, Buffer send_each, Buffer recv, int root) noexcept {
  const std::size_t block = size_of(me.rank == root ? send_each.bytes() : recv.bytes());
  const Buffer all(send_each.data, me.size * send_each.count, *send_each.type);
  Round round = round_from_root(me, block * size_of(me.size), all, root);
  if (recv.in_place()) return round;
  round.first = round.last = root;
  round.at = block * size_of(me.rank);
  round.each = block;
  round.to = recv;
  return round;
}

inline Round alltoall_round(Member me, Buffer send_each, Buffer recv_each) noexcept {
  const std::size_t block = size_of(recv_each.bytes());
  const Buffer from = send_each.in_place() ? recv_each : send_each;
  Round round = round_of_all(me, block * size_of(me.size), Buffer(from.data, me.size * from.count, *from.type));
  round.at = block * size_of(me.rank);
  round.each = block;
  round.to = recv_each;
  round.is_apart = true;
  return round;
}

// All operands, combined. They are shown as they lie in memory.
inline Round allreduce_round(Member me, Buffer own, void* result, const Op& op) noexcept {
  Round round = round_of_all(me, size_of(own.count) * raw_bytes(*own.type), own);
  round.raw = true;
  round.to = Buffer(result, own.count, *own.type);
  round.op = &op;
  return round;
}

// Whether what is combined may not be made where the own operand lies: only if that is needed once, and then item by item.
inline bool must_be_aside(int ranks, const void* own, const void* result, const Op& op) noexcept {
  return own == result && (ranks > 2 || op.id == mpi::OpId::kUser);
}

// Of operations that combine: the round `all`, but only `root` takes the result.
inline Round to_root(Member me, Round all, int root) noexcept {
  all.all_wait = false;
  if (me.rank == root) {
    all.is_kept = !must_be_aside(me.size, all.shows.data, all.to.data, *all.op);
    return all;
  }
  all.to = {};
  all.last = -1;
  all.wakes = root;
  return all;
}

inline Round reduce_round(Member me, Buffer own, void* result, const Op& op, int root) noexcept {
  return to_root(me, allreduce_round(me, own, result, op), root);
}

// The items of this rank, of all operands.
inline Round share_round(Member me, Buffer all, void* result, MPI_Count count, const Op& op) noexcept {
  Round round = allreduce_round(me, all, result, op);
  round.at = round.bytes / size_of(me.size) * size_of(me.rank);
  round.to.count = count;
  return round;
}

inline Round scan_round(Member me, Buffer own, void* result, const Op& op, bool inclusive) noexcept {
  Round round = allreduce_round(me, own, result, op);
  round.all_wait = false;
  round.wakes = Turn::kAll;
  round.last = inclusive ? me.rank : me.rank - 1;
  if (round.last < 0) round.to = {};
  return round;
}

}  // namespace heddle::coll
