// The target's part of a backlog: what it does when a packet names the ring.
#include "mpi/handle.hpp"
#include "rma/backlog.hpp"
#include "rma/epoch.hpp"

namespace heddle::rma {
namespace {

constexpr unsigned kPublishEvery = 8;  // entries: who waits for more than one sees that they are under way

// What the origin has written, both lines at once.
void fetch_early(BacklogRing& ring) noexcept {
  __builtin_prefetch(&ring.tail);
  __builtin_prefetch(&ring.at(ring.head.load(std::memory_order_relaxed)), 1);
}

Status do_entry(Window& window, Memory& memory, Operation& operation, BacklogRing::Entry& entry) {
  entry.describe(&operation);
  Step step = entry.step();
  if (window.is_dynamic()) {
    Target& self = window.target(window.comm->rank);
    HEDDLE_TRY(locate(window, self, static_cast<MPI_Aint>(entry.at), 0, entry.bytes, &step.at));
  }
  return perform(memory, operation, step);
}

}  // namespace

void BacklogRing::Entry::describe(Operation* operation) const noexcept {
  operation->kind = static_cast<Kind>(kind);
  operation->has_in = has_in != 0;
  operation->has_out = has_out != 0;
  operation->op = nullptr;
  operation->element = nullptr;
  if (operation->kind == Kind::kAccumulate) operation->op = mpi::predefined_op(op);
  if (type != 0) operation->element = mpi::predefined_datatype(type);
}

namespace {

// At most one ring full of them: then others of the VCI have their turn.
void do_entries(Window& window, BacklogRing& ring) noexcept {
  Memory memory = Memory::own(window);
  Operation operation{};
  std::uint64_t head = ring.head.load(std::memory_order_relaxed);
  const std::uint64_t end = head + BacklogRing::kUnits;
  unsigned done = 0;
  for (std::uint64_t tail; head < end && (tail = ring.tail.load(std::memory_order_acquire)) != head;) {
    while (head != tail) {
      BacklogRing::Entry& entry = ring.at(head);
      if (entry.kind != BacklogRing::kSkip) {
        const Status status = do_entry(window, memory, operation, entry);
        if (!status) {
          ring.failure.store(status.error_class(), std::memory_order_relaxed);
          entry.has_out = 0;
        }
      }
      head += entry.units;
      if (++done % kPublishEvery == 0) ring.head.store(head, std::memory_order_release);
    }
    ring.head.store(head, std::memory_order_release);
  }
}

}  // namespace

// The window and the ring may go as soon as the packet is seen and `busy` is 0.
void serve_backlog(Window& window, int origin, std::uint64_t offset, std::uint16_t packet) noexcept {
  wire::NodeMemory& node = window.node;
  const auto region = static_cast<std::uint32_t>(window.target(origin).region);
  auto& ring = *node.at<BacklogRing>(offset);
  fetch_early(ring);
  const bool is_mine = ring.try_take();
  if (is_mine) do_entries(window, ring);
  ring.seen.store(packet, std::memory_order_release);
  if (is_mine) ring.give_back();
  node.ring(region);  // it may sleep in let_go()
}

}  // namespace heddle::rma
