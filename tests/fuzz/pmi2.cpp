// Messages of PMI-2 from a launcher.
#include <cstdlib>

#include "boot/pmi2_message.hpp"

using namespace heddle;
using namespace heddle::boot;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] + 1u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Pmi2Buffer buffer;
  Pmi2Message message;
  Status status;
  std::string one;
  for (std::size_t at = 0; at < text.size() && status; at += step) {
    buffer.append(text.substr(at, step));
    while (buffer.next(one, status)) {
      if (one.empty() || one.size() > Pmi2Buffer::kMaxMessage) std::abort();
      if (!Pmi2Message::parse(one, message)) continue;
      if (message.command().empty()) std::abort();
      message.find("key");
      message.refused();
    }
  }
  if (Pmi2Message::parse(text, message) && message.command().empty()) std::abort();
  return 0;
}
