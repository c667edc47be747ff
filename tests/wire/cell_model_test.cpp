// A sender that waits for a cell and the receiver that gives it back, under every interleaving up to a bound, with stale
// values: nobody sleeps on, and a cell is written only after it was read. And each seeded bug is found.
#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"
#include "wire/ring_block.hpp"

namespace heddle::wire {
namespace {

using model::expect_found;
using model::expect_right;
using model::Untimed;

enum class Seed { kNone, kNoSecondLook, kGivesBackAfterLooking, kAsksNobody };
constexpr std::uint32_t kMessages = 3;

// One cell for three messages.
template <class Atomics, Seed kSeed>
struct State {
  BasicRingBlock<Atomics> block;
  BasicDoorbell<Atomics> sender_bell, receiver_bell;
  RingProducer<Atomics> producer{block.ring};
  RingConsumer<Atomics> consumer{block.ring};
  model::Plain<std::uint32_t> cell{0};
  std::uint32_t sent = 0, got = 0;

  bool send() {
    if (!producer.has_room(1) || producer.cells_given_back() != sent) {
      if (kSeed != Seed::kAsksNobody) block.ask_for_room();
      return false;
    }
    cell.set(++sent);
    producer.push_cell({}, nullptr, sent);
    receiver_bell.ring();
    return true;
  }
  void send_all() {
    while (sent < kMessages) {
      if (!send()) sender_bell.sleep(1, [this] { return kSeed != Seed::kNoSecondLook && send(); });
    }
  }

  bool poll() {
    if (!consumer.pop([this](const auto&, const std::byte*) { model::check(cell.get() == ++got, "its own bytes"); })) {
      return false;
    }
    if (kSeed == Seed::kGivesBackAfterLooking && !block.room_is_wanted()) return consumer.give_cell_back(), true;
    consumer.give_cell_back();
    if (block.room_is_wanted()) block.announce_room(consumer, sender_bell);
    return true;
  }
  void receive_all() {
    while (got < kMessages) {
      if (!poll()) receiver_bell.sleep(1, [this] { return poll(); });
    }
  }
};

template <class Atomics, Seed kSeed>
model::Result one_cell() {
  model::Options options;
  options.stale_loads = 2;
  return model::explore(
      [](model::Program& program) {
        const auto s = std::make_shared<State<Atomics, kSeed>>();
        program.thread([s] { s->send_all(); });
        program.thread([s] { s->receive_all(); });
      },
      options);
}

TEST(CellModel, WhoWaitsForACellGetsIt) { expect_right(one_cell<Untimed, Seed::kNone>()); }
TEST(CellModel, SleepingWithoutTheFenceIsFound) {
  expect_found(one_cell<model::WithoutHeavyFence, Seed::kNone>(), model::kLost);
}
TEST(CellModel, SleepingWithoutASecondLookIsFound) {
  expect_found(one_cell<Untimed, Seed::kNoSecondLook>(), model::kLost);
}
TEST(CellModel, AskingNobodyIsFound) { expect_found(one_cell<Untimed, Seed::kAsksNobody>(), model::kLost); }
TEST(CellModel, GivingBackAfterLookingIsFound) {
  expect_found(one_cell<Untimed, Seed::kGivesBackAfterLooking>(), model::kLost);
}

}  // namespace
}  // namespace heddle::wire
