// What a target does with a message: whether it may in, where its data goes, and who is told.
#include <algorithm>
#include <utility>

#include "portals4/atomic.hpp"
#include "portals4/interface.hpp"

namespace heddle::portals4 {
namespace {

ptl_event_kind_t event_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kGet:
      return PTL_EVENT_GET;
    case MessageKind::kAtomic:
      return PTL_EVENT_ATOMIC;
    case MessageKind::kFetchAtomic:
    case MessageKind::kSwap:
      return PTL_EVENT_FETCH_ATOMIC;
    default:
      return PTL_EVENT_PUT;
  }
}

unsigned needs(const MessageHeader& header) {
  if (header.kind == MessageKind::kGet) return PTL_ME_OP_GET;
  return header.wants_reply() ? PTL_ME_OP_PUT | PTL_ME_OP_GET : PTL_ME_OP_PUT;
}

bool keeps_header(const Entry& entry) {
  return entry.list == PTL_OVERFLOW_LIST && !entry.has(PTL_ME_UNEXPECTED_HDR_DISABLE);
}

}  // namespace

// A message that an entry has taken.
struct Interface::Taken {
  wire::ProcessId source;
  MessageHeader header;
  ptl_event_t event;
  ptl_size_t offset;  // that is used
  Use<Entry> entry;
  bool tells;  // an event, for which there may be room reserved
  bool reserved;
  bool is_unexpected;
  std::list<UnexpectedHeader>::iterator unexpected;
};

ptl_ni_fail_t Interface::drop(ptl_ni_fail_t why) {
  ++status[PTL_SR_DROP_COUNT];
  return why;
}

ptl_ni_fail_t Interface::disable(PortalEntry& portal, ptl_pt_index_t index, bool tells) {
  portal.enabled = false;
  if (const auto& queue = eqs.find(portal.eq); tells && queue != nullptr) {
    ptl_event_t event{};
    event.type = PTL_EVENT_PT_DISABLED;
    event.pt_index = index;
    queue->post_disabled(event);
    port_.note_change();
  }
  return drop(PTL_NI_PT_DISABLED);
}

bool Interface::wants_event(const Entry& entry) const {
  return !entry.has(PTL_ME_EVENT_COMM_DISABLE) && !entry.has(PTL_ME_EVENT_SUCCESS_DISABLE);
}

ptl_size_t Interface::taken_bytes(const Entry& entry, const MessageHeader& header) const {
  const ptl_size_t room = entry.room_from(entry.offset_for(header.remote_offset));
  const ptl_size_t bytes = std::min<ptl_size_t>(header.length, room);
  if (!header.is_atomic()) return bytes;
  return bytes - bytes % element_bytes(static_cast<ptl_datatype_t>(header.datatype));
}

ptl_ni_fail_t Interface::admit(wire::ProcessId source, const MessageHeader& header, std::shared_ptr<Entry>* out) {
  PortalEntry* const portal = this->portal(header.pt_index);
  if (portal == nullptr) return drop(PTL_NI_DROPPED);
  if (!portal->enabled) return drop(PTL_NI_PT_DISABLED);
  std::shared_ptr<Entry> entry;
  for (const auto& list : portal->lists) {
    const auto found = std::ranges::find_if(list, [&](const auto& candidate) {
      return matches(*candidate, source, header.match_bits, header.remote_offset, header.length);
    });
    if (found == list.end()) continue;
    entry = *found;
    break;
  }
  const bool controlled = portal->has_flow_control();
  if (entry == nullptr) return controlled ? disable(*portal, header.pt_index, true) : drop(PTL_NI_DROPPED);
  if (entry->me.uid != PTL_UID_ANY && entry->me.uid != header.uid) {
    ++status[PTL_SR_PERMISSION_VIOLATIONS];
    return PTL_NI_PERM_VIOLATION;
  }
  if ((needs(header) & ~entry->me.options) != 0) {
    ++status[PTL_SR_OPERATION_VIOLATIONS];
    return PTL_NI_OP_VIOLATION;
  }
  const bool tells = !entry->has(PTL_ME_EVENT_FLOWCTRL_DISABLE);
  if (keeps_header(*entry) && unexpected_ == limits.max_unexpected_headers) {
    return controlled ? disable(*portal, header.pt_index, tells) : drop(PTL_NI_DROPPED);
  }
  if (const auto& queue = eqs.find(portal->eq); controlled && queue != nullptr) {
    const bool leaves = entry->ends_with(taken_bytes(*entry, header)) && !entry->has(PTL_ME_EVENT_UNLINK_DISABLE);
    const std::size_t events = std::size_t{wants_event(*entry)} + std::size_t{leaves};
    if (events != 0 && !queue->has_room(events)) return disable(*portal, header.pt_index, tells);
  }
  *out = std::move(entry);
  return PTL_NI_OK;
}

ptl_event_t Interface::message_event(wire::ProcessId source, const MessageHeader& header) const {
  ptl_event_t event{};
  event.type = event_of(header.kind);
  event.hdr_data = header.hdr_data;
  event.match_bits = header.match_bits;
  event.rlength = header.length;
  event.remote_offset = header.remote_offset;
  event.uid = header.uid;
  event.initiator = identify(source);
  event.pt_index = header.pt_index;
  event.atomic_operation = static_cast<ptl_op_t>(header.operation);
  event.atomic_type = static_cast<ptl_datatype_t>(header.datatype);
  return event;
}

Arrival Interface::refuse(wire::ProcessId source, const MessageHeader& header, ptl_ni_fail_t why) {
  Arrival arrival;  // when all of it has come, so that what is sent keeps its order
  arrival.finish = [source, header, why](Interface& self, Arrival&) {
    ptl_event_t event{};
    event.ni_fail_type = why;
    if (header.wants_reply()) {
      MessageHeader reply;
      reply.kind = MessageKind::kReply;
      reply.token = header.token;
      reply.fail = why;
      self.port_.send(source, std::make_unique<Message>(self.port_, reply));
    } else {
      self.answer(source, header, event, false);
    }
  };
  return arrival;
}

void Interface::answer(wire::ProcessId source, const MessageHeader& header, const ptl_event_t& event, bool quiet) {
  if (header.ack == PTL_NO_ACK_REQ) return;
  MessageHeader ack;
  ack.kind = MessageKind::kAck;
  ack.token = header.token;
  ack.fail = event.ni_fail_type;
  ack.list = static_cast<std::uint8_t>(event.ptl_list);
  ack.quiet = quiet;
  ack.length = event.mlength;
  ack.remote_offset = event.remote_offset;
  port_.send(source, std::make_unique<Message>(port_, ack));
}

Arrival Interface::arrive(wire::ProcessId source, const MessageHeader& header) {
  if (header.is_answer()) return arrive_answer(header);
  std::shared_ptr<Entry> entry;
  if (const ptl_ni_fail_t why = admit(source, header, &entry); why != PTL_NI_OK) return refuse(source, header, why);
  PortalEntry& portal = table[header.pt_index];
  const auto taken = std::make_shared<Taken>();
  taken->source = source;
  taken->header = header;
  taken->entry = Use<Entry>(entry);
  taken->offset = entry->offset_for(header.remote_offset);
  ptl_event_t& event = taken->event = message_event(source, header);
  event.mlength = taken_bytes(*entry, header);
  event.start = entry->memory->address(std::min<ptl_size_t>(taken->offset, entry->memory->bytes()));
  event.user_ptr = entry->user_ptr;
  event.ptl_list = entry->list;
  taken->tells = wants_event(*entry);
  const auto& queue = eqs.find(portal.eq);
  taken->reserved = taken->tells && portal.has_flow_control() && queue != nullptr;
  if (taken->reserved) queue->reserve(1);
  taken->is_unexpected = keeps_header(*entry);
  if (taken->is_unexpected) {
    portal.unexpected.push_back({event, source, entry, false, std::nullopt});
    taken->unexpected = std::prev(portal.unexpected.end());
    ++entry->headers;
    ++unexpected_;
  }
  ++portal.arriving;
  const bool leaves = entry->ends_with(event.mlength);
  if (entry->has(PTL_ME_MANAGE_LOCAL)) entry->local_offset += event.mlength;
  if (leaves) leave(portal, entry);

  Arrival arrival;
  arrival.gathers = header.is_atomic();
  if (header.kind == MessageKind::kPut) {
    arrival.memory = entry->memory;
    arrival.offset = taken->offset;
    arrival.wanted = event.mlength;
  }
  arrival.finish = [taken](Interface& self, Arrival& whole) {
    const MessageHeader& head = taken->header;
    const Region& memory = *taken->entry->memory;
    std::vector<std::byte> before;
    if (head.is_atomic()) {
      const auto type = static_cast<ptl_datatype_t>(head.datatype);
      before.resize(static_cast<std::size_t>(taken->event.mlength));
      memory.read(taken->offset, before.data(), before.size());
      std::vector<std::byte> after = before;
      apply(static_cast<ptl_op_t>(head.operation), type, after.data(), whole.gathered.data(), head.operand,
            after.size() / element_bytes(type));
      memory.write(taken->offset, after.data(), after.size());
    }
    if (head.wants_reply()) {
      self.reply(taken, std::move(before));
    } else {
      const bool quiet = taken->entry->has(PTL_ME_ACK_DISABLE);
      self.complete(*taken);
      ptl_event_t done = taken->event;
      done.remote_offset = taken->offset;
      self.answer(taken->source, head, done, quiet);
    }
  };
  return arrival;
}

// Sends what was asked for: `before` of an atomic operation, or what the entry's memory holds.
void Interface::reply(const std::shared_ptr<Taken>& taken, std::vector<std::byte> before) {
  MessageHeader head;
  head.kind = MessageKind::kReply;
  head.token = taken->header.token;
  head.list = static_cast<std::uint8_t>(taken->event.ptl_list);
  head.length = taken->event.mlength;
  head.remote_offset = taken->offset;
  auto message = std::make_unique<Message>(port_, head);
  const std::shared_ptr<const Region>& memory = taken->entry->memory;
  if (taken->header.is_atomic()) {
    message->set_data(std::move(before));
  } else if (head.length <= kMostCopied) {  // so that a write after this read stays after it
    before.resize(static_cast<std::size_t>(head.length));
    memory->read(taken->offset, before.data(), before.size());
    message->set_data(std::move(before));
  } else {
    message->set_data(memory, taken->offset);
  }
  message->on_sent = [taken](Interface& self) { self.complete(*taken); };
  if (!port_.send(taken->source, std::move(message))) complete(*taken);
}

void Interface::complete(Taken& taken) {
  const std::shared_ptr<Entry> shared = taken.entry.shared();
  Entry& entry = *shared;
  PortalEntry& portal = table[taken.header.pt_index];
  --portal.arriving;
  if (const auto& queue = eqs.find(portal.eq); taken.reserved && queue != nullptr) queue->give_back(1);
  if (taken.tells) post(portal.eq, taken.event);
  if (entry.has(PTL_ME_EVENT_CT_COMM)) {
    count(entry.me.ct_handle, false, entry.has(PTL_ME_EVENT_CT_BYTES), taken.event.mlength);
  }
  if (taken.is_unexpected) {
    taken.unexpected->complete = true;
    if (taken.unexpected->finder) deliver(portal, taken.unexpected);
  }
  taken.entry = {};
  free_if_unused(entry);
  port_.note_change();
}

}  // namespace heddle::portals4
