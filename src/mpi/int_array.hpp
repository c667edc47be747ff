// Arrays of counts, displacements and sizes, as the two twins of a procedure bring them.
//
// Problem: MPI_Gatherv brings int[], MPI_Gatherv_c brings MPI_Count[]; the implementation is one, and an array as long
//          as the communicator should not be copied for that.
// Method:  a view that knows how wide an element is; reading one is a predicted branch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"

namespace heddle::mpi {

static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8, "both are the wide element of these views");

class IntArray {
 public:
  constexpr IntArray() noexcept = default;
  explicit IntArray(const int* data) noexcept : data_(data), wide_(false) {}
  explicit IntArray(const std::int64_t* data) noexcept : data_(data), wide_(true) {}

  MPI_Count operator[](std::size_t i) const noexcept {
    return wide_ ? static_cast<const std::int64_t*>(data_)[i] : static_cast<const int*>(data_)[i];
  }
  const void* data() const noexcept { return data_; }
  bool is_null() const noexcept { return data_ == nullptr; }

 private:
  const void* data_ = nullptr;
  bool wide_ = false;
};

}  // namespace heddle::mpi
