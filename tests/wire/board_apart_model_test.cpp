// Operations apart on a board, which end beside others and perhaps in another thread than the one that begins: under every interleaving up
// to a bound, with stale values, nobody writes what somebody has still to read of them, and who waits for that is woken.
#include "wire/board_model.hpp"

namespace heddle::wire::board_model {
namespace {

using model::expect_found;
using model::expect_right;
using model::kLost;
using model::kRace;
using model::Options;
using model::Program;
using model::Result;

constexpr Options kFew{.preemptions = 1, .stale_loads = 1};

enum class Seed {
  kNone,
  kEndsFirst,    // and reads then
  kTellsNobody,  // at the end of what is apart
};

template <class Atomics>
struct NoMutex {
  void lock() {}
  void unlock() {}
};

// Two ranks, two lines. Operation 1 is apart; 2 is beside it, in order or apart too; 3 takes the line of 1.
template <class Atomics, class Mutex>
struct Beside : Node<Atomics, Mutex> {
  using typename Node<Atomics, Mutex>::Lines;

  Beside(bool is_second_apart, bool sleeping, Seed how)
      : Node<Atomics, Mutex>(2, 2), both_apart(is_second_apart), sleeps(sleeping), seed(how) {
    for (std::uint32_t self : {0, 1}) (*this)[self].begin_apart(apart[self], 1);
  }

  template <class Done>
  void wait(std::uint32_t self, Done&& done) {
    sleeps ? this->sleep(self, true, done) : this->spin(done);
  }
  void wait_for_all(std::uint32_t self, std::uint64_t op) {
    std::uint32_t next = 0;
    wait(self, [&] { return (*this)[self].all_have_shown(op, &next); });
    if (sleeps) this->ring_once(self, op);
  }
  // Shows in passing, as what does not block does.
  void come(std::uint32_t self, std::uint64_t op) {
    this->show_apart(self, op);
    if (!sleeps) return;
    std::uint32_t next = 0;
    (*this)[self].between_show_and_look_again();
    if ((*this)[self].all_have_shown(op, &next)) this->ring_once(self, op);
  }
  void end(std::uint32_t self, std::uint64_t op, typename Lines::Apart& which) {
    if (seed == Seed::kEndsFirst) (*this)[self].end_apart(which);
    this->read_all(self, op);
    if (seed != Seed::kEndsFirst) (*this)[self].end_apart(which);
    if (sleeps && seed != Seed::kTellsNobody) this->tell_of_room(self);
  }
  void first(std::uint32_t self) {
    wait_for_all(self, 1);
    end(self, 1, apart[self]);
  }
  void second(std::uint32_t self) {
    if (both_apart) {
      (*this)[self].begin_apart(other[self], 1);
      come(self, 2);
      wait_for_all(self, 2);
      end(self, 2, other[self]);
    } else {
      this->show(self, (*this)[self].begin());
      if (sleeps) this->tell_of_room(self);
      wait_for_all(self, 2);
      this->read_all(self, 2);
    }
  }
  void third(std::uint32_t self) {
    const std::uint64_t op = (*this)[self].begin();
    model::check(op == 3, "it is the third");
    if (sleeps) {
      this->sleep_for_room(self, op, true);
    } else {
      this->spin([&] { return this->is_free(self, op); });
    }
    this->show(self, op);
  }

  const bool both_apart, sleeps;
  const Seed seed;
  typename Lines::Apart apart[2], other[2];
};

// Rank 0 has a thread for the first operation, and one for the others.
template <class Atomics, class Mutex = BasicLock<Atomics, 1>>
Result beside(bool both_apart, bool sleeps = false, Seed seed = Seed::kNone, Options options = kFew) {
  return model::explore(
      [=](Program& program) {
        const auto node = std::make_shared<Beside<Atomics, Mutex>>(both_apart, sleeps, seed);
        program.thread([node] {
          node->come(0, 1);
          node->first(0);
        });
        program.thread([node] {
          node->second(0);
          node->third(0);
        });
        program.thread([node] {
          node->come(1, 1);
          node->second(1);
          node->first(1);
          node->third(1);
        });
      },
      options);
}

TEST(BoardApartModel, WhatIsApartKeepsItsPlaceBesideOthers) {
  expect_right(beside<Untimed>(false));
  expect_right(beside<Untimed>(true));
}
TEST(BoardApartModel, ItEndsWhenAllIsReadAndTheListHasALock) {
  expect_found(beside<Untimed>(false, false, Seed::kEndsFirst));
  expect_found((beside<Untimed, NoMutex<Untimed>>(true)), kRace);
  expect_found(beside<WeakAt<Part::kThrough, Weak::kStores>>(false), kRace);
  expect_found(beside<WeakAt<Part::kThrough, Weak::kLoads>>(false), kRace);
}
TEST(BoardApartModel, TheEndWakesWhoWaitsForThePlace) {
  expect_right(beside<Untimed>(false, true));
  expect_right(beside<Untimed>(true, true));
}
TEST(BoardApartModel, ALostWakeUpIsFound) {
  expect_found(beside<Untimed>(false, true, Seed::kTellsNobody), kLost);
  expect_found(beside<model::WithoutHeavyFence>(false, true), kLost);
}

// Operation 1 has been read in another thread of rank 0 than the one that tells how far this rank has read. Rank 1 waits for that, and for
// what follows: how far it is never goes back.
template <class Atomics>
Result told_by_another_thread() {
  return model::explore(
      [](Program& program) {
        const auto node = std::make_shared<Node<Atomics>>(2, 4);
        const auto apart = std::make_shared<typename Node<Atomics>::Lines::Apart[]>(2);
        for (std::uint32_t self : {0, 1}) (*node)[self].begin_apart(apart[self], 1);
        node->show_apart(1, 1);
        program.thread([node, apart] {
          node->read(0, 1, 1);
          (*node)[0].end_apart(apart[0]);
        });
        program.thread([node] {
          for (int i = 0; i < 2; ++i) node->show(0, (*node)[0].begin());
        });
        program.thread([node, apart] {
          auto& board = (*node)[1];
          board.end_apart(apart[1]);
          for (int i = 0; i < 3; ++i) board.show(board.begin(), 0);
          for (int i = 0; i < 2; ++i) {  // the places of 1, and of 2
            const std::uint64_t op = board.begin();
            node->spin([&] { return node->is_free(1, op); });
            node->show(1, op);
          }
        });
      },
      kFew);
}
TEST(BoardApartModel, WhoeverTellsHowFarARankHasReadKnowsWhatEndedApart) {
  expect_right(told_by_another_thread<Untimed>());
  expect_found(told_by_another_thread<WeakAt<Part::kApart, Weak::kCounts>>(), kRace);
  expect_found(told_by_another_thread<WeakAt<Part::kApart, Weak::kLoads>>(), kRace);
}

// Two threads of rank 0 ask for places, of 5, which is apart, and of 7: what one has found out of the reader the other knows.
template <class Atomics>
Result known_by_another_thread() {
  return model::explore(
      [](Program& program) {
        const auto node = std::make_shared<Node<Atomics>>(2, 4);
        auto& root = (*node)[0];
        const auto apart = std::make_shared<typename Node<Atomics>::Lines::Apart>();
        for (int i = 0; i < 4; ++i) node->show(0, root.begin());
        root.begin_apart(*apart, 2);
        program.thread([node, apart] {
          node->spin([&] { return node->is_free(0, 5); });
          node->show_apart(0, 5);
        });
        program.thread([node] {
          const std::uint64_t op = (*node)[0].begin();
          model::check(op == 7, "it follows two numbers of the one apart");
          node->spin([&] { return node->is_free(0, op); });
          node->show(0, op);
        });
        program.thread([node] {
          for (int i = 0; i < 4; ++i) {
            const std::uint64_t op = (*node)[1].begin();
            (*node)[1].show(op, 0);
            node->read(1, op, 0);
          }
        });
      },
      kFew);
}
TEST(BoardApartModel, WhatOneThreadHasFoundOutTheOtherKnows) {
  expect_right(known_by_another_thread<Untimed>());
  expect_found(known_by_another_thread<WeakAt<Part::kKnown, Weak::kStores>>(), kRace);
  expect_found(known_by_another_thread<WeakAt<Part::kKnown, Weak::kLoads>>(), kRace);
}

// After one in order, of which only the next would tell that it was read.
Result of_so_many_numbers(std::uint64_t numbers) {
  return model::explore(
      [numbers](Program& program) {
        const auto node = std::make_shared<Node<Untimed>>(2, 4);
        const auto apart = std::make_shared<Node<Untimed>::Lines::Apart[]>(2);
        for (std::uint32_t self : {0, 1}) {
          node->show(self, (*node)[self].begin());
          (*node)[self].begin_apart(apart[self], static_cast<unsigned>(numbers));
        }
        for (std::uint32_t self : {0, 1}) {
          program.thread([node, apart, self, numbers] {
            for (std::uint64_t op = 2; op < 2 + numbers; ++op) {
              std::uint32_t next = 0;
              node->spin([&] { return node->is_free(self, op); });
              node->show_apart(self, op);
              node->spin([&] { return (*node)[self].all_have_shown(op, &next); });
              node->read_all(self, op);
            }
            (*node)[self].end_apart(apart[self]);
          });
        }
      },
      kFew);
}
TEST(BoardApartModel, WithAsManyNumbersAsPlacesItWaitsForItself) {
  expect_right(of_so_many_numbers(3));
  expect_found(of_so_many_numbers(4), kLost);
}

}  // namespace
}  // namespace heddle::wire::board_model
