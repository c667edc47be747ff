#include "wire/ofi_port.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi.h"
#include "wire/ofi_lane.hpp"

namespace heddle::wire {

OfiPort::OfiPort(std::shared_ptr<Fabric> fabric, const Identity& identity, std::uint32_t vci) noexcept
    : fabric_(std::move(fabric)), identity_(identity), vci_(vci) {}

Status OfiPort::open(std::shared_ptr<Fabric> fabric, const Identity& identity, std::uint32_t vci,
                     std::unique_ptr<OfiPort>* out) {
  std::unique_ptr<OfiPort> port(new OfiPort(std::move(fabric), identity, vci));
  HEDDLE_TRY(port->open_all());
  *out = std::move(port);
  return Status::ok();
}

Status OfiPort::failed(const char* what, int code) const {
  return error(MPI_ERR_OTHER, "libfabric's %s cannot %s: %s", fabric_->provider().c_str(), what,
               fabric_->library().strerror(-code));
}

Status OfiPort::open_all() {
  fi_info& info = fabric_->info();
  if (const int code = fi_domain(&fabric_->fabric(), &info, &domain_, nullptr); code != 0) {
    return failed("open a domain", code);
  }
  HEDDLE_TRY(open_completion_queue());
  fi_av_attr addresses{};
  addresses.type = FI_AV_TABLE;
  addresses.count = 16;
  if (const int code = fi_av_open(domain_, &addresses, &addresses_, nullptr); code != 0) {
    return failed("open an address vector", code);
  }
  if (const int code = fi_endpoint(domain_, &info, &endpoint_, nullptr); code != 0) {
    return failed("open an endpoint", code);
  }
  int code = fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV);
  if (code == 0) code = fi_ep_bind(endpoint_, &addresses_->fid, 0);
  std::size_t least = kFrameBytes;
  if (code == 0) code = fi_setopt(&endpoint_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
  if (code == 0) code = fi_enable(endpoint_);
  return code == 0 ? make_buffers() : failed("enable an endpoint", code);
}

// With something to sleep on, where the provider has it. Up to libfabric 1.18.0 a queue's descriptor of the TCP providers
// stays readable from the first completion on, as fi_trywait() does not clear it (issue 8947 there), and who sleeps on
// it spins: 1.3 s of processor time in 3 s of MPI_Recv. A wait set's is cleared by fi_wait().
Status OfiPort::open_completion_queue() {
  fi_cq_attr queue{};
  queue.format = FI_CQ_FORMAT_DATA;
  fi_wait_attr set{FI_WAIT_FD, 0};
  if (fabric_->library().version() < FI_VERSION(1, 19) && fi_wait_open(&fabric_->fabric(), &set, &wait_set_) == 0) {
    queue.wait_obj = FI_WAIT_SET;
    queue.wait_set = wait_set_;
    if (fi_cq_open(domain_, &queue, &queue_, nullptr) == 0 && fi_control(&wait_set_->fid, FI_GETWAIT, &wait_fd_) == 0) {
      return Status::ok();
    }
    if (queue_ != nullptr) fi_close(&queue_->fid);
    fi_close(&wait_set_->fid);
    queue_ = nullptr;
    wait_set_ = nullptr;
    queue.wait_set = nullptr;
  }
  for (const fi_wait_obj wait : {FI_WAIT_FD, FI_WAIT_NONE}) {
    queue.wait_obj = wait;
    const int code = fi_cq_open(domain_, &queue, &queue_, nullptr);
    if (code == 0 && (wait == FI_WAIT_NONE || fi_control(&queue_->fid, FI_GETWAIT, &wait_fd_) == 0))
      return Status::ok();
    if (code == 0) {
      fi_close(&queue_->fid);
      queue_ = nullptr;
    } else if (wait == FI_WAIT_NONE) {
      return failed("open a completion queue", code);
    }
    wait_fd_ = -1;
  }
  return Status::ok();
}

// Some providers (cxi) bind memory to endpoints: fi_mr(3), FI_MR_ENDPOINT.
bool OfiPort::register_memory(const void* data, std::size_t bytes, std::uint64_t access, std::uint64_t key,
                              fid_mr** mr) noexcept {
  *mr = nullptr;
  if (fi_mr_reg(domain_, data, bytes, access, 0, key, 0, mr, nullptr) != 0) return false;
  if ((fabric_->info().domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return true;
  if (fi_mr_bind(*mr, &endpoint_->fid, 0) == 0 && fi_mr_enable(*mr) == 0) return true;
  fi_close(&std::exchange(*mr, nullptr)->fid);
  return false;
}

bool OfiPort::register_local(void* data, std::size_t bytes, std::uint64_t access, OfiMemory* out) noexcept {
  return (fabric_->info().domain_attr->mr_mode & FI_MR_LOCAL) == 0 ||
         register_memory(data, bytes, access, registered_++, &out->mr);
}

Status OfiPort::make_buffers() {
  LockGuard guard(lock_);
  memory_.emplace_back(new (std::nothrow)
                           std::byte[kBuffers * kFrameBytes + kReceives * kReceiveBytes]);  // not touched
  if (memory_.back() == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the buffers of a fabric");
  OfiMemory all;
  if (!register_local(memory_.back().get(), kBuffers * kFrameBytes + kReceives * kReceiveBytes, FI_SEND | FI_RECV,
                      &all)) {
    return error(MPI_ERR_NO_MEM, "libfabric's %s cannot register 3 MiB of memory; is 'ulimit -l' large enough?",
                 fabric_->provider().c_str());
  }
  std::byte* at = memory_.back().get();
  sends_.resize(kBuffers);
  for (OfiSend& send : sends_) {
    send.kind = OfiOperation::Kind::kSend;
    send.data = std::exchange(at, at + kFrameBytes);
    send.memory = all;
    free_.push_back(&send);
  }
  parts_.resize(kParts);
  for (OfiPart& part : parts_) {
    part.kind = OfiOperation::Kind::kPart;
    free_parts_.push_back(&part);
  }
  receives_.resize(kReceives);
  for (OfiReceive& receive : receives_) {
    receive.kind = OfiOperation::Kind::kReceive;
    receive.data = std::exchange(at, at + kReceiveBytes);
    receive.memory = all;
    const int code = post(receive);
    if (code == -FI_EAGAIN) {
      unposted_.push_back(&receive);
    } else if (code != 0) {
      return failed("take a receive buffer", code);
    }
  }
  return Status::ok();
}

OfiPort::~OfiPort() {
  fid_mr* registered = sends_.empty() ? nullptr : sends_.front().memory.mr;
  if (endpoint_ != nullptr) fi_close(&endpoint_->fid);
  if (registered != nullptr) fi_close(&registered->fid);
  for (std::size_t i = kBuffers; i < sends_.size(); ++i) {
    if (sends_[i].memory.mr != nullptr) fi_close(&sends_[i].memory.mr->fid);
  }
  for (std::size_t i = kReceives; i < receives_.size(); ++i) {
    if (receives_[i].memory.mr != nullptr) fi_close(&receives_[i].memory.mr->fid);
  }
  if (addresses_ != nullptr) fi_close(&addresses_->fid);
  if (queue_ != nullptr) fi_close(&queue_->fid);
  if (wait_set_ != nullptr) fi_close(&wait_set_->fid);
  if (domain_ != nullptr) fi_close(&domain_->fid);
}

Status OfiPort::address(std::vector<std::byte>* out) {
  LockGuard guard(lock_);
  std::size_t bytes = 0;
  fi_getname(&endpoint_->fid, nullptr, &bytes);
  out->resize(bytes);
  const int code = fi_getname(&endpoint_->fid, out->data(), &bytes);
  return code == 0 ? Status::ok() : failed("tell its own address", code);
}

Status OfiPort::insert(const void* address, fi_addr_t* out) {
  const int inserted = fi_av_insert(addresses_, address, 1, out, 0, nullptr);
  return inserted == 1 ? Status::ok() : failed("take a peer's address", inserted < 0 ? inserted : -FI_EINVAL);
}

int OfiPort::post(OfiReceive& buffer) noexcept {
  const iovec piece{buffer.data, kReceiveBytes};
  void* descriptor = buffer.memory.descriptor();
  const fi_msg message{&piece, &descriptor, 1, FI_ADDR_UNSPEC, &buffer.context, 0};
  return static_cast<int>(fi_recvmsg(endpoint_, &message, FI_MULTI_RECV));
}

OfiSend* OfiPort::take_buffer() noexcept {
  if (free_.empty()) {
    refused_ = true;
    return nullptr;
  }
  OfiSend* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

// With a completion, also for what the provider could take by value: who leaves must know that nothing is left there.
OfiPort::Gone OfiPort::send(OfiSend& buffer, fi_addr_t to) noexcept {
  const ssize_t code = fi_send(endpoint_, buffer.data, buffer.bytes, buffer.memory.descriptor(), to, &buffer.context);
  if (code == -FI_EAGAIN) {
    refused_ = true;
    return Gone::kNo;
  }
  buffer.under_way = code == 0;
  if (code != 0) give_back(buffer);
  return code == 0 ? Gone::kYes : Gone::kFailed;
}

bool OfiPort::owes() noexcept {
  LockGuard guard(lock_);
  return free_.size() != buffers_;
}

void OfiPort::take_completion(const fi_cq_data_entry& entry) noexcept {
  // Written here; of a message that says the same there is an operation here.
  constexpr std::uint64_t kOwn = FI_RECV | FI_WRITE;
  if ((entry.flags & (FI_REMOTE_CQ_DATA | kOwn)) == FI_REMOTE_CQ_DATA) return written_.push_back(entry.data);
  auto& operation = *static_cast<OfiOperation*>(entry.op_context);
  switch (operation.kind) {
    case OfiOperation::Kind::kSend:
      has_room_ = true;
      return give_back(static_cast<OfiSend&>(operation));
    case OfiOperation::Kind::kPart:
      return end_part(static_cast<OfiPart&>(operation), true);
    case OfiOperation::Kind::kDropped:
      return end_dropped(static_cast<OfiPart&>(operation));
    case OfiOperation::Kind::kReceive:
      arrived_.push_back({&static_cast<OfiReceive&>(operation), static_cast<const std::byte*>(entry.buf),
                          (entry.flags & FI_RECV) != 0 ? entry.len : 0, (entry.flags & FI_MULTI_RECV) != 0, false});
  }
}

void OfiPort::take_failure(Handler& handler) noexcept {
  fi_cq_err_entry failure{};
  if (fi_cq_readerr(queue_, &failure, 0) != 1 || failure.op_context == nullptr) return;
  auto& operation = *static_cast<OfiOperation*>(failure.op_context);
  const char* reason = fabric_->library().strerror(failure.err);
  switch (operation.kind) {
    case OfiOperation::Kind::kSend: {
      auto& send = static_cast<OfiSend&>(operation);
      give_back(send);
      return handler.lost(send.lane->peer(), reason);
    }
    case OfiOperation::Kind::kPart:
      return end_part(static_cast<OfiPart&>(operation), false);
    case OfiOperation::Kind::kDropped:
      return end_dropped(static_cast<OfiPart&>(operation));
    case OfiOperation::Kind::kReceive: {
      // A sender's connection broke in the middle of a message, or somebody sent one that is too long.
      counts_.strange.fetch_add(1, std::memory_order_relaxed);
      arrived_.push_back({&static_cast<OfiReceive&>(operation), nullptr, 0, false, true});
    }
  }
}

unsigned OfiPort::take_completions(Handler& handler, unsigned limit) noexcept {
  fi_cq_data_entry entries[kBatch];
  unsigned taken = 0;
  while (taken < limit) {
    const ssize_t n = fi_cq_read(queue_, entries, kBatch);
    if (n == -FI_EAVAIL) {
      take_failure(handler);
      ++taken;
      continue;
    }
    if (n <= 0) break;
    for (ssize_t i = 0; i < n; ++i) take_completion(entries[i]);
    taken += static_cast<unsigned>(n);
    if (n < static_cast<ssize_t>(kBatch)) break;
  }
  return taken;
}

bool OfiPort::flush() noexcept {
  LockGuard guard(lock_);
  push_waiting();
  return waiting_.empty();
}

void OfiPort::push_waiting() noexcept {
  const std::size_t gone =
      std::erase_if(waiting_, [](OfiLane* lane) NO_THREAD_SAFETY_ANALYSIS { return lane->push(); });
  has_room_ |= gone != 0;
}

void OfiPort::deliver(Handler& handler, const Arrived& arrived) noexcept {
  if (arrived.bytes == 0) return;
  FrameHeader frame;
  if (!read_frame_header(arrived.data, arrived.bytes, identity_.key, identity_.self, &frame) || frame.to != vci_) {
    counts_.strange.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (std::ranges::count(lost_, frame.source) != 0) return;
  std::uint32_t& next = next_[std::uint64_t{frame.source} << 8 | frame.from];
  if (frame.sequence != next) {
    if (static_cast<std::int32_t>(frame.sequence - next) > 0) {
      return handler.lost(frame.source, "the network has lost a part of what it sent");
    }
    counts_.replayed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++next;
  const std::byte* at = arrived.data + sizeof frame;
  const std::byte* const end = arrived.data + arrived.bytes;
  Packet packet;
  std::uint32_t behind = 0;
  for (std::uint32_t i = 0; i < frame.packets && read_packet(&at, end, &packet, &behind); ++i) {
    if (behind != 0 && packet.payload_bytes >= sizeof(Behind::key)) {
      Behind one{0, behind};
      std::memcpy(&one.key, packet.payload, sizeof one.key);
      behind_.push_back(one);
    }
    handler.packet(frame, packet);
  }
}

// The net provider of libfabric before 1.20, and ofi_rxm, say that they let go of a buffer when the last place in it has its
// message, and messages of other connections may still be on their way into places before that one. Where a message was cut
// off they may never say it.
bool OfiPort::fills(const Arrived& arrived) noexcept {
  OfiReceive& buffer = *arrived.buffer;
  buffer.released |= arrived.last;
  buffer.torn |= arrived.broken;
  buffer.bytes += arrived.bytes;
  if (arrived.bytes != 0) {
    buffer.end = std::max(buffer.end, static_cast<std::size_t>(arrived.data - buffer.data) + arrived.bytes);
  }
  return !buffer.resting && (buffer.torn || (buffer.released && buffer.bytes == buffer.end));
}

// Of a message that was cut off a place stays empty, and no one knows whether the others that are empty wait for messages
// that still come, nor whether more will be put behind them: what comes there is taken in, and none of it may land in what is
// posted again. So the buffer rests until kMostTorn later ones have been torn.
OfiReceive* OfiPort::instead_of(OfiReceive& torn) noexcept {
  torn.resting = true;
  torn_.push_back(&torn);
  if (torn_.size() > kMostTorn) {
    OfiReceive* const oldest = torn_.front();
    torn_.pop_front();
    return oldest;
  }
  auto memory = std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[kReceiveBytes]);
  OfiMemory registered;
  if (memory == nullptr || !register_local(memory.get(), kReceiveBytes, FI_RECV, &registered)) return nullptr;
  OfiReceive& other = receives_.emplace_back();
  other.kind = OfiOperation::Kind::kReceive;
  other.data = memory.get();
  other.memory = registered;
  memory_.push_back(std::move(memory));
  return &other;
}

void OfiPort::use_again(OfiReceive& buffer) noexcept {
  OfiReceive* const next = buffer.torn ? instead_of(buffer) : &buffer;
  if (next == nullptr) return;
  next->bytes = next->end = 0;
  next->released = next->torn = next->resting = false;
  unposted_.push_back(next);
}

unsigned OfiPort::poll(Handler& handler, unsigned limit) noexcept {
  looked_.store(looked_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool room = false;
  {
    LockGuard guard(lock_);
    has_room_ = false;
    if (!waiting_.empty()) push_waiting();
    if (!unposted_.empty()) post_again(handler);
    if (!behind_.empty()) drop_unwanted(handler);
    const unsigned taken = take_completions(handler, limit);
    if (first_access_ != nullptr && (taken != 0 || try_again_ || unresolved_)) ask_for_parts();
    // Somebody waits for just that. Otherwise a send that has gone is no news.
    room = has_room_ && std::exchange(refused_, refused_ && !has_room_);
    if (taken == 0 && ended_.empty()) return room ? 1 : 0;
  }
  const auto come = static_cast<unsigned>(arrived_.size() + ended_.size() + written_.size());
  if (come != 0) moved_.store(moved_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  for (const Arrived& arrived : arrived_) deliver(handler, arrived);
  for (const std::uint64_t data : written_) deliver_written(data);
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    const Ended ended = ended_[i];
    const auto& lane = static_cast<OfiLane&>(*ended.access->lane);
    const bool was_told = ended.access->kind == RemoteAccess::Kind::kPush || ended.access->is_told();
    if (!ended.complete && was_told && std::ranges::count(lost_, lane.peer()) == 0) {
      handler.lost(lane.peer(), "the network has broken off what was sent there");
    }
    ended.access->done(*ended.access, ended.complete);
  }
  LockGuard guard(lock_);
  for (const Arrived& arrived : arrived_) {
    if (fills(arrived)) use_again(*arrived.buffer);
  }
  if (!unposted_.empty()) post_again(handler);
  arrived_.clear();
  ended_.clear();
  written_.clear();
  return come + (room ? 1 : 0);
}

// What the provider does not take now, it takes later.
void OfiPort::post_again(Handler& handler) noexcept {
  while (!unposted_.empty()) {
    const int code = post(*unposted_.back());
    if (code == -FI_EAGAIN) return;
    unposted_.pop_back();
    if (code == 0) continue;
    failed("take a receive buffer", code).ignore();
    handler.lost(identity_.self, last_error_detail());
  }
}

OfiLane* OfiPort::unresolved() noexcept {
  LockGuard guard(lock_);
  for (const RemoteAccess* access = unresolved_ ? first_access_ : nullptr; access != nullptr; access = access->next) {
    auto* lane = static_cast<OfiLane*>(access->lane);
    if (!lane->is_resolved()) return lane;
  }
  return nullptr;
}

bool OfiPort::is_blocked() noexcept {
  LockGuard guard(lock_);
  const bool asks = first_access_ != nullptr && (try_again_ || unresolved_);
  return asks || !ended_.empty() || !waiting_.empty() || !unposted_.empty();
}

bool OfiPort::try_wait() noexcept {
  LockGuard guard(lock_);
  fid* queue = &queue_->fid;
  if (wait_set_ != nullptr) fi_wait(wait_set_, 0);
  return fi_trywait(&fabric_->fabric(), &queue, 1) == 0;
}

}  // namespace heddle::wire
