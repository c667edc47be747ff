#include "base/cache_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace heddle {

std::string cache_file(const std::string& named, const char* kind) {
  if (!named.empty()) return named;
  std::string folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    folder = std::string(home) + "/.cache";
  } else {
    return {};
  }
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  return folder + "/heddle/" + kind + "-" + host;
}

bool read_file(const char* path, std::string* out, std::size_t most) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[4096];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0 && out->size() < most) {
    out->append(buffer, static_cast<std::size_t>(n));
  }
  const int cause = n < 0 ? errno : out->size() >= kMostOfFile ? EFBIG : 0;
  close(fd);
  errno = cause;
  return cause == 0;
}

}  // namespace heddle
