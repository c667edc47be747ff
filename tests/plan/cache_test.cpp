// Choices are the same for the same arguments and can be compiled; plans are kept, found again, and used by many threads.
#include "plan/cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "cases.hpp"
#include "plan/network.hpp"

namespace heddle::plan::test {
namespace {

TEST(Choose, EveryRuleCanBeCompiledAndIsRight) {
  for (std::size_t c = 0; c < std::size(kCollectives); ++c) {
    for (std::uint32_t ranks : {1u, 2u, 3u, 7u, 16u, 33u}) {
      for (bool ordered : {false, true}) {
        for (std::uint64_t bytes = 1; bytes != 0; bytes = bytes < kUnknownBytes / 4 ? bytes * 4 : 0) {
          const Spec spec{static_cast<Collective>(c), ranks, ranks / 2, ordered};
          for (std::uint32_t ppn : {1u, 3u, 8u}) {
            if (ranks % ppn != 0 || ranks == ppn) continue;
            std::vector<Plan> plans;
            ASSERT_TRUE(compile_all(spec, choice_of(choose(spec, bytes, ppn), spec, ppn), plans))
                << last_error_detail();
            ASSERT_TRUE(verify(plans)) << last_error_detail();
          }
        }
      }
    }
  }
}

// The nodes of the ranks as digits.
std::uint32_t ranks_of_node(std::string_view nodes) {
  return plan::ranks_of_node(static_cast<std::uint32_t>(nodes.size()), [&](std::uint32_t r) { return nodes[r]; });
}

TEST(Choose, NodesWhereTheyAreEvenAndInARow) {
  EXPECT_EQ(ranks_of_node("0011"), 2u);
  EXPECT_EQ(ranks_of_node("000222111333"), 3u);
  EXPECT_EQ(ranks_of_node("221100"), 2u);
  EXPECT_EQ(ranks_of_node("0000"), 4u);
  for (const char* flat :
       {"0", "01", "0123", "0101", "0110", "00111", "0001", "000111222333444455", "00112", "001100", "00110011"}) {
    EXPECT_EQ(ranks_of_node(flat), 1u) << flat;
  }
}

TEST(Choose, NodesOnlyWhereThereAreSome) {
  const auto chosen = [](Collective c, std::uint64_t bytes, std::uint32_t ppn, bool ordered = false) {
    const Spec spec{c, 12, 0, ordered};
    return print(choice_of(choose(spec, bytes, ppn), spec, ppn));
  };
  EXPECT_EQ(chosen(Collective::kBarrier, 0, 1), "dissemination 1");
  EXPECT_EQ(chosen(Collective::kBarrier, 0, 4), "nodes 4");
  EXPECT_EQ(chosen(Collective::kAllreduce, 8, 2), "nodes 2");
  EXPECT_EQ(chosen(Collective::kAllreduce, 8, 2, true), "nodes 2");
  EXPECT_EQ(chosen(Collective::kAllreduce, 1 << 20, 4), "nodes 4 4");
  EXPECT_EQ(chosen(Collective::kAllreduce, 1 << 20, 1), "phases");
  EXPECT_EQ(chosen(Collective::kAlltoall, 8, 4), "pairwise 11");
  // Straight within a node; from node to node fewer messages follow each other.
  EXPECT_EQ(chosen(Collective::kScatter, 8, 12), "tree 12");
  EXPECT_EQ(chosen(Collective::kGather, 8, 12), "tree 12");
  EXPECT_EQ(chosen(Collective::kScatter, 8, 4), "tree 2");
  EXPECT_EQ(chosen(Collective::kGather, 8, 1), "tree 2");
  EXPECT_EQ(chosen(Collective::kAllreduce, 1 << 20, 12), "phases");
  // Between two nodes there is one step anyway.
  EXPECT_EQ(chosen(Collective::kBarrier, 0, 6), "dissemination 1");
  EXPECT_EQ(chosen(Collective::kAllreduce, 8, 6), "recursive");
  EXPECT_EQ(chosen(Collective::kAllreduce, 1 << 20, 6), "nodes 6 6");
  EXPECT_EQ(chosen(Collective::kAllgather, 8, 6), "nodes 6");
  // Blocks that lie apart are a message each; and of many ranks on a node not each talks to each.
  EXPECT_EQ(chosen(Collective::kAllgather, kVaryingBytes, 6), "circulant 1");
  const Spec crowd{Collective::kAllreduce, 27, 0, false};
  EXPECT_EQ(print(choice_of(choose(crowd, 1 << 20, 9), crowd, 9)), "phases");
  EXPECT_EQ(print(choice_of(choose(crowd, 8, 9), crowd, 9)), "nodes 9");
}

// Where not all ranks know the lengths of the blocks, everyone goes straight with the root, and nothing is packed.
TEST(Choose, UnknownBytesNeedNoLengths) {
  for (Collective c : {Collective::kGather, Collective::kScatter, Collective::kAlltoall}) {
    const Spec spec{c, 9, 4, false};
    std::vector<Plan> plans;
    ASSERT_TRUE(compile_all(spec, choice_of(choose(spec, kUnknownBytes, 1), spec, 1), plans));
    for (const Plan& p : plans) {
      EXPECT_TRUE(p.scratch.empty());
      for (const Instruction& i : p.code) EXPECT_LE(i.length, 1u);
    }
  }
}

TEST(Forced, SaysWhatIsNotPossible) {
  const struct {
    const char *text, *why;
  } wrong[] = {{"bogus=tree", "names no collective"},
               {"bcast", "names no algorithm"},
               {"bcast=ring", "names no algorithm"},
               {"barrier=dissemination,bcast=chain:x", "'bcast=chain:x' has a number"},
               {"reduce=tree:200", "too large"}};
  for (const auto& w : wrong) {
    Forced forced;
    EXPECT_FALSE(Forced::parse(w.text, forced));
    EXPECT_NE(std::string(last_error_detail()).find(w.why), std::string::npos) << last_error_detail();
  }
}

TEST(Cache, ForcedWhereItCanDoWhatIsAsked) {
  Forced forced;
  ASSERT_TRUE(Forced::parse("allreduce=circulant:2,gather=tree:3", forced));
  Cache cache(&forced);
  const auto algorithm = [&](Collective c, bool ordered, std::uint64_t bytes) {
    const Plan* kept = nullptr;
    Plan spare;
    EXPECT_TRUE(cache.add({c, 8, 0, ordered}, bytes, 3, &kept, spare));
    EXPECT_EQ(cache.find({c, 8, 0, ordered}, bytes), kept);
    return print(kept->choice);
  };
  EXPECT_EQ(algorithm(Collective::kAllreduce, false, 8), "circulant 2");
  EXPECT_EQ(algorithm(Collective::kAllreduce, true, 8), "recursive");
  EXPECT_EQ(algorithm(Collective::kGather, false, 1 << 20), "tree 3");
  EXPECT_EQ(algorithm(Collective::kGather, false, kUnknownBytes), "tree 8");
}

TEST(Cache, ForcedNodesAreThoseThatThereAre) {
  Forced forced;
  ASSERT_TRUE(Forced::parse("allreduce=nodes,bcast=nodes:3", forced));
  Cache cache(&forced);
  cache.set_ranks_of_node(4);
  const auto algorithm = [&](Collective c) {
    const Plan* kept = nullptr;
    Plan spare;
    EXPECT_TRUE(cache.add({c, 8, 0, false}, 1 << 20, 3, &kept, spare));
    EXPECT_EQ(cache.find({c, 8, 0, false}, 1 << 20), kept);
    return print(kept->choice);
  };
  EXPECT_EQ(algorithm(Collective::kAllreduce), "nodes 4 1");
  EXPECT_EQ(algorithm(Collective::kBcast), "nodes 4");  // 3 do not divide 8
}

// Between nodes a message takes so many seconds, and its bytes as much less as they usually do.
Network network_of(double latency, std::uint32_t ppn) {
  Network network = usual_network();
  network.between = {latency, latency / 10, latency / 10, latency / 1e4};
  network.ppn = ppn;
  return network;
}

// By simulation, whatever the table's limits are, where it finds another rule much faster: where a message costs much, leaders pay.
TEST(Cache, MeasuredNetworksDecide) {
  const auto chosen = [](double latency, Collective c, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t ppn) {
    Cache cache;
    cache.set_ranks_of_node(ppn);
    if (ppn > 1) cache.use(std::make_shared<Measured>(network_of(latency, ppn)));
    const Spec spec{c, ranks, 0, false};
    const Plan* kept = nullptr;
    Plan spare;
    EXPECT_TRUE(cache.add(spec, bytes, ranks - 1, &kept, spare));
    EXPECT_EQ(cache.find(spec, bytes), kept);
    EXPECT_EQ(cache.find({c, ranks, 1, false}, bytes), nullptr);
    return print(kept->choice);
  };
  EXPECT_EQ(chosen(1e-3, Collective::kAllreduce, 32, 8, 16), "nodes 16 1");
  EXPECT_EQ(chosen(1e-7, Collective::kAllreduce, 8, 8, 4), "recursive");
  // Leaders carry a node's blocks twice: where a message to another node costs no more than one within, each by itself.
  EXPECT_EQ(chosen(1e-7, Collective::kAllgather, 32, 1 << 20, 16), "circulant 1");
  EXPECT_EQ(chosen(1e-3, Collective::kAllgather, 32, 1 << 20, 16), "nodes 16");
  EXPECT_EQ(chosen(1e-3, Collective::kBcast, 32, 8, 16), "nodes 16");
  // A little faster without leaders, or with them, is not enough.
  EXPECT_EQ(chosen(1e-7, Collective::kAllreduce, 12, 8, 4), "nodes 4 1");
  EXPECT_EQ(chosen(1e-3, Collective::kAllreduce, 8, 8, 4), "recursive");
  EXPECT_EQ(chosen(1e-3, Collective::kAllreduce, 8, 8, 1), "recursive");  // no two share a node: the table
}

// A step less counts where messages are slow to begin and then fast, unless all of the root's are in each other's way.
TEST(Cache, MeasuredNetworksDecideWhetherBlocksGoStraight) {
  Network network = usual_network();
  network.between = {4e-5, 5e-7, 5e-7, 8e-11};
  network.ppn = 2;
  const auto chosen = [&](Collective c, std::uint64_t bytes) {
    const Spec spec{c, 8, 3, false};
    return print(choice_of(Measured(network).choose(spec, bytes), spec, network.ppn));
  };
  EXPECT_EQ(print(choice_of(choose({Collective::kGather, 8, 3, false}, 8, 2), {Collective::kGather, 8, 3, false}, 2)),
            "tree 2");
  EXPECT_EQ(chosen(Collective::kGather, 8), "tree 8");
  EXPECT_EQ(chosen(Collective::kScatter, 8), "tree 8");
  EXPECT_EQ(chosen(Collective::kGather, kUnknownBytes), "tree 8");
  network.between.byte = 3.2e-9;
  EXPECT_EQ(chosen(Collective::kGather, 8), "tree 2");
  network.crowding = 0.35;
  EXPECT_EQ(chosen(Collective::kScatter, 1 << 20), "tree 2");
  network.crowd = 1;
  EXPECT_EQ(chosen(Collective::kScatter, 1 << 20), "tree 8");
}

// What one communicator has found out another of as many ranks knows, and none of other numbers.
TEST(Cache, MeasurementsAreShared) {
  Measurements all(network_of(1e-3, 1));
  const std::shared_ptr<Measured> one = all.of(32, 16);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(all.of(32, 16), one);
  EXPECT_NE(all.of(32, 8), one);
  EXPECT_NE(all.of(16, 16), one);
  const Spec spec{Collective::kBcast, 32, 0, false};
  EXPECT_EQ(one->choose(spec, 8), Measured(network_of(1e-3, 16)).choose(spec, 8));
}

TEST(Cache, MeasuredNetworksHaveOnePlanForAllBytesWhereTheTableHas) {
  for (const double latency : {1e-9, 1e-7, 1e-5, 1e-3}) {
    Measured measured(network_of(latency, 16));
    for (const Collective c :
         {Collective::kBcast, Collective::kReduce, Collective::kAllgather, Collective::kReduceScatter}) {
      const Spec spec{c, 32, 0, false};
      for (std::uint64_t bytes = 1; bytes < 1 << 24; bytes *= 16) {
        EXPECT_EQ(measured.choose(spec, bytes), measured.choose(spec, 0)) << latency << ' ' << bytes;
      }
    }
  }
}

// Ranks that disagree about the bytes have one plan nevertheless where they do by the table, and an error instead of waiting for ever.
TEST(Cache, MeasuredNetworksAddNoLimits) {
  ASSERT_LE(kRuleCount, Measured::kMostRules);
  for (const double latency : {1e-9, 1e-7, 1e-5, 1e-3}) {
    for (const std::uint32_t ppn : {4u, 16u}) {
      Measured measured(network_of(latency, ppn));
      for (const bool ordered : {false, true}) {
        const Spec spec{Collective::kAllreduce, 32, 0, ordered};
        for (std::uint64_t bytes = 1; bytes <= 16 << 10; bytes *= 2) {
          EXPECT_EQ(measured.choose(spec, bytes), measured.choose(spec, 0)) << latency << ' ' << bytes;
        }
        for (std::uint64_t bytes = (16 << 10) + 1; bytes < 1 << 24; bytes *= 2) {
          EXPECT_EQ(measured.choose(spec, bytes), measured.choose(spec, 1 << 24)) << latency << ' ' << bytes;
        }
      }
    }
  }
}

TEST(Cache, WhatTheTableHasOneRuleForGoesByIt) {
  for (const double latency : {1e-9, 1e-7, 1e-5, 1e-3}) {
    Measured measured(network_of(latency, 4));
    for (std::size_t c = 0; c < std::size(kCollectives); ++c) {
      const Spec spec{static_cast<Collective>(c), 12, 5, false};
      if (spec.collective <= Collective::kScatter) continue;
      for (std::uint64_t bytes = 1; bytes < 1 << 24; bytes *= 16) {
        EXPECT_EQ(measured.choose(spec, bytes), choose(spec, bytes, 4)) << kCollectives[c] << ' ' << bytes;
      }
    }
  }
}

// All ranks meet the same, so they can do without what they cannot simulate.
TEST(Cache, WhatCannotBeSimulatedGoesByTheTable) {
  Network network = usual_network();
  network.ppn = 4;
  network.ports = 0;
  Measured measured(network);
  for (const Collective c : {Collective::kBarrier, Collective::kAllreduce}) {
    for (const std::uint64_t bytes : {8u, 1u << 20}) {
      EXPECT_EQ(measured.choose({c, 12, 0, false}, bytes), choose({c, 12, 0, false}, bytes, 4));
    }
  }
}

TEST(Cache, WhatAMeasuredNetworkChoosesIsRight) {
  for (std::size_t c = 0; c < std::size(kCollectives); ++c) {
    for (bool ordered : {false, true}) {
      for (std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 20, kUnknownBytes}) {
        Network network = usual_network();
        network.ppn = 3;
        Measured measured(network);
        const Spec spec{static_cast<Collective>(c), 12, 7, ordered};
        const std::uint32_t rule = measured.choose(spec, bytes);
        EXPECT_EQ(measured.choose(spec, bytes), rule);
        std::vector<Plan> plans;
        ASSERT_TRUE(compile_all(spec, choice_of(rule, spec, 3), plans)) << last_error_detail();
        ASSERT_TRUE(verify(plans)) << last_error_detail();
      }
    }
  }
}

// So that no collective of the usual kinds compiles anything later.
TEST(Cache, UsualPlansAreThereForAllBytes) {
  for (const std::uint32_t ppn : {1u, 4u}) {
    for (const bool measured : {false, true}) {
      Cache cache;
      cache.set_ranks_of_node(ppn);
      if (measured && ppn > 1) cache.use(std::make_shared<Measured>(network_of(1e-7, ppn)));
      cache.add_usual(12, 5);
      const std::uint64_t compiled = cache.compiled();
      EXPECT_GE(compiled, std::size(Cache::kUsual));
      for (const Collective c : Cache::kUsual) {
        for (std::uint64_t bytes = 0; bytes < kVaryingBytes / 4; bytes = 4 * bytes + 1) {
          const Plan* plan = cache.find({c, 12, 0, false}, bytes);
          ASSERT_NE(plan, nullptr) << kCollectives[static_cast<std::size_t>(c)] << ' ' << bytes;
          EXPECT_EQ(plan->spec.collective, c);
        }
      }
      cache.add_usual(12, 5);
      EXPECT_EQ(cache.compiled(), compiled);
      EXPECT_EQ(cache.find({Collective::kBcast, 12, 1, false}, 8), nullptr);
      cache.set_reproducible(true);
      cache.add_usual(12, 5);
      EXPECT_GT(cache.compiled(), compiled);
      EXPECT_NE(cache.find({Collective::kAllreduce, 12, 0, false}, 1 << 20), nullptr);
    }
  }
}

TEST(Cache, KeepsWhatItHasAndNotTooMany) {
  Cache cache;
  Plan spare;
  const Plan* first = nullptr;
  ASSERT_TRUE(cache.add({Collective::kBcast, 200, 0, false}, 8, 3, &first, spare));
  int kept = 1;
  for (std::uint32_t root = 1; root < 200; ++root) {
    const Plan* plan = nullptr;
    ASSERT_EQ(cache.find({Collective::kBcast, 200, root, false}, 8), nullptr);
    ASSERT_TRUE(cache.add({Collective::kBcast, 200, root, false}, 8, 3, &plan, spare));
    kept += plan != nullptr;
    EXPECT_EQ((plan != nullptr ? *plan : spare).spec.root, root);
  }
  EXPECT_EQ(kept, 64);
  EXPECT_EQ(cache.find({Collective::kBcast, 200, 0, false}, 8), first);
  EXPECT_EQ(cache.find({Collective::kReduce, 200, 0, false}, 8), nullptr);
  EXPECT_EQ(cache.find({Collective::kReduce, 200, 0, true}, 8), nullptr);
}

TEST(Cache, ThreadsFindWhatTheyAdd) {
  Cache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (std::uint32_t i = 0; i < 400; ++i) {
        const Spec spec{Collective::kReduce, 30, i % 13, i % 2 == 0};
        const Plan* plan = cache.find(spec, 8);
        Plan spare;
        if (plan == nullptr) {
          EXPECT_TRUE(cache.add(spec, 8, 5, &plan, spare));
        }
        const Plan& got = plan != nullptr ? *plan : spare;
        EXPECT_EQ(got.spec, spec);
        EXPECT_EQ(got.rank, 5u);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace heddle::plan::test
