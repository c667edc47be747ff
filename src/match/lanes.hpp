// The keys of up to 64 queued entries side by side, so that one instruction compares many of them.
//
// Problem: a list compares one entry after the other, each behind a pointer.
// Method:  each field of the key is a row of 64 lanes; a search compares a whole row and gets one bit an entry. Wildcards
//          of receives are bits of two words, those of a search are all ones. The kernels are one source for every
//          instruction set (Highway), the best that the processor has is chosen once.
//            WideLanes        all of the key, 32 bits a field: a bit is a match
//            FuzzyLanes<T>    fingerprints of 8 or 16 bits of the source and of the tag: a bit is a candidate, for the
//                             caller to verify. Two fingerprints and not one mixed: tag = source does not collapse them,
//                             and a wildcard leaves the other. Multiplied, not truncated: tags equal modulo 256 differ.
// Threads: as the engine. The choice of the kernel is made before main().
#pragma once

#include <cstdint>
#include <vector>

#include "match/key.hpp"

namespace heddle::match {

inline constexpr unsigned kLanes = 64;

namespace kernels {

// Bit i: (a[i] == one or bit i of `any_a`), and the same for b. Of 64 lanes.
template <class T>
using Pair = std::uint64_t (*)(const T* a, T one, std::uint64_t any_a, const T* b, T other,
                               std::uint64_t any_b) noexcept;
extern const Pair<std::uint8_t> pair8;
extern const Pair<std::uint16_t> pair16;
extern const Pair<std::uint32_t> pair32;
// Of all instruction sets that this processor has, the best first: for tests.
template <class T>
std::vector<Pair<T>> every_pair();

template <class T>
std::uint64_t pair(const T* a, T one, std::uint64_t any_a, const T* b, T other, std::uint64_t any_b) noexcept {
  if constexpr (sizeof(T) == 1) return pair8(a, one, any_a, b, other, any_b);
  if constexpr (sizeof(T) == 2) return pair16(a, one, any_a, b, other, any_b);
  if constexpr (sizeof(T) == 4) return pair32(a, one, any_a, b, other, any_b);
}

}  // namespace kernels

constexpr std::uint64_t all_if(bool wildcard) noexcept { return wildcard ? ~std::uint64_t{0} : 0; }
constexpr std::uint64_t bit(unsigned i) noexcept { return std::uint64_t{1} << i; }

// Which entries have wildcards.
struct Wildcards {
  std::uint64_t source = 0;
  std::uint64_t tag = 0;

  void set(unsigned i, const Key& key) noexcept {
    source = (source & ~bit(i)) | (std::uint64_t{key.source == kAnySource} << i);
    tag = (tag & ~bit(i)) | (std::uint64_t{key.tag == kAnyTag} << i);
  }
};

class WideLanes {
 public:
  static constexpr bool kExact = true;

  void set(unsigned i, const Key& key) noexcept {
    context_[i] = key.context;
    source_[i] = static_cast<std::uint32_t>(key.source);
    tag_[i] = static_cast<std::uint32_t>(key.tag);
    any_.set(i, key);
  }
  // The entries that match `key`, which is a message's or a receive's. Bits of unused lanes are anything.
  std::uint64_t matching(const Key& key) const noexcept {
    const std::uint64_t two =
        kernels::pair(source_, static_cast<std::uint32_t>(key.source), any_.source | all_if(key.source == kAnySource),
                      tag_, static_cast<std::uint32_t>(key.tag), any_.tag | all_if(key.tag == kAnyTag));
    return two == 0 ? 0 : two & kernels::pair(context_, key.context, 0, context_, key.context, 0);
  }

 private:
  alignas(64) std::uint32_t context_[kLanes];
  std::uint32_t source_[kLanes];
  std::uint32_t tag_[kLanes];
  Wildcards any_;
};

template <class T>
class FuzzyLanes {
 public:
  static constexpr bool kExact = false;

  void set(unsigned i, const Key& key) noexcept {
    source_[i] = fingerprint(key.source, key.context);
    tag_[i] = fingerprint(key.tag, 0);
    any_.set(i, key);
  }
  std::uint64_t matching(const Key& key) const noexcept {
    return kernels::pair(source_, fingerprint(key.source, key.context), any_.source | all_if(key.source == kAnySource),
                         tag_, fingerprint(key.tag, 0), any_.tag | all_if(key.tag == kAnyTag));
  }

 private:
  // The upper bits of a product: all bits of the field take part, and neighbours differ.
  static T fingerprint(std::int32_t field, std::uint32_t context) noexcept {
    const std::uint32_t mixed = (static_cast<std::uint32_t>(field) + context * 0x85ebca6bu) * 0x9e3779b1u;
    return static_cast<T>(mixed >> (32 - 8 * sizeof(T)));
  }

  alignas(64) T source_[kLanes];
  T tag_[kLanes];
  Wildcards any_;
};

}  // namespace heddle::match
