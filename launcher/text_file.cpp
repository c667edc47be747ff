#include "text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "mpi.h"

namespace heddle::launcher {
namespace {

constexpr std::size_t kMaxFile = 16 << 20;

}  // namespace

Status read_text_file(const char* kind, const std::string& path, std::string& text) {
  std::ifstream file(path);
  const auto unreadable = [&] {
    return error(MPI_ERR_ARG, "cannot read the %s '%s': %s", kind, path.c_str(), std::strerror(errno));
  };
  if (!file) return unreadable();
  text.clear();
  for (char piece[4096]; file.read(piece, sizeof piece), file.gcount() > 0;) {
    text.append(piece, static_cast<std::size_t>(file.gcount()));
    if (text.size() <= kMaxFile) continue;
    return error(MPI_ERR_ARG, "the %s '%s' has more than %zu MiB", kind, path.c_str(), kMaxFile >> 20);
  }
  return file.bad() ? unreadable() : Status::ok();
}

}  // namespace heddle::launcher
