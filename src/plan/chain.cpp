// Along a line of ranks: pipelines for long vectors, and scans.
//
// Method:  a pipeline cuts the vector into segments, its blocks; a rank passes a segment on while the next one comes.
//          A scan doubles: after step i a rank has the sum of the 2^i ranks up to itself, which it hands 2^i ranks on.
//          What comes from the left stands on the left: no operation has to commute.
// Cost:    pipeline: p - 2 + segments steps; scan: log2(p) steps.
#include "plan/algorithms.hpp"

namespace heddle::plan {
namespace {

void lay_out_segments(Builder& b) { b.lay_out(Partition::kShares, static_cast<std::uint32_t>(b.numbers()[0])); }

}  // namespace

void build_bcast_chain(Builder& b) {
  lay_out_segments(b);
  const std::uint32_t me = (b.rank() + b.ranks() - b.spec().root) % b.ranks();
  for (std::uint32_t s = 0; s < b.all(kOutput).length; ++s) {
    if (me > 0) b.recv({kOutput, s, 1}, (b.rank() + b.ranks() - 1) % b.ranks());
    if (me + 1 < b.ranks()) b.send({kOutput, s, 1}, (b.rank() + 1) % b.ranks());
  }
}

// Sums travel towards the root; towards rank 0, which passes them on, when the order matters.
void build_reduce_chain(Builder& b) {
  lay_out_segments(b);
  const std::uint32_t root = b.spec().root, top = b.spec().ordered ? 0 : root;
  const std::uint32_t me = (b.rank() + b.ranks() - top) % b.ranks();
  const bool last = me + 1 == b.ranks();
  const std::uint8_t sum = b.rank() == top && top == root ? kOutput : Builder::scratch(0);
  for (std::uint32_t s = 0; s < b.all(kInput).length; ++s) {
    const Slice own{kInput, s, 1}, to{sum, s, 1};
    const Slice operand{sum == kOutput ? Builder::scratch(1) : sum, s, 1};  // the output may be the input's memory
    if (!last) {
      b.recv(operand, (b.rank() + 1) % b.ranks());
      b.reduce(own, operand, to);
    }
    if (me > 0) {
      b.send(last ? own : to, (b.rank() + b.ranks() - 1) % b.ranks());
    } else if (top != root) {
      b.send(last ? own : to, root);
    } else if (last) {
      b.copy(own, to);
    }
    if (top != root && b.rank() == root) b.recv({kOutput, s, 1}, top);
  }
}

void build_scan_doubling(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  std::uint8_t at = kInput;
  for (std::uint64_t d = 1; d < b.ranks(); d *= 2) {
    const auto distance = static_cast<std::uint32_t>(d);
    if (b.rank() + d < b.ranks()) b.send(b.all(at), b.rank() + distance);
    if (b.rank() < distance) continue;
    b.recv(b.all(Builder::scratch(0)), b.rank() - distance);
    b.reduce(b.all(Builder::scratch(0)), b.all(at), b.all(kOutput));
    at = kOutput;
  }
  if (at == kInput) b.copy(b.all(kInput), b.all(kOutput));
}

void build_exscan_doubling(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const std::uint8_t operand = Builder::scratch(0), sum = Builder::scratch(1);
  std::uint8_t at = kInput;
  for (std::uint64_t d = 1; d < b.ranks(); d *= 2) {
    const auto distance = static_cast<std::uint32_t>(d);
    if (b.rank() + d < b.ranks()) b.send(b.all(at), b.rank() + distance);
    if (b.rank() < distance) continue;
    b.recv(b.all(operand), b.rank() - distance);
    // The last sum with one's own operand is for those who need it: nobody after the last step.
    if (b.rank() + 2 * d < b.ranks()) {
      b.reduce(b.all(operand), b.all(at), b.all(sum));
      at = sum;
    }
    if (d == 1) {
      b.copy(b.all(operand), b.all(kOutput));
    } else {
      b.reduce(b.all(operand), b.all(kOutput), b.all(kOutput));
    }
  }
}

}  // namespace heddle::plan
