#include "wire/node_memory.hpp"

#include <cstring>

namespace heddle::wire {

int NodeMemory::region_of(ProcessId process) const noexcept {
  // Usually the ids of a node are consecutive.
  const std::uint32_t guess = process - process_of_.front();
  if (guess < process_of_.size() && process_of_[guess] == process) return static_cast<int>(guess);
  for (std::size_t i = 0; i < process_of_.size(); ++i) {
    if (process_of_[i] == process) return static_cast<int>(i);
  }
  return -1;
}

Status NodeMemory::take_block(std::size_t bytes, std::uint64_t* offset) {
  {
    std::lock_guard guard(mutex_);
    std::vector<std::uint64_t>& free = free_[bytes];
    if (!free.empty()) {
      *offset = free.back();
      free.pop_back();
      return Status::ok();
    }
  }
  return segment_->carve(self_, bytes, offset);
}

void NodeMemory::give_block_back(std::size_t bytes, std::uint64_t offset) {
  std::memset(segment_->at<void>(offset), 0, bytes);
  std::lock_guard guard(mutex_);
  free_[bytes].push_back(offset);
}

}  // namespace heddle::wire
