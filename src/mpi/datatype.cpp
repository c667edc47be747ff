#include "mpi/datatype.hpp"

#include <array>
#include <utility>

#include "base/slab.hpp"
#include "mpi/attribute.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

struct Row {
  std::uint16_t value;  // of the ABI's constant
  const char* name;
  Basic basic;
  std::uint8_t size;
  std::uint8_t extent;
  std::uint8_t alignment;
};

template <class T>
constexpr Row row(std::uint16_t value, const char* name, Basic basic) {
  return {value, name, basic, sizeof(T), sizeof(T), alignof(T)};
}
// A C struct of a value and an int. Its size leaves the padding out, its extent does not.
template <class T>
constexpr Row pair(std::uint16_t value, const char* name, Basic basic) {
  struct Pair {
    T value;
    int index;
  };
  return {value, name, basic, sizeof(T) + sizeof(int), sizeof(Pair), alignof(Pair)};
}

template <std::size_t kBytes>
constexpr Basic signed_of() {
  return kBytes == 1 ? Basic::kInt8 : kBytes == 2 ? Basic::kInt16 : kBytes == 4 ? Basic::kInt32 : Basic::kInt64;
}
template <class T>
constexpr Row integer(std::uint16_t value, const char* name) {
  constexpr Basic kSigned = signed_of<sizeof(T)>();
  constexpr int kToUnsigned = static_cast<int>(Basic::kUint8) - static_cast<int>(Basic::kInt8);
  constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);
  return row<T>(value, name, kIsSigned ? kSigned : static_cast<Basic>(static_cast<int>(kSigned) + kToUnsigned));
}

template <class T>
struct Two {
  T re, im;
};

// Fortran's default kinds are gfortran's: 4 bytes for INTEGER, LOGICAL and REAL. REAL(2) is IEEE binary16, REAL(16) is
// IEEE binary128.
constexpr Row kRows[] = {
    row<MPI_Aint>(0x201, "MPI_AINT", Basic::kMultiLanguage),
    row<MPI_Count>(0x202, "MPI_COUNT", Basic::kMultiLanguage),
    row<MPI_Offset>(0x203, "MPI_OFFSET", Basic::kMultiLanguage),
    row<char>(0x207, "MPI_PACKED", Basic::kPacked),
    integer<short>(0x208, "MPI_SHORT"),
    integer<int>(0x209, "MPI_INT"),
    integer<long>(0x20a, "MPI_LONG"),
    integer<long long>(0x20b, "MPI_LONG_LONG_INT"),
    integer<unsigned short>(0x20c, "MPI_UNSIGNED_SHORT"),
    integer<unsigned>(0x20d, "MPI_UNSIGNED"),
    integer<unsigned long>(0x20e, "MPI_UNSIGNED_LONG"),
    integer<unsigned long long>(0x20f, "MPI_UNSIGNED_LONG_LONG"),
    row<float>(0x210, "MPI_FLOAT", Basic::kFloat32),
    row<Two<float>>(0x212, "MPI_C_COMPLEX", Basic::kComplex32),
    row<Two<float>>(0x213, "MPI_CXX_FLOAT_COMPLEX", Basic::kComplex32),
    row<double>(0x214, "MPI_DOUBLE", Basic::kFloat64),
    row<Two<double>>(0x216, "MPI_C_DOUBLE_COMPLEX", Basic::kComplex64),
    row<Two<double>>(0x217, "MPI_CXX_DOUBLE_COMPLEX", Basic::kComplex64),
    row<std::int32_t>(0x218, "MPI_LOGICAL", Basic::kLogical4),
    row<std::int32_t>(0x219, "MPI_INTEGER", Basic::kInteger4),
    row<float>(0x21a, "MPI_REAL", Basic::kFloat32),
    row<Two<float>>(0x21b, "MPI_COMPLEX", Basic::kComplex32),
    row<double>(0x21c, "MPI_DOUBLE_PRECISION", Basic::kFloat64),
    row<Two<double>>(0x21d, "MPI_DOUBLE_COMPLEX", Basic::kComplex64),
    row<char>(0x21e, "MPI_CHARACTER", Basic::kText),
    row<long double>(0x220, "MPI_LONG_DOUBLE", Basic::kLongDouble),
    row<Two<long double>>(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Basic::kComplexLongDouble),
    row<Two<long double>>(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Basic::kComplexLongDouble),
    pair<float>(0x228, "MPI_FLOAT_INT", Basic::kFloatInt),
    pair<double>(0x229, "MPI_DOUBLE_INT", Basic::kDoubleInt),
    pair<long>(0x22a, "MPI_LONG_INT", Basic::kLongInt),
    pair<int>(0x22b, "MPI_2INT", Basic::kIntInt),
    pair<short>(0x22c, "MPI_SHORT_INT", Basic::kShortInt),
    pair<long double>(0x22d, "MPI_LONG_DOUBLE_INT", Basic::kLongDoubleInt),
    row<Two<float>>(0x230, "MPI_2REAL", Basic::kTwoReal),
    row<Two<double>>(0x231, "MPI_2DOUBLE_PRECISION", Basic::kTwoDoublePrecision),
    row<Two<std::int32_t>>(0x232, "MPI_2INTEGER", Basic::kTwoInteger),
    row<bool>(0x238, "MPI_C_BOOL", Basic::kBool),
    row<bool>(0x239, "MPI_CXX_BOOL", Basic::kBool),
    row<wchar_t>(0x23c, "MPI_WCHAR", Basic::kWideText),
    integer<std::int8_t>(0x240, "MPI_INT8_T"),
    integer<std::uint8_t>(0x241, "MPI_UINT8_T"),
    row<char>(0x243, "MPI_CHAR",
              Basic::kInt8),  // programs do arithmetic on it, though MPI 5.0, 6.9.2 names no such operation
    integer<signed char>(0x244, "MPI_SIGNED_CHAR"),
    integer<unsigned char>(0x245, "MPI_UNSIGNED_CHAR"),
    row<unsigned char>(0x247, "MPI_BYTE", Basic::kByte),
    integer<std::int16_t>(0x248, "MPI_INT16_T"),
    integer<std::uint16_t>(0x249, "MPI_UINT16_T"),
    integer<std::int32_t>(0x250, "MPI_INT32_T"),
    integer<std::uint32_t>(0x251, "MPI_UINT32_T"),
    integer<std::int64_t>(0x258, "MPI_INT64_T"),
    integer<std::uint64_t>(0x259, "MPI_UINT64_T"),
    row<std::int8_t>(0x2c0, "MPI_LOGICAL1", Basic::kLogical1),
    row<std::int8_t>(0x2c1, "MPI_INTEGER1", Basic::kInteger1),
    row<std::int16_t>(0x2c8, "MPI_LOGICAL2", Basic::kLogical2),
    row<std::int16_t>(0x2c9, "MPI_INTEGER2", Basic::kInteger2),
    row<std::int16_t>(0x2ca, "MPI_REAL2", Basic::kFloat16),
    row<std::int32_t>(0x2d0, "MPI_LOGICAL4", Basic::kLogical4),
    row<std::int32_t>(0x2d1, "MPI_INTEGER4", Basic::kInteger4),
    row<float>(0x2d2, "MPI_REAL4", Basic::kFloat32),
    row<Two<std::int16_t>>(0x2d3, "MPI_COMPLEX4", Basic::kComplex16),
    row<std::int64_t>(0x2d8, "MPI_LOGICAL8", Basic::kLogical8),
    row<std::int64_t>(0x2d9, "MPI_INTEGER8", Basic::kInteger8),
    row<double>(0x2da, "MPI_REAL8", Basic::kFloat64),
    row<Two<float>>(0x2db, "MPI_COMPLEX8", Basic::kComplex32),
    row<__int128>(0x2e0, "MPI_LOGICAL16", Basic::kLogical16),
    row<__int128>(0x2e1, "MPI_INTEGER16", Basic::kInteger16),
    row<__float128>(0x2e2, "MPI_REAL16", Basic::kFloat128),
    row<Two<double>>(0x2e3, "MPI_COMPLEX16", Basic::kComplex64),
    row<Two<__float128>>(0x2eb, "MPI_COMPLEX32", Basic::kComplex128),
};
constexpr std::size_t kTypes = std::size(kRows);

constexpr Block kShortIntBlocks[] = {{0, 0}, {sizeof(short), alignof(int)}, {sizeof(short) + sizeof(int), 0}};

// A datatype that is there before any code runs and stays until the last.
union Slot {
  constexpr explicit Slot(const Row& r) noexcept : type(r.value) {
    type.committed = true;
    type.predefined = true;
    type.contiguous = r.size == r.extent;
    type.basic = r.basic;
    type.alignment = r.alignment;
    type.size = r.size;
    type.extent = r.extent;
    type.true_extent = r.size;
    type.elements = is_pair(r.basic) ? 2 : 1;
    type.most = most_items(r.size, r.extent);
    type.layout = block_layout(0, r.size);
    if (r.basic == Basic::kShortInt) {
      type.true_extent = r.extent;
      type.contiguous = false;
      type.layout.node.kind = Node::kBlocks;
      type.layout.node.count = 2;
      type.layout.node.blocks = kShortIntBlocks;
    }
    type.predefined_name = r.name;
  }
  ~Slot() {}  // the type is never destroyed

  Datatype type;
};

template <class Indices>
struct Slots;
template <std::size_t... i>
struct Slots<std::index_sequence<i...>> {
  Slot slot[kTypes] = {Slot(kRows[i])...};
};
constinit Slots<std::make_index_sequence<kTypes>> slots;

constexpr auto kSlotOfValue = [] {
  std::array<std::uint8_t, 256> slot_of{};  // 0: none; otherwise the slot plus one
  for (std::size_t i = 0; i < kTypes; ++i) slot_of[kRows[i].value - kFirstDatatype] = static_cast<std::uint8_t>(i + 1);
  return slot_of;
}();
constexpr std::size_t kByteSlot = kSlotOfValue[0x247 - kFirstDatatype] - 1;

SharedSlab<Datatype>& derived_types() {
  static auto& slab = *new SharedSlab<Datatype>;
  return slab;
}

}  // namespace

constinit const std::array<Datatype*, 256> predefined_datatypes = [] {
  std::array<Datatype*, 256> types{};
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (kSlotOfValue[i] != 0) types[i] = &slots.slot[kSlotOfValue[i] - 1].type;
  }
  return types;
}();

constinit const std::array<std::uint8_t, 256> predefined_sizes = [] {
  std::array<std::uint8_t, 256> sizes{};
  for (const Row& r : kRows) {
    if (r.size == r.extent) sizes[r.value - kFirstDatatype] = static_cast<std::uint8_t>(r.size);
  }
  return sizes;
}();

Datatype& byte_type() noexcept { return slots.slot[kByteSlot].type; }

const Datatype& element_of(const Datatype& type) noexcept {
  if (type.is_predefined()) return type;
  for (std::size_t i = 0; i < kTypes; ++i) {
    if (kRows[i].basic == type.basic) return slots.slot[i].type;
  }
  return byte_type();
}

Datatype* take_datatype() noexcept { return derived_types().take(); }

// A type may hold the last reference of another, and so on for as long a chain as the user cares to make: so this is a
// loop, and what a destructor lets go meanwhile only joins the list.
void destroy(Datatype& type) noexcept {
  thread_local Datatype* pending = nullptr;
  thread_local bool busy = false;
  type.next_dead = pending;
  pending = &type;
  if (busy) return;
  busy = true;
  while (pending != nullptr) {
    Datatype* next = pending;
    pending = next->next_dead;
    drop_attributes(next->attributes);
    derived_types().give_back(next);
  }
  busy = false;
}

}  // namespace heddle::mpi
