// Held messages against vectors: every answer, every message that leaves, in random and in all short sequences.
#include "vci/held.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heddle::vci {
namespace {

using match::Key;

enum class What { kHold, kReceive, kProbe, kAnswer, kAccept, kLeave, kTake, kForget, kPop, kCancel, kEnd, kRecalled };
struct Step {
  What what;
  Key key;    // of a message, or of a search
  int which;  // of the messages that could be meant
};

void need(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

// The two side by side; a step that is not allowed now does nothing.
class Pair {
 public:
  // False: not allowed now.
  bool step(const Step& s) {
    switch (s.what) {
      case What::kHold:
        hold(s.key);
        break;
      case What::kReceive:
      case What::kProbe:
        search(s.key, s.what == What::kReceive);
        break;
      case What::kAnswer:
        answer();
        break;
      case What::kAccept:
        if (!offer_) return false;
        need(real_.accept() == &ops_[*offer_], "accept() gives another message");
        ++takes_;
        gone(*offer_);
        offer_.reset();
        break;
      case What::kLeave:
        if (!offer_) return false;
        real_.leave();
        call(*std::exchange(offer_, std::nullopt));
        break;
      case What::kRecalled:
        return recalled(s.which);
      case What::kTake:
        return take(s.which);
      case What::kForget:
        real_.forget_searches();
        searches_.clear();
        for (Message& m : messages_) m.found = false;
        break;
      case What::kPop: {
        if (real_.front() == nullptr) return false;
        const std::size_t oldest = held_.front();
        real_.pop_front();
        gone(oldest);
        break;
      }
      case What::kCancel:
        return cancel(s.which);
      case What::kEnd:
        end_search(static_cast<std::uint64_t>(s.which) % (next_search_ + 1));
        break;
    }
    check();
    return true;
  }

  // Everything that is held is offered, taken or goes in the usual way: nothing is lost.
  void drain() {
    while (offer_ && step({What::kAccept, {}, 0})) {
    }
    for (std::size_t m = 0; m < ops_.size(); ++m) recalled(static_cast<int>(m));
    search({0, match::kAnySource, match::kAnyTag}, true);
    for (int left = 1000; left != 0; --left) {
      if (!offer_ && !answer()) break;
      if (offer_) step({What::kAccept, {}, 0});
    }
    step({What::kForget, {}, 0});
    while (step({What::kPop, {}, 0})) {
    }
    need(real_.empty() && held_.empty(), "something stays");
    for (const MessageOp& op : ops_) need(op.held == nullptr, "one that is gone is held");
  }

 private:
  struct Message {
    Key key;
    bool shown = false, found = false;
    std::uint64_t recalled = 0;  // its number
  };
  struct Search {
    Key key;
    std::uint64_t name;
    bool is_receive;
    std::uint64_t stands = 0;  // since when; 0: it is pending
    std::optional<std::size_t> caller = {};
  };
  static std::uint64_t name_of(std::size_t message) { return 1000 + message; }

  void hold(const Key& key) {
    const std::size_t m = ops_.size();
    need(real_.hold(ops_.emplace_back(), {key, name_of(m), 10 * m}), "no memory");
    messages_.push_back({key});
    held_.push_back(m);
    call(m);
  }

  void search(const Key& key, bool is_receive) {
    const std::uint64_t name = next_search_++;
    real_.search(key, name, is_receive);
    searches_.push_back({key, name, is_receive});
  }

  // One that is on offer, or is over, is not among them.
  void end_search(std::uint64_t name) {
    real_.end_search(name);
    const auto at = std::find_if(searches_.begin(), searches_.end(),
                                 [&](const Search& s) { return s.name == name && s.is_receive; });
    if (at == searches_.end()) return;
    const Search over = *at;
    searches_.erase(at);
    if (over.stands == 0 && over.caller && is_held(*over.caller)) call(*over.caller);
  }

  // Of the searches that stand and admit the message, the oldest stands no more.
  void call(std::size_t m) {
    if (messages_[m].recalled != 0) return;
    Search* oldest = nullptr;
    for (Search& s : searches_) {
      if (s.stands != 0 && matches(s.key, messages_[m].key) && (oldest == nullptr || s.name < oldest->name))
        oldest = &s;
    }
    if (oldest == nullptr) return;
    oldest->stands = 0;
    oldest->caller = m;
  }

  std::optional<std::size_t> oldest_for(const Key& key) const {
    for (std::size_t m : held_) {
      if (messages_[m].recalled == 0 && matches(key, messages_[m].key)) return m;
    }
    return std::nullopt;
  }

  bool answer() {
    Answer got{};
    const bool has_one = real_.next_answer(&got);
    for (std::size_t i = 0; !offer_ && i < searches_.size(); ++i) {
      if (searches_[i].stands != 0) continue;
      const auto m = oldest_for(searches_[i].key);
      if (!m) {
        searches_[i].stands = ++stood_;
        continue;
      }
      const Search s = searches_[i];
      searches_.erase(searches_.begin() + static_cast<std::ptrdiff_t>(i));
      need(has_one, "no answer where one is due");
      need(got.search == s.name, "another search is answered");
      need(got.message->op == &ops_[*m] && got.message->name == name_of(*m), "another message than the oldest");
      need(got.message->total == 10 * *m && got.message->key == messages_[*m].key, "the envelope is another's");
      need(got.is_offer == s.is_receive, "an offer to a probe, or none to a receive");
      messages_[*m].shown = true;
      if (s.is_receive) {
        offer_ = m;
        offered_to_ = s;
        offered_to_.caller.reset();
        ++offers_;
      } else {
        messages_[*m].found = true;
        call(*m);
      }
      if (s.caller && *s.caller != *m && is_held(*s.caller)) call(*s.caller);
      return true;
    }
    need(!has_one, "an answer where none is due");
    return false;
  }

  bool take(int which) {
    if (messages_.empty()) return false;
    const std::size_t m = static_cast<std::size_t>(which) % messages_.size();
    ++takes_;
    MessageOp* op = real_.take(name_of(m));
    if (offer_) {  // its search is at its place again
      auto at = searches_.begin();
      while (at != searches_.end() && at->name < offered_to_.name) ++at;
      offered_to_.caller = offer_;
      searches_.insert(at, offered_to_);
      offer_.reset();
    }
    const bool found = is_held(m) && messages_[m].found;
    need(op == (found ? &ops_[m] : nullptr), "take() gives another than what a probe has found");
    if (found) gone(m);
    check();
    return true;
  }

  bool cancel(int which) {
    if (ops_.empty()) return false;
    const std::size_t m = static_cast<std::size_t>(which) % ops_.size();
    const bool may = is_held(m) && !messages_[m].shown;
    need(real_.cancel(ops_[m]) == may, "cancel() is for what the receiver knows nothing of");
    if (may) gone(m);
    if (is_held(m)) {
      const std::uint64_t number = real_.recall(ops_[m], [](MessageOp& op) { op.answered = true; });
      need((number != 0) == (messages_[m].recalled == 0), "one is asked for once");
      if (number != 0) messages_[m].recalled = number;
    }
    check();
    return true;
  }

  // The receiver has decided on what is on offer before it says this.
  bool recalled(int which) {
    if (offer_ || ops_.empty()) return false;
    const std::size_t m = static_cast<std::size_t>(which) % ops_.size();
    if (messages_[m].recalled == 0) return false;
    const HeldMessages::Recalled got = real_.recalled(messages_[m].recalled);
    need(got.op == (is_held(m) ? &ops_[m] : nullptr), "another is recalled, or one that was taken");
    if (is_held(m)) {
      got.end(*got.op);
      need(ops_[m].answered, "recalled() calls for another");
      gone(m);
    }
    check();
    return true;
  }

  bool is_held(std::size_t m) const { return std::find(held_.begin(), held_.end(), m) != held_.end(); }
  void gone(std::size_t m) {
    need(is_held(m), "it leaves twice");
    std::erase(held_, m);
  }

  void check() const {
    need(real_.empty() == held_.empty(), "empty()");
    need(real_.held() == ops_.size(), "held()");
    need(real_.takes() == takes_, "takes()");
    need(real_.offers() == offers_, "offers()");
    const bool may_leave = !held_.empty() && held_.front() != offer_ && messages_[held_.front()].recalled == 0;
    need((real_.front() != nullptr) == may_leave, "front(), with the oldest on offer or not");
    if (may_leave) need(real_.front()->op == &ops_[held_.front()], "front() is not the oldest");
    for (std::size_t m = 0; m < ops_.size(); ++m) {
      need((ops_[m].held != nullptr) == is_held(m), "held or not");
      need(real_.is_on_offer(name_of(m)) == (offer_ == m), "is_on_offer()");
    }
    for (const Search& s : searches_) {
      for (std::size_t m : held_) {
        if (s.stands == 0 || offer_ == m || messages_[m].recalled != 0 || !matches(s.key, messages_[m].key)) continue;
        bool called = false;
        for (const Search& p : searches_) called |= p.stands == 0 && matches(p.key, messages_[m].key);
        need(called, "a message waits, and a search that admits it stands, for ever");
      }
    }
  }

  std::deque<MessageOp> ops_;  // outlives what holds them
  HeldMessages real_;
  std::vector<Message> messages_;
  std::vector<std::size_t> held_;  // oldest first
  std::vector<Search> searches_;   // by arrival
  std::optional<std::size_t> offer_;
  Search offered_to_{};
  std::uint64_t next_search_ = 0, offers_ = 0, stood_ = 0;
  std::uint16_t takes_ = 0;
};

std::string text_of(const std::vector<Step>& steps) {
  static constexpr const char* kNames[] = {"hold", "receive", "probe", "answer", "accept", "leave",
                                           "take", "forget",  "pop",   "cancel", "end",    "recalled"};
  std::string text;
  for (const Step& s : steps) {
    text += std::string(kNames[static_cast<int>(s.what)]) + "(" + std::to_string(s.key.source) + "," +
            std::to_string(s.key.tag) + ";" + std::to_string(s.which) + ") ";
  }
  return text;
}

// What does not hold; nothing: all does.
std::string run(const std::vector<Step>& steps) {
  Pair pair;
  try {
    for (const Step& s : steps) pair.step(s);
    pair.drain();
  } catch (const std::runtime_error& e) {
    return std::string(e.what()) + ": " + text_of(steps);
  }
  return {};
}

RC_GTEST_PROP(HeldMessagesProperty, AreLikeVectors, ()) {
  const auto step = rc::gen::apply(
      [](int w, int source, int tag, int which) {
        // Holding, searching and answering are as frequent as all else together.
        static constexpr What kWhat[] = {What::kHold,   What::kHold,   What::kHold,   What::kReceive, What::kReceive,
                                         What::kProbe,  What::kAnswer, What::kAnswer, What::kAnswer,  What::kAccept,
                                         What::kLeave,  What::kTake,   What::kTake,   What::kForget,  What::kPop,
                                         What::kCancel, What::kEnd,    What::kEnd,    What::kCancel,  What::kRecalled};
        const What what = kWhat[w];
        const bool wild = what == What::kReceive || what == What::kProbe;
        return Step{
            what,
            {0, source == 2 ? (wild ? match::kAnySource : 0) : source, tag == 2 ? (wild ? match::kAnyTag : 0) : tag},
            which};
      },
      rc::gen::inRange(0, 20), rc::gen::inRange(0, 3), rc::gen::inRange(0, 3), rc::gen::inRange(0, 12));
  for (int i = 0; i < 100; ++i) {
    const auto length = *rc::gen::inRange<std::size_t>(1, 60);
    const auto steps =
        *rc::gen::resize(rc::kNominalSize, rc::gen::noShrink(rc::gen::container<std::vector<Step>>(length, step)));
    const std::string fault = run(steps);
    if (!fault.empty()) RC_FAIL(fault);
  }
}

// Every sequence of so many steps, of two keys and a wildcard.
TEST(HeldMessages, AllShortSequencesAreLikeVectors) {
  const Key a{0, 0, 0}, b{0, 0, 1}, any{0, match::kAnySource, match::kAnyTag};
  const std::vector<Step> choices = {{What::kHold, a, 0},    {What::kHold, b, 0},    {What::kReceive, any, 0},
                                     {What::kReceive, b, 0}, {What::kProbe, any, 0}, {What::kAnswer, a, 0},
                                     {What::kAccept, a, 0},  {What::kLeave, a, 0},   {What::kTake, a, 0},
                                     {What::kCancel, a, 0},  {What::kEnd, a, 0},     {What::kRecalled, a, 0}};
  constexpr int kLength = 6;
  std::vector<Step> steps(kLength);
  int total = 1;
  for (int i = 0; i < kLength; ++i) total *= static_cast<int>(choices.size());
  for (int n = 0; n < total; ++n) {
    for (int i = 0, rest = n; i < kLength; ++i, rest /= static_cast<int>(choices.size())) {
      steps[static_cast<std::size_t>(i)] = choices[static_cast<std::size_t>(rest) % choices.size()];
    }
    const std::string fault = run(steps);
    ASSERT_TRUE(fault.empty()) << fault;
  }
}

// A receiver that leaves says nothing any more: what it was to forget is ended here, on offer or not.
TEST(HeldMessages, WhatIsRecalledComesHomeWhenTheReceiverHasLeft) {
  const Key key{0, 0, 0};
  HeldMessages held;
  MessageOp ops[3];
  for (MessageOp& op : ops) ASSERT_TRUE(held.hold(op, {key, 0, 8}));
  held.search(key, 1, false);
  held.search(key, 2, true);
  Answer answer;
  while (held.next_answer(&answer)) continue;
  const auto end = [](MessageOp& op) { op.answered = true; };
  ASSERT_TRUE(held.is_on_offer(ops[0].held->name));
  ASSERT_NE(held.recall(ops[0], end), 0u);
  EXPECT_EQ(held.front(), nullptr);
  const HeldMessages::Recalled home = held.take_recalled();
  ASSERT_EQ(home.op, &ops[0]);
  home.end(*home.op);
  EXPECT_TRUE(ops[0].answered);
  EXPECT_EQ(held.take_recalled().op, nullptr);
  EXPECT_FALSE(held.has_recalled());
  held.close();
  for (int i : {1, 2}) {
    ASSERT_EQ(held.front()->op, &ops[i]);
    held.pop_front();
  }
}

}  // namespace
}  // namespace heddle::vci
