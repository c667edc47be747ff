// A network interface: its objects, its portal table, and what happens to a message at either end.
//
// The functions of the C interface check handles and arguments and call in here. What belongs together is together in a
// file: objects, events and counts in interface.cpp; lists and searches in lists.cpp; the target in target.cpp; the
// initiator in initiator.cpp.
//
// Threads: the holder of the port's lock. Nothing in here waits, or calls the program.
// Cost:    lists are searched one after the other, as hardware does.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "portals4/counter.hpp"
#include "portals4/entry.hpp"
#include "portals4/event_queue.hpp"
#include "portals4/handle.hpp"
#include "portals4/port.hpp"
#include "portals4/protocol.hpp"

namespace heddle::portals4 {

// An operation as an initiator has asked for it.
struct Request {
  MessageHeader header;
  wire::ProcessId target = 0;
  Use<Descriptor> put, get;
  ptl_size_t put_offset = 0, get_offset = 0;
  void* user_ptr = nullptr;
};

// One that waits for its answer.
struct Operation {
  MessageKind kind;
  Use<Descriptor> md;
  ptl_size_t offset;
  ptl_ack_req_t ack;
  void* user_ptr;
};

// Which processes there are, and on which nodes.
using Nodes = std::span<const int>;

class Interface {
 public:
  static constexpr ptl_size_t kMostMessage = ptl_size_t{1} << 40;
  static constexpr ptl_size_t kMostAtomic = 1 << 16;
  static constexpr ptl_size_t kMostCopied = 4096;  // of data that may change before it is sent
  static constexpr int kMostPortals = 256;
  static constexpr int kFewestPortals = 64;

  Interface(Port& port, unsigned options, std::uint32_t generation, const ptl_ni_limits_t* desired,
            wire::ProcessId self, Nodes nodes);

  // ---- what it is
  const ptl_handle_ni_t handle;
  const ptl_uid_t uid;
  const unsigned options;
  ptl_ni_limits_t limits;
  int users = 1;
  int bundles = 0;
  ptl_sr_value_t status[PTL_SR_LAST] = {};
  std::vector<wire::ProcessId> map;  // by rank
  bool is_matching() const { return (options & PTL_NI_MATCHING) != 0; }
  bool is_logical() const { return (options & PTL_NI_LOGICAL) != 0; }
  ptl_process_t physical(wire::ProcessId process) const;
  ptl_process_t identify(wire::ProcessId process) const;  // as this interface names it
  std::optional<wire::ProcessId> resolve_physical(ptl_process_t id) const;
  std::optional<wire::ProcessId> resolve(ptl_process_t id) const;
  wire::ProcessId self() const { return self_; }
  Port& port() { return port_; }

  // ---- objects
  Slots<EventQueue, Kind::kEventQueue> eqs;
  Slots<Counter, Kind::kCounter> cts;
  Slots<Descriptor, Kind::kDescriptor> mds;
  Slots<Entry, Kind::kEntry> entries;
  std::vector<PortalEntry> table;
  bool has(ptl_handle_any_t handle) const;
  std::uint32_t newest_generation() const;    // of its handles
  PortalEntry* portal(ptl_pt_index_t index);  // null: it is not allocated

  // ---- events and counts
  void post(ptl_handle_eq_t eq, const ptl_event_t& event);
  void change(ptl_handle_ct_t ct, ptl_ct_event_t by);
  void set(ptl_handle_ct_t ct, ptl_ct_event_t to);
  // PTL_NO_SPACE: there are as many as there may be.
  int trigger(ptl_handle_ct_t ct, ptl_size_t threshold, Triggered operation);
  void cancel_triggered(Counter& counter);
  // Lets go what the changes since allow. At the end of whatever was done under the lock, for it may change any list.
  void run_triggered();

  // ---- lists
  // An entry that is on no list yet. PTL_OK, or why not.
  int make_entry(ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list, void* user_ptr,
                 std::shared_ptr<Entry>* out);
  void append(const std::shared_ptr<Entry>& entry);
  int unlink(const std::shared_ptr<Entry>& entry);
  void search(ptl_pt_index_t index, const ptl_me_t& me, ptl_search_op_t operation, void* user_ptr);

  // ---- messages
  void issue(Request request);
  Arrival arrive(wire::ProcessId source, const MessageHeader& header);

 private:
  // interface.cpp
  void count(ptl_handle_ct_t ct, bool failed, bool by_bytes, ptl_size_t bytes);
  // lists.cpp
  bool matches(const Entry& entry, wire::ProcessId source, ptl_match_bits_t bits, ptl_size_t offset,
               ptl_size_t length) const;
  bool matches(const Entry& entry, const UnexpectedHeader& header) const;
  void deliver(PortalEntry& portal, std::list<UnexpectedHeader>::iterator header);
  void leave(PortalEntry& portal, const std::shared_ptr<Entry>& entry);
  void free_if_unused(Entry& entry);
  ptl_event_t entry_event(const Entry& entry, ptl_event_kind_t type) const;
  // target.cpp
  ptl_ni_fail_t admit(wire::ProcessId source, const MessageHeader& header, std::shared_ptr<Entry>* entry);
  ptl_ni_fail_t drop(ptl_ni_fail_t why);
  ptl_ni_fail_t disable(PortalEntry& portal, ptl_pt_index_t index, bool tell);
  ptl_size_t taken_bytes(const Entry& entry, const MessageHeader& header) const;
  bool wants_event(const Entry& entry) const;
  ptl_event_t message_event(wire::ProcessId source, const MessageHeader& header) const;
  Arrival refuse(wire::ProcessId source, const MessageHeader& header, ptl_ni_fail_t why);
  void answer(wire::ProcessId source, const MessageHeader& header, const ptl_event_t& event, bool quiet);
  struct Taken;
  void reply(const std::shared_ptr<Taken>& taken, std::vector<std::byte> before);
  void complete(Taken& taken);
  // initiator.cpp
  Arrival arrive_answer(const MessageHeader& header);
  void tell(const Descriptor& md, ptl_event_kind_t type, ptl_ni_fail_t fail, ptl_size_t bytes, ptl_size_t offset,
            const Operation* operation, void* user_ptr, ptl_list_t list);
  void fail_unsent(const Request& request);

  Port& port_;
  const wire::ProcessId self_;
  const Nodes nodes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Operation>> operations_;  // that wait for an answer, by token
  int unexpected_ = 0, triggered_ = 0;
  std::deque<ptl_handle_ct_t> changed_;  // counters whose operations may be ready
  bool firing_ = false;
};

}  // namespace heddle::portals4
