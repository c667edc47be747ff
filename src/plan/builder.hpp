// What an algorithm writes its instructions with.
//
// An algorithm says what moves and what is combined; it does not say when to wait: the pass `order` (compile.cpp) puts a
// JOIN before the first instruction that touches what a transfer still uses. A builder that must wait although no data
// tells so (a barrier, or to bound what is under way) says join().
//
// In a step that sends and receives, the sends come first. The JOIN that they need, for what the step before brought, is then
// before this step's receives; after them it would wait for messages of ranks that wait likewise.
#pragma once

#include "plan/plan.hpp"

namespace heddle::plan {

struct Slice {
  std::uint8_t buffer = kInput;
  std::uint32_t first = 0, length = 0;
};

// The ranks that do a part of it among themselves: all, those of a node, or one of each node. Members count from 0.
struct Team {
  std::uint32_t first, stride, size;
  std::uint32_t me;  // a member
  std::uint32_t rank(std::uint32_t member) const { return first + member * stride; }
};

class Builder {
 public:
  Builder(Plan& plan, std::uint32_t rank) : plan_(plan), rank_(rank) {}

  const Spec& spec() const { return plan_.spec; }
  std::uint32_t ranks() const { return plan_.spec.ranks; }
  std::uint32_t rank() const { return rank_; }
  const std::vector<int>& numbers() const { return plan_.choice.numbers; }

  Team everyone() const { return {0, 1, ranks(), rank_}; }

  // REQUIRES: once, before the first instruction.
  void lay_out(Partition partition, std::uint32_t blocks, bool symmetric = false) {
    plan_.partition = partition;
    plan_.blocks = blocks;
    plan_.symmetric = symmetric;
    plan_.rank = symmetric ? 0 : rank_;
  }
  Slice all(std::uint8_t buffer) const { return {buffer, 0, plan_.blocks}; }
  // One too many is told by the pass that places scratch.
  static constexpr std::uint8_t scratch(std::size_t i) {
    return static_cast<std::uint8_t>(kScratch + (i < kMaxScratch ? i : kMaxScratch));
  }

  void send(Slice from, std::uint32_t peer) {
    add({Opcode::kSend, from.buffer, 0, 0, peer, from.first, 0, 0, from.length});
  }
  void recv(Slice to, std::uint32_t peer) { add({Opcode::kRecv, 0, 0, to.buffer, peer, 0, 0, to.first, to.length}); }
  void copy(Slice from, Slice to) {
    add({Opcode::kCopy, from.buffer, 0, to.buffer, 0, from.first, 0, to.first, from.length});
  }
  // to = left op right; `to` may be one of them.
  void reduce(Slice left, Slice right, Slice to) {
    add({Opcode::kReduce, left.buffer, right.buffer, to.buffer, 0, left.first, right.first, to.first, left.length});
  }
  void join() { add({Opcode::kJoin, 0, 0, 0, 0, 0, 0, 0, 0}); }

 private:
  void add(const Instruction& instruction) { plan_.code.push_back(instruction); }

  Plan& plan_;
  std::uint32_t rank_;
};

}  // namespace heddle::plan
