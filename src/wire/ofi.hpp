// The wire between hosts.
//
// Problem: a job of 131,072 ranks, of which each talks to a few, on whatever network there is.
// Method:  each VCI has a port (ofi_port.hpp), made when it first talks to another host. A process publishes one card, with
//          the address of its VCI 0; it is fetched when somebody first sends there. The addresses of other VCIs are asked for
//          and told in packets between the VCIs 0. A lane whose address is not known yet refuses packets.
// Sleep:   a thread, the waker, waits for what the provider can wait on and rings the process's bell.
// Loss:    where the provider goes by IP, the peers of a process that waits are watched (watch.hpp); the others tell by
//          themselves, or nobody does.
// Threads: see wire.hpp.
// Memory:  for a peer nothing before the first packet; then a lane, 96 bytes, and what the provider takes for a
//          connection.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/card.hpp"
#include "wire/ofi_lane.hpp"
#include "wire/reach.hpp"
#include "wire/segment.hpp"
#include "wire/waker.hpp"
#include "wire/watch.hpp"
#include "wire/watched.hpp"

namespace heddle::wire {

struct OfiOptions {
  FabricChoice choice;
  ProcessId self = 0;
  ProcessId processes = 1;
  SipKey key;
  bool threaded = false;
  int detection_seconds = 10;  // without a sign of life of a peer for which this process waits, until it is lost
  // Those that another wire reaches better; the process itself is one of them.
  std::function<bool(ProcessId)> is_near;
  // The card of a peer, as card() gave it there. False: it is not there yet. Called by any thread that sends.
  std::function<bool(ProcessId, std::string*)> find_card;
  // Publishes how this process is asked for (reach.hpp), and, where `wanted`, waits for the same of a process of another
  // host. With an empty `mine`: the same of yet another one, or an error where there is none.
  std::function<Status(const std::string& mine, bool wanted, ProcessId* peer, std::string* other)> introduce;
  // Publishes that this process answers no question any more at this port. Empty where nobody could read it in time; there all
  // processes are in open() at once.
  std::function<void(std::uint16_t port)> leave;
  // Whether a peer has left so. Nothing: that cannot be told now.
  std::function<std::optional<bool>(ProcessId, std::uint16_t port)> has_left;
  bool can_tell_later = true;  // where that says nothing now
  // Rings whoever sleeps in this process.
  std::function<void()> ring;
  // A peer cannot be reached any more, nobody knows what is lost.
  std::function<void(ProcessId, const char*)> lost;
  // This process itself cannot go on, and no caller can be told.
  std::function<void(const char*)> fatal;
};

class OfiWire final : public Wire, private OfiPort::Handler {
 public:
  static Status open(OfiOptions options, std::unique_ptr<OfiWire>* out);
  ~OfiWire() override;

  // What peers must know: one printable word.
  Status card(std::string* out);
  const Fabric& fabric() const noexcept { return *fabric_; }
  // REQUIRES: the VCI has talked to another host, or is 0.
  Dropped dropped(std::uint32_t vci) const noexcept override;

  bool reaches(ProcessId peer) const noexcept override;
  Status connect(std::uint32_t from, ProcessId peer, std::uint32_t to, TxLane** lane) override;
  unsigned poll(std::uint32_t vci, Sink& sink, unsigned limit) noexcept override;
  bool rings() const noexcept override;
  bool arm(std::uint32_t vcis) noexcept override;
  bool expect(ProcessId peer) noexcept override;
  void expect_anyone() noexcept override;
  bool owes() const noexcept override;
  bool lose(std::uint32_t vci, ProcessId process, bool finally) noexcept override;
  void set_away(bool away) noexcept override { watched_.set_away(away); }

  // For lanes. A frame is being gathered: it goes within kFlushNs.
  static constexpr long kFlushNs = 100'000;
  void flush_soon() noexcept;
  bool resolve(OfiLane& lane) noexcept;
  void lost(ProcessId peer, const char* sentence) noexcept override { options_.lost(peer, sentence); }

  // For tests.
  std::size_t watches() noexcept { return watch_.connections(); }
  std::size_t watchers() noexcept { return watched_.guests(); }

 private:
  // Between the VCIs 0 of two processes: `tag` is the VCI meant.
  enum Control : std::uint8_t { kWhere = 254, kHere = 255 };

  static constexpr int kMostAsked = 4;               // processes of other hosts, by one with a choice
  static constexpr std::uint32_t kBeginEvery = 256;  // polls in vain: who waits without sleeping

  explicit OfiWire(OfiOptions options) noexcept : Wire(false), options_(std::move(options)) {}
  Status start_timer();
  void flush() noexcept;
  Status choose_address();
  Status start_watch();
  WatchActivity activity() const noexcept;
  Status open_port(std::uint32_t vci, OfiPort** out);
  OfiPort* port(std::uint32_t vci) const noexcept { return ports_[vci].load(std::memory_order_acquire); }
  OfiLane& lane_between(OfiPort& port, ProcessId peer, std::uint32_t to);
  bool find_peer_card(ProcessId peer, Card* card);
  bool find_first_address(ProcessId peer, std::vector<std::byte>* out);
  bool find_other_address(ProcessId peer, std::uint32_t vci, std::vector<std::byte>* out);
  void packet(const FrameHeader& frame, const Packet& packet) noexcept override;
  void answer_questions() noexcept;

  const OfiOptions options_;
  std::shared_ptr<Fabric> fabric_;
  std::size_t address_bytes_ = 0;  // of every process that uses the same provider
  std::string address_;            // where it goes by IP: the one that it is bound to
  Watched watched_;
  Watch watch_;
  Reach reach_;
  Waker waker_;
  int timer_ = -1;  // of flush_soon()
  std::atomic<bool> timer_runs_{false};
  std::atomic<OfiPort*> ports_[kMaxVcis] = {};
  std::atomic<bool> armed_[kMaxVcis] = {};  // the waker watches it
  Sink* sinks_[kMaxVcis] = {};              // of the one in poll()
  static constexpr std::int64_t kAnyoneNs = 500'000'000;
  std::atomic<std::int64_t> anyone_after_{0};                   // when somebody may be looked for again
  std::uint32_t in_vain_[kMaxVcis] = {};                        // polls; of the one in poll()
  std::vector<std::pair<ProcessId, std::uint32_t>> questions_;  // not answered yet; of the one in poll() of VCI 0
  std::atomic<std::size_t> unanswered_{0};                      // how many

  Lock lock_;
  std::unique_ptr<OfiPort> owned_[kMaxVcis] GUARDED_BY(lock_);
  std::deque<OfiLane> lanes_ GUARDED_BY(lock_);
  // Of peers' VCIs but 0, as they have told.
  std::map<std::pair<ProcessId, std::uint32_t>, std::vector<std::byte>> told_ GUARDED_BY(lock_);
};

}  // namespace heddle::wire
