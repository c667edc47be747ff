// The runs of typed data against the oracle and the pack engine: random types, and visits that stop anywhere.
#include "mpi/runs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "mpi/pack.hpp"
#include "mpi/type_map.hpp"

namespace heddle::mpi {
namespace {

using test::Entry;
using test::Typed;

// Each byte's displacement, in order.
std::vector<MPI_Count> bytes_of(const Typed& t, MPI_Count count) {
  std::vector<MPI_Count> offsets;
  for (MPI_Count i = 0; i < count; ++i) {
    for (const Entry& e : t.map.entries) {
      for (int k = 0; k < e.size; ++k) offsets.push_back(i * t.map.extent() + e.displacement + k);
    }
  }
  return offsets;
}

RC_GTEST_PROP(Runs, TheirBytesAreTheTypeMapsInOrder, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(0, 5);
  std::vector<MPI_Count> seen;
  for_each_run(t.type(), count, [&](MPI_Count offset, MPI_Count bytes) {
    for (MPI_Count k = 0; k < bytes; ++k) seen.push_back(offset + k);
    return bytes > 0;
  });
  RC_ASSERT(seen == bytes_of(t, count));
}

RC_GTEST_PROP(Runs, TheirBytesAreWhatIsPacked, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(0, 5);
  const std::vector<MPI_Count> offsets = bytes_of(t, count);
  const MPI_Count low = offsets.empty() ? 0 : *std::min_element(offsets.begin(), offsets.end());
  const MPI_Count high = offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end()) + 1;
  std::vector<std::byte> memory(static_cast<std::size_t>(high - low));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 31 + (i >> 8));
  PackCursor cursor;
  cursor.init(t.type(), count, memory.data() - low);
  std::vector<std::byte> packed(cursor.total());
  cursor.pack(packed.data(), packed.size());
  std::vector<std::byte> from_runs;
  for_each_run(t.type(), count, [&](MPI_Count offset, MPI_Count bytes) {
    const auto begin = memory.begin() + (offset - low);
    from_runs.insert(from_runs.end(), begin, begin + bytes);
    return true;
  });
  RC_ASSERT(from_runs == packed);
}

RC_GTEST_PROP(Runs, TheVisitStopsWhenItIsTold, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(1, 5);
  int all = 0, calls = 0;
  for_each_run(t.type(), count, [&](MPI_Count, MPI_Count) { return ++all > 0; });
  const int stop = test::pick(1, 10);
  for_each_run(t.type(), count, [&](MPI_Count, MPI_Count) { return ++calls < stop; });
  RC_ASSERT(calls == std::min(all, stop));
}

}  // namespace
}  // namespace heddle::mpi
