// Where an interface meets the wires: its VCI, the messages that leave by it, and those that come in.
//
// Problem: a peer may send to an interface that is not open here yet, or not any more, and waits for an answer.
// Method:  the port is there from PtlInit to PtlFini, and answers in the interface's stead.
// Threads: the holder of the VCI's lock, which is the interface's; note_sent() any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/push_stack.hpp"
#include "portals4/handle.hpp"
#include "portals4/message.hpp"
#include "vci/vci.hpp"

namespace heddle::portals4 {

// What becomes of a message that is coming in: data goes to memory as far as it is wanted, or is gathered.
struct Arrival {
  std::shared_ptr<const Region> memory;  // null: nothing is wanted
  ptl_size_t offset = 0;
  ptl_size_t wanted = 0;
  bool gathers = false;
  std::vector<std::byte> gathered;
  std::function<void(Interface&, Arrival&)> finish;  // may be empty
};

class Port {
 public:
  // `processes`: in the job.
  Port(vci::Vci& vci, wire::ProcessId self, std::size_t processes);
  ~Port();

  vci::Vci& vci() const { return vci_; }
  std::unique_ptr<Interface>& interface() { return interface_; }

  // False: the process cannot be reached, and nothing was sent.
  bool send(wire::ProcessId to, std::unique_ptr<Message> message);
  void receive(const wire::Packet& packet);
  // What follows from messages that have left since.
  void settle();
  // Whether everything has left.
  bool is_idle() const { return unsent_ == 0; }
  // The interface goes, if it is open: what is coming in comes to nothing.
  void close_interface();
  void note_sent(Message& message);
  // Somebody who waits in this process may have got what he waits for.
  void note_change();

  // Names an operation that waits for an answer; 0 is none's.
  std::uint64_t new_token() { return ++tokens_; }
  // Newer than of any handle that an interface here has given out.
  std::uint32_t next_generation() const { return generation_ + 1; }

 private:
  struct Incoming {
    MessageHeader header;
    ptl_size_t at = 0;  // of the data
    Arrival arrival;
  };

  void begin(wire::ProcessId source, Incoming& incoming);
  void refuse(wire::ProcessId source, const MessageHeader& header);
  friend struct Message;

  vci::Vci& vci_;
  const wire::ProcessId self_;
  std::unique_ptr<Interface> interface_;
  std::vector<Incoming> incoming_;  // by source, which sends one after the other
  std::size_t unsent_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint32_t generation_ = 0;  // the newest of closed interfaces
  PushStack<Message, &Message::next_sent_> sent_;
};

}  // namespace heddle::portals4
