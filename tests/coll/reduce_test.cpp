// Reductions, against a serial reduction in rank order: predefined, commutative and non-commutative user operations, on
// plain and derived datatypes, in place and not. Send buffers must stay as they are.
#include <gtest/gtest.h>

#include <cstring>

#include "cases.hpp"
#include "coll/build.hpp"
#include "mpi/api_op.hpp"
#include "plan/text.hpp"
#include "simulator.hpp"

namespace heddle::coll::test {
namespace {

using Combine = std::int32_t (*)(std::int32_t lower, std::int32_t higher);

std::int32_t add(std::int32_t lower, std::int32_t higher) { return lower + higher; }

// Two maps x -> a x + b modulo 251, `lower` applied first: associative, not commutative.
std::int32_t compose(std::int32_t lower, std::int32_t higher) {
  const int a1 = lower >> 8, b1 = lower & 255, a2 = higher >> 8, b2 = higher & 255;
  return (a1 * a2 % 251) << 8 | (b1 * a2 + b2) % 251;
}

template <Combine combine>
void user_function(void* in, void* inout, int* length, MPI_Datatype* type) {
  for (const Layout& l : layouts()) {
    if (mpi::to_handle(l.type) != *type) continue;
    for (int i = 0; i < *length; ++i) {
      for (MPI_Aint d : l.displacements) {
        std::int32_t a, b;
        std::memcpy(&a, static_cast<char*>(in) + i * l.extent + d, sizeof a);
        auto* to = static_cast<char*>(inout) + i * l.extent + d;
        std::memcpy(&b, to, sizeof b);
        b = combine(a, b);
        std::memcpy(to, &b, sizeof b);
      }
    }
  }
}

Op& user_op(MPI_User_function* function, bool commutes) {
  MPI_Op op;
  api::op_create(function, commutes, &op, false).ignore();
  return *mpi::from_handle(op);
}

struct Operation {
  const char* name;
  Op* op;
  Combine combine;
  bool plain_only;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"MPI_SUM", mpi::from_handle(MPI_SUM), add, true},
      {"commutative", &user_op(user_function<add>, true), add, false},
      {"non-commutative", &user_op(user_function<compose>, false), compose, false},
  };
  return all;
}

// The k-th int of this rank's operand; both bytes are below 251, the upper is not 0.
std::int32_t operand(int rank, int k) { return (1 + (17 * rank + 31 * k) % 250) << 8 | (5 + 91 * rank + 7 * k) % 251; }

// Operands of ranks first..last combined.
std::int32_t combined(const Operation& o, int first, int last, int k) {
  std::int32_t sum = operand(first, k);
  for (int r = first + 1; r <= last; ++r) sum = o.combine(sum, operand(r, k));
  return sum;
}

// Every rank's operand and result; in place the operand is in the result.
struct Data {
  Data(const Case& c, MPI_Count operand_count, MPI_Count result_count)
      : send(arrays(c, operand_count)), recv(arrays(c, result_count)) {
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < send[r].ints(); ++k) send[r].set(k, operand(r, k));
      for (int k = 0; c.in_place && k < send[r].ints(); ++k) recv[r].set(k, operand(r, k));
    }
  }
  Buffer own(int rank, bool in_place) {
    Buffer b = send[rank].buffer();
    if (in_place) b.data = recv[rank].data();
    return b;
  }
  void expect_clean() const {
    test::expect_clean(recv);
    test::expect_clean(send);
    for (std::size_t r = 0; r < send.size(); ++r) {
      for (int k = 0; k < send[r].ints(); ++k) ASSERT_EQ(send[r].get(k), operand(static_cast<int>(r), k));
    }
  }

  std::vector<Array> send, recv;
};

template <class Test>
void for_each_reduction(plan::Collective collective, Test&& test) {
  with_each_algorithm(collective, [&] {
    for (const Operation& o : operations()) {
      SCOPED_TRACE(o.name);
      for_each_case(collective == plan::Collective::kReduce, 300, [&](const Case& c) {
        if (!o.plain_only || c.layout.per_item() == 1) test(c, o);
      });
    }
  });
}

// Intervals that go round the end and are too long to be packed: two messages each.
template <class Test>
void for_each_long_reduction(plan::Collective collective, Test&& test) {
  with_each_algorithm(collective, [&] {
    for (const Operation& o : operations()) test(Case{5, 0, 26000, layouts()[0], false}, o);
  });
}

TEST(Reduce, RootHasTheResult) {
  for_each_reduction(plan::Collective::kReduce, [](const Case& c, const Operation& o) {
    Data data(c, c.count, c.count);
    Simulator sim(c.size, 1);
    for (int r = 0; r < c.size; ++r) {
      const bool root = r == c.root;
      build_reduce(sim.schedule(r), data.own(r, root && c.in_place), root ? data.recv[r].data() : nullptr, *o.op,
                   c.root);
    }
    ASSERT_TRUE(sim.run());
    for (int k = 0; k < data.recv[c.root].ints(); ++k) {
      ASSERT_EQ(data.recv[c.root].get(k), combined(o, 0, c.size - 1, k));
    }
    data.expect_clean();
  });
}

// `chosen`: how the plan's name and numbers begin.
void test_allreduce(const Case& c, const Operation& o, std::string_view chosen = {}) {
  Data data(c, c.count, c.count);
  Simulator sim(c.size, 2);
  for (int r = 0; r < c.size; ++r) {
    build_allreduce(sim.schedule(r), data.own(r, c.in_place), data.recv[r].data(), *o.op);
  }
  ASSERT_TRUE(sim.run());
  for (const Array& a : data.recv) {
    for (int k = 0; k < a.ints(); ++k) ASSERT_EQ(a.get(k), combined(o, 0, c.size - 1, k));
  }
  data.expect_clean();
  if (chosen.empty()) return;
  const plan::Spec spec{plan::Collective::kAllreduce, static_cast<std::uint32_t>(c.size), 0, !o.op->commutative};
  const auto bytes = static_cast<std::uint64_t>(data.send[0].buffer().bytes());
  for (int r = 0; r < c.size; ++r) {
    const plan::Plan* plan = sim.plans(r).find(spec, bytes);
    ASSERT_NE(plan, nullptr);
    EXPECT_TRUE(plan::print(plan->choice).starts_with(chosen)) << plan::print(plan->choice);
  }
}

TEST(Allreduce, EveryoneHasTheResult) {
  for_each_reduction(plan::Collective::kAllreduce, [](const Case& c, const Operation& o) { test_allreduce(c, o); });
  for_each_long_reduction(plan::Collective::kAllreduce,
                          [](const Case& c, const Operation& o) { test_allreduce(c, o); });
}

// On both sides of each of the table's limits where ranks share nodes; a choice by the wrong side of one is seen.
TEST(Allreduce, ByNodesAsTheTableChooses) {
  constexpr MPI_Count kShort = (16 << 10) / sizeof(std::int32_t);
  const struct {
    int size;
    std::uint32_t ppn;
    MPI_Count ints;
    std::string_view plan;
  } cases[] = {{6, 2, kShort, "nodes 2 1"},     {6, 2, kShort + 1, "nodes 2 2"}, {6, 3, kShort, "recursive"},
               {6, 3, kShort + 1, "nodes 3 3"}, {6, 1, kShort + 1, "phases"},    {16, 8, kShort + 1, "nodes 8 8"},
               {18, 9, kShort + 1, "phases"},   {27, 9, kShort, "nodes 9 1"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.plan) + " for " + std::to_string(one.ints) + " on " + std::to_string(one.size));
    Simulator::ppn = one.ppn;
    for (const Operation& o : operations()) {
      test_allreduce({one.size, 0, one.ints, layouts()[0], false}, o, one.plan);
    }
    Simulator::ppn = 1;
  }
}

TEST(Allreduce, FloatsAreTheSameBitsOnEveryRank) {
  with_each_algorithm(plan::Collective::kAllreduce, [] {
    for (int size = 1; size <= kMaxSize; ++size) {
      std::vector<std::vector<float>> send(size), recv(size, std::vector<float>(64));
      Simulator sim(size, 3);
      for (int r = 0; r < size; ++r) {
        for (int k = 0; k < 64; ++k)
          send[r].push_back(static_cast<float>((r * 7 + k) % 5 - 2) * (k % 3 == 0 ? 1e8f : 0.1f));
        build_allreduce(sim.schedule(r), Buffer(send[r].data(), 64, *mpi::from_handle(MPI_FLOAT)), recv[r].data(),
                        *mpi::from_handle(MPI_SUM));
      }
      ASSERT_TRUE(sim.run());
      for (int r = 1; r < size; ++r) ASSERT_EQ(std::memcmp(recv[r].data(), recv[0].data(), 64 * sizeof(float)), 0);
    }
  });
}

TEST(ReduceScatter, EveryoneHasItsPart) {
  for_each_reduction(plan::Collective::kReduceScatter, [](const Case& c, const Operation& o) {
    const int n = c.layout.per_item();
    std::vector<int> counts;
    MPI_Count total = 0;
    for (int r = 0; r < c.size; ++r) {
      counts.push_back(static_cast<int>(c.count) * ((r + 1) % 3));
      total += counts.back();
    }
    Data data(c, total, total);
    Simulator sim(c.size, 4);
    for (int r = 0; r < c.size; ++r) {
      build_reduce_scatter(sim.schedule(r), data.own(r, c.in_place).data, data.recv[r].data(), IntArray(counts.data()),
                           *c.layout.type, *o.op);
    }
    ASSERT_TRUE(sim.run());
    int first = 0;
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < counts[r] * n; ++k) ASSERT_EQ(data.recv[r].get(k), combined(o, 0, c.size - 1, first + k));
      first += counts[r] * n;
    }
    data.expect_clean();
  });
}

void test_reduce_scatter_block(const Case& c, const Operation& o) {
  Data data(c, c.count * c.size, c.count * c.size);
  const int block = static_cast<int>(c.count) * c.layout.per_item();
  Simulator sim(c.size, 5);
  for (int r = 0; r < c.size; ++r) {
    build_reduce_scatter_block(sim.schedule(r), data.own(r, c.in_place).data, data.recv[r].data(), c.count,
                               *c.layout.type, *o.op);
  }
  ASSERT_TRUE(sim.run());
  for (int r = 0; r < c.size; ++r) {
    for (int k = 0; k < block; ++k) ASSERT_EQ(data.recv[r].get(k), combined(o, 0, c.size - 1, r * block + k));
  }
  data.expect_clean();
}

TEST(ReduceScatterBlock, EveryoneHasItsBlock) {
  for_each_reduction(plan::Collective::kReduceScatter, test_reduce_scatter_block);
  for_each_long_reduction(plan::Collective::kReduceScatter, test_reduce_scatter_block);
}

TEST(Scan, RanksUpToThisOne) {
  for_each_reduction(plan::Collective::kScan, [](const Case& c, const Operation& o) {
    Data data(c, c.count, c.count);
    Simulator sim(c.size, 6);
    for (int r = 0; r < c.size; ++r) {
      build_scan(sim.schedule(r), data.own(r, c.in_place), data.recv[r].data(), *o.op);
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < data.recv[r].ints(); ++k)
        ASSERT_EQ(data.recv[r].get(k), combined(o, 0, r, k)) << "rank " << r;
    }
    data.expect_clean();
  });
}

TEST(Exscan, RanksBeforeThisOne) {
  for_each_reduction(plan::Collective::kExscan, [](const Case& c, const Operation& o) {
    Data data(c, c.count, c.count);
    Simulator sim(c.size, 7);
    for (int r = 0; r < c.size; ++r) {
      build_exscan(sim.schedule(r), data.own(r, c.in_place), data.recv[r].data(), *o.op);
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < data.recv[r].ints(); ++k) {
        const std::int32_t untouched = c.in_place ? operand(0, k) : 0;
        ASSERT_EQ(data.recv[r].get(k), r == 0 ? untouched : combined(o, 0, r - 1, k)) << "rank " << r;
      }
    }
    data.expect_clean();
  });
}

}  // namespace
}  // namespace heddle::coll::test
