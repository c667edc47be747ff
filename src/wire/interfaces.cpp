#include "wire/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <fstream>
#include <tuple>

namespace heddle::wire {
namespace {

int speed_of(const std::string& name) {
  int megabits = 0;
  std::ifstream("/sys/class/net/" + name + "/speed") >> megabits;
  return std::max(megabits, 0);  // -1: it has none
}

}  // namespace

std::vector<Interface> find_interfaces() {
  std::vector<Interface> found;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return found;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN];
    const auto& address = *reinterpret_cast<const sockaddr_in*>(i->ifa_addr);
    if (inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) == nullptr) continue;
    found.push_back({i->ifa_name, text, speed_of(i->ifa_name), (i->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(first);
  std::ranges::stable_sort(found, {}, [](const Interface& i) { return std::tuple(i.loopback, -i.megabits); });
  return found;
}

}  // namespace heddle::wire
