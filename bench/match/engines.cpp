// Nanoseconds per post + arrive (or arrive + post, when messages come first), per engine, over the depth of the queue.
//
//   in_order   D receives outstanding, matched in the order of posting: what a deterministic program does
//   random     the same in random order: what many threads do to it
//   reversed   youngest first: the worst case of a list
//   unexpected D messages came first; receives take them in random order
//   wild_10    random, a tenth of the receives are ANY_SOURCE
//
// Nodes are requests of 256 bytes, spread over memory as a pool spreads them, so that a search costs its cache misses.
// Run: bench_match --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "match/matcher.hpp"

namespace heddle::match {
namespace {

struct alignas(64) Request : ReceiveNode {
  std::byte rest[192];
};
struct alignas(64) Header : MessageNode {
  std::byte rest[64];
};

enum class Order { kInOrder, kRandom, kReversed };

struct Program {
  Program(std::size_t depth, Order order, bool wild) : receives(depth), messages(depth), arrivals(depth) {
    std::mt19937 random(7);
    std::iota(arrivals.begin(), arrivals.end(), 0);
    std::vector<std::size_t> place = arrivals;
    std::shuffle(place.begin(), place.end(), random);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto n = static_cast<std::int32_t>(i);
      receives[place[i]].key = {1, wild && i % 10 == 0 ? kAnySource : n % 26, n};
      messages[place[i]].key = {1, n % 26, n};
      posted.push_back(&receives[place[i]]);
      arrived.push_back(&messages[place[i]]);
    }
    if (order == Order::kRandom) std::shuffle(arrivals.begin(), arrivals.end(), random);
    if (order == Order::kReversed) std::reverse(arrivals.begin(), arrivals.end());
    for (std::size_t i : arrivals) keys.push_back(arrived[i]->key);
  }

  std::vector<Request> receives;
  std::vector<Header> messages;
  std::vector<std::size_t> arrivals;
  std::vector<Request*> posted;
  std::vector<Header*> arrived;
  std::vector<Key> keys;  // of `arrivals`: a message's key is hot when it arrives
};

template <class E>
void expected(benchmark::State& state, E& engine, Order order, bool wild) {
  Program program(static_cast<std::size_t>(state.range(0)), order, wild);
  for (auto _ : state) {
    for (Request* receive : program.posted) benchmark::DoNotOptimize(engine.post(*receive));
    for (const Key& key : program.keys) benchmark::DoNotOptimize(engine.arrive(key));
  }
  if (engine.stats().posted.length != 0) state.SkipWithError("a receive was left over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class E>
void unexpected(benchmark::State& state, E& engine) {
  Program program(static_cast<std::size_t>(state.range(0)), Order::kRandom, false);
  for (auto _ : state) {
    for (Header* message : program.arrived) {
      benchmark::DoNotOptimize(engine.arrive(message->key));
      engine.add_unexpected(*message);
    }
    for (std::size_t i : program.arrivals) benchmark::DoNotOptimize(engine.post(*program.posted[i]));
  }
  if (engine.stats().unexpected.length != 0) state.SkipWithError("a message was left over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void register_for(EngineKind kind) {
  const auto add = [&](const char* shape, auto run) {
    const std::string name = std::string(name_of(kind)) + '/' + shape;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [kind, run](benchmark::State& state) {
                                   Matcher engine(kind);
                                   run(state, engine);
                                 })
        ->RangeMultiplier(4)
        ->Range(1, 4096)
        ->Arg(2)
        ->Arg(8)
        ->Arg(32);
  };
  add("in_order", [](benchmark::State& s, Matcher& e) { expected(s, e, Order::kInOrder, false); });
  add("random", [](benchmark::State& s, Matcher& e) { expected(s, e, Order::kRandom, false); });
  add("reversed", [](benchmark::State& s, Matcher& e) { expected(s, e, Order::kReversed, false); });
  add("wild_10", [](benchmark::State& s, Matcher& e) { expected(s, e, Order::kRandom, true); });
  add("unexpected", [](benchmark::State& s, Matcher& e) { unexpected(s, e); });
}

[[maybe_unused]] const bool registered = [] {
  register_for(EngineKind::kList);
  register_for(EngineKind::kHash);
  return true;
}();

}  // namespace
}  // namespace heddle::match
