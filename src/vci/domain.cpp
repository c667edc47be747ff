#include "vci/domain.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "mpi.h"

namespace heddle::vci {

Domain::Domain(const DomainOptions& options, std::vector<std::unique_ptr<wire::Wire>> wires)
    : options_(options), wires_(std::move(wires)) {
  for (auto& wire : wires_) {
    wire_list_.push_back(wire.get());
    if (wire->copy_costs() != nullptr) copy_costs_ = wire->copy_costs();
  }
  if (!options_.threaded) tasks_.elide();
  for (std::uint32_t i = 0; i < options_.vcis; ++i) {
    vcis_.push_back(std::make_unique<Vci>(*this, i, options_.engine, options_.threaded));
  }
}

// The last wire first: it may ring the first one's bell until it is gone.
Domain::~Domain() {
  while (!wires_.empty()) wires_.pop_back();
}

Status Domain::connect(std::uint32_t from, wire::ProcessId peer, std::uint32_t to, wire::TxLane** lane) {
  if (losses_.is_noted(peer)) return error(MPI_ERR_PROC_ABORTED, "%s", losses_.why(peer).c_str());
  for (wire::Wire* wire : wire_list_) {
    if (wire->reaches(peer)) return wire->connect(from, peer, to, lane);
  }
  return error(MPI_ERR_OTHER, "no wire reaches process %u", peer);
}

void Domain::fatal(const char* sentence) const noexcept {
  if (options_.fatal != nullptr) options_.fatal(options_.fatal_context, sentence);
  std::fprintf(stderr, "heddle: process %u: %s\n", options_.self, sentence);
  std::abort();
}

std::uint32_t Domain::take_vci() noexcept {
  if (options_.mapping == Mapping::kNone) return 0;
  const std::uint32_t index = pool_.take(vci_count());
  if (index == 0) events().note(Event::kSharedVci, 0);
  return index;
}

std::uint32_t Domain::share_all_vcis() noexcept {
  if (options_.mapping != Mapping::kHints) return 1;
  pool_.use((1u << vci_count()) - 1);
  return vci_count();
}

void Domain::set_unlimited(bool unlimited) noexcept {
  for (const auto& vci : vcis_) {
    LockGuard guard(vci->lock());
    vci->sources().set_unlimited(unlimited);
  }
}

[[gnu::hot]] unsigned Domain::progress(Vci& vci, unsigned round) noexcept {
  unsigned moved = vci.progress();
  const bool in_turn = round % kForeignEvery == kForeignEvery - 1;
  if (kWithout != Without::kLocks && (in_turn || keen_.load(std::memory_order_relaxed) != 0)) {
    moved += progress_elsewhere(vci, in_turn);
  }
  return moved + step_tasks();
}

unsigned Domain::poll_others(Vci& vci) noexcept {
  unsigned moved = 0;
  for (std::uint32_t used = pool_.used(); used != 0; used &= used - 1) {
    Vci& other = *vcis_[static_cast<std::size_t>(std::countr_zero(used))];
    if (&other == &vci || !other.lock().try_lock()) continue;
    moved += other.poll_alone();
    other.unlock_and_wake();
  }
  return moved;
}

// `in_turn`: the next look goes to the next VCI, whatever this one brings.
unsigned Domain::progress_elsewhere(Vci& vci, bool in_turn) noexcept {
  unsigned moved = 0;
  const std::uint32_t others = pool_.used() & ~(1u << vci.index());
  if (others != 0) {
    // The next one in turn, wrapping round.
    const std::uint32_t from = next_foreign_.load(std::memory_order_relaxed) % wire::kMaxVcis;
    const std::uint32_t later = others & (~0u << from);
    const auto index = static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : others));
    vcis_[index]->count_foreign_poll();
    moved = vcis_[index]->progress();
    if (moved == 0) moved = progress_idle(*vcis_[index]);
    // What the network does in exposed memory is not seen here: every look may bring something.
    const bool brings = moved != 0 || vcis_[index]->exposes();
    learn_from_look(brings);
    next_foreign_.store(brings && !in_turn ? index : index + 1, std::memory_order_relaxed);
  }
  return moved + progress_idle(vci);  // they must not starve, however much moves
}

// Where something came for another VCI more will, as where this thread is the target of accesses to a window. If another thread waits,
// it may be the one that looks there.
void Domain::learn_from_look(bool brings) noexcept {
  const unsigned keen = keen_.load(std::memory_order_relaxed);
  // With a network all that wait are counted.
  const bool is_alone = !options_.threaded || (round_cost_ != 1 && waiters_.load(std::memory_order_relaxed) == 1);
  if (brings && is_alone) {
    keen_.store(kKeen, std::memory_order_relaxed);
  } else if (keen != 0) {
    keen_.store(keen - 1, std::memory_order_relaxed);
  }
}

unsigned Domain::run_idle_tasks(Vci& vci) noexcept {
  bool contended = false;
  return run_tasks(vci.idle_tasks(), &contended);
}

// A task that ends may be what another thread sleeps for: what it gave back, or that it is gone.
[[gnu::hot]] unsigned Domain::run_tasks(TaskList& tasks, bool* contended, bool before_sleep) noexcept {
  const unsigned ended = tasks.run(contended, before_sleep);
  if (ended != 0 && options_.threaded) bell().ring();
  return ended;
}

void Domain::progress_once(Vci& vci) noexcept {
  thread_local unsigned round = 0, in_vain = 0;
  if (++round % kLookEveryTests == 0) look_for_losses();
  const bool moved = progress(vci, round) != 0 || progress_idle(vci) != 0;
  events().tell();
  if (moved) {
    in_vain = 0;
  } else if (++in_vain >= kCrowdedTests && (in_vain >= kTests / round_cost_ || crowded())) {
    in_vain = 0;
    yield_core();
  }
}

[[gnu::hot]] unsigned Domain::step_tasks(bool* contended, bool before_sleep) noexcept {
  if (tasks_.empty()) return 0;
  const std::uint32_t before = advances();
  const unsigned ended = run_tasks(tasks_, contended, before_sleep);
  if (advances() == before) return ended;
  if (options_.threaded) bell().ring();
  return ended + 1;
}

unsigned Domain::look(bool tasks, bool* contended) noexcept {
  unsigned moved = 0;
  for (std::uint32_t used = pool_.used(); used != 0; used &= used - 1) {
    Vci& vci = *vcis_[static_cast<std::size_t>(std::countr_zero(used))];
    moved += vci.progress_before_sleep(contended);
    for (unsigned i = 0; i <= Profile::kMaxPullAfter + 1 && moved == 0 && !*contended && !vci.idle_tasks().empty();
         ++i) {
      moved += run_tasks(vci.idle_tasks(), contended);
    }
  }
  return moved + (tasks ? step_tasks(contended, /*before_sleep=*/true) : 0);
}

[[gnu::hot]] void Domain::wait_on(Vci& vci, Patience::Learnt& learnt, FunctionRef<bool()> done,
                                  FunctionRef<void()> expects) noexcept {
  const std::uint32_t waiters = waiters_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (waiters > most_waiters_.load(std::memory_order_relaxed)) most_waiters_.store(waiters, std::memory_order_relaxed);
  Patience patience(learnt, round_cost_, more_than_cores(most_waiters_), few_);
  bool finished = false;
  for (unsigned round = 0; !finished && !done(); ++round) {
    if (round % kLookEvery == kLookEvery - 1) {
      look_for_losses();
      expects();
    }
    const bool moved = progress(vci, round) != 0 || progress_idle(vci) != 0;
    events().tell();
    if (moved) {
      patience.restart();
      continue;
    }
    switch (patience.next(crowded(), kSpins, yields_, options_.linger_ns)) {
      case Patience::Step::kSpin:
        cpu_relax();
        break;
      case Patience::Step::kYield:
        patience.yield();
        // Before what others have sent meanwhile is looked at: a task may now post what that is for.
        if (step_tasks() != 0) patience.restart();
        break;
      case Patience::Step::kSleep:
        finished = fall_asleep(patience, done, expects);
        break;
    }
  }
  patience.end();
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

// True: done() was, before the sleep.
[[gnu::cold]] bool Domain::fall_asleep(Patience& patience, FunctionRef<bool()> done,
                                       FunctionRef<void()> expects) noexcept {
  look_for_losses();
  expects();
  if (is_expecting() && !crowded()) {
    patience.go_on();
    return false;
  }
  bool contended = false, finished = false;
  sleep([&] {
    contended = false;
    return look(true, &contended) != 0 || contended || (finished = done());
  });
  if (contended) yield_core();  // whoever holds what was to be looked at may wait for this core
  return finished;
}

// What comes from here on wakes whoever sleeps; false: something is there.
bool Domain::arm_wires() noexcept {
  const std::uint32_t used = pool_.used();
  for (const auto& wire : wires_) {
    if (!wire->arm(used)) return false;
  }
  return true;
}

void Domain::look_for_losses() noexcept {
  if (options_.look_for_losses == nullptr) return;
  const std::int64_t now = now_ns();
  std::int64_t before = looked_at_.load(std::memory_order_relaxed);
  if (now - before < kLookEveryNs) return;
  if (looked_at_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    options_.look_for_losses(options_.look_context);
    for (wire::Wire* wire : wire_list_) wire->expect_anyone();
  }
}

void Domain::lose(wire::ProcessId process, std::string why) {
  if (!losses_.add(process, std::move(why))) return;
  events().note(Event::kLost, process);
  for (const auto& vci : vcis_) vci->lose(process);
  vcis_.front()->lose(process);  // by which the others ask where their peers are
  losses_.publish();
  abandoned_.tell_of_loss();
  bell().ring();
}

wire::Dropped Domain::dropped(std::uint32_t vci) const noexcept {
  wire::Dropped all;
  for (const auto& wire : wires_) {
    const wire::Dropped one = wire->dropped(vci);
    all.strange += one.strange;
    all.replayed += one.replayed;
  }
  return all;
}

bool Domain::owes() const noexcept {
  return std::ranges::any_of(wires_, [](const auto& wire) { return wire->owes(); });
}

}  // namespace heddle::vci
