// One communication call, whatever its target: what to do, where, and the streams of bytes that go and come.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/status.hpp"
#include "mpi/op.hpp"
#include "mpi/pack.hpp"
#include "mpi/request.hpp"
#include "mpi/runs.hpp"
#include "rma/memory.hpp"

namespace heddle::rma {

enum class Kind : std::uint8_t { kPut, kGet, kAccumulate, kCompareAndSwap };

struct Operation {
  Kind kind;
  int rank;
  const mpi::Datatype* target_type;
  MPI_Count target_count;
  std::uint64_t at = 0;  // of the displacement, as Memory wants it
  std::size_t done = 0;  // bytes at the target that are behind it

  mpi::PackCursor in;  // what goes to the target; of kCompareAndSwap the new element
  bool has_in = false;
  mpi::PackCursor out;  // what comes from it
  bool has_out = false;
  mpi::Datatype* out_type = nullptr;
  const std::byte* compare = nullptr;

  const mpi::Op* op = nullptr;             // kAccumulate
  const mpi::Datatype* element = nullptr;  // and kCompareAndSwap: the predefined type that the target's consists of

  std::size_t element_bytes() const noexcept {
    return element == nullptr ? 1 : static_cast<std::size_t>(element->size);
  }
  std::size_t bytes_left() const noexcept {
    return std::min(has_in ? in.remaining() : SIZE_MAX, has_out ? out.remaining() : SIZE_MAX);
  }
  // The same, and no more than there is at the target: an origin may have room for more than it gets.
  std::size_t bytes_here() const noexcept {
    return std::min(bytes_left(), static_cast<std::size_t>(target_type->size * target_count) - done);
  }
};

// A part of an operation: bytes in a row at the target, and in the streams.
struct Step {
  std::uint64_t at;
  std::size_t bytes;
  const std::byte* in;
  std::byte* out;
  const std::byte* compare;
};
Status perform(Memory& memory, const Operation& operation, const Step& step) noexcept;

// visit(at, bytes) for each row of bytes at the target that is not done, in order; elements with padding come one by one.
template <class Visit>
void for_each_row(const Operation& operation, Visit visit_row) {
  std::size_t done = operation.done;
  const auto visit = [&](std::uint64_t at, std::size_t bytes) {
    const std::size_t n = std::min(done, bytes);
    done -= n;
    return n == bytes || visit_row(at + n, bytes - n);
  };
  const bool one_by_one = operation.element != nullptr && !operation.element->contiguous;
  MPI_Count position = 0;
  mpi::for_each_run(*operation.target_type, operation.target_count, [&](MPI_Count offset, MPI_Count bytes) {
    const std::uint64_t at = operation.at + static_cast<std::uint64_t>(offset);
    if (!one_by_one) return visit(at, static_cast<std::size_t>(bytes));
    const MPI_Count size = operation.element->size;
    const MPI_Count end = position + bytes;
    for (MPI_Count begin = (position + size - 1) / size * size; begin < end; begin += size) {
      if (!visit(at + static_cast<std::uint64_t>(begin - position), static_cast<std::size_t>(size))) return false;
    }
    position = end;
    return true;
  });
}

// Does the operation, or sends it on its way. *request: complete when it is; may be null.
Status start(Window& window, Operation& operation, MPI_Aint disp, mpi::Request** request);

}  // namespace heddle::rma
