// Runs the logical threads of a small program step by step, in every order up to a bound, and says when it is wrong.
//
// Method:  each logical thread is a fiber. Before each atomic operation the scheduler may take the processor away;
//          which thread goes on, and which of the allowed values a load gives, are choices (choices.hpp). All
//          executions with at most `preemptions` involuntary switches and `stale_loads` old values are tried; most bugs
//          need one or two. A thread in pause() waits for somebody's store, so that spinning does not multiply
//          executions.
// Wrong:   a check() that fails, a data race on noted plain memory, all threads waiting for a store that nobody will
//          do, or no end within `steps`. The report lists each operation of that execution.
// Use:     explore() below; tests/base/model_test.cpp shows the usual programs. A wrong execution is abandoned in the
//          middle: its fibers' frames are not unwound, so objects with memory of their own belong to the setup, not to
//          a thread.
// Threads: one system thread at a time.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/model/choices.hpp"
#include "base/model/fiber.hpp"
#include "base/model/memory.hpp"

namespace heddle::model {

struct Options {
  std::size_t preemptions = 2;
  std::size_t stale_loads = 3;
  std::size_t steps = 20'000;          // of one execution
  std::size_t executions = 2'000'000;  // give up (and say so) after that many
  std::optional<std::uint64_t> seed;   // random executions instead of all
};

struct Result {
  bool failed = false;
  std::string report;  // of the first wrong execution
  std::size_t executions = 0;
  bool complete = false;  // all executions within the bounds were tried
};

class Scheduler {
 public:
  // What a program's setup function gets, anew for each execution.
  class Program {
   public:
    void thread(std::function<void()> body) { bodies.push_back(std::move(body)); }
    // Runs after all threads have ended, and knows all that they did.
    void finally(std::function<void()> body) { at_end = std::move(body); }

   private:
    friend class Scheduler;
    std::vector<std::function<void()>> bodies;
    std::function<void()> at_end;
  };

  explicit Scheduler(const Options& options)
      : options_(options), choices_(options.seed ? Choices(*options.seed) : Choices()) {
    fibers_.push_back(std::make_unique<Fiber>());
  }

  // The scheduler that the calling code runs under; null outside of an execution.
  static Scheduler* current() { return current_; }
  // The logical thread that runs: 0 in setup and at the end, then in the order of Program::thread().
  std::size_t self() const { return self_; }

  Result explore(const std::function<void(Program&)>& setup) {
    Result result;
    do {
      execute(setup);
      ++result.executions;
      if (failure_) {
        result.failed = true;
        result.report = report();
        return result;
      }
      if (!choices_.advance()) {
        result.complete = true;
        return result;
      }
    } while (result.executions < options_.executions);
    return result;
  }

  // --- what a program does, through ModelAtomics: step(), then one operation on the newest value ---

  // Another thread may run here.
  void step() {
    if (self_ == 0) return;
    count_step();
    go_on_with(pick(true));
  }

  std::uint64_t load(const void* address, std::uint64_t newest, std::memory_order order) {
    const Loaded got = memory_->load(self_, address, newest, order, threads_[self_].fresh);
    note("load", got, got.value, order);
    return got.value;
  }
  void store(const void* address, std::uint64_t newest, std::uint64_t value, std::memory_order order) {
    note("store", memory_->store(self_, address, newest, value, order), value, order);
    stored();
  }
  void exchange(const void* address, std::uint64_t newest, std::uint64_t value, std::memory_order order) {
    note("read-modify-write", memory_->exchange(self_, address, newest, value, order), value, order);
    stored();
  }
  // Empty: succeeded. Else the value that was there instead.
  std::optional<std::uint64_t> compare_exchange(const void* address, std::uint64_t newest, std::uint64_t expected,
                                                std::uint64_t value, std::memory_order success,
                                                std::memory_order failure) {
    const Loaded got =
        memory_->compare_exchange(self_, address, newest, expected, value, success, failure, threads_[self_].fresh);
    if (got.value != expected) {
      note("failed compare-and-swap", got, got.value, failure);
      return got.value;
    }
    note("compare-and-swap", got, value, success);
    stored();
    return std::nullopt;
  }
  void fence(std::memory_order order) {
    memory_->fence(self_, order);
    note("fence", {}, 0, order);
  }
  void fence_everywhere() {
    memory_->fence_everywhere();
    note("fence in every thread", {}, 0, std::memory_order_seq_cst);
  }

  // The thread has nothing to do until another thread stores something.
  void pause() {
    if (self_ == 0) return;
    count_step();
    Thread& thread = threads_[self_];
    if (thread.fresh && thread.paused_at == stores_) thread.stuck = true;
    thread.waiting = true;
    thread.fresh = false;
    thread.paused_at = stores_;
    go_on_with(pick(false));
  }

  // As a futex: waits while the newest value of the word is `expected`, until a wake. `timed`: or until nothing else
  // can happen.
  void wait(const void* address, std::uint64_t newest, std::uint64_t expected, bool timed) {
    if (newest != expected) return;
    note("sleep", {}, 0, std::memory_order_relaxed);
    Thread& thread = threads_[self_];
    thread.asleep_on = address;
    thread.timed = timed;
    go_on_with(pick(false));
  }
  // Wakes `how_many` of the word's sleepers; which ones is a choice.
  void wake(const void* address, int how_many) {
    note("wake", {}, 0, std::memory_order_relaxed);
    std::vector<std::size_t> asleep;
    for (std::size_t t = 1; t < threads_.size(); ++t) {
      if (threads_[t].asleep_on == address) asleep.push_back(t);
    }
    for (; how_many > 0 && !asleep.empty(); --how_many) {
      const bool all = static_cast<std::size_t>(how_many) >= asleep.size();
      const auto woken = asleep.begin() + static_cast<std::ptrdiff_t>(all ? 0 : choices_.choose(asleep.size()));
      threads_[*woken].asleep_on = nullptr;
      asleep.erase(woken);
    }
  }

  void plain(const void* address, std::size_t bytes, bool write) {
    if (memory_->plain(self_, address, bytes, write)) {
      fail(write ? "data race: this write of plain memory is not ordered after an earlier access"
                 : "data race: this read of plain memory is not ordered after an earlier write");
    }
  }

  void born(const void* address) { memory_->born(address); }

  // Ends the execution as wrong.
  void fail(const char* why) {
    if (!failure_) failure_.emplace("thread ").append(std::to_string(self_)).append(": ").append(why);
    if (self_ != 0) leave_for_good();
  }

 private:
  static constexpr std::size_t kStackBytes = 256 * 1024;

  struct Thread {
    bool done = false;
    bool waiting = false;         // in pause()
    bool fresh = false;           // woken from pause() without a store: nothing is stale any more
    bool stuck = false;           // and found nothing even so
    std::uint64_t paused_at = 0;  // the number of stores by then
    const void* asleep_on = nullptr;
    bool timed = false;
  };

  struct Event {
    std::size_t thread;
    const char* what;
    std::size_t location;
    std::uint64_t value;
    std::size_t behind;
    std::memory_order order;
  };

  void execute(const std::function<void(Program&)>& setup) {
    memory_ = std::make_unique<Memory>(choices_, Memory::Limits{options_.stale_loads});
    threads_.assign(1, {});
    events_.clear();
    steps_ = stores_ = 0;
    self_ = 0;
    preemptions_left_ = options_.preemptions;
    current_ = this;
    {
      Program program;
      setup(program);
      start(program);
      if (threads_.size() > 1) go_on_with(pick(false));
      if (!failure_ && program.at_end) {
        for (std::size_t t = 1; t < threads_.size(); ++t) memory_->join(0, t);
        program.at_end();
      }
    }
    current_ = nullptr;
  }

  void start(Program& program) {
    if (program.bodies.size() + 1 > kMaxThreads) std::abort();
    bodies_ = &program.bodies;
    for (std::size_t t = 1; t <= program.bodies.size(); ++t) {
      threads_.emplace_back();
      memory_->fork(0, t);
      if (fibers_.size() == t) fibers_.push_back(std::make_unique<Fiber>(kStackBytes, [this, t] { run_thread(t); }));
    }
  }

  // A fiber serves one logical thread of each execution.
  void run_thread(std::size_t t) {
    for (;;) {
      (*bodies_)[t - 1]();
      threads_[t].done = true;
      go_on_with(pick(false));
    }
  }

  // Who runs next; 0 when all are done or the execution failed. `self_` may go on if `may_continue`.
  std::size_t pick(bool may_continue) {
    std::vector<std::size_t> candidates;
    if (may_continue) candidates.push_back(self_);
    if (!may_continue || preemptions_left_ > 0 || choices_.random()) {
      for (std::size_t t = 1; t < threads_.size(); ++t) {
        if (!(may_continue && t == self_) && runnable(t)) candidates.push_back(t);
      }
    }
    if (candidates.empty()) candidates = last_resort();
    if (candidates.empty()) {
      for (std::size_t t = 1; t < threads_.size(); ++t) {
        if (!threads_[t].done) failure_ = "every thread waits for something that no thread will do";
      }
      return 0;
    }
    const std::size_t choice = choices_.choose(candidates.size());
    if (may_continue && choice != 0 && !choices_.random()) --preemptions_left_;
    Thread& next = threads_[candidates[choice]];
    next.waiting = false;
    return candidates[choice];
  }

  bool runnable(std::size_t t) const {
    const Thread& thread = threads_[t];
    return !thread.done && thread.asleep_on == nullptr && !(thread.waiting && thread.paused_at == stores_);
  }

  // Nobody can go on: first those who wait and may have seen a stale value, then those whose sleep has a time limit.
  std::vector<std::size_t> last_resort() {
    std::vector<std::size_t> out;
    for (std::size_t t = 1; t < threads_.size(); ++t) {
      Thread& thread = threads_[t];
      if (!thread.done && thread.waiting && !thread.stuck) {
        thread.fresh = true;
        out.push_back(t);
      }
    }
    if (!out.empty()) return out;
    for (std::size_t t = 1; t < threads_.size(); ++t) {
      Thread& thread = threads_[t];
      if (!thread.done && thread.asleep_on != nullptr && thread.timed) {
        thread.asleep_on = nullptr;
        return {t};
      }
    }
    return out;
  }

  void go_on_with(std::size_t next) {
    if (next == self_) return;
    const std::size_t before = std::exchange(self_, next);
    Fiber::change(*fibers_[before], *fibers_[next]);
  }

  void leave_for_good() {
    go_on_with(0);
    std::abort();  // an abandoned fiber is never switched to
  }

  void stored() {
    ++stores_;
    for (Thread& thread : threads_) thread.stuck = thread.fresh = false;
  }

  void count_step() {
    if (++steps_ > options_.steps) fail("no end within the allowed number of steps");
  }

  void note(const char* what, const Loaded& got, std::uint64_t value, std::memory_order order) {
    events_.push_back({self_, what, got.location, value, got.behind, order});
  }

  std::string report() const {
    static constexpr const char* kOrders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    std::ostringstream out;
    out << *failure_ << "\n";
    for (const Event& e : events_) {
      out << "  thread " << e.thread << ": " << e.what;
      if (e.location != Loaded::kNowhere) out << " atomic " << e.location << ": " << e.value;
      if (e.behind != 0) out << " (old: " << e.behind << " newer)";
      out << " [" << kOrders[static_cast<int>(e.order)] << "]\n";
    }
    return out.str();
  }

  inline static Scheduler* current_ = nullptr;

  const Options options_;
  Choices choices_;
  std::unique_ptr<Memory> memory_;
  std::vector<Thread> threads_;
  const std::vector<std::function<void()>>* bodies_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // by thread; the first is the caller's own stack
  std::vector<Event> events_;
  std::size_t self_ = 0;
  std::size_t preemptions_left_ = 0;
  std::size_t steps_ = 0;
  std::uint64_t stores_ = 0;
  std::optional<std::string> failure_;
};

using Program = Scheduler::Program;

// Runs the program that `setup` describes in every way that the options allow, until one is wrong.
inline Result explore(const std::function<void(Program&)>& setup, const Options& options = {}) {
  return Scheduler(options).explore(setup);
}

// REQUIRES: called by a program under explore().
inline void check(bool holds, const char* what) {
  if (!holds) Scheduler::current()->fail(what);
}

}  // namespace heddle::model
