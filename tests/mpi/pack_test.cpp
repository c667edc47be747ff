// The pack engine against the oracle: random types, stopped and continued anywhere.
#include "mpi/pack.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "mpi/type_map.hpp"

namespace heddle::mpi {
namespace {

using test::Entry;
using test::Owned;
using test::Typed;

// Memory around an origin, with room for `count` items on both sides of it, and their bytes one by one.
class Memory {
 public:
  Memory(const Typed& t, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) {
      for (const Entry& e : t.map.entries) {
        for (int k = 0; k < e.size; ++k) offsets_.push_back(i * t.map.extent() + e.displacement + k);
      }
    }
    MPI_Count low = 0, high = 0;
    for (MPI_Count o : offsets_) {
      low = std::min(low, o);
      high = std::max(high, o + 1);
    }
    origin_ = static_cast<std::size_t>(-low) + kGuard;
    bytes.assign(static_cast<std::size_t>(high - low) + 2 * kGuard, std::byte{0});
  }
  std::byte* origin() { return bytes.data() + origin_; }
  std::byte& at(std::size_t position) { return origin()[offsets_[position]]; }
  std::size_t total() const { return offsets_.size(); }

  // Makes all bytes 0 that the type names more than once: unpacking may leave any of their values there.
  void clear_overlaps() {
    std::vector<MPI_Count> sorted = offsets_;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i] == sorted[i - 1]) origin()[sorted[i]] = std::byte{0};
    }
  }

  void fill() {
    unsigned value = 1;
    for (std::byte& b : bytes) b = static_cast<std::byte>(value = (value * 75 + 74) % 65537);
  }
  std::vector<std::byte> stream() {
    std::vector<std::byte> s;
    for (std::size_t i = 0; i < total(); ++i) s.push_back(at(i));
    return s;
  }

  std::vector<std::byte> bytes;

 private:
  static constexpr std::size_t kGuard = 16;
  std::vector<MPI_Count> offsets_;
  std::size_t origin_;
};

// Short and longer lengths, 0 among them. Its own numbers: rapidcheck keeps all of its own for shrinking.
class Chunks {
 public:
  std::size_t next() { return random_() % 2 == 0 ? random_() % 9 : random_() % 300; }

 private:
  std::minstd_rand random_{static_cast<unsigned>(test::pick(1, 1000000))};
};

RC_GTEST_PROP(Pack, ChunkByChunkIsTheTypeMapInOrder, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(0, 5);
  Memory memory(t, count);
  memory.fill();
  PackCursor cursor;
  cursor.init(t.type(), count, memory.origin());
  RC_ASSERT(cursor.total() == memory.total());
  std::vector<std::byte> packed(memory.total() + 300);
  Chunks chunks;
  std::size_t done = 0;
  for (int idle = 0; !cursor.done() && idle < 100;) {
    const std::size_t max = chunks.next(), n = cursor.pack(packed.data() + done, max);
    RC_ASSERT(n == std::min(max, memory.total() - done));
    done += n;
    idle += n == 0;
    RC_ASSERT(cursor.position() == done);
  }
  if (!cursor.done()) done += cursor.pack(packed.data() + done, packed.size());
  RC_ASSERT(done == memory.total());
  RC_ASSERT(cursor.pack(packed.data() + done, 10) == 0u);
  packed.resize(done);
  RC_ASSERT(packed == memory.stream());
}

RC_GTEST_PROP(Pack, UnpackWritesTheTypeMapAndNothingElse, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(0, 5);
  Memory memory(t, count), expected(t, count);
  memory.fill();
  expected.fill();
  std::vector<std::byte> stream(memory.total());
  for (std::size_t i = 0; i < stream.size(); ++i) expected.at(i) = stream[i] = static_cast<std::byte>(i * 31 + 7);
  PackCursor cursor;
  cursor.init(t.type(), count, memory.origin());
  Chunks chunks;
  std::size_t done = 0;
  for (int idle = 0; !cursor.done() && idle < 100;) {
    const std::size_t n = cursor.unpack(stream.data() + done, std::min(chunks.next(), stream.size() - done));
    done += n;
    idle += n == 0;
  }
  done += cursor.unpack(stream.data() + done, stream.size() - done);
  RC_ASSERT(done == stream.size());
  memory.clear_overlaps();
  expected.clear_overlaps();
  RC_ASSERT(memory.bytes == expected.bytes);
}

RC_GTEST_PROP(Pack, SeekReachesEveryByte, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  const MPI_Count count = test::pick(0, 4);
  Memory memory(t, count);
  memory.fill();
  const std::vector<std::byte> stream = memory.stream();
  PackCursor cursor;
  cursor.init(t.type(), count, memory.origin());
  Chunks chunks;
  for (int i = 0; i < 20; ++i) {
    const std::size_t from = static_cast<std::size_t>(test::pick(0, static_cast<int>(stream.size()) + 1));
    const std::size_t n = std::min(chunks.next(), stream.size() - from);
    std::vector<std::byte> packed(n);
    PackCursor copy = cursor;  // trivially copyable: a copy goes its own way
    copy.seek(from);
    RC_ASSERT(copy.pack(packed.data(), n) == n);
    RC_ASSERT(std::equal(packed.begin(), packed.end(), stream.begin() + static_cast<std::ptrdiff_t>(from)));
    RC_ASSERT(cursor.position() == 0u);
  }
}

RC_GTEST_PROP(Pack, CopyBetweenTypesKeepsTheStream, ()) {
  const Typed from = test::random_type(test::pick(1, 4)), to = test::random_type(test::pick(0, 4));
  const MPI_Count from_count = test::pick(0, 6), to_count = test::pick(0, 6);
  Memory source(from, from_count), target(to, to_count), expected(to, to_count);
  source.fill();
  const std::size_t total = std::min(source.total(), target.total());
  for (std::size_t i = 0; i < total; ++i) expected.at(i) = source.at(i);
  RC_ASSERT(copy_typed(from.type(), from_count, source.origin(), to.type(), to_count, target.origin()) == total);
  target.clear_overlaps();
  expected.clear_overlaps();
  RC_ASSERT(target.bytes == expected.bytes);
}

Layout layout_of(MPI_Datatype handle) { return from_handle(handle)->layout; }

Owned vector(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype old) {
  Owned made;
  EXPECT_TRUE(api::type_vector(count, length, stride, *from_handle(old), &made, true));
  return made;
}

TEST(Layout, NestedContiguousTypesAreOneBlock) {
  const Owned t = vector(3, 4, 4, vector(5, 2, 2, MPI_INT));
  EXPECT_EQ(layout_of(t).node.kind, Node::kBlock);
  EXPECT_EQ(layout_of(t).node.size, 3 * 4 * 5 * 2 * 4);
  EXPECT_TRUE(from_handle(t)->contiguous);
}

TEST(Layout, AVectorOfAVectorThatContinuesItIsOneVector) {
  Owned column = vector(4, 1, 3, MPI_DOUBLE), resized, columns;
  ASSERT_TRUE(api::type_create_resized(*from_handle(column), 0, 4 * 3 * 8, &resized, true));
  ASSERT_TRUE(api::type_contiguous(10, *from_handle(resized), &columns, true));
  const Node& node = layout_of(columns).node;
  EXPECT_EQ(node.kind, Node::kStrided);
  EXPECT_EQ(node.count, 40);
  EXPECT_EQ(node.stride, 24);
  EXPECT_EQ(node.bytes, 8);
  EXPECT_FALSE(from_handle(columns)->contiguous);
}

TEST(Layout, AStructWithoutPaddingIsOneBlock) {
  const MPI_Count lengths[] = {1, 2, 1}, displacements[] = {8, 16, 24};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_LONG};
  Owned t;
  ASSERT_TRUE(api::type_create_struct(3, IntArray(lengths), IntArray(displacements), types, &t, true));
  EXPECT_EQ(layout_of(t).node.kind, Node::kBlock);
  EXPECT_EQ(layout_of(t).offset, 8);
  EXPECT_EQ(layout_of(t).node.size, 24);
}

TEST(Layout, RegularIndexedTypesAreStrided) {
  const MPI_Count displacements[] = {0, 5, 10, 15};
  Owned t;
  ASSERT_TRUE(api::type_create_indexed_block(4, 2, IntArray(displacements), *from_handle(MPI_INT), &t, true));
  EXPECT_EQ(layout_of(t).node.kind, Node::kStrided);
  EXPECT_EQ(layout_of(t).node.stride, 20);
}

TEST(Layout, OrderIsTheTypeMapsNotTheAddresses) {
  const MPI_Count displacements[] = {1, 0};
  Owned t;
  ASSERT_TRUE(api::type_create_indexed_block(2, 1, IntArray(displacements), *from_handle(MPI_INT), &t, true));
  const int memory[] = {10, 20};
  int packed[2];
  PackCursor cursor;
  cursor.init(*from_handle(t), 1, memory);
  EXPECT_FALSE(cursor.contiguous());
  ASSERT_EQ(cursor.pack(reinterpret_cast<std::byte*>(packed), 8), 8u);
  EXPECT_EQ(packed[0], 20);
  EXPECT_EQ(packed[1], 10);
}

// struct { byte, previous }, again and again: the layout must stay shallow, and the chain must go without a deep
// recursion.
TEST(Layout, AVeryDeepTypePacksAndDies) {
  constexpr int kDepth = 20000;
  Owned t = MPI_BYTE;
  for (int i = 1; i < kDepth; ++i) {
    const MPI_Count lengths[] = {1, 1}, displacements[] = {0, 2};
    const MPI_Datatype types[] = {MPI_BYTE, t};
    Owned next;
    ASSERT_TRUE(api::type_create_struct(2, IntArray(lengths), IntArray(displacements), types, &next, true));
    t = std::move(next);  // frees what it was
  }
  EXPECT_LE(layout_of(t).node.depth, kMaxDepth + 1);
  std::vector<std::byte> memory(2 * kDepth), packed(kDepth);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  PackCursor cursor;
  cursor.init(*from_handle(t), 1, memory.data());
  ASSERT_EQ(cursor.pack(packed.data(), packed.size()), static_cast<std::size_t>(kDepth));
  for (std::size_t i = 0; i < packed.size(); ++i) ASSERT_EQ(packed[i], memory[2 * i]) << i;
  ASSERT_TRUE(api::type_free(&t.raw()));
}

TEST(Pack, AbsoluteAddressesFromBottom) {
  int a = 1;
  double b = 2.5;
  const MPI_Count lengths[] = {1, 1};
  const MPI_Aint addresses[] = {reinterpret_cast<MPI_Aint>(&a), reinterpret_cast<MPI_Aint>(&b)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  Owned t;
  ASSERT_TRUE(api::type_create_struct(2, IntArray(lengths), IntArray(addresses), types, &t, true));
  std::byte packed[12];
  PackCursor cursor;
  cursor.init(*from_handle(t), 1, MPI_BOTTOM);
  ASSERT_EQ(cursor.pack(packed, 100), 12u);
  EXPECT_EQ(std::memcmp(packed, &a, 4), 0);
  EXPECT_EQ(std::memcmp(packed + 4, &b, 8), 0);
  a = 0;
  b = 0;
  cursor.seek(0);
  ASSERT_EQ(cursor.unpack(packed, 12), 12u);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2.5);
}

// More room than memory: the cursor counts, and touches only what arrives.
TEST(Pack, TotalsBeyondSixtyThreeBitsAreCutOff) {
  Owned t = vector(MPI_Count{1} << 40, 1, 2, MPI_DOUBLE);
  double memory[4] = {};
  PackCursor cursor;
  cursor.init(*from_handle(t), MPI_Count{1} << 40, memory);
  EXPECT_GT(cursor.total(), std::size_t{1} << 62);
  const double in[2] = {1, 2};
  ASSERT_EQ(cursor.unpack(reinterpret_cast<const std::byte*>(in), 16), 16u);
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(memory[2], 2);
}

TEST(Pack, TheProceduresKeepPositionAndRefuseWhatDoesNotFit) {
  alignas(Comm) std::byte any[sizeof(Comm)];  // packing is the same for all communicators: none is looked at
  Comm& comm = reinterpret_cast<Comm&>(any);
  const Owned t = vector(2, 1, 2, MPI_INT);
  const int in[] = {1, 2, 3, 4};
  int out[4] = {};
  std::byte buffer[20];
  MPI_Count position = 4;
  ASSERT_TRUE(api::pack(in, 1, *from_handle(t), buffer, 20, &position, comm));
  EXPECT_EQ(position, 12);
  ASSERT_TRUE(api::pack(in + 3, 1, *from_handle(MPI_INT), buffer, 20, &position, comm));
  EXPECT_EQ(position, 16);
  EXPECT_EQ(api::pack(in, 1, *from_handle(t), buffer, 20, &position, comm).error_class(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(position, 16);
  position = 4;
  ASSERT_TRUE(api::unpack(buffer, 16, &position, out, 1, *from_handle(t), comm));
  ASSERT_TRUE(api::unpack(buffer, 16, &position, out + 3, 1, *from_handle(MPI_INT), comm));
  EXPECT_EQ(position, 16);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], 3);
  EXPECT_EQ(out[3], 4);
  EXPECT_EQ(api::unpack(buffer, 16, &position, out, 1, *from_handle(MPI_BYTE), comm).error_class(), MPI_ERR_TRUNCATE);
  position = -1;
  EXPECT_EQ(api::unpack(buffer, 16, &position, out, 1, *from_handle(MPI_BYTE), comm).error_class(), MPI_ERR_ARG);
  MPI_Count size;
  ASSERT_TRUE(api::pack_size(5, *from_handle(t), comm, &size));
  EXPECT_EQ(size, 40);
  EXPECT_EQ(api::pack_size(MPI_Count{1} << 61, *from_handle(t), comm, &size).error_class(), MPI_ERR_COUNT);
}

}  // namespace
}  // namespace heddle::mpi
