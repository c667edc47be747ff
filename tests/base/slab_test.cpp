#include "base/slab.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace heddle {
namespace {

struct Thing {
  explicit Thing(std::uint64_t k) noexcept : kind(k) {}
  ~Thing() { *const_cast<volatile std::uint64_t*>(&kind) = 0xDEAD; }
  std::uint64_t kind;
  std::uint64_t rest[5] = {};
};

TEST(Slab, WhatWasGivenBackStaysReadableAndIsTakenAgain) {
  Slab<Thing, 4> slab;
  Thing* thing = slab.take(7u);
  EXPECT_EQ(thing->kind, 7u);
  slab.give_back(thing);
  EXPECT_EQ(*reinterpret_cast<volatile std::uint64_t*>(thing), 0xDEADu);
  EXPECT_EQ(slab.take(8u), thing);
  slab.give_back(thing);
}

TEST(Slab, LiveObjectsAreApart) {
  Slab<Thing, 4> slab;
  std::vector<Thing*> things;
  for (std::uint64_t i = 0; i < 100; ++i) things.push_back(slab.take(i));
  EXPECT_EQ(std::set<Thing*>(things.begin(), things.end()).size(), 100u);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(things[i]->kind, i);
  for (Thing* thing : things) slab.give_back(thing);
}

TEST(Slab, TheNextOneInheritsTheMemory) {
  struct Own : Thing {  // a type that no other test has slabs of
    using Thing::Thing;
  };
  std::set<Own*> seen;
  for (int life = 0; life < 10; ++life) {
    Slab<Own, 4> slab;
    std::vector<Own*> things;
    for (std::uint64_t i = 0; i < 10; ++i) things.push_back(slab.take(i));
    seen.insert(things.begin(), things.end());
    for (Own* thing : things) slab.give_back(thing);
  }
  EXPECT_LE(seen.size(), 12u) << "three chunks are enough for ten objects, however often";
}

TEST(Slab, SlabsOfSeveralThreadsComeAndGo) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int life = 0; life < 200; ++life) {
        Slab<Thing, 4> slab;
        Thing* a = slab.take(1u);
        Thing* b = slab.take(2u);
        ASSERT_NE(a, b);
        ASSERT_EQ(a->kind, 1u);
        slab.give_back(a);
        slab.give_back(b);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace heddle
