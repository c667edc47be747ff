// Tail queues under every interleaving up to a bound, with stale values: what the threads get, and what is left in the
// queues, is what the calls give one after the other, in some order that keeps each thread's own. So a pair never stays,
// the oldest is taken, cancel and match exclude each other. With a lock or a wake taken away, the model finds it.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "base/model/broken.hpp"
#include "match/oracle.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

using model::expect_found;
using model::expect_right;
using model::Options;
using model::Result;
using model::Untimed;
using model::WithoutWake;

// Receives and messages are numbered by the calls that bring them: `Op::n` of a cancel is such a number.
using Calls = std::vector<Op>;
struct Story {
  Calls before;                // one after the other
  std::vector<Calls> threads;  // at the same time
};
// What each call gave, in the order of the story, then what was left. Both -1 where there is nothing.
using Outcome = std::vector<int>;

constexpr int kNone = -1;

// Calls `visit(op, number, thread)` for each call of a story; thread 0 is `before`.
template <class Visit>
void for_each_call(const Story& story, Visit visit) {
  int number = 0;
  for (const Op& op : story.before) visit(op, number++, std::size_t{0});
  for (std::size_t t = 0; t < story.threads.size(); ++t) {
    for (const Op& op : story.threads[t]) visit(op, number++, t + 1);
  }
}

class Sequential {
 public:
  // The outcomes of all orders of a story's calls.
  static std::set<Outcome> outcomes(const Story& story) {
    Sequential all;
    for_each_call(story, [&](const Op& op, int number, std::size_t thread) {
      all.todo_.resize(std::max(all.todo_.size(), thread + 1));
      all.todo_[thread].push_back({op, number});
    });
    Oracle oracle;
    Outcome got(static_cast<std::size_t>(all.count()), kNone);
    for (const Call& call : all.todo_[0]) all.run(call, oracle, got);
    all.go_on(std::vector<std::size_t>(all.todo_.size(), 0), oracle, got);
    return all.outcomes_;
  }

 private:
  struct Call {
    Op op;
    int number;
  };
  int count() const {
    std::size_t n = 0;
    for (const auto& calls : todo_) n += calls.size();
    return static_cast<int>(n);
  }
  static void run(const Call& call, Oracle& oracle, Outcome& got) {
    int& result = got[static_cast<std::size_t>(call.number)];
    switch (call.op.kind) {
      case Op::kPost:
        result = oracle.post(call.number, call.op.key).value_or(kNone);
        break;
      case Op::kArrive:
        result = oracle.arrive(call.number, call.op.key).value_or(kNone);
        break;
      case Op::kExtract:
        result = oracle.extract(call.op.key).value_or(kNone);
        break;
      default:
        result = Oracle::remove(oracle.posted, static_cast<int>(call.op.n));
    }
  }
  void go_on(const std::vector<std::size_t>& at, const Oracle& oracle, const Outcome& got) {
    bool ended = true;
    for (std::size_t t = 1; t < todo_.size(); ++t) {
      if (at[t] == todo_[t].size()) continue;
      ended = false;
      Oracle next = oracle;
      Outcome more = got;
      run(todo_[t][at[t]], next, more);
      std::vector<std::size_t> then = at;
      ++then[t];
      go_on(then, next, more);
    }
    if (!ended) return;
    Outcome all = got;
    for (const auto* queue : {&oracle.posted, &oracle.unexpected}) {
      for (const Oracle::Entry& e : *queue) all.push_back(e.id);
    }
    outcomes_.insert(all);
  }

  std::vector<std::vector<Call>> todo_;
  std::set<Outcome> outcomes_;
};

struct Receive : ReceiveNode {
  int number = kNone;
};
struct Message : MessageNode {
  int number = kNone;
};

template <class Atomics>
using SleepingLock = BasicLock<Atomics, 0, 0>;  // in the model a spin waits for the owner, and then nobody would sleep

template <class Atomics, class Mutex = SleepingLock<Atomics>>
struct Run {
  explicit Run(const Story& story) : receives(64), messages(64) {
    for_each_call(story, [&](const Op& op, int number, std::size_t) {
      const auto n = static_cast<std::size_t>(number);
      receives[n].key = messages[n].key = op.key;
      receives[n].number = messages[n].number = number;
      got.push_back(kNone);
    });
  }
  static int number_of(ReceiveNode* node) { return node == nullptr ? kNone : static_cast<Receive*>(node)->number; }
  static int number_of(MessageNode* node) { return node == nullptr ? kNone : static_cast<Message*>(node)->number; }

  void call(const Op& op, int number) {
    const auto n = static_cast<std::size_t>(number);
    got[n] = op.kind == Op::kPost      ? number_of(engine.post(receives[n]))
             : op.kind == Op::kArrive  ? number_of(engine.arrive_or_keep(messages[n]))
             : op.kind == Op::kExtract ? number_of(engine.extract(op.key))
                                       : engine.cancel(receives[op.n]);
  }
  Outcome outcome() {
    Outcome all = got;
    engine.drain_in_order([&](ReceiveNode& r) { all.push_back(number_of(&r)); },
                          [&](MessageNode& m) { all.push_back(number_of(&m)); });
    return all;
  }

  BasicTailQueueEngine<Atomics, Mutex> engine;
  std::deque<Receive> receives;
  std::deque<Message> messages;
  Outcome got;
};

template <class Atomics, class Mutex = SleepingLock<Atomics>>
Result explore(const Story& story, std::set<Outcome>& seen, const std::set<Outcome>& allowed, const Options& options) {
  return model::explore(
      [&](model::Program& program) {
        const auto run = std::make_shared<Run<Atomics, Mutex>>(story);
        std::vector<std::vector<std::pair<Op, int>>> calls(story.threads.size() + 1);
        for_each_call(story, [&](const Op& op, int number, std::size_t t) { calls[t].push_back({op, number}); });
        for (const auto& [op, number] : calls[0]) run->call(op, number);
        for (std::size_t t = 1; t < calls.size(); ++t) {
          program.thread([run, mine = calls[t]] {
            for (const auto& [op, number] : mine) run->call(op, number);
          });
        }
        program.finally([run, &seen, &allowed] {
          const Outcome outcome = run->outcome();
          model::check(allowed.contains(outcome), "the outcome is one of calls that come one after the other");
          seen.insert(outcome);
        });
      },
      options);
}

Options bounds(std::size_t preemptions, std::size_t stale_loads) {
  Options options;
  options.preemptions = preemptions;
  options.stale_loads = stale_loads;
  return options;
}

// Within the bounds every execution gives an allowed outcome, and every allowed outcome comes.
void expect_as_if_in_some_order(const Story& story, const Options& options = bounds(3, 1)) {
  const std::set<Outcome> allowed = Sequential::outcomes(story);
  std::set<Outcome> seen;
  expect_right(explore<Untimed>(story, seen, allowed, options));
  EXPECT_EQ(seen, allowed);
}

Op post(const Key& key) { return {Op::kPost, key}; }
Op arrive(const Key& key) { return {Op::kArrive, key}; }
Op cancel(unsigned receive) { return {Op::kCancel, {}, receive}; }
Op extract(const Key& key) { return {Op::kExtract, key}; }

constexpr Key kFirst{1, 0, 0}, kSecond{1, 1, 0}, kOther{1, 5, 5}, kAnyone{1, kAnySource, 0};

TEST(TailQueueModel, AReceiveAndItsMessageMeet) {
  expect_as_if_in_some_order({{}, {{post(kFirst)}, {arrive(kFirst)}}});
}

TEST(TailQueueModel, InAQueueOfOthersTheyMeet) {
  expect_as_if_in_some_order(
      {{post(kOther), arrive(kSecond), post(kOther), arrive(kSecond)}, {{post(kFirst)}, {arrive(kFirst)}}});
}

TEST(TailQueueModel, TheOldestComesFirst) {
  expect_as_if_in_some_order({{}, {{post(kFirst), post(kFirst)}, {arrive(kFirst), arrive(kFirst)}}});
}

TEST(TailQueueModel, TheOldestComesFirstAcrossWildcards) {
  expect_as_if_in_some_order({{}, {{post(kAnyone), post(kFirst)}, {arrive(kFirst), arrive(kSecond)}}});
  expect_as_if_in_some_order({{}, {{post(kFirst), post(kAnyone)}, {arrive(kSecond), arrive(kFirst)}}});
}

// The queue holds an entry, the inbox the next, and a third comes.
TEST(TailQueueModel, WhatIsInTheInboxIsYoungerThanTheQueue) {
  expect_as_if_in_some_order(
      {{post(kFirst), arrive(kOther), post(kAnyone)}, {{post(kFirst)}, {arrive(kFirst), arrive(kFirst)}}});
  expect_as_if_in_some_order(
      {{arrive(kFirst), post(kOther), arrive(kSecond)}, {{arrive(kFirst)}, {post(kAnyone), post(kAnyone)}}});
}

TEST(TailQueueModel, CancelAndMatchExcludeEachOther) {
  expect_as_if_in_some_order({{post(kFirst)}, {{cancel(0)}, {arrive(kFirst)}}});                  // from the inbox
  expect_as_if_in_some_order({{post(kFirst), arrive(kOther)}, {{cancel(0)}, {arrive(kFirst)}}});  // from the queue
  expect_as_if_in_some_order({{post(kFirst)}, {{cancel(0)}, {arrive(kOther)}, {arrive(kFirst)}}}, bounds(2, 0));
  expect_as_if_in_some_order({{post(kFirst)}, {{cancel(0)}, {post(kFirst)}, {arrive(kFirst)}}}, bounds(2, 0));
}

TEST(TailQueueModel, TwoThreadsOnOneSide) {
  expect_as_if_in_some_order({{}, {{post(kFirst)}, {arrive(kFirst)}, {arrive(kFirst)}}}, bounds(2, 0));
  expect_as_if_in_some_order({{}, {{arrive(kFirst)}, {post(kFirst)}, {post(kAnyone)}}}, bounds(2, 0));
  // A search in vain, and another thread that moves what it looks for from the inbox to the queue.
  expect_as_if_in_some_order({{post(kFirst)}, {{arrive(kFirst)}, {arrive(kOther)}}});
  expect_as_if_in_some_order({{arrive(kFirst)}, {{post(kAnyone)}, {post(kOther)}}});
  expect_as_if_in_some_order({{}, {{post(kFirst)}, {arrive(kFirst)}, {arrive(kOther)}}}, bounds(2, 0));
  expect_as_if_in_some_order({{arrive(kFirst)}, {{post(kFirst)}, {extract(kAnyone)}, {arrive(kFirst)}}}, bounds(2, 0));
}

// --- what is taken away is missed ---

// The lock that was made as the kWhich-th of its engine's three excludes nobody: posted, unexpected, inbox.
template <int kWhich>
struct OneOpen : SleepingLock<Untimed> {
  OneOpen() {
    if (made++ % 3 == kWhich) this->elide();
  }
  static inline int made = 0;
};

template <class Atomics, class Mutex = SleepingLock<Atomics>>
Result broken(const Story& story) {
  std::set<Outcome> seen;
  return explore<Atomics, Mutex>(story, seen, Sequential::outcomes(story), bounds(2, 0));
}

TEST(TailQueueModel, EachLockIsNeeded) {
  expect_found(broken<Untimed, OneOpen<0>>({{post(kFirst), arrive(kOther)}, {{arrive(kFirst)}, {arrive(kFirst)}}}),
               model::kRace);
  expect_found(broken<Untimed, OneOpen<0>>({{post(kFirst), arrive(kOther)}, {{arrive(kFirst)}, {cancel(0)}}}),
               model::kRace);
  expect_found(broken<Untimed, OneOpen<1>>({{arrive(kFirst), post(kOther)}, {{post(kFirst)}, {post(kFirst)}}}),
               model::kRace);
  expect_found(broken<Untimed, OneOpen<2>>({{}, {{post(kFirst)}, {arrive(kFirst)}}}), model::kRace);
}
TEST(TailQueueModel, TheWakeIsNeeded) {
  expect_found(broken<WithoutWake>({{}, {{post(kFirst)}, {arrive(kFirst)}}}), model::kLost);
}

}  // namespace
}  // namespace heddle::match
