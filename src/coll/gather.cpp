// Gather and scatter, with equal blocks and with one size for each rank.
//
// Equal short blocks go along a binomial tree, packed: a subtree's blocks are neighbours in the order of relative
// ranks. The root takes a subtree's blocks directly into its buffer unless they wrap around the last rank.
#include <bit>

#include "coll/build.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

namespace {

// Beyond this a block is worth a message of its own: copying it at each level of the tree would cost more than it
// saves.
constexpr MPI_Count kTreeBlock = 16 * 1024;

// The blocks of `n` ranks from rank `first` on, wrapping around: `s.copy`'s counterpart in `packed`.
template <class Copy>
void each_run(int first, int n, int size, Buffer packed, MPI_Count block, Buffer blocks, Copy&& copy) {
  const int head = n < size - first ? n : size - first;
  copy(packed.part(0, head * block), blocks.part(first * blocks.count, head * blocks.count));
  if (head < n) copy(packed.part(head * block, (n - head) * block), blocks.part(0, (n - head) * blocks.count));
}

void gather_tree(Schedule& s, Buffer send, Buffer recv_each, const Tree& tree) {
  const MPI_Count block = tree.is_root() ? recv_each.bytes() : send.bytes();
  Buffer packed;  // the blocks of this rank's subtree; the root has them in place
  if (!tree.is_root() && tree.has_child(1)) {
    packed = s.scratch_bytes(block * tree.subtree(tree.me(), tree.reach()));
    s.copy(send, packed.part(0, block));
  }
  for (int d = 1; tree.has_child(d); d *= 2) {
    const int child = tree.me() + d;
    const int n = tree.subtree(child, d);
    const int first = tree.rank(child);
    if (!tree.is_root()) {
      s.recv(packed.part(d * block, n * block), first);
    } else if (first + n <= s.size()) {
      s.recv(recv_each.part(first * recv_each.count, n * recv_each.count), first);
    } else {
      Buffer wrapped = s.scratch_bytes(n * block);
      s.recv(wrapped, first);
      s.join();
      each_run(first, n, s.size(), wrapped, block, recv_each, [&](Buffer from, Buffer to) { s.copy(from, to); });
    }
  }
  if (!tree.is_root()) {
    s.join();
    s.send(packed.data == nullptr ? send : packed, tree.parent());
  }
}

void scatter_tree(Schedule& s, Buffer send_each, Buffer recv, const Tree& tree) {
  const MPI_Count block = tree.is_root() ? send_each.bytes() : recv.bytes();
  Buffer packed;
  if (!tree.is_root()) {
    if (tree.has_child(1)) packed = s.scratch_bytes(block * tree.subtree(tree.me(), tree.reach()));
    s.recv(packed.data == nullptr ? recv : packed, tree.parent());
    s.join();
  }
  for (unsigned distance = std::bit_ceil(static_cast<unsigned>(s.size())) / 2; distance > 0; distance /= 2) {
    const int d = static_cast<int>(distance);
    if (!tree.has_child(d)) continue;
    const int child = tree.me() + d;
    const int n = tree.subtree(child, d);
    const int first = tree.rank(child);
    if (!tree.is_root()) {
      s.send(packed.part(d * block, n * block), first);
    } else if (first + n <= s.size()) {
      s.send(send_each.part(first * send_each.count, n * send_each.count), first);
    } else {
      Buffer wrapped = s.scratch_bytes(n * block);
      each_run(first, n, s.size(), wrapped, block, send_each, [&](Buffer to, Buffer from) { s.copy(from, to); });
      s.send(wrapped, first);
    }
  }
  if (packed.data != nullptr) s.copy(packed.part(0, block), recv);
}

}  // namespace

void build_gather(Schedule& s, Buffer send, Buffer recv_each, int root) {
  const Tree tree(s, root);
  const MPI_Count block = tree.is_root() ? recv_each.bytes() : send.bytes();
  if (block > kTreeBlock) return build_gatherv(s, send, Blocks(recv_each), root);
  if (tree.is_root() && !send.in_place()) s.copy(send, recv_each.part(root * recv_each.count, recv_each.count));
  gather_tree(s, send, recv_each, tree);
}

void build_gatherv(Schedule& s, Buffer send, const Blocks& recv, int root) {
  if (s.rank() != root) {
    s.send(send, root);
    return;
  }
  for (int i = 0; i < s.size(); ++i) {
    if (i != root) s.recv(recv[i], i);
  }
  if (!send.in_place()) s.copy(send, recv[root]);
}

void build_scatter(Schedule& s, Buffer send_each, Buffer recv, int root) {
  const Tree tree(s, root);
  const MPI_Count block = tree.is_root() ? send_each.bytes() : recv.bytes();
  if (block > kTreeBlock) return build_scatterv(s, Blocks(send_each), recv, root);
  scatter_tree(s, send_each, recv, tree);
  if (tree.is_root() && !recv.in_place()) s.copy(send_each.part(root * send_each.count, send_each.count), recv);
}

void build_scatterv(Schedule& s, const Blocks& send, Buffer recv, int root) {
  if (s.rank() != root) {
    s.recv(recv, root);
    return;
  }
  for (int i = 0; i < s.size(); ++i) {
    if (i != root) s.send(send[i], i);
  }
  if (!recv.in_place()) s.copy(send[root], recv);
}

}  // namespace heddle::coll
