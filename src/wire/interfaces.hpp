// The network interfaces of this host that may lead to another one.
#pragma once

#include <string>
#include <vector>

namespace heddle::wire {

struct Interface {
  std::string name;
  std::string address;  // IPv4
  int megabits = 0;     // of a second, as the kernel says; 0: it does not
  bool loopback = false;
};

// Those that are up, the fastest first, loopback last.
std::vector<Interface> find_interfaces();

}  // namespace heddle::wire
