// The origin's side; the target's is in active_target.cpp.
#include "rma/active.hpp"

#include <cstring>
#include <vector>

#include "mpi/process.hpp"
#include "mpi/spread.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "rma/active_packets.hpp"
#include "rma/backlog.hpp"
#include "rma/post.hpp"
#include "rma/remote.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {

// Who waits for the answer to an Ask.
struct Question {
  Question(Window& w, int r, std::uint8_t ask, int t = 0) noexcept : window(w), rank(r), what(ask), tag(t) {}
  Status put(Held held);
  Status wait();

  Window& window;
  const int rank;
  const std::uint8_t what;
  const int tag;
  std::uint64_t sent =
      0;  // packets that stand before it, and are done once it is answered; 0: that is not what it asks
  std::atomic<std::uint32_t> is_answered{0};
  bool is_done = false;
};

namespace {

// Where the answers to what goes there with that tag come.
vci::Vci* vci_of(Window& window, int rank, int tag) {
  return mpi::stream_of(*window.comm, mpi::Channel::kUser, rank, tag).vci;
}

// Of this thread's operations.
int tag_of_thread(const Window& window) {
  static std::atomic<unsigned> threads{0};
  if (window.comm->spread == nullptr) return 0;
  thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(number % kTags);
}

// What is to come from a target: where it goes, and the request that completes with it.
struct Transfer : mpi::Request {
  Transfer(const mpi::RequestType& t, Window& window, const Operation& operation, bool is_shown, int way) noexcept
      : Request(t),
        cursor(operation.out),
        data_type(*operation.out_type),
        target(window.target(operation.rank)),
        rank(operation.rank),
        shown(is_shown) {
    comm = window.comm;
    comm->retain();
    vci = vci_of(window, operation.rank, way);
    mpi::retain(data_type);
  }
  mpi::PackCursor cursor;
  mpi::Datatype& data_type;
  Target& target;  // of a window that waits for it
  const int rank;
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
const mpi::RequestType kTransferType{.start = nullptr,
                                     .cancel = nullptr,
                                     .destroy = destroy_transfer,
                                     .give_up = give_up_transfer,
                                     .must_complete = "an operation on a window"};

Status lane_of(Window& window, int rank, int tag, vci::Lane** lane) {
  return p2p::find_lane(*window.comm, mpi::Channel::kUser, rank, tag, lane);
}

Status lost(Window& window, int rank) { return p2p::loss_error(*window.comm, rank); }
bool is_lost(Window& window, int rank) { return p2p::has_losses(*window.comm) && p2p::is_lost(*window.comm, rank); }

// What the target has told of operations that it could not do: once.
Status failure_of(Window& window, int rank) {
  const int failure = window.target(rank).failure.exchange(MPI_SUCCESS, std::memory_order_relaxed);
  if (failure == MPI_SUCCESS) return Status::ok();
  return is_lost(window, rank) ? lost(window, rank) : undone(failure, rank);
}

// One of our own packets at most waits for room.
Status post(Window& window, int rank, int tag, vci::Lane& lane, const RequestPrefix& prefix, const std::byte* data,
            std::size_t bytes, wire::When when) {
  if (post_packet(lane, kRequestPortal, window.comm->rank, tag, &prefix, sizeof prefix, data, bytes, when)) {
    return Status::ok();
  }
  window.comm->process->domain().wait(*vci_of(window, rank, tag),
                                      [&] { return !lane.busy() || is_lost(window, rank); });
  return is_lost(window, rank) ? lost(window, rank) : Status::ok();
}

// Fills packets with pieces and sends them.
class Sender {
 public:
  Sender(Window& window, const Operation& operation, int tag, vci::Lane& lane, Transfer* transfer)
      : window_(window),
        operation_(operation),
        tag_(tag),
        lane_(lane),
        transfer_(transfer),
        packet_(lane.max_packet()) {}

  Status run() {
    Status status;
    for_each_rows(operation_, UINT16_MAX, packet_.size() / 2, [&](const Rows& rows) {
      status = fill_in(rows);
      return static_cast<bool>(status);
    });
    HEDDLE_TRY(status);
    return used_ == 0 ? Status::ok() : flush();
  }

 private:
  // Rows of which each fits into an empty packet, or one that goes in parts.
  Status fill_in(Rows rows) {
    while (rows.count > 0) {
      const std::size_t fits = room(rows.count);
      if (fits >= rows.bytes) {
        const std::size_t n = std::min(rows.count, fits / rows.bytes);
        add(rows.part(0, n));
        rows = rows.part(n, rows.count - n);
      } else if (rows.count > 1 || fits == 0) {
        HEDDLE_TRY(flush());
      } else {
        add({rows.at, fits});
        rows.at += fits;
        rows.bytes -= fits;
      }
    }
    return Status::ok();
  }
  // Bytes of rows that still go in, and whose answer goes into one packet, in whole elements.
  std::size_t room(std::size_t rows) const noexcept {
    const std::size_t most = packet_.size();
    const std::size_t beside = sizeof(Piece) + (rows > 1 ? sizeof(std::int64_t) : 0) +
                               (operation_.kind == Kind::kCompareAndSwap ? operation_.element_bytes() : 0);
    std::size_t room = used_ + beside < most ? most - used_ - beside : 0;
    if (!operation_.has_in) room = room == 0 ? 0 : most;
    if (operation_.has_out) room = std::min(room, most - asked_);
    return room / operation_.element_bytes() * operation_.element_bytes();
  }
  void add(const Rows& rows) {
    const std::size_t bytes = rows.all_bytes();
    const Piece piece{rows.at, static_cast<std::uint32_t>(rows.bytes), operation_.has_in, operation_.has_out,
                      static_cast<std::uint16_t>(rows.count)};
    append(&piece, sizeof piece);
    if (rows.count > 1) append(&rows.stride, sizeof rows.stride);
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
                         false};
    // Nothing waits for it before a question does, but the program for a request.
    prefix.has_more_behind = transfer_ == nullptr || !transfer_->shown;
    if (operation_.op != nullptr) prefix.detail = static_cast<std::uint8_t>(operation_.op->index());
    if (operation_.element != nullptr) prefix.type = static_cast<std::uint16_t>(operation_.element->index());
    const Status status = post(window_, operation_.rank, tag_, lane_, prefix, packet_.data(), used_,
                               prefix.has_more_behind ? wire::When::kWithMore : wire::When::kSoon);
    // Afterwards: what another thread's flush counts stands before its question.
    window_.target(operation_.rank).of_tag(tag_).sent.fetch_add(1, std::memory_order_relaxed);
    HEDDLE_TRY(status);
    used_ = asked_ = 0;
    return Status::ok();
  }

  Window& window_;
  Operation operation_;
  const int tag_;
  vci::Lane& lane_;
  Transfer* const transfer_;
  std::vector<std::byte> packet_;
  std::size_t used_ = 0, asked_ = 0;
};

}  // namespace

Status send(Window& window, const Operation& operation, mpi::Request** request) {
  bool went = false;
  HEDDLE_TRY(start_remote(window, operation, request, &went));
  if (went) return Status::ok();
  const int tag = tag_of_thread(window);
  vci::Lane* lane = nullptr;
  HEDDLE_TRY(lane_of(window, operation.rank, tag, &lane));
  Transfer* transfer = nullptr;
  if (operation.has_out) {
    transfer = new (std::nothrow) Transfer(kTransferType, window, operation, request != nullptr, tag);
    if (transfer == nullptr) return error(MPI_ERR_NO_MEM, "no memory for a request");
    transfer->asked = operation.bytes_here();
  }
  Status status = Sender(window, operation, tag, *lane, transfer).run();
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
  if (prefix.error == MPI_SUCCESS) {
    transfer.cursor.unpack(packet.payload, packet.payload_bytes);
  } else {
    transfer.cursor.seek(transfer.cursor.position() + prefix.missing);
    transfer.error = prefix.error;
    if (!transfer.shown) transfer.target.failure.store(prefix.error, std::memory_order_relaxed);
  }
  transfer.asked -= packet.payload_bytes + prefix.missing;
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
  std::atomic<std::uint64_t>& known = question.window.target(question.rank).of_tag(question.tag).done;
  std::uint64_t done = known.load(std::memory_order_relaxed);
  while (done < question.sent && !known.compare_exchange_weak(done, question.sent, std::memory_order_release)) {
  }
  if (prefix.error != MPI_SUCCESS) {
    question.window.target(question.rank).failure.store(prefix.error, std::memory_order_relaxed);
  }
  question.is_done = prefix.is_done != 0;
  question.is_answered.store(1, std::memory_order_release);
  vci.wake_waiters();
}

Status Question::put(Held held) {
  vci::Lane* lane = nullptr;
  HEDDLE_TRY(lane_of(window, rank, tag, &lane));
  const RequestPrefix prefix{
      window.target(rank).card.window, reinterpret_cast<std::uint64_t>(this), what, held, 0, false};
  return post(window, rank, tag, *lane, prefix, nullptr, 0, wire::When::kNow);
}

Status Question::wait() {
  bool is_gone = false;
  window.comm->process->domain().wait(*vci_of(window, rank, tag), [&] {
    if (is_answered.load(std::memory_order_acquire) != 0) return true;
    return is_gone = is_lost(window, rank);
  });
  return is_gone ? lost(window, rank) : Status::ok();
}

Questions::Questions(Window& window) noexcept : window_(window) {}
Questions::~Questions() = default;

void Questions::ask(int rank, std::uint8_t what, Held held, int tag, std::uint64_t sent) {
  auto question = std::make_unique<Question>(window_, rank, what, tag);
  question->sent = sent;
  const Status status = question->put(held);
  if (status) {
    asked_.push_back(std::move(question));
  } else if (status_) {
    status_ = status;
  }
}

Status undone(int error_class, int rank) {
  if (error_class == MPI_ERR_PROC_ABORTED) {
    return error(error_class, "the network has broken off an access to the memory of rank %d", rank);
  }
  return error(error_class,
               "rank %d could not do an operation of this epoch: is all the memory attached there that it reaches?",
               rank);
}

void Questions::flush(int rank) {
  for_each_backlog(window_.target(rank), [this](Backlog& backlog) {
    backlog.hurry();
    backlogs_.push_back(&backlog);
  });
  flush_messages(rank);
}

void Questions::finish(Target& target) {
  const Status status = finish_backlog(target);
  if (status_) status_ = status;
}

void Questions::flush_messages(int rank) {
  Target& target = window_.target(rank);
  const int tags = target.more == nullptr ? 1 : kTags;
  for (int tag = 0; tag < tags; ++tag) {
    const Target::Counts& counts = target.of_tag(tag);
    const std::uint64_t sent = counts.sent.load(std::memory_order_relaxed);
    if (counts.done.load(std::memory_order_acquire) != sent) ask(rank, kAskFlush, kNothing, tag, sent);
  }
  if (begin_remote_flush(target)) {
    remotes_.push_back(rank);
  } else if (target.remote.load(std::memory_order_relaxed) != nullptr && status_) {
    status_ = failure_of(window_, rank);  // of one that ended before: nothing else would tell
  }
}

// The question stands behind what has its tag alone, and went as packets.
void Questions::unlock(int rank, Held held) {
  Target& target = window_.target(rank);
  if (target.more != nullptr || has_remote(target)) {
    flush(rank);
    wait().ignore();  // its error stays
  }
  ask(rank, kAskUnlock, held, 0, target.counts.sent.load(std::memory_order_relaxed));
}

void Questions::share(int rank) { ask(rank, kAskLockNow, kShared, 0, 0); }

// Also after the loss of one: the answers of the others go to their questions. Programs wait in loops of flushes: what others
// ask for goes on where there is nothing to wait for, too.
Status Questions::wait() {
  if (asked_.empty() && remotes_.empty() && window_.has_messages)
    window_.comm->process->domain().progress_once(*window_.comm->vci);
  for (Backlog* backlog : backlogs_) {
    const Status status = backlog->finish();
    if (status_) status_ = status;
  }
  backlogs_.clear();
  for (const int rank : remotes_) {
    end_remote_flush(window_, rank);
    const Status status = failure_of(window_, rank);
    if (status_) status_ = status;
  }
  remotes_.clear();
  for (const std::unique_ptr<Question>& question : asked_) {
    Status status = question->wait();
    if (status) status = failure_of(window_, question->rank);
    if (status_) status_ = status;
    if (question->what == kAskLockNow && question->is_done) {
      window_.target(question->rank).held.store(kShared, std::memory_order_relaxed);
    }
  }
  asked_.clear();
  return status_;
}

Status flush(Window& window, int rank) {
  Questions questions(window);
  questions.finish(window.target(rank));
  questions.flush_messages(rank);
  return questions.wait();
}

Status flush_all(Window& window) {
  Questions questions(window);
  const bool has_any = window.has_messages || window.has_backlogs;
  for (int rank = 0; has_any && rank < window.comm->size; ++rank) questions.flush(rank);
  return questions.wait();
}

Status lock_remote(Window& window, int rank, Held held) {
  Question question(window, rank, kAskLock);
  HEDDLE_TRY(question.put(held));
  HEDDLE_TRY(question.wait());
  if (question.is_done) return Status::ok();
  return error(MPI_ERR_PROC_ABORTED,
               "rank %d cannot give its lock any more: a member of the window is lost, which may have it", rank);
}

}  // namespace heddle::rma
