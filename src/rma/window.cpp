#include "rma/window.hpp"

#include "base/slab.hpp"
#include "rma/backlog.hpp"
#include "rma/remote.hpp"

namespace heddle::rma {
namespace {

SharedSlab<Window, 4>& windows() {
  static auto* slab = new SharedSlab<Window, 4>;
  return *slab;
}

}  // namespace

Window* take_window(Comm& comm, wire::NodeMemory& node) noexcept {
  Window* window = windows().take(comm, node);
  if (window != nullptr) comm.retain();
  return window;
}

void give_back(Window& window, bool all_have_left) noexcept {
  drop_backlogs(window);
  drop_remote(window);
  const bool has_maps = window.is_allocated() && window.targets != nullptr;
  for (int rank = 0; has_maps && rank < window.comm->size; ++rank) {
    Target& target = window.target(rank);
    std::byte* mapped = target.mapped.load(std::memory_order_relaxed);
    const bool is_inside = mapped >= window.piece && mapped < window.piece + window.piece_bytes;
    const bool has_none = target.card.size == 0;  // and may point behind the piece
    if (!is_inside && !has_none) window.node.unmap_piece(mapped);
  }
  window.node.unmap_piece(window.piece);
  if (window.owns_piece) {
    all_have_left ? window.node.give_piece_back(window.piece_at, window.piece_bytes)
                  : window.node.drop_piece(window.piece_at, window.piece_bytes);
  }
  if (window.block != nullptr) window.node.give_block_back(kBlockBytes, window.block_at);
  windows().give_back(&window);
}

Status map_target(Window& window, Target& target, std::byte** base) {
  *base = target.mapped.load(std::memory_order_acquire);
  if (*base != nullptr || target.card.size == 0 || !window.is_allocated()) return Status::ok();
  HEDDLE_TRY(window.node.map_piece(target.card.piece, target.card.size, base));
  // Of two threads that map it at once the first one's stays.
  std::byte* first = nullptr;
  if (target.mapped.compare_exchange_strong(first, *base, std::memory_order_acq_rel)) return Status::ok();
  window.node.unmap_piece(*base);
  *base = first;
  return Status::ok();
}

}  // namespace heddle::rma
