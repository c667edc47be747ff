// libfabric, loaded when it is needed, and the one of its providers that this process uses.
//
// Problem: a job on one node must not pay for a fabric, nor need the library; and a host has several providers and
//          interfaces, of which some lead nowhere (a container's bridge).
// Method:  dlopen. Of all providers that can do what the wire needs (messages in order to many peers, reads of remote
//          memory), fast hardware comes first, in libfabric's order, then TCP. A provider that goes by IP is bound to one
//          interface: the providers tell two connections that cross by their addresses, which fails on all interfaces
//          at once. Which one, reach.hpp finds out.
// Threads: any, after open().
// Cost:    most of it libfabric's look at the hardware.
#pragma once

#include <rdma/fabric.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace heddle::wire {

// What the user wants; empty: whatever is best.
struct FabricChoice {
  std::string library;    // a file for dlopen
  std::string provider;   // as libfabric names it: `tcp;ofi_rxm`
  std::string interface;  // `eth0`, or the address that it has
};

// One way that there is, for reports.
struct FabricEntry {
  std::string provider, domain, address;
  bool usable = false;  // by Heddle
  bool chosen = false;
};

// The functions of libfabric that are not behind a table of an object.
struct FabricLibrary {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;
  std::string file;

  static Status load(const std::string& file, FabricLibrary* out);
};

class Fabric {
 public:
  static Status open(const FabricChoice& choice, std::shared_ptr<Fabric>* out);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Everything that libfabric offers on this host, whether of use or not. `version`: of the library.
  static Status list(const FabricChoice& choice, std::vector<FabricEntry>* out, std::string* version);

  const FabricLibrary& library() const noexcept { return library_; }
  fi_info& info() const noexcept { return *info_; }
  // REQUIRES: bind_to() was called, where it goes by IP.
  fid_fabric& fabric() const noexcept { return *fabric_; }
  std::string provider() const { return info_->fabric_attr->prov_name; }
  // Its addresses are those of IP.
  bool by_ip() const noexcept { return info_->addr_format == FI_SOCKADDR_IN || info_->addr_format == FI_SOCKADDR_IN6; }
  // Where this host may be reached, by IP, the fastest interface first; empty where !by_ip().
  const std::vector<std::string>& addresses() const noexcept { return addresses_; }
  // Binds all endpoints to one of them. Before the first is opened; where there is only one, it is used.
  Status bind_to(const std::string& address);
  // Whether the provider can say of a write that it has arrived (FI_DELIVERY_COMPLETE). Asks it once. Any thread.
  bool tells_of_arrival() noexcept;
  // Whether a message of middle length gets there sooner behind its announcement than by a read: its endpoints take tagged ones.
  bool pushes() const noexcept { return (info_->caps & FI_TAGGED) != 0; }

 private:
  Fabric() = default;
  Status find_addresses(const FabricChoice& choice);
  Status open_fabric();
  void ask_for_tags() noexcept;

  FabricLibrary library_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  std::vector<std::string> addresses_;
  std::once_flag asked_;
  bool tells_of_arrival_ = false;
};

}  // namespace heddle::wire
