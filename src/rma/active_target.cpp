// What a target does with the packets of active.hpp.
#include <cstring>
#include <vector>

#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/active_packets.hpp"
#include "rma/backlog.hpp"
#include "rma/epoch.hpp"
#include "rma/passive.hpp"
#include "rma/post.hpp"
#include "rma/remote.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

// To the origin of a packet. The loss of one to whom there is no lane is noticed by those who wait for it.
template <class Prefix>
void answer(Window& window, int origin, int tag, std::uint8_t portal, const Prefix& prefix, wire::When when,
            const std::byte* data = nullptr, std::size_t bytes = 0) {
  vci::Lane* lane = nullptr;
  if (!p2p::find_lane(*window.comm, mpi::Channel::kUser, origin, tag, &lane)) return;
  post_packet(*lane, portal, window.comm->rank, tag, &prefix, sizeof prefix, data, bytes, when);
}

// A request's pieces, one after the other.
class Pieces {
 public:
  Pieces(Window& window, const RequestPrefix& prefix, const wire::Packet& packet)
      : window_(window),
        memory_(Memory::own(window)),
        next_(packet.payload),
        end_(packet.payload + packet.payload_bytes) {
    operation_.kind = static_cast<Kind>(prefix.kind);
    operation_.op = mpi::predefined_op(prefix.detail);
    if (prefix.type != 0) operation_.element = mpi::predefined_datatype(prefix.type);
  }
  // The first error; the other pieces are done all the same.
  Status run() {
    Status status;
    while (next_ < end_) {
      const Status done = one();
      if (status) status = done;
    }
    return status;
  }
  const std::vector<std::byte>& data() const noexcept { return data_; }

 private:
  Status one() {
    Piece piece;
    std::memcpy(&piece, next_, sizeof piece);
    next_ += sizeof piece;
    Step step{{piece.at, piece.bytes, piece.rows}, nullptr, nullptr, nullptr};
    if (piece.rows > 1) std::memcpy(&step.rows.stride, take(sizeof step.rows.stride), sizeof step.rows.stride);
    const std::size_t bytes = step.rows.all_bytes();
    if (piece.has_in) step.in = take(bytes);
    if (operation_.kind == Kind::kCompareAndSwap) step.compare = take(piece.bytes);
    if (piece.has_out) {
      data_.resize(data_.size() + bytes);
      step.out = data_.data() + data_.size() - bytes;
    }
    if (window_.is_dynamic()) {
      Target& self = window_.target(window_.comm->rank);
      HEDDLE_TRY(locate(window_, self, step.rows));
    }
    return perform(memory_, operation_, step);
  }
  const std::byte* take(std::size_t bytes) noexcept {
    const std::byte* at = next_;
    next_ += bytes;
    return at;
  }

  Window& window_;
  Memory memory_;
  Operation operation_{};
  const std::byte* next_;
  const std::byte* const end_;
  std::vector<std::byte> data_;
};

void on_ask(Window& window, const RequestPrefix& prefix, int origin, int tag) {
  const auto held = static_cast<Held>(prefix.detail);
  if (prefix.kind == kAskLock || prefix.kind == kAskLockNow) {
    const bool is_free = window.queue.is_empty() && try_lock(*window.block, window.block->lock.come(), held);
    if (is_free || prefix.kind == kAskLockNow) return answer_lock(window, origin, prefix.token, is_free);
    return window.queue.add(origin, prefix.token, held == kExclusive);
  }
  if (prefix.kind == kAskUnlock) {
    unlock(window.node, *window.block, held);
    window.queue.serve();
  }
  const int owed = window.target(origin).owed.exchange(MPI_SUCCESS, std::memory_order_relaxed);
  answer(window, origin, tag, kAnswerPortal, AnswerPrefix{prefix.token, 1, owed}, wire::When::kNow);
}

void on_request(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<RequestPrefix>();
  Window& window = *reinterpret_cast<Window*>(prefix.window);
  const int origin = packet.header.source, tag = packet.header.tag;
  if (prefix.kind == kAskBacklog) return serve_backlog(window, packet.header.source, prefix.token, prefix.type);
  if (prefix.kind == kAskMemory) return tell_memory(window, origin, prefix.token);
  if (prefix.kind >= kAskFlush) return on_ask(window, prefix, origin, tag);
  Pieces pieces(window, prefix, packet);
  const int failure = pieces.run().error_class();
  const std::size_t bytes = pieces.data().size();
  const wire::When when = prefix.has_more_behind ? wire::When::kWithMore : wire::When::kSoon;
  if (prefix.token == 0) {
    if (failure != MPI_SUCCESS) window.target(origin).owed.store(failure, std::memory_order_relaxed);
  } else if (failure != MPI_SUCCESS) {
    answer(window, origin, tag, kDataPortal, DataPrefix{prefix.token, failure, static_cast<std::uint32_t>(bytes)},
           when);
  } else {
    answer(window, origin, tag, kDataPortal, DataPrefix{prefix.token, MPI_SUCCESS, 0}, when, pieces.data().data(),
           bytes);
  }
}

}  // namespace

void answer_lock(Window& window, int origin, std::uint64_t token, bool is_done) noexcept {
  answer(window, origin, 0, kAnswerPortal, AnswerPrefix{token, is_done, MPI_SUCCESS}, wire::When::kNow);
}

void install(vci::Vci& vci) {
  LockGuard guard(vci.lock());
  portals::PortalTable& table = vci.table();
  table.set(kRequestPortal, on_request);
  table.set(kDataPortal, on_data);
  table.set(kAnswerPortal, on_answer);
  table.set(kMemoryPortal, on_memory);
}

}  // namespace heddle::rma
