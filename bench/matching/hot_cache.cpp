// Nanoseconds of one search of the whole queue after other data went through the caches, with and without hot caching.
//
//   <engine>/<depth>/<MiB>/<hot>
//
// Before each search the thread walks a buffer of so many MiB (0: none, the queue stays warm), which pushes the queue out
// of the caches that are smaller. With hot caching the search begins when the helper, on another core, has swept the pool
// once since then. The nodes lie shuffled in a pool of 256 bytes each, so that the hardware cannot guess the next one.
// `Time` is the mean; `median_ns` is not disturbed by the searches in which another process had the core.
// The two threads are bound to the first two cores that the process may use.
// Run: bench_hot_cache --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include "match/hot_cache.hpp"

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "match/block_engine.hpp"
#include "match/list.hpp"

namespace heddle::match {
namespace {

using namespace std::chrono_literals;

struct alignas(64) Request : ReceiveNode {
  std::byte rest[192];
};

std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  }
  return cores;
}
const std::vector<int> kCores = allowed_cores();

void walk(std::vector<std::byte>& buffer) {
  for (std::size_t i = 0; i < buffer.size(); i += kCacheLine) buffer[i] ^= std::byte{1};
  benchmark::ClobberMemory();
}

template <class E>
void search(benchmark::State& state) {
  const auto depth = static_cast<std::size_t>(state.range(0));
  const auto mebibytes = static_cast<std::size_t>(state.range(1));
  const bool hot = state.range(2) != 0;
  if (kCores.size() < 2) return state.SkipWithError("this takes two cores");
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(kCores[0], &mine);
  if (sched_setaffinity(0, sizeof mine, &mine) != 0) return state.SkipWithError("cannot be bound to a core");

  std::vector<Request> pool(depth);
  std::vector<std::size_t> place(depth);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), std::mt19937(7));
  HotCache cache;
  HotCache::set_of_pools(hot ? &cache : nullptr);  // of array_list; a list has the nodes alone
  E engine;
  for (std::size_t i = 0; i < depth; ++i) {
    pool[place[i]].key = {1, 0, static_cast<std::int32_t>(i)};
    engine.add_posted(pool[place[i]]);
  }
  const Key youngest = pool[place[depth - 1]].key;

  std::vector<std::byte> buffer(mebibytes << 20);
  std::vector<double> times;
  if (hot) {
    const bool added = cache.add(std::as_bytes(std::span(pool)));
    if (!added || !cache.start(10us, kCores[1])) return state.SkipWithError("hot caching could not be started");
  }
  for (auto _ : state) {
    walk(buffer);
    if (hot) {
      const std::uint64_t sweeps = cache.counts().sweeps;
      while (cache.counts().sweeps < sweeps + 2) {  // the first may have begun before
        for (int i = 0; i < 100; ++i) cpu_relax();  // a yield would let others into this core's cache
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    ReceiveNode* receive = engine.arrive(youngest);
    const auto end = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(receive);
    if (receive == nullptr) return state.SkipWithError("the receive is gone");
    engine.add_posted(*receive);  // and is the youngest again
    state.SetIterationTime(std::chrono::duration<double>(end - begin).count());
    times.push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  HotCache::set_of_pools(nullptr);
  state.counters["median_ns"] = times[times.size() / 2];
}

template <class E>
void register_as(const char* name) {
  auto* bench = benchmark::RegisterBenchmark(name, search<E>);
  for (int mebibytes : {0, 4, 64}) {
    for (int depth : {16, 128, 1024}) {
      for (int hot : {0, 1}) bench->Args({depth, mebibytes, hot});
    }
  }
  bench->ArgNames({"depth", "MiB", "hot"})->UseManualTime()->Iterations(200);
}

[[maybe_unused]] const bool registered = [] {
  register_as<ListEngine>("list");
  register_as<ArrayListEngine<32>>("array_list:32");
  return true;
}();

}  // namespace
}  // namespace heddle::match
