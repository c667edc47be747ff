#include "portable.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string_view>

#include "boot/environment.hpp"
#include "mpi.h"
#include "text_file.hpp"

namespace heddle::launcher {
namespace {

// The largest of first, first + step, ... up to last that is no larger than most; 0 if there is none. Any int will do for
// each, so their differences need more.
std::int64_t largest(std::int64_t first, std::int64_t last, std::int64_t step, std::int64_t most) {
  if (step < 0) {
    if (first < last) return 0;
    const std::int64_t lowest = first - (first - last) / -step * -step;
    return largest(lowest, first, -step, most);
  }
  const std::int64_t end = std::min(last, most);
  return first > end ? 0 : first + (end - first) / step * step;
}

// Of a backslash: between double quotes it is one unless it stands before one of these.
bool escapes(char quote, char next) {
  return quote == 0 || (quote == '"' && std::string_view("\"\\$`").find(next) != std::string_view::npos);
}

// A line goes on in the next one after an odd number of backslashes; two are one of the word.
bool goes_on(const std::string& line) {
  const std::size_t last = line.find_last_not_of('\\');
  return (line.size() - (last == line.npos ? 0 : last + 1)) % 2 == 1;
}

// One more word of `line`, which begins at `at` with something other than a blank; `at` moves behind it.
Status read_word(const std::string& line, std::size_t& at, std::string& word) {
  char quote = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && (c == ' ' || c == '\t')) break;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && at + 1 < line.size() && escapes(quote, line[at + 1])) {
      word += line[++at];
    } else {
      word += c;
    }
  }
  if (quote == 0) return Status::ok();
  return error(MPI_ERR_ARG, "a quote %c is not closed in '%.80s'", quote, line.c_str());
}

Status read_words(const std::string& line, std::vector<std::string>& words) {
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != line.npos;) {
    std::string word;
    HEDDLE_TRY(read_word(line, at, word));
    words.push_back(std::move(word));
  }
  return Status::ok();
}

}  // namespace

Status choose_of_soft(const std::string& text, int& ranks) {
  constexpr int kLeast = std::numeric_limits<int>::min(), kMost = std::numeric_limits<int>::max();
  std::int64_t best = 0;
  std::stringstream list(text);
  for (std::string part; std::getline(list, part, ',');) {
    std::vector<int> numbers;
    std::stringstream triplet(part);
    bool good = !text.ends_with(',') && !part.empty() && part.back() != ':';
    for (std::string number; good && std::getline(triplet, number, ':');) {
      int value = 0;
      good = numbers.size() < 3 && boot::parse_int(number, kLeast, kMost, value);
      numbers.push_back(value);
    }
    if (!good || (numbers.size() == 3 && numbers[2] == 0)) {
      return error(MPI_ERR_ARG, "-soft needs N, FIRST:LAST or FIRST:LAST:STEP, or several by commas, not '%.80s'",
                   text.c_str());
    }
    const int last = numbers.size() > 1 ? numbers[1] : numbers[0], step = numbers.size() > 2 ? numbers[2] : 1;
    best = std::max(best, largest(numbers[0], last, step, ranks));
  }
  if (best < 1) return error(MPI_ERR_ARG, "-soft %.80s has no number of ranks from 1 to %d", text.c_str(), ranks);
  ranks = static_cast<int>(best);
  return Status::ok();
}

Status read_config_file(const std::string& path, std::vector<std::string>& arguments) {
  std::string text;
  HEDDLE_TRY(read_text_file("file", path, text));
  std::istringstream parts(std::move(text));
  std::string line;
  for (std::string part; std::getline(parts, part);) {
    if (part.ends_with('\r')) part.pop_back();
    if (line.empty() && part.starts_with('#')) continue;
    line += part;
    if (goes_on(line)) {
      line.back() = ' ';
      continue;
    }
    std::vector<std::string> words;
    HEDDLE_TRY(read_words(line, words));
    line.clear();
    if (words.empty()) continue;
    if (!arguments.empty()) arguments.emplace_back(":");
    arguments.insert(arguments.end(), words.begin(), words.end());
  }
  if (!line.empty()) return error(MPI_ERR_ARG, "the last line of '%s' goes on, but the file does not", path.c_str());
  if (arguments.empty()) return error(MPI_ERR_ARG, "there is no program in the file '%s'", path.c_str());
  return Status::ok();
}

}  // namespace heddle::launcher
