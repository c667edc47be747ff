// The locks of windows' memory: taken and given back without the target's help, where its Block is mapped.
#pragma once

#include "base/status.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// kShared or kExclusive, at once or not at all.
inline bool try_lock(Block& block, const LockWord::Reader& reader, Held held) noexcept {
  return held == kExclusive ? block.lock.try_exclusive(false) : block.lock.try_shared(reader);
}
// Gives it back and wakes who sleeps for it.
void unlock(wire::NodeMemory& node, Block& block, Held held) noexcept;

}  // namespace heddle::rma
