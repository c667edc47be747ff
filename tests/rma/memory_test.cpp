// Updates of a target's memory against mpi::reduce on a copy: every predefined operation on every predefined type, at even
// and odd addresses, across stripes; by hardware, under the stripes' locks, and through the kernel. And when the first becomes the second.
#include "rma/memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "coll/api.hpp"
#include "mpi/handle.hpp"
#include "mpi/pack.hpp"
#include "rma/api.hpp"
#include "support/in_process.hpp"

namespace heddle::rma {
namespace {

using heddle::test::run_processes;

constexpr std::size_t kBytes = 3 * Block::kStripeBytes, kGuard = 64;

std::vector<const mpi::Op*> operations() {
  std::vector<const mpi::Op*> ops;
  for (std::uintptr_t value = 0x20; value < 0x40; ++value) {
    if (const mpi::Op* op = mpi::predefined_op(value)) ops.push_back(op);
  }
  return ops;
}

// Numbers that are no NaN in any of the representations, and truth values as such.
void fill(const mpi::Datatype& type, std::byte* at, std::size_t bytes, unsigned seed) {
  const bool is_logical = type.basic >= mpi::Basic::kBool && type.basic <= mpi::Basic::kLogical16;
  for (std::size_t i = 0; i < bytes; ++i) {
    seed = seed * 1103515245 + 12345;
    at[i] = static_cast<std::byte>(is_logical ? (seed >> 16) % 2 : (seed >> 16) % 64);
  }
}

// Bytes 10 to 15 of a long double mean nothing: whoever computes one may leave anything there.
void clear_padding(const mpi::Datatype& type, std::byte* at, std::size_t count) {
  const auto extent = static_cast<std::size_t>(type.extent);
  const int doubles = type.basic == mpi::Basic::kComplexLongDouble                                        ? 2
                      : type.basic == mpi::Basic::kLongDouble || type.basic == mpi::Basic::kLongDoubleInt ? 1
                                                                                                          : 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (int k = 0; k < doubles; ++k) std::memset(at + i * extent + static_cast<std::size_t>(k) * 16 + 10, 0, 6);
  }
}

struct Aligned {
  explicit Aligned(std::size_t bytes) : memory(bytes / 16 + 1) {}
  std::byte* data() { return memory[0].bytes; }
  struct alignas(16) Piece {
    std::byte bytes[16];
  };
  std::vector<Piece> memory;
};

class Checks {
 public:
  // `there`: where this process sees the target's memory.
  Checks(Memory memory, std::byte* there) : memory_(memory), there_(there) {}

  void check(const mpi::Op& op, const mpi::Datatype& type, std::size_t at, std::size_t count) {
    const auto size = static_cast<std::size_t>(type.size), extent = static_cast<std::size_t>(type.extent);
    Aligned in(count * extent), packed(count * size), expected(count * extent), old(count * size);
    fill(type, in.data(), count * extent, 7);
    fill(type, expected.data(), count * extent, 99);
    fill(type, there_, kBytes, 5);
    std::memcpy(there_ + at, expected.data(), count * extent);
    std::vector<std::byte> all(there_, there_ + kBytes);
    pack(type, count, in.data(), packed.data());
    Aligned before(count * size);
    pack(type, count, expected.data(), before.data());
    mpi::reduce(op, in.data(), expected.data(), static_cast<MPI_Count>(count), type);
    std::memcpy(all.data() + at, expected.data(), count * extent);
    const bool has_operand = op.id != mpi::OpId::kNoOp;
    const std::size_t at_once = type.contiguous ? count : 1;
    for (std::size_t i = 0; i < count; i += at_once) {
      ASSERT_TRUE(memory_.update(at + i * extent, has_operand ? packed.data() + i * size : nullptr,
                                 old.data() + i * size, at_once, op, type))
          << last_error_detail();
    }
    clear_padding(type, all.data() + at, count);
    clear_padding(type, there_ + at, count);
    const std::string what = std::string(op.predefined_name) + " on " + type.predefined_name + " at " +
                             std::to_string(at) + ", " + std::to_string(count);
    ASSERT_EQ(std::memcmp(all.data(), there_, kBytes), 0) << what;
    ASSERT_EQ(std::memcmp(old.data(), before.data(), count * size), 0) << what << ": the old values";
  }

  // All that are allowed. Returns how many.
  int check_all() {
    int pairs = 0;
    for (const mpi::Datatype* type : mpi::predefined_datatypes) {
      if (type == nullptr || type->size == 0) continue;
      for (const mpi::Op* op : operations()) {
        if (!mpi::check_accumulate_op(*op, *type)) continue;
        ++pairs;
        const auto extent = static_cast<std::size_t>(type->extent);
        check(*op, *type, kGuard, 1);
        check(*op, *type, kGuard, 3);
        check(*op, *type, kGuard + 1, 2);
        check(*op, *type, Block::kStripeBytes - 2 * extent + 1, 4);
        if (op->id == mpi::OpId::kSum || op->id == mpi::OpId::kReplace) {
          check(*op, *type, kGuard, (2 * Block::kStripeBytes + 500) / extent);
          check(*op, *type, kGuard + 3, (2 * Block::kStripeBytes + 500) / extent);
        }
        if (testing::Test::HasFatalFailure()) return pairs;
      }
    }
    return pairs;
  }

  void check_swaps() {
    for (std::size_t bytes : {1, 2, 4, 8, 16}) {
      for (std::size_t at : {kGuard, kGuard + 1}) {
        Aligned old(16), next(16), other(16);
        std::memset(there_ + at, 0x11, bytes);
        std::memset(next.data(), 0x22, bytes);
        std::memset(other.data(), 0x33, bytes);
        ASSERT_TRUE(memory_.compare_and_swap(at, next.data(), other.data(), old.data(), bytes));
        EXPECT_EQ(there_[at + bytes - 1], std::byte{0x11}) << "it was something else";
        EXPECT_EQ(std::memcmp(old.data(), there_ + at, bytes), 0);
        std::memset(other.data(), 0x11, bytes);
        ASSERT_TRUE(memory_.compare_and_swap(at, next.data(), other.data(), old.data(), bytes));
        EXPECT_EQ(std::memcmp(next.data(), there_ + at, bytes), 0);
        EXPECT_EQ(std::memcmp(other.data(), old.data(), bytes), 0);
      }
    }
  }

 private:
  static void pack(const mpi::Datatype& type, std::size_t count, const std::byte* from, std::byte* to) {
    mpi::PackCursor cursor;
    cursor.init(type, static_cast<MPI_Count>(count), from);
    cursor.pack(to, cursor.total());
  }

  Memory memory_;
  std::byte* there_;
};

Window& object(MPI_Win win) { return as_window(*mpi::from_handle(win)); }

void check_everything(Memory memory, std::byte* there) {
  Checks checks(memory, there);
  EXPECT_GT(checks.check_all(), 400);
  checks.check_swaps();
}

TEST(Memory, ByHardware) {
  run_processes(1, [](mpi::Process& p) {
    MPI_Win win;
    std::byte* base = nullptr;
    ASSERT_TRUE(api::win_allocate(kBytes, 1, nullptr, *p.world(), &base, &win)) << last_error_detail();
    object(win).all_have_heavy_fence = false;
    check_everything(Memory::own(object(win)), base);
    EXPECT_FALSE(object(win).block->updates.is_by_locks());
    ASSERT_TRUE(api::win_free(&win));
  });
}

TEST(Memory, LongRowsChangeItToLocks) {
  run_processes(1, [](mpi::Process& p) {
    MPI_Win win;
    std::byte* base = nullptr;
    ASSERT_TRUE(api::win_allocate(kBytes, 1, nullptr, *p.world(), &base, &win)) << last_error_detail();
    Memory memory = Memory::own(object(win));
    const Updates& updates = object(win).block->updates;
    const mpi::Datatype& type = *mpi::from_handle(MPI_DOUBLE);
    const mpi::Op& sum = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_SUM));
    const mpi::Op& replace = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_REPLACE));
    const mpi::Op& no_op = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_NO_OP));
    constexpr std::size_t kRow = 100, kLong = 4000;
    std::vector<double> in(kLong, 1.0), old(kLong);
    const auto* from = reinterpret_cast<const std::byte*>(in.data());
    auto* const to = reinterpret_cast<std::byte*>(old.data());
    for (int i = 0; i < 5000; ++i) ASSERT_TRUE(memory.update(0, from, nullptr, 1, sum, type));
    ASSERT_TRUE(memory.update(0, nullptr, to, kLong, no_op, type));
    ASSERT_TRUE(memory.update(8, from, nullptr, kLong - 1, replace, type));
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(memory.update(0, from, nullptr, kRow, sum, type));
    EXPECT_FALSE(updates.is_by_locks());
    ASSERT_TRUE(memory.update(0, from, to, kRow, sum, type));
    EXPECT_TRUE(updates.is_by_locks());
    ASSERT_TRUE(memory.update(0, from, nullptr, 1, sum, type));
    EXPECT_EQ(reinterpret_cast<double*>(base)[0], 5000 + 5 + 1 + 1);
    EXPECT_EQ(reinterpret_cast<double*>(base)[1], 1 + 5 + 1);
    EXPECT_EQ(reinterpret_cast<double*>(base)[kRow], 1);
    EXPECT_EQ(old[0], 5005);
    ASSERT_TRUE(api::win_free(&win));
  });
}

// Rows of two processes that overlap, and single elements in their middle.
TEST(Memory, RowsByHardwareLoseNothing) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Win win;
    std::byte* base = nullptr;
    ASSERT_TRUE(api::win_allocate(4096, 1, nullptr, *p.world(), &base, &win)) << last_error_detail();
    Window& window = object(win);
    window.all_have_heavy_fence = false;
    const int rank = p.world()->rank;
    Target& target = window.target(0);
    std::byte* there = nullptr;
    ASSERT_TRUE(map_target(window, target, &there)) << last_error_detail();
    Memory memory(window, target, there);
    const mpi::Datatype& type = *mpi::from_handle(MPI_DOUBLE);
    const mpi::Op& sum = *mpi::predefined_op(reinterpret_cast<std::uintptr_t>(MPI_SUM));
    constexpr std::size_t kRow = 77, kFirst[] = {0, 40};
    constexpr int kTurns = 20000;
    const std::vector<double> in(kRow, 1.0);
    const auto* from = reinterpret_cast<const std::byte*>(in.data());
    ASSERT_TRUE(api::barrier(*p.world()));
    for (int turn = 0; turn < kTurns; ++turn) {
      ASSERT_TRUE(memory.update(8 * kFirst[rank], from, nullptr, kRow, sum, type));
      ASSERT_TRUE(memory.update(8 * 60, from, nullptr, 1, sum, type));
    }
    ASSERT_TRUE(api::barrier(*p.world()));
    for (std::size_t i = 0; i < kFirst[1] + kRow; ++i) {
      const int rows = (i < kRow) + (i >= kFirst[1]);
      EXPECT_EQ(reinterpret_cast<const double*>(there)[i], kTurns * (rows + (i == 60 ? 2 : 0))) << i;
    }
    EXPECT_FALSE(target.block->updates.is_by_locks());
    ASSERT_TRUE(api::barrier(*p.world()));
    ASSERT_TRUE(api::win_free(&win));
  });
}

TEST(Memory, UnderLocks) {
  run_processes(1, [](mpi::Process& p) {
    Aligned memory(kBytes);
    MPI_Win win;
    ASSERT_TRUE(api::win_create(memory.data(), kBytes, 1, nullptr, *p.world(), &win)) << last_error_detail();
    check_everything(Memory::own(object(win)), memory.data());
    ASSERT_TRUE(api::win_free(&win));
  });
}

TEST(Memory, ThroughTheKernel) {
  setenv("HEDDLE_SINGLE_COPY", "test:none", 1);
  run_processes(2, [](mpi::Process& p) {
    Aligned memory(kBytes);
    MPI_Win win;
    ASSERT_TRUE(api::win_create(memory.data(), kBytes, 1, nullptr, *p.world(), &win)) << last_error_detail();
    Target& target = object(win).target(1);
    if (p.world()->rank == 0 && target.way == Way::kKernel) {
      check_everything(Memory(object(win), target, nullptr), reinterpret_cast<std::byte*>(target.card.base));
      std::byte word[8];
      const Memory none(object(win), target, nullptr);
      EXPECT_EQ(Memory(none).read({8 - target.card.base, 8}, word).error_class(), MPI_ERR_RMA_RANGE);
    }
    ASSERT_TRUE(api::win_free(&win));
  });
  unsetenv("HEDDLE_SINGLE_COPY");
}

}  // namespace
}  // namespace heddle::rma
