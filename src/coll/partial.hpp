// A partial result that takes in one operand after the other, in rank order, without needless copies.
//
// Problem: an operation is `inout = in op inout` with `in` from the lower ranks, so when the operand comes from a
//          higher rank the sum moves to where the operand was received; and the user's send buffer must not be written.
// Method:  two buffers, the user's receive buffer first where there is one. The own operand is copied only when it has
//          to be the `inout`.
#pragma once

#include "coll/schedule.hpp"

namespace heddle::coll {

class Partial {
 public:
  enum Side { kLower, kHigher };

  // `result` may be missing (no type), or own's memory (MPI_IN_PLACE).
  Partial(Schedule& s, Op& op, Buffer own, Buffer result) noexcept
      : schedule_(s), op_(op), value_(own), result_(result), writable_(is_in_result()) {}

  Buffer value() const noexcept { return value_; }

  // Where to receive the next operand, which comes from this side. REQUIRES: absorb() of the one before.
  Buffer operand(Side side) noexcept {
    if (side == kLower && !writable_) {
      const Buffer copy = spare();
      schedule_.copy(value_, copy);
      value_ = copy;
      writable_ = true;
    }
    return spare();
  }

  // value = value op operand, or operand op value. REQUIRES: the operand has been received, the value is not being
  // sent.
  void absorb(Buffer operand, Side side) noexcept {
    if (side == kLower) {
      schedule_.reduce(op_, operand, value_);
    } else {
      schedule_.reduce(op_, value_, operand);
      value_ = operand;
      writable_ = true;
    }
  }

  // Puts the value into the result. REQUIRES: there is one.
  void deliver() noexcept {
    if (is_in_result()) return;
    schedule_.copy(value_, result_);
    value_ = result_;
  }

 private:
  bool is_in_result() const noexcept { return result_.type != nullptr && value_.data == result_.data; }

  // A buffer that is free: not the value's.
  Buffer spare() noexcept {
    if (result_.type != nullptr && !is_in_result()) return result_;
    for (Buffer& b : scratch_) {
      if (b.type == nullptr) b = schedule_.scratch(value_.count, *value_.type);
      if (b.data != value_.data) return b;
    }
    return scratch_[0];  // memory has run out
  }

  Schedule& schedule_;
  Op& op_;
  Buffer value_;
  Buffer result_;
  bool writable_;
  Buffer scratch_[2];
};

}  // namespace heddle::coll
