// What a target does with the packets of active.hpp.
#include <cstring>
#include <vector>

#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/active_packets.hpp"
#include "rma/epoch.hpp"
#include "rma/passive.hpp"
#include "rma/post.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

// To the origin of a packet. The loss of one to whom there is no lane is noticed by those who wait for it.
template <class Prefix>
void answer(Window& window, int origin, std::uint8_t portal, const Prefix& prefix, const std::byte* data = nullptr,
            std::size_t bytes = 0) {
  vci::Lane* lane = nullptr;
  if (!p2p::find_lane(*window.comm, mpi::Channel::kUser, origin, 0, &lane)) return;
  post_packet(*lane, portal, window.comm->rank, &prefix, sizeof prefix, data, bytes);
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
  void run() {
    while (next_ < end_) {
      if (!one()) window_.comm->process->domain().fatal(last_error_detail());  // no caller to tell
    }
  }
  const std::vector<std::byte>& data() const noexcept { return data_; }

 private:
  Status one() {
    Piece piece;
    std::memcpy(&piece, next_, sizeof piece);
    next_ += sizeof piece;
    std::uint64_t at = piece.at;
    if (window_.is_dynamic()) {
      HEDDLE_TRY(
          locate(window_, window_.target(window_.comm->rank), static_cast<MPI_Aint>(piece.at), 0, piece.bytes, &at));
    }
    Step step{at, piece.bytes, nullptr, nullptr, nullptr};
    if (piece.has_in) step.in = take(piece.bytes);
    if (operation_.kind == Kind::kCompareAndSwap) step.compare = take(piece.bytes);
    if (piece.has_out) {
      data_.resize(data_.size() + piece.bytes);
      step.out = data_.data() + data_.size() - piece.bytes;
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

void on_ask(Window& window, const RequestPrefix& prefix, int origin) {
  const auto held = static_cast<Held>(prefix.detail);
  AnswerPrefix reply{prefix.token, 1, prefix.since};
  if (prefix.kind == kAskUnlock) unlock(window.node, *window.block, held);
  if (prefix.kind == kAskLock) {
    // The first question has no number yet: the reader comes now.
    const LockWord::Reader reader = prefix.since == 0 ? window.block->lock.come() : LockWord::Reader{prefix.since - 1};
    reply.is_done = try_lock(*window.block, reader, held);
    reply.since = reader.since + 1;
  }
  answer(window, origin, kAnswerPortal, reply);
}

void on_request(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<RequestPrefix>();
  Window& window = *reinterpret_cast<Window*>(prefix.window);
  const int origin = packet.header.source;
  if (prefix.kind >= kAskFlush) return on_ask(window, prefix, origin);
  Pieces pieces(window, prefix, packet);
  pieces.run();
  if (prefix.token == 0) return;
  answer(window, origin, kDataPortal, DataPrefix{prefix.token}, pieces.data().data(), pieces.data().size());
}

}  // namespace

void install(vci::Vci& vci) {
  LockGuard guard(vci.lock());
  portals::PortalTable& table = vci.table();
  table.set(kRequestPortal, on_request);
  table.set(kDataPortal, on_data);
  table.set(kAnswerPortal, on_answer);
}

}  // namespace heddle::rma
