// Processes of one job as objects of one program, each with a wire of its own over loopback.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mpi.h"
#include "wire/ofi.hpp"

// libfabric 1.17 keeps a copy of each endpoint's description after that was closed.
extern "C" __attribute__((used)) inline const char* __lsan_default_suppressions() { return "leak:libfabric.so"; }

namespace heddle::wire {

inline constexpr SipKey kJobKey{0x1122334455667788, 0x99aabbccddeeff00};

// What the launcher would keep.
class Cards {
 public:
  void put(ProcessId process, std::string card) {
    std::lock_guard lock(mutex_);
    cards_[process] = std::move(card);
  }
  bool get(ProcessId process, std::string* card) {
    std::lock_guard lock(mutex_);
    const auto found = cards_.find(process);
    if (found != cards_.end()) *card = found->second;
    return found != cards_.end();
  }

 private:
  std::mutex mutex_;
  std::map<ProcessId, std::string> cards_;
};

struct Received {
  Header header;
  std::string prefix, payload;
};

// `bytes` bytes that no other seed has.
inline std::string pattern(unsigned seed, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    text[i] = static_cast<char>(seed >> 24);
  }
  return text;
}

class Side {
 public:
  Side(Cards& cards, const std::string& provider, ProcessId self, ProcessId processes, bool publish = true) {
    OfiOptions options;
    options.choice = {"", provider, "lo"};
    options.self = self;
    options.processes = processes;
    options.key = kJobKey;
    options.threaded = true;
    options.is_near = [self](ProcessId peer) { return peer == self; };
    options.find_card = [&cards](ProcessId peer, std::string* out) { return cards.get(peer, out); };
    // Each asks itself: nobody else is there yet.
    options.introduce = [self](const std::string& mine, bool, ProcessId* peer, std::string* other) {
      if (mine.empty()) return error(MPI_ERR_OTHER, "there is no other");
      *peer = self;
      *other = mine;
      return Status::ok();
    };
    options.ring = [this] { ++rings; };
    options.lost = [this](ProcessId peer, const char* why) {
      std::lock_guard lock(mutex_);
      losses_.emplace_back(std::to_string(peer) + ": " + why);
    };
    options.fatal = [this](const char* why) {
      std::lock_guard lock(mutex_);
      failures_.emplace_back(why);
    };
    const Status opened = OfiWire::open(std::move(options), &wire);
    EXPECT_TRUE(opened && wire->card(&card)) << last_error_detail();
    if (publish) cards.put(self, card);
    for (std::uint32_t vci = 0; vci < kMaxVcis; ++vci) sinks_[vci].got = &got[vci];
  }

  TxLane& lane(std::uint32_t from, ProcessId peer, std::uint32_t to) {
    TxLane* lane = nullptr;
    EXPECT_TRUE(wire->connect(from, peer, to, &lane)) << last_error_detail();
    return *lane;
  }
  unsigned poll() {
    unsigned moved = 0;
    for (std::uint32_t vci = 0; vci < kMaxVcis; ++vci) moved += wire->poll(vci, sinks_[vci], 64);
    return moved;
  }
  std::vector<std::string> losses() {
    std::lock_guard lock(mutex_);
    return losses_;
  }
  std::vector<std::string> failures() {
    std::lock_guard lock(mutex_);
    return failures_;
  }

  std::unique_ptr<OfiWire> wire;
  std::string card;
  std::vector<Received> got[kMaxVcis];
  std::atomic<int> rings{0};

 private:
  struct Collect final : Sink {
    void deliver(const Packet& p) noexcept override {
      got->push_back({p.header,
                      {reinterpret_cast<const char*>(p.prefix), p.header.prefix_bytes},
                      {reinterpret_cast<const char*>(p.payload), p.payload_bytes}});
    }
    std::vector<Received>* got = nullptr;
  };
  Collect sinks_[kMaxVcis];
  std::mutex mutex_;
  std::vector<std::string> losses_, failures_;
};

// Polls the sides until it holds; false when it does not within a long time.
template <class Condition>
bool until(std::initializer_list<Side*> sides, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    unsigned moved = 0;
    for (Side* side : sides) moved += side->poll();
    if (std::chrono::steady_clock::now() > end) return false;
    if (moved == 0) std::this_thread::yield();
  }
  return true;
}

inline bool try_send(TxLane& lane, int tag, const std::string& prefix, const std::string& data) {
  Payload payload{data.data(), data.size()};
  const Header header{1, static_cast<std::uint8_t>(prefix.size()), 0, 77, 3, tag};
  return lane.try_send(header, prefix.data(), payload);
}
inline bool send(std::initializer_list<Side*> sides, TxLane& lane, int tag, const std::string& prefix,
                 const std::string& data) {
  return until(sides, [&] { return try_send(lane, tag, prefix, data); });
}

// Everything over the providers that every host has.
class OfiTest : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Side> side(ProcessId self, ProcessId processes = 3, bool publish = true) {
    return std::make_unique<Side>(cards, GetParam(), self, processes, publish);
  }
  Cards cards;
};

inline std::string provider_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::ranges::replace(name, ';', '_');
  return name;
}

}  // namespace heddle::wire
