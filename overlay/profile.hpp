// What is faster by the overlay than by the host, as it was measured: `heddle tune --host` writes it (tune.hpp), MPI_Init reads it.
//
//   heddle overlay profile 1
//   host Open MPI v5.0.11, package: ...
//   measured 4 1                                communicators of 4 ranks, on one node (2: on several)
//   planned allreduce blocking 4 8 8192         by plans, from 8 to 8192 bytes; blocking ones through shared memory where they can
//   messages allreduce blocking 4 16384 65536   by plans, and never through shared memory
//   partitioned rma 65536 1048576               a partitioned operation of so many bytes in all: rma, or host; else persistent
//   end
//
// A communicator takes the lines of the greatest number of ranks that it reaches; where that was measured, of those alone that were
// measured on one node as it is, or on several as it is. A profile of another host is none.
// Threads: any; pure, but for what says `own`.
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
struct Choice {
  std::uint32_t planned = 0;
  std::uint32_t messages = 0;  // of those: not through shared memory
};
using SizeTable = std::array<std::array<Choice, kWays>, kKinds>;

enum class PartWay : std::uint8_t { kPersistent, kRma, kHost };
inline constexpr std::string_view kPartWayNames[] = {"persistent", "rma", "host"};

struct PlannedLine {
  CollKind kind;
  Way way;
  int ranks;
  std::uint64_t from, to;
  bool messages = false;
};

struct MeasuredLine {
  int ranks;
  int nodes;  // 1, or 2: several
};

struct PartLine {
  PartWay way;
  std::uint64_t from, to;
};

class Profile {
 public:
  std::string host;
  std::vector<MeasuredLine> measured;
  std::vector<PlannedLine> lines;
  std::vector<PartLine> partitioned;

  // False: *why says what is wrong with it, for a person.
  bool parse(std::string_view text, std::string* why);
  std::string print() const;
  SizeTable table(int ranks, bool on_one_node) const;
  PartWay part_way(std::uint64_t bytes) const noexcept;
};

// Where the own one lies: $HEDDLE_OVERLAY_PROFILE, or heddle/overlay-<host's name and version>-<machine> in $XDG_CACHE_HOME or ~/.cache.
// Empty: nowhere.
std::string own_profile_path(const std::string& host);
// What rank 0 has of it, at all ranks; empty where there is none, and with a line on stderr where it can't be used. Collective over
// MPI_COMM_WORLD, after the host's init; what was set before is kept.
void learn_own_profile();
void set_own_profile(Profile profile);
const Profile& own_profile() noexcept;
// The first line of what the host says of itself.
std::string host_name();

}  // namespace heddle::overlay
