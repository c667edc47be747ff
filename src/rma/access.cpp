// What an operation may touch: the refusals of one without an epoch, and where a displacement is in a target's memory.
//
// Method:  a member's size and unit of displacements are known to all (Card), so what reaches out of its window is refused at
//          the origin, before anything moves. Of a dynamic window the pieces that are attached lie in the target's Block; a
//          target looks at its own, and at all of it, when it does an operation.
// Threads: any. Another's pieces are read under the lock beside them, its own ones under a lock of this process: who does what others
//          have written down here would else take the line of that lock from them each time.
// Cost:    some comparisons; of a dynamic window a walk over at most Block::kRanges pieces.
#include <algorithm>
#include <mutex>
#include <span>

#include "rma/epoch.hpp"

namespace heddle::rma {

Status no_epoch(int rank) {
  return error(MPI_ERR_RMA_SYNC,
               "no epoch lets this process access rank %d; call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
               "MPI_Win_lock_all first",
               rank);
}

Status no_lock(int rank) {
  return error(MPI_ERR_RMA_SYNC, "rank %d is not locked; call MPI_Win_lock or MPI_Win_lock_all first", rank);
}

namespace {

// Neighbours may be attached one by one: from the beginning on as far as each range goes.
bool holds(std::span<const Range> ranges, std::uint64_t first, std::uint64_t bytes) noexcept {
  for (std::size_t i = 0; bytes != 0 && i < ranges.size(); ++i) {
    if (!ranges[i].holds(first, 1)) continue;
    const std::uint64_t here = std::min(bytes, ranges[i].first + ranges[i].bytes - first);
    first += here;
    bytes -= here;
    i = SIZE_MAX;  // anew
  }
  return bytes == 0;
}

bool is_attached(Window& window, Target& target, std::uint64_t first, std::uint64_t bytes) noexcept {
  if (target.block == nullptr) return true;  // the target will see
  if (&target == &window.target(window.comm->rank)) {
    LockGuard guard(window.attached_lock);
    return holds(window.attached, first, bytes);
  }
  Block::Attached& attached = target.block->attached;
  std::lock_guard guard(attached.lock);
  return attached.count > Block::kRanges || holds({attached.ranges, attached.count}, first, bytes);
}

}  // namespace

Status locate(Window& window, Target& target, MPI_Aint disp, MPI_Count first, MPI_Count bytes, std::uint64_t* at) {
  if (window.is_dynamic()) {
    *at = static_cast<std::uint64_t>(disp);
    if (is_attached(window, target, *at + static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(bytes))) {
      return Status::ok();
    }
    return error(MPI_ERR_RMA_RANGE, "%lld bytes at %#llx are not in memory that the target has attached",
                 static_cast<long long>(bytes),
                 static_cast<unsigned long long>(*at) + static_cast<unsigned long long>(first));
  }
  MPI_Count begin = 0, from = 0, to = 0;
  const bool fits = !__builtin_mul_overflow(MPI_Count{disp}, MPI_Count{target.card.disp_unit}, &begin) &&
                    !__builtin_add_overflow(begin, first, &from) && !__builtin_add_overflow(from, bytes, &to) &&
                    from >= 0 && to <= static_cast<MPI_Count>(target.card.size);
  if (!fits) {
    return error(
        MPI_ERR_RMA_RANGE,
        "displacement %lld in units of %d bytes and %lld bytes from byte %lld on reach out of the target's window of "
        "%llu bytes",
        static_cast<long long>(disp), target.card.disp_unit, static_cast<long long>(bytes),
        static_cast<long long>(first), static_cast<unsigned long long>(target.card.size));
  }
  *at = static_cast<std::uint64_t>(begin);
  return Status::ok();
}

Status locate(Window& window, Target& target, const Rows& rows) {
  const auto locate_one = [&](std::uint64_t at, std::uint64_t bytes) {
    std::uint64_t unused = 0;
    return locate(window, target, static_cast<MPI_Aint>(at), 0, static_cast<MPI_Count>(bytes), &unused);
  };
  const auto [first, last] = std::minmax({rows.at, rows.at_of(rows.count - 1)});
  if (rows.count == 1) return locate_one(first, rows.bytes);
  if (locate_one(first, last - first + rows.bytes)) return Status::ok();
  for (std::size_t i = 0; i < rows.count; ++i) HEDDLE_TRY(locate_one(rows.at_of(i), rows.bytes));
  return Status::ok();
}

}  // namespace heddle::rma
