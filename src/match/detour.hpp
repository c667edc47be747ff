// What a VCI's matching takes as soon as it is anything but the plain default: another engine, engines of communicators'
// own, or a clock.
//
// Problem: these are for tools and for the few programs that want them; the others must not pay, not even a branch each.
// Method:  one pointer decides between the default engine, inlined, and this (matcher.hpp). Here an operation goes to the
//          engine of its context, or else to the common one, with the clock read before and after where that is asked for.
//          A context never shows in another one's matches, so engines need not know of each other.
// Threads: as the engine.
// Cost:    an indirect call, and a step for each communicator with an engine of its own; two readings of the clock (some
//          20 ns each, which are in the time) while time is taken.
#pragma once

#include <chrono>
#include <vector>

#include "match/any_engine.hpp"

namespace heddle::match {

class Detour {
 public:
  // Who wants a context to have an engine of its own: a user, who has chosen it, or a tool that counts, whatever it is.
  enum class Owner { kUser, kTool };
  // One engine, what it counts, and what its predecessors have counted.
  struct Part {
    std::uint32_t context = 0;  // nothing in the common one, nor is the next
    Owner owner = Owner::kUser;
    Choice choice;
    std::unique_ptr<AnyEngine> engine;
    Stats before;
    std::uint64_t ns = 0;  // in matching, while time was taken

    Stats stats() const noexcept { return before + engine->stats(); }
  };

  // REQUIRES: an engine.
  Detour(const Choice& choice, std::unique_ptr<AnyEngine> engine, const Stats& before) noexcept
      : common_{0, Owner::kUser, choice, std::move(engine), before} {}

  Part& common() noexcept { return common_; }
  // Null: the context has no engine of its own.
  Part* own(std::uint32_t context) noexcept {
    for (Part& part : own_) {
      if (part.context == context) return &part;
    }
    return nullptr;
  }
  Part& of(std::uint32_t context) noexcept {
    Part* part = own_.empty() ? nullptr : own(context);
    return part != nullptr ? *part : common_;
  }

  // False when there is no memory: all stays as it was.
  bool change(Part& part, const Choice& choice) noexcept;
  bool add(std::uint32_t context, const Choice& choice, Owner owner) noexcept;
  // The common one, and those that only a tool wants. When it is false some of these may have changed.
  bool change_common(const Choice& choice) noexcept;
  // What the context still has goes to the common engine, behind what is there, and so do its counts.
  void remove(std::uint32_t context) noexcept;

  bool timed = false;
  bool is_needed() const noexcept { return timed || !own_.empty() || common_.choice != kDefaultEngine; }

  // An operation on the engine of that context.
  template <class Operation>
  auto at(std::uint32_t context, Operation&& operation) noexcept {
    Part& part = of(context);
    if (!timed) return operation(*part.engine);
    const Timer timer(part.ns);
    return operation(*part.engine);
  }

  void drain_in_order(Taker& taker) noexcept {
    common_.engine->drain_in_order(taker);
    for (Part& part : own_) part.engine->drain_in_order(taker);
  }
  Stats stats() const noexcept;
  std::uint64_t ns() const noexcept;

 private:
  class Timer {
   public:
    explicit Timer(std::uint64_t& sum) noexcept : sum_(sum) {}
    ~Timer() {
      const auto passed = std::chrono::steady_clock::now() - start_;
      sum_ += static_cast<std::uint64_t>(std::chrono::nanoseconds(passed).count());
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    std::uint64_t& sum_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  Part common_;
  std::vector<Part> own_;
};

}  // namespace heddle::match
