#include "p2p/loss.hpp"

#include <algorithm>

#include "p2p/cancel.hpp"
#include "p2p/fetch.hpp"
#include "p2p/ownership.hpp"
#include "p2p/pull.hpp"
#include "p2p/receive.hpp"
#include "p2p/rendezvous.hpp"
#include "p2p/send.hpp"

namespace heddle::p2p {
namespace {

const vci::Losses& losses_of(const Comm& comm) noexcept { return comm.vci->domain().losses(); }

const mpi::Group& peers_of(const Comm& comm) noexcept { return comm.is_inter() ? *comm.remote_group : *comm.group; }

// The first lost rank of the group; -1: none.
int first_lost(const vci::Losses& losses, const mpi::Group& group) {
  const auto found = std::ranges::find_if(group.members, [&](mpi::ProcessId member) { return losses.has(member); });
  return found == group.members.end() ? -1 : static_cast<int>(found - group.members.begin());
}

constexpr std::uint64_t kOfPeers = 1, kOfGroup = 2, kOneLoss = 4;

// Comm::known_losses, as of now.
std::uint64_t known_losses(const Comm& comm) {
  const std::uint64_t count = losses_of(comm).count() * kOneLoss;
  std::uint64_t known = comm.known_losses.load(std::memory_order_relaxed);
  if (known >= count) return known;
  known = count | (first_lost(losses_of(comm), peers_of(comm)) >= 0 ? kOfPeers : 0) |
          (first_lost(losses_of(comm), *comm.group) >= 0 ? kOfGroup : 0);
  comm.known_losses.store(known, std::memory_order_relaxed);
  return known;
}

bool fail(SendRequest& send) noexcept {
  withdraw_offer(send);
  send.error = MPI_ERR_PROC_ABORTED;
  finish(send);
  return true;
}

bool give_up(SendRequest& send) noexcept { return is_lost(*send.comm, send.args.peer) && fail(send); }

// Lets go of a receive that was matched with a message of which not all has come. False: somebody writes into its buffer
// just now. REQUIRES: the VCI's lock.
bool detach(ReceiveRequest& receive) noexcept { return detach_fetch(receive) && detach_pull(receive); }

bool give_up(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci::Vci& vci = *receive.vci;
  vci.lock().lock();
  bool ends = false;
  if (receive.is_complete()) {
    vci.unlock_and_wake();
    return true;
  }
  if (receive.queued()) {
    ends = is_lost(*receive.comm, receive.args.peer) && vci.matching().unlink(receive);
    receive.source = receive.args.peer;
    receive.tag = receive.args.tag;
  } else {
    ends = is_lost(*receive.comm, receive.source) && detach(receive);
  }
  if (ends) {
    receive.error = MPI_ERR_PROC_ABORTED;
    receive.bytes = 0;
    finish(receive);
  }
  vci.unlock_and_wake();
  return ends;
}

// Of a send that a living peer has heard of. True: it stays, as the peer may name it yet, by its address, and answers nothing.
// What is claimed here and never comes keeps the peer from taking the rest for a message; a peer that has claimed all the
// rest says when it reads no more: then the send is over; or that a read has failed: then it reads no more, but may name the
// send yet. So does one that is asked to fetch no more, when it next makes progress: until then it may take what lies here
// for the message.
bool silence(SendRequest& send, vci::Lane& lane, bool* over) noexcept {
  bool is_fetched = false;
  {
    LockGuard guard(lane.lock());
    if (send.revoked) {
      *over = send.everything_there && !send.streaming;
      return *over || send.handed_back.bytes != 0;
    }
    if (send.everything_there || send.behind == SendRequest::Behind::kUnderWay) return false;  // not so in a moment
    send.revoked = true;
    is_fetched =
        send.exposure.registration != nullptr && !send.streaming;  // a peer that has asked for it fetches no more
    if (!is_fetched && (!send.claims || send.mine.bytes != 0 || send.claims.claim(UINT32_MAX).count != 0)) return true;
  }
  if (is_fetched) take_back(send, lane);
  return false;
}

bool revoke(SendRequest& send) noexcept {
  bool over = is_lost(*send.comm, send.args.peer) || send.lane->cancel(send);
  if (!over && !silence(send, *send.lane, &over)) return false;
  if (!over) return true;
  fail(send);
  destroy(&send);
  return true;
}

bool revoke(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci::Vci& vci = *receive.vci;
  vci.lock().lock();
  const bool source_is_lost = !receive.queued() && is_lost(*receive.comm, receive.source);
  bool over = receive.is_complete() || (receive.queued() && vci.matching().unlink(receive));
  if (!over) {
    const bool is_known = sender_knows(receive);
    if (!detach(receive)) {
      vci.unlock_and_wake();
      return false;
    }
    over = source_is_lost || !is_known;
  }
  if (over) {
    forget(receive);
    destroy_and_unlock(receive);
    return true;
  }
  // What its living sender has under way goes nowhere; the end of it destroys the request.
  receive.cursor.init(mpi::byte_type(), 0, nullptr);
  receive.reaper.place = nullptr;  // nobody waits for that
  receive.marks |= Request::kAbandoned;
  vci.unlock_and_wake();
  return true;
}

}  // namespace

bool is_lost(const Comm& comm, int peer) noexcept {
  if (peer == MPI_PROC_NULL) return false;
  if (peer == MPI_ANY_SOURCE) return (known_losses(comm) & kOfPeers) != 0;
  return losses_of(comm).has(peers_of(comm).members[static_cast<std::size_t>(peer)]);
}

bool has_lost_member(const Comm& comm) noexcept { return (known_losses(comm) & (kOfPeers | kOfGroup)) != 0; }

bool expect(const Comm& comm, int peer) noexcept {
  return peer >= 0 && comm.vci->domain().expect(peers_of(comm).members[static_cast<std::size_t>(peer)]);
}

bool expect(const Request& request) noexcept {
  return request.type == &kReceiveType && expect(*request.comm, static_cast<const ReceiveRequest&>(request).args.peer);
}

Status loss_error(const Comm& comm, int peer) noexcept {
  const mpi::Group* group = &peers_of(comm);
  if (peer < 0 || !is_lost(comm, peer)) peer = first_lost(losses_of(comm), *group);
  if (peer < 0) peer = first_lost(losses_of(comm), *(group = comm.group));
  if (peer < 0) return error(MPI_ERR_PROC_ABORTED, "a process is lost");
  return error(
      MPI_ERR_PROC_ABORTED,
      "rank %d of the communicator is lost: %s; communicators without it go on, and one of those that are left "
      "is made with MPI_Comm_create_group",
      peer, losses_of(comm).why(group->members[static_cast<std::size_t>(peer)]).c_str());
}

bool give_up(Request& request) noexcept {
  if (request.complete.load(std::memory_order_acquire) == Ownership<>::kComplete) return true;
  if (request.type == &kSendType) return give_up(static_cast<SendRequest&>(request));
  if (request.type->give_up != nullptr) return request.type->give_up(request);
  return request.type == &kReceiveType && give_up(static_cast<ReceiveRequest&>(request));
}

bool revoke(Request& request) noexcept {
  if (request.is_complete()) {
    destroy(&request);
    return true;
  }
  return request.type == &kSendType ? revoke(static_cast<SendRequest&>(request))
                                    : revoke(static_cast<ReceiveRequest&>(request));
}

}  // namespace heddle::p2p
