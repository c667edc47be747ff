// Which way a partitioned operation goes: as the environment says, else as the profile does. The same at both its ends, whose bytes agree.
#pragma once

#include "profile.hpp"
#include "settings.hpp"

namespace heddle::overlay {

// Of so many bytes in all.
inline PartWay part_way(std::uint64_t bytes) noexcept {
  switch (settings().partitioned) {
    case Settings::Partitioned::kOff:
      return PartWay::kHost;
    case Settings::Partitioned::kPersistent:
      return PartWay::kPersistent;
    case Settings::Partitioned::kRma:
      return PartWay::kRma;
    case Settings::Partitioned::kByProfile:
      break;
  }
  return own_profile().part_way(bytes);
}

// Some do.
inline bool some_go_by(PartWay way) noexcept {
  if (settings().partitioned != Settings::Partitioned::kByProfile) return part_way(1) == way;
  const auto& lines = own_profile().partitioned;
  return std::any_of(lines.begin(), lines.end(), [way](const PartLine& line) { return line.way == way; });
}

}  // namespace heddle::overlay
