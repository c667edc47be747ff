// What a predefined operation makes of two items. Integers wrap around.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace heddle::mpi::apply {

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

template <class T>
concept Integer = std::is_integral_v<T> || std::is_same_v<T, __int128>;

// Wide enough not to be promoted, and without undefined overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 16, unsigned __int128,
                                    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

struct Sum {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (Integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Prod {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (Integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};
// Of these the result is one of the operands, the left one where takes_left() says so.
struct Min {
  template <class T>
  static bool takes_left(T a, T b) noexcept {
    return a < b;
  }
  template <class T>
  static T apply(T a, T b) noexcept {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static bool takes_left(T a, T b) noexcept {
    return b < a;
  }
  template <class T>
  static T apply(T a, T b) noexcept {
    return b < a ? a : b;
  }
};
// Without short cuts, which would be branches.
struct Land {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct Lor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct Lxor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct Band {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

// The smaller index where the values are equal. Without branches: data are seldom in order.
struct Minloc {
  static constexpr bool kSmaller = true;
  template <class P>
  static bool takes_left(P a, P b) noexcept {
    return (a.value < b.value) | ((a.value == b.value) & (a.index < b.index));
  }
  template <class V, class I>
  static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) noexcept {
    const I smaller = a.index < b.index ? a.index : b.index;
    const I own = a.value < b.value ? a.index : b.index;
    return {a.value < b.value ? a.value : b.value, a.value == b.value ? smaller : own};
  }
};
struct Maxloc {
  static constexpr bool kSmaller = false;
  template <class P>
  static bool takes_left(P a, P b) noexcept {
    return (b.value < a.value) | ((a.value == b.value) & (a.index < b.index));
  }
  template <class V, class I>
  static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) noexcept {
    const I smaller = a.index < b.index ? a.index : b.index;
    const I own = b.value < a.value ? a.index : b.index;
    return {b.value < a.value ? a.value : b.value, a.value == b.value ? smaller : own};
  }
};

}  // namespace heddle::mpi::apply
