#include "match/choice.hpp"

#include <bit>
#include <charconv>

namespace heddle::match {
namespace {

struct Word {
  std::string_view word;
  EngineKind kind;
  std::uint32_t low = 0, high = 0;  // of its parameter, a power of two; 0: it has none
};

constexpr Word kWords[] = {
    {"adaptive", EngineKind::kAdaptive},
    {"list", EngineKind::kList},
    {"array_list", EngineKind::kArrayList, 2, 64},
    {"vector", EngineKind::kVector},
    {"fuzzy8", EngineKind::kFuzzy8},
    {"fuzzy16", EngineKind::kFuzzy16},
    {"hash", EngineKind::kHash, 1, 1 << 16},
    {"grid", EngineKind::kGrid, 2, 32},
    {"tail_queue", EngineKind::kTailQueue},
};

}  // namespace

std::optional<Choice> parse_choice(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  for (const Word& word : kWords) {
    if (text.substr(0, colon) != word.word) continue;
    if (colon == std::string_view::npos) return Choice{word.kind};
    std::uint32_t parameter = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data() + colon + 1, end, parameter);
    const bool legal = failed == std::errc() && stopped == end && std::has_single_bit(parameter) &&
                       parameter >= word.low && parameter <= word.high;
    return legal ? std::optional(Choice{word.kind, parameter}) : std::nullopt;
  }
  return std::nullopt;
}

std::string spelled(const Choice& choice) {
  for (const Word& word : kWords) {
    if (word.kind != choice.kind) continue;
    std::string text(word.word);
    return choice.parameter == 0 ? text : text + ':' + std::to_string(choice.parameter);
  }
  return {};
}

}  // namespace heddle::match
