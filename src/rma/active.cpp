// The origin's side; the target's is in active_target.cpp.
#include "rma/active.hpp"

#include <cstring>
#include <vector>

#include "mpi/process.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "rma/active_packets.hpp"
#include "rma/post.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

// What is to come from a target: where it goes, and the request that completes with it.
struct Transfer : mpi::Request {
  Transfer(const mpi::RequestType& t, Window& window, const Operation& operation, bool is_shown) noexcept
      : Request(t), cursor(operation.out), data_type(*operation.out_type), rank(operation.rank), shown(is_shown) {
    comm = window.comm;
    comm->retain();
    vci = comm->vci;
    mpi::retain(data_type);
  }
  mpi::PackCursor cursor;
  mpi::Datatype& data_type;
  const int rank;           // the target
  const bool shown;         // the program has it as a request
  std::uint64_t asked = 0;  // bytes
};

void destroy_transfer(mpi::Request& request) {
  auto& transfer = static_cast<Transfer&>(request);
  mpi::Comm& comm = *transfer.comm;
  mpi::release(transfer.data_type);
  delete &transfer;
  mpi::release(comm);
}
bool give_up_transfer(mpi::Request& request) {
  auto& transfer = static_cast<Transfer&>(request);
  if (!p2p::is_lost(*transfer.comm, transfer.rank)) return false;
  transfer.error = MPI_ERR_PROC_ABORTED;
  p2p::finish(transfer);
  return true;
}
const mpi::RequestType kTransferType{nullptr, nullptr, destroy_transfer, false, give_up_transfer};

// Who waits for the answer to an Ask.
struct Question {
  std::atomic<std::uint32_t> is_answered{0};
  bool is_done = false;
  std::uint32_t since = 0;
};

Status lane_of(Window& window, int rank, vci::Lane** lane) {
  return p2p::find_lane(*window.comm, mpi::Channel::kUser, rank, 0, lane);
}

Status lost(Window& window, int rank) { return p2p::loss_error(*window.comm, rank); }
bool is_lost(Window& window, int rank) { return p2p::has_losses(*window.comm) && p2p::is_lost(*window.comm, rank); }

// One of our own packets at most waits for room.
Status post(Window& window, int rank, vci::Lane& lane, const RequestPrefix& prefix, const std::byte* data,
            std::size_t bytes) {
  if (post_packet(lane, kRequestPortal, window.comm->rank, &prefix, sizeof prefix, data, bytes)) return Status::ok();
  window.comm->process->domain().wait(*window.comm->vci, [&] { return !lane.busy() || is_lost(window, rank); });
  return is_lost(window, rank) ? lost(window, rank) : Status::ok();
}

// Fills packets with pieces and sends them.
class Sender {
 public:
  Sender(Window& window, const Operation& operation, vci::Lane& lane, Transfer* transfer)
      : window_(window), operation_(operation), lane_(lane), transfer_(transfer), packet_(lane.max_packet()) {}

  Status run() {
    Status status;
    for_each_row(operation_, [&](std::uint64_t at, std::size_t bytes) {
      bytes = std::min(bytes, operation_.bytes_left());
      while (bytes > 0 && status) {
        const std::size_t n = std::min(bytes, room());
        if (n == 0) {
          status = flush();
          continue;
        }
        add(at, n);
        at += n;
        bytes -= n;
      }
      return status && operation_.bytes_left() != 0;
    });
    HEDDLE_TRY(status);
    return used_ == 0 ? Status::ok() : flush();
  }

 private:
  // Bytes of a row that still go in, and whose answer goes into one packet, in whole elements.
  std::size_t room() const noexcept {
    const std::size_t most = packet_.size();
    const std::size_t behind = operation_.kind == Kind::kCompareAndSwap ? operation_.element_bytes() : 0;
    std::size_t room = used_ + sizeof(Piece) + behind < most ? most - used_ - sizeof(Piece) - behind : 0;
    if (!operation_.has_in) room = room == 0 ? 0 : most;
    if (operation_.has_out) room = std::min(room, most - asked_);
    return room / operation_.element_bytes() * operation_.element_bytes();
  }
  void add(std::uint64_t at, std::size_t bytes) {
    const Piece piece{at, static_cast<std::uint32_t>(bytes), operation_.has_in, operation_.has_out, 0};
    append(&piece, sizeof piece);
    if (operation_.has_in) used_ += operation_.in.pack(&packet_[used_], bytes);
    if (operation_.kind == Kind::kCompareAndSwap) append(operation_.compare, bytes);
    if (!operation_.has_out) return;
    asked_ += bytes;
    operation_.out.seek(operation_.out.position() + bytes);
  }
  void append(const void* from, std::size_t bytes) {
    std::memcpy(&packet_[used_], from, bytes);
    used_ += bytes;
  }
  Status flush() {
    RequestPrefix prefix{window_.target(operation_.rank).card.window,
                         reinterpret_cast<std::uint64_t>(transfer_),
                         static_cast<std::uint8_t>(operation_.kind),
                         0,
                         0,
                         0};
    if (operation_.op != nullptr) prefix.detail = static_cast<std::uint8_t>(operation_.op->index());
    if (operation_.element != nullptr) prefix.type = static_cast<std::uint16_t>(operation_.element->index());
    const Status status = post(window_, operation_.rank, lane_, prefix, packet_.data(), used_);
    // Afterwards: what another thread's flush counts stands before its question.
    window_.target(operation_.rank).sent.fetch_add(1, std::memory_order_relaxed);
    HEDDLE_TRY(status);
    used_ = asked_ = 0;
    return Status::ok();
  }

  Window& window_;
  Operation operation_;
  vci::Lane& lane_;
  Transfer* const transfer_;
  std::vector<std::byte> packet_;
  std::size_t used_ = 0, asked_ = 0;
};

Status ask(Window& window, int rank, RequestPrefix prefix, Question& question) {
  vci::Lane* lane = nullptr;
  HEDDLE_TRY(lane_of(window, rank, &lane));
  prefix.window = window.target(rank).card.window;
  prefix.token = reinterpret_cast<std::uint64_t>(&question);
  HEDDLE_TRY(post(window, rank, *lane, prefix, nullptr, 0));
  bool is_gone = false;
  window.comm->process->domain().wait(*window.comm->vci, [&] {
    if (question.is_answered.load(std::memory_order_acquire) != 0) return true;
    return is_gone = is_lost(window, rank);
  });
  return is_gone ? lost(window, rank) : Status::ok();
}

Status ask(Window& window, int rank, Ask what, Held held = kNothing) {
  Target& target = window.target(rank);
  const std::uint64_t sent = target.sent.load(std::memory_order_relaxed);
  Question question;
  HEDDLE_TRY(ask(window, rank, {0, 0, what, held, 0, 0}, question));
  std::uint64_t done = target.done.load(std::memory_order_relaxed);
  while (done < sent && !target.done.compare_exchange_weak(done, sent, std::memory_order_release)) {
  }
  return Status::ok();
}

}  // namespace

Status send(Window& window, const Operation& operation, mpi::Request** request) {
  vci::Lane* lane = nullptr;
  HEDDLE_TRY(lane_of(window, operation.rank, &lane));
  Transfer* transfer = nullptr;
  if (operation.has_out) {
    transfer = new (std::nothrow) Transfer(kTransferType, window, operation, request != nullptr);
    if (transfer == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a request");
    transfer->asked = operation.bytes_left();
  }
  Status status = Sender(window, operation, *lane, transfer).run();
  if (transfer == nullptr) return status;
  if (!status) {
    destroy_transfer(*transfer);  // the target is lost: nothing comes from it any more
  } else if (request != nullptr) {
    *request = transfer;
  }
  return status;
}

void on_data(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<DataPrefix>();
  auto& transfer = *reinterpret_cast<Transfer*>(prefix.token);
  transfer.cursor.unpack(packet.payload, packet.payload_bytes);
  transfer.asked -= packet.payload_bytes;
  if (transfer.asked != 0) return;
  if (transfer.shown) {
    p2p::finish(transfer);
  } else {
    destroy_transfer(transfer);
  }
}

void on_answer(vci::Vci& vci, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<AnswerPrefix>();
  auto& question = *reinterpret_cast<Question*>(prefix.token);
  question.is_done = prefix.is_done != 0;
  question.since = prefix.since;
  question.is_answered.store(1, std::memory_order_release);
  vci.wake_waiters();
}

Status flush(Window& window, int rank) {
  Target& target = window.target(rank);
  if (target.done.load(std::memory_order_acquire) == target.sent.load(std::memory_order_relaxed)) return Status::ok();
  return ask(window, rank, kAskFlush);
}

Status flush_all(Window& window) {
  for (int rank = 0; window.has_messages && rank < window.comm->size; ++rank) HEDDLE_TRY(flush(window, rank));
  return Status::ok();
}

Status lock_remote(Window& window, int rank, Held held) {
  std::uint32_t since = 0;
  for (;;) {
    Question question;
    HEDDLE_TRY(ask(window, rank, {0, 0, kAskLock, held, 0, since}, question));
    if (question.is_done) return Status::ok();
    since = question.since;
  }
}

Status unlock_remote(Window& window, int rank, Held held) { return ask(window, rank, kAskUnlock, held); }

}  // namespace heddle::rma
