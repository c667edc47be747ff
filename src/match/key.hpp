// What a receive and a message are matched by: the context, the source and the tag.
//
// A message's key is exact. A receive's may name any source or any tag, with the ABI's values, so that no argument is
// translated on the way. The context is never a wildcard: internal traffic has contexts of its own, which no wildcard
// of a user can see. Sources and tags of messages are not negative.
#pragma once

#include <cstdint>

namespace heddle::match {

inline constexpr std::int32_t kAnySource = -1;  // MPI_ANY_SOURCE of the standard ABI
inline constexpr std::int32_t kAnyTag = -2;     // MPI_ANY_TAG of the standard ABI

struct Key {
  std::uint32_t context;
  std::int32_t source;
  std::int32_t tag;

  friend constexpr bool operator==(const Key&, const Key&) noexcept = default;
};
static_assert(sizeof(Key) == 12);

constexpr bool has_wildcard(const Key& key) noexcept { return key.source == kAnySource || key.tag == kAnyTag; }

// REQUIRES: `message` has no wildcard.
constexpr bool matches(const Key& receive, const Key& message) noexcept {
  return receive.tag == message.tag || receive.tag == kAnyTag
             ? (receive.source == message.source || receive.source == kAnySource) && receive.context == message.context
             : false;
}

}  // namespace heddle::match
