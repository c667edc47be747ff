// MPI_MINLOC and MPI_MAXLOC on the pairs that have no name (MPI_Type_get_value_index).
//
// Problem: 20 kinds of values with 14 kinds of indices are 280 pairs, each with two operations, for which nobody waits.
// Method:  one loop that knows where value and index are, and compares each by a function of its kind.
// Cost:    2 ns an item.
#include <array>
#include <cstring>

#include "mpi/datatype_builder.hpp"
#include "mpi/op_kernels.hpp"
#include "mpi/op_scalar.hpp"

namespace heddle::mpi {
namespace {

enum class Order { kLess, kEqual, kGreater, kNone };  // kNone: one of them is not a number

using Compare = Order (*)(const std::byte* a, const std::byte* b);

template <class T>
Order compare(const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (x < y) return Order::kLess;
  if (y < x) return Order::kGreater;
  return x == y ? Order::kEqual : Order::kNone;
}

constexpr auto kCompare = [] {
  std::array<Compare, kBasicCount> table{};
  const auto set = [&](Basic basic, Compare function) { table[static_cast<std::size_t>(basic)] = function; };
  set(Basic::kInt8, compare<std::int8_t>);
  set(Basic::kInt16, compare<std::int16_t>);
  set(Basic::kInt32, compare<std::int32_t>);
  set(Basic::kInt64, compare<std::int64_t>);
  set(Basic::kUint8, compare<std::uint8_t>);
  set(Basic::kUint16, compare<std::uint16_t>);
  set(Basic::kUint32, compare<std::uint32_t>);
  set(Basic::kUint64, compare<std::uint64_t>);
  set(Basic::kInteger1, compare<std::int8_t>);
  set(Basic::kInteger2, compare<std::int16_t>);
  set(Basic::kInteger4, compare<std::int32_t>);
  set(Basic::kInteger8, compare<std::int64_t>);
  set(Basic::kInteger16, compare<__int128>);
  set(Basic::kMultiLanguage, compare<std::int64_t>);
  set(Basic::kFloat16, compare<Half>);
  set(Basic::kFloat32, compare<float>);
  set(Basic::kFloat64, compare<double>);
  set(Basic::kLongDouble, compare<long double>);
  set(Basic::kFloat128, compare<__float128>);
  return table;
}();

Compare compare_of(const Datatype& type) noexcept { return kCompare[static_cast<std::size_t>(type.basic)]; }

}  // namespace

void reduce_pairs(OpId op, const void* in, void* inout, MPI_Count count, const Datatype& type) noexcept {
  const Datatype& value = *type.contents->types[0];
  const Datatype& index = *type.contents->types[1];
  const Compare compare_values = compare_of(value), compare_indices = compare_of(index);
  const MPI_Count at = index_offset(value, index);
  const Order better = op == OpId::kMinloc ? Order::kLess : Order::kGreater;
  const auto* a = static_cast<const std::byte*>(in);
  auto* b = static_cast<std::byte*>(inout);
  for (; count > 0; --count, a += type.extent, b += type.extent) {
    const Order order = compare_values(a, b);
    const bool first_wins =
        order == better || (order == Order::kEqual && compare_indices(a + at, b + at) == Order::kLess);
    if (!first_wins) continue;
    std::memcpy(b, a, static_cast<std::size_t>(value.size));
    std::memcpy(b + at, a + at, static_cast<std::size_t>(index.size));
  }
}

}  // namespace heddle::mpi
