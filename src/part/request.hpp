// Partitioned requests.
//
// Problem: many threads fill one message, and each part is to leave as soon as it is ready, without a lock that they meet at;
//          the sides may be cut differently, and either may be a start ahead, or freed first.
// Method:  the set-up matches as a message does, on a channel of its own. From then on the two name each other. A start of
//          the receiver clears one epoch at the sender. Whoever sees that a partition is ready and its epoch clear takes it
//          (readiness.hpp); who takes the last of a group (mapping.hpp) sends it: into the receiver's buffer, where the wire can write there,
//          or the network, if it is long; else by packets. One that finds the lane's or the VCI's lock held leaves the group to
//          its holder (base/lock.hpp). The receiver counts bytes, for each partition of its own.
// Late:    what was ready before the receiver's start was known is sent by a task, as copying all of that must not hold the VCI's lock.
// Waiting: threads are ready within a few per cent of their time of each other. Whoever waits for the last of them does not
//          sleep as soon as usual, but for twice as long as it took lately: to be woken costs 100 us. The same from the start
//          on, where that took little: the core of one that sleeps is taken by threads of the sender's side, and then its last
//          partition waits for them.
// Ends:    the sender's memory stays until the receiver has said bye, or is lost; it holds nothing by then but its own block.
// Losses:  who waits gives up (p2p/loss.hpp). What a lost sender may still write: docs/decisions/partitioned.md.
// Threads: MPI_Pready and MPI_Parrived any number. Start, link, clear, and the end: the VCI's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "mpi/pack.hpp"
#include "mpi/request.hpp"
#include "p2p/ownership.hpp"
#include "p2p/p2p.hpp"
#include "part/mapping.hpp"
#include "part/packets.hpp"
#include "part/readiness.hpp"
#include "vci/vci.hpp"
#include "wire/single_copy.hpp"

namespace heddle::part {

extern const mpi::RequestType kSendType;
extern const mpi::RequestType kReceiveType;

// What the program said.
struct Arguments {
  void* buffer;
  std::uint32_t partitions;
  MPI_Count count;  // of each
  mpi::Datatype* type;
  int peer;
  int tag;
  std::uint64_t each;       // bytes of a partition
  std::uint64_t aggregate;  // of a send: bytes of a group of small ones

  std::uint64_t total() const noexcept { return each * partitions; }
};

// A shorter group is sooner there by packets than written by the network.
inline constexpr std::uint64_t kWrittenBytes = 192 << 10;

// Parts in which the network writes a partition of so many bytes of the sender's, and tells of them (wire::RemoteAccess::told).
constexpr std::uint64_t parts_written(std::uint64_t each) noexcept {
  return (each + wire::RemoteAccess::kToldPart - 1) / wire::RemoteAccess::kToldPart;
}

struct Send : mpi::Request, vci::Task {
  // Partitions that leave together (group.cpp).
  struct Group : vci::SendOp, LockedWork {
    enum class Step : std::uint8_t {
      kWrite,    // by the network
      kPackets,  // as long as there is room
      kPlace,    // outside
      kTell,     // of what is placed, and stream the rest
      kStream,
    };
    static Pushed push_next(vci::SendOp& op, vci::Lane& lane);
    static Next go_on(LockedWork& work, bool inside);
    Next step_on(bool inside);

    Send* send;
    std::uint64_t at, end;
    std::uint64_t placed;  // bytes before `at`
    Step step;
    Readiness::Count taken;  // partitions, of this epoch
  };

  Send(mpi::Comm& comm, const Arguments& arguments) noexcept;
  Status start() noexcept;
  Status ready(std::uint32_t partition) noexcept;
  void link(const LinkPrefix& prefix, std::uint32_t receivers) noexcept;
  void clear(std::uint32_t epoch) noexcept;
  // Sends everything that is ready in this epoch, which is clear.
  void catch_up(std::uint32_t epoch) noexcept;
  // The receiver has started as often as this side: what is ready moves at once.
  bool is_cleared() const noexcept { return args.peer == MPI_PROC_NULL || readiness.is_clear(epoch); }
  void make_groups(std::uint32_t receivers) noexcept;
  void send_by_lane(Group& group) noexcept;
  bool has_lost_receiver() const noexcept;
  // A group is under way where neither a queue of the lane nor a thread in MPI_Pready has it: with the holder of a lock, or with the
  // network. let_go() is the last that touches the send then, and whoever ends it waits for that.
  void keep() noexcept { under_way.fetch_add(1, std::memory_order_relaxed); }
  void let_go() noexcept { under_way.fetch_sub(1, std::memory_order_release); }
  bool is_kept() const noexcept { return under_way.load(std::memory_order_acquire) != 0; }
  void done() noexcept;

  Arguments args;
  mpi::PackCursor cursor;
  Readiness readiness;
  std::unique_ptr<Group[]> groups;  // once linked
  Grouping grouping;
  std::uint32_t epoch = 0;
  std::atomic<std::uint32_t> under_way{0};
  Setup setup;  // once it is refused, with the receiver's total
  vci::Lane* lane = nullptr;
  std::uint64_t receiver = 0;
  std::uint64_t address = 0;              // of the receiver's buffer; 0: not to be written
  std::uint64_t key = 0, exposed_at = 0;  // of the receiver's buffer to the network, told before is_exposed
  std::uint32_t told = 0;                 // likewise
  std::atomic<bool> is_exposed{false};
  bool linked = false, refused = false;
  bool late = false;   // the task is among the domain's
  bool freed = false;  // by its owner
  bool empty = false;  // freed, and what it held is given back
  bool over = false;   // the receiver has said bye

 private:
  std::uint32_t messages() const noexcept { return std::max(grouping.groups(), 1u); }
  void take(std::uint32_t partition, std::uint32_t e) noexcept;
  void send(Group& group) noexcept;
  void carry_on(Group& group, Lock& lock) noexcept;
  void send_empty() noexcept;
  void fail() noexcept;
};

struct Receive : mpi::Request, vci::Task {
  Receive(mpi::Comm& comm, const Arguments& arguments) noexcept;
  Status start() noexcept;
  // All of the partition is here. One without bytes is when all is over.
  bool has(std::uint32_t partition) const noexcept;
  // The sender is known, and has been told of each start.
  bool is_linked() const noexcept;
  // Over, also when its owner has let it go meanwhile.
  bool is_done() const noexcept { return complete.load(std::memory_order_acquire) == p2p::Ownership<>::kComplete; }
  // Of the epoch's bytes, by the holder of the VCI's lock.
  void note(std::uint64_t at, std::uint64_t n) noexcept;
  // A part that the network has written, as parts_written() numbers them; likewise.
  void note_written(std::uint32_t part) noexcept;
  void say(std::uint8_t portal, const void* prefix, std::size_t bytes, const void* payload = nullptr,
           std::size_t payload_bytes = 0) noexcept;
  void say_clear() noexcept;
  void link() noexcept;
  void expose() noexcept;
  void conceal() noexcept;
  void fail() noexcept;
  void expect(std::int64_t within, std::int64_t from) noexcept;  // ns
  static std::int64_t learn(std::int64_t before, std::int64_t took) noexcept;

  static constexpr std::int64_t kFirstSpread = 1'000'000, kMostSpread = 20'000'000;  // ns

  Arguments args;
  mpi::PackCursor cursor;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts;  // bytes of each partition
  std::uint64_t all = 0;
  std::int64_t started_at = 0, first_at = 0;                 // ns; the first of them came
  std::int64_t whole = kFirstSpread, spread = kFirstSpread;  // from the start, from the first to the last, of late
  std::int64_t expected_until = 0;
  std::uint32_t epoch = 0;
  std::uint32_t told = 0;  // by which the network tells of what it writes; 0: the sender tells
  Setup setup{};
  mpi::Request* matching = nullptr;
  vci::Lane* lane = nullptr;
  bool linked = false, refused = false, freed = false;
  void* exposed = nullptr;  // wire::Exposure::registration
};

void install(vci::Vci& vci) noexcept;

}  // namespace heddle::part
