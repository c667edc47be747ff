// Put, get and atomic operations, at once or triggered.
//
// Method: each function describes its operation (Ask); the checks and the request are made of that in one place. A triggered
//         operation is checked when it is given, and reads the program's memory when it goes.
#include <cstring>
#include <utility>

#include "portals4/atomic.hpp"
#include "portals4/call.hpp"

namespace heddle::portals4 {
namespace {

struct Side {
  ptl_handle_md_t md;
  ptl_size_t offset;
};

struct Target {
  ptl_process_t id;
  ptl_pt_index_t pt_index;
  ptl_match_bits_t match_bits;
  ptl_size_t offset;
};

struct Trigger {
  ptl_handle_ct_t ct;
  ptl_size_t threshold;
};

struct Ask {
  MessageKind kind;
  const Side* put = nullptr;
  const Side* get = nullptr;
  ptl_size_t length;
  Target target;
  void* user_ptr;
  ptl_ack_req_t ack = PTL_NO_ACK_REQ;
  ptl_hdr_data_t hdr_data = 0;
  const ptl_op_t* operation = nullptr;
  ptl_datatype_t datatype = PTL_INT8_T;
  const void* operand = nullptr;
};

Caller caller_of(MessageKind kind) {
  return kind == MessageKind::kAtomic        ? Caller::kAtomic
         : kind == MessageKind::kFetchAtomic ? Caller::kFetchAtomic
                                             : Caller::kSwap;
}

// The elements are of a type that the operation is defined for, whole, and not too many.
bool check_operation(const Ask& ask, MessageHeader* header) {
  if (ask.operation == nullptr) return ask.length <= Interface::kMostMessage;
  if (!is_defined(*ask.operation, ask.datatype, caller_of(ask.kind))) return false;
  const std::size_t element = element_bytes(ask.datatype);
  if (ask.length % element != 0 || ask.length > Interface::kMostAtomic) return false;
  header->operation = static_cast<std::uint8_t>(*ask.operation);
  header->datatype = static_cast<std::uint8_t>(ask.datatype);
  if (!has_operand(*ask.operation)) return true;
  if (ask.operand == nullptr || ask.length != element) return false;
  std::memcpy(header->operand, ask.operand, element);
  return true;
}

bool take_side(const Interface& interface, const Side* side, ptl_size_t length, Use<Descriptor>* md,
               ptl_size_t* offset) {
  if (side == nullptr) return true;
  const std::shared_ptr<Descriptor> found = interface.mds.find(side->md);
  if (found == nullptr) return false;
  const ptl_size_t bytes = found->memory->bytes();
  if (side->offset > bytes || length > bytes - side->offset) return false;
  *md = Use<Descriptor>(found);
  *offset = side->offset;
  return true;
}

bool make_request(const Interface& interface, const Ask& ask, Request* request) {
  MessageHeader& header = request->header;
  const auto process = interface.resolve(ask.target.id);
  if (!process || ask.target.pt_index == PTL_PT_ANY || static_cast<unsigned>(ask.ack) > PTL_OC_ACK_REQ) return false;
  if (!check_operation(ask, &header)) return false;
  if (!take_side(interface, ask.put, ask.length, &request->put, &request->put_offset)) return false;
  if (!take_side(interface, ask.get, ask.length, &request->get, &request->get_offset)) return false;
  request->target = *process;
  request->user_ptr = ask.user_ptr;
  header.kind = ask.kind;
  header.ack = static_cast<std::uint8_t>(ask.ack);
  header.pt_index = ask.target.pt_index;
  header.match_bits = ask.target.match_bits;
  header.remote_offset = ask.target.offset;
  header.length = ask.length;
  header.hdr_data = ask.hdr_data;
  header.uid = interface.uid;
  return true;
}

int start(const Ask& ask, const Trigger* trigger) {
  const ptl_handle_md_t md = ask.put != nullptr ? ask.put->md : ask.get->md;
  const int code = with(md, [&](Interface& interface) -> int {
    Request request;
    if (!make_request(interface, ask, &request)) return PTL_ARG_INVALID;
    if (trigger == nullptr) {
      interface.issue(std::move(request));
      return static_cast<int>(PTL_OK);
    }
    return interface.trigger(trigger->ct, trigger->threshold,
                             {[request](Interface& self) { self.issue(request); }, {}});
  });
  if (code == PTL_OK) make_progress(md);
  return code;
}

int put(Side from, ptl_size_t length, ptl_ack_req_t ack, Target target, void* user_ptr, ptl_hdr_data_t hdr_data,
        const Trigger* trigger) {
  return start({.kind = MessageKind::kPut,
                .put = &from,
                .length = length,
                .target = target,
                .user_ptr = user_ptr,
                .ack = ack,
                .hdr_data = hdr_data},
               trigger);
}

int get(Side to, ptl_size_t length, Target target, void* user_ptr, const Trigger* trigger) {
  return start({.kind = MessageKind::kGet, .get = &to, .length = length, .target = target, .user_ptr = user_ptr},
               trigger);
}

int atomic(Side from, ptl_size_t length, ptl_ack_req_t ack, Target target, void* user_ptr, ptl_hdr_data_t hdr_data,
           ptl_op_t operation, ptl_datatype_t type, const Trigger* trigger) {
  return start({.kind = MessageKind::kAtomic,
                .put = &from,
                .length = length,
                .target = target,
                .user_ptr = user_ptr,
                .ack = ack,
                .hdr_data = hdr_data,
                .operation = &operation,
                .datatype = type},
               trigger);
}

// PtlFetchAtomic, and PtlSwap, which has an operand.
int fetch(MessageKind kind, Side to, Side from, ptl_size_t length, Target target, void* user_ptr,
          ptl_hdr_data_t hdr_data, const void* operand, ptl_op_t operation, ptl_datatype_t type,
          const Trigger* trigger) {
  return start({.kind = kind,
                .put = &from,
                .get = &to,
                .length = length,
                .target = target,
                .user_ptr = user_ptr,
                .hdr_data = hdr_data,
                .operation = &operation,
                .datatype = type,
                .operand = operand},
               trigger);
}

}  // namespace
}  // namespace heddle::portals4

using namespace heddle::portals4;

PORTALS4_PUBLIC int PtlPut(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack,
                           ptl_process_t target, ptl_pt_index_t pt_index, ptl_match_bits_t bits,
                           ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data) {
  return put({md, local_offset}, length, ack, {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, nullptr);
}

PORTALS4_PUBLIC int PtlTriggeredPut(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack,
                                    ptl_process_t target, ptl_pt_index_t pt_index, ptl_match_bits_t bits,
                                    ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                                    ptl_handle_ct_t ct, ptl_size_t threshold) {
  const Trigger trigger{ct, threshold};
  return put({md, local_offset}, length, ack, {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, &trigger);
}

PORTALS4_PUBLIC int PtlGet(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target,
                           ptl_pt_index_t pt_index, ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr) {
  return get({md, local_offset}, length, {target, pt_index, bits, remote_offset}, user_ptr, nullptr);
}

PORTALS4_PUBLIC int PtlTriggeredGet(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length,
                                    ptl_process_t target, ptl_pt_index_t pt_index, ptl_match_bits_t bits,
                                    ptl_size_t remote_offset, void* user_ptr, ptl_handle_ct_t ct,
                                    ptl_size_t threshold) {
  const Trigger trigger{ct, threshold};
  return get({md, local_offset}, length, {target, pt_index, bits, remote_offset}, user_ptr, &trigger);
}

PORTALS4_PUBLIC int PtlAtomic(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack,
                              ptl_process_t target, ptl_pt_index_t pt_index, ptl_match_bits_t bits,
                              ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                              ptl_datatype_t type) {
  return atomic({md, local_offset}, length, ack, {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, operation,
                type, nullptr);
}

PORTALS4_PUBLIC int PtlTriggeredAtomic(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length,
                                       ptl_ack_req_t ack, ptl_process_t target, ptl_pt_index_t pt_index,
                                       ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr,
                                       ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t type,
                                       ptl_handle_ct_t ct, ptl_size_t threshold) {
  const Trigger trigger{ct, threshold};
  return atomic({md, local_offset}, length, ack, {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, operation,
                type, &trigger);
}

PORTALS4_PUBLIC int PtlFetchAtomic(ptl_handle_md_t get_md, ptl_size_t get_offset, ptl_handle_md_t put_md,
                                   ptl_size_t put_offset, ptl_size_t length, ptl_process_t target,
                                   ptl_pt_index_t pt_index, ptl_match_bits_t bits, ptl_size_t remote_offset,
                                   void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t type) {
  return fetch(MessageKind::kFetchAtomic, {get_md, get_offset}, {put_md, put_offset}, length,
               {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, nullptr, operation, type, nullptr);
}

PORTALS4_PUBLIC int PtlTriggeredFetchAtomic(ptl_handle_md_t get_md, ptl_size_t get_offset, ptl_handle_md_t put_md,
                                            ptl_size_t put_offset, ptl_size_t length, ptl_process_t target,
                                            ptl_pt_index_t pt_index, ptl_match_bits_t bits, ptl_size_t remote_offset,
                                            void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                                            ptl_datatype_t type, ptl_handle_ct_t ct, ptl_size_t threshold) {
  const Trigger trigger{ct, threshold};
  return fetch(MessageKind::kFetchAtomic, {get_md, get_offset}, {put_md, put_offset}, length,
               {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, nullptr, operation, type, &trigger);
}

PORTALS4_PUBLIC int PtlSwap(ptl_handle_md_t get_md, ptl_size_t get_offset, ptl_handle_md_t put_md,
                            ptl_size_t put_offset, ptl_size_t length, ptl_process_t target, ptl_pt_index_t pt_index,
                            ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                            const void* operand, ptl_op_t operation, ptl_datatype_t type) {
  return fetch(MessageKind::kSwap, {get_md, get_offset}, {put_md, put_offset}, length,
               {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, operand, operation, type, nullptr);
}

PORTALS4_PUBLIC int PtlTriggeredSwap(ptl_handle_md_t get_md, ptl_size_t get_offset, ptl_handle_md_t put_md,
                                     ptl_size_t put_offset, ptl_size_t length, ptl_process_t target,
                                     ptl_pt_index_t pt_index, ptl_match_bits_t bits, ptl_size_t remote_offset,
                                     void* user_ptr, ptl_hdr_data_t hdr_data, const void* operand, ptl_op_t operation,
                                     ptl_datatype_t type, ptl_handle_ct_t ct, ptl_size_t threshold) {
  const Trigger trigger{ct, threshold};
  return fetch(MessageKind::kSwap, {get_md, get_offset}, {put_md, put_offset}, length,
               {target, pt_index, bits, remote_offset}, user_ptr, hdr_data, operand, operation, type, &trigger);
}

// Atomic operations are ordinary stores of this process: to have had every interface's lock is to see them all.
PORTALS4_PUBLIC int PtlAtomicSync() {
  Library* const library = Library::get();
  if (library == nullptr) return PTL_NO_INIT;
  for (std::uint32_t i = 0; i < kInterfaces; ++i) library->locked(i, [](Interface*) { return PTL_OK; });
  return PTL_OK;
}
