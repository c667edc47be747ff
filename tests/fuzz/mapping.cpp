// PMI_process_mapping from a launcher.
#include <cstdlib>

#include "boot/mapping.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const int ranks = data[0] + 1;
  std::vector<int> nodes;
  if (!heddle::boot::parse_process_mapping({reinterpret_cast<const char*>(data) + 1, size - 1}, ranks, nodes)) return 0;
  if (static_cast<int>(nodes.size()) != ranks) std::abort();
  int next = 0;  // numbered by first appearance
  for (const int node : nodes) {
    if (node < 0 || node > next) std::abort();
    next += node == next ? 1 : 0;
  }
  return 0;
}
