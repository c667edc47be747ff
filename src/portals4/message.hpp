// A message on its way out: a header, and data that lies in the program's memory or is the message's own.
//
// Method:  an operation of the lane's queue, which sends as many packets as there is room for, and the rest with progress.
//          Data stays where it is until its packet is written; then the message goes to its port's list of those sent,
//          because what follows (an event) needs the interface's lock, and the last packet may go under the lane's alone.
// Threads: made under the interface's lock; pushed under the lane's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "portals4/protocol.hpp"
#include "portals4/region.hpp"
#include "vci/lane.hpp"

namespace heddle::portals4 {

class Interface;
class Port;

struct Message : vci::SendOp {
  Message(Port& port, const MessageHeader& head) : port_(port), header(head) {}

  // The data, one of the two.
  void set_data(std::shared_ptr<const Region> memory, ptl_size_t offset) {
    memory_ = std::move(memory);
    offset_ = offset;
  }
  void set_data(std::vector<std::byte> own) { own_ = std::move(own); }

 private:
  friend class Port;
  static Pushed push_packet(SendOp& op, vci::Lane& lane);
  void write(std::byte* to, std::size_t bytes);

  Port& port_;
  std::shared_ptr<const Region> memory_;
  ptl_size_t offset_ = 0;
  std::vector<std::byte> own_;
  ptl_size_t sent_ = 0;  // of header and data together
  Message* next_sent_ = nullptr;

 public:
  const MessageHeader header;
  // When the data has been read for the last time. Not called when the interface was closed before.
  std::function<void(Interface&)> on_sent;
};

}  // namespace heddle::portals4
