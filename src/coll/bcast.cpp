// Barrier and broadcast.
#include "coll/bind.hpp"
#include "coll/build.hpp"

namespace heddle::coll {

using plan::Collective;

void build_barrier(Schedule& s) {
  build_by_plan(s, Collective::kBarrier, 0, false, 0, [](const plan::Plan&) { return Call{Lengths::equal(0)}; });
}

// Counts and types may differ between ranks where the bytes are the same (MPI 5.0, 6.4), so what is cut into shares is cut by
// bytes; a type with gaps is packed for that.
void build_bcast(Schedule& s, Buffer data, int root) {
  const MPI_Count bytes = data.bytes();
  const plan::Plan* plan = plan_of(s, spec_of(s, Collective::kBcast, root, false), static_cast<std::uint64_t>(bytes));
  if (plan == nullptr) return;
  if (plan->blocks == 1) return bind(s, *plan, {Lengths::equal(data.count), {}, Image::whole(data)});
  const bool packs = !data.type->contiguous && bytes != 0;
  const Buffer packed = packs ? s.scratch_bytes(bytes) : Buffer(data.data, bytes, mpi::byte_type());
  if (packs && s.rank() == root) s.copy(data, packed);
  bind(s, *plan, {Lengths::shares(bytes, plan->blocks), {}, Image::whole(packed)});
  if (!packs || s.rank() == root) return;
  s.join();
  s.copy(packed, data);
}

}  // namespace heddle::coll
