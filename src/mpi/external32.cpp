#include "mpi/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "mpi/pack.hpp"

namespace heddle::mpi {
namespace {

static_assert(std::endian::native == std::endian::little, "every number is turned round");

enum class Turn : std::uint8_t { kSigned, kUnsigned, kLongDouble };

struct Part {
  std::uint8_t native;
  std::uint8_t external;
  Turn turn;
};

// A basic type: one part, or two. `native` and `external` are those of the whole.
struct Form {
  Part part[2];
  int parts;
  int native() const { return part[0].native + (parts == 2 ? part[1].native : 0); }
  int external() const { return part[0].external + (parts == 2 ? part[1].external : 0); }
};

constexpr Part kIndex = {4, 4, Turn::kSigned};
constexpr Part kLong = {8, 4, Turn::kSigned};
constexpr Part kLongDouble = {sizeof(long double), 16, Turn::kLongDouble};

constexpr Part number(int bytes) {
  return {static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(bytes), Turn::kUnsigned};
}

constexpr Form one(Part part) { return {{part, {}}, 1}; }
constexpr Form two(Part first, Part second) { return {{first, second}, 2}; }

// REQUIRES: predefined.
Form form_of(const Datatype& type) {
  const auto handle = reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(type.index()));
  if (handle == MPI_LONG) return one(kLong);
  if (handle == MPI_UNSIGNED_LONG) return one({8, 4, Turn::kUnsigned});
  if (handle == MPI_WCHAR) return one({sizeof(wchar_t), 2, Turn::kUnsigned});
  const int size = static_cast<int>(type.size);
  switch (type.basic) {
    case Basic::kLongDouble:
      return one(kLongDouble);
    case Basic::kComplexLongDouble:
      return two(kLongDouble, kLongDouble);
    case Basic::kLongInt:
      return two(kLong, kIndex);
    case Basic::kLongDoubleInt:
      return two(kLongDouble, kIndex);
    case Basic::kFloatInt:
    case Basic::kDoubleInt:
    case Basic::kShortInt:
    case Basic::kIntInt:
      return two(number(size - kIndex.native), kIndex);
    case Basic::kComplex16:
    case Basic::kComplex32:
    case Basic::kComplex64:
    case Basic::kComplex128:
    case Basic::kTwoReal:
    case Basic::kTwoDoublePrecision:
    case Basic::kTwoInteger:
      return two(number(size / 2), number(size / 2));
    default:
      return one(number(size));
  }
}

void turn_out(Part part, const std::byte* native, std::byte* external) {
  std::byte little[16];
  if (part.turn == Turn::kLongDouble) {
    long double value;
    std::memcpy(&value, native, sizeof value);
    const __float128 quad = value;
    std::memcpy(little, &quad, sizeof quad);
  } else {
    std::memcpy(little, native, part.native);  // what is too wide loses its upper bytes
  }
  std::reverse_copy(little, little + part.external, external);
}

void turn_in(Part part, const std::byte* external, std::byte* native) {
  std::byte little[16];
  std::reverse_copy(external, external + part.external, little);
  if (part.turn == Turn::kLongDouble) {
    __float128 quad;
    std::memcpy(&quad, little, sizeof quad);
    const auto value = static_cast<long double>(quad);
    std::memset(native, 0, sizeof value);
    std::memcpy(native, &value, 10);  // the rest is padding
    return;
  }
  const bool negative = part.turn == Turn::kSigned && (little[part.external - 1] & std::byte{0x80}) != std::byte{0};
  std::fill(little + part.external, little + sizeof little, negative ? std::byte{0xff} : std::byte{0});
  std::memcpy(native, little, part.native);
}

// Calls run(leaf, n) for each run of n basic items of one predefined type, in the order of the signature.
template <class Run>
void for_each_run(const Datatype& type, MPI_Count count, Run& run) {
  if (count == 0) return;
  if (type.predefined) return run(type, count);
  const Contents& c = *type.contents;
  if (c.types.size() == 1) return for_each_run(*c.types[0], count * c.times[0], run);
  for (MPI_Count item = 0; item < count; ++item) {
    for (std::size_t i = 0; i < c.types.size(); ++i) for_each_run(*c.types[i], c.times[i], run);
  }
}

// The native bytes of a run at a time that pass through the stack.
constexpr MPI_Count kChunk = 4096;

}  // namespace

MPI_Count external32_size(const Datatype& type, MPI_Count count) noexcept {
  MPI_Count bytes = 0;
  if (type.predefined) {
    bytes = form_of(type).external();
  } else {
    const Contents& c = *type.contents;
    for (std::size_t i = 0; i < c.types.size(); ++i) {
      if (__builtin_add_overflow(bytes, external32_size(*c.types[i], c.times[i]), &bytes)) return INT64_MAX;
    }
  }
  return __builtin_mul_overflow(bytes, count, &bytes) ? INT64_MAX : bytes;
}

void pack_external32(const Datatype& type, MPI_Count count, const void* from, std::byte* out) noexcept {
  PackCursor cursor;
  cursor.init(type, count, from);
  auto run = [&](const Datatype& leaf, MPI_Count n) {
    const Form form = form_of(leaf);
    std::byte chunk[kChunk];
    while (n > 0) {
      const MPI_Count now = std::min(n, kChunk / form.native());
      cursor.pack(chunk, static_cast<std::size_t>(now * form.native()));
      const std::byte* native = chunk;
      for (MPI_Count i = 0; i < now; ++i) {
        for (int p = 0; p < form.parts; ++p) {
          turn_out(form.part[p], native, out);
          native += form.part[p].native;
          out += form.part[p].external;
        }
      }
      n -= now;
    }
  };
  for_each_run(type, count, run);
}

void unpack_external32(const Datatype& type, MPI_Count count, void* to, const std::byte* in) noexcept {
  PackCursor cursor;
  cursor.init(type, count, to);
  auto run = [&](const Datatype& leaf, MPI_Count n) {
    const Form form = form_of(leaf);
    std::byte chunk[kChunk];
    while (n > 0) {
      const MPI_Count now = std::min(n, kChunk / form.native());
      std::byte* native = chunk;
      for (MPI_Count i = 0; i < now; ++i) {
        for (int p = 0; p < form.parts; ++p) {
          turn_in(form.part[p], in, native);
          native += form.part[p].native;
          in += form.part[p].external;
        }
      }
      cursor.unpack(chunk, static_cast<std::size_t>(now * form.native()));
      n -= now;
    }
  };
  for_each_run(type, count, run);
}

}  // namespace heddle::mpi
