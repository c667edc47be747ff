// The simulator's queues beside the library's list, which is written apart from them: same matches, same counts.
#include "simulator/queues.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "match/list.hpp"

namespace heddle::patterns {
namespace {

struct NumberedReceive : match::ReceiveNode {
  int number = 0;
};
struct NumberedMessage : match::MessageNode {
  int number = 0;
};

struct Both {
  Queues<int, int> plain;
  match::ListEngine list;
  std::deque<NumberedReceive> receives;
  std::deque<NumberedMessage> messages;

  void post(const match::Key& key) {
    NumberedReceive& node = receives.emplace_back();
    node.key = key;
    node.number = static_cast<int>(receives.size());
    const auto* expected = static_cast<NumberedMessage*>(list.post(node));
    const std::optional<int> found = plain.post(key, node.number);
    RC_ASSERT(found.value_or(0) == (expected == nullptr ? 0 : expected->number));
  }
  void arrive(const match::Key& key) {
    NumberedMessage& node = messages.emplace_back();
    node.key = key;
    node.number = static_cast<int>(messages.size());
    const auto* expected = static_cast<NumberedReceive*>(list.arrive(key));
    if (expected == nullptr) list.add_unexpected(node);
    const std::optional<int> found = plain.arrive(key, node.number);
    RC_ASSERT(found.value_or(0) == (expected == nullptr ? 0 : expected->number));
  }
};

void counted_alike(const QueueCounts& plain, const match::QueueStats& list) {
  RC_ASSERT(plain.searches == list.searches());
  RC_ASSERT(plain.inspected == list.inspected);
  RC_ASSERT(plain.longest == list.max_length);
}

RC_GTEST_PROP(Queues, CountAsTheLibrarysList, ()) {
  Both both;
  const auto operations = *rc::gen::container<std::vector<std::tuple<bool, int, int, int>>>(rc::gen::tuple(
      rc::gen::arbitrary<bool>(), rc::gen::inRange(0, 2), rc::gen::inRange(-1, 3), rc::gen::inRange(-1, 4)));
  for (const auto& [post, context, source, tag] : operations) {
    match::Key key{static_cast<std::uint32_t>(context), source, tag == -1 ? match::kAnyTag : tag};
    if (post) {
      both.post(key);
    } else {
      key.source = std::max(source, 0);
      key.tag = std::max(tag, 0);
      both.arrive(key);
    }
  }
  counted_alike(both.plain.posted.counts(), both.list.stats().posted);
  counted_alike(both.plain.unexpected.counts(), both.list.stats().unexpected);
}

}  // namespace
}  // namespace heddle::patterns
