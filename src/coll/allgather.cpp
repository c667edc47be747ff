// Allgather and alltoall, in all their forms.
#include "coll/bind.hpp"
#include "coll/build.hpp"

namespace heddle::coll {
namespace {

using plan::Collective;

void build_gathered(Schedule& s, Lengths lengths, Buffer send, const Blocks& recv) {
  const Image all = Image::of(recv);
  // What lies apart may be a message for each block, and a node's tree would carry all of them at each of its edges.
  const std::uint64_t bytes = recv.equal() ? static_cast<std::uint64_t>(recv[0].bytes()) : plan::kVaryingBytes;
  build_by_plan(s, Collective::kAllgather, 0, false, bytes, [&](const plan::Plan&) {
    Call call{lengths, send.in_place() ? all : Image::own(send), all};
    call.apart = !recv.equal();
    return call;
  });
}

// MPI_IN_PLACE: what is sent lies where the answers go, so it is packed and put aside first.
Buffer put_aside(Schedule& s, const Blocks& data, const MPI_Count* edges) {
  const Buffer aside = s.scratch_bytes(edges[s.size()]);
  for (int i = 0; i < s.size(); ++i) {
    if (i != s.rank() && edges[i + 1] != edges[i]) s.copy(data[i], aside.part(edges[i], edges[i + 1] - edges[i]));
  }
  return aside;
}
}  // namespace

void build_allgather(Schedule& s, Buffer send, Buffer recv_each) {
  build_gathered(s, Lengths::equal(recv_each.bytes()), send, Blocks(recv_each));
}

void build_allgatherv(Schedule& s, Buffer send, const Blocks& recv) {
  const MPI_Count* edges = s.edges(s.size(), [&](int i) { return recv[i].bytes(); });
  if (edges != nullptr) build_gathered(s, Lengths::varying(edges), send, recv);
}

void build_alltoall(Schedule& s, const Blocks& send, const Blocks& recv) {
  // Only where there is one count for all do the ranks know the bytes of each other's blocks.
  const MPI_Count block = recv.equal() ? recv[0].bytes() : 0;
  Call call{Lengths::equal(block), Image::of(send), Image::of(recv)};
  call.skips_empty = recv.leaves_out_empty(s.size());
  if (send.in_place()) {
    const MPI_Count* edges = s.edges(s.size(), [&](int i) { return recv[i].bytes(); });
    if (edges == nullptr) return;
    call.lengths = Lengths::varying(edges);
    call.input = Image::whole(put_aside(s, recv, edges));
    call.keeps_own = true;
  }
  const std::uint64_t bytes = recv.equal() ? static_cast<std::uint64_t>(block) : plan::kUnknownBytes;
  build_by_plan(s, Collective::kAlltoall, 0, false, bytes, [&](const plan::Plan&) { return call; });
}

}  // namespace heddle::coll
