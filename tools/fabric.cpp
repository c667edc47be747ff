#include "fabric.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "wire/fabric.hpp"
#include "wire/interfaces.hpp"

namespace heddle {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int print_fabric() {
  const wire::FabricChoice choice{environment("HEDDLE_FABRIC_LIBRARY"), environment("HEDDLE_FABRIC_PROVIDER"),
                                  environment("HEDDLE_FABRIC_INTERFACE")};
  std::vector<wire::FabricEntry> entries;
  std::string version;
  if (!wire::Fabric::list(choice, &entries, &version)) {
    std::fprintf(stderr, "heddle: %s\n", last_error_detail());
    return 1;
  }
  std::printf("libfabric    %s\n", version.c_str());
  bool chosen = false;
  for (const wire::FabricEntry& e : entries) {
    const char* use = e.chosen ? "chosen" : e.usable ? "usable" : "not for Heddle";
    std::printf("provider     %-16s %-10s %s\n", e.provider.c_str(), e.domain.c_str(), use);
    chosen |= e.chosen;
  }
  for (const wire::Interface& i : wire::find_interfaces()) {
    std::printf("interface    %-16s %-10s %s\n", i.name.c_str(), i.address.c_str(),
                i.loopback ? "this host alone" : "asked whether it leads to the other hosts");
  }
  if (chosen) return 0;
  std::fprintf(stderr, "heddle: none of these is for HEDDLE_FABRIC_PROVIDER='%s'\n", choice.provider.c_str());
  return 1;
}

}  // namespace heddle
