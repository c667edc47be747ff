// Carries plans out with real data, as unfavourably as a plan allows: the oracle for compiler and verifier.
//
// Method:  a block is a vector of elements whose length is drawn, often zero. Elements are numbers that are added, or
//          strings that are put together in brackets, so that the result shows who was combined with whom. What a receive
//          will write is garbage from its beginning to its JOIN; a transfer whose blocks somebody writes meanwhile moves
//          garbage; a send is over only when it is received, or at once where that is worse (a barrier). Shares no code with the verifier, and no idea but the plan's
//          definition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace heddle::plan::test {

inline std::string combine(const std::string& a, const std::string& b) { return "(" + a + b + ")"; }
inline long combine(long a, long b) { return a + b; }
inline void spoil(std::string& s) { s = "?"; }
inline void spoil(long& n) { n = -1'000'000'007; }

// A symmetric plan as a rank's own.
inline Plan expand(const Plan& plan, std::uint32_t rank) {
  Plan own = plan;
  own.rank = rank;
  own.symmetric = false;
  if (!plan.symmetric) return own;
  for (Instruction& i : own.code) {
    if (i.op == Opcode::kJoin) continue;
    if (is_transfer(i.op)) i.peer = (i.peer + rank) % plan.spec.ranks;
    if (uses_left(i.op)) i.left = (i.left + rank) % plan.blocks;
    if (uses_right(i.op)) i.right = (i.right + rank) % plan.blocks;
    if (uses_to(i.op)) i.to = (i.to + rank) % plan.blocks;
  }
  for (Interval& used : own.scratch) used = {0, plan.blocks};
  return own;
}
inline std::vector<Plan> expand(const std::vector<Plan>& plans) {
  std::vector<Plan> all;
  for (std::uint32_t r = 0; r < plans[0].spec.ranks; ++r) all.push_back(expand(plans[plans.size() == 1 ? 0 : r], r));
  return all;
}

template <class Value>
class Oracle {
 public:
  using Block = std::vector<Value>;

  // `buffered`: a send is over at once, whether it is received or not.
  Oracle(std::vector<Plan> plans, unsigned seed, bool buffered = false)
      : plans_(std::move(plans)), buffered_(buffered), random_(seed), ranks_(plans_.size()) {
    const std::uint32_t blocks = plans_[0].blocks;
    lengths_.resize(std::size_t{size()} * blocks);
    for (std::size_t& length : lengths_) length = random_() % 3;
    for (std::uint32_t r = 0; r < size(); ++r) {
      const std::size_t buffers = std::max<std::size_t>(kScratch + plans_[r].scratch.size(), kScratch);
      for (std::size_t buffer = 0; buffer < buffers; ++buffer) {
        for (std::uint32_t b = 0; b < blocks; ++b) {
          Block block(length(r, static_cast<std::uint8_t>(buffer), b));
          for (Value& v : block) spoil(v);
          ranks_[r].cells.push_back(block);
        }
      }
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(plans_.size()); }
  Block& block(std::uint32_t r, std::uint8_t buffer, std::uint32_t b) {
    return ranks_[r].cells[std::size_t{buffer} * plans_[0].blocks + b];
  }
  std::size_t length(std::uint32_t r, std::uint8_t buffer, std::uint32_t b) const {
    const std::uint32_t blocks = plans_[0].blocks;
    switch (plans_[0].partition) {
      case Partition::kEqual:
        return 2;
      case Partition::kMatrix:
        return buffer == kInput ? lengths_[r * blocks + b] : lengths_[b * blocks + r];
      default:
        return lengths_[b];
    }
  }
  bool finished(std::uint32_t r) const { return ranks_[r].finished; }

  // All but `absent` go on until nobody can. False: something cannot be done at all. Then look who has finished.
  bool run(std::uint32_t absent = ~0u) {
    std::vector<std::uint32_t> order(size());
    for (std::uint32_t r = 0; r < size(); ++r) order[r] = r;
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), random_);
      for (std::uint32_t r : order) {
        if (r != absent && !ranks_[r].finished && ranks_[r].possible) moved |= advance(r);
      }
    }
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.possible; });
  }

 private:
  struct Transfer {
    const Instruction* code;
    std::uint32_t rank;
    std::vector<Block> data;  // of a receive, once it has met its send
    bool met = false, torn = false;
  };
  struct Rank {
    std::vector<Block> cells;
    std::size_t next = 0;
    bool finished = false, possible = true;
    std::deque<Transfer> pending;
  };
  struct Channel {
    std::deque<Transfer*> sends, receives;
  };

  std::uint32_t at(std::uint32_t first, std::uint32_t k) const { return (first + k) % plans_[0].blocks; }
  bool touches(const Transfer& t, std::uint8_t buffer, std::uint32_t b) const {
    const bool sends = t.code->op == Opcode::kSend;
    for (std::uint32_t k = 0; k < t.code->length; ++k) {
      if ((sends ? t.code->left_buffer : t.code->to_buffer) == buffer &&
          at(sends ? t.code->left : t.code->to, k) == b) {
        return true;
      }
    }
    return false;
  }
  void write(std::uint32_t r, std::uint8_t buffer, std::uint32_t b, const Block& value) {
    ranks_[r].possible &= value.size() == length(r, buffer, b);
    block(r, buffer, b) = value;
  }
  // Whether anything before the JOIN writes what the transfer uses: at the worst moment, then.
  bool will_tear(std::uint32_t r, const Transfer& t) const {
    const std::vector<Instruction>& code = plans_[r].code;
    for (auto m = static_cast<std::size_t>(t.code - code.data()) + 1; m < code.size() && code[m].op != Opcode::kJoin;
         ++m) {
      for (std::uint32_t k = 0; k < code[m].length && uses_to(code[m].op); ++k) {
        if (touches(t, code[m].to_buffer, at(code[m].to, k))) return true;
      }
    }
    return false;
  }
  // Two receives into one block: whichever ends last wins, which is to say neither.
  bool is_second(std::uint32_t r, const Instruction& recv) const {
    for (const Transfer& t : ranks_[r].pending) {
      for (std::uint32_t k = 0; k < recv.length && t.code->op == Opcode::kRecv; ++k) {
        if (touches(t, recv.to_buffer, at(recv.to, k))) return true;
      }
    }
    return false;
  }
  static void spoil_all(Block& block) {
    for (Value& v : block) spoil(v);
  }

  bool advance(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const std::vector<Instruction>& code = plans_[r].code;
    if (rank.next < code.size() && code[rank.next].op != Opcode::kJoin) {
      execute(r, code[rank.next++]);
      return true;
    }
    for (const Transfer& t : rank.pending) {
      if (!t.met && !(buffered_ && t.code->op == Opcode::kSend)) return false;
    }
    for (Transfer& t : rank.pending) {
      if (t.code->op != Opcode::kRecv) continue;
      for (std::uint32_t k = 0; k < t.code->length; ++k) {
        if (t.torn) spoil_all(t.data[k]);
        const std::uint32_t b = at(t.code->to, k);
        rank.possible &= t.data[k].size() == length(r, t.code->to_buffer, b);
        block(r, t.code->to_buffer, b) = t.data[k];
      }
    }
    if (!buffered_) rank.pending.clear();
    rank.finished = rank.next >= code.size();
    ++rank.next;
    return true;
  }

  void execute(std::uint32_t r, const Instruction& i) {
    if (is_transfer(i.op)) return post(r, i);
    for (std::uint32_t k = 0; k < i.length; ++k) {
      Block value = block(r, i.left_buffer, at(i.left, k));
      if (i.op == Opcode::kReduce) {
        const Block& right = block(r, i.right_buffer, at(i.right, k));
        ranks_[r].possible &= right.size() == value.size();
        for (std::size_t e = 0; e < value.size() && e < right.size(); ++e) value[e] = combine(value[e], right[e]);
      }
      write(r, i.to_buffer, at(i.to, k), value);
    }
  }

  void post(std::uint32_t r, const Instruction& i) {
    const bool sends = i.op == Opcode::kSend;
    for (std::uint32_t k = 0; k < i.length && !sends; ++k) {
      Block garbage(length(r, i.to_buffer, at(i.to, k)));
      spoil_all(garbage);
      write(r, i.to_buffer, at(i.to, k), garbage);
    }
    const bool second = !sends && is_second(r, i);
    Transfer& mine = ranks_[r].pending.emplace_back(Transfer{&i, r, {}, false, second});
    mine.torn |= will_tear(r, mine);
    Channel& channel = channels_[sends ? std::pair(r, i.peer) : std::pair(i.peer, r)];
    (sends ? channel.sends : channel.receives).push_back(&mine);
    if (channel.sends.empty() || channel.receives.empty()) return;
    Transfer &send = *channel.sends.front(), &receive = *channel.receives.front();
    channel.sends.pop_front();
    channel.receives.pop_front();
    send.met = receive.met = true;
    if (send.code->length != receive.code->length) {
      ranks_[r].possible = false;
      receive.data.resize(receive.code->length);
      return;
    }
    for (std::uint32_t k = 0; k < send.code->length; ++k) {
      receive.data.push_back(block(send.rank, send.code->left_buffer, at(send.code->left, k)));
      if (send.torn) spoil_all(receive.data.back());
    }
  }

  std::vector<Plan> plans_;
  bool buffered_;
  std::mt19937 random_;
  std::vector<std::size_t> lengths_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Channel> channels_;
};

}  // namespace heddle::plan::test
