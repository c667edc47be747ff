#include "portable.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::launcher {
namespace {

// The largest of first, first + step, ... up to last that is in [0, most]; -1 if there is none.
int largest(int first, int last, int step, int most) {
  if (step < 0) {
    if (first < last) return -1;
    const int lowest = first - (first - last) / -step * -step;
    return largest(lowest, first, -step, most);
  }
  const int end = std::min(last, most);
  return first > end ? -1 : first + (end - first) / step * step;
}

// One more word of `line`, which begins at `at` with something other than a blank; `at` moves behind it.
Status read_word(const std::string& line, std::size_t& at, std::string& word) {
  char quote = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) break;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && at + 1 < line.size()) {
      word += line[++at];
    } else {
      word += c;
    }
  }
  if (quote == 0) return Status::ok();
  return error(MPI_ERR_ARG, "a quote %c is not closed in '%.80s'", quote, line.c_str());
}

Status read_words(const std::string& line, std::vector<std::string>& words) {
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    std::string word;
    HEDDLE_TRY(read_word(line, at, word));
    words.push_back(std::move(word));
  }
  return Status::ok();
}

}  // namespace

Status choose_of_soft(const std::string& text, int& ranks) {
  int best = -1;
  std::stringstream list(text);
  for (std::string part; std::getline(list, part, ',');) {
    std::vector<int> numbers;
    std::stringstream triplet(part);
    bool good = !part.empty() && part.back() != ':';
    for (std::string number; good && std::getline(triplet, number, ':');) {
      int value = 0;
      const int least = numbers.size() == 2 ? -boot::kMaxRanks : 0;
      good = numbers.size() < 3 && boot::parse_int(number, least, boot::kMaxRanks, value);
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
  ranks = best;
  return Status::ok();
}

Status read_config_file(const std::string& path, std::vector<std::string>& arguments) {
  std::ifstream file(path);
  if (!file) return error(MPI_ERR_ARG, "cannot read the file '%s': %s", path.c_str(), std::strerror(errno));
  std::string line;
  for (std::string part; std::getline(file, part);) {
    if (line.empty() && part.starts_with('#')) continue;
    line += part;
    if (line.ends_with('\\') && !file.eof()) {
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
  if (file.bad()) return error(MPI_ERR_ARG, "cannot read the file '%s': %s", path.c_str(), std::strerror(errno));
  if (!line.empty()) return error(MPI_ERR_ARG, "the last line of '%s' goes on, but the file does not", path.c_str());
  if (arguments.empty()) return error(MPI_ERR_ARG, "there is no program in the file '%s'", path.c_str());
  return Status::ok();
}

}  // namespace heddle::launcher
