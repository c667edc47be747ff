// Portal table entries, memory descriptors, list entries.
#include <utility>

#include "portals4/call.hpp"

namespace heddle::portals4 {
namespace {

constexpr unsigned kPortalOptions =
    PTL_PT_ONLY_USE_ONCE | PTL_PT_ONLY_TRUNCATE | PTL_PT_FLOWCTRL | PTL_PT_ALLOC_DISABLED;
constexpr unsigned kDescriptorOptions = (PTL_MD_VOLATILE << 1) - 1;
constexpr unsigned kListEntryOptions = (PTL_LE_EVENT_CT_BYTES << 1) - 1;
constexpr unsigned kEntryOptions = (PTL_ME_LOCAL_INC_UH_RLENGTH << 1) - 1;

bool is_memory(const Interface& interface, const void* start, ptl_size_t length, bool is_vector) {
  if (is_vector && length > static_cast<ptl_size_t>(interface.limits.max_iovecs)) return false;
  return start != nullptr || length == 0;
}

ptl_me_t as_match_entry(const ptl_le_t& le) {
  ptl_me_t me{};
  me.start = le.start;
  me.length = le.length;
  me.ct_handle = le.ct_handle;
  me.uid = le.uid;
  me.options = le.options;
  return me;
}

bool is_entry(const Interface& interface, const ptl_me_t& me) {
  const unsigned legal = interface.is_matching() ? kEntryOptions : kListEntryOptions;
  if ((me.options & ~legal) != 0) return false;
  if (interface.is_matching() && interface.is_logical() && me.match_id.rank != PTL_RANK_ANY &&
      me.match_id.rank >= interface.map.size()) {
    return false;
  }
  return is_memory(interface, me.start, me.length, (me.options & PTL_IOVEC) != 0) &&
         is_none_or_in(interface, me.ct_handle, PTL_CT_NONE, Kind::kCounter);
}

int append(ptl_handle_ni_t ni, ptl_pt_index_t index, bool matching, const ptl_me_t& me, ptl_list_t list, void* user_ptr,
           ptl_handle_me_t* handle, const ptl_handle_ct_t* trigger, ptl_size_t threshold) {
  return with_portal(ni, index, [&](Interface& interface, PortalEntry&) -> int {
    if (interface.is_matching() != matching || handle == nullptr ||
        (list != PTL_PRIORITY_LIST && list != PTL_OVERFLOW_LIST)) {
      return PTL_ARG_INVALID;
    }
    if (!is_entry(interface, me) || (trigger != nullptr && interface.cts.find(*trigger) == nullptr))
      return PTL_ARG_INVALID;
    std::shared_ptr<Entry> entry;
    if (const int code = interface.make_entry(index, me, list, user_ptr, &entry); code != PTL_OK) return code;
    *handle = entry->handle;
    if (trigger == nullptr) {
      interface.append(entry);
      return PTL_OK;
    }
    const auto use = std::make_shared<Use<Entry>>(entry);
    const int code = interface.trigger(*trigger, threshold,
                                       {[use](Interface& self) {
                                          const std::shared_ptr<Entry> ready = use->shared();
                                          *use = {};
                                          self.append(ready);
                                        },
                                        [handle = entry->handle](Interface& self) { self.entries.remove(handle); }});
    if (code != PTL_OK) interface.entries.remove(entry->handle);
    return code;
  });
}

int unlink(ptl_handle_me_t handle, bool matching) {
  return with(handle, [&](Interface& interface) -> int {
    const std::shared_ptr<Entry> entry = interface.entries.find(handle);
    return entry == nullptr || interface.is_matching() != matching ? PTL_ARG_INVALID : interface.unlink(entry);
  });
}

int search(ptl_handle_ni_t ni, ptl_pt_index_t index, bool matching, const ptl_me_t& me, ptl_search_op_t operation,
           void* user_ptr) {
  return with_portal(ni, index, [&](Interface& interface, PortalEntry&) -> int {
    if (interface.is_matching() != matching || !is_entry(interface, me) ||
        (operation != PTL_SEARCH_ONLY && operation != PTL_SEARCH_DELETE)) {
      return PTL_ARG_INVALID;
    }
    interface.search(index, me, operation, user_ptr);
    return PTL_OK;
  });
}

// The one wanted, or the first free one; the table's size: there is none.
std::size_t choose_portal(const Interface& interface, ptl_pt_index_t wanted) {
  if (wanted != PTL_PT_ANY) return wanted;
  std::size_t index = 0;
  while (index < interface.table.size() && interface.table[index].allocated) ++index;
  return index;
}

// Where `pointer` is null, PTL_ARG_INVALID; else f(*pointer).
template <class T, class F>
int with_value(const T* pointer, F&& f) {
  if (Library::get() == nullptr) return PTL_NO_INIT;
  return pointer == nullptr ? PTL_ARG_INVALID : f(*pointer);
}

}  // namespace
}  // namespace heddle::portals4

using namespace heddle::portals4;

PORTALS4_PUBLIC int PtlPTAlloc(ptl_handle_ni_t ni, unsigned options, ptl_handle_eq_t eq, ptl_pt_index_t wanted,
                               ptl_pt_index_t* index) {
  return with_interface(ni, [&](Interface& interface) -> int {
    if ((options & ~kPortalOptions) != 0 || index == nullptr) return PTL_ARG_INVALID;
    if (!is_none_or_in(interface, eq, PTL_EQ_NONE, Kind::kEventQueue)) return PTL_ARG_INVALID;
    if (wanted != PTL_PT_ANY && wanted >= interface.table.size()) return PTL_ARG_INVALID;
    if ((options & PTL_PT_FLOWCTRL) != 0 && eq == PTL_EQ_NONE) return PTL_PT_EQ_NEEDED;
    const std::size_t chosen = choose_portal(interface, wanted);
    if (chosen == interface.table.size()) return PTL_PT_FULL;
    PortalEntry& portal = interface.table[chosen];
    if (portal.allocated) return PTL_PT_IN_USE;
    portal = {};
    portal.allocated = true;
    portal.enabled = (options & PTL_PT_ALLOC_DISABLED) == 0;
    portal.options = options;
    portal.eq = eq;
    *index = static_cast<ptl_pt_index_t>(chosen);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlPTFree(ptl_handle_ni_t ni, ptl_pt_index_t index) {
  return with_portal(ni, index, [](Interface&, PortalEntry& portal) -> int {
    const bool used = portal.arriving != 0 || !portal.unexpected.empty() || !portal.lists[PTL_PRIORITY_LIST].empty() ||
                      !portal.lists[PTL_OVERFLOW_LIST].empty();
    if (used) return PTL_IN_USE;
    portal = {};
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlPTDisable(ptl_handle_ni_t ni, ptl_pt_index_t index) {
  const int code = with_portal(ni, index, [](Interface&, PortalEntry& portal) -> int {
    portal.enabled = false;
    return PTL_OK;
  });
  if (code != PTL_OK) return code;
  return *Library::get()->wait(interface_of(ni), PTL_TIME_FOREVER, [&](Interface* interface) -> std::optional<int> {
    if (interface == nullptr || interface->portal(index) == nullptr) return PTL_ARG_INVALID;
    return interface->portal(index)->arriving == 0 ? std::optional<int>(PTL_OK) : std::nullopt;
  });
}

PORTALS4_PUBLIC int PtlPTEnable(ptl_handle_ni_t ni, ptl_pt_index_t index) {
  return with_portal(ni, index, [](Interface&, PortalEntry& portal) -> int {
    portal.enabled = true;
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle) {
  return with_interface(ni, [&](Interface& interface) -> int {
    if (md == nullptr || handle == nullptr || (md->options & ~kDescriptorOptions) != 0) return PTL_ARG_INVALID;
    const bool is_vector = (md->options & PTL_IOVEC) != 0;
    if (!is_memory(interface, md->start, md->length, is_vector) ||
        !is_none_or_in(interface, md->eq_handle, PTL_EQ_NONE, Kind::kEventQueue) ||
        !is_none_or_in(interface, md->ct_handle, PTL_CT_NONE, Kind::kCounter)) {
      return PTL_ARG_INVALID;
    }
    auto descriptor = std::make_shared<Descriptor>();
    descriptor->memory = std::make_shared<Region>(md->start, md->length, is_vector);
    descriptor->options = md->options;
    descriptor->eq = md->eq_handle;
    descriptor->ct = md->ct_handle;
    return hand_out(interface.mds, std::move(descriptor), handle);
  });
}

PORTALS4_PUBLIC int PtlMDRelease(ptl_handle_md_t handle) {
  return with(handle, [&](Interface& interface) -> int {
    const std::shared_ptr<Descriptor> md = interface.mds.find(handle);
    if (md == nullptr) return PTL_ARG_INVALID;
    if (md->uses != 0) return PTL_IN_USE;
    interface.mds.remove(handle);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlLEAppend(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_le_t* le, ptl_list_t list,
                                void* user_ptr, ptl_handle_le_t* handle) {
  return with_value(le, [&](const ptl_le_t& value) {
    return append(ni, index, false, as_match_entry(value), list, user_ptr, handle, nullptr, 0);
  });
}

PORTALS4_PUBLIC int PtlLEUnlink(ptl_handle_le_t handle) { return unlink(handle, false); }

PORTALS4_PUBLIC int PtlLESearch(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_le_t* le, ptl_search_op_t operation,
                                void* user_ptr) {
  return with_value(
      le, [&](const ptl_le_t& value) { return search(ni, index, false, as_match_entry(value), operation, user_ptr); });
}

PORTALS4_PUBLIC int PtlMEAppend(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_me_t* me, ptl_list_t list,
                                void* user_ptr, ptl_handle_me_t* handle) {
  return with_value(
      me, [&](const ptl_me_t& value) { return append(ni, index, true, value, list, user_ptr, handle, nullptr, 0); });
}

PORTALS4_PUBLIC int PtlMEUnlink(ptl_handle_me_t handle) { return unlink(handle, true); }

PORTALS4_PUBLIC int PtlMESearch(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_me_t* me, ptl_search_op_t operation,
                                void* user_ptr) {
  return with_value(me, [&](const ptl_me_t& value) { return search(ni, index, true, value, operation, user_ptr); });
}

PORTALS4_PUBLIC int PtlTriggeredMEAppend(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_me_t* me, ptl_list_t list,
                                         void* user_ptr, ptl_handle_me_t* handle, ptl_handle_ct_t trigger,
                                         ptl_size_t threshold) {
  return with_value(me, [&](const ptl_me_t& value) {
    return append(ni, index, true, value, list, user_ptr, handle, &trigger, threshold);
  });
}

PORTALS4_PUBLIC int PtlTriggeredMEUnlink(ptl_handle_me_t handle, ptl_handle_ct_t trigger, ptl_size_t threshold) {
  return with(handle, [&](Interface& interface) -> int {
    if (interface.entries.find(handle) == nullptr || !interface.is_matching()) return PTL_ARG_INVALID;
    return interface.trigger(trigger, threshold,
                             {[handle](Interface& self) {
                                // Still in use, or gone already: it stays as it is.
                                if (const auto entry = self.entries.find(handle)) self.unlink(entry);
                              },
                              {}});
  });
}
