// MPI_Dims_create against every way to write a number as a product.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "comm/api_topology.hpp"

namespace heddle {
namespace {

using Dims = std::vector<int>;

Dims create(int nodes, int ndims) {
  Dims dims(static_cast<std::size_t>(ndims), 0);
  EXPECT_TRUE(api::dims_create(nodes, ndims, dims.data()));
  return dims;
}

int spread(const Dims& dims) { return dims.front() - dims.back(); }

// Every non-increasing sequence with this product.
template <class Visit>
void for_each_product(int rest, int limit, std::size_t open, Dims& chosen, Visit visit) {
  if (open == 0) {
    if (rest == 1) visit(chosen);
    return;
  }
  for (int factor = 1; factor <= rest && factor <= limit; ++factor) {
    if (rest % factor != 0) continue;
    chosen.push_back(factor);
    for_each_product(rest / factor, factor, open - 1, chosen, visit);
    chosen.pop_back();
  }
}

void expect_the_most_balanced(int nodes, int ndims) {
  Dims best, chosen;
  for_each_product(nodes, nodes, static_cast<std::size_t>(ndims), chosen, [&](const Dims& dims) {
    // Of two with one spread, the one whose smallest factors are larger.
    if (best.empty() || spread(dims) < spread(best) ||
        (spread(dims) == spread(best) && Dims(best.rbegin(), best.rend()) < Dims(dims.rbegin(), dims.rend())))
      best = dims;
  });
  EXPECT_EQ(create(nodes, ndims), best) << nodes << " in " << ndims;
}

TEST(Dims, AreTheMostBalancedOnes) {
  for (int ndims = 1; ndims <= 4; ++ndims) {
    for (int nodes = 1; nodes <= 300; ++nodes) expect_the_most_balanced(nodes, ndims);
  }
}

// Where the smallest largest factor is not the one to take, or not with the smallest second one.
TEST(Dims, AreNotTheFirstFound) {
  for (int nodes : {4620, 5850, 7488}) expect_the_most_balanced(nodes, 3);
  for (int nodes : {3600, 3960, 4680}) expect_the_most_balanced(nodes, 4);
}

TEST(Dims, TakeNoTimeForNumbersWithManyDivisors) {
  const auto start = std::chrono::steady_clock::now();
  for (int nodes : {2147483647, 2095133040, 1396755360, 735134400, 1 << 30, 1162261467, 1073741789, 223092870}) {
    for (int ndims = 1; ndims <= 32; ++ndims) {
      const Dims dims = create(nodes, ndims);
      long product = 1;
      for (int d : dims) product *= d;
      EXPECT_EQ(product, nodes);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace heddle
