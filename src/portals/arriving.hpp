// Matched messages whose payload still comes without having been asked for.
//
// Problem: such a packet cannot name its receive, which its sender has never heard of; and where no receive waited for the message,
//          its packets are to be dropped, and to be told from those of the next message that lies at the same place.
// Method:  a table by what the sender calls its message, and by the lane that it takes. Messages of one lane come in order, so all packets
//          of one message have been dropped before the next can begin, also if that has its name.
// Threads: the holder of the VCI's lock.
// Cost:    an allocation for each message, a look into a hash table for each packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "portals/match_list.hpp"

namespace heddle::portals {

class Arriving {
 public:
  struct Name {
    std::uint32_t context;  // of the receiver
    std::int32_t source;
    std::uint32_t lane;     // of all lanes from there to here: the sender's VCI
    std::uint64_t message;  // as its sender calls it
    bool operator==(const Name&) const = default;
  };

  // Until remove() the name that is returned stays where it is.
  const Name* add(const Name& name, MatchEntry& entry) { return &entries_.insert_or_assign(name, &entry).first->first; }
  void remove(const Name& name) noexcept { entries_.erase(entries_.find(name)); }
  // Whose packet this is; null: nobody's, and its payload is dropped.
  MatchEntry* find_or_drop(const Name& name, std::size_t payload_bytes) noexcept {
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    dropped_ += payload_bytes;
    return nullptr;
  }

  std::size_t size() const noexcept { return entries_.size(); }
  // Bytes so far.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  struct Hash {
    std::size_t operator()(const Name& name) const noexcept {
      const std::uint64_t who =
          std::uint64_t{name.context} << 32 ^ static_cast<std::uint32_t>(name.source) ^ std::uint64_t{name.lane} << 24;
      return (who ^ name.message >> 4) * 0x9E3779B97F4A7C15u >> 7;
    }
  };
  std::unordered_map<Name, MatchEntry*, Hash> entries_;
  std::uint64_t dropped_ = 0;
};

}  // namespace heddle::portals
