// What matching means, as plainly as it can be said: two vectors, searched from the oldest. And a twin that runs an
// engine beside it and compares the identity of every receive and message that either gives.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "match/adaptive.hpp"
#include "match/block_engine.hpp"
#include "match/grid.hpp"
#include "match/hash.hpp"
#include "match/list.hpp"
#include "match/matcher.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {

struct Op {
  enum Kind { kPost, kArrive, kCancel, kProbe, kExtract, kRemove, kPurge, kDrain, kMigrate } kind;
  Key key{};       // post, arrive, probe, extract; its context for purge
  unsigned n = 0;  // cancel, remove: which of all receives or messages that there ever were; migrate: how

  friend bool operator==(const Op&, const Op&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Op& op) {
  static constexpr const char* kNames[] = {"post",   "arrive", "cancel", "probe",  "extract",
                                           "remove", "purge",  "drain",  "migrate"};
  out << kNames[op.kind];
  if (op.kind == Op::kDrain) return out;
  if (op.kind == Op::kCancel || op.kind == Op::kRemove || op.kind == Op::kMigrate) return out << ' ' << op.n;
  out << " (" << op.key.context;
  if (op.kind == Op::kPurge) return out << ')';
  const auto field = [&](int value, int any) { value == any ? out << ", *" : out << ", " << value; };
  field(op.key.source, kAnySource);
  field(op.key.tag, kAnyTag);
  return out << ')';
}

class Oracle {
 public:
  using Id = std::optional<int>;
  struct Entry {
    int id;
    Key key;
  };

  template <class Entries>
  static auto first_message(Entries& entries, const Key& key) {
    return std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return matches(key, e.key); });
  }
  Id post(int id, const Key& key) {
    if (const Id message = extract(key)) return message;
    posted.push_back({id, key});
    return std::nullopt;
  }
  Id arrive(int id, const Key& key) {
    const auto at = std::find_if(posted.begin(), posted.end(), [&](const Entry& e) { return matches(e.key, key); });
    if (at != posted.end()) return take(posted, at);
    unexpected.push_back({id, key});
    return std::nullopt;
  }
  Id probe(const Key& key) const {
    const auto at = first_message(unexpected, key);
    return at == unexpected.end() ? Id() : Id(at->id);
  }
  Id extract(const Key& key) {
    const auto at = first_message(unexpected, key);
    return at == unexpected.end() ? Id() : take(unexpected, at);
  }
  // Whether `id` was there.
  static bool remove(std::vector<Entry>& queue, int id) {
    const auto at = std::find_if(queue.begin(), queue.end(), [&](const Entry& e) { return e.id == id; });
    if (at == queue.end()) return false;
    queue.erase(at);
    return true;
  }
  static std::vector<int> purge(std::vector<Entry>& queue, std::optional<std::uint32_t> context) {
    std::vector<int> ids;
    std::erase_if(queue, [&](const Entry& e) {
      if (context && e.key.context != *context) return false;
      ids.push_back(e.id);
      return true;
    });
    return ids;
  }

  std::vector<Entry> posted;
  std::vector<Entry> unexpected;

 private:
  static Id take(std::vector<Entry>& queue, std::vector<Entry>::iterator at) {
    const int id = at->id;
    queue.erase(at);
    return id;
  }
};

// As the library asks: the short cuts first, where the engine has them.
template <Engine E>
MessageNode* post(E& engine, ReceiveNode& receive) {
  if constexpr (requires { engine.post_to_empty(receive); }) {
    if (engine.post_to_empty(receive)) return nullptr;
    if (MessageNode* message = engine.extract_at_front(receive.key)) return message;
  }
  return engine.post(receive);
}
template <Engine E>
ReceiveNode* arrive(E& engine, const Key& key) {
  if constexpr (requires { engine.arrive_at_front(key); }) {
    if (ReceiveNode* receive = engine.arrive_at_front(key)) return receive;
  }
  return engine.arrive(key);
}

// An engine and the oracle, fed the same operations. `step` is false once they differ; `why` then says how.
template <Engine E>
class Twin {
 public:
  bool step(const Op& op) {
    bool same = true;
    switch (op.kind) {
      case Op::kPost: {
        Receive& receive = receives_.emplace_back(op.key, static_cast<int>(receives_.size()));
        same = agree(id_of(post(engine_, receive)), oracle_.post(receive.id, op.key));
        break;
      }
      case Op::kArrive: {
        Message& message = messages_.emplace_back(op.key, static_cast<int>(messages_.size()));
        ReceiveNode* receive = arrive(engine_, op.key);
        if (receive == nullptr) engine_.add_unexpected(message);
        same = agree(id_of(receive), oracle_.arrive(message.id, op.key));
        break;
      }
      case Op::kCancel:
        if (op.n >= receives_.size()) break;
        same = agree(engine_.cancel(receives_[op.n]), Oracle::remove(oracle_.posted, static_cast<int>(op.n)));
        break;
      case Op::kProbe:
        same = agree(id_of(engine_.probe(op.key)), oracle_.probe(op.key));
        break;
      case Op::kExtract:
        same = agree(id_of(engine_.extract(op.key)), oracle_.extract(op.key));
        break;
      case Op::kRemove:
        if (op.n >= messages_.size()) break;
        same = agree(messages_[op.n].queued(), Oracle::remove(oracle_.unexpected, static_cast<int>(op.n)));
        if (messages_[op.n].queued()) engine_.remove(messages_[op.n]);
        break;
      case Op::kPurge: {
        std::vector<int> receives, messages;
        engine_.purge(op.key.context, collect_receives(receives), collect_messages(messages));
        same = agree(receives, Oracle::purge(oracle_.posted, op.key.context)) &&
               agree(messages, Oracle::purge(oracle_.unexpected, op.key.context));
        break;
      }
      case Op::kDrain:
        same = drain();
        break;
      case Op::kMigrate:
        if constexpr (std::is_same_v<E, Matcher>) same = migrate(op.n + migrations_++);
        break;
    }
    return same && agree(engine_.stats().posted.length, oracle_.posted.size()) &&
           agree(engine_.stats().unexpected.length, oracle_.unexpected.size());
  }

  // Empties both and compares what was left, in order. Another sequence may begin.
  bool finish() {
    const bool same =
        drain() && agree(engine_.stats().posted.length, 0u) && agree(engine_.stats().unexpected.length, 0u);
    oracle_.posted.clear();
    oracle_.unexpected.clear();
    receives_.clear();
    messages_.clear();
    return same;
  }

  // All of a sequence, from empty to empty. Empty when engine and oracle agree throughout.
  std::string run(const std::vector<Op>& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!step(ops[i])) return report(ops, i);
    }
    return finish() ? std::string() : report(ops, ops.size());
  }

  const E& engine() const { return engine_; }

 private:
  struct Receive : ReceiveNode {
    Receive(const Key& k, int i) : id(i) { key = k; }
    int id;
  };
  struct Message : MessageNode {
    Message(const Key& k, int i) : id(i) { key = k; }
    int id;
  };

  bool drain() {
    std::vector<int>& receives = left_receives_;
    std::vector<int>& messages = left_messages_;
    receives.clear();
    messages.clear();
    engine_.drain_in_order(collect_receives(receives), collect_messages(messages));
    std::vector<int> posted = Oracle::purge(oracle_.posted, {}), unexpected = Oracle::purge(oracle_.unexpected, {});
    if constexpr (std::is_same_v<E, Matcher>) {  // which promises the order within each context
      by_context(receives, receives_);
      by_context(posted, receives_);
      by_context(messages, messages_);
      by_context(unexpected, messages_);
    }
    return agree(receives, posted) && agree(messages, unexpected);
  }

  // Every way in which a matcher's engines can change.
  bool migrate(unsigned how) {
    const std::uint32_t context = how / 8 % 2 == 0 ? 1 : 0;
    const Choice choice{static_cast<EngineKind>(how / 8 % kEngineKinds)};
    switch (how % 8) {
      case 0:
        return engine_.use(choice);
      case 1:
        return engine_.use(kDefaultEngine);
      case 2:
        return engine_.use(context, choice);
      case 3:
        return engine_.take_time(true);
      case 4:
        engine_.share(context);
        return true;
      case 5:
        return engine_.use(context, kDefaultEngine);
      case 6:
        return engine_.take_time(false);
      default:
        return engine_.use({EngineKind::kArrayList, 2});
    }
  }
  template <class Nodes>
  static void by_context(std::vector<int>& ids, const Nodes& nodes) {
    const auto context = [&](int id) { return nodes[static_cast<std::size_t>(id)].key.context; };
    std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return context(a) < context(b); });
  }

  static Oracle::Id id_of(ReceiveNode* node) {
    return node ? Oracle::Id(static_cast<Receive*>(node)->id) : std::nullopt;
  }
  static Oracle::Id id_of(MessageNode* node) {
    return node ? Oracle::Id(static_cast<Message*>(node)->id) : std::nullopt;
  }
  static auto collect_receives(std::vector<int>& out) {
    return [&out](ReceiveNode& node) { out.push_back(node.queued() ? -1 : static_cast<Receive&>(node).id); };
  }
  static auto collect_messages(std::vector<int>& out) {
    return [&out](MessageNode& node) { out.push_back(node.queued() ? -1 : static_cast<Message&>(node).id); };
  }

  template <class A, class B>
  bool agree(const A& engine, const B& oracle) {
    if (engine == oracle) return true;
    std::ostringstream out;
    out << "engine: ";
    print(out, engine);
    out << ", oracle: ";
    print(out, oracle);
    difference_ = out.str();
    return false;
  }
  template <class T>
  static void print(std::ostream& out, const T& value) {
    out << value;
  }
  static void print(std::ostream& out, const Oracle::Id& id) { id ? out << *id : out << "none"; }
  static void print(std::ostream& out, const std::vector<int>& ids) {
    for (int id : ids) out << id << ' ';
  }
  std::string report(const std::vector<Op>& ops, std::size_t failed) const {
    std::ostringstream out;
    for (std::size_t i = 0; i < ops.size() && i <= failed; ++i) out << ops[i] << "; ";
    out << (failed == ops.size() ? "then drained: " : "and there ") << difference_;
    return out.str();
  }

  E engine_;
  Oracle oracle_;
  std::deque<Receive> receives_;
  std::deque<Message> messages_;
  std::vector<int> left_receives_, left_messages_;
  std::string difference_;
  unsigned migrations_ = 0;
};

struct HashOfOneBin : HashEngine {
  HashOfOneBin() : HashEngine(1) {}
};
using EveryEngine =
    testing::Types<ListEngine, ArrayListEngine<2>, ArrayListEngine<8>, ArrayListEngine<64>, VectorEngine,
                   FuzzyEngine<std::uint8_t>, FuzzyEngine<std::uint16_t>, HashEngine, HashOfOneBin, GridEngine,
                   TailQueueEngine, ElidedTailQueue, Adaptive<1, 2, 0>, Adaptive<1, 2, 4>, AdaptiveEngine>;
// So small that the few operations of an exhaustive test reach all of their states.
using SmallEngines = testing::Types<ListEngine, ArrayListEngine<2>, BlockEngine<WideLanes, 2>,
                                    BlockEngine<FuzzyLanes<std::uint8_t>, 4>, BlockEngine<FuzzyLanes<std::uint16_t>, 2>,
                                    HashEngine, HashOfOneBin, GridEngine, TailQueueEngine, Adaptive<1, 2, 0>>;

}  // namespace heddle::match
