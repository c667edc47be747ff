// The collectives of intercommunicators.
//
// Method:  what differs for each pair of ranks goes straight, and so does an allgather of small groups; everything else by way of
//          rank 0 of each group: what a group combines or spreads it does with the builders for one group, among its own members.
#include <algorithm>

#include "coll/build.hpp"
#include "coll/deal.hpp"

namespace heddle::coll {
namespace {

// The steps that `build` writes stay in the local group. They are over when it returns.
template <class Build>
void locally(Schedule& s, Build&& build) {
  s.join();
  s.stay_local(true);
  build();
  s.join();
  s.stay_local(false);
}

// The reduction of the local group's operands, at its rank 0.
Buffer reduce_locally(Schedule& s, Buffer own, Op& op) {
  const Buffer reduced = s.rank() == 0 ? s.scratch(own.count, *own.type) : Buffer(nullptr, own.count, *own.type);
  locally(s, [&] { build_reduce(s, own, reduced.data, op, 0); });
  return reduced;
}

// Rank 0 of each group gives the other's its group's reduction for theirs, which is returned there.
Buffer swap_reductions(Schedule& s, Buffer own, Op& op, Buffer theirs) {
  const Buffer ours = reduce_locally(s, own, op);
  if (s.rank() == 0) {
    s.send(ours, 0);
    s.recv(theirs, 0);
    s.join();
  }
  return theirs;
}

// count_of(r) items of the result are rank r's, and all together as many as in the remote group.
template <class CountOf>
void reduce_then_scatter(Schedule& s, const void* own, void* result, CountOf count_of, Datatype& type, Op& op) {
  MPI_Count total = 0;
  for (int r = 0; r < s.size(); ++r) total += count_of(r);
  const Buffer place = s.rank() == 0 ? s.scratch(total, type) : Buffer(nullptr, total, type);
  const Buffer theirs = swap_reductions(s, Buffer(own, total, type), op, place);
  locally(s, [&] { deal_out(s, theirs, result, type, count_of); });
}

// Where both groups have so many, an allgather goes over their ranks 0. With 32 and 32 ranks on two cores blocks of 8 bytes take
// 240 us so, 560 by a message for each pair; with 8 and 8, 31 and 33 (docs/decisions/intercommunicators.md).
constexpr int kManyRanks = 16;

// Where blocks begin that lie one after the other, block r from edges[r] on; null if they do not.
void* start_of(const Blocks& blocks, const MPI_Count* edges, int ranks) {
  void* start = nullptr;
  for (int r = 0; r < ranks; ++r) {
    if (edges[r + 1] == edges[r]) continue;
    const Buffer block = blocks[r];
    if (start == nullptr) start = block.data;
    if (!block.type->contiguous || block.data != advance(start, edges[r])) return nullptr;
  }
  return start;
}

}  // namespace

void build_inter_barrier(Schedule& s) {
  const Buffer nothing(nullptr, 0, mpi::byte_type());
  locally(s, [&] { build_gather(s, nothing, nothing, 0); });
  if (s.rank() == 0) {
    s.send(nothing, 0);
    s.recv(nothing, 0);
  }
  locally(s, [&] { build_bcast(s, nothing, 0); });
}

void build_inter_bcast(Schedule& s, Buffer data, int root) {
  if (root == MPI_ROOT) s.send(data, 0);
  if (root < 0) return;
  if (s.rank() == 0) s.recv(data, root);
  locally(s, [&] { build_bcast(s, data, 0); });
}

void build_inter_gather(Schedule& s, Buffer send, const Blocks& recv, int root) {
  if (root >= 0) s.send(send, root);
  for (int r = 0; root == MPI_ROOT && r < s.remote_size(); ++r) s.recv(recv[r], r);
}

void build_inter_scatter(Schedule& s, const Blocks& send, Buffer recv, int root) {
  if (root >= 0) s.recv(recv, root);
  for (int r = 0; root == MPI_ROOT && r < s.remote_size(); ++r) s.send(send[r], r);
}

// Each rank of a group knows the bytes of all blocks that it gets, so together they are a broadcast's data.
void build_inter_allgather(Schedule& s, Buffer send, const Blocks& recv) {
  const int remote = s.remote_size();
  if (std::min(s.size(), remote) < kManyRanks) {
    for (int r = 0; r < remote; ++r) s.recv(recv[r], r);
    for (int r = 0; r < remote; ++r) s.send(send, r);
    return;
  }
  const MPI_Count* edges = s.edges(remote, [&](int r) { return recv[r].bytes(); });
  if (edges == nullptr) return;
  void* const in_one = start_of(recv, edges, remote);
  const Buffer all =
      in_one == nullptr ? s.scratch_bytes(edges[remote]) : Buffer(in_one, edges[remote], mpi::byte_type());
  const auto packed = [&](int r) { return all.part(edges[r], edges[r + 1] - edges[r]); };

  for (int r = 0; s.rank() == 0 && r < remote; ++r) s.recv(packed(r), r);
  s.send(send, 0);
  locally(s, [&] { build_bcast(s, all, 0); });
  for (int r = 0; in_one == nullptr && r < remote; ++r) {
    if (packed(r).count != 0) s.copy(packed(r), recv[r]);
  }
}

void build_inter_alltoall(Schedule& s, const Blocks& send, const Blocks& recv) {
  const int remote = s.remote_size(), ranks = std::max(s.size(), remote);
  const auto other = [&](int i) { return (s.rank() + i) % remote; };  // so that not all begin with rank 0
  for (int i = 0; i < remote; ++i) {
    if (!recv.leaves_out(recv[other(i)], ranks)) s.recv(recv[other(i)], other(i));
  }
  for (int i = 0; i < remote; ++i) {
    if (!send.leaves_out(send[other(i)], ranks)) s.send(send[other(i)], other(i));
  }
}

void build_inter_reduce(Schedule& s, Buffer own, void* result, Op& op, int root) {
  if (root == MPI_ROOT) s.recv(Buffer(result, own.count, *own.type), 0);
  if (root < 0) return;
  const Buffer reduced = reduce_locally(s, own, op);
  if (s.rank() == 0) s.send(reduced, root);
}

void build_inter_allreduce(Schedule& s, Buffer own, void* result, Op& op) {
  const Buffer theirs = swap_reductions(s, own, op, Buffer(result, own.count, *own.type));
  locally(s, [&] { build_bcast(s, theirs, 0); });
}

void build_inter_reduce_scatter(Schedule& s, const void* own, void* result, IntArray counts, Datatype& type, Op& op) {
  reduce_then_scatter(
      s, own, result, [&](int r) { return counts[static_cast<std::size_t>(r)]; }, type, op);
}

void build_inter_reduce_scatter_block(Schedule& s, const void* own, void* result, MPI_Count count, Datatype& type,
                                      Op& op) {
  reduce_then_scatter(
      s, own, result, [&](int) { return count; }, type, op);
}

}  // namespace heddle::coll
