// A communicator: a group, and where each member listens for it.
//
// Problem: a message must find its communicator at the receiver without a search, and two processes must be able to
//          make a communicator without agreeing with all others on a number.
// Method:  each process gives the communicator an index of its own (context.hpp) and a VCI of its own; creation tells
//          each member the others' pairs. A sender therefore writes the *receiver's* context into the header and
//          uses the receiver's VCI. One index is three contexts: user traffic, collective traffic and what
//          matches partitioned requests, so a user's wildcard never sees the library's own messages.
// Threads: immutable after creation, except the atomics and what `mutex` guards. A peer's lane is filled in on first
//          use, by whichever thread comes first.
// Cost:    16 bytes a member.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/group.hpp"
#include "mpi/object.hpp"
#include "plan/cache.hpp"

namespace heddle::vci {
class Vci;
class Lane;
}  // namespace heddle::vci
namespace heddle::wire {
class Board;
}

namespace heddle::mpi {

class Process;
struct BsendAccount;
struct Errhandler;
struct Info;
struct Attributes;
struct Topology;
struct Win;

enum class Channel : std::uint32_t { kUser = 0, kCollective = 1, kPartitioned = 2 };

// What the program asserts of a communicator, in bits (MPI 5.0, 7.4.4).
enum Assertion : std::uint16_t { kNoAnySource = 1, kNoAnyTag = 2 };

// Where one process listens for one communicator.
struct Address {
  std::uint32_t context = 0;   // of the user channel; the other channels are the next numbers
  std::uint8_t vci = 0;        // its own
  std::uint8_t vcis = 1;       // those of the process, when it can spread the communicator over them; else 1
  std::uint16_t asserted = 0;  // Assertions that this process was given
};
static_assert(sizeof(Address) == 8);

struct Peer {
  Address address;
  std::atomic<vci::Lane*> lane{nullptr};
};

// What a communicator has on one VCI of this process.
struct Stream {
  vci::Vci* vci = nullptr;
  // Guarded by the VCI's lock: receives that refer to the communicator (a locked instruction fewer at both ends of each
  // than to count a reference), and whether it goes when the last of them does.
  std::uint32_t receives = 0;
  bool closing = false;
};

// A communicator over several VCIs (mpi/spread.hpp).
struct Spread;

struct Comm : Object {
  Comm(Process& p, Group& g) noexcept;
  ~Comm();

  Process* process;
  Group* group;  // a reference is held
  // Intercommunicators: the group that ranks of sends and receives refer to, and a communicator of the local group for
  // what that does by itself in a collective. References are held.
  Group* remote_group = nullptr;
  Comm* local = nullptr;
  int rank;
  int size;
  int peer_count;   // ranks that sends and receives may name: of the remote group, where there is one
  Address address;  // this process's own
  vci::Vci* vci = nullptr;
  Stream stream;                             // on `vci`
  std::unique_ptr<Peer[]> peers;             // by rank; no lane in a spread communicator
  std::unique_ptr<Spread> spread;            // null: it uses one VCI
  std::shared_ptr<const Topology> topology;  // null: none; set before anyone has the handle
  Win* win = nullptr;                        // the window whose own it is: that hears of what fails

  // What its blocking and persistent collectives go by within a node (coll/board.hpp), when there is one; until then, how many are still to
  // come before it is made. Of the thread that calls the collective.
  std::unique_ptr<wire::Board> board;
  static constexpr int kNever = -1, kUndecided = -2;
  int before_board = kUndecided;

  plan::Cache plans;  // what its collectives by messages run

  std::atomic<std::uint32_t> collective_sequence{0};  // numbers the collectives, gives each its tag

  // What p2p/loss.hpp has found: how many losses there were, and in the low bits whether any is of the peers, or of this
  // group.
  mutable std::atomic<std::uint64_t> known_losses{0};

  std::atomic<BsendAccount*> bsend_account{nullptr};  // its own, from the first use on

  std::mutex mutex;  // guards what follows
  Errhandler* errhandler = nullptr;
  Info* info = nullptr;
  Attributes* attributes = nullptr;
  std::string name;

  // A rank that a message may go to or come from.
  bool has_peer(int r) const noexcept { return static_cast<unsigned>(r) < static_cast<unsigned>(peer_count); }
  bool is_inter() const noexcept { return remote_group != nullptr; }
};

// A communicator at this address, without VCI and peers: Process::new_comm fills them in. Takes over the reference to
// the group and the address, also when memory ran out and it returns null.
Comm* take_comm(Process& process, Group& group, Address mine) noexcept;
// Tells the communicator what messages cost, where its members listen, and spreads it if all have asserted what that takes.
Status connect(Comm& comm, const Address* addresses) noexcept;

// Compiles the plans that collectives by messages usually take (plan/cache.hpp). REQUIRES: it is connected.
inline void add_usual_plans(Comm& comm) noexcept {
  comm.plans.add_usual(static_cast<std::uint32_t>(comm.size), static_cast<std::uint32_t>(comm.rank));
}

// Lets a reference go. With the last one the communicator goes, when the receives that still refer to it have gone.
void release(Comm& comm) noexcept;
// The last receive of a stream that was closing has gone.
void close(Comm& comm) noexcept;
// Destroys it, whatever refers to it: for the end of MPI.
void destroy(Comm& comm) noexcept;

// The reference of a send's request. The predefined communicators outlive all of them, so theirs are not counted.
inline void retain_for_message(Comm& comm) noexcept {
  if (!comm.is_predefined()) comm.retain();
}
inline void release_after_message(Comm& comm) noexcept {
  if (!comm.is_predefined()) release(comm);
}

}  // namespace heddle::mpi
