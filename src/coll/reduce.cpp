// Reductions.
#include <bit>
#include <utility>

#include "coll/build.hpp"
#include "coll/deal.hpp"
#include "coll/partial.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

// Binomial: a rank combines its own operand with those of its subtree, nearest first, and hands the sum to its parent.
// An operation that does not commute needs the tree rooted at rank 0, which passes the result on.
void build_reduce(Schedule& s, Buffer own, void* result, Op& op, int root) {
  const int top = op.commutative ? root : 0;
  const Tree tree(s, top);
  const Buffer to(result, own.count, *own.type);
  Partial partial(s, op, own, tree.is_root() && top == root ? to : Buffer());
  for (int d = 1; tree.has_child(d); d *= 2) {
    const Buffer operand = partial.operand(Partial::kHigher);
    s.recv(operand, tree.rank(tree.me() + d));
    s.join();
    partial.absorb(operand, Partial::kHigher);
  }
  if (!tree.is_root()) s.send(partial.value(), tree.parent());
  if (top == root) {
    if (tree.is_root()) partial.deliver();
    return;
  }
  if (tree.is_root()) s.send(partial.value(), root);
  if (s.rank() == root) {
    s.join();
    s.recv(to, top);
  }
}

// Recursive doubling. When the size is no power of two, the first ranks form pairs, and the lower of each pair lets the
// higher one speak for it.
void build_allreduce(Schedule& s, Buffer own, void* result, Op& op) {
  const int me = s.rank();
  const int doubling = static_cast<int>(std::bit_floor(static_cast<unsigned>(s.size())));
  const int pairs = s.size() - doubling;
  const Buffer to(result, own.count, *own.type);
  const bool paired = me < 2 * pairs;
  if (paired && me % 2 == 0) {
    s.send(own, me + 1);
    s.join();
    s.recv(to, me + 1);
    return;
  }
  Partial partial(s, op, own, to);
  if (paired) {
    const Buffer operand = partial.operand(Partial::kLower);
    s.recv(operand, me - 1);
    s.join();
    partial.absorb(operand, Partial::kLower);
  }
  const int place = paired ? me / 2 : me - pairs;
  for (int d = 1; d < doubling; d *= 2) {
    const int other = place ^ d;
    const int peer = other < pairs ? 2 * other + 1 : other + pairs;
    const auto side = other < place ? Partial::kLower : Partial::kHigher;
    const Buffer operand = partial.operand(side);
    s.send(partial.value(), peer);
    s.recv(operand, peer);
    s.join();
    partial.absorb(operand, side);
  }
  partial.deliver();
  if (paired) s.send(to, me - 1);
}

namespace {

// Rank 0 gets the whole result, then deals it out.
template <class CountOf>
void reduce_then_scatter(Schedule& s, Buffer own, void* result, CountOf&& count_of, Op& op) {
  Buffer whole;
  if (s.rank() == 0) whole = s.scratch(own.count, *own.type);
  build_reduce(s, own, whole.data, op, 0);
  s.join();
  deal_out(s, whole, result, *own.type, count_of);
}

// Recursive doubling: `sum` covers the ranks of this rank's block of 2^k, as far as they exist, and `result` those of
// them that count for this rank. A block that lacks ranks at its end is the last one, so nobody needs its sum.
void build_prefix(Schedule& s, Buffer own, void* result, Op& op, bool inclusive) {
  const Buffer to(result, own.count, *own.type);
  Buffer sum = s.scratch(own.count, *own.type);
  Buffer operand = s.scratch(own.count, *own.type);
  s.copy(own, sum);
  if (inclusive && own.data != result) s.copy(own, to);
  bool begun = inclusive;
  for (int d = 1; d < s.size(); d *= 2) {
    const int peer = s.rank() ^ d;
    if (peer >= s.size()) continue;
    s.send(sum, peer);
    s.recv(operand, peer);
    s.join();
    if (peer > s.rank()) {
      s.reduce(op, sum, operand);
      std::swap(sum, operand);
      continue;
    }
    if (begun) {
      s.reduce(op, operand, to);
    } else {
      s.copy(operand, to);
    }
    begun = true;
    s.reduce(op, operand, sum);
  }
}

}  // namespace

void build_reduce_scatter(Schedule& s, const void* own, void* result, IntArray counts, Datatype& type, Op& op) {
  MPI_Count total = 0;
  for (int i = 0; i < s.size(); ++i) total += counts[i];
  reduce_then_scatter(
      s, Buffer(own, total, type), result, [&](int i) { return counts[i]; }, op);
}

void build_reduce_scatter_block(Schedule& s, const void* own, void* result, MPI_Count count, Datatype& type, Op& op) {
  reduce_then_scatter(
      s, Buffer(own, s.size() * count, type), result, [&](int) { return count; }, op);
}

void build_scan(Schedule& s, Buffer own, void* result, Op& op) { build_prefix(s, own, result, op, true); }

void build_exscan(Schedule& s, Buffer own, void* result, Op& op) { build_prefix(s, own, result, op, false); }

}  // namespace heddle::coll
