// Lines of PMI-1, from a launcher or from a rank.
#include <cstdlib>

#include "boot/pmi1_line.hpp"

using namespace heddle;
using namespace heddle::boot;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] + 1u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Pmi1Buffer buffer;
  Pmi1Line line;
  Status status;
  std::string one;
  for (std::size_t at = 0; at < text.size() && status; at += step) {
    buffer.append(text.substr(at, step));
    while (buffer.next(one, status)) {
      if (one.size() > Pmi1Buffer::kMaxLine) std::abort();
      if (!Pmi1Line::parse(one, line)) continue;
      if (line.command().empty()) std::abort();
      line.find("key");
      line.refused();
    }
  }
  return 0;
}
