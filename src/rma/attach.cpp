// Dynamic windows: which memory is theirs.
//
// Method:  the ranges stand in the member's Block, where origins of its node check what they access. A window of more than
//          Block::kRanges pieces is not checked; then a wrong address is found by the kernel, or not at all.
#include <algorithm>
#include <mutex>

#include "rma/api.hpp"
#include "rma/window.hpp"

namespace heddle::api {

using namespace rma;

namespace {

Status check_dynamic(const Window& window) {
  if (window.is_dynamic()) return Status::ok();
  return error(MPI_ERR_RMA_FLAVOR, "memory is attached to windows of MPI_Win_create_dynamic only");
}

bool overlap(const Range& a, const Range& b) noexcept {
  return a.bytes != 0 && b.bytes != 0 && a.first < b.first + b.bytes && b.first < a.first + a.bytes;
}

}  // namespace

Status win_attach(mpi::Win& win, void* base, MPI_Aint size) {
  Window& window = as_window(win);
  HEDDLE_TRY(check_dynamic(window));
  const Range range{reinterpret_cast<std::uint64_t>(base), static_cast<std::uint64_t>(size)};
  LockGuard own(window.attached_lock);
  std::lock_guard guard(window.block->attached.lock);
  for (const Range& other : window.attached) {
    if (!overlap(range, other)) continue;
    return error(MPI_ERR_RMA_ATTACH, "the memory overlaps %llu bytes that are attached already",
                 static_cast<unsigned long long>(other.bytes));
  }
  window.attached.push_back(range);
  window.publish_attached();
  return Status::ok();
}

Status win_detach(mpi::Win& win, const void* base) {
  Window& window = as_window(win);
  HEDDLE_TRY(check_dynamic(window));
  const auto first = reinterpret_cast<std::uint64_t>(base);
  LockGuard own(window.attached_lock);
  std::lock_guard guard(window.block->attached.lock);
  const auto range = std::ranges::find(window.attached, first, &Range::first);
  if (range == window.attached.end()) {
    return error(MPI_ERR_RMA_ATTACH, "no memory that begins at %p is attached to the window", base);
  }
  window.attached.erase(range);
  window.publish_attached();
  return Status::ok();
}

}  // namespace heddle::api
