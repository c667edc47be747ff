// What the models of a board have in common: ranks of a node with a few lines, and what they show and find there.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/doorbell.hpp"
#include "base/lock.hpp"
#include "base/model/broken.hpp"
#include "wire/board_lines.hpp"

namespace heddle::wire::board_model {

using model::Untimed;
using model::Weak;

// A board's atomics, for policies that weaken some of them.
enum class Part { kHead, kThrough, kShown, kKnown, kApart };
inline const std::byte *head_of_node = nullptr, *readings_of_node = nullptr, *lines_of_node = nullptr,
                       *end_of_node = nullptr;
template <Part kPart>
struct Of {
  static bool has(const void* address, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(address);
    if (at >= head_of_node && at < readings_of_node) return kPart == Part::kHead;
    if (at >= readings_of_node && at < lines_of_node) return kPart == Part::kThrough;
    if (at >= lines_of_node && at < end_of_node) return kPart == Part::kShown;
    return kPart == (bytes == sizeof(std::uint64_t) ? Part::kKnown : Part::kApart);
  }
};
template <Part kPart, Weak kWeak>
using WeakAt = model::WeakenedIf<Of<kPart>, kWeak>;

// When a rank tells the board that it is about to sleep: before its bell (as Turn), or between that and its last look, with a fence of its
// own (as a task) or without, or after that look.
enum class Tells { kBefore, kFenced, kUnfenced, kAfter };

template <class Atomics, class Mutex = BasicLock<Atomics, 1>>
struct Node {
  using Lines = BasicBoardLines<Atomics, Mutex>;
  static constexpr std::uint32_t kMostRanks = 3, kMostLines = 4;

  Node(std::uint32_t ranks, std::uint32_t lines) : depth(lines) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) boards.emplace_back(memory, ranks, lines, rank);
    head_of_node = memory;
    readings_of_node = memory + Lines::bytes(0, 0);
    lines_of_node = memory + Lines::bytes(ranks, 0);
    end_of_node = memory + Lines::bytes(ranks, lines);
  }

  Lines& operator[](std::uint32_t rank) { return boards[rank]; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(boards.size()); }
  bool is_free(std::uint32_t rank, std::uint64_t op) { return boards[rank].is_free(op, depth); }

  static std::uint64_t value_of(std::uint64_t op, std::uint32_t rank) { return op * 10 + rank; }
  void write(std::uint32_t rank, std::uint64_t op) {
    const std::uint64_t value = value_of(op, rank);
    std::byte* to = boards[rank].data(op, rank);
    Atomics::writes(to, sizeof value);
    std::memcpy(to, &value, sizeof value);
  }
  // By `self`, what `rank` has shown.
  void read(std::uint32_t self, std::uint64_t op, std::uint32_t rank) {
    std::uint64_t value = 0;
    const std::byte* from = boards[self].data(op, rank);
    Atomics::reads(from, sizeof value);
    std::memcpy(&value, from, sizeof value);
    model::check(value == value_of(op, rank), "what is read is what was shown in that operation");
    model::check(boards[self].claim_of(op, rank) == op, "and so is the claim");
  }
  void read_all(std::uint32_t self, std::uint64_t op) {
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) read(self, op, rank);
  }
  void show(std::uint32_t rank, std::uint64_t op) {
    write(rank, op);
    boards[rank].show(op, op);
  }
  void show_apart(std::uint32_t rank, std::uint64_t op) {
    write(rank, op);
    boards[rank].show_apart(op, op);
  }

  // As Board::show() and Board::end_apart(), when somebody may sleep.
  void tell_of_room(std::uint32_t rank) {
    if (!boards[rank].has_waiting()) return;
    for (std::uint32_t other = 0; other < ranks(); ++other) bells[other].ring();
  }
  // As Turn::has_room().
  void sleep_for_room(std::uint32_t rank, std::uint64_t op, bool second_look, Tells when = Tells::kBefore) {
    if (is_free(rank, op)) return;
    sleep_told(
        rank, second_look, [&] { return is_free(rank, op); }, when, [&] { boards[rank].begin_to_wait(); });
    boards[rank].end_wait();
  }
  // As Board::ring_once().
  void ring_once(std::uint32_t self, std::uint64_t op) {
    if (!boards[self].has_sleeping()) return;
    boards[self].wake_once(
        op, [this](std::uint32_t rank) { return bells[rank].heard(); },
        [this](std::uint32_t rank) { bells[rank].ring(); });
  }
  // As Board::ring(): each rank is a process with a bell of its own.
  void ring(std::uint32_t self) {
    if (!boards[self].has_sleeping()) return;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      if (rank != self) bells[rank].ring();
    }
  }
  template <class Done>
  static void spin(Done&& done) {
    while (!done()) Atomics::pause();
  }
  // As Turn::await().
  template <class Done>
  void sleep(std::uint32_t self, bool second_look, Done&& done, Tells when = Tells::kBefore) {
    if (done()) return;
    sleep_told(self, second_look, done, when, [&] { boards[self].begin_to_sleep(); });
    boards[self].end_sleep();
  }
  // As Domain::wait(): another look when all would see that this rank is about to sleep. `begin` tells the board.
  template <class Done, class Begin>
  void sleep_told(std::uint32_t self, bool second_look, Done&& done, Tells when, Begin&& begin) {
    bool told = false;
    const auto tell = [&](bool now) {
      if (now && !std::exchange(told, true)) begin();
    };
    tell(when == Tells::kBefore);
    for (bool is_done = false; !is_done;) {
      bells[self].sleep(1, [&] {
        tell(when == Tells::kFenced || when == Tells::kUnfenced);
        if (when == Tells::kFenced) Atomics::heavy_fence();
        is_done = second_look && done();
        tell(when == Tells::kAfter);
        return is_done;
      });
      if (!second_look) is_done = done();
    }
  }

  alignas(kCacheLine) std::byte memory[Lines::bytes(kMostRanks, kMostLines)]{};
  std::deque<Lines> boards;
  BasicDoorbell<Atomics> bells[kMostRanks];
  const std::uint32_t depth;
};
static_assert(Node<Untimed>::Lines::bytes(2, 2) == BoardLines::bytes(2, 2), "the model tests the real layout");

}  // namespace heddle::wire::board_model
