// The receiving side of flow control: what a VCI keeps and lends, and the lanes that it has refused.
//
// Problem: when nothing is left to keep messages, their senders hold them back; but a receive or a probe must find each
//          message that was sent, in MPI's order, wherever it is (docs/decisions/flow-control.md).
// Method:  credit is lent when it is asked for. A lane that has none left and is refused is *blocked*. While lanes are, each
//          receive that finds nothing here is searched for at those that it could come from, and so is each probe.
// Threads: the holder of the VCI's lock, but for counts.
// Cost:    while nobody is blocked, one look at a flag for each receive that is posted.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "portals/budget.hpp"
#include "portals/flow.hpp"
#include "portals/match_list.hpp"
#include "vci/event_log.hpp"
#include "wire/types.hpp"

namespace heddle::vci {

class Lane;
class Vci;

class Sources final : public portals::Keeper {
 public:
  using MatchEntry = portals::MatchEntry;
  static constexpr wire::ProcessId kAnyProcess = ~wire::ProcessId{0};

  Sources(Vci& vci, portals::Budget::Pool& headers, portals::Budget::Pool& bytes,
          const portals::FlowLimits& limits) noexcept
      : vci_(vci), limits_(limits), headers_(headers), bytes_(bytes) {}

  // Some lane is blocked: search() for receives that find nothing here.
  bool are_blocked() const noexcept { return blocked_ != 0; }

  void on_ask(const wire::Packet& packet) noexcept;
  void on_recall(const wire::Packet& packet) noexcept;
  void keep(std::size_t bytes) noexcept override {
    headers_.keep(1);
    bytes_.keep(bytes);
  }
  void release(std::size_t bytes) noexcept override {
    headers_.release(1);
    bytes_.release(bytes);
    if (refused_ != 0) [[unlikely]]
      enable();
  }
  // Domain::set_unlimited().
  void set_unlimited(bool unlimited) noexcept;

  // A receive was posted while lanes are blocked.
  void search(MatchEntry& entry) noexcept {
    for (Source& source : sources_) {
      if (source.is_blocked) search_at(source, entry);
    }
  }
  // It is complete, or will be: its searches are over.
  void forget(MatchEntry& entry) noexcept { forget(entry, nullptr); }
  // The receive that an offer is for, off the list; null: it is not posted any more, and the sender is told so.
  MatchEntry* offered(const wire::Packet& packet) noexcept;

  // A message that is held at its sender.
  struct Found {
    match::Key asked;
    match::Key key;
    std::size_t source;
    std::uint64_t sender;  // its name there
    std::uint64_t total;   // bytes
  };
  // The one that a probe with this key would report, if it is known by now; until the next call of anything here.
  const Found* probe(const match::Key& key, wire::ProcessId from) noexcept;
  // A matched probe takes it: its sender waits for cts.
  void take(const Found& found) noexcept;
  void on_found(const wire::Packet& packet) noexcept;

  // What the layer above knows of entries: whose messages they admit, maybe kAnyProcess; and `mark`: forget() this one when
  // it is complete. REQUIRES: before traffic.
  void set_entries(wire::ProcessId (*process_of)(const MatchEntry&), void (*mark)(MatchEntry&)) noexcept {
    process_of_ = process_of;
    mark_ = mark;
  }

  std::uint64_t kept_headers() const noexcept { return headers_.kept(); }
  std::uint64_t kept_bytes() const noexcept { return bytes_.kept(); }
  std::uint64_t lent_headers() const noexcept { return headers_.lent(); }
  std::uint64_t lent_bytes() const noexcept { return bytes_.lent(); }
  std::uint64_t disables() const noexcept { return headers_.disables(); }
  std::uint64_t byte_disables() const noexcept { return bytes_.disables(); }
  std::uint64_t searches() const noexcept { return searched_; }

 private:
  struct Peek {
    match::Key key;
    std::uint64_t number;
  };
  // A lane of some process to this VCI that was ever refused.
  struct Source {
    std::uint64_t lane;  // its name there
    wire::ProcessId process;
    std::size_t index;
    Lane* back;
    std::uint32_t refused = 0;  // portals::Refused
    bool is_blocked = false;
    std::uint16_t grants = 0;  // sent
    std::uint16_t takes = 0;   // decisions to take, so far
    std::vector<Found> found;
    std::vector<Peek> peeks;  // not answered yet
  };

  Source* source_of(std::uint64_t lane, const portals::AskFrom& from) noexcept;
  void answer(Source& source, portals::Credit left) noexcept;
  void grant(Source& source, portals::Credit credit, std::uint32_t refused, std::uint32_t answer) noexcept;
  void enable() noexcept;
  std::uint32_t lend(portals::Budget& budget, std::uint32_t want, Event none_left) noexcept;
  void block(Source& source) noexcept;
  void search_at(Source& source, MatchEntry& entry) noexcept;
  void look_at(Source& source, const match::Key& key, std::uint16_t code, std::uint64_t number) noexcept;
  void decide(Source& source, std::uint16_t code, std::uint64_t sender) noexcept;
  bool may_come(wire::ProcessId from, const Source& source) const noexcept {
    return from == kAnyProcess || from == source.process;
  }
  std::uint64_t number_of(MatchEntry& entry);
  void forget(MatchEntry& entry, const Source* taken_from) noexcept;
  void took(Source& source) noexcept;

  Vci& vci_;
  const portals::FlowLimits& limits_;
  portals::Budget headers_, bytes_;
  wire::ProcessId (*process_of_)(const MatchEntry&) = nullptr;
  void (*mark_)(MatchEntry&) = nullptr;
  std::deque<Source> sources_;
  std::map<std::pair<wire::ProcessId, std::uint64_t>, std::size_t> index_;  // by process and name of the lane
  std::size_t blocked_ = 0, refused_ = 0;
  std::size_t next_ = 0;  // whose turn it is when credit is there again
  std::uint64_t next_number_ = 0, searched_ = 0;
  // Receives that were searched for, both ways.
  std::unordered_map<std::uint64_t, MatchEntry*> entries_;
  std::unordered_map<MatchEntry*, std::uint64_t> numbers_;
};

}  // namespace heddle::vci
