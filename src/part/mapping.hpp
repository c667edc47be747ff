// Which bytes belong to which partition.
//
// Problem: the two sides may cut one message into different numbers of partitions, and a partition that is tiny is not worth
//          a packet of its own.
// Method:  each side's partitions are of equal size, so a piece of the message covers a run of them. The sender puts
//          neighbours into one group as long as they are within one partition of the receiver, who cannot see a part of
//          that one anyway: what arrives is told apart no later than without groups.
// Threads: pure.
// Cost:    a division for each piece; one for each MPI_Pready where there are groups.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::part {

// Calls visit(partition, bytes) for each partition of `each` bytes that [at, at + bytes) covers some of.
template <class Visit>
void for_each_covered(std::uint64_t at, std::uint64_t bytes, std::uint64_t each, Visit visit) {
  if (bytes == 0 || each == 0) return;
  std::uint64_t partition = at / each, within = at % each;
  while (bytes != 0) {
    const std::uint64_t n = std::min(bytes, each - within);
    visit(static_cast<std::uint32_t>(partition++), n);
    bytes -= n;
    within = 0;
  }
}

// How a sender groups its partitions.
class Grouping {
 public:
  static constexpr std::uint64_t kTarget = 4096;  // bytes of a group of more than one, where nobody says

  Grouping() noexcept = default;
  // `each`: bytes of a partition of the sender. A message without bytes is one group. `target`: bytes that a group of more
  // than one is to have at most.
  Grouping(std::uint32_t partitions, std::uint32_t receivers, std::uint64_t each,
           std::uint64_t target = kTarget) noexcept {
    if (partitions == 0) return;
    if (each == 0) {
      within_ = size_ = partitions;
    } else if (receivers != 0 && partitions % receivers == 0) {
      within_ = partitions / receivers;
      size_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(target / each, 1, within_));
    }
    if (size_ == 1) within_ = 1;
    groups_in_one_ = (within_ + size_ - 1) / size_;
    groups_ = partitions / within_ * groups_in_one_;
  }

  std::uint32_t groups() const noexcept { return groups_; }
  std::uint32_t of(std::uint32_t partition) const noexcept {
    return size_ == 1 ? partition : partition / within_ * groups_in_one_ + partition % within_ / size_;
  }
  std::uint32_t first(std::uint32_t group) const noexcept {
    return size_ == 1 ? group : group / groups_in_one_ * within_ + group % groups_in_one_ * size_;
  }
  std::uint32_t count(std::uint32_t group) const noexcept {
    return size_ == 1 ? 1 : std::min(size_, within_ - group % groups_in_one_ * size_);
  }

 private:
  std::uint32_t within_ = 1;  // partitions in one of the receiver's
  std::uint32_t size_ = 1;
  std::uint32_t groups_in_one_ = 1;
  std::uint32_t groups_ = 0;
};

}  // namespace heddle::part
