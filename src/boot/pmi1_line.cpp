#include "boot/pmi1_line.hpp"

#include <algorithm>

#include "mpi.h"

namespace heddle::boot {

Status Pmi1Line::parse(std::string_view text, Pmi1Line& line) {
  line.command_.clear();
  line.words_.clear();
  const int shown = static_cast<int>(std::min<std::size_t>(text.size(), 80));
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      return error(MPI_ERR_OTHER, "not a PMI-1 line: it has the byte 0x%02x", static_cast<unsigned char>(c));
    }
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == word.npos) continue;  // the rest of a sentence in msg=...
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    if (line.command_.empty() && (name == "cmd" || name == "mcmd")) {
      line.command_ = value;
    } else {
      line.words_.emplace_back(name, value);
    }
  }
  if (line.command_.empty()) return error(MPI_ERR_OTHER, "not a PMI-1 line: '%.*s'", shown, text.data());
  return Status::ok();
}

bool Pmi1Buffer::next(std::string& line, Status& status) {
  const std::size_t end = bytes_.find('\n');
  if (std::min(end, bytes_.size()) > kMaxLine) {
    status = error(MPI_ERR_OTHER, "a PMI-1 line of more than %zu bytes", kMaxLine);
    return false;
  }
  if (end == bytes_.npos) return false;
  line.assign(bytes_, 0, end);
  bytes_.erase(0, end + 1);
  return true;
}

}  // namespace heddle::boot
