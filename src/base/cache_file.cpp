#include "base/cache_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
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

bool store_file(const std::string& path, std::string_view text) {
  for (std::size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0777);  // where it fails, opening the file says why
  }
  const std::string fresh = path + "." + std::to_string(getpid());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  int cause = errno;
  if (fd >= 0) close(fd);
  if (written && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  if (written) cause = errno;
  if (fd >= 0) unlink(fresh.c_str());
  errno = cause;
  return false;
}

}  // namespace heddle
