// What several threads add and one takes away, all of it at once.
//
// Method:  a stack through the elements' own links. Nothing is ever popped alone, so an element that comes back at once, at the same
//          address, does no harm. Who only reads may walk it from first() on while others push, if nobody takes.
// Threads: any.
// Order:   push() releases what its thread wrote into the element; take_oldest_first() and first() acquire it.
// Cost:    a compare-and-swap to add, an exchange to take all.
#pragma once

#include "base/atomics.hpp"

namespace heddle {

template <class T, T* T::*kNext, class Atomics = StdAtomics>
class BasicPushStack {
 public:
  void push(T& element) noexcept {
    T* below = top_.load(std::memory_order_relaxed);
    do {
      Atomics::writes(&(element.*kNext), sizeof(T*));
      element.*kNext = below;
    } while (!top_.compare_exchange_weak(below, &element, std::memory_order_release, std::memory_order_relaxed));
  }

  // The same where one thread at a time is about, as the program orders them.
  void push_alone(T& element) noexcept {
    Atomics::writes(&(element.*kNext), sizeof(T*));
    element.*kNext = top_.load(std::memory_order_relaxed);
    top_.store(&element, std::memory_order_relaxed);
  }

  // Whether there is nothing to take, so far as is known.
  bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }
  // The newest; below it the older ones.
  T* first() const noexcept { return top_.load(std::memory_order_acquire); }

  // The oldest, linked to younger ones; null: there is none.
  T* take_oldest_first() noexcept {
    T* element = top_.exchange(nullptr, std::memory_order_acquire);
    T* oldest = nullptr;
    while (element != nullptr) {
      Atomics::writes(&(element->*kNext), sizeof(T*));
      T* const below = element->*kNext;
      element->*kNext = oldest;
      oldest = element;
      element = below;
    }
    return oldest;
  }

 private:
  typename Atomics::template atomic<T*> top_{nullptr};
};
template <class T, T* T::*kNext>
using PushStack = BasicPushStack<T, kNext>;

}  // namespace heddle
