// Everyone has a block for everyone.
//
// Pairwise: in step j to the rank j after, from the rank j before. Blocks may have any lengths (alltoallv, alltoallw).
// Bruck:    block j travels to the rank j after in hops, one for each digit of j in radix k that is not zero; all blocks
//           of one digit go in one message, packed. Blocks have one length.
// Cost:     pairwise: p-1 messages of a block; Bruck: (k-1) log_k(p) messages of p/k blocks, and two copies a hop.
#include <algorithm>

#include "plan/algorithms.hpp"

namespace heddle::plan {

// The number: how many steps are under way at a time.
void build_alltoall_pairwise(Builder& b) {
  b.lay_out(Partition::kMatrix, b.ranks(), true);
  b.copy({kInput, 0, 1}, {kOutput, 0, 1});
  const auto window = static_cast<std::uint32_t>(b.numbers()[0]);
  for (std::uint32_t j = 1; j < b.ranks(); ++j) {
    b.recv({kOutput, b.ranks() - j, 1}, b.ranks() - j);
    b.send({kInput, j, 1}, j);
    if (j % window == 0) b.join();
  }
}

// Block j lies in the input until its first hop, then in `travelling`, and after its last hop in the output.
void build_alltoall_bruck(Builder& b) {
  b.lay_out(Partition::kEqual, b.ranks(), true);
  const std::uint8_t travelling = Builder::scratch(0), packed = Builder::scratch(1), arrived = Builder::scratch(2);
  const std::uint32_t ranks = b.ranks();
  const auto radix = static_cast<std::uint64_t>(b.numbers()[0]);
  b.copy({kInput, 0, 1}, {kOutput, 0, 1});
  for (std::uint64_t w = 1; w < ranks; w *= radix) {
    // visit(first, length) for the runs of blocks whose digit of weight w is `digit`
    const auto each_run = [&](std::uint64_t digit, auto visit) {
      for (std::uint64_t first = digit * w; first < ranks; first += w * radix) {
        visit(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(std::min<std::uint64_t>(w, ranks - first)));
      }
    };
    std::uint32_t used = 0;
    for (std::uint64_t digit = 1; digit < radix && digit * w < ranks; ++digit) {
      const std::uint32_t begin = used;
      each_run(digit, [&](std::uint32_t first, std::uint32_t length) {
        b.copy({kInput, first, 1}, {packed, used, 1});
        if (length > 1) b.copy({travelling, first + 1, length - 1}, {packed, used + 1, length - 1});
        used += length;
      });
      const auto distance = static_cast<std::uint32_t>(digit * w);
      b.send({packed, begin, used - begin}, distance);
      b.recv({arrived, begin, used - begin}, ranks - distance);
    }
    used = 0;
    for (std::uint64_t digit = 1; digit < radix && digit * w < ranks; ++digit) {
      each_run(digit, [&](std::uint32_t first, std::uint32_t length) {
        if (first < w * radix) {  // the last hop
          for (std::uint32_t i = 0; i < length; ++i) b.copy({arrived, used + i, 1}, {kOutput, ranks - first - i, 1});
        } else {
          b.copy({arrived, used, length}, {travelling, first, length});
        }
        used += length;
      });
    }
  }
}

}  // namespace heddle::plan
