// Cyclic shifts: every rank does the same, shifted by its rank; any number of ports, any number of ranks.
//
// Method:  a rank has the w blocks from its own on. With k-1 ports it gets the next (k-1)w from the ranks w, 2w, ... after
//          it, until it has all p. Backwards, with a reduction instead of a copy, that scatters a sum. Intervals are
//          cyclic and blocks lie where they belong, so nothing is rotated at the end.
//          A sum's operands come in cyclic order, so the operation must commute.
// Cost:    log_k(p) steps, and p-1 blocks sent and received, both the least possible. O(k log p) instructions in all.
#include <algorithm>

#include "plan/algorithms.hpp"

namespace heddle::plan {
namespace {

std::uint32_t ports_of(const Builder& b) { return static_cast<std::uint32_t>(b.numbers()[0]); }

// How many blocks a rank has before each step.
std::vector<std::uint32_t> widths(const Builder& b) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t w = 1; w < b.ranks(); w *= ports_of(b) + 1) all.push_back(static_cast<std::uint32_t>(w));
  return all;
}

// visit(port, offset, length) for each message of a step: the `length` blocks from `offset` on.
template <class Visit>
void each_port(const Builder& b, std::uint32_t width, Visit visit) {
  for (std::uint32_t port = 1; port <= ports_of(b); ++port) {
    const std::uint64_t offset = std::uint64_t{port} * width;
    if (offset >= b.ranks()) return;
    const auto at = static_cast<std::uint32_t>(offset);
    visit(port, at, std::min(width, b.ranks() - at));
  }
}

void gather(Builder& b) {
  for (std::uint32_t width : widths(b)) {
    each_port(b, width, [&](std::uint32_t, std::uint32_t offset, std::uint32_t length) {
      b.send({kOutput, 0, length}, b.ranks() - offset);
      b.recv({kOutput, offset, length}, offset);
    });
  }
}

// The sum of the rank's own block, to `result`; the sums on the way, of more blocks, to `partial`.
void scatter(Builder& b, std::uint8_t partial, std::uint8_t result) {
  std::uint8_t at = kInput;
  const std::vector<std::uint32_t> all = widths(b);
  for (std::size_t i = all.size(); i-- > 0;) {
    const std::uint32_t width = all[i];
    const std::uint8_t to = width == 1 ? result : partial;
    each_port(b, width, [&](std::uint32_t port, std::uint32_t offset, std::uint32_t length) {
      b.send({at, offset, length}, offset);
      b.recv({Builder::scratch(port), 0, length}, b.ranks() - offset);
    });
    each_port(b, width, [&](std::uint32_t port, std::uint32_t, std::uint32_t length) {
      b.reduce({port == 1 ? at : to, 0, length}, {Builder::scratch(port), 0, length}, {to, 0, length});
      // What only the first step leaves untouched.
      if (port == 1 && at == kInput && length < width) {
        b.copy({at, length, width - length}, {to, length, width - length});
      }
    });
    at = to;
  }
  if (at == kInput) b.copy(b.all(kInput), b.all(result));
}

}  // namespace

void build_allgather_circulant(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks(), true);
  b.copy({kInput, 0, 1}, {kOutput, 0, 1});
  gather(b);
}

void build_reduce_scatter_circulant(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks(), true);
  scatter(b, Builder::scratch(0), kOutput);
}

void build_allreduce_circulant(Builder& b) {
  b.lay_out(Partition::kShares, b.ranks(), true);
  scatter(b, kOutput, kOutput);
  gather(b);
}

void build_barrier_dissemination(Builder& b) {
  b.lay_out(Partition::kShares, b.ranks(), true);
  for (std::uint32_t width : widths(b)) {
    each_port(b, width, [&](std::uint32_t, std::uint32_t offset, std::uint32_t) {
      b.send({kInput, 0, 0}, offset);
      b.recv({kOutput, 0, 0}, b.ranks() - offset);
    });
    b.join();
  }
}

}  // namespace heddle::plan
