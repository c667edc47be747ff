#include "wire/fabric.hpp"

#include <dlfcn.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "mpi.h"
#include "wire/interfaces.hpp"

namespace heddle::wire {
namespace {

constexpr std::uint32_t kApi = FI_VERSION(1, 17);

// ofi_rxm keeps buffers for all peers that may ever come, 70 MiB an endpoint; with these it keeps them for each peer that
// there is, half a MiB. The third lets a whole packet go eagerly. Users' own values stay.
// The last keeps libpsm, which libfabric may bring, from taking over the program's SIGSEGV.
constexpr std::array<std::array<const char*, 2>, 4> kFrugal{{{"FI_OFI_RXM_USE_SRX", "0"},
                                                             {"FI_OFI_RXM_MSG_RX_SIZE", "32"},
                                                             {"FI_OFI_RXM_EAGER_LIMIT", "66560"},
                                                             {"IPATH_NO_BACKTRACE", "1"}}};

// The first that a provider is in decides; what is in none comes before all of them.
constexpr std::string_view kSlow[] = {"tcp", "net", "tcp;ofi_rxm", "net;ofi_rxm", "udp;ofi_rxd"};
// shm and sm2 do not leave the host. Over sockets, which libfabric itself has given up in favour of
// tcp, jobs of two ranks hang.
constexpr std::string_view kNotServed[] = {"shm", "sm2", "sockets"};

std::size_t rank_of(const fi_info& info) {
  const std::string_view name = info.fabric_attr->prov_name;
  const auto found = std::ranges::find(kSlow, name);
  return found == std::end(kSlow) ? 0 : 1 + static_cast<std::size_t>(found - std::begin(kSlow));
}

bool is_served(const fi_info& info) {
  return std::ranges::find(kNotServed, std::string_view(info.fabric_attr->prov_name)) == std::end(kNotServed);
}

struct InfoList {
  explicit InfoList(const FabricLibrary& l) noexcept : library(l) {}
  ~InfoList() {
    if (first != nullptr) library.freeinfo(first);
  }
  const FabricLibrary& library;
  fi_info* first = nullptr;
};

// What the wire needs; the caller frees it.
fi_info* make_hints(const FabricLibrary& library, const std::string& provider) {
  fi_info* hints = library.dupinfo(nullptr);
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG | FI_RMA | FI_MULTI_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
  return hints;
}

// What libfabric itself was told to leave out.
std::string told_filter() {
  const char* filter = std::getenv("FI_PROVIDER");
  return filter == nullptr ? "" : std::string(" where FI_PROVIDER is '") + filter + "'";
}

Status get_info(const FabricLibrary& library, const std::string& provider, const char* source, InfoList& list) {
  fi_info* hints = make_hints(library, provider);
  if (hints == nullptr) return error(MPI_ERR_NO_MEM, "no memory to look for a fabric");
  if (source != nullptr) hints->addr_format = FI_SOCKADDR_IN;
  const int failed = source == nullptr ? library.getinfo(kApi, nullptr, nullptr, 0, hints, &list.first)
                                       : library.getinfo(kApi, source, "0", FI_SOURCE, hints, &list.first);
  library.freeinfo(hints);
  if (failed == 0) return Status::ok();
  return error(MPI_ERR_OTHER,
               "libfabric offers nothing for provider '%s' that Heddle can use%s (%s); `heddle info --fabric` "
               "lists what there is, HEDDLE_FABRIC_PROVIDER chooses",
               provider.empty() ? "any" : provider.c_str(), told_filter().c_str(), library.strerror(-failed));
}

const fi_info* best_of(const fi_info* first) {
  const fi_info* best = nullptr;
  for (const fi_info* i = first; i != nullptr; i = i->next) {
    if (is_served(*i) && (best == nullptr || rank_of(*i) < rank_of(*best))) best = i;
  }
  return best;
}

}  // namespace

Status FabricLibrary::load(const std::string& file, FabricLibrary* out) {
  for (const auto& [name, value] : kFrugal) setenv(name, value, 0);
  out->file = file.empty() ? "libfabric.so.1" : file;
  void* handle = dlopen(out->file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return error(MPI_ERR_OTHER,
                 "between hosts Heddle needs libfabric, and cannot load it (%s); install it (Debian: "
                 "libfabric1), or name its file in HEDDLE_FABRIC_LIBRARY",
                 dlerror());
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  if (find(out->getinfo, "fi_getinfo") && find(out->freeinfo, "fi_freeinfo") && find(out->dupinfo, "fi_dupinfo") &&
      find(out->fabric, "fi_fabric") && find(out->strerror, "fi_strerror") && find(out->version, "fi_version")) {
    return Status::ok();
  }
  return error(MPI_ERR_OTHER, "%s is not a libfabric that Heddle knows: it lacks functions of version 1",
               out->file.c_str());
}

Status Fabric::open(const FabricChoice& choice, std::shared_ptr<Fabric>* out) {
  std::shared_ptr<Fabric> fabric(new Fabric);
  HEDDLE_TRY(FabricLibrary::load(choice.library, &fabric->library_));
  const FabricLibrary& library = fabric->library_;
  InfoList list(library);
  HEDDLE_TRY(get_info(library, choice.provider, nullptr, list));
  const fi_info* best = best_of(list.first);
  if (best == nullptr) {
    return error(MPI_ERR_OTHER,
                 "provider '%s' of libfabric%s does not lead to other hosts, or Heddle does not work over it; `heddle "
                 "info --fabric` lists what there is, HEDDLE_FABRIC_PROVIDER chooses",
                 choice.provider.empty() ? "any" : choice.provider.c_str(), told_filter().c_str());
  }
  fabric->info_ = library.dupinfo(best);
  if (fabric->info_ == nullptr) return error(MPI_ERR_NO_MEM, "no memory to open a fabric");
  HEDDLE_TRY(fabric->by_ip() ? fabric->find_addresses(choice) : fabric->open_fabric());
  *out = std::move(fabric);
  return Status::ok();
}

Status Fabric::bind_to(const std::string& address) {
  InfoList bound(library_);
  HEDDLE_TRY(get_info(library_, provider(), address.c_str(), bound));
  fi_info* info = library_.dupinfo(bound.first);
  if (info == nullptr) return error(MPI_ERR_NO_MEM, "no memory to open a fabric");
  library_.freeinfo(std::exchange(info_, info));
  return open_fabric();
}

// Where a tagged message goes at once, whatever its length: what drives TCP itself. ofi_rxm asks its receiver first, too.
void Fabric::ask_for_tags() noexcept {
  const std::string name = provider();
  const bool is_alone = name == "net" || (name == "tcp" && library_.version() >= FI_VERSION(1, 18));
  const fi_domain_attr& domain = *info_->domain_attr;
  if (!is_alone || (domain.mr_mode & (FI_MR_LOCAL | FI_MR_PROV_KEY)) != 0 || domain.mr_key_size < 8)
    return;  // keys are tags
  for (std::uint64_t* caps : {&info_->caps, &info_->tx_attr->caps, &info_->rx_attr->caps}) *caps |= FI_TAGGED;
}

Status Fabric::open_fabric() {
  ask_for_tags();
  const int failed = library_.fabric(info_->fabric_attr, &fabric_, nullptr);
  if (failed == 0) return Status::ok();
  return error(MPI_ERR_OTHER, "cannot open provider %s of libfabric: %s", provider().c_str(),
               library_.strerror(-failed));
}

bool Fabric::tells_of_arrival() noexcept {
  std::call_once(asked_, [this] {
    fi_info* hints = make_hints(library_, provider());
    if (hints == nullptr) return;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    InfoList list(library_);
    tells_of_arrival_ = library_.getinfo(kApi, nullptr, nullptr, 0, hints, &list.first) == 0;
    library_.freeinfo(hints);
  });
  return tells_of_arrival_;
}

Fabric::~Fabric() {
  if (fabric_ != nullptr) fabric_->fid.ops->close(&fabric_->fid);
  if (info_ != nullptr) library_.freeinfo(info_);
}

Status Fabric::find_addresses(const FabricChoice& choice) {
  const std::vector<Interface> all = find_interfaces();
  std::string names;
  for (const Interface& i : all) {
    names += (names.empty() ? "" : ", ") + i.name + " (" + i.address + ")";
    const bool wanted =
        choice.interface.empty() ? !i.loopback : choice.interface == i.name || choice.interface == i.address;
    if (wanted) addresses_.push_back(i.address);
  }
  if (!addresses_.empty()) return Status::ok();
  if (!choice.interface.empty()) {
    return error(MPI_ERR_OTHER, "HEDDLE_FABRIC_INTERFACE='%s' is no interface of this host that is up; there are: %s",
                 choice.interface.c_str(), names.empty() ? "none" : names.c_str());
  }
  if (all.empty()) return error(MPI_ERR_OTHER, "no network interface of this host is up and has an IPv4 address");
  addresses_.push_back(all.front().address);  // loopback alone: the job's nodes are all this host
  return Status::ok();
}

Status Fabric::list(const FabricChoice& choice, std::vector<FabricEntry>* out, std::string* version) {
  FabricLibrary library;
  HEDDLE_TRY(FabricLibrary::load(choice.library, &library));
  const std::uint32_t number = library.version();
  *version = std::to_string(FI_MAJOR(number)) + "." + std::to_string(FI_MINOR(number));
  InfoList all(library), usable(library);
  if (library.getinfo(kApi, nullptr, nullptr, 0, nullptr, &all.first) != 0) return Status::ok();
  const bool any = get_info(library, choice.provider, nullptr, usable).is_ok();
  const fi_info* best = any ? best_of(usable.first) : nullptr;
  for (const fi_info* i = all.first; i != nullptr; i = i->next) {
    FabricEntry entry{i->fabric_attr->prov_name, i->domain_attr->name, {}};
    for (const fi_info* u = usable.first; u != nullptr; u = u->next) {
      entry.usable |=
          is_served(*u) && entry.provider == u->fabric_attr->prov_name && entry.domain == u->domain_attr->name;
    }
    entry.chosen = best != nullptr && entry.usable && entry.provider == best->fabric_attr->prov_name;
    const bool known = std::ranges::any_of(
        *out, [&](const FabricEntry& e) { return e.provider == entry.provider && e.domain == entry.domain; });
    if (!known) out->push_back(std::move(entry));
  }
  return Status::ok();
}

}  // namespace heddle::wire
