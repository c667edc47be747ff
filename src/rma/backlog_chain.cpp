// The backlogs of a target: the first one, and those beside it that threads made use of at once.
#include <new>

#include "mpi/process.hpp"
#include "rma/backlog.hpp"

namespace heddle::rma {
namespace {

// Of a process: an eighth of its region, which lanes need, too. Half of them are for targets that have none yet.
constexpr std::uint32_t kMostRings = 256;

std::atomic<std::uint32_t> rings{0};

// Made by whoever comes first. Null: no memory for it, or there are `most` already.
Backlog* find_or_make(std::atomic<Backlog*>& where, Window& window, int rank, std::uint32_t most) noexcept {
  Backlog* backlog = where.load(std::memory_order_acquire);
  if (backlog != nullptr) return backlog;
  std::uint64_t offset = 0;
  if (rings.load(std::memory_order_relaxed) >= most) return nullptr;
  if (!window.node.take_block(sizeof(BacklogRing), &offset)) return nullptr;
  auto* made = new (std::nothrow) Backlog(window, rank, offset);
  if (made == nullptr) return nullptr;
  rings.fetch_add(1, std::memory_order_relaxed);
  window.has_backlogs.store(true, std::memory_order_relaxed);
  // Of two threads that make it at once the first one's stays.
  if (!where.compare_exchange_strong(backlog, made, std::memory_order_acq_rel)) {
    delete made;
    return backlog;
  }
  return made;
}

}  // namespace

Backlog::~Backlog() {
  window_.node.give_block_back(sizeof(Ring), offset_);
  rings.fetch_sub(1, std::memory_order_relaxed);
}

// Updates keep their order, in the first one.
Backlog& Backlog::lock_one(const Operation& operation) {
  Backlog* one = this;
  for (int beside = 0; !one->lock_.try_lock(); ++beside) {
    Backlog* const next = operation.kind >= Kind::kAccumulate || beside == kMostBeside
                              ? nullptr
                              : find_or_make(one->beside_, window_, rank_, kMostRings / 2);
    if (next == nullptr) {
      one->lock_.lock();
      break;
    }
    one = next;
  }
  return *one;
}

Backlog* backlog_of(Window& window, int rank) noexcept {
  return find_or_make(window.target(rank).backlog, window, rank, kMostRings);
}

Status finish_backlog(Target& target) {
  Status first;
  for_each_backlog(target, [&first](Backlog& backlog) {
    Status status = backlog.finish();
    if (first) first = status;
  });
  return first;
}

void let_go_of_backlogs(Window& window) noexcept {
  for (int rank = 0; window.has_backlogs && rank < window.comm->size; ++rank) {
    for_each_backlog(window.target(rank), [](Backlog& backlog) { backlog.let_go(); });
  }
}

void drop_backlogs(Window& window) noexcept {
  for (int rank = 0; window.has_backlogs && rank < window.comm->size; ++rank) {
    for_each_backlog(window.target(rank), [](Backlog& backlog) { delete &backlog; });
    window.target(rank).backlog.store(nullptr, std::memory_order_relaxed);
  }
}

}  // namespace heddle::rma
