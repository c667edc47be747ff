#include "wire/ofi_lane.hpp"

#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "wire/ofi.hpp"

namespace heddle::wire {

bool OfiLane::try_send(const Header& header, const void* prefix, Payload& payload) noexcept {
  if (!is_resolved() && !wire_.resolve(*this)) return false;
  LockGuard guard(port_.lock());
  const bool is_alone = frame_ == nullptr;
  const bool gathers = payload.when == When::kWithMore ||
                       (payload.when == When::kSoon && (!is_alone || now_ns() - last_gone_ < kQuietNs));
  if (!append(header, 0, prefix, payload)) return false;
  if ((!gathers || frame_->bytes >= kEnough) && push()) return true;
  if (is_alone && !gathers) {
    // Whoever sends must know that it has not gone: the next call of MPI may be far away.
    port_.give_back(*std::exchange(frame_, nullptr));
    return false;
  }
  wire_.flush_soon();
  if (!std::exchange(waiting_, true)) port_.add_waiting(*this);
  return true;
}

// Where one of several on their way the reads of one go on while the next are asked for: pushing is slower there.
bool OfiLane::begin_message(std::size_t bytes) noexcept {
  const bool is_alone = messages_.fetch_add(1, std::memory_order_relaxed) == 0;
  if (!is_alone || !port_.pushes() || bytes > OfiPort::kMostPushed) return false;
  if (not_pushed_ == 0) return true;
  --not_pushed_;
  return false;
}

// In a frame that has gone: who gets it must know what comes next on the connection.
bool OfiLane::try_send_before(RemoteAccess& behind, const Header& header, const void* prefix,
                              Payload& payload) noexcept {
  if (!is_resolved() && !wire_.resolve(*this)) return false;
  LockGuard guard(port_.lock());
  if (!push() || !append(header, static_cast<std::uint32_t>(behind.bytes), prefix, payload)) return false;
  if (!push()) {
    port_.give_back(*std::exchange(frame_, nullptr));
    return false;
  }
  port_.push(behind, *this);
  return true;
}

bool OfiLane::append(const Header& header, std::uint32_t behind, const void* prefix, Payload& payload) noexcept {
  const std::size_t bytes = framed_bytes(header.prefix_bytes, payload.bytes);
  if (frame_ != nullptr && frame_->bytes + bytes > OfiPort::kFrameBytes && !push()) return false;
  if (frame_ == nullptr) {
    frame_ = port_.take_buffer();
    if (frame_ == nullptr) return false;
    frame_->lane = this;
    frame_->bytes = sizeof(FrameHeader);
    packets_ = 0;
  }
  std::byte* at = frame_->data + frame_->bytes;
  const PacketHeader head{header, static_cast<std::uint32_t>(payload.bytes), behind};
  std::memcpy(at, &head, sizeof head);
  if (header.prefix_bytes != 0) std::memcpy(at + sizeof head, prefix, header.prefix_bytes);
  payload.take(at + sizeof head + header.prefix_bytes, payload.bytes);
  frame_->bytes += bytes;
  ++packets_;
  return true;
}

bool OfiLane::push() noexcept {
  if (frame_ == nullptr) return true;
  const OfiPort::Identity& identity = port_.identity();
  FrameHeader header;
  header.source = identity.self;
  header.target = peer_;
  header.sequence = sequence_;
  header.bytes = static_cast<std::uint32_t>(frame_->bytes - sizeof header);
  header.from = static_cast<std::uint8_t>(port_.vci());
  header.to = static_cast<std::uint8_t>(to_);
  header.packets = packets_;
  header.mac = header.mac_under(identity.key);
  std::memcpy(frame_->data, &header, sizeof header);
  switch (port_.send(*frame_, address_)) {
    case OfiPort::Gone::kNo:
      return false;
    case OfiPort::Gone::kFailed:
      wire_.lost(peer_, "the network refuses what is sent there");
      break;
    case OfiPort::Gone::kYes:
      ++sequence_;
      break;
  }
  frame_ = nullptr;
  waiting_ = false;
  last_gone_ = now_ns();
  return true;
}

void OfiLane::drop() noexcept {
  if (frame_ != nullptr) port_.give_back(*std::exchange(frame_, nullptr));
  waiting_ = false;
}

Status OfiLane::resolve(const void* address) noexcept {
  LockGuard guard(port_.lock());
  if (is_resolved()) return Status::ok();
  HEDDLE_TRY(port_.insert(address, &address_));
  resolved_.store(true, std::memory_order_release);
  return Status::ok();
}

}  // namespace heddle::wire
