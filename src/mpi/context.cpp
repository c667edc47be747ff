#include "mpi/context.hpp"

namespace heddle::mpi {

std::uint32_t ContextTable::reserve() {
  std::lock_guard lock(mutex_);
  std::uint32_t index;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
    ++generation_[index];
  } else {
    if (generation_.size() == kIndexLimit) return 0;
    index = static_cast<std::uint32_t>(generation_.size());
    generation_.push_back(0);
  }
  return (static_cast<std::uint32_t>(generation_[index]) << (kIndexBits + kChannelBits)) | (index << kChannelBits);
}

void ContextTable::release(std::uint32_t context) {
  std::lock_guard lock(mutex_);
  free_.push_back((context >> kChannelBits) & (kIndexLimit - 1));
}

std::uint32_t ContextTable::in_use() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(generation_.size() - free_.size());
}

}  // namespace heddle::mpi
