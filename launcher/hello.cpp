#include "hello.hpp"

#include <algorithm>

#include "boot/environment.hpp"

namespace heddle::launcher {
namespace {

constexpr std::string_view kMark = "\nheddle-node-hello protocol=", kVersion = " version=";

}  // namespace

bool Hello::is_ours() const { return protocol == kProtocol && version == HEDDLE_VERSION; }

std::string hello_line() {
  return std::string(kMark).append(std::to_string(kProtocol)).append(kVersion).append(HEDDLE_VERSION "\n");
}

bool HelloScanner::scan(std::string_view& bytes, Hello& hello) {
  const std::size_t before = seen_.size();
  seen_ += bytes;
  const std::size_t mark = seen_.find(kMark);
  if (mark == seen_.npos) return false;
  const std::size_t end = seen_.find('\n', mark + kMark.size());
  if (end == seen_.npos) {
    if (seen_.size() - mark > kMaxLine) seen_.resize(kMaxNoise + 1, ' ');
    return false;
  }
  const std::string_view line = std::string_view(seen_).substr(mark + kMark.size(), end - mark - kMark.size());
  const std::size_t version = std::min(line.find(kVersion), line.size());
  hello.protocol = -1;
  boot::parse_int(line.substr(0, version), 0, 1 << 30, hello.protocol);
  hello.version = line.substr(std::min(version + kVersion.size(), line.size()));
  bytes.remove_prefix(end + 1 - before);
  seen_.resize(mark);
  return true;
}

}  // namespace heddle::launcher
