// Puts a derived datatype together.
//
// Problem: a dozen constructors need the same bounds, size, signature and record, and any product or sum of their
//          arguments may overflow.
// Method:  each constructor reports the components that it places; the builder keeps the bounds with checked
//          arithmetic, and makes the object when told the layout. Lay out only after ok(): then nothing there can
//          overflow.
// Threads: a builder belongs to one call.
#pragma once

#include <algorithm>

#include "mpi/datatype.hpp"

namespace heddle::mpi {

// Sums and products that remember whether one of them did not fit.
class Checked {
 public:
  MPI_Count add(MPI_Count a, MPI_Count b) noexcept {
    MPI_Count r;
    overflow_ |= __builtin_add_overflow(a, b, &r);
    return r;
  }
  MPI_Count subtract(MPI_Count a, MPI_Count b) noexcept {
    MPI_Count r;
    overflow_ |= __builtin_sub_overflow(a, b, &r);
    return r;
  }
  MPI_Count multiply(MPI_Count a, MPI_Count b) noexcept {
    MPI_Count r;
    overflow_ |= __builtin_mul_overflow(a, b, &r);
    return r;
  }
  bool overflow() const noexcept { return overflow_; }

 private:
  bool overflow_ = false;
};

class TypeBuilder {
 public:
  // `wide`: the constructor took MPI_Count arguments, and MPI_Type_get_contents gives them back as such.
  TypeBuilder(int combiner, bool wide) : wide_(wide) { contents_.combiner = combiner; }

  // The record of the arguments, in the standard's order.
  void record(MPI_Count argument) {
    if (wide_) {
      contents_.counts.push_back(argument);
    } else {
      contents_.integers.push_back(static_cast<int>(argument));
    }
  }
  void record_address(MPI_Count argument) {
    if (wide_) {
      contents_.counts.push_back(argument);
    } else {
      contents_.addresses.push_back(argument);
    }
  }
  void record_int(int argument) { contents_.integers.push_back(argument); }
  // `times`: how often the type's signature follows the one before.
  void record_type(Datatype& type, MPI_Count times) {
    contents_.types.emplace_back(type);
    contents_.times.push_back(times);
  }

  // Places `count` blocks, `stride` bytes apart, the first at `displacement`, each of `length` items of `type`.
  void place(const Datatype& type, MPI_Count displacement, MPI_Count count, MPI_Count stride,
             MPI_Count length) noexcept;
  // Places `times` items whose displacements lie between `lowest` and `highest`, both included.
  void place_between(const Datatype& type, MPI_Count lowest, MPI_Count highest, MPI_Count times) noexcept;
  // Sets markers, whatever the components have.
  void mark(MPI_Count lb, MPI_Count extent) noexcept;

  Checked checked;
  LayoutMemory memory;
  bool ok() const noexcept { return !checked.overflow(); }

  // The record alone, for an object whose rest is another's.
  std::shared_ptr<const Contents> contents() { return std::make_shared<const Contents>(std::move(contents_)); }
  // The object, or MPI_ERR_COUNT for an overflow.
  Status finish(const Layout& layout, Datatype** out);

 private:
  bool wide_;
  Contents contents_;
  MPI_Count size_ = 0, elements_ = 0;
  bool has_data_ = false, has_markers_ = false;
  MPI_Count true_lb_ = 0, true_ub_ = 0;  // once there is data
  MPI_Count padded_ub_ = 0;              // of components without markers, with what their extents were rounded up by
  MPI_Count lb_ = 0, ub_ = 0;            // once there are markers
  Basic basic_ = Basic::kNone;
  std::uint8_t alignment_ = 1;
};

// Of the elements of an array: MPI_ORDER_C or MPI_ORDER_FORTRAN.
Status check_order(int order);

// Memory for a datatype; null when there is none left.
Datatype* take_datatype() noexcept;

// One more object that equals `type`, save name and attributes. MPI_ERR_NO_MEM.
Status clone(const Datatype& type, Datatype** out);

}  // namespace heddle::mpi
