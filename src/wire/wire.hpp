// How packets reach another process: the interface that every wire has, and all that the layers above know of it.
//
// Contract: packets of one lane arrive complete, once, in order. A lane may refuse a packet for a while (no room); the
//           caller keeps it and tries again after progress. Nothing is ordered between lanes.
// Threads:  a lane has one sender at a time (the caller's lock); poll() of one VCI has one caller at a time; different
//           lanes and VCIs are independent. connect() may be called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "base/status.hpp"
#include "wire/copy_costs.hpp"
#include "wire/packet.hpp"
#include "wire/types.hpp"

namespace heddle::wire {

class NodeMemory;
class PeerMemory;
class TxLane;

// Memory of this process that the process at the other end of a lane may access.
struct Exposure {
  std::uint64_t key = 0, address = 0;  // what that process must be told
  void* registration = nullptr;        // the wire's
};

// Who is told here of what others write into memory of this process, part by part: by poll() of the VCI, with the number that the
// writer has given to the part.
struct Arrivals {
  void (*arrived)(void* owner, std::uint32_t part) = nullptr;
  void* owner = nullptr;
};

// Bytes that go straight from the memory of one process to that of the one at the other end of a lane.
struct RemoteAccess {
  enum class Kind : std::uint8_t {
    kRead,   // from there, while that process may compute
    kWrite,  // to there, likewise
    kPush,   // to where that process lets it land: TxLane::try_send_before()
    kLand,   // from there, pushed
  };
  std::uint64_t key = 0, address = 0;  // as exposed, also where it is pushed and nobody reads it
  // Of a kWrite: what tell() gave there, and the number of its first part; each has kToldPart bytes but for the last. Each is told of
  // there as it arrives, and if the write is not completed the peer is lost, as nobody knows what has been told. 0: nothing is told.
  std::uint32_t told = 0, number = 0;
  static constexpr std::size_t kToldPart = 512 << 10;
  // Some of it may have been told of.
  bool is_told() const noexcept { return told != 0 && asked != 0; }
  std::byte* local = nullptr;
  std::size_t bytes = 0;
  Kind kind = Kind::kRead;
  // By poll() of the lane's VCI; afterwards it is the caller's again. Not `complete`: some of it did not come, or go, and
  // nothing more will: the other end exposes no such thing, or is gone, as far as the wire is told (ofi_port.hpp).
  void (*done)(RemoteAccess&, bool complete) = nullptr;
  // The wire's own.
  TxLane* lane = nullptr;
  std::size_t asked = 0;
  unsigned in_flight = 0;
  bool failed = false;
  void* registration = nullptr;
  RemoteAccess* next = nullptr;
};

// What came of a send.
enum class Sent {
  kNot,  // no room now; nothing of the payload was taken
  kYes,
  kWakeWanted,  // yes, and the receiver sleeps: call wake() soon
};

// A one-way FIFO from one VCI of this process to one VCI of one process.
class TxLane {
 public:
  TxLane(bool shm, std::size_t max_payload) noexcept : is_shm(shm), max_payload_(max_payload) {}
  virtual ~TxLane() = default;

  // The most that one packet carries.
  std::size_t max_payload() const noexcept { return max_payload_; }

  // False: no room now; the caller tries again later, with the whole payload.
  // REQUIRES: header.prefix_bytes <= kMaxPrefix, payload.bytes <= max_payload().
  virtual bool try_send(const Header& header, const void* prefix, Payload& payload) noexcept = 0;
  // Wakes the receiver, after kWakeWanted.
  virtual void wake() noexcept {}
  // Nobody is at the other end now, or ever again: what is sent there goes nowhere where there is no room for it.
  virtual bool is_away() const noexcept { return false; }
  // The memory of the process at the other end, if this wire can read it (single_copy.hpp); null otherwise.
  virtual PeerMemory* memory() noexcept { return nullptr; }
  // Whether the other end has said which way it would have long messages come that it could read, and whether that is to read
  // them. Guarded by the lock of the lane.
  bool answers() const noexcept { return answers_; }
  bool is_read_there() const noexcept { return is_read_there_; }
  void note_answer(bool reads) noexcept { answers_ = true, is_read_there_ = reads; }
  // Whether to fill cells is slow here, so that both sides had better copy long messages through memory().
  virtual bool fills_slowly() const noexcept { return false; }
  // With memory(): whether a packet without payload would find room. What is, stays while the caller holds the lane.
  virtual bool has_room() noexcept { return true; }

  // A wire that accesses memory by itself, instead of by memory(): only then what follows is of use.
  virtual bool accesses() const noexcept { return false; }
  // Makes `bytes` at `data` readable, and `writable`, for the
  // other ends of all lanes from the same VCI, until conceal(). False: this wire doesn't, or cannot now.
  virtual bool expose(const void*, std::size_t, bool, Exposure*) noexcept { return false; }
  virtual void conceal(Exposure&) noexcept {}
  // A name by which those other ends may have this process told of what they write here, until forget(). 0: this wire cannot tell.
  virtual std::uint32_t tell(const Arrivals&) noexcept { return 0; }
  virtual void forget(std::uint32_t) noexcept {}
  // Begins it, which is of some bytes; it must stay where it is until it is done. What is written has arrived then. False: nothing was begun, and
  // nobody will be told. REQUIRES: the lock of the VCI of this lane's sender; the other end has exposed it, to a lane between
  // the same two VCIs. A kLand: false, too, unless it is of all that came behind a packet, of the VCI's last poll().
  virtual bool start(RemoteAccess&) noexcept { return false; }
  // A message of so many bytes is exposed, until end_message(): whether it is better pushed behind its announcement than read by who
  // gets it.
  virtual bool begin_message(std::size_t) noexcept { return false; }
  virtual void end_message() noexcept {}
  // Whether one that was pushed has landed: nobody may have waited for it.
  virtual void note_pushed(bool) noexcept {}
  // As try_send(); a kPush, of what is exposed, goes right behind the packet, whose payload begins with its key. It is nobody's where the
  // packet's receiver starts no kLand.
  virtual bool try_send_before(RemoteAccess&, const Header&, const void*, Payload&) noexcept { return false; }

  const bool is_shm;  // lets wire/fast.hpp call shared memory without the virtual table

 private:
  const std::size_t max_payload_;
  bool answers_ = false, is_read_there_ = false;
};

// What was dropped because no process of this job can have sent it, or not now. Ever.
struct Dropped {
  std::uint64_t strange = 0, replayed = 0;
};

// Who gets the packets of a poll.
class Sink {
 public:
  virtual void deliver(const Packet& packet) noexcept = 0;

  void operator()(const Packet& packet) noexcept { deliver(packet); }
  void operator()(const Header& header, const std::byte* payload, std::size_t bytes) noexcept {
    deliver({header, payload, payload, bytes});
  }

 protected:
  ~Sink() = default;
};

class Wire {
 public:
  explicit Wire(bool shm) noexcept : is_shm(shm) {}
  virtual ~Wire() = default;

  virtual bool reaches(ProcessId peer) const noexcept = 0;
  // A lane from VCI `from` of this process to VCI `to` of `peer`. The wire owns it. Local: whether there is anybody at the
  // other end shows later.
  virtual Status connect(std::uint32_t from, ProcessId peer, std::uint32_t to, TxLane** lane) = 0;
  // Delivers what has arrived for `vci`, at most about `limit` packets; returns how many.
  virtual unsigned poll(std::uint32_t vci, Sink& sink, unsigned limit) noexcept = 0;
  // A process is lost. Nothing that comes from it for this VCI is delivered from now on, and what is to be fetched there ends.
  // By poll()'s caller, who calls both again until this is true; `finally`: it must be, although memory may be written yet.
  virtual bool lose(std::uint32_t, ProcessId, bool) noexcept { return true; }
  // What peers ring after they have sent something on this wire; null where they can't.
  virtual Doorbell* bell() noexcept { return nullptr; }
  // Before a sleep on the first wire's bell: true when nothing is there for the VCIs of the mask, and what comes rings it.
  virtual bool arm(std::uint32_t) noexcept { return true; }
  // Whether arm() can do that now; where not, nobody sleeps for long.
  virtual bool rings() const noexcept { return true; }
  // Something must come from there, for which somebody waits; said again from time to time while that is so. True: that
  // took a question to the launcher. Any thread.
  virtual bool expect(ProcessId) noexcept { return false; }
  // Somebody waits, who may wait for anyone: likewise.
  virtual void expect_anyone() noexcept {}
  // Packets that were taken and are still here, of which no lane knows any more.
  virtual bool owes() const noexcept { return false; }
  // Of a VCI, that of strangers who meet no VCI with the first. Any thread.
  virtual Dropped dropped(std::uint32_t) const noexcept { return {}; }
  // Nobody polls here for a while, or somebody does again: whether peers shall wait for room.
  virtual void set_away(bool) noexcept {}

  // What the processes that it reaches share besides (node_memory.hpp); null where they share nothing.
  virtual NodeMemory* node() noexcept { return nullptr; }
  // What this process has measured of copies through shared memory. Null: it does not go through any.
  virtual CopyCosts* copy_costs() noexcept { return nullptr; }

  const bool is_shm;  // as in TxLane
};

}  // namespace heddle::wire
