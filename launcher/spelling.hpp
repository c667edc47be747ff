// "Did you mean": the known word that takes the fewest edits to reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::launcher {

// Insertions, deletions, replacements and swaps of neighbours.
int edit_distance(std::string_view a, std::string_view b);

// The first of the nearest. REQUIRES: known is not empty.
const std::string& nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace heddle::launcher
