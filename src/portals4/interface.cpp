#include "portals4/interface.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace heddle::portals4 {
namespace {

int within(int wanted, int low, int high) { return std::clamp(wanted, low, high); }

ptl_ni_limits_t limits_for(const ptl_ni_limits_t* desired) {
  constexpr int kMost = static_cast<int>(kMostObjects);
  ptl_ni_limits_t limits{};
  limits.max_entries = limits.max_mds = limits.max_cts = limits.max_eqs = kMost;
  limits.max_unexpected_headers = limits.max_triggered_ops = limits.max_list_size = limits.max_iovecs = kMost;
  limits.max_pt_index = Interface::kMostPortals - 1;
  if (desired != nullptr) {
    limits.max_entries = within(desired->max_entries, 1, kMost);
    limits.max_unexpected_headers = within(desired->max_unexpected_headers, 1, kMost);
    limits.max_mds = within(desired->max_mds, 1, kMost);
    limits.max_cts = within(desired->max_cts, 1, kMost);
    limits.max_eqs = within(desired->max_eqs, 1, kMost);
    limits.max_pt_index = within(desired->max_pt_index, Interface::kFewestPortals - 1, Interface::kMostPortals - 1);
    limits.max_iovecs = within(desired->max_iovecs, 1, kMost);
    limits.max_list_size = within(desired->max_list_size, 1, kMost);
    limits.max_triggered_ops = within(desired->max_triggered_ops, 1, kMost);
  }
  limits.max_msg_size = limits.max_waw_ordered_size = Interface::kMostMessage;
  limits.max_atomic_size = limits.max_fetch_atomic_size = Interface::kMostAtomic;
  limits.max_war_ordered_size = limits.max_volatile_size = Interface::kMostCopied;
  limits.features = PTL_COHERENT_ATOMICS;
  return limits;
}

}  // namespace

Interface::Interface(Port& port, unsigned opened_as, std::uint32_t generation, const ptl_ni_limits_t* desired,
                     wire::ProcessId self, Nodes nodes)
    : handle(make_handle(Kind::kInterface, port.vci().index(), generation, 0)),
      uid(getuid()),
      options(opened_as),
      limits(limits_for(desired)),
      map(nodes.size()),
      eqs(port.vci().index(), generation),
      cts(port.vci().index(), generation),
      mds(port.vci().index(), generation),
      entries(port.vci().index(), generation),
      table(static_cast<std::size_t>(limits.max_pt_index) + 1),
      port_(port),
      self_(self),
      nodes_(nodes) {
  std::iota(map.begin(), map.end(), wire::ProcessId{0});
  eqs.limit(limits.max_eqs);
  cts.limit(limits.max_cts);
  mds.limit(limits.max_mds);
  entries.limit(limits.max_entries);
}

ptl_process_t Interface::physical(wire::ProcessId process) const {
  ptl_process_t id;
  id.phys = {static_cast<ptl_nid_t>(nodes_[process]), process};
  return id;
}

ptl_process_t Interface::identify(wire::ProcessId process) const {
  if (!is_logical()) return physical(process);
  ptl_process_t id{};
  const auto found = std::ranges::find(map, process);
  id.rank = found == map.end() ? PTL_RANK_ANY : static_cast<ptl_rank_t>(found - map.begin());
  return id;
}

std::optional<wire::ProcessId> Interface::resolve_physical(ptl_process_t id) const {
  const bool known = id.phys.pid < nodes_.size() && static_cast<ptl_nid_t>(nodes_[id.phys.pid]) == id.phys.nid;
  return known ? std::optional(id.phys.pid) : std::nullopt;
}

std::optional<wire::ProcessId> Interface::resolve(ptl_process_t id) const {
  if (!is_logical()) return resolve_physical(id);
  return id.rank < map.size() ? std::optional(map[id.rank]) : std::nullopt;
}

std::uint32_t Interface::newest_generation() const {
  return std::max(
      {eqs.newest_generation(), cts.newest_generation(), mds.newest_generation(), entries.newest_generation()});
}

bool Interface::has(ptl_handle_any_t any) const {
  switch (kind_of(any)) {
    case Kind::kInterface:
      return any == handle;
    case Kind::kEventQueue:
      return eqs.find(any) != nullptr;
    case Kind::kCounter:
      return cts.find(any) != nullptr;
    case Kind::kDescriptor:
      return mds.find(any) != nullptr;
    case Kind::kEntry:
      return entries.find(any) != nullptr;
    default:
      return false;
  }
}

PortalEntry* Interface::portal(ptl_pt_index_t index) {
  return index < table.size() && table[index].allocated ? &table[index] : nullptr;
}

void Interface::post(ptl_handle_eq_t eq, const ptl_event_t& event) {
  if (const auto& queue = eqs.find(eq)) {
    queue->post(event);
    port_.note_change();
  }
}

void Interface::count(ptl_handle_ct_t ct, bool failed, bool by_bytes, ptl_size_t bytes) {
  if (failed) return change(ct, {0, 1});
  change(ct, {by_bytes ? bytes : 1, 0});
}

void Interface::change(ptl_handle_ct_t ct, ptl_ct_event_t by) {
  if (const auto& counter = cts.find(ct)) {
    set(ct, {counter->value.success + by.success, counter->value.failure + by.failure});
  }
}

void Interface::set(ptl_handle_ct_t ct, ptl_ct_event_t to) {
  if (const auto& counter = cts.find(ct)) {
    counter->value = to;
    port_.note_change();
    changed_.push_back(ct);
  }
}

int Interface::trigger(ptl_handle_ct_t ct, ptl_size_t threshold, Triggered operation) {
  const auto& counter = cts.find(ct);
  if (counter == nullptr) return PTL_ARG_INVALID;
  if (triggered_ == limits.max_triggered_ops) return PTL_NO_SPACE;
  ++triggered_;
  counter->add(threshold, std::move(operation));
  changed_.push_back(ct);
  return PTL_OK;
}

// What fires may change counters, which may let others fire: a list, where calls would nest.
void Interface::run_triggered() {
  if (firing_) return;
  firing_ = true;
  while (!changed_.empty()) {
    const std::shared_ptr<Counter> counter = cts.find(changed_.front());
    changed_.pop_front();
    Triggered operation;
    while (counter != nullptr && counter->take_ready(&operation)) {
      --triggered_;
      operation.fire(*this);
    }
  }
  firing_ = false;
}

void Interface::cancel_triggered(Counter& counter) {
  Triggered operation;
  while (counter.take_any(&operation)) {
    --triggered_;
    if (operation.cancel) operation.cancel(*this);
  }
}

}  // namespace heddle::portals4
