#include "base/futex.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.hpp"

namespace heddle {
namespace {

std::atomic<bool> heavy_fence_works{false};

const std::uint32_t* address(const std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<const std::uint32_t*>(&word);
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds) noexcept {
  timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, address(word), FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int how_many) noexcept {
  syscall(SYS_futex, address(word), FUTEX_WAKE, how_many, nullptr, nullptr, 0);
}

bool register_heavy_fence() noexcept {
  const bool works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  heavy_fence_works.store(works, std::memory_order_relaxed);
  return works;
}

bool has_heavy_fence() noexcept { return heavy_fence_works.load(std::memory_order_relaxed); }

void heavy_fence() noexcept {
  if (heavy_fence_works.load(std::memory_order_relaxed)) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  } else {
    StdAtomics::fence(std::memory_order_seq_cst);
  }
}

}  // namespace heddle
