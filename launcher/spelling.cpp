#include "spelling.hpp"

#include <algorithm>

namespace heddle::launcher {

int edit_distance(std::string_view a, std::string_view b) {
  const int columns = static_cast<int>(b.size()) + 1;
  std::vector<int> before_last(columns), last(columns), now(columns);
  for (int j = 0; j < columns; ++j) last[j] = j;
  for (int i = 1; i <= static_cast<int>(a.size()); ++i) {
    now[0] = i;
    for (int j = 1; j < columns; ++j) {
      const int replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({replace, last[j] + 1, now[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[columns - 1];
}

const std::string& nearest(std::string_view word, const std::vector<std::string>& known) {
  return *std::ranges::min_element(known, {}, [&](const std::string& k) { return edit_distance(word, k); });
}

}  // namespace heddle::launcher
