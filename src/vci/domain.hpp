// The communication of one process: its wires, its pool of VCIs, and how its threads wait.
//
// Problem: every blocking call must make progress on everything that it might depend on, without walking over every VCI
//          each time; and with more ranks or threads than cores, waiting must leave the core to those that have work.
// Method:  a waiting thread polls the VCI of its request; every kForeignEvery polls it tries one other VCI, round
//          robin. It never blocks on another's lock. In its first rounds it is not counted as a waiter, unless the node
//          is known to be crowded. After a number of empty polls, which depends on whether the node is crowded
//          (vci/patience.hpp), it yields, and then sleeps on the process's doorbell, after a last look at every VCI.
//          Tasks (nonblocking collectives) are stepped by whoever waits, one thread at a time, with no lock held.
// Threads: any, when the domain was opened as threaded.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/function_ref.hpp"
#include "base/lock.hpp"
#include "base/profile.hpp"
#include "vci/abandoned.hpp"
#include "vci/event_log.hpp"
#include "vci/losses.hpp"
#include "vci/patience.hpp"
#include "vci/task.hpp"
#include "vci/vci.hpp"
#include "vci/vci_pool.hpp"
#include "wire/wire.hpp"

namespace heddle::vci {

// Who uses which VCI (HEDDLE_VCI_MAPPING).
enum class Mapping : unsigned char {
  kHints,          // each communicator its own while some are left; all of them, if the assertions allow it
  kCommunicators,  // the same without regard to assertions
  kNone,           // everyone the fallback
};

// What a sender does with a message of more than one packet (HEDDLE_LONG_MESSAGES).
enum class LongMessages : unsigned char {
  kRendezvous,  // announces it, and sends the rest when it is asked for
  kEager,       // sends all of it, and again what is asked for
};

struct DomainOptions {
  wire::ProcessId self = 0;
  bool threaded = false;
  std::uint32_t vcis = wire::kMaxVcis;                     // HEDDLE_VCIS; at most wire::kMaxVcis
  match::Choice engine = match::kDefaultEngine;            // HEDDLE_MATCHING
  Mapping mapping = Mapping::kHints;                       // HEDDLE_VCI_MAPPING
  LongMessages long_messages = LongMessages::kRendezvous;  // HEDDLE_LONG_MESSAGES
  std::uint32_t cores = 1;                                 // of this node that the job may use
  std::uint32_t local_ranks = 1;                           // of this job on this node
  Profile profile;                                         // of this machine
  portals::FlowLimits flow;                                // HEDDLE_UNEXPECTED_HEADERS, HEDDLE_UNEXPECTED_BYTES
  std::int64_t linger_ns = 0;                              // HEDDLE_LINGER: polling before a sleep (patience.hpp)
  bool short_sleeps = false;                               // a wake-up may be lost (register_heavy_fence)
  // Ends the job with this sentence: something happened that no caller can be told of.
  void (*fatal)(void* context, const char* sentence) = nullptr;
  void* fatal_context = nullptr;
  // Asks the launcher whether a process is lost, and says so by lose(). Called now and then by threads that wait, with no
  // lock held. Null: nobody to ask.
  void (*look_for_losses)(void* context) = nullptr;
  void* look_context = nullptr;
  EventLog* events = &unheard_events;
};

class Domain {
 public:
  // `wires`: in the order of preference; the first that reaches a peer is used for it. The first has a bell.
  Domain(const DomainOptions& options, std::vector<std::unique_ptr<wire::Wire>> wires);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  wire::ProcessId self() const noexcept { return options_.self; }
  std::span<wire::Wire* const> wires() const noexcept { return wire_list_; }
  wire::CopyCosts* copy_costs() const noexcept { return copy_costs_; }  // null: as of Wire::copy_costs()
  Doorbell& bell() noexcept { return *wire_list_.front()->bell(); }
  const Profile& profile() const noexcept { return options_.profile; }
  LongMessages long_messages() const noexcept { return options_.long_messages; }
  const portals::FlowLimits& flow() const noexcept { return options_.flow; }
  portals::Budget::Pool& header_pool() noexcept { return header_pool_; }
  portals::Budget::Pool& byte_pool() noexcept { return byte_pool_; }
  Status connect(std::uint32_t from, wire::ProcessId peer, std::uint32_t to, wire::TxLane** lane);

  std::uint32_t vci_count() const noexcept { return static_cast<std::uint32_t>(vcis_.size()); }
  Vci& vci(std::uint32_t index) noexcept { return *vcis_[index]; }
  // A VCI of its own for one more user, or the fallback (number 0) when all are taken. Any thread.
  std::uint32_t take_vci() noexcept;
  void give_vci_back(std::uint32_t index) noexcept { pool_.give_back(index); }
  // For one that uses all of them beside the others' users: how many there are; 1 where that is not wanted. Any thread.
  std::uint32_t share_all_vcis() noexcept;

  // One round of progress for a thread that is interested in `vci`. `round` counts its rounds; returns how much moved.
  unsigned progress(Vci& vci, unsigned round) noexcept;
  // For Without::kOwnProgress: what has arrived for the other VCIs too. By the holder of this one's lock.
  unsigned poll_others(Vci& vci) noexcept;
  // For a test that returns at once: a round that also looks at the other VCIs now and then. A program that tests in a
  // loop keeps others from running on a crowded node, so there it yields after some rounds in vain.
  void progress_once(Vci& vci) noexcept;
  // Makes progress until done() is true. It is not called again after that, so it may take something away.
  template <class Done>
  void wait(Vci& vci, Done&& done) noexcept {
    wait(vci, done, [] {});
  }
  // `expects`, which calls expect(), is called now and then in a wait that takes long, and before each sleep, after which done() is
  // asked again.
  template <class Done, class Expects>
  void wait(Vci& vci, Done&& done, Expects&& expects) noexcept;
  // A message from there is waited for (Wire::expect). True: the launcher was asked about it.
  bool expect(wire::ProcessId process) noexcept {
    bool asked = false;
    for (wire::Wire* wire : wire_list_) asked |= wire->expect(process);
    return asked;
  }

  // Progress on every VCI, and on the tasks if `tasks`: how much moved. `*contended` is set when another thread kept this
  // one from looking.
  unsigned look(bool tasks, bool* contended) noexcept;
  // Sleeps until something comes, unless look() is true, or it is time to look for losses, or at what does not ring.
  template <class Look>
  void sleep(Look&& look) noexcept {
    bell().sleep(sleep_limit(), [&] { return look() || !arm_wires(); });
  }
  // Called by a task that gets on without coming to its end: who waits for it does not wait in vain, and another thread that sleeps is
  // woken, as it has told others only of what the task waited for before.
  void note_advance() noexcept { advances_.fetch_add(1, std::memory_order_relaxed); }
  // Something is expected until then (now_ns()): while no waiter lacks a core, none sleeps. Any thread; of several the
  // latest counts.
  void expect_until(std::int64_t when) noexcept {
    std::int64_t before = expected_until_.load(std::memory_order_relaxed);
    while (before < when && !expected_until_.compare_exchange_weak(before, when, std::memory_order_relaxed)) continue;
  }
  // It has come. What others expect later than that still counts.
  void expect_no_more(std::int64_t when) noexcept {
    expected_until_.compare_exchange_strong(when, 0, std::memory_order_relaxed);
  }
  // Whoever waits should leave the core to others of this node's ranks and threads.
  bool crowded() const noexcept { return more_than_cores(waiters_); }
  // Ranks of the node for each of its cores, rounded up: with 1 each has its own.
  std::uint32_t ranks_on_a_core() const noexcept {
    const std::uint32_t cores = std::max(options_.cores, 1u);
    return (options_.local_ranks + cores - 1) / cores;
  }
  // has_waiters() knows of each from its first round on. REQUIRES: nobody waits yet.
  void count_every_wait() noexcept { uncounted_ = 0; }
  bool has_waiters() const noexcept { return waiters_.load(std::memory_order_relaxed) != 0; }

  [[noreturn]] void fatal(const char* sentence) const noexcept;

  // Wakes whoever sleeps: the caller may leave, and the task may be able to go on since it was last stepped.
  void add_task(Task& task) noexcept {
    tasks_.add(task);
    if (options_.threaded) bell().ring();
  }

  // Whether whoever steps the task will sleep if none goes on. REQUIRES: within a step of a task of add_task().
  bool is_before_sleep() const noexcept { return tasks_.is_before_sleep(); }

  // A process is lost: what it has sent is handled, and from then on nothing comes from it and nothing goes there. What
  // waits for it is for its waiter to give up (p2p/loss.hpp). With no lock held.
  void lose(wire::ProcessId process, std::string why);
  const Losses& losses() const noexcept { return losses_; }
  EventLog& events() noexcept { return *options_.events; }
  // Asks for losses, if nobody has for a while.
  void look_for_losses() noexcept;

  // Whether wires hold packets that they have not sent yet, of which no lane knows any more.
  bool owes() const noexcept;
  // What the wires have dropped of what came for a VCI.
  wire::Dropped dropped(std::uint32_t vci) const noexcept;

  // Whether unexpected messages are kept without limit: nothing that peers still send may wait for a receive.
  void set_unlimited(bool unlimited) noexcept;

  AbandonedList& abandoned() noexcept { return abandoned_; }

 private:
  bool arm_wires() noexcept;
  unsigned run_tasks(TaskList& tasks, bool* contended, bool before_sleep = false) noexcept;
  // Steps the tasks of add_task(): how many ended, and one more if any got on.
  unsigned step_tasks(bool* contended, bool before_sleep = false) noexcept;
  unsigned step_tasks() noexcept {
    bool contended = false;
    return step_tasks(&contended);
  }
  [[gnu::noinline]] unsigned progress_elsewhere(Vci& vci, bool in_turn) noexcept;
  void learn_from_look(bool brings) noexcept;
  template <class Done>
  bool comes_soon(Vci& vci, Done&& done) noexcept;
  // The rounds after the first: there are many kinds of waits, and one loop that asks them.
  void wait_on(Vci& vci, Patience::Learnt& learnt, FunctionRef<bool()> done, FunctionRef<void()> expects) noexcept;
  bool fall_asleep(Patience& patience, FunctionRef<bool()> done, FunctionRef<void()> expects) noexcept;
  // After a round in vain.
  unsigned progress_idle(Vci& vci) noexcept { return vci.idle_tasks().empty() ? 0 : run_idle_tasks(vci); }
  [[gnu::noinline]] unsigned run_idle_tasks(Vci& vci) noexcept;
  std::int64_t sleep_limit() const noexcept {
    if (options_.short_sleeps) return kBusySleepNs;
    for (const auto& vci : vcis_) {
      if (vci->has_busy_lanes()) return kBusySleepNs;
    }
    for (const auto& wire : wires_) {
      if (!wire->rings()) return kBusySleepNs;
    }
    return kSleepNs;
  }
  std::uint32_t advances() const noexcept { return advances_.load(std::memory_order_relaxed); }
  bool is_expecting() const noexcept {
    const std::int64_t until = expected_until_.load(std::memory_order_relaxed);
    return until != 0 && now_ns() < until;
  }
  bool more_than_cores(const std::atomic<std::uint32_t>& waiters) const noexcept {
    return options_.local_ranks * std::max(waiters.load(std::memory_order_relaxed), 1u) > options_.cores;
  }

  // In a crowd each yield lets all the others of its core look in vain, too: the more there are, the sooner they sleep.
  static unsigned yields_of(const DomainOptions& options) noexcept {
    const std::uint64_t on_a_core = options.local_ranks / std::max(options.cores, 1u);
    if (on_a_core <= kUsualOnACore) return kYields;
    return std::max(static_cast<unsigned>(kYields * kUsualOnACore / on_a_core), kFewestYields);
  }

  static constexpr unsigned kForeignEvery = 8;
  static constexpr unsigned kKeen = 64;            // looks in vain, after one at another VCI that was not
  static constexpr unsigned kUncounted = 64;       // rounds of shared memory alone: 1 us
  static constexpr unsigned kLookEvery = 1 << 16;  // rounds, where something always moves and nobody sleeps
  static constexpr unsigned kLookEveryTests = 256;
  static constexpr std::int64_t kLookEveryNs = 50'000'000;  // for losses; a question is a system call
  static constexpr unsigned kSpins = 20'000;                // about 1 ms, while every rank has a core
  static constexpr unsigned kFabricCost = 2;                // of a round that asks a network, too: they take 8 ms then
  static constexpr unsigned kThreadsFew = 4;    // times the rounds in a crowd of threads, whose ranks have cores
  static constexpr unsigned kCrowdedTests = 4;  // in vain, then others should run
  static constexpr unsigned kTests = 4096;      // in vain, before one yields for whoever shares the core unknown to us
  static constexpr unsigned kYields = kWithout == Without::kLocks ? 1u << 30 : 64;  // no sleep looks at others' VCIs
  static constexpr unsigned kFewestYields = 4;
  static constexpr std::uint64_t kUsualOnACore = 16;     // ranks, up to which it is kYields
  static constexpr std::int64_t kSleepNs = 100'000'000;  // a wake-up ends it; this bound only limits the harm of a bug
  static constexpr std::int64_t kBusySleepNs = 1'000'000;  // while a send waits for room: not every wire rings for that

  DomainOptions options_;
  std::vector<std::unique_ptr<wire::Wire>> wires_;
  std::vector<wire::Wire*> wire_list_;
  wire::CopyCosts* copy_costs_ = nullptr;
  const unsigned round_cost_ = wires_.size() == 1 ? 1 : kFabricCost;
  const unsigned few_ = options_.local_ranks > options_.cores ? 1 : kThreadsFew;
  const unsigned yields_ = yields_of(options_);
  unsigned uncounted_ = wires_.size() == 1 ? kUncounted : 0;  // the rounds at the beginning of a wait
  portals::Budget::Pool header_pool_{options_.flow.lendable_headers(), options_.vcis};
  portals::Budget::Pool byte_pool_{options_.flow.lendable_bytes(), options_.vcis};
  std::vector<std::unique_ptr<Vci>> vcis_;
  TaskList tasks_;
  Losses losses_;
  std::atomic<std::int64_t> looked_at_{0};  // when, in ns
  std::atomic<std::int64_t> expected_until_{0};
  std::atomic<std::uint32_t> advances_{0};
  std::atomic<unsigned> keen_{0};  // so many looks at other VCIs come every round
  AbandonedList abandoned_;
  VciPool pool_;
  // What threads that wait write, apart from what they read.
  alignas(kApart) std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> most_waiters_{0};  // at once, so far
  std::atomic<std::uint32_t> next_foreign_{0};
};

// The first rounds of a wait, which are mostly all of it. The thread is not counted yet: the count is an atomic
// operation at either end, which waits for all that was stored before it, a message's bytes among it.
template <class Done>
[[gnu::hot]] bool Domain::comes_soon(Vci& vci, Done&& done) noexcept {
  for (unsigned round = 0; round < uncounted_; ++round) {
    if (progress(vci, round) == 0 && progress_idle(vci) == 0) cpu_relax_briefly();
    events().tell();
    if (done()) return true;
  }
  return false;
}

template <class Done, class Expects>
[[gnu::hot]] void Domain::wait(Vci& vci, Done&& done, Expects&& expects) noexcept {
  if (losses_.count() != 0) progress(vci, 0);  // who gives up at once must still take what living peers send
  if (done()) return;
  Patience::Learnt& learnt = Patience::learnt();
  if (!more_than_cores(most_waiters_) && Patience::may_poll(learnt, uncounted_) && comes_soon(vci, done)) return;
  wait_on(vci, learnt, FunctionRef<bool()>(done), FunctionRef<void()>(expects));
}

}  // namespace heddle::vci
