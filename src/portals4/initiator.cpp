// What an initiator does: it sends, hears that its memory is free again, and gets the answer.
#include <utility>

#include "portals4/interface.hpp"

namespace heddle::portals4 {

// An event of `md`, and the count that belongs to it.
void Interface::tell(const Descriptor& md, ptl_event_kind_t type, ptl_ni_fail_t fail, ptl_size_t bytes,
                     ptl_size_t offset, const Operation* operation, void* user_ptr, ptl_list_t list) {
  const bool completes_only = operation != nullptr && operation->ack == PTL_OC_ACK_REQ;
  const unsigned counts = type == PTL_EVENT_SEND    ? PTL_MD_EVENT_CT_SEND
                          : type == PTL_EVENT_REPLY ? PTL_MD_EVENT_CT_REPLY
                                                    : PTL_MD_EVENT_CT_ACK;
  if ((md.options & counts) != 0) {
    const bool by_bytes = (md.options & PTL_MD_EVENT_CT_BYTES) != 0 && !completes_only;
    count(md.ct, fail != PTL_NI_OK && !completes_only, by_bytes, bytes);
  }
  if (type == PTL_EVENT_ACK && operation->ack != PTL_ACK_REQ) return;
  if (fail == PTL_NI_OK && (md.options & PTL_MD_EVENT_SUCCESS_DISABLE) != 0) return;
  if (fail == PTL_NI_OK && type == PTL_EVENT_SEND && (md.options & PTL_MD_EVENT_SEND_DISABLE) != 0) return;
  ptl_event_t event{};
  event.type = type;
  event.user_ptr = user_ptr;
  event.mlength = bytes;
  event.remote_offset = offset;
  event.ptl_list = list;
  event.ni_fail_type = fail;
  post(md.eq, event);
}

void Interface::issue(Request request) {
  MessageHeader& header = request.header;
  const bool is_answered = header.wants_reply() || header.ack != PTL_NO_ACK_REQ;
  if (is_answered) {
    const bool replied = header.wants_reply();
    header.token = port_.new_token();
    operations_.emplace(header.token, std::make_shared<Operation>(Operation{
                                          header.kind, replied ? request.get : request.put, request.get_offset,
                                          static_cast<ptl_ack_req_t>(header.ack), request.user_ptr}));
  }
  auto message = std::make_unique<Message>(port_, header);
  if (request.put) {
    const Descriptor& md = *request.put;
    if ((md.options & PTL_MD_VOLATILE) != 0 && header.length <= kMostCopied) {
      std::vector<std::byte> copy(static_cast<std::size_t>(header.length));
      md.memory->read(request.put_offset, copy.data(), copy.size());
      message->set_data(std::move(copy));
    } else {
      message->set_data(md.memory, request.put_offset);
    }
    message->on_sent = [md = request.put, user_ptr = request.user_ptr, length = header.length](Interface& self) {
      self.tell(*md, PTL_EVENT_SEND, PTL_NI_OK, length, 0, nullptr, user_ptr, PTL_PRIORITY_LIST);
    };
  }
  if (!port_.send(request.target, std::move(message))) fail_unsent(request);
}

// Nothing was sent: who waits for the operation's last event gets it.
void Interface::fail_unsent(const Request& request) {
  if (request.put) {
    tell(*request.put, PTL_EVENT_SEND, PTL_NI_UNDELIVERABLE, 0, 0, nullptr, request.user_ptr, PTL_PRIORITY_LIST);
  }
  if (request.get) {
    tell(*request.get, PTL_EVENT_REPLY, PTL_NI_UNDELIVERABLE, 0, 0, nullptr, request.user_ptr, PTL_PRIORITY_LIST);
  }
  operations_.erase(request.header.token);
}

Arrival Interface::arrive_answer(const MessageHeader& header) {
  Arrival arrival;
  const auto found = operations_.find(header.token);
  if (found == operations_.end()) return arrival;  // of an interface that was closed
  const std::shared_ptr<Operation> operation = std::move(found->second);
  operations_.erase(found);
  if (header.kind == MessageKind::kReply) {
    arrival.memory = operation->md->memory;
    arrival.offset = operation->offset;
    arrival.wanted = header.length;
  }
  arrival.finish = [header, operation](Interface& self, Arrival&) {
    const auto type = header.kind == MessageKind::kReply ? PTL_EVENT_REPLY : PTL_EVENT_ACK;
    if (header.quiet == 0) {
      self.tell(*operation->md, type, header.fail, header.length, header.remote_offset, operation.get(),
                operation->user_ptr, static_cast<ptl_list_t>(header.list));
    }
  };
  return arrival;
}

}  // namespace heddle::portals4
