// The rows of an operation at the target against a byte map: random types, and elements with padding one by one.
#include "rma/operation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "mpi/type_map.hpp"

namespace heddle::rma {
namespace {

using mpi::test::Typed;

struct Row {
  std::uint64_t at;
  std::size_t bytes;
};

constexpr std::uint64_t kAt = 1'000'000;

std::vector<Row> rows_of(const Typed& t, MPI_Count count, const mpi::Datatype* element, std::size_t most = SIZE_MAX) {
  Operation operation{};
  operation.target_type = &t.type();
  operation.target_count = count;
  operation.at = kAt;
  operation.element = element;
  std::vector<Row> rows;
  for_each_row(operation, [&](std::uint64_t at, std::size_t bytes) {
    rows.push_back({at, bytes});
    return rows.size() < most;
  });
  return rows;
}

RC_GTEST_PROP(Rows, TheirBytesAreTheTypeMapsInOrder, ()) {
  const Typed t = mpi::test::random_type(mpi::test::pick(1, 5));
  const MPI_Count count = mpi::test::pick(0, 5);
  std::vector<std::uint64_t> expected, seen;
  for (MPI_Count i = 0; i < count; ++i) {
    for (const mpi::test::Entry& e : t.map.entries) {
      for (int k = 0; k < e.size; ++k) {
        expected.push_back(kAt + static_cast<std::uint64_t>(i * t.map.extent() + e.displacement + k));
      }
    }
  }
  for (const Row& row : rows_of(t, count, nullptr)) {
    for (std::size_t k = 0; k < row.bytes; ++k) seen.push_back(row.at + k);
  }
  RC_ASSERT(seen == expected);
}

Typed random_pair() {
  Typed pair;
  switch (mpi::test::pick(0, 3)) {
    case 0:
      pair.handle = MPI_SHORT_INT;
      pair.map.entries = {{0, 2, 2}, {4, 4, 4}};
      break;
    case 1:
      pair.handle = MPI_DOUBLE_INT;
      pair.map.entries = {{0, 8, 8}, {8, 4, 4}};
      break;
    default:
      pair.handle = MPI_LONG_DOUBLE_INT;
      pair.map.entries = {{0, 16, 16}, {16, 4, 4}};
      break;
  }
  return pair;
}

Typed around(const Typed& old) {
  switch (mpi::test::pick(0, 5)) {
    case 0:
      return mpi::test::random_vector(mpi::test::pick(0, 2) == 0, old);
    case 1:
      return mpi::test::random_subarray(old);
    case 2:
      return mpi::test::random_resized(old);
    default:
      return mpi::test::random_indexed(mpi::test::pick(0, 4), old);
  }
}

RC_GTEST_PROP(Rows, ElementsWithPaddingComeOneByOne, ()) {
  const Typed pair = random_pair();
  std::vector<Typed> types;
  types.push_back(around(pair));
  if (types.back().map.entries.size() < 40 && mpi::test::pick(0, 2) == 0) types.push_back(around(types.back()));
  const Typed& t = types.back();
  const MPI_Count count = mpi::test::pick(0, 4);
  std::vector<std::uint64_t> expected, seen;
  for (MPI_Count i = 0; i < count; ++i) {
    for (std::size_t e = 0; e < t.map.entries.size(); e += 2) {
      expected.push_back(kAt + static_cast<std::uint64_t>(i * t.map.extent() + t.map.entries[e].displacement));
    }
  }
  for (const Row& row : rows_of(t, count, &pair.type())) {
    RC_ASSERT(row.bytes == static_cast<std::size_t>(pair.type().size));
    seen.push_back(row.at);
  }
  RC_ASSERT(seen == expected);
  if (!expected.empty()) RC_ASSERT(rows_of(t, count, &pair.type(), 1).size() == 1u);
}

}  // namespace
}  // namespace heddle::rma
