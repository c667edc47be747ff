// The locks of windows' memory: taken and given back without the target's help, where its Block is mapped.
#pragma once

#include "base/status.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// kShared or kExclusive, at once or not at all.
inline bool try_lock(Block& block, const LockWord::Reader& reader, Held held) noexcept {
  return held == kExclusive ? block.lock.try_exclusive(false) : block.lock.try_shared(reader);
}
// Those that sleep for the lock look at it again.
void wake_sleepers(wire::NodeMemory& node, Block& block) noexcept;
// Gives it back and wakes who sleeps for it.
void unlock(wire::NodeMemory& node, Block& block, Held held) noexcept;

}  // namespace heddle::rma
