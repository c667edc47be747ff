// Requests of sends and receives.
//
// A persistent request keeps its arguments and start() posts it again; a plain one is the same object, started once.
// make_send() and make_receive() take it from the VCI's pool, with references to the communicator and the datatype, which
// the user may free while it is pending; destroy() gives all of it back. A blocking receive has it on its stack and needs
// no references.
// Threads: the starter owns the fields until it has posted; then the VCI's lock (receives) or the lane's (sends) guards
//          them until `complete`.
#pragma once

#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/pack.hpp"
#include "mpi/request.hpp"
#include "p2p/p2p.hpp"
#include "portals/match_list.hpp"
#include "vci/vci.hpp"
#include "wire/single_copy.hpp"

namespace heddle::p2p {

struct Arguments {
  void* buffer;
  MPI_Count count;
  Datatype* type;
  int peer;  // rank, MPI_ANY_SOURCE or MPI_PROC_NULL
  int tag;
  Channel channel;
};

extern const mpi::RequestType kSendType;
extern const mpi::RequestType kReceiveType;

struct Pull;     // pull.cpp
struct FetchOp;  // fetch.cpp

// A piece of a message.
struct Range {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

struct SendRequest : Request, vci::MessageOp {
  SendRequest(Comm& comm, const Arguments& arguments, Mode mode) noexcept;

  // Posts the message. REQUIRES: complete or never started.
  Status start() noexcept;

  Mode mode;
  bool streaming = false;  // among the lane's streams
  bool everything_there = false;
  bool revoked : 1 = false;     // loss.hpp: the peer may name it, and nothing comes of that
  bool taken_back : 1 = false;  // cancel.hpp: the peer has forgotten it, and what still uses it has to end
  enum class Behind : std::uint8_t { kNot, kWanted, kUnderWay, kGone };
  Behind behind =
      Behind::kNot;  // its announcement goes the message (fetch.hpp), which the network reads here while under way
  Arguments args;
  vci::Lane* lane = nullptr;
  mpi::PackCursor cursor;
  // A rendezvous, once it is announced (rendezvous.hpp).
  std::uint64_t receiver = 0;  // the receive's name at the peer, once it has matched
  std::uint64_t target = 0;    // where it may be written to at the peer; 0: nowhere
  wire::Offer offer;
  wire::Claims<> claims;                 // empty without an offer
  Range mine;                            // claimed and neither pushed nor written
  Range handed_back;                     // the receiver could not read it
  std::uint64_t pushed = 0;              // bytes
  wire::Exposure exposure;               // of a message that is to be fetched
  void* copy = nullptr;                  // all bytes of a message that is buffered, from malloc
  mpi::BsendAccount* charged = nullptr;  // for them
};

// What the receiver calls it by.
inline std::uint64_t name_of(const SendRequest& send) noexcept { return reinterpret_cast<std::uint64_t>(&send); }

struct ReceiveRequest : Request, portals::MatchEntry {
  ReceiveRequest(Comm& comm, const Arguments& arguments) noexcept;
  // The same by one who knows where it comes in.
  ReceiveRequest(Comm& comm, const Arguments& arguments, mpi::Stream& stream) noexcept;

  // Posts the receive. REQUIRES: complete or never started.
  Status start() noexcept;
  // The same for one from any rank but MPI_PROC_NULL, by the holder of the VCI's lock, who loses it. REQUIRES: the request's own.
  void post(const Arguments& its, Comm& its_comm, vci::Vci& its_vci) noexcept RELEASE(its_vci.lock());
  // Takes a message that was extracted by a matched probe.
  void start_with(portals::UnexpectedHeader& message) noexcept;

  // The first packet of the message that this receive has been matched with, by the holder of the VCI's lock. Afterwards
  // `this` may be gone.
  [[gnu::noinline]] void begin(std::uint8_t portal, const match::Key& from, const std::byte* prefix,
                               const std::byte* payload, std::size_t payload_bytes) noexcept;
  // An eager message that fits: begin() for what nearly every message is. Afterwards `this` may be gone.
  void take_whole(const match::Key& from, const std::byte* payload, std::size_t payload_bytes) noexcept;
  // Bytes of the message, from `at` on.
  void take(std::uint64_t at, const std::byte* payload, std::size_t payload_bytes) noexcept;

  Arguments args;
  mpi::Stream* stream;
  std::uint64_t arrived;  // bytes of the message; a usual receive touches no line behind the cursor's first
  mpi::PackCursor cursor;
  std::uint64_t expected;  // bytes of the message
  // Of a rendezvous, what gets the message without the sender's help; null when there is none.
  Pull* pull;
  FetchOp* fetching;
  const portals::Arriving::Name* arriving;  // with the mark kArriving: how its packets come (eager.hpp)

 private:
  void prepare(const Arguments& its) noexcept;
  void start_from_nobody() noexcept;
  // Takes a message that was there first, by the holder of the VCI's lock, who loses it; false: there is none, and the receive
  // is on the list.
  bool take_or_append() noexcept;
  // Takes this message, by the holder of the VCI's lock, who loses it.
  void take_unexpected(portals::UnexpectedHeader& message) noexcept RELEASE(vci->lock());
};

// Null when memory ran out.
SendRequest* make_send(Comm& comm, const Arguments& arguments, Mode mode) noexcept;
ReceiveRequest* make_receive(Comm& comm, const Arguments& arguments) noexcept;
// Gives a receive back that is complete or was never started.
void destroy(ReceiveRequest& receive) noexcept;

// Of a complete request: a receive of a message that is shorter than its buffer. A collective's own may not be.
inline std::size_t room(const Request& receive) noexcept {
  return static_cast<const ReceiveRequest&>(receive).cursor.total();
}
inline bool fell_short(const Request& request) noexcept {
  return request.type == &kReceiveType && static_cast<std::size_t>(request.bytes) < room(request);
}

// Waits for a standard send as wait(), but no longer than until its message is safe where the receiver has no room for it:
// true, and the request is to be abandoned.
bool wait_or_keep_copy(SendRequest& send) noexcept;

// Lets a request go before it is complete; it is destroyed when it is (MPI_Request_free).
void abandon(Request& request) noexcept;

// What came of a complete request, with its sentence.
Status outcome(const Request& request) noexcept;

// Tells everybody who waits that the request is complete; destroys it if its owner has let go. Its last use here.
void finish(Request& request) noexcept;
// The same for a receive, by the holder of the VCI's lock, who gives it back by unlock_and_wake().
void finish(ReceiveRequest& receive) noexcept;
// The same where it has marks.
[[gnu::cold]] void finish_marked(ReceiveRequest& receive) noexcept;
// Takes a receive out of what its VCI knows it by, according to its marks. REQUIRES: the VCI's lock.
void forget(ReceiveRequest& receive) noexcept;
// Keeps a message's first packet for which no receive was posted. REQUIRES: the VCI's lock.
void keep_unexpected(vci::Vci& vci, const match::Key& key, const wire::Packet& packet) noexcept;
// For finish(): destroys a request that its owner has let go, soon.
[[gnu::cold]] void reap_later(Request& request) noexcept;

// Sends a packet without payload in answer to the peer's request.
void answer(ReceiveRequest& receive, std::uint8_t portal, const void* prefix, std::size_t bytes) noexcept;

// The lane to a member of the communicator; makes it on first use.
Status find_lane(Comm& comm, Channel channel, int peer, int tag, vci::Lane** lane) noexcept;

// The request that every send returns which is complete when the call returns. Shared by all threads and never freed.
union Immortal {
  constexpr Immortal(const mpi::RequestType& type) noexcept : request(type, Request::Complete{}) {}
  ~Immortal() {}  // requests are used until the program ends
  Request request;
};
extern constinit Immortal the_immortal;
inline Request& immortal() noexcept { return the_immortal.request; }

}  // namespace heddle::p2p
