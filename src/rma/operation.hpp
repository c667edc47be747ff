// One communication call, whatever its target: what to do, where, and the streams of bytes that go and come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

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
  // Elements with padding.
  bool goes_one_by_one() const noexcept { return element != nullptr && !element->contiguous; }
  std::size_t bytes_left() const noexcept {
    return std::min(has_in ? in.remaining() : SIZE_MAX, has_out ? out.remaining() : SIZE_MAX);
  }
  // The same, and no more than there is at the target: an origin may have room for more than it gets.
  std::size_t bytes_here() const noexcept {
    return std::min(bytes_left(), static_cast<std::size_t>(target_type->size * target_count) - done);
  }
};

// A part of an operation: rows of bytes at the target, in a row in the streams.
struct Step {
  Rows rows;
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
  MPI_Count position = 0;
  mpi::for_each_run(*operation.target_type, operation.target_count, [&](MPI_Count offset, MPI_Count bytes) {
    const std::uint64_t at = operation.at + static_cast<std::uint64_t>(offset);
    if (!operation.goes_one_by_one()) return visit(at, static_cast<std::size_t>(bytes));
    const MPI_Count size = operation.element->size;
    const MPI_Count end = position + bytes;
    for (MPI_Count begin = (position + size - 1) / size * size; begin < end; begin += size) {
      if (!visit(at + static_cast<std::uint64_t>(begin - position), static_cast<std::size_t>(size))) return false;
    }
    position = end;
    return true;
  });
}

// Puts rows together that are alike, and hands them on: visit(Rows), until that returns false.
template <class Visit>
class RowJoiner {
 public:
  // Up to so many rows and bytes at once; a longer row alone.
  RowJoiner(std::size_t rows, std::size_t bytes, Visit visit) noexcept
      : most_rows_(rows), most_bytes_(bytes), visit_(visit) {}

  // Whether it goes on.
  bool add(std::uint64_t at, std::size_t bytes) {
    if (joins(at, bytes)) {
      if (rows_.count++ == 1) rows_.stride = static_cast<std::int64_t>(at - rows_.at);
      return true;
    }
    end();
    rows_ = {at, bytes};
    return goes_on_;
  }
  bool add(Rows rows) {
    const std::size_t most = std::clamp<std::size_t>(most_bytes_ / rows.bytes, 1, most_rows_);
    while (rows.count > 1) {
      const std::size_t n = std::min(rows.count, most);
      end();
      if (goes_on_) goes_on_ = visit_(rows.part(0, n));
      if (!goes_on_) return false;
      rows = rows.part(n, rows.count - n);
    }
    return rows.count == 0 || add(rows.at, rows.bytes);
  }
  void end() {
    if (goes_on_ && rows_.count != 0) goes_on_ = visit_(rows_);
    rows_.count = 0;
  }

 private:
  bool joins(std::uint64_t at, std::size_t bytes) const noexcept {
    return rows_.count != 0 && bytes == rows_.bytes && rows_.count < most_rows_ &&
           rows_.all_bytes() + bytes <= most_bytes_ && (rows_.count == 1 || at == rows_.at_of(rows_.count));
  }

  const std::size_t most_rows_, most_bytes_;
  Visit visit_;
  Rows rows_{0, 0, 0, 0};
  bool goes_on_ = true;
};

// visit(Rows) for all that is not done, in order, until it returns false.
template <class Visit>
void for_each_rows(const Operation& operation, std::size_t most_rows, std::size_t most_bytes, Visit visit) {
  RowJoiner<Visit> joiner(most_rows, most_bytes, visit);
  std::size_t left = operation.bytes_left();
  const auto add_one = [&](std::uint64_t at, std::size_t bytes) {
    bytes = std::min(bytes, left);
    left -= bytes;
    return joiner.add(at, bytes) && left != 0;
  };
  if (operation.done == 0 && !operation.goes_one_by_one()) {
    mpi::for_all_runs(*operation.target_type, operation.target_count, [&](const mpi::Runs& runs) {
      const Rows rows{operation.at + static_cast<std::uint64_t>(runs.offset), static_cast<std::size_t>(runs.bytes),
                      static_cast<std::size_t>(runs.count), runs.stride};
      const std::size_t whole = std::min(rows.count, left / rows.bytes);
      left -= whole * rows.bytes;
      if (whole != 0 && !joiner.add(rows.part(0, whole))) return false;
      return left != 0 && (whole == rows.count || add_one(rows.at_of(whole), rows.bytes));
    });
  } else {
    for_each_row(operation, add_one);
  }
  joiner.end();
}

// use(Rows) for the parts of an update's rows that are updated in one step each, of at most `most` bytes, until it returns false.
template <class Use>
bool for_each_step(const Rows& rows, const mpi::Datatype& element, std::size_t most, Use use) {
  const auto size = static_cast<std::size_t>(element.size);
  for (std::size_t first = 0, n = 0; first < rows.count; first += n) {
    n = element.contiguous ? Memory::in_one_step(rows, first) : 1;
    if (n > 1) {
      if (!use(rows.part(first, n))) return false;
      continue;
    }
    n = 1;
    for (std::size_t done = 0, part = 0; done < rows.bytes; done += part) {
      const std::uint64_t at = rows.at_of(first) + done;
      part = std::min({rows.bytes - done, Memory::in_one_step(at, size) * size, most / size * size});
      if (!use(Rows{at, part})) return false;
    }
  }
  return true;
}

// Does the operation, or sends it on its way. *request: complete when it is; may be null.
Status start(Window& window, Operation& operation, MPI_Aint disp, mpi::Request** request);

}  // namespace heddle::rma
