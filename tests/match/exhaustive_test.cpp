// Every sequence of up to 6 operations over 2 sources × 2 tags with wildcards: each engine gives exactly what the oracle
// gives.
//
// Method: the sequences are a tree, which is walked. The oracle takes a step at each node; a new engine repeats the whole
//         sequence, for engines cannot be copied, and each thing that it gives is compared. At the end of each sequence, long
//         or short, the engine is asked by all 9 receive keys what a probe would find, whether a receive that it gave away
//         can be cancelled, and is drained.
//   The operations: post with 9 keys, arrive with 4, cancel of each queued receive, remove of each queued message, extract
//         with each key that finds one, purge, drain; of a matcher also the changes of its engines.
// Left out is what cannot differ from something that is there:
//   - other names of sources and tags. The first source that a sequence names is 0, another one is 1, and the same for tags.
//     That engines do not care is itself tried, one operation shorter: the other way round;
//   - a probe in the middle, of an engine whose `probe` is const: nothing but its counters can change. Adaptive's is not: it
//     probes in the middle too, while there are messages;
//   - an extract that finds nothing, which is such a probe;
//   - a cancel of a receive that is not queued: nothing of an engine is in it. It is tried at the end of a sequence;
//   - purge and drain of empty queues.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "match/oracle.hpp"

namespace heddle::match {
namespace {

// Instrumented or unoptimised, the last step of length would take minutes; it is taken in the plain build.
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kLess = 1;
#elif defined(__has_feature)
constexpr int kLess = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 1 : 0;
#else
constexpr int kLess = 0;
#endif

constexpr int kLongest = 6 - kLess,
              kBlocker = 6;  // the blocker's identity; all others are the number of their operation
constexpr std::uint32_t kContext = 1, kOtherContext = 2;

template <class E>
constexpr bool kProbeChanges = !requires(const E& engine, const Key& key) {
  engine.probe(key);
};
template <>
constexpr bool kProbeChanges<Matcher> = false;  // its adaptive engine changes after 8 entries

// How many sources and tags the sequence has named.
struct Names {
  int sources = 0, tags = 0;
};

struct Kind {
  int longest = kLongest;
  int first_source = 0, first_tag = 0;  // what the first that is named is called
  bool blocked = false;                 // a receive and a message of another context are the oldest of all
  unsigned first_engine = 0;            // of a matcher, to which it changes
  bool by_short_cuts = false;           // asks as the library does
};

template <Engine E>
class Walk {
 public:
  explicit Walk(const Kind& kind) : kind_(kind) {
    for (int i = 0; i <= kBlocker; ++i) receives_[i].id = messages_[i].id = i;
    if (!kind.blocked) return;
    oracles_[0].post(kBlocker, {kOtherContext, 0, 0});
    oracles_[0].arrive(kBlocker, {kOtherContext, 1, 1});
  }

  // The number of sequences, or nothing when a difference was found and told.
  std::optional<std::uint64_t> run() {
    descend(0, {});
    return is_same_ ? std::optional(sequences_) : std::nullopt;
  }

 private:
  struct Receive : ReceiveNode {
    int id;
  };
  struct Message : MessageNode {
    int id;
  };
  struct Step {  // an operation and what the oracle gives for it
    Op op;
    Oracle::Id given;
    std::vector<int> receives, messages;
  };

  void descend(int depth, const Names& names) {
    const Oracle& now = oracles_[depth];
    const bool has_messages = !now.unexpected.empty();
    for_each_key(names, [&](const Key& key, const Names& more) {
      take({Op::kPost, key}, depth, more);
      if (!has_wildcard(key)) take({Op::kArrive, key}, depth, more);
      if (has_messages && now.probe(key)) take({Op::kExtract, key}, depth, more);
      if (has_messages && kProbeChanges<E>) take({Op::kProbe, key}, depth, more);
    });
    for (const Oracle::Entry& receive : now.posted) {
      if (receive.id != kBlocker) take({Op::kCancel, {}, static_cast<unsigned>(receive.id)}, depth, names);
    }
    for (const Oracle::Entry& message : now.unexpected) {
      if (message.id != kBlocker) take({Op::kRemove, {}, static_cast<unsigned>(message.id)}, depth, names);
    }
    if (!now.posted.empty() || has_messages) {
      take({Op::kPurge, {kContext, 0, 0}}, depth, names);
      take({Op::kDrain}, depth, names);
    }
    if constexpr (std::is_same_v<E, Matcher>) {
      for (unsigned how = 0; how < kChanges; ++how) take({Op::kMigrate, {}, how}, depth, names);
    }
  }

  // `each(key, names)`: the keys of receives, and what was named when they have been.
  template <class F>
  void for_each_key(const Names& names, F each) {
    for (int s = -1; s <= std::min(names.sources, 1); ++s) {
      for (int t = -1; t <= std::min(names.tags, 1); ++t) {
        each(Key{kContext, s < 0 ? kAnySource : s ^ kind_.first_source, t < 0 ? kAnyTag : t ^ kind_.first_tag},
             Names{std::max(names.sources, s + 1), std::max(names.tags, t + 1)});
      }
    }
  }

  // The operation is the last one of a sequence, and then one in the middle of longer ones.
  void take(const Op& op, int depth, const Names& names) {
    if (!is_same_) return;
    ask_oracle(op, depth);
    ++sequences_;
    is_same_ = repeat(depth + 1);
    if (!is_same_) return tell(depth);
    if (depth + 1 < kind_.longest) descend(depth + 1, names);
  }

  void ask_oracle(const Op& op, int depth) {
    Step& step = steps_[depth];
    Oracle& oracle = oracles_[depth + 1];
    oracle = oracles_[depth];
    step.op = op;
    step.given.reset();
    if (op.kind == Op::kPost) step.given = oracle.post(depth, op.key);
    if (op.kind == Op::kArrive) step.given = oracle.arrive(depth, op.key);
    if (op.kind == Op::kExtract) step.given = oracle.extract(op.key);
    if (op.kind == Op::kProbe) step.given = oracle.probe(op.key);
    if (op.kind == Op::kCancel) Oracle::remove(oracle.posted, static_cast<int>(op.n));
    if (op.kind == Op::kRemove) Oracle::remove(oracle.unexpected, static_cast<int>(op.n));
    if (op.kind == Op::kPurge || op.kind == Op::kDrain) {
      const auto context = op.kind == Op::kPurge ? std::optional(kContext) : std::nullopt;
      step.receives = Oracle::purge(oracle.posted, context);
      step.messages = Oracle::purge(oracle.unexpected, context);
    }
  }

  // Whether a new engine gives the same in all steps, and has the same at the end.
  bool repeat(int length) {
    engine_.emplace();
    changes_ = kind_.first_engine;
    is_timed_ = false;
    if (kind_.blocked) {
      receives_[kBlocker].key = {kOtherContext, 0, 0};
      messages_[kBlocker].key = {kOtherContext, 1, 1};
      engine_->add_posted(receives_[kBlocker]);
      engine_->add_unexpected(messages_[kBlocker]);
    }
    for (int i = 0; i < length; ++i) {
      if (!step(i)) return false;
    }
    return ends_like(oracles_[length], length);
  }

  bool step(int i) {
    const auto& [op, given, receives, messages] = steps_[i];
    switch (op.kind) {
      case Op::kPost:
        receives_[i].key = op.key;
        return is(kind_.by_short_cuts ? post(*engine_, receives_[i]) : engine_->post(receives_[i]), given);
      case Op::kArrive: {
        messages_[i].key = op.key;
        ReceiveNode* receive = kind_.by_short_cuts ? arrive(*engine_, op.key) : engine_->arrive(op.key);
        if (receive == nullptr) engine_->add_unexpected(messages_[i]);
        return is(receive, given);
      }
      case Op::kExtract:
        return is(engine_->extract(op.key), given);
      case Op::kProbe:
        return is(engine_->probe(op.key), given);
      case Op::kCancel:
        return engine_->cancel(receives_[op.n]);
      case Op::kRemove:
        engine_->remove(messages_[op.n]);
        return !messages_[op.n].queued();
      case Op::kPurge:
        return gives(receives, messages, [&](auto& r, auto& m) { engine_->purge(op.key.context, r, m); });
      case Op::kDrain:
        return gives(receives, messages, [&](auto& r, auto& m) { engine_->drain_in_order(r, m); });
      case Op::kMigrate:
        if constexpr (std::is_same_v<E, Matcher>) return change(op.n);
        return false;
    }
    return false;
  }

  bool ends_like(const Oracle& oracle, int length) {
    const Stats stats = engine_->stats();
    bool same = stats.posted.length == oracle.posted.size() && stats.unexpected.length == oracle.unexpected.size();
    for_each_key({1, 1},
                 [&](const Key& key, const Names&) { same = same && is(engine_->probe(key), oracle.probe(key)); });
    for (int i = 0; i < length; ++i) {
      const bool was_given = steps_[i].op.kind == Op::kPost && !has(oracle.posted, i);
      same = same && !(was_given && (receives_[i].queued() || engine_->cancel(receives_[i])));
    }
    ids(oracle.posted, left_receives_);
    ids(oracle.unexpected, left_messages_);
    return same && gives(left_receives_, left_messages_, [&](auto& r, auto& m) { engine_->drain_in_order(r, m); });
  }

  static bool is(const ReceiveNode* node, const Oracle::Id& id) {
    return node == nullptr ? !id : id && static_cast<const Receive*>(node)->id == *id;
  }
  static bool is(const MessageNode* node, const Oracle::Id& id) {
    return node == nullptr ? !id : id && static_cast<const Message*>(node)->id == *id;
  }
  static bool has(const std::vector<Oracle::Entry>& entries, int id) {
    return std::ranges::any_of(entries, [id](const Oracle::Entry& entry) { return entry.id == id; });
  }
  static void ids(const std::vector<Oracle::Entry>& entries, std::vector<int>& out) {
    out.clear();
    for (const Oracle::Entry& entry : entries) out.push_back(entry.id);
  }
  // Whether `hand_over` gives these, in that order, each unlinked.
  template <class HandOver>
  static bool gives(const std::vector<int>& receives, const std::vector<int>& messages, HandOver hand_over) {
    std::size_t r = 0, m = 0;
    bool same = true;
    auto on_receive = [&](ReceiveNode& node) {
      same = same && !node.queued() && r < receives.size() && is(&node, receives[r++]);
    };
    auto on_message = [&](MessageNode& node) {
      same = same && !node.queued() && m < messages.size() && is(&node, messages[m++]);
    };
    hand_over(on_receive, on_message);
    return same && r == receives.size() && m == messages.size();
  }

  // Each change of an engine leads to the next kind.
  static constexpr unsigned kChanges = 4;
  bool change(unsigned how) {
    const Choice choice{static_cast<EngineKind>(changes_ % kEngineKinds)};
    if (how < 2) ++changes_;
    if (how == 0) return engine_->use(choice) && engine_->choice() == choice;
    if (how == 1) return engine_->use(kContext, choice) && engine_->own(kContext)->choice == choice;
    if (how == 2) return engine_->share(kContext), engine_->own(kContext) == nullptr;
    return engine_->take_time(is_timed_ = !is_timed_);
  }

  void tell(int depth) {
    std::ostringstream out;
    for (int i = 0; i <= depth; ++i) out << steps_[i].op << "; ";
    ADD_FAILURE() << "engine and oracle differ: " << out.str();
    // What is still queued must not be destroyed before the engine.
    engine_->drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
  }

  const Kind kind_;
  std::uint64_t sequences_ = 0;
  bool is_same_ = true;
  std::array<Step, kLongest> steps_;
  std::array<Oracle, kLongest + 1> oracles_;  // after so many steps
  std::array<Receive, kBlocker + 1> receives_;
  std::array<Message, kBlocker + 1> messages_;
  std::vector<int> left_receives_, left_messages_;
  unsigned changes_ = 0;
  bool is_timed_ = false;
  std::optional<E> engine_;
};

template <class E>
class Exhaustive : public testing::Test {};
TYPED_TEST_SUITE(Exhaustive, SmallEngines);

TYPED_TEST(Exhaustive, AllOperations) {
  const auto sequences = Walk<TypeParam>({}).run();
  ASSERT_TRUE(sequences);
  std::cout << *sequences << " sequences\n";
}

TYPED_TEST(Exhaustive, OtherNames) {
  for (const auto& [source, tag] : {std::pair(0, 1), {1, 0}, {1, 1}}) {
    ASSERT_TRUE(Walk<TypeParam>({.longest = kLongest - 1, .first_source = source, .first_tag = tag}).run());
  }
}

TYPED_TEST(Exhaustive, BehindAnotherContext) {
  ASSERT_TRUE(Walk<TypeParam>({.longest = kLongest - 1, .blocked = true}).run());
}

TEST(Exhaustive, ByShortCuts) {
  ASSERT_TRUE((Walk<Adaptive<1, 2, 0>>({.by_short_cuts = true}).run()));
  ASSERT_TRUE(Walk<Matcher>({.longest = kLongest - 1, .by_short_cuts = true}).run());
}

TEST(Exhaustive, ChangesOfEngine) {
  const auto sequences = Walk<Matcher>({}).run();
  ASSERT_TRUE(sequences);
  std::cout << *sequences << " sequences\n";
}

TEST(Exhaustive, ChangesBetweenAllEngines) {
  for (unsigned first = 0; first < kEngineKinds; ++first)
    ASSERT_TRUE(Walk<Matcher>({.longest = kLongest - 1, .first_engine = first}).run());
}

}  // namespace
}  // namespace heddle::match
