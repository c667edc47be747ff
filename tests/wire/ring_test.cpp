#include "wire/ring.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace heddle::wire {
namespace {

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>((i * 7 + seed * 31 + 5) & 0xFF);
  return out;
}

bool push(RingProducer<>& producer, unsigned number, std::size_t prefix_bytes, std::size_t bytes) {
  const auto prefix = pattern(prefix_bytes, number + 1);
  const auto data = pattern(bytes, number);
  const Header header{3,      static_cast<std::uint8_t>(prefix_bytes), 0,
                      number, static_cast<std::int32_t>(number + 1),   static_cast<std::int32_t>(bytes)};
  Payload payload{data.data(), data.size()};
  return producer.try_push(header, prefix.data(), payload);
}

void expect_packet(const PlainSlot::First& first, const std::byte* bytes, unsigned number, std::size_t prefix_bytes,
                   std::size_t payload_bytes) {
  ASSERT_EQ(first.header.context, number);
  ASSERT_EQ(first.header.source, static_cast<std::int32_t>(number + 1));
  ASSERT_EQ(first.bytes, prefix_bytes + payload_bytes);
  ASSERT_EQ(std::vector<std::byte>(bytes, bytes + prefix_bytes), pattern(prefix_bytes, number + 1));
  ASSERT_EQ(std::vector<std::byte>(bytes + prefix_bytes, bytes + first.bytes), pattern(payload_bytes, number));
}

TEST(Ring, EveryInlineSizeArrivesWhole) {
  auto memory = std::make_unique<RingMemory<>>();
  RingProducer<> producer(*memory);
  RingConsumer<> consumer(*memory);
  unsigned number = 0;
  for (std::size_t prefix : {std::size_t{0}, std::size_t{8}, kMaxPrefix}) {
    for (std::size_t bytes = 0; bytes + prefix <= kMaxInline; ++bytes, ++number) {
      ASSERT_TRUE(push(producer, number, prefix, bytes));
      ASSERT_TRUE(consumer.pop(
          [&](const auto& first, const std::byte* at) { expect_packet(first, at, number, prefix, bytes); }));
      ASSERT_TRUE(consumer.empty());
    }
  }
}

TEST(Ring, FullRingRefusesAndTakesNothing) {
  auto memory = std::make_unique<RingMemory<>>();
  RingProducer<> producer(*memory);
  RingConsumer<> consumer(*memory);
  unsigned pushed = 0;
  while (push(producer, pushed, 0, 8)) ++pushed;
  EXPECT_EQ(pushed, RingMemory<>::kSlots);
  for (unsigned i = 0; i < pushed; ++i) {
    ASSERT_TRUE(consumer.pop([&](const auto& first, const std::byte* at) { expect_packet(first, at, i, 0, 8); }));
  }
  EXPECT_TRUE(consumer.empty());
  EXPECT_TRUE(push(producer, 99, 0, 8));
}

// A payload made of plausible sequence numbers must not be taken for a slot.
TEST(Ring, PayloadThatLooksLikeASequenceIsNotBelieved) {
  auto memory = std::make_unique<RingMemory<>>();
  RingProducer<> producer(*memory);
  RingConsumer<> consumer(*memory);
  for (std::uint32_t round = 0; round < 1000; ++round) {
    std::vector<std::uint32_t> hostile(kMaxInline / 4);
    std::iota(hostile.begin(), hostile.end(), round * 2);
    Payload payload{hostile.data(), hostile.size() * 4};
    ASSERT_TRUE(producer.try_push(Header{}, nullptr, payload));
    int got = 0;
    while (consumer.pop([&](const auto& first, const std::byte* at) {
      ++got;
      ASSERT_EQ(first.bytes, hostile.size() * 4);
      ASSERT_EQ(std::memcmp(at, hostile.data(), first.bytes), 0);
    })) {
    }
    ASSERT_EQ(got, 1);
  }
}

TEST(Ring, TwoThreadsKeepOrderAndBytes) {
  auto memory = std::make_unique<RingMemory<>>();
  constexpr unsigned kPackets = 100'000;
  auto size_of = [](unsigned number) { return (number * 2654435761u) % (kMaxInline - 2 * 8 + 1); };
  std::thread sender([&] {
    RingProducer<> producer(*memory);
    for (unsigned i = 0; i < kPackets; ++i) {
      while (!push(producer, i, i % 3 * 8, size_of(i))) std::this_thread::yield();
    }
  });
  RingConsumer<> consumer(*memory);
  for (unsigned i = 0; i < kPackets;) {
    if (consumer.pop(
            [&](const auto& first, const std::byte* at) { expect_packet(first, at, i, i % 3 * 8, size_of(i)); })) {
      ++i;
    } else {
      std::this_thread::yield();
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  sender.join();
}

}  // namespace
}  // namespace heddle::wire
