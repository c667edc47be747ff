// The port's part in what goes from memory to memory: accesses that are read, written, pushed and let land, and what becomes of them
// when their peer is lost.
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <new>
#include <utility>

#include "wire/ofi_lane.hpp"
#include "wire/ofi_port.hpp"

namespace heddle::wire {

bool OfiPort::expose(const void* data, std::size_t bytes, bool writable, Exposure* out) noexcept {
  const auto mode = static_cast<unsigned>(fabric_->info().domain_attr->mr_mode);
  const std::size_t key_bytes = fabric_->info().domain_attr->mr_key_size;
  if (writable) {  // and for long
    const bool is_guessed = key_bytes < 8 && (mode & FI_MR_PROV_KEY) == 0;
    const bool is_pinned = (mode & (FI_MR_ALLOCATED | FI_MR_LOCAL)) != 0;
    if (is_guessed || (is_pinned && bytes > kMostPinned) || !fabric_->tells_of_arrival()) return false;
  }
  LockGuard guard(lock_);
  // No two of the job's are the same, and who does not know one can do nothing.
  const std::uint64_t number = registered_++;
  const std::uint64_t name[] = {number, identity_.self, vci_};
  const std::uint64_t secret = SipHash(identity_.key)(name, sizeof name);
  const std::uint64_t key = key_bytes >= 8 ? secret : number & ((std::uint64_t{1} << (8 * key_bytes)) - 1);
  fid_mr* mr = nullptr;
  if (!register_memory(data, bytes, FI_REMOTE_READ | (writable ? FI_REMOTE_WRITE : 0), key, &mr)) return false;
  out->registration = mr;
  out->key = fi_mr_key(mr);
  out->address = (mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uint64_t>(data) : 0;
  return true;
}

void OfiPort::conceal(Exposure& exposure) noexcept {
  LockGuard guard(lock_);
  fi_close(&static_cast<fid_mr*>(exposure.registration)->fid);
}

bool OfiPort::can_tell() const noexcept {
  const fi_info& info = fabric_->info();
  return info.domain_attr->cq_data_size >= sizeof(std::uint64_t) && info.ep_attr->max_msg_size >= kPartBytes;
}

// A stranger has to guess 32 bits.
std::uint32_t OfiPort::tell(const Arrivals& arrivals) noexcept {
  if (!can_tell()) return 0;
  LockGuard guard(lock_);
  const std::uint64_t number[] = {registered_++, identity_.self, vci_};
  const auto name = static_cast<std::uint32_t>(SipHash(identity_.key)(number, sizeof number));
  return name != 0 && told_.try_emplace(name, arrivals).second ? name : 0;
}

void OfiPort::forget(std::uint32_t name) noexcept {
  LockGuard guard(lock_);
  told_.erase(name);
}

// A name that nobody has given is a stranger's, or of one who is forgotten.
void OfiPort::deliver_written(std::uint64_t data) noexcept {
  Arrivals to;
  {
    LockGuard guard(lock_);
    const auto found = told_.find(static_cast<std::uint32_t>(data >> 32));
    if (found != told_.end()) to = found->second;
  }
  if (to.arrived != nullptr) return to.arrived(to.owner, static_cast<std::uint32_t>(data));
  counts_.strange.fetch_add(1, std::memory_order_relaxed);
}

bool OfiPort::start(RemoteAccess& access, OfiLane& lane) noexcept {
  LockGuard guard(lock_);
  access.lane = &lane;
  OfiMemory memory;
  const bool lands = access.kind == RemoteAccess::Kind::kLand;
  if (std::ranges::count(lost_, lane.peer()) != 0 ||  // lose() ends what was there before
      (access.told != 0 && !can_tell()) || (lands && !take_behind(access)) ||
      !register_local(access.local, access.bytes, access.kind == RemoteAccess::Kind::kWrite ? FI_WRITE : FI_READ,
                      &memory)) {
    return false;
  }
  access.registration = memory.mr;
  const std::size_t before = ended_.size();
  add_access(access);
  ask_for_parts();
  const bool is_refused = ended_.size() > before && ended_.back().access == &access;
  if (is_refused) ended_.pop_back();
  if (is_refused && lands) behind_.push_back({access.key, access.bytes});
  return !is_refused;
}

bool OfiPort::take_behind(const RemoteAccess& access) noexcept {
  return std::erase_if(behind_, [&](const Behind& behind) {
           return behind.key == access.key && behind.bytes == access.bytes;
         }) != 0;
}

void OfiPort::push(RemoteAccess& access, OfiLane& lane) noexcept {
  access.lane = &lane;
  if (start_next_part(access, lane) == 0) return;
  add_access(access);
  try_again_ = true;  // by poll(), who can also tell of a failure
}

void OfiPort::add_access(RemoteAccess& access) noexcept {
  access.next = nullptr;
  *end_of_accesses_ = &access;
  end_of_accesses_ = &access.next;
}

void OfiPort::remove_access(RemoteAccess& access) noexcept {
  for (RemoteAccess** at = &first_access_; *at != nullptr; at = &(*at)->next) {
    if (*at != &access) continue;
    if (end_of_accesses_ == &access.next) end_of_accesses_ = at;
    *at = access.next;
    return;
  }
}

bool OfiPort::may_start(const OfiLane& lane) const noexcept {
  return lane.is_resolved() && (!free_parts_.empty() || lane.parts == 0);
}

OfiPart& OfiPort::take_part() noexcept {
  if (free_parts_.empty()) {
    parts_.emplace_back().kind = OfiOperation::Kind::kPart;
    return parts_.back();
  }
  OfiPart& part = *free_parts_.back();
  free_parts_.pop_back();
  return part;
}

// libfabric's code.
ssize_t OfiPort::start_next_part(RemoteAccess& access, OfiLane& lane) noexcept {
  OfiPart& part = take_part();
  const bool is_whole = access.kind == RemoteAccess::Kind::kPush || access.kind == RemoteAccess::Kind::kLand;
  const std::size_t bytes =
      is_whole ? access.bytes
               : std::min({access.bytes - access.asked, kPartBytes, fabric_->info().ep_attr->max_msg_size});
  const ssize_t code = start_part(access, bytes, lane.address(), part);
  if (code != 0) {
    free_parts_.push_back(&part);
    return code;
  }
  part.access = &access;
  access.asked += bytes;
  ++access.in_flight;
  ++lane.parts;
  return 0;
}

void OfiPort::ask_for_parts() noexcept {
  try_again_ = unresolved_ = false;
  const OfiLane* blocked = nullptr;
  for (RemoteAccess *access = first_access_, *next; access != nullptr; access = next) {
    next = access->next;
    auto& lane = static_cast<OfiLane&>(*access->lane);
    unresolved_ |= !lane.is_resolved();
    const bool waits = access->kind == RemoteAccess::Kind::kRead || access->kind == RemoteAccess::Kind::kWrite;
    while ((!waits || (&lane != blocked && may_start(lane))) && access->in_flight < kPartsOfAccess && !access->failed &&
           access->asked < access->bytes) {
      const ssize_t code = start_next_part(*access, lane);
      if (code == 0) continue;
      try_again_ |= code == -FI_EAGAIN;
      if (code == -FI_EAGAIN) blocked = &lane;  // the next one may go elsewhere
      access->failed = code != -FI_EAGAIN;
      break;
    }
    if (access->asked < access->bytes && !access->failed) continue;
    remove_access(*access);
    if (access->failed && access->in_flight == 0) end_access(*access);
  }
}

// What is written has arrived in the memory there when it is said to be done. What is told of there needs not: but of long ones, whose
// parts would all be on their way otherwise (kPartsOfAccess).
ssize_t OfiPort::start_part(const RemoteAccess& access, std::size_t bytes, fi_addr_t to, OfiPart& part) noexcept {
  const iovec piece{access.local + access.asked, bytes};
  void* descriptor = OfiMemory{static_cast<fid_mr*>(access.registration)}.descriptor();
  const fi_rma_iov remote{access.address + access.asked, bytes, access.key};
  const std::uint64_t told = std::uint64_t{access.told} << 32 | (access.number + access.asked / kPartBytes);
  const fi_msg_rma message{&piece, &descriptor, 1, to, &remote, 1, &part.context, told};
  const std::uint64_t how = (access.told != 0 ? FI_REMOTE_CQ_DATA : 0) |
                            (access.told == 0 || access.bytes > kPartBytes ? FI_DELIVERY_COMPLETE : 0);
  switch (access.kind) {
    case RemoteAccess::Kind::kRead:
      return fi_readmsg(endpoint_, &message, FI_COMPLETION);
    case RemoteAccess::Kind::kWrite:
      return fi_writemsg(endpoint_, &message, FI_COMPLETION | how);
    case RemoteAccess::Kind::kPush:
      return fi_tsend(endpoint_, access.local, bytes, descriptor, to, access.key, &part.context);
    case RemoteAccess::Kind::kLand:
      break;
  }
  return fi_trecv(endpoint_, access.local, bytes, descriptor, FI_ADDR_UNSPEC, access.key, 0, &part.context);
}

void OfiPort::drop_unwanted(Handler& handler) noexcept {
  if (unwanted_ == nullptr) unwanted_.reset(new (std::nothrow) std::byte[kMostPushed]);
  if (unwanted_ == nullptr) return;  // next time
  std::erase_if(behind_, [&](const Behind& behind) NO_THREAD_SAFETY_ANALYSIS {
    OfiPart& part = take_part();
    const ssize_t code =
        fi_trecv(endpoint_, unwanted_.get(), kMostPushed, nullptr, FI_ADDR_UNSPEC, behind.key, 0, &part.context);
    if (code == 0) {
      part.kind = OfiOperation::Kind::kDropped;
    } else {
      free_parts_.push_back(&part);
      if (code != -FI_EAGAIN) handler.lost(identity_.self, fabric_->library().strerror(static_cast<int>(-code)));
    }
    return code == 0;
  });
}

void OfiPort::end_access(RemoteAccess& access) noexcept {
  if (access.registration != nullptr) fi_close(&static_cast<fid_mr*>(access.registration)->fid);
  ended_.push_back({&access, !access.failed});
}

void OfiPort::end_part(OfiPart& part, bool complete) noexcept {
  if (part.access == nullptr) return;
  RemoteAccess& access = *std::exchange(part.access, nullptr);
  free_parts_.push_back(&part);
  --static_cast<OfiLane*>(access.lane)->parts;
  access.failed |= !complete;
  if (--access.in_flight != 0 || (access.asked < access.bytes && !access.failed)) return;
  remove_access(access);  // it may have failed in the middle
  end_access(access);
}

void OfiPort::end_dropped(OfiPart& part) noexcept {
  part.kind = OfiOperation::Kind::kPart;
  free_parts_.push_back(&part);
}

bool OfiPort::lose(ProcessId peer, bool finally) noexcept {
  LockGuard guard(lock_);
  if (!std::ranges::count(lost_, peer)) lost_.push_back(peer);
  std::erase_if(waiting_, [peer](OfiLane* lane) NO_THREAD_SAFETY_ANALYSIS {
    if (lane->peer() == peer) lane->drop();
    return lane->peer() == peer;
  });
  end_queued_accesses(peer);
  const auto goes_there = [peer](const OfiPart& part) {
    return part.access != nullptr && static_cast<OfiLane*>(part.access->lane)->peer() == peer;
  };
  if (!finally && std::ranges::any_of(parts_, goes_there)) {
    for (OfiPart& part : parts_) {  // the provider does not know where what is to land comes from
      if (goes_there(part) && part.access->kind == RemoteAccess::Kind::kLand) fi_cancel(&endpoint_->fid, &part.context);
    }
    return false;
  }
  forsake(peer);
  return true;
}

void OfiPort::end_queued_accesses(ProcessId peer) noexcept {
  for (RemoteAccess *access = first_access_, *next; access != nullptr; access = next) {
    next = access->next;
    if (static_cast<OfiLane*>(access->lane)->peer() != peer) continue;
    access->failed = true;
    remove_access(*access);
    if (access->in_flight == 0) end_access(*access);
  }
}

void OfiPort::forsake(ProcessId peer) noexcept {
  for (std::size_t i = 0, n = sends_.size(); i < n; ++i) {
    OfiSend& send = sends_[i];
    if (!send.under_way || send.forsaken || send.lane->peer() != peer) continue;
    send.forsaken = true;
    auto memory = std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[kFrameBytes]);
    OfiMemory registered;
    if (memory == nullptr || !register_local(memory.get(), kFrameBytes, FI_SEND, &registered)) {
      --buffers_;
      continue;
    }
    OfiSend& other = sends_.emplace_back();
    other.kind = OfiOperation::Kind::kSend;
    other.data = memory.get();
    other.memory = registered;
    memory_.push_back(std::move(memory));
    free_.push_back(&other);
  }
  for (std::size_t i = 0, n = parts_.size(); i < n; ++i) {
    RemoteAccess* const access = parts_[i].access;
    if (access == nullptr || static_cast<OfiLane*>(access->lane)->peer() != peer) continue;
    parts_[i].access = nullptr;
    --static_cast<OfiLane*>(access->lane)->parts;
    access->failed = true;
    if (--access->in_flight == 0) end_access(*access);
    OfiPart& other = parts_.emplace_back();
    other.kind = OfiOperation::Kind::kPart;
    free_parts_.push_back(&other);
  }
}

}  // namespace heddle::wire
