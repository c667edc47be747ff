// What a collective's arguments describe: items of a datatype in memory, and one block of them for each rank.
//
// Threads: values; nothing is owned. `Blocks` looks at the caller's arrays, so it lives no longer than the call.
#pragma once

#include <cstdint>

#include "mpi.h"
#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/int_array.hpp"

namespace heddle::coll {

using mpi::Datatype;
using mpi::IntArray;

// Through an integer: with MPI_BOTTOM and absolute displacements an address need not lie in any object.
inline void* advance(void* data, MPI_Count bytes) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(bytes));
}

// `count` items of `type` at `data`.
struct Buffer {
  void* data = nullptr;
  MPI_Count count = 0;
  Datatype* type = nullptr;

  Buffer() = default;
  Buffer(const void* d, MPI_Count n, Datatype& t) noexcept : data(const_cast<void*>(d)), count(n), type(&t) {}

  bool in_place() const noexcept { return data == MPI_IN_PLACE; }
  // The largest MPI_Count when they are more.
  MPI_Count bytes() const noexcept { return count == 0 ? 0 : mpi::total_bytes(*type, count); }
  // `n` items, from item `first` on.
  Buffer part(MPI_Count first, MPI_Count n) const noexcept {
    return Buffer(advance(data, first * type->extent), n, *type);
  }
};

// One buffer for each rank, in any of the forms in which MPI describes them.
class Blocks {
 public:
  // Rank i's block is the i-th run of `each.count` items.
  explicit Blocks(Buffer each) noexcept : data_(each.data), type_(each.type), equal_(true), count_(each.count) {}
  // counts[i] items, displacements[i] items from the start.
  Blocks(const void* data, IntArray counts, IntArray displacements, Datatype& type) noexcept
      : data_(const_cast<void*>(data)), type_(&type), counts_(counts), displacements_(displacements) {}
  // counts[i] items of types[i], displacements[i] bytes from the start.
  Blocks(const void* data, IntArray counts, IntArray displacements, const MPI_Datatype* types) noexcept
      : data_(const_cast<void*>(data)), types_(types), counts_(counts), displacements_(displacements) {}

  bool in_place() const noexcept { return data_ == MPI_IN_PLACE; }
  // Rank i's.
  Buffer operator[](int i) const noexcept {
    if (equal_) return Buffer(data_, 0, *type_).part(i * count_, count_);
    Buffer b;
    b.count = counts_[i];
    b.type = type_ != nullptr ? type_ : &mpi::byte_type();
    if (b.count == 0) return b;  // and a type of its own means nothing
    if (types_ != nullptr) b.type = mpi::from_handle(types_[i]);
    b.data = advance(data_, displacements_[i] * (types_ == nullptr ? type_->extent : 1));
    return b;
  }

  // Blocks first to first + n - 1. REQUIRES: they lie one after the other: one count for all, or n is 1.
  Buffer run(int first, int n) const noexcept {
    return equal_ ? Buffer(data_, 0, *type_).part(first * count_, n * count_) : (*this)[first];
  }
  bool equal() const noexcept { return equal_; }

  // Whether no message is sent for an empty block, in an exchange of each of `ranks` with each. One is sent: a rank that has
  // another count hears of it, instead of waiting. But where each rank has counts of its own for very many others, most
  // are 0, and both sides know.
  bool leaves_out_empty(int ranks) const noexcept { return !equal_ && ranks > kMostThatHear; }
  bool leaves_out(const Buffer& block, int ranks) const noexcept {
    return leaves_out_empty(ranks) && block.bytes() == 0;
  }
  static constexpr int kMostThatHear = 64;

 private:
  void* data_;
  Datatype* type_ = nullptr;
  const MPI_Datatype* types_ = nullptr;
  bool equal_ = false;  // one count for all; the arrays say nothing
  MPI_Count count_ = 0;
  IntArray counts_, displacements_;
};

}  // namespace heddle::coll
