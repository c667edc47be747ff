// Every sequence of operations over 2 sources × 2 tags with wildcards, up to a length at which every pair of wildcard
// classes has met in both queues: each engine gives exactly what the oracle gives.
#include <gtest/gtest.h>

#include "match/grid.hpp"
#include "match/oracle.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

// Instrumented or unoptimised, the last step of length would take minutes; it is taken in the plain build.
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kLess = 1;
#elif defined(__has_feature)
constexpr std::size_t kLess = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 1 : 0;
#else
constexpr std::size_t kLess = 0;
#endif

constexpr std::int32_t kSources[] = {0, 1, kAnySource};
constexpr std::int32_t kTags[] = {0, 1, kAnyTag};

std::vector<Op> posts_and_arrivals() {
  std::vector<Op> ops;
  for (std::int32_t source : kSources) {
    for (std::int32_t tag : kTags) {
      const Key key{1, source, tag};
      ops.push_back({Op::kPost, key});
      if (!has_wildcard(key)) ops.push_back({Op::kArrive, key});
    }
  }
  return ops;
}

// Adds what takes out of the middle. Extract goes through probe; symmetric keys need not be tried twice.
std::vector<Op> all_operations() {
  std::vector<Op> ops = posts_and_arrivals();
  for (unsigned n : {0u, 1u}) {
    ops.push_back({Op::kCancel, {}, n});
    ops.push_back({Op::kRemove, {}, n});
  }
  ops.push_back({Op::kExtract, {1, 0, 0}});
  ops.push_back({Op::kExtract, {1, 0, kAnyTag}});
  ops.push_back({Op::kExtract, {1, kAnySource, 1}});
  ops.push_back({Op::kExtract, {1, kAnySource, kAnyTag}});
  ops.push_back({Op::kProbe, {1, kAnySource, 0}});
  ops.push_back({Op::kPurge, {1, 0, 0}});
  ops.push_back({Op::kMigrate});
  return ops;
}

// All |alphabet|^length sequences; each step of each is compared, so shorter ones are covered as prefixes.
template <class E>
void run_all(const std::vector<Op>& alphabet, std::size_t length) {
  std::vector<std::size_t> digits(length, 0);
  std::vector<Op> ops(length, alphabet[0]);
  Twin<E> twin;
  for (;;) {
    const std::string difference = twin.run(ops);
    ASSERT_EQ(difference, "");
    std::size_t i = length;
    while (i > 0 && ++digits[i - 1] == alphabet.size()) {
      digits[--i] = 0;
      ops[i] = alphabet[0];
    }
    if (i == 0) return;
    ops[i - 1] = alphabet[digits[i - 1]];
  }
}

template <class E>
class Exhaustive : public testing::Test {};
TYPED_TEST_SUITE(Exhaustive, SmallEngines);

TYPED_TEST(Exhaustive, PostsAndArrivals) { run_all<TypeParam>(posts_and_arrivals(), 6 - kLess); }

TYPED_TEST(Exhaustive, AllOperations) { run_all<TypeParam>(all_operations(), 5 - kLess); }

TEST(Exhaustive, AllOperationsWithMigrations) { run_all<Matcher>(all_operations(), 4); }

}  // namespace
}  // namespace heddle::match
