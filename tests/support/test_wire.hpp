// A wire inside one program that misbehaves as a real one may: it delays, it reorders between pairs, it refuses.
//
// It knows nothing of shared memory, so the layers above prove on it that they don't either. What it must keep, it
// keeps: packets of one lane arrive once, whole, in order.
// Threads: as wire.hpp; one mutex for the whole network.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "wire/wire.hpp"

namespace heddle::test {

struct Weather {
  unsigned refuse_percent = 0;  // of sends, for no reason
  unsigned max_delay = 0;       // polls that a packet stays on its way
  std::size_t max_payload = 1000;
  bool fetches = false;               // long messages may be fetched, and long accesses go from memory to memory
  unsigned broken_fetch_percent = 0;  // of fetches, in the middle
  unsigned seed = 1;
};

class Network {
 public:
  Network(int processes, Weather weather)
      : weather_(weather), random_(weather.seed), bells_(static_cast<std::size_t>(processes)) {}

 private:
  friend class TestWire;
  friend class TestLane;
  struct Stored {
    wire::Header header;
    std::vector<std::byte> prefix, payload;
    unsigned delay;
  };
  struct Path {
    wire::ProcessId to;
    std::uint32_t vci;
    std::deque<Stored> packets;
  };
  unsigned roll(unsigned below) { return static_cast<unsigned>(random_() % below); }

  struct Waiting {
    wire::ProcessId process;
    std::uint32_t vci;
    wire::RemoteAccess* access;
    unsigned delay;
  };

  const Weather weather_;
  std::mutex mutex_;
  std::deque<Waiting> accesses_;
  std::mt19937 random_;
  std::deque<Path> paths_;
  std::deque<Doorbell> bells_;
};

class TestLane final : public wire::TxLane {
 public:
  TestLane(Network& network, Network::Path& path, wire::ProcessId self, std::uint32_t from)
      : TxLane(false, network.weather_.max_payload), network_(network), path_(path), self_(self), from_(from) {}

  bool try_send(const wire::Header& header, const void* prefix, wire::Payload& payload) noexcept override {
    {
      std::lock_guard lock(network_.mutex_);
      if (network_.roll(100) < network_.weather_.refuse_percent) return false;
      Network::Stored packet{header, {}, {}, network_.roll(network_.weather_.max_delay + 1)};
      const auto* bytes = static_cast<const std::byte*>(prefix);
      packet.prefix.assign(bytes, bytes + header.prefix_bytes);
      packet.payload.resize(payload.bytes);
      if (payload.bytes != 0) payload.take(packet.payload.data(), payload.bytes);
      path_.packets.push_back(std::move(packet));
    }
    network_.bells_[path_.to].ring();
    return true;
  }
  bool accesses() const noexcept override { return network_.weather_.fetches; }
  bool expose(const void* data, std::size_t, bool, wire::Exposure* out) noexcept override {
    if (!network_.weather_.fetches) return false;
    *out = {kKey, reinterpret_cast<std::uint64_t>(data), this};
    return true;
  }
  bool start(wire::RemoteAccess& access) noexcept override {
    if (access.kind == wire::RemoteAccess::Kind::kLand) return false;  // nothing is pushed
    std::lock_guard lock(network_.mutex_);
    if (network_.roll(100) < network_.weather_.refuse_percent) return false;
    network_.accesses_.push_back({self_, from_, &access, network_.roll(network_.weather_.max_delay + 1)});
    return true;
  }
  static void end(wire::RemoteAccess& access, bool complete) noexcept {
    const std::size_t bytes = complete ? access.bytes : access.bytes / 2;
    auto* there = reinterpret_cast<std::byte*>(access.address);
    access.kind == wire::RemoteAccess::Kind::kWrite ? std::memcpy(there, access.local, bytes)
                                                    : std::memcpy(access.local, there, bytes);
    access.done(access, complete && access.key == kKey);
  }

 private:
  static constexpr std::uint64_t kKey = 17;
  Network& network_;
  Network::Path& path_;
  const wire::ProcessId self_;
  const std::uint32_t from_;
};

class TestWire final : public wire::Wire {
 public:
  TestWire(std::shared_ptr<Network> network, wire::ProcessId self)
      : Wire(false), network_(std::move(network)), self_(self) {}

  bool reaches(wire::ProcessId peer) const noexcept override { return peer < network_->bells_.size(); }
  Doorbell* bell() noexcept override { return &network_->bells_[self_]; }

  Status connect(std::uint32_t from, wire::ProcessId peer, std::uint32_t to, wire::TxLane** lane) override {
    std::lock_guard lock(network_->mutex_);
    network_->paths_.push_back({peer, to, {}});
    *lane = lanes_.emplace_back(std::make_unique<TestLane>(*network_, network_->paths_.back(), self_, from)).get();
    return Status::ok();
  }

  unsigned poll(std::uint32_t vci, wire::Sink& sink, unsigned) noexcept override {
    std::vector<Network::Stored> due;
    std::vector<std::pair<wire::RemoteAccess*, bool>> ended;
    unsigned waiting = 0;
    {
      std::lock_guard lock(network_->mutex_);
      std::vector<Network::Path*> mine;
      for (Network::Path& path : network_->paths_) {
        if (path.to == self_ && path.vci == vci) mine.push_back(&path);
      }
      std::shuffle(mine.begin(), mine.end(), network_->random_);
      for (Network::Path* path : mine) {
        while (!path->packets.empty() && path->packets.front().delay == 0) {
          due.push_back(std::move(path->packets.front()));
          path->packets.pop_front();
        }
        if (!path->packets.empty()) {
          --path->packets.front().delay;
          ++waiting;  // counts as movement: nobody may sleep on a packet that is on its way
        }
      }
      std::erase_if(network_->accesses_, [&](Network::Waiting& w) {
        if (w.process != self_ || w.vci != vci) return false;
        ++waiting;
        if (w.delay-- != 0) return false;
        ended.emplace_back(w.access, network_->roll(100) >= network_->weather_.broken_fetch_percent);
        return true;
      });
    }
    for (const auto& [access, complete] : ended) TestLane::end(*access, complete);
    for (const Network::Stored& packet : due) {
      sink.deliver({packet.header, packet.prefix.data(), packet.payload.data(), packet.payload.size()});
    }
    return static_cast<unsigned>(due.size()) + waiting;
  }

 private:
  std::shared_ptr<Network> network_;
  const wire::ProcessId self_;
  std::vector<std::unique_ptr<TestLane>> lanes_;
};

}  // namespace heddle::test
