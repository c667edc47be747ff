// Number types that reductions need and C++ lacks: IEEE binary16, and complex numbers of any of the real types.
#pragma once

#include <bit>
#include <cstdint>

namespace heddle::mpi {

// IEEE binary16. Arithmetic is that of float, rounded to nearest even after each operation.
class Half {
 public:
  Half() = default;
  Half(float value) noexcept : bits_(round(value)) {}       // NOLINT: a number is a number
  operator float() const noexcept { return widen(bits_); }  // NOLINT
  friend Half operator+(Half a, Half b) noexcept { return Half(float(a) + float(b)); }
  friend Half operator-(Half a, Half b) noexcept { return Half(float(a) - float(b)); }
  friend Half operator*(Half a, Half b) noexcept { return Half(float(a) * float(b)); }
  friend bool operator<(Half a, Half b) noexcept { return float(a) < float(b); }

 private:
  //  sign 1 | exponent 5, bias 15 | fraction 10        against        sign 1 | exponent 8, bias 127 | fraction 23
  static float widen(std::uint16_t h) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000) << 16;
    const std::uint32_t rest = h & 0x7fff;
    if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest << 13));  // infinity, NaN
    if (rest >= 0x0400) return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
    const float magnitude = static_cast<float>(rest) * 0x1p-24f;  // subnormal: exact in float
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  static std::uint16_t round(float f) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const std::uint32_t rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return sign | 0x7e00;   // NaN
    if (rest >= 0x477ff000) return sign | 0x7c00;  // rounds to 2^16 or more
    if (rest >= 0x38800000) {                      // normal: 2^-14 or more
      const std::uint32_t odd = (rest >> 13) & 1;
      return static_cast<std::uint16_t>(sign | ((rest - (112u << 23) + 0xfff + odd) >> 13));
    }
    // Subnormal: adding 0.5 leaves the fraction in units of 2^-24 in the low bits, rounded by the hardware.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }

  std::uint16_t bits_;
};

// Products by the textbook formula, without C's recovery of infinities: Fortran's rules, and loops that vectorise.
template <class T>
struct Complex {
  T re, im;
  friend Complex operator+(Complex a, Complex b) noexcept { return {T(a.re + b.re), T(a.im + b.im)}; }
  friend Complex operator*(Complex a, Complex b) noexcept {
    return {T(a.re * b.re - a.im * b.im), T(a.re * b.im + a.im * b.re)};
  }
};

}  // namespace heddle::mpi
