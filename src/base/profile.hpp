// What was measured of this machine, in so far as it decides how messages travel.
//
// A profile is a text file of lines `key value`; `#` begins a comment. Unknown keys are passed over, so that an older
// version reads what a newer one wrote. `heddle tune` measures and writes it. Each of the first numbers is used by a side of a
// message for itself, so ranks with different profiles understand each other. `network` is what all ranks have to know alike: mpiexec takes
// it from the profile of the host that it runs on and tells them, if HEDDLE_NETWORK=profile says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace heddle {

struct Profile {
  // A message of so many bytes or more is offered to be read while its sender is not at work (p2p/rendezvous.hpp). Where cells are
  // found to cost more, shorter ones are, too. The sender's number.
  std::uint64_t single_copy_from = 64 << 10;
  // A side that copies by itself claims so many bytes at once.
  std::uint32_t pull_bytes = 128 << 10;
  // ... when its progress has found nothing of the message so many times.
  std::uint32_t pull_after = 64;

  // Small partitions of one message travel in groups of at most so many bytes (part/mapping.hpp). The sender's number.
  std::uint32_t aggregate_bytes = 4096;

  static constexpr std::uint32_t kMaxPullAfter = 64;

  // What a message costs between processes and hosts: `key=value,key=value`, as plan/network.hpp reads it. Empty: not measured.
  std::string network;
  // Where it was measured. One that does not say is of no use.
  std::string machine;
};

// visit(pair) for each `key=value` of `network`.
template <class Visit>
void each_pair(std::string_view network, Visit visit) {
  while (!network.empty()) {
    const std::string_view pair = network.substr(0, network.find(','));
    network.remove_prefix(pair.size() < network.size() ? pair.size() + 1 : pair.size());
    visit(pair);
  }
}

// Of the machine that this process is on: its processor and how many cores it has.
std::string machine_name();

// Into *out what `text` says; what it doesn't say stays. `name` is for the error.
Status parse_profile(std::string_view text, const char* name, Profile* out);
std::string print_profile(const Profile& profile);

// Where this machine's profile is kept: `named`, which HEDDLE_PROFILE says; where that is empty, heddle/profile-<host> in
// $XDG_CACHE_HOME or ~/.cache. Empty when there is no home either.
std::string profile_path(const std::string& named);
// The same as the environment says it.
std::string profile_path();

// The profile to be used here. A file that is named must be there and readable, else an error. One that is broken, of another machine or of
// none, and an unreadable one in the cache, are no reason to fail: then *warning says so (empty otherwise), and the defaults hold.
Status load_profile(const std::string& named, Profile* out, std::string* warning);

// Writes the file in one step, and the folder that it lies in.
Status store_profile(const Profile& profile, const std::string& path);

}  // namespace heddle
