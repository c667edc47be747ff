// All ranks of a collective in one thread: runs their schedules over channels in memory.
//
// Problem: a schedule may depend on more than it says: that a send is buffered, that a receive is there at once, that
//          ranks go in some order.
// Method:  the ranks go in random order. Each send is, by chance, copied at once or read as late as possible, when the
//          receiver is in a JOIN; a receive's buffer is written only when it joins. So a schedule that touches a buffer
//          before its JOIN gives wrong data, and one that needs buffering stops for ever, which is seen as "nobody
//          moved".
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "coll/run.hpp"
#include "plan/cache.hpp"

namespace heddle::coll::test {

class Simulator {
 public:
  Simulator(int size, unsigned seed) : random_(seed), ranks_(size) {
    for (int r = 0; r < size; ++r) {
      ranks_[r].plans = std::make_unique<plan::Cache>(forced);
      if (static_cast<std::uint32_t>(size) > ppn && static_cast<std::uint32_t>(size) % ppn == 0) {
        ranks_[r].plans->set_ranks_of_node(ppn);
      }
      ranks_[r].schedule = std::make_unique<Schedule>(r, size, 0, ranks_[r].plans.get());
      ranks_[r].transport = {this, r};
    }
  }

  // What the ranks of the simulators to come have to take.
  static inline const plan::Forced* forced = nullptr;
  // How many of them share a node, where that divides them.
  static inline std::uint32_t ppn = 1;

  Schedule& schedule(int rank) { return *ranks_[rank].schedule; }
  const plan::Cache& plans(int rank) const { return *ranks_[rank].plans; }
  bool finished(int rank) const { return ranks_[rank].finished; }
  int error(int rank) const { return ranks_[rank].transport.error; }
  std::size_t messages() const { return messages_; }

  // Every rank that may start (`starts`) goes on until nobody can. True when all ranks have finished and every message
  // has been received.
  bool run(const std::function<bool(int)>& starts = [](int) { return true; }) {
    std::vector<int> order(ranks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), random_);
      for (int r : order) {
        Rank& rank = ranks_[r];
        if (rank.finished || !starts(r)) continue;
        if (!rank.sealed) rank.schedule->join();
        rank.sealed = true;
        const Progress before = rank.at;
        rank.finished = coll::run(*rank.schedule, rank.at, rank.transport);
        moved |= rank.finished || rank.at.next != before.next || rank.at.joined != before.joined;
      }
    }
    for (const Rank& rank : ranks_) {
      if (!rank.finished) return false;
    }
    for (const auto& [pair, channel] : channels_) {
      if (!channel.sent.empty() || !channel.posted.empty()) return false;
    }
    return true;
  }

 private:
  struct Message {
    Buffer from, to;
    bool has_sender = false, has_receiver = false, early = false, copied = false, delivered = false;
    std::vector<std::byte> packed;

    // What may happen once this half is there, before anybody joins.
    void arrive() {
      if (!early || !has_sender) return;
      pack();
      if (has_receiver) deliver();
    }
    void pack() {
      if (copied) return;
      packed.resize(static_cast<std::size_t>(from.bytes()));
      mpi::PackCursor cursor;
      cursor.init(*from.type, from.count, from.data);
      cursor.pack(packed.data(), packed.size());
      copied = true;
    }
    void deliver() {
      if (delivered) return;
      mpi::PackCursor cursor;
      cursor.init(*to.type, to.count, to.data);
      cursor.unpack(packed.data(), packed.size());
      delivered = true;
    }
  };
  using MessageRef = std::shared_ptr<Message>;
  struct Channel {
    std::deque<MessageRef> sent, posted;  // what waits for its other half; one of them is empty
  };
  struct Half {
    MessageRef message;
    bool is_send;
  };

  struct Transport {
    Simulator* simulator = nullptr;
    int rank = 0;
    int error = MPI_SUCCESS;
    std::vector<MessageRef> receives;  // not yet copied

    void* send(Buffer from, int peer) { return simulator->send(from, rank, peer); }
    void* recv(Buffer to, int peer) { return simulator->recv(to, peer, rank); }
    bool finish(void* pending) { return simulator->finish(static_cast<Half*>(pending), *this); }
    bool is_broken() const { return false; }
    bool revoke(void*) { return true; }
    void fail(int error_class) {
      if (error == MPI_SUCCESS) error = error_class;
    }
  };

  struct Rank {
    std::unique_ptr<plan::Cache> plans;
    std::unique_ptr<Schedule> schedule;
    Progress at;
    Transport transport;
    bool sealed = false, finished = false;
  };

  // The oldest message of this pair that lacks the half which is now there, or a new one.
  MessageRef match(std::deque<MessageRef>& waiting, std::deque<MessageRef>& mine) {
    if (waiting.empty()) {
      mine.push_back(std::make_shared<Message>());
      mine.back()->early = random_() % 2 == 0;
      return mine.back();
    }
    MessageRef m = waiting.front();
    waiting.pop_front();
    return m;
  }

  void* send(Buffer from, int source, int dest) {
    Channel& c = channels_[{source, dest}];
    MessageRef m = match(c.posted, c.sent);
    m->from = from;
    m->has_sender = true;
    ++messages_;
    m->arrive();
    return new Half{m, true};
  }

  void* recv(Buffer to, int source, int dest) {
    Channel& c = channels_[{source, dest}];
    MessageRef m = match(c.sent, c.posted);
    m->to = to;
    m->has_receiver = true;
    m->arrive();
    ranks_[dest].transport.receives.push_back(m);
    return new Half{m, false};
  }

  bool finish(Half* half, Transport& transport) {
    std::erase_if(transport.receives, [](const MessageRef& r) {
      if (r->has_sender) r->pack();
      return r->has_sender;
    });
    Message& m = *half->message;
    if (!m.copied) return false;
    if (!half->is_send) {
      if (m.from.bytes() > m.to.bytes()) transport.fail(MPI_ERR_TRUNCATE);
      m.deliver();
    }
    delete half;
    return true;
  }

  std::mt19937 random_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, Channel> channels_;
  std::size_t messages_ = 0;
};

}  // namespace heddle::coll::test
