// The word that was probably meant.
#pragma once

#include <span>
#include <string_view>

namespace heddle {

// The one of `known` that needs the fewest letters changed, added, dropped or swapped with their neighbour to become
// `word`; empty when none comes close.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace heddle
