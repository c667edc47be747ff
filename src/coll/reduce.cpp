// Reductions.
#include "coll/bind.hpp"
#include "coll/build.hpp"

namespace heddle::coll {
namespace {

using plan::Collective;

// Blocks are shares of the vector.
void build_vector(Schedule& s, Collective what, Buffer own, void* result, Op& op, int root) {
  const auto bytes = static_cast<std::uint64_t>(own.bytes());
  build_by_plan(s, what, root, !op.commutative, bytes, [&](const plan::Plan& plan) {
    return Call{Lengths::shares(own.count, plan.blocks), Image::whole(own),
                Image::whole(Buffer(result, own.count, *own.type)), &op, own.type};
  });
}

// Blocks are the ranks'. `most_bytes`: of the longest one.
void build_scattered(Schedule& s, Lengths lengths, const void* own, void* result, Datatype& type, Op& op,
                     MPI_Count most_bytes) {
  const auto rank = static_cast<std::uint32_t>(s.rank()), size = static_cast<std::uint32_t>(s.size());
  const MPI_Count count = lengths.edge(rank + 1) - lengths.edge(rank);
  const bool in_place = own == result;  // the part of this rank may lie over what is still to be read
  const Buffer mine = in_place ? s.scratch(count, type) : Buffer(result, count, type);
  build_by_plan(
      s, Collective::kReduceScatter, 0, !op.commutative, static_cast<std::uint64_t>(most_bytes),
      [&](const plan::Plan&) {
        return Call{lengths, Image::whole(Buffer(own, lengths.edge(size), type)), Image::own(mine), &op, &type};
      });
  if (!in_place) return;
  s.join();
  s.copy(mine, Buffer(result, count, type));
}

}  // namespace

void build_reduce(Schedule& s, Buffer own, void* result, Op& op, int root) {
  build_vector(s, Collective::kReduce, own, result, op, root);
}

void build_allreduce(Schedule& s, Buffer own, void* result, Op& op) {
  build_vector(s, Collective::kAllreduce, own, result, op, 0);
}

void build_scan(Schedule& s, Buffer own, void* result, Op& op) {
  build_vector(s, Collective::kScan, own, result, op, 0);
}

void build_exscan(Schedule& s, Buffer own, void* result, Op& op) {
  build_vector(s, Collective::kExscan, own, result, op, 0);
}

void build_reduce_scatter(Schedule& s, const void* own, void* result, IntArray counts, Datatype& type, Op& op) {
  MPI_Count most = 0;
  const MPI_Count* edges = s.edges(s.size(), [&](int i) {
    most = counts[static_cast<std::size_t>(i)] > most ? counts[static_cast<std::size_t>(i)] : most;
    return counts[static_cast<std::size_t>(i)];
  });
  if (edges == nullptr) return;
  build_scattered(s, Lengths::varying(edges), own, result, type, op, mpi::total_bytes(type, most));
}

void build_reduce_scatter_block(Schedule& s, const void* own, void* result, MPI_Count count, Datatype& type, Op& op) {
  build_scattered(s, Lengths::equal(count), own, result, type, op, mpi::total_bytes(type, count));
}

}  // namespace heddle::coll
