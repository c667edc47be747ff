// Engines whose queues are blocks of keys: the list of arrays, and its two forms for vector instructions.
//
//   ArrayListEngine<n>   n keys to an array, compared one by one: what a search reads lies together
//   VectorEngine         the same for 64 keys, 16 (AVX-512) or 8 of them at once
//   FuzzyEngine<T>       8- or 16-bit fingerprints, up to 64 at once; what they let through is compared in full
//
// When:    queues of tens to some hundreds, in any order and with any wildcards: the cost does not depend on them.
// Not when: messages come in the order of the receives (a list), or thousands wait (a hash).
// Cost:    docs/decisions/match-default.md.
#pragma once

#include "match/blocks.hpp"

namespace heddle::match {

template <class Lanes, unsigned N>
struct InBlocks {
  template <class Node>
  using Of = Blocks<Node, Lanes, N>;
};
template <class Lanes, unsigned N>
using BlockEngine = QueueEngine<InBlocks<Lanes, N>::template Of>;

template <unsigned N>
using ArrayListEngine = BlockEngine<PlainLanes<N>, N>;
using VectorEngine = BlockEngine<WideLanes, kLanes>;
template <class T>
using FuzzyEngine = BlockEngine<FuzzyLanes<T>, kLanes>;

static_assert(Engine<ArrayListEngine<32>> && Engine<VectorEngine> && Engine<FuzzyEngine<std::uint8_t>>);

}  // namespace heddle::match
