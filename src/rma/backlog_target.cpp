// The target's part of a backlog: what it does when a packet names the ring.
#include "mpi/handle.hpp"
#include "rma/backlog.hpp"
#include "rma/epoch.hpp"

namespace heddle::rma {
namespace {

// What the origin has written, both lines at once.
void fetch_early(BacklogRing& ring) noexcept {
  __builtin_prefetch(&ring.tail);
  __builtin_prefetch(&ring.at(ring.head.load(std::memory_order_relaxed)), 1);
}

Status do_entry(Window& window, Memory& memory, Operation& operation, BacklogRing::Entry& entry) {
  entry.describe(&operation);
  const Step step = entry.step();
  if (window.is_dynamic()) {
    Target& self = window.target(window.comm->rank);
    HEDDLE_TRY(locate(window, self, step.rows));
  }
  return perform(memory, operation, step);
}

void do_entries(Window& window, BacklogRing& ring) noexcept {
  Memory memory = Memory::own(window);
  Operation operation{};
  ring.do_entries([&](BacklogRing::Entry& entry) { return do_entry(window, memory, operation, entry).error_class(); });
}

}  // namespace

void BacklogEntry::describe(Operation* operation) const noexcept {
  operation->kind = static_cast<Kind>(kind);
  operation->has_in = has_in != 0;
  operation->has_out = has_result();
  operation->op = nullptr;
  operation->element = nullptr;
  if (operation->kind == Kind::kAccumulate) operation->op = mpi::predefined_op(op);
  if (type != 0) operation->element = mpi::predefined_datatype(type);
}

// The window may go when the ring may: from within serve() on.
void serve_backlog(Window& window, int origin, std::uint64_t offset, std::uint16_t packet) noexcept {
  wire::NodeMemory& node = window.node;
  const auto region = static_cast<std::uint32_t>(window.target(origin).region);
  auto& ring = *node.at<BacklogRing>(offset);
  fetch_early(ring);
  ring.serve(packet, [&] { do_entries(window, ring); });
  node.ring(region);  // it may sleep in let_go()
}

}  // namespace heddle::rma
