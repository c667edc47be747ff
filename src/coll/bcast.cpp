// Barrier and broadcast.
#include <bit>

#include "coll/build.hpp"
#include "coll/tree.hpp"

namespace heddle::coll {

// In round k everyone hears, directly or not, from the 2^k ranks before it.
void build_barrier(Schedule& s) {
  const Buffer nothing(nullptr, 0, mpi::byte_type());
  for (int distance = 1; distance < s.size(); distance *= 2) {
    s.send(nothing, (s.rank() + distance) % s.size());
    s.recv(nothing, (s.rank() - distance + s.size()) % s.size());
    s.join();
  }
}

void build_bcast(Schedule& s, Buffer data, int root) {
  const Tree tree(s, root);
  if (!tree.is_root()) {
    s.recv(data, tree.parent());
    s.join();
  }
  for (unsigned distance = std::bit_ceil(static_cast<unsigned>(s.size())) / 2; distance > 0; distance /= 2) {
    const int d = static_cast<int>(distance);
    if (tree.has_child(d)) s.send(data, tree.rank(tree.me() + d));
  }
}

}  // namespace heddle::coll
