#include "portals4/port.hpp"

#include <algorithm>
#include <cstring>

#include "portals4/interface.hpp"

namespace heddle::portals4 {

void Message::write(std::byte* to, std::size_t bytes) {
  if (sent_ < sizeof header) {
    const std::size_t n = std::min<std::size_t>(bytes, sizeof header - sent_);
    std::memcpy(to, reinterpret_cast<const std::byte*>(&header) + sent_, n);
    sent_ += n;
    to += n;
    bytes -= n;
  }
  if (bytes == 0) return;
  const ptl_size_t at = sent_ - sizeof header;
  if (memory_ != nullptr) {
    memory_->read(offset_ + at, to, bytes);
  } else {
    std::memcpy(to, own_.data() + at, bytes);
  }
  sent_ += bytes;
}

vci::SendOp::Pushed Message::push_packet(SendOp& op, vci::Lane& lane) {
  auto& message = static_cast<Message&>(op);
  const ptl_size_t total = sizeof message.header + message.header.data_bytes();
  const ptl_size_t before = message.sent_;
  wire::Header header;
  header.portal = kPortal;
  header.source = static_cast<std::int32_t>(message.port_.self_);
  header.tag = before != 0;
  wire::Payload payload;
  payload.bytes = static_cast<std::size_t>(std::min<ptl_size_t>(lane.max_packet(), total - before));
  payload.fill = [](void* state, std::byte* to, std::size_t n) { static_cast<Message*>(state)->write(to, n); };
  payload.state = &message;
  const ptl_size_t after = before + payload.bytes;
  const bool gone = lane.send(header, nullptr, payload);
  message.sent_ = gone ? after : before;  // it may have been read in vain; a closed lane does not read it
  if (!gone) return Pushed::kBlocked;
  if (after < total) return Pushed::kMore;
  message.port_.note_sent(message);
  return Pushed::kFinished;
}

Port::Port(vci::Vci& vci, wire::ProcessId self, std::size_t processes) : vci_(vci), self_(self), incoming_(processes) {}

Port::~Port() {
  interface_.reset();
  settle();
}

void Port::note_change() NO_THREAD_SAFETY_ANALYSIS { vci_.note_completed(); }

void Port::note_sent(Message& message) {
  sent_.push(message);
  vci_.wake_waiters();
}

void Port::settle() {
  Message* oldest = sent_.take_oldest_first();
  while (oldest != nullptr) {
    const std::unique_ptr<Message> done(oldest);
    oldest = done->next_sent_;
    --unsent_;
    if (interface_ != nullptr && done->on_sent) done->on_sent(*interface_);
  }
}

bool Port::send(wire::ProcessId to, std::unique_ptr<Message> message) {
  vci::Lane* lane = nullptr;
  if (!vci_.lane_to(to, vci_.index(), &lane)) return false;
  message->push = Message::push_packet;
  ++unsent_;
  lane->queue(*message.release());
  settle();
  return true;
}

void Port::refuse(wire::ProcessId source, const MessageHeader& header) {
  if (header.is_answer() || (header.ack == PTL_NO_ACK_REQ && !header.wants_reply())) return;
  MessageHeader answer;
  answer.kind = header.wants_reply() ? MessageKind::kReply : MessageKind::kAck;
  answer.token = header.token;
  answer.fail = PTL_NI_DROPPED;
  send(source, std::make_unique<Message>(*this, answer));
}

void Port::begin(wire::ProcessId source, Incoming& incoming) {
  incoming.at = 0;
  if (interface_ != nullptr) {
    incoming.arrival = interface_->arrive(source, incoming.header);
  } else {
    incoming.arrival = {};
    refuse(source, incoming.header);
  }
}

void Port::receive(const wire::Packet& packet) {
  settle();
  const auto source = static_cast<wire::ProcessId>(packet.header.source);
  Incoming& incoming = incoming_[source];
  const std::byte* data = packet.payload;
  std::size_t bytes = packet.payload_bytes;
  if (packet.header.tag == 0) {
    std::memcpy(&incoming.header, data, sizeof incoming.header);
    data += sizeof incoming.header;
    bytes -= sizeof incoming.header;
    begin(source, incoming);
  }
  Arrival& arrival = incoming.arrival;
  if (arrival.gathers) {
    arrival.gathered.insert(arrival.gathered.end(), data, data + bytes);
  } else if (arrival.memory != nullptr && incoming.at < arrival.wanted) {
    const ptl_size_t n = std::min<ptl_size_t>(bytes, arrival.wanted - incoming.at);
    arrival.memory->write(arrival.offset + incoming.at, data, static_cast<std::size_t>(n));
  }
  incoming.at += bytes;
  if (incoming.at < incoming.header.data_bytes()) return;
  Arrival whole = std::exchange(arrival, {});
  if (interface_ != nullptr && whole.finish) whole.finish(*interface_, whole);
  if (interface_ != nullptr) interface_->run_triggered();
}

void Port::close_interface() {
  for (Incoming& incoming : incoming_) incoming.arrival = {};
  if (interface_ == nullptr) return;
  generation_ = interface_->newest_generation();
  interface_.reset();
}

}  // namespace heddle::portals4
