#include "coll/schedule.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/spare_memory.hpp"
#include "plan/plan.hpp"

namespace heddle::coll {

namespace {
constexpr std::size_t kAlignment = 64;
constexpr MPI_Count kLimit = MPI_Count{1} << 56;  // no machine has this much, and sums of bounds stay in range

std::size_t align(std::size_t n) { return (n + kAlignment - 1) & ~(kAlignment - 1); }
}  // namespace

Schedule::~Schedule() {
  if (steps_ != reinterpret_cast<Step*>(inline_steps_)) std::free(steps_);
  while (blocks_ != nullptr) {
    Block* const block = std::exchange(blocks_, blocks_->next);
    give_spare(reinterpret_cast<std::byte*>(block), block->length);
  }
  if (spare_plan_ != nullptr) [[unlikely]]
    delete spare_plan_;
}

plan::Plan& Schedule::spare_plan() {
  if (spare_plan_ == nullptr) spare_plan_ = new plan::Plan;
  return *spare_plan_;
}

Step* Schedule::add(StepKind kind) noexcept {
  if (length_ == capacity_) {
    auto* larger = static_cast<Step*>(std::malloc(2 * capacity_ * sizeof(Step)));
    if (larger == nullptr) {
      run_out_of_memory();
      length_ = 0;  // the schedule will not run; let the builder finish in the memory that there is
    } else {
      std::memcpy(static_cast<void*>(larger), steps_, length_ * sizeof(Step));
      if (steps_ != reinterpret_cast<Step*>(inline_steps_)) std::free(steps_);
      steps_ = larger;
      capacity_ *= 2;
    }
  }
  return new (&steps_[length_++]) Step{kind, 0, {Buffer()}, Buffer(), nullptr};
}

void Schedule::send(Buffer from, int peer) noexcept {
  Step* step = add(StepKind::kSend);
  step->peer = peer + local_;
  step->from = from;
}

void Schedule::recv(Buffer to, int peer) noexcept {
  Step* step = add(StepKind::kRecv);
  step->peer = peer + local_;
  step->to = to;
}

void Schedule::copy(Buffer from, Buffer to) noexcept {
  Step* step = add(StepKind::kCopy);
  step->from = from;
  step->to = to;
}

void Schedule::reduce_into(Op& op, const void* left, const void* right, Buffer to) noexcept {
  Step* step = add(StepKind::kReduce);
  step->operands = {left, right, &op};
  step->to = to;
}

void Schedule::check(Buffer records) noexcept { add(StepKind::kCheck)->from = records; }

void Schedule::join() noexcept {
  if (length_ != 0 && steps_[length_ - 1].kind != StepKind::kJoin) add(StepKind::kJoin);
}

void* Schedule::allocate(std::size_t bytes) noexcept {
  if (bytes <= kInlineScratch - scratch_used_) {
    void* p = inline_scratch_ + scratch_used_;
    scratch_used_ += align(bytes);
    return p;
  }
  std::size_t length;
  std::byte* const memory = take_spare(kAlignment + bytes, &length);
  if (memory == nullptr) {
    run_out_of_memory();
    return nullptr;
  }
  blocks_ = new (memory) Block{blocks_, length};
  return memory + kAlignment;
}

Buffer Schedule::scratch(MPI_Count count, Datatype& type) noexcept {
  if (count == 0) return Buffer(nullptr, 0, type);
  MPI_Count stride;  // from the first item to the last; negative extents run downwards
  if (__builtin_mul_overflow(count - 1, type.extent, &stride) || stride > kLimit || stride < -kLimit) {
    run_out_of_memory();
    return Buffer(nullptr, count, type);
  }
  const MPI_Count lowest = type.true_lb + (stride < 0 ? stride : 0);
  const MPI_Count length = type.true_extent + (stride < 0 ? -stride : stride);
  // The items' address, not their first byte, gets the alignment: that is what displacements count from.
  const MPI_Count before = -lowest > 0 ? static_cast<MPI_Count>(align(-lowest)) : -static_cast<MPI_Count>(lowest & ~63);
  return Buffer(advance(allocate(static_cast<std::size_t>(before + lowest + length)), before), count, type);
}

Buffer Schedule::scratch_bytes(MPI_Count bytes) noexcept { return scratch(bytes, mpi::byte_type()); }

}  // namespace heddle::coll
