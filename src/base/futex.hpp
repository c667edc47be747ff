// The kernel's side of waiting: futex and membarrier, as plain functions.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle {

// Sleeps while *word == expected, at most `nanoseconds`. Returns on a wake, a change, a signal or the time's end; the
// caller looks again. The word may lie in memory shared between processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds) noexcept;
void futex_wake(const std::atomic<std::uint32_t>& word, int how_many) noexcept;

// Registers this process for heavy_fence() by its peers. Call once before the first heavy_fence().
// False where the kernel refuses membarrier: sleeps must then be short and bounded.
[[nodiscard]] bool register_heavy_fence() noexcept;
// A full fence on every core that runs a registered process, so that those need none of their own.
void heavy_fence() noexcept;
// Whether it is one of this process's threads: its registration has been accepted.
bool has_heavy_fence() noexcept;

}  // namespace heddle
