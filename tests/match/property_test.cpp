// Random programs, long enough that tables grow and bins are shared: engines and oracle agree on the identity of every
// match. The key spaces are the ones that have broken hash functions and truncated keys before.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "match/grid.hpp"
#include "match/oracle.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

constexpr int kLongest = 200;  // operations; a table of bins then doubles a few times

struct Space {
  const char* name;
  int sources;
  int tags;
  int contexts;
  int wildcards;  // percent of receives' fields
  Key (*shape)(std::uint32_t context, int source, int tag);
  bool blocked = false;  // a receive and a message that nothing matches are the oldest of all
};

Key plain(std::uint32_t context, int source, int tag) { return {context, source, tag}; }
Key tag_is_source(std::uint32_t context, int source, int) { return {context, source, source}; }
Key equal_modulo_256(std::uint32_t context, int source, int tag) { return {context, source * 256, tag * 256 + 7}; }
Key blocked_by_other_context(std::uint32_t context, int source, int tag) {
  return {context == 0 ? 0xfffffff0u : 3u, source, tag};
}

constexpr Space kSpaces[] = {
    {"few keys", 3, 3, 1, 30, plain},
    {"many keys", 40, 40, 2, 10, plain},
    {"no wildcards", 6, 6, 2, 0, plain},
    {"tag = source", 60, 1, 1, 15, tag_is_source},
    {"equal modulo 256", 20, 20, 1, 15, equal_modulo_256},
    {"internal contexts", 3, 3, 4, 40, blocked_by_other_context},
    {"a blocker at the head", 20, 20, 1, 15, plain, true},
};

// rapidcheck starts with small values, which would leave out the operations that are listed last.
template <class T>
rc::Gen<T> full_range(T from, T to) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, to));
}

rc::Gen<Op> any_op(const Space& space) {
  return rc::gen::exec([&space] {
    const auto message_key = [&] {
      return space.shape(static_cast<std::uint32_t>(*full_range(0, space.contexts)), *full_range(0, space.sources),
                         *full_range(0, space.tags));
    };
    const auto receive_key = [&] {
      Key key = message_key();
      if (*full_range(0, 100) < space.wildcards) key.source = kAnySource;
      if (*full_range(0, 100) < space.wildcards) key.tag = kAnyTag;
      return key;
    };
    const int choice = *full_range(0, 100);
    if (choice < 38) return Op{Op::kPost, receive_key()};
    if (choice < 76) return Op{Op::kArrive, message_key()};
    if (choice < 84) return Op{Op::kCancel, {}, *full_range(0u, 150u)};
    if (choice < 89) return Op{Op::kProbe, receive_key()};
    if (choice < 94) return Op{Op::kExtract, receive_key()};
    if (choice < 97) return Op{Op::kRemove, {}, *full_range(0u, 150u)};
    if (choice < 99) return Op{Op::kMigrate, {}, *full_range(0u, 1000u)};
    return *full_range(0, 2) == 0 ? Op{Op::kDrain} : Op{Op::kPurge, message_key()};
  });
}

template <class E>
void check_space(const Space& space) {
  const bool ok = rc::check(std::string("engine equals oracle, ") + space.name, [&] {
    auto ops = *rc::gen::resize(kLongest, rc::gen::container<std::vector<Op>>(any_op(space)));
    if (space.blocked) ops.insert(ops.begin(), {{Op::kPost, {77, 1, 1}}, {Op::kArrive, {78, 1, 1}}});
    Twin<E> twin;
    RC_ASSERT(twin.run(ops) == "");
  });
  EXPECT_TRUE(ok);
}

template <class E>
class Property : public testing::Test {};
TYPED_TEST_SUITE(Property, EveryEngine);

TYPED_TEST(Property, EqualsOracle) {
  for (const Space& space : kSpaces) check_space<TypeParam>(space);
}

TEST(Property, EqualsOracleWithMigrations) {
  for (const Space& space : kSpaces) check_space<Matcher>(space);
}

}  // namespace
}  // namespace heddle::match
