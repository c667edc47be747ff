// Collectives that move data, against what each rank should end with: every size up to 17, several roots, block sizes
// on both sides of every switch between algorithms, datatypes with holes, MPI_IN_PLACE.
#include <gtest/gtest.h>

#include "cases.hpp"
#include "coll/build.hpp"
#include "simulator.hpp"

namespace heddle::coll::test {
namespace {

// The k-th int that rank `source` sends to rank `dest`.
std::int32_t value(int source, int dest, int k) { return 1 + k + 100000 * source + 5000000 * dest; }

// Counts that differ from rank to rank, with zeros, and displacements with gaps, not in the order of ranks.
struct Uneven {
  std::vector<int> counts, displacements;
  int span = 0;

  Uneven(int size, int scale) : counts(size), displacements(size) {
    for (int i = size - 1; i >= 0; --i) {
      counts[i] = i * 7 % 4 * scale;
      displacements[i] = span;
      span += counts[i] + 1;
    }
  }
  IntArray c() const { return IntArray(counts.data()); }
  IntArray d() const { return IntArray(displacements.data()); }
};

template <class Test>
void for_each_moved(plan::Collective collective, bool rooted, MPI_Count large, Test&& test) {
  with_each_algorithm(collective, [&] { for_each_case(rooted, large, test); });
}

TEST(Barrier, NobodyLeavesBeforeTheLastHasEntered) {
  with_each_algorithm(plan::Collective::kBarrier, [] {
    for (int size = 1; size <= kMaxSize; ++size) {
      for (int late = 0; late < size; ++late) {
        Simulator sim(size, static_cast<unsigned>(late));
        for (int r = 0; r < size; ++r) build_barrier(sim.schedule(r));
        sim.run([&](int r) { return r != late; });
        for (int r = 0; r < size; ++r) ASSERT_FALSE(sim.finished(r)) << "rank " << r << " of " << size;
        ASSERT_TRUE(sim.run());
      }
    }
  });
}

TEST(Bcast, EveryoneHasTheRootsData) {
  for_each_moved(plan::Collective::kBcast, true, 4100, [](const Case& c) {
    if (c.in_place) return;
    auto data = arrays(c, c.count);
    for (int k = 0; k < data[c.root].ints(); ++k) data[c.root].set(k, value(c.root, 0, k));
    Simulator sim(c.size, 1);
    for (int r = 0; r < c.size; ++r) build_bcast(sim.schedule(r), data[r].buffer(), c.root);
    ASSERT_TRUE(sim.run());
    for (Array& a : data) {
      for (int k = 0; k < a.ints(); ++k) ASSERT_EQ(a.get(k), value(c.root, 0, k));
    }
    expect_clean(data);
  });
}

// Blocks of 4100 ints are beyond the tree.
TEST(Gather, RootHasEveryBlock) {
  for_each_moved(plan::Collective::kGather, true, 4100, [](const Case& c) {
    auto send = arrays(c, c.count);
    Array recv(c.layout, c.count * c.size);
    const int block = send[0].ints();
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < block; ++k) send[r].set(k, value(r, 0, k));
    }
    for (int k = 0; c.in_place && k < block; ++k) recv.set(c.root * block + k, value(c.root, 0, k));
    Simulator sim(c.size, 2);
    for (int r = 0; r < c.size; ++r) {
      const bool root = r == c.root;
      build_gather(sim.schedule(r), in_place_or(root && c.in_place, send[r]),
                   root ? recv.buffer().part(0, c.count) : Buffer(nullptr, 0, *c.layout.type), c.root);
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < block; ++k) ASSERT_EQ(recv.get(r * block + k), value(r, 0, k)) << "block " << r;
    }
    ASSERT_TRUE(recv.holes_untouched());
  });
}

TEST(Scatter, EveryoneHasItsBlock) {
  for_each_moved(plan::Collective::kScatter, true, 4100, [](const Case& c) {
    Array send(c.layout, c.count * c.size);
    auto recv = arrays(c, c.count);
    const int block = recv[0].ints();
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < block; ++k) send.set(r * block + k, value(0, r, k));
    }
    Simulator sim(c.size, 3);
    for (int r = 0; r < c.size; ++r) {
      const bool root = r == c.root;
      build_scatter(sim.schedule(r), root ? send.buffer().part(0, c.count) : Buffer(nullptr, 0, *c.layout.type),
                    in_place_or(root && c.in_place, recv[r]), c.root);
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      const bool untouched = r == c.root && c.in_place;
      for (int k = 0; k < block; ++k) ASSERT_EQ(recv[r].get(k), untouched ? 0 : value(0, r, k)) << "rank " << r;
    }
    expect_clean(recv);
  });
}

TEST(GatherScatterv, UnevenBlocksWithGaps) {
  for_each_moved(plan::Collective::kGather, true, 4, [](const Case& c) {
    const Uneven uneven(c.size, static_cast<int>(c.count));
    const int n = c.layout.per_item();
    std::vector<Array> send, recv;
    Array whole(c.layout, uneven.span), dealt(c.layout, uneven.span);
    for (int r = 0; r < c.size; ++r) {
      send.emplace_back(c.layout, uneven.counts[r]);
      recv.emplace_back(c.layout, uneven.counts[r]);
      for (int k = 0; k < send[r].ints(); ++k) {
        send[r].set(k, value(r, 0, k));
        dealt.set(uneven.displacements[r] * n + k, value(0, r, k));
        if (c.in_place && r == c.root) whole.set(uneven.displacements[r] * n + k, value(r, 0, k));
      }
    }
    Simulator gather(c.size, 4), scatter(c.size, 5);
    for (int r = 0; r < c.size; ++r) {
      const bool in_place = r == c.root && c.in_place;
      build_gatherv(gather.schedule(r), in_place_or(in_place, send[r]),
                    Blocks(whole.data(), uneven.c(), uneven.d(), *c.layout.type), c.root);
      build_scatterv(scatter.schedule(r), Blocks(dealt.data(), uneven.c(), uneven.d(), *c.layout.type),
                     in_place_or(in_place, recv[r]), c.root);
    }
    ASSERT_TRUE(gather.run());
    ASSERT_TRUE(scatter.run());
    int filled = 0;
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < send[r].ints(); ++k, ++filled) {
        ASSERT_EQ(whole.get(uneven.displacements[r] * n + k), value(r, 0, k)) << "block " << r;
        ASSERT_EQ(recv[r].get(k), r == c.root && c.in_place ? 0 : value(0, r, k)) << "rank " << r;
      }
    }
    for (int k = 0; k < whole.ints(); ++k) filled -= whole.get(k) != 0;
    ASSERT_EQ(filled, 0) << "a gap was written";
    ASSERT_TRUE(whole.holes_untouched());
    expect_clean(recv);
  });
}

// 8200 ints go round the ring.
TEST(Allgather, EveryoneHasEveryBlock) {
  for_each_moved(plan::Collective::kAllgather, false, 8200, [](const Case& c) {
    auto send = arrays(c, c.count);
    auto recv = arrays(c, c.count * c.size);
    const int block = send[0].ints();
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < block; ++k) (c.in_place ? recv : send)[r].set(c.in_place ? r * block + k : k, value(r, 0, k));
    }
    Simulator sim(c.size, 6);
    for (int r = 0; r < c.size; ++r) {
      build_allgather(sim.schedule(r), in_place_or(c.in_place, send[r]), recv[r].buffer().part(0, c.count));
    }
    ASSERT_TRUE(sim.run());
    for (Array& a : recv) {
      for (int k = 0; k < a.ints(); ++k) ASSERT_EQ(a.get(k), value(k / block, 0, k % block));
    }
    expect_clean(recv);
  });
}

// Blocks of 9000 ints and more go one by one, short ones together.
TEST(Allgatherv, UnevenBlocksWithGaps) {
  for_each_moved(plan::Collective::kAllgather, false, 9000, [](const Case& c) {
    const Uneven uneven(c.size, static_cast<int>(c.count));
    const int n = c.layout.per_item();
    auto recv = arrays(c, uneven.span);
    std::vector<Array> send;
    for (int r = 0; r < c.size; ++r) {
      send.emplace_back(c.layout, uneven.counts[r]);
      for (int k = 0; k < send[r].ints(); ++k) {
        send[r].set(k, value(r, 0, k));
        if (c.in_place) recv[r].set(uneven.displacements[r] * n + k, value(r, 0, k));
      }
    }
    Simulator sim(c.size, 7);
    for (int r = 0; r < c.size; ++r) {
      build_allgatherv(sim.schedule(r), in_place_or(c.in_place, send[r]),
                       Blocks(recv[r].data(), uneven.c(), uneven.d(), *c.layout.type));
    }
    ASSERT_TRUE(sim.run());
    Array expected(c.layout, uneven.span);
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < send[r].ints(); ++k) expected.set(uneven.displacements[r] * n + k, value(r, 0, k));
    }
    for (const Array& a : recv) {
      for (int k = 0; k < a.ints(); ++k) ASSERT_EQ(a.get(k), expected.get(k));
    }
    expect_clean(recv);
  });
}

TEST(Alltoall, EveryPairHasExchangedItsBlock) {
  for_each_moved(plan::Collective::kAlltoall, false, 300, [](const Case& c) {
    auto send = arrays(c, c.count * c.size), recv = arrays(c, c.count * c.size);
    const int block = send[0].ints() / c.size;
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < block * c.size; ++k) (c.in_place ? recv : send)[r].set(k, value(r, k / block, k % block));
    }
    Simulator sim(c.size, 8);
    for (int r = 0; r < c.size; ++r) {
      const Buffer from = c.in_place ? in_place_or(true, send[r]) : send[r].buffer().part(0, c.count);
      build_alltoall(sim.schedule(r), Blocks(from), Blocks(recv[r].buffer().part(0, c.count)));
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      for (int k = 0; k < recv[r].ints(); ++k) ASSERT_EQ(recv[r].get(k), value(k / block, r, k % block));
    }
    expect_clean(recv);
  });
}

// Rank i sends (i + 2j) % 3 items to rank j; in place the counts must agree both ways, so it is (i + j) % 3 there.
TEST(Alltoallv, UnevenBlocksWithZeros) {
  for_each_moved(plan::Collective::kAlltoall, false, 4, [](const Case& c) {
    const int n = c.layout.per_item();
    const auto items = [&](int i, int j) { return static_cast<int>(c.count) * ((i + (c.in_place ? j : 2 * j)) % 3); };
    std::vector<std::vector<int>> scounts(c.size), sdispls(c.size), rcounts(c.size), rdispls(c.size);
    std::vector<Array> send, recv;
    for (int r = 0; r < c.size; ++r) {
      int sent = 0, received = 0;
      for (int i = 0; i < c.size; ++i) {
        scounts[r].push_back(items(r, i));
        rcounts[r].push_back(items(i, r));
        sdispls[r].push_back(sent);
        rdispls[r].push_back(received);
        sent += items(r, i) + 1;
        received += items(i, r) + 1;
      }
      send.emplace_back(c.layout, sent);
      recv.emplace_back(c.layout, received);
      for (int i = 0; i < c.size; ++i) {
        for (int k = 0; k < items(r, i) * n; ++k) {
          (c.in_place ? recv : send)[r].set((c.in_place ? rdispls : sdispls)[r][i] * n + k, value(r, i, k));
        }
      }
    }
    Simulator sim(c.size, 9);
    for (int r = 0; r < c.size; ++r) {
      const void* from = c.in_place ? MPI_IN_PLACE : send[r].data();
      build_alltoall(sim.schedule(r),
                     Blocks(from, IntArray(scounts[r].data()), IntArray(sdispls[r].data()), *c.layout.type),
                     Blocks(recv[r].data(), IntArray(rcounts[r].data()), IntArray(rdispls[r].data()), *c.layout.type));
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      Array expected(c.layout, recv[r].ints() / n);
      for (int i = 0; i < c.size; ++i) {
        for (int k = 0; k < items(i, r) * n; ++k) expected.set(rdispls[r][i] * n + k, value(i, r, k));
      }
      for (int k = 0; k < expected.ints(); ++k) ASSERT_EQ(recv[r].get(k), expected.get(k));
    }
    expect_clean(recv);
  });
}

// Blocks for even ranks are of the case's layout, for odd ranks plain ints; a null type where there is nothing.
TEST(Alltoallw, EachBlockHasItsType) {
  for_each_moved(plan::Collective::kAlltoall, false, 4, [](const Case& c) {
    if (c.in_place) return;
    const int n = c.layout.per_item(), ints = static_cast<int>(c.count) * n;
    const Layout& plain = layouts()[0];
    std::vector<std::vector<Array>> send(c.size), recv(c.size);
    std::vector<std::vector<int>> scounts(c.size), rcounts(c.size);
    std::vector<std::vector<MPI_Aint>> sdispls(c.size), rdispls(c.size);
    std::vector<std::vector<MPI_Datatype>> stypes(c.size), rtypes(c.size);
    std::vector<std::vector<int>> swide(c.size);
    for (int r = 0; r < c.size; ++r) {
      for (int i = 0; i < c.size; ++i) {
        const int some = (r + i) % 3 == 0 ? 0 : 1;
        const auto add = [&](bool derived, std::vector<Array>& all, std::vector<int>& counts,
                             std::vector<MPI_Datatype>& types) {
          const Layout& l = derived ? c.layout : plain;
          counts.push_back(some * (derived ? static_cast<int>(c.count) : ints));
          all.emplace_back(l, counts.back());
          types.push_back(counts.back() == 0 ? MPI_DATATYPE_NULL : mpi::to_handle(l.type));
        };
        add(i % 2 == 0, send[r], scounts[r], stypes[r]);
        add(r % 2 == 1, recv[r], rcounts[r], rtypes[r]);
        for (int k = 0; k < send[r][i].ints(); ++k) send[r][i].set(k, value(r, i, k));
      }
      for (int i = 0; i < c.size; ++i) {  // displacements in bytes from address 0, as with MPI_BOTTOM
        sdispls[r].push_back(reinterpret_cast<MPI_Aint>(send[r][i].data()));
        rdispls[r].push_back(reinterpret_cast<MPI_Aint>(recv[r][i].data()));
      }
    }
    Simulator sim(c.size, 10);
    for (int r = 0; r < c.size; ++r) {
      build_alltoall(sim.schedule(r),
                     Blocks(MPI_BOTTOM, IntArray(scounts[r].data()), IntArray(sdispls[r].data()), stypes[r].data()),
                     Blocks(MPI_BOTTOM, IntArray(rcounts[r].data()), IntArray(rdispls[r].data()), rtypes[r].data()));
    }
    ASSERT_TRUE(sim.run());
    for (int r = 0; r < c.size; ++r) {
      for (int i = 0; i < c.size; ++i) {
        for (int k = 0; k < recv[r][i].ints(); ++k) ASSERT_EQ(recv[r][i].get(k), value(i, r, k));
      }
      expect_clean(recv[r]);
    }
  });
}

// The others must not be left waiting, and the failure must not be lost.
TEST(Truncation, IsReportedAndTheScheduleGoesOn) {
  const Layout& ints = layouts()[0];
  Array long_data(ints, 10), short_data(ints, 4), last(ints, 10);
  Simulator sim(4, 11);
  build_bcast(sim.schedule(0), long_data.buffer(), 0);
  build_bcast(sim.schedule(1), short_data.buffer(), 0);
  build_bcast(sim.schedule(2), short_data.buffer(), 0);
  build_bcast(sim.schedule(3), last.buffer(), 0);
  ASSERT_TRUE(sim.run());
  EXPECT_EQ(sim.error(0), MPI_SUCCESS);
  EXPECT_EQ(sim.error(1), MPI_ERR_TRUNCATE);
  EXPECT_EQ(sim.error(2), MPI_ERR_TRUNCATE);
  EXPECT_EQ(sim.error(3), MPI_SUCCESS);
}

TEST(Truncation, OfTheOwnBlock) {
  const Layout& ints = layouts()[0];
  Array send(ints, 3), recv(ints, 2);
  Simulator sim(1, 12);
  build_allgather(sim.schedule(0), send.buffer(), recv.buffer());
  ASSERT_TRUE(sim.run());
  EXPECT_EQ(sim.error(0), MPI_ERR_TRUNCATE);
  EXPECT_TRUE(recv.holes_untouched());
}

// Nothing here is run: only where each step would read and write.
TEST(HugeCounts, StayInRange) {
  constexpr MPI_Count kCount = (MPI_Count{1} << 33) + 5;
  Datatype& type = mpi::byte_type();
  char* const base = reinterpret_cast<char*>(std::uintptr_t{1} << 44);
  const Buffer each(base, kCount, type);
  Schedule gather(0, 3), allgather(1, 3), alltoall(2, 3);
  build_gather(gather, each, each, 0);
  build_allgather(allgather, Buffer(MPI_IN_PLACE, 0, type), each);
  build_alltoall(alltoall, Blocks(each), Blocks(each));
  std::set<std::pair<int, void*>> received;
  for (Schedule* s : {&gather, &allgather, &alltoall}) {
    for (const Step& step : *s) {
      if (step.kind != StepKind::kRecv) continue;
      EXPECT_EQ(step.to.count, kCount);
      received.insert({s->rank(), step.to.data});
    }
  }
  const std::set<std::pair<int, void*>> expected = {
      {0, base + kCount}, {0, base + 2 * kCount}, {1, base}, {1, base + 2 * kCount}, {2, base}, {2, base + kCount}};
  EXPECT_EQ(received, expected);
}

TEST(Cost, TreesAndDoublingHaveLogarithmicDepth) {
  const Layout& ints = layouts()[0];
  Array data(ints, 16), block(ints, 1);
  for (int size = 2; size <= 64; size *= 2) {
    int levels = 0;
    while (1 << levels < size) ++levels;
    for (int r = 0; r < size; ++r) {
      Schedule bcast(r, size), allgather(r, size), barrier(r, size);
      build_bcast(bcast, data.buffer(), 0);
      build_barrier(barrier);
      EXPECT_LE(bcast.length(), static_cast<std::size_t>(levels + 2));
      EXPECT_EQ(barrier.length(), static_cast<std::size_t>(3 * levels - 1));
    }
  }
}

}  // namespace
}  // namespace heddle::coll::test
