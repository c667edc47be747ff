// The ring under every interleaving up to a bound, with stale values: no race on a slot's bytes, nothing lost, nothing
// reordered. And the test of the test: with any one of its four orderings weakened, the model finds the bug.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/model/broken.hpp"
#include "wire/ring.hpp"

namespace heddle::wire {
namespace {

using model::expect_found;
using model::expect_right;
using model::ModelAtomics;
using model::Options;
using model::Program;
using model::Result;
using model::Weak;
using model::Weakened;

constexpr std::size_t kSender = 1;  // logical threads, in the order in which they are made
constexpr std::size_t kReceiver = 2;
std::byte byte_of(std::size_t packet, std::size_t i) { return static_cast<std::byte>(packet * 37 + i); }

template <class Atomics>
struct State {
  RingMemory<Atomics> memory;
  RingProducer<Atomics> producer{memory};
  RingConsumer<Atomics> consumer{memory};
  std::size_t pushed = 0;
  std::size_t popped = 0;
  std::byte buffer[kMaxInline];

  bool push(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) buffer[i] = byte_of(pushed, i);
    Header header;
    header.context = static_cast<std::uint32_t>(pushed);
    Payload payload{buffer, bytes};
    if (!producer.try_push(header, buffer, payload)) return false;
    ++pushed;
    return true;
  }
  bool pop(std::size_t bytes) {
    const bool got = consumer.pop([&](const auto& first, const std::byte* data) {
      model::check(first.header.context == popped, "packets come in the order of sending");
      model::check(first.bytes == bytes, "a packet has its length");
      for (std::size_t i = 0; i < bytes; ++i) model::check(data[i] == byte_of(popped, i), "a packet has its bytes");
    });
    popped += got;
    return got;
  }
};

// What is done before the threads start decides where in the ring they meet, and how much room there is.
struct Traffic {
  std::size_t passed = 0;              // one-slot packets, pushed and popped before
  std::vector<std::size_t> waiting{};  // sizes of packets, pushed before
  std::vector<std::size_t> sent{};     // sizes of packets that the sender pushes while the receiver pops everything
};

template <class Atomics>
Result run(const Traffic& traffic, const Options& options = {}) {
  std::vector<std::size_t> all = traffic.waiting;
  all.insert(all.end(), traffic.sent.begin(), traffic.sent.end());
  return model::explore(
      [&](Program& program) {
        const auto state = std::make_shared<State<Atomics>>();
        for (std::size_t i = 0; i < traffic.passed; ++i) {
          model::check(state->push(8) && state->pop(8), "room for one packet at a time");
        }
        state->popped = state->pushed = 0;
        for (std::size_t bytes : traffic.waiting) model::check(state->push(bytes), "room for what waits");
        program.thread([state, &traffic] {
          for (std::size_t bytes : traffic.sent) {
            while (!state->push(bytes)) Atomics::pause();
          }
        });
        program.thread([state, &all] {
          for (std::size_t bytes : all) {
            while (!state->pop(bytes)) Atomics::pause();
          }
        });
        program.finally([state, &all] {
          model::check(state->popped == all.size(), "everything arrived");
          model::check(state->consumer.empty(), "and nothing else");
        });
      },
      options);
}

// Over the end of the array, with packets of one slot and of two.
const Traffic kWrapAround{.passed = RingMemory<>::kSlots - 2, .sent = {8, 90, 0, 96}};
// Full but for one slot: the sender must get credit, and then writes where the receiver has just read.
const Traffic kFull{.waiting = std::vector<std::size_t>(RingMemory<>::kSlots - 1, 8), .sent = {kMaxInline, kMaxInline}};

TEST(RingModel, WrapsAround) {
  const Result result = run<ModelAtomics>(kWrapAround);
  expect_right(result);
  EXPECT_GT(result.executions, 1000u);
}

TEST(RingModel, ReusesSlotsOnlyAfterTheyWereRead) {
  Options options;  // more would be minutes under the sanitizers
  options.preemptions = 1;
  options.stale_loads = 2;
  const Result result = run<ModelAtomics>(kFull, options);
  expect_right(result);
}

TEST(RingModel, LongRandomTraffic) {
  std::mt19937 random(3);
  Traffic traffic;
  for (int i = 0; i < 120; ++i) traffic.sent.push_back(random() % 4 == 0 ? random() % kMaxInline : random() % 41);
  Options options;
  options.executions = 50;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    options.seed = seed;
    const Result result = run<ModelAtomics>(traffic, options);
    EXPECT_FALSE(result.failed) << result.report;
  }
}

template <std::size_t kThread, Weak kWeak>
void expect_race(const Traffic& traffic) {
  expect_found(run<Weakened<kThread, kWeak>>(traffic), model::kRace);
}

TEST(RingModel, PublishingMustRelease) { expect_race<kSender, Weak::kStores>(kWrapAround); }
TEST(RingModel, LookingForAPacketMustAcquire) { expect_race<kReceiver, Weak::kLoads>(kWrapAround); }
TEST(RingModel, GivingCreditMustRelease) { expect_race<kReceiver, Weak::kStores>(kFull); }
TEST(RingModel, TakingCreditMustAcquire) { expect_race<kSender, Weak::kLoads>(kFull); }

// One cell, written by the sender when the receiver has given it back.
template <class Atomics>
Result cell_traffic() {
  struct Cell {
    State<Atomics> ring;
    std::byte cell[96];
  };
  return model::explore([](Program& program) {
    const auto s = std::make_shared<Cell>();
    program.thread([s] {
      for (std::uint32_t i = 0; i < 2; ++i) {
        while (s->ring.producer.cells_given_back() != i || !s->ring.producer.has_room(1)) Atomics::pause();
        Atomics::writes(s->cell, sizeof s->cell);
        s->cell[5] = std::byte(i + 1);
        s->ring.producer.push_cell(Header{}, s->cell, i);
      }
    });
    program.thread([s] {
      for (std::uint32_t i = 0; i < 2; ++i) {
        while (!s->ring.consumer.pop([&](const auto& first, const std::byte* data) {
          std::uint32_t ref = 0;
          std::memcpy(&ref, data, sizeof ref);
          model::check(first.kind == SlotKind::kCell && ref == i, "the reference arrives");
          Atomics::reads(s->cell, sizeof s->cell);
          model::check(s->cell[5] == std::byte(i + 1), "the cell has its bytes");
        })) {
          Atomics::pause();
        }
        s->ring.consumer.give_cell_back();
      }
    });
  });
}

TEST(RingModel, ACellIsWrittenOnlyAfterItWasRead) {
  expect_right(cell_traffic<ModelAtomics>());
  expect_found(cell_traffic<Weakened<kReceiver, Weak::kStores>>(), model::kRace);
  expect_found(cell_traffic<Weakened<kSender, Weak::kLoads>>(), model::kRace);
}

static_assert(sizeof(Slot<ModelAtomics>) == sizeof(PlainSlot), "the model tests the real layout");
static_assert(sizeof(RingMemory<ModelAtomics>) == sizeof(RingMemory<>));

}  // namespace
}  // namespace heddle::wire
