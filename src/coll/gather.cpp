// Gather and scatter, with equal blocks and with one size for each rank. Of those only the root knows all, so they go
// straight with it.
#include "coll/bind.hpp"
#include "coll/build.hpp"

namespace heddle::coll {
namespace {

using plan::Collective;

// `all`: the blocks, of the root; `own`: this rank's. `block`: the bytes of each, if they are equal.
void build_rooted(Schedule& s, Collective what, const Blocks& all, Buffer own, int root, std::uint64_t block) {
  const bool is_root = s.rank() == root;
  const MPI_Count known = block == plan::kUnknownBytes ? 0 : static_cast<MPI_Count>(block);
  const Image whole = is_root ? Image::of(all) : Image();
  const Image mine = is_root && own.in_place() ? whole : Image::own(own);
  build_by_plan(s, what, root, false, block, [&](const plan::Plan&) {
    const bool gathers = what == Collective::kGather;
    return Call{Lengths::equal(known), gathers ? mine : whole, gathers ? whole : mine};
  });
}

std::uint64_t block_of(const Schedule& s, Buffer each, Buffer own, int root) {
  return static_cast<std::uint64_t>(s.rank() == root ? each.bytes() : own.bytes());
}

}  // namespace

void build_gather(Schedule& s, Buffer send, Buffer recv_each, int root) {
  build_rooted(s, Collective::kGather, Blocks(recv_each), send, root, block_of(s, recv_each, send, root));
}

void build_gatherv(Schedule& s, Buffer send, const Blocks& recv, int root) {
  build_rooted(s, Collective::kGather, recv, send, root, plan::kUnknownBytes);
}

void build_scatter(Schedule& s, Buffer send_each, Buffer recv, int root) {
  build_rooted(s, Collective::kScatter, Blocks(send_each), recv, root, block_of(s, send_each, recv, root));
}

void build_scatterv(Schedule& s, const Blocks& send, Buffer recv, int root) {
  build_rooted(s, Collective::kScatter, send, recv, root, plan::kUnknownBytes);
}

}  // namespace heddle::coll
