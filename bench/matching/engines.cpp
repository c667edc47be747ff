// Nanoseconds per post + arrive, and per arrive + post when messages come first, per engine, over the depth of the queue.
//
//   expected/<order>/<wild>    D receives outstanding, matched in the order of posting, in random or in reversed order;
//   unexpected/<order>/<wild>  D messages came first, and receives take them in that order;
//                              0, 1 or 10 % of the receives name any source
//   cold/<order>/0             as expected, after a walk through memory that has pushed the queue out of the second-level
//                              cache: the arrivals alone
//
// Nodes are requests of 256 bytes, spread over memory as a pool spreads them, so that a search costs its cache misses.
// Run: bench_match --benchmark_filter='expected/random/0' --benchmark_min_time=0.05 --benchmark_out=engines.json
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "match/adaptive.hpp"
#include "match/block_engine.hpp"
#include "match/grid.hpp"
#include "match/hash.hpp"
#include "match/list.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

struct alignas(64) Request : ReceiveNode {
  std::byte rest[192];
};
struct alignas(64) Header : MessageNode {
  std::byte rest[64];
};

enum class Order { kInOrder, kRandom, kReversed };
constexpr struct {
  Order order;
  const char* name;
} kOrders[] = {{Order::kInOrder, "in_order"}, {Order::kRandom, "random"}, {Order::kReversed, "reversed"}};

struct Program {
  Program(std::size_t depth, Order order, unsigned wild) : receives(depth), messages(depth), arrivals(depth) {
    std::mt19937 random(7);
    std::iota(arrivals.begin(), arrivals.end(), 0);
    std::vector<std::size_t> place = arrivals;
    std::shuffle(place.begin(), place.end(), random);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto n = static_cast<std::int32_t>(i);
      receives[place[i]].key = {1, random() % 100 < wild ? kAnySource : n % 26, n};
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

std::size_t depth_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

template <class E>
void expected(benchmark::State& state, Order order, unsigned wild) {
  const auto engine = std::make_unique<E>();
  Program program(depth_of(state), order, wild);
  for (auto _ : state) {
    for (Request* receive : program.posted) benchmark::DoNotOptimize(engine->post(*receive));
    for (const Key& key : program.keys) benchmark::DoNotOptimize(engine->arrive(key));
  }
  if (engine->stats().posted.length != 0) state.SkipWithError("a receive was left over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class E>
void unexpected(benchmark::State& state, Order order, unsigned wild) {
  const auto engine = std::make_unique<E>();
  Program program(depth_of(state), order, wild);
  for (auto _ : state) {
    for (Header* message : program.arrived) {
      benchmark::DoNotOptimize(engine->arrive(message->key));
      engine->add_unexpected(*message);
    }
    for (std::size_t i : program.arrivals) benchmark::DoNotOptimize(engine->post(*program.posted[i]));
  }
  if (engine->stats().unexpected.length != 0) state.SkipWithError("a message was left over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class E>
void cold(benchmark::State& state, Order order) {
  const auto engine = std::make_unique<E>();
  Program program(depth_of(state), order, 0);
  std::vector<std::uint64_t> others(std::size_t{8} << 20 >> 3);  // 8 MiB, more than any second-level cache
  std::uint64_t sum = 0;
  for (auto _ : state) {
    for (Request* receive : program.posted) benchmark::DoNotOptimize(engine->post(*receive));
    for (std::uint64_t& word : others) sum += ++word;
    benchmark::DoNotOptimize(sum);
    const auto start = std::chrono::steady_clock::now();
    for (const Key& key : program.keys) benchmark::DoNotOptimize(engine->arrive(key));
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  if (engine->stats().posted.length != 0) state.SkipWithError("a receive was left over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class E>
void register_for(const std::string& engine) {
  const auto add = [&](const std::string& shape, auto run) {
    return benchmark::RegisterBenchmark((engine + '/' + shape).c_str(), run)
        ->RangeMultiplier(4)
        ->Range(1, 16384)
        ->Arg(2)
        ->Arg(8)
        ->Arg(32);
  };
  for (const auto& [order, name] : kOrders) {
    for (const unsigned wild : {0u, 1u, 10u}) {
      const std::string shape = std::string(name) + '/' + std::to_string(wild);
      add("expected/" + shape, [order = order, wild](benchmark::State& state) { expected<E>(state, order, wild); });
      add("unexpected/" + shape, [order = order, wild](benchmark::State& state) { unexpected<E>(state, order, wild); });
    }
    add("cold/" + std::string(name) + "/0", [order = order](benchmark::State& state) { cold<E>(state, order); })
        ->UseManualTime()
        ->Iterations(200);  // the walks take longer than what is timed
  }
}

[[maybe_unused]] const bool registered = [] {
  register_for<ListEngine>("list");
  register_for<ArrayListEngine<2>>("array_list:2");
  register_for<ArrayListEngine<8>>("array_list:8");
  register_for<ArrayListEngine<32>>("array_list:32");
  register_for<ArrayListEngine<64>>("array_list:64");
  register_for<VectorEngine>("vector");
  register_for<FuzzyEngine<std::uint8_t>>("fuzzy8");
  register_for<FuzzyEngine<std::uint16_t>>("fuzzy16");
  register_for<HashEngine>("hash");
  register_for<GridEngine>("grid");
  register_for<ElidedTailQueue>("tail_queue");
  register_for<AdaptiveEngine>("adaptive");
  return true;
}();

}  // namespace
}  // namespace heddle::match
