// Which collectives are faster by plans than by the host, as somebody measured it.
//
//   heddle overlay profile 1
//   host Open MPI v5.0.11, package: ...
//   planned allreduce blocking 4 8 65536        in communicators of 4 ranks, from 8 to 65536 bytes
//   end
//
// A communicator takes the lines of the greatest number of ranks that it reaches. A profile of another host is none.
// Threads: any; pure, but for load_own_profile.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coll_kinds.hpp"

namespace heddle::overlay {

// Sizes of one class have the same highest bit.
inline constexpr int kSizeClasses = 32;
inline int size_class(std::uint64_t bytes) noexcept {
  return bytes == 0 ? 0 : std::min(63 - __builtin_clzll(bytes), kSizeClasses - 1);
}

// A bit for each class.
using SizeTable = std::array<std::array<std::uint32_t, kWays>, kKinds>;

struct PlannedLine {
  CollKind kind;
  Way way;
  int ranks;
  std::uint64_t from, to;
};

class CollProfile {
 public:
  std::string host;
  std::vector<PlannedLine> lines;

  // False: *why says what is wrong with it, for a person.
  bool parse(std::string_view text, std::string* why);
  SizeTable table(int ranks) const;
};

// The text of $HEDDLE_OVERLAY_PROFILE, or heddle/overlay-<host> in $XDG_CACHE_HOME or ~/.cache, if it is to be used under this host; a
// line on stderr when it can't be. Empty: none.
std::string load_own_profile(const std::string& host);
// The first line of what the host says of itself.
std::string host_name();

}  // namespace heddle::overlay
