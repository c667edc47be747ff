// A lane between two processes as the model runs it: the real ring, ring block, lock and doorbells, put together as
// vci/lane.cpp, vci/vci.cpp and ShmWire do, and a way to leave out each step that matters.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/doorbell.hpp"
#include "base/lock.hpp"
#include "base/model/broken.hpp"
#include "wire/ring_block.hpp"

namespace heddle::vci {

// The policies of the model, with a ring of few slots.
template <class Base, std::uint32_t kSlots>
struct Small : Base {};

enum class Seed {
  kNone,
  kPublishAfterUnlock,    // the lock is given back between filling the slot and publishing it
  kPassTheQueue,          // what is posted does not look at what is queued
  kNoSecondLook,          // sleeps without trying once more
  kAskWithoutLooking,     // raises the flag before it sleeps, but does not try again
  kAskNobody,             // never raises the flag
  kLowerAfterRinging,     // the receiver lowers the flag when it has rung
  kQueueSilently,         // a thread that queues does not wake those that sleep
  kSleepThoughContended,  // a thread sleeps though another one kept it from looking at the lane
};

// The sending process: threads that share a lane and sleep on one bell.
template <class Atomics, Seed kSeed = Seed::kNone>
class ModelLane {
 public:
  ModelLane(wire::BasicRingBlock<Atomics>& block, BasicDoorbell<Atomics>& own, BasicDoorbell<Atomics>& peers)
      : block_(block), own_(own), peers_(peers) {}

  // Lane::try_post, then Lane::queue.
  void send(std::uint32_t message) {
    lock();
    const bool sent = (queue_.empty() || kSeed == Seed::kPassTheQueue) && try_send(message);
    unlock();
    if (!sent) queue(message);
  }

  // Lane::progress of a busy lane.
  unsigned progress(bool* contended) {
    if (busy_.load(std::memory_order_relaxed) == 0) return 0;
    if (!lock_.try_lock()) {
      *contended = kSeed != Seed::kSleepThoughContended;
      return 0;
    }
    held_[self()] = true;
    const unsigned moved = push_all();
    unlock();
    return moved;
  }

  // Domain::wait for `done`, polling with `poll`; threads that spin and yield before are only slower.
  template <class Poll, class Done>
  void wait(Poll&& poll, Done&& done) {
    bool contended = false;
    const auto round = [&] {
      contended = false;
      const unsigned moved = progress(&contended);
      return moved + poll() != 0 || contended;
    };
    while (!done()) {
      if (round()) {
        if (contended) Atomics::pause();
        continue;
      }
      own_.sleep(1, [&] {
        if (kSeed == Seed::kNoSecondLook) return false;
        if (kSeed == Seed::kAskWithoutLooking) {
          block_.ask_for_room();
          return false;
        }
        return round() || done();
      });
    }
  }
  bool idle() const { return busy_.load(std::memory_order_relaxed) == 0; }

 private:
  static std::size_t self() { return model::Scheduler::current()->self(); }
  void lock() {
    lock_.lock();
    held_[self()] = true;
  }
  void unlock() {
    if (std::exchange(held_[self()], false)) lock_.unlock();
  }
  void queue(std::uint32_t message) {
    lock();
    const bool was_idle = idle();
    queue_.push_back(message);
    push_all();
    const bool blocked = was_idle && !idle();
    unlock();
    if (blocked && kSeed != Seed::kQueueSilently) own_.ring();
  }
  unsigned push_all() {
    unsigned moved = 0;
    for (; !queue_.empty() && try_send(queue_.front()); ++moved) queue_.pop_front();
    busy_.store(!queue_.empty(), std::memory_order_relaxed);
    return moved;
  }
  // ShmLane::try_send.
  bool try_send(std::uint32_t message) {
    wire::Header header;
    header.context = message;
    // What fills the slot runs between its choice and its publication.
    wire::Payload payload{nullptr, 1,
                          [](void* lane, std::byte* to, std::size_t) {
                            *to = std::byte{1};
                            if (kSeed == Seed::kPublishAfterUnlock) static_cast<ModelLane*>(lane)->unlock();
                          },
                          this};
    if (!producer_.try_push(header, nullptr, payload)) {
      if (kSeed != Seed::kAskNobody) block_.ask_for_room();
      return false;
    }
    peers_.ring();
    return true;
  }

  wire::BasicRingBlock<Atomics>& block_;
  BasicDoorbell<Atomics>&own_, &peers_;
  BasicLock<Atomics, 0, 0> lock_;
  bool held_[model::kMaxThreads] = {};  // by thread
  wire::RingProducer<Atomics> producer_{block_.ring};
  std::deque<std::uint32_t> queue_;
  typename Atomics::template atomic<int> busy_{0};
};

// The two processes.
template <class Atomics, Seed kSeed = Seed::kNone>
struct Pair {
  wire::BasicRingBlock<Atomics> block;
  BasicDoorbell<Atomics> sender_bell, receiver_bell;
  ModelLane<Atomics, kSeed> lane{block, sender_bell, receiver_bell};
  wire::RingConsumer<Atomics> consumer{block.ring};
  std::vector<std::uint32_t> got;
  unsigned poll_limit = 32;

  // ShmWire::poll_with.
  unsigned poll() {
    unsigned n = 0;
    while (n < poll_limit &&
           consumer.pop([&](const auto& first, const std::byte*) { got.push_back(first.header.context); }))
      ++n;
    if (n == 0) return 0;
    if (block.room_is_wanted()) announce();
    return n;
  }
  // Domain::wait of a receiver for `messages`.
  void receive(std::size_t messages) {
    while (got.size() < messages) {
      if (poll() == 0) receiver_bell.sleep(1, [&] { return poll() != 0; });
    }
  }
  std::size_t place_of(std::uint32_t message) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == message) return i;
    }
    return got.size();
  }

 private:
  void announce() {
    if (kSeed == Seed::kLowerAfterRinging) {
      consumer.return_credit();
      sender_bell.ring();
      block.wants_room.store(0, std::memory_order_relaxed);
    } else {
      block.announce_room(consumer, sender_bell);
    }
  }
};

}  // namespace heddle::vci

template <class Base, std::uint32_t kSlots>
inline constexpr std::uint32_t heddle::wire::kRingSlots<heddle::vci::Small<Base, kSlots>> = kSlots;
