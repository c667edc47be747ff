// The origin's part of a backlog.
#include "rma/backlog.hpp"

#include <sys/uio.h>

#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "mpi/process.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/active_packets.hpp"
#include "rma/post.hpp"
#include "vci/domain.hpp"
#include "vci/event_log.hpp"

namespace heddle::rma {
namespace {

// What the kernel would take: at least, and of each row and byte; and from when on a target is asked though it has to be given a core
// first, or to be woken.
constexpr std::int64_t kPatienceNs = 2000, kRowNs = 340, kBytesPerNs = 8, kWorthACore = 5000;
constexpr std::uint64_t kAskEvery = 64;  // units: a target that helps begins before the flush
constexpr unsigned kWakeAfter = 8;       // calls of the kernel: a wake-up costs the caller some of them
constexpr unsigned kMostInVain = 63;
constexpr unsigned kTimeEvery = 8, kYieldEvery = 64;  // rounds
constexpr std::uint64_t kLongest =
    (sizeof(BacklogRing::Entry) + 2 * Backlog::kMost + BacklogRing::kUnit - 1) / BacklogRing::kUnit;
static_assert(2 * kLongest <= BacklogRing::kUnits);  // an entry and what is skipped before it

vci::Domain& domain_of(Window& window) noexcept { return window.comm->process->domain(); }
bool is_lost(Window& window, int rank) noexcept {
  return p2p::has_losses(*window.comm) && p2p::is_lost(*window.comm, rank);
}

}  // namespace

// Where the results of an operation go that do not lie in a row; of all its entries.
struct Backlog::Stream {
  explicit Stream(const Operation& operation) noexcept
      : to(operation.out), type(*operation.out_type), bytes(operation.bytes_here()) {}

  mpi::PackCursor to;
  const mpi::TypeRef type;
  std::size_t bytes;  // that are still to come
};

Backlog::Backlog(Window& window, int rank, std::uint64_t offset) noexcept
    : window_(window),
      target_(window.target(rank)),
      rank_(rank),
      offset_(offset),
      ring_(*new (window.node.at<void>(offset)) Ring) {
  if (!window.comm->vci->threaded()) lock_.elide();
}

bool Backlog::add_and_unlock(Operation& operation) {
  const bool all = add_locked(operation);
  lock_.unlock();
  return all;
}

bool Backlog::add_locked(Operation& operation) {
  is_open_.store(true, std::memory_order_relaxed);
  Stream* stream = nullptr;
  if (operation.has_out && !operation.out.contiguous()) {
    stream = new (std::nothrow) Stream(operation);
    if (stream == nullptr) {
      fail(error(MPI_ERR_NO_MEM, "no memory to write down an access to rank %d", rank_));
      return true;
    }
  }
  const bool must_be_there = !is_short(operation);
  const auto add = [&](const Rows& rows) {
    add_rows(operation, rows, stream);
    ask_for_much();
    return !must_be_there || skip_ == 0;
  };
  for_each_rows(operation, kMostRows, kMost, [&](const Rows& rows) {
    if (operation.kind == Kind::kAccumulate) return for_each_step(rows, *operation.element, kMost, add);
    for (std::size_t done = 0, n = 0; done < rows.bytes; done += n) {
      n = std::min(rows.bytes - done, kMost);
      add({rows.at + done, n, rows.count, rows.stride});
    }
    return true;
  });
  const std::size_t rest = operation.bytes_here();
  if (stream != nullptr && rest != 0) drop_bytes(*stream, rest);
  return rest == 0;
}

void Backlog::drop_bytes(Stream& stream, std::size_t bytes) noexcept {
  stream.bytes -= bytes;
  if (stream.bytes == 0) delete &stream;
}

void Backlog::add_rows(Operation& operation, const Rows& rows, Stream* stream) {
  const bool compares = operation.kind == Kind::kCompareAndSwap;
  const std::size_t bytes = rows.all_bytes(),
                    fields = static_cast<std::size_t>(operation.has_in + compares + operation.has_out);
  Ring::Entry& entry = *take_room(sizeof(Ring::Entry) + fields * bytes);
  entry.at = rows.at;
  entry.bytes = static_cast<std::uint32_t>(rows.bytes);
  entry.rows = static_cast<std::uint32_t>(rows.count);
  entry.stride = rows.stride;
  entry.kind = static_cast<std::uint8_t>(operation.kind);
  entry.op = operation.op == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(operation.op->index());
  entry.type = operation.element == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(operation.element->index());
  entry.has_in = operation.has_in;
  entry.out_is = Ring::Entry::kNoOut;
  if (operation.has_in) operation.in.pack(entry.in(), bytes);
  if (compares) std::memcpy(entry.compare(), operation.compare, bytes);
  if (operation.has_out) {
    entry.out_is = Ring::Entry::kHasResult;
    if (stream != nullptr) {
      entry.out_is |= Ring::Entry::kToStream;
      entry.out = stream;
    } else {
      entry.out = operation.out.data();
    }
    operation.out.seek(operation.out.position() + bytes);
    fetches_ = true;
  }
  operation.done += bytes;
  tail_ += entry.units;
  ring_.publish(tail_);
}

// An entry of so many bytes at tail_, which has its `units`.
BacklogRing::Entry* Backlog::take_room(std::size_t bytes) {
  const std::uint64_t units = (bytes + Ring::kUnit - 1) / Ring::kUnit;
  const std::uint64_t end = tail_ + Ring::skipped(tail_, units) + units;
  if (end - collected_ > Ring::kUnits) settle(std::max(tail_ - std::min(tail_, Ring::kUnits / 2), end - Ring::kUnits));
  return &ring_.begin(&tail_, units);
}

bool Backlog::is_worth_asking() noexcept {
  if (skip_ != 0 || (gave_up_ && is_asked())) return false;
  return (!domain_of(window_).crowded() && !is_asleep()) || cost_left() >= kWorthACore;
}

// So that a target that helps begins before the flush.
void Backlog::ask_for_much() noexcept {
  if (tail_ - asked_to_ < kAskEvery) return;
  if (is_worth_asking()) ask();
  asked_to_ = tail_;
}

// What the kernel would take for what stands there, in ns.
std::int64_t Backlog::cost_left() noexcept {
  std::int64_t cost = 0;
  ring_.for_each(ring_.head.load(std::memory_order_acquire), tail_, [&cost](const Ring::Entry& entry) {
    const int calls = entry.kind >= static_cast<std::uint8_t>(Kind::kAccumulate) ? 2 : 1;
    cost += calls * (kRowNs * entry.rows + static_cast<std::int64_t>(entry.all_bytes()) / kBytesPerNs);
  });
  return cost;
}

bool Backlog::may_be_there() noexcept {
  LockGuard guard(lock_);
  if (skip_ != 0) --skip_;
  return skip_ == 0 && !(gave_up_ && is_asked());
}

bool Backlog::is_asleep() noexcept { return window_.node.sleeps(static_cast<std::uint32_t>(target_.region)); }

// A target that has gone to sleep in MPI spins for a while when it is woken.
void Backlog::wake_now_and_then() noexcept {
  if (domain_of(window_).crowded() || !is_asleep() || ++asleep_ % kWakeAfter != 0) return;
  ask();
}

void Backlog::ask() noexcept {
  asked_to_ = tail_;
  if (is_asked()) return;
  gave_up_ = false;
  post();
}

void Backlog::post() noexcept {
  vci::Lane* lane = nullptr;
  if (!p2p::find_lane(*window_.comm, mpi::Channel::kUser, rank_, 0, &lane)) return;
  const RequestPrefix prefix{target_.card.window, offset_, kAskBacklog, 0, ++packets_};
  post_packet(*lane, kRequestPortal, window_.comm->rank, 0, &prefix, sizeof prefix, nullptr, 0, wire::When::kNow);
}

void Backlog::hurry() noexcept {
  if (!is_open_.load(std::memory_order_relaxed)) return;
  LockGuard guard(lock_);
  if (collected_ != tail_ && is_worth_asking()) ask();
}

Status Backlog::finish() {
  if (!is_open_.load(std::memory_order_acquire)) return Status::ok();
  LockGuard guard(lock_);
  return take_failure(MPI_SUCCESS);
}

Status Backlog::finish_one_and_unlock(Operation& operation, bool* all) {
  settle_all();
  const int earlier = std::exchange(failed_, MPI_SUCCESS);
  *all = add_locked(operation);
  const Status status = take_failure(earlier);
  lock_.unlock();
  return status;
}

void Backlog::settle_all() {
  if (collected_ != tail_) settle(tail_);
}

// The sentence of an error is its thread's, and may be another one's by now.
Status Backlog::take_failure(int instead) {
  settle_all();
  const int failure = std::exchange(failed_, instead);
  is_open_.store(instead != MPI_SUCCESS, std::memory_order_release);  // with what was fetched, for others' flushes
  if (failure == MPI_SUCCESS) return Status::ok();
  if (is_lost(window_, rank_)) return p2p::loss_error(*window_.comm, rank_);
  return undone(failure, rank_);
}

void Backlog::settle(std::uint64_t position) {
  if (skip_ != 0) --skip_;
  wait_for_target(position);
  if (!ring_.is_done(position)) {
    wake_now_and_then();
    Status status = take_back();
    if (status) {
      fail(do_all());
      ring_.give_back();
      if (ring_.head.load(std::memory_order_relaxed) != tail_) status = go_by_messages();
    }
    fail(status);
    if (!ring_.is_done(position)) forget_all();  // the target is lost
  }
  collect();
  const int there = ring_.failure.exchange(MPI_SUCCESS, std::memory_order_relaxed);
  if (failed_ == MPI_SUCCESS) failed_ = there;
}

void Backlog::wait_for_target(std::uint64_t position) noexcept {
  std::uint64_t seen = ring_.head.load(std::memory_order_acquire);
  if (seen >= position || !is_worth_asking()) return;
  ask();
  const std::int64_t patience = std::max(kPatienceNs, cost_left());
  const bool crowded = domain_of(window_).crowded();
  std::int64_t until = now_ns() + patience;
  bool is_over = false;
  for (unsigned round = 0;; ++round) {
    if (ring_.is_done(position)) {
      in_vain_ = 0;
      return;
    }
    if (is_over) {
      gave_up_ = true;
      skip_ = in_vain_ = std::min(2 * in_vain_ + 1, kMostInVain);
      return;
    }
    // It has looked before the last entry was there.
    if (!is_asked() && !ring_.is_done(position)) ask();
    cpu_relax();
    if (round % kTimeEvery != kTimeEvery - 1) continue;
    if (crowded) yield_core();
    domain_of(window_).progress(*window_.comm->vci,
                                round / kTimeEvery);  // it may wait for this process in the same way
    const std::int64_t now = now_ns();
    const std::uint64_t before = std::exchange(seen, ring_.head.load(std::memory_order_acquire));
    if (seen != before) until = now + patience;
    is_over = now > until;
  }
}

// `busy`, which a target has that is just doing an entry.
Status Backlog::take_back() {
  for (unsigned round = 1; !ring_.try_take(); ++round) {
    domain_of(window_).progress(*window_.comm->vci, round);
    if (round % kYieldEvery != 0) continue;
    yield_core();
    domain_of(window_).look_for_losses();
    if (is_lost(window_, rank_)) return p2p::loss_error(*window_.comm, rank_);
  }
  return Status::ok();
}

// REQUIRES: busy. What the kernel refuses stays, with all that stands behind it.
Status Backlog::do_all() {
  Status first;
  Memory memory(window_, target_, nullptr);
  Operation operation{};
  ring_.do_rest(tail_, [&](std::uint64_t* head) {
    Ring::Entry& entry = ring_.at(*head);
    Status status;
    if (entry.kind <= static_cast<std::uint8_t>(Kind::kGet)) {
      status = do_entries(head);
    } else {
      if (entry.kind != Ring::kSkip) {
        entry.describe(&operation);
        status = perform(memory, operation, entry.step());
      }
      if (status || target_.memory->way() != wire::PeerMemory::Way::kRefused) {
        if (!status) entry.fail();
        *head += entry.units;
      }
    }
    if (!status && target_.memory->way() == wire::PeerMemory::Way::kRefused) return false;
    if (first) first = status;
    return true;
  });
  return first;
}

// The puts or gets that begin at *head, which goes behind those that are done and one that failed.
Status Backlog::do_entries(std::uint64_t* head) {
  iovec here[kMostRows], there[kMostRows];
  std::uint64_t begins[kMostRows];  // of the entry that has the row
  std::size_t rows = 0;
  const std::uint8_t kind = ring_.at(*head).kind;
  std::uint64_t next = *head;
  for (; next != tail_ && rows < kMostRows; next += ring_.at(next).units) {
    Ring::Entry& entry = ring_.at(next);
    if (entry.kind == Ring::kSkip) continue;
    if (entry.kind != kind || rows + entry.rows > kMostRows) break;
    const Step step = entry.step();
    std::byte* data = entry.has_in != 0 ? entry.in() : entry.result();
    for (std::size_t i = 0; i < entry.rows; ++i, ++rows, data += entry.bytes) {
      here[rows] = {data, entry.bytes};
      there[rows] = {reinterpret_cast<void*>(target_.card.base + step.rows.at_of(i)), entry.bytes};
      begins[rows] = next;
    }
  }
  const bool is_put = kind == static_cast<std::uint8_t>(Kind::kPut);
  const std::size_t done =
      is_put ? target_.memory->write_rows(here, there, rows) : target_.memory->read_rows(here, there, rows);
  if (done == rows) {
    *head = next;
    return Status::ok();
  }
  *head = begins[done];
  if (target_.memory->way() != wire::PeerMemory::Way::kRefused) {
    Ring::Entry& failed = ring_.at(*head);
    failed.fail();
    *head += failed.units;
  }
  return no_memory_there(reinterpret_cast<std::uint64_t>(there[done].iov_base) - target_.card.base, here[done].iov_len);
}

// The target does what is left: behind the packet stands a question, which its loss ends, too.
Status Backlog::go_by_messages() {
  const vci::EventLog::Quiet quiet;  // lock_ is held
  target_.way.store(Way::kMessages, std::memory_order_relaxed);
  window_.has_messages.store(true, std::memory_order_relaxed);
  post();
  target_.counts.sent.fetch_add(1, std::memory_order_relaxed);
  Questions questions(window_);
  questions.flush_messages(rank_);
  return questions.wait();
}

void Backlog::collect() noexcept {
  const std::uint64_t head = ring_.head.load(std::memory_order_acquire);
  if (fetches_) ring_.for_each(collected_, head, take_result);
  collected_ = head;
  if (collected_ == tail_) fetches_ = false;
}

// What is not done will not be.
void Backlog::forget_all() noexcept {
  collect();
  ring_.for_each(collected_, tail_, [](Ring::Entry& entry) {
    entry.fail();
    take_result(entry);
  });
  ring_.head.store(tail_, std::memory_order_relaxed);
  collected_ = tail_;
  fetches_ = false;
}

void Backlog::take_result(Ring::Entry& entry) noexcept {
  const std::size_t bytes = entry.all_bytes();
  if ((entry.out_is & Ring::Entry::kToStream) == 0) {
    if (entry.has_result()) std::memcpy(entry.out, entry.result(), bytes);
    return;
  }
  auto& stream = *static_cast<Stream*>(entry.out);
  if (entry.has_result()) {
    stream.to.unpack(entry.result(), bytes);
  } else {
    stream.to.seek(stream.to.position() + bytes);
  }
  drop_bytes(stream, bytes);
}

void Backlog::let_go() noexcept {
  domain_of(window_).wait(*window_.comm->vci, [&] { return ring_.is_left(packets_) || is_lost(window_, rank_); });
}

}  // namespace heddle::rma
