// A packet with a payload, now or when there is room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vci/lane.hpp"

namespace heddle::rma {

// False: it found no room; a copy of it goes with progress. For the order of a lane either is the same.
// `tag`: by which the receiver finds its way back (active.hpp).
bool post_packet(vci::Lane& lane, std::uint8_t portal, int source, int tag, const void* prefix,
                 std::size_t prefix_bytes, const std::byte* data, std::size_t bytes, wire::When when) noexcept;

}  // namespace heddle::rma
