// The Atomics policy (base/atomics.hpp) of a program that runs under the model: see scheduler.hpp.
//
// atomic<T> is a T: its past lies in the scheduler, by address, so structures keep their layout, and zeroed memory that
// was never constructed works as it does on the machine. Outside of an execution it is a plain variable.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/model/scheduler.hpp"

namespace heddle::model {

struct ModelAtomics {
  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

   public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    atomic() noexcept : atomic(T{}) {}
    atomic(T value) noexcept : value_(value) {
      if (Scheduler* s = Scheduler::current()) s->born(&value_);
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
      Scheduler* s = step();
      return s ? from_bits(s->load(&value_, bits(value_), order)) : value_;
    }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
      if (Scheduler* s = step()) s->store(&value_, bits(value_), bits(value), order);
      value_ = value;
    }
    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([value](T) { return value; }, order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      Scheduler* s = step();
      if (s == nullptr) {
        if (bits(value_) == bits(expected)) return value_ = desired, true;
        return expected = value_, false;
      }
      if (const auto other =
              s->compare_exchange(&value_, bits(value_), bits(expected), bits(desired), success, failure)) {
        return expected = from_bits(*other), false;
      }
      return value_ = desired, true;
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return compare_exchange_strong(expected, desired, order, as_load(order));
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
      return compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return compare_exchange_strong(expected, desired, order);
    }

    template <class U>
    T fetch_add(U n, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([n](T v) { return static_cast<T>(v + n); }, order);
    }
    template <class U>
    T fetch_sub(U n, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([n](T v) { return static_cast<T>(v - n); }, order);
    }
    T fetch_or(T n, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([n](T v) { return static_cast<T>(v | n); }, order);
    }
    T fetch_and(T n, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([n](T v) { return static_cast<T>(v & n); }, order);
    }
    T fetch_xor(T n, std::memory_order order = std::memory_order_seq_cst) noexcept {
      return update([n](T v) { return static_cast<T>(v ^ n); }, order);
    }

    operator T() const noexcept { return load(); }
    T operator=(T value) noexcept { return store(value), value; }

    // The newest value, for the policy's own functions.
    std::uint64_t newest_bits() const noexcept { return bits(value_); }
    static std::uint64_t bits(T value) noexcept {
      std::uint64_t out = 0;
      std::memcpy(&out, &value, sizeof value);
      return out;
    }

   private:
    static T from_bits(std::uint64_t value) noexcept {
      T out;
      std::memcpy(static_cast<void*>(&out), &value, sizeof out);
      return out;
    }
    static constexpr std::memory_order as_load(std::memory_order order) noexcept {
      return order == std::memory_order_acq_rel   ? std::memory_order_acquire
             : order == std::memory_order_release ? std::memory_order_relaxed
                                                  : order;
    }
    template <class F>
    T update(F f, std::memory_order order) noexcept {
      Scheduler* s = step();
      const T value = f(value_);
      if (s != nullptr) s->exchange(&value_, bits(value_), bits(value), order);
      return std::exchange(value_, value);
    }

    T value_;
  };

  static void fence(std::memory_order order) noexcept { step()->fence(order); }
  static void heavy_fence() noexcept { step()->fence_everywhere(); }
  static void light_fence() noexcept {}  // the model executes each thread in program order
  static void pause() noexcept { Scheduler::current()->pause(); }
  static void yield() noexcept { pause(); }
  static void reads(const void* address, std::size_t bytes) noexcept { plain(address, bytes, false); }
  static void writes(const void* address, std::size_t bytes) noexcept { plain(address, bytes, true); }

  // A sleep with a time limit ends early only when nothing else can happen. Without one (nanoseconds < 0) it then is a
  // lost wake-up.
  template <class T>
  static void futex_wait(const atomic<T>& word, T expected, std::int64_t nanoseconds) noexcept {
    Scheduler* s = step();
    s->wait(&word, word.newest_bits(), atomic<T>::bits(expected), nanoseconds >= 0);
  }
  template <class T>
  static void futex_wake(const atomic<T>& word, int how_many) noexcept {
    step()->wake(&word, how_many);
  }

 private:
  // Lets others run first, so that what the caller then reads of a variable is its newest value.
  static Scheduler* step() noexcept {
    Scheduler* s = Scheduler::current();
    if (s != nullptr) s->step();
    return s;
  }
  static void plain(const void* address, std::size_t bytes, bool write) noexcept {
    if (Scheduler* s = Scheduler::current()) s->plain(address, bytes, write);
  }
};

// Plain memory of a test that notes each access.
template <class T>
class Plain {
 public:
  Plain() = default;
  explicit Plain(T value) : value_(value) {}
  T get() const {
    ModelAtomics::reads(&value_, sizeof value_);
    return value_;
  }
  void set(T value) {
    ModelAtomics::writes(&value_, sizeof value_);
    value_ = value;
  }

 private:
  T value_{};
};

}  // namespace heddle::model
