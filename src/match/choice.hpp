// Which engine: the words of HEDDLE_MATCHING and of the info key heddle_matching.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::match {

enum class EngineKind : unsigned char {
  kAdaptive,
  kList,
  kArrayList,
  kVector,
  kFuzzy8,
  kFuzzy16,
  kHash,
  kGrid,
  kTailQueue
};
inline constexpr unsigned kEngineKinds = 9;

struct Choice {
  EngineKind kind = EngineKind::kAdaptive;
  std::uint32_t parameter = 0;  // array_list: keys in a node; hash: bins; grid: its radix; 0: the default

  friend bool operator==(const Choice&, const Choice&) = default;
};

inline constexpr Choice kDefaultEngine{};  // docs/decisions/match-default.md
inline constexpr char kEngineWords[] =
    "adaptive, list, array_list, array_list:n with n = 2, 4 ... 64 keys in a node, vector, fuzzy8, fuzzy16, hash, "
    "hash:n with n bins, grid, grid:n with n = 2, 4 ... 32 values of a coordinate, or tail_queue";

// Nothing where the text is not of these.
std::optional<Choice> parse_choice(std::string_view text) noexcept;
std::string spelled(const Choice& choice);

}  // namespace heddle::match
