// The memory of one target as an operation sees it: read, write, and update element by element.
//
// Method:  an update is, for each element, read, combine, write, in one step that no other update of the element can come
//          between: a compare-and-swap of the word, or under the lock of the element's stripe (window.hpp says which).
//          Elements come packed, as MPI_Pack would write them; the memory has them as the basic type does, whose padding is
//          left alone.
// Threads: any.
// Errors:  MPI_ERR_RMA_RANGE when the kernel finds no memory there, or does not copy any more; some bytes may have been copied then,
//          but of the elements of one step all were updated or none, unless some of their memory is not to be written.
#pragma once

#include <cstddef>

#include "base/status.hpp"
#include "mpi/datatype.hpp"
#include "mpi/op.hpp"
#include "mpi/pack.hpp"
#include "rma/rows.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

Status no_memory_there(std::uint64_t at, std::size_t bytes);

class Memory {
 public:
  // REQUIRES: the way of the target is not kMessages; `base` is from map_target() when it is kDirect.
  Memory(Window& window, Target& target, std::byte* base) noexcept : window_(window), target_(target), base_(base) {}
  // Through the kernel: elements of so many bytes, from `at` on, that are updated in one step.
  static std::size_t in_one_step(std::uint64_t at, std::size_t bytes) noexcept {
    return to_end_of(kStepBytes, at, bytes);
  }
  // How many from row `first` on lie in one stripe, whole, and so are updated in one step; 0 where that one is too long or does not.
  static std::size_t in_one_step(const Rows& rows, std::size_t first) noexcept;
  // This process's own memory.
  static Memory own(Window& window) noexcept;

  Status read(const Rows& rows, std::byte* to) noexcept;
  Status write(const Rows& rows, const std::byte* from) noexcept;

  // Rows of elements of a basic type: each becomes `in` op what it was, which goes to `old` unless that is null.
  // REQUIRES: as the next.
  Status update(const Rows& rows, const std::byte* in, std::byte* old, const mpi::Op& op,
                const mpi::Datatype& type) noexcept;
  // `count` elements in a row.
  // REQUIRES: type is predefined and, unless count is 1, without padding.
  Status update(std::uint64_t at, const std::byte* in, std::byte* old, std::size_t count, const mpi::Op& op,
                const mpi::Datatype& type) noexcept;
  // One element, which becomes `in` where it is the same as `compare`.
  Status compare_and_swap(std::uint64_t at, const std::byte* in, const std::byte* compare, std::byte* old,
                          std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t kStepBytes = 16 << 10;  // a part of a stripe, of which there is a copy on the stack

  Status move(const Rows& rows, std::byte* here, bool is_put) noexcept;
  Status move_by_kernel(const Rows& rows, std::byte* here, bool is_put) noexcept;
  // Elements of so many bytes that begin in the same part of so many bytes as `at`, and not before.
  static std::size_t to_end_of(std::size_t part, std::uint64_t at, std::size_t bytes) noexcept {
    return (part - at % part + bytes - 1) / bytes;
  }
  std::byte* direct(std::uint64_t at) const noexcept {
    return mpi::address_at(reinterpret_cast<std::uintptr_t>(base_), static_cast<MPI_Count>(at));
  }
  bool may_be_by_hardware(std::uint64_t at, std::size_t bytes) const noexcept;
  class ByHardware;
  void update_words(std::uint64_t at, const std::byte* in, std::byte* old, std::size_t count, const mpi::Op& op,
                    const mpi::Datatype& type) noexcept;
  void prepare_row(std::size_t words) noexcept;
  // Reads elements, lets `change` make new ones of them, and writes them back, under the stripe's lock.
  template <class Change>
  Status under_lock(const Rows& rows, Change change) noexcept;

  Window& window_;
  Target& target_;
  std::byte* base_;
};

}  // namespace heddle::rma
