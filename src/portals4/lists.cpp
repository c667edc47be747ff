// Priority list, overflow list and unexpected headers: what appends, searches, finds and leaves.
//
// Order: what an appended entry finds among the unexpected headers is told first (*_OVERFLOW), then that the entry is used
//        up (AUTO_UNLINK) or in its list (LINK). An entry that a message uses up leaves when the message begins, so
//        AUTO_UNLINK stands before the event of the message, whose data may be long.
#include <algorithm>

#include "portals4/interface.hpp"

namespace heddle::portals4 {
namespace {

ptl_event_kind_t overflow_kind(ptl_event_kind_t kind) { return static_cast<ptl_event_kind_t>(kind + 1); }
static_assert(PTL_EVENT_GET_OVERFLOW == PTL_EVENT_GET + 1 && PTL_EVENT_PUT_OVERFLOW == PTL_EVENT_PUT + 1 &&
              PTL_EVENT_ATOMIC_OVERFLOW == PTL_EVENT_ATOMIC + 1 &&
              PTL_EVENT_FETCH_ATOMIC_OVERFLOW == PTL_EVENT_FETCH_ATOMIC + 1);

Entry make(ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list, void* user_ptr) {
  Entry entry;
  entry.me = me;
  entry.list = list;
  entry.pt_index = index;
  entry.user_ptr = user_ptr;
  entry.memory = std::make_shared<Region>(me.start, me.length, (me.options & PTL_IOVEC) != 0);
  return entry;
}

// Not list::remove, which goes on to the end: what leaves is mostly the first, and the lists may be long.
void take_out(std::list<std::shared_ptr<Entry>>& list, const std::shared_ptr<Entry>& entry) {
  const auto found = std::ranges::find(list, entry);
  if (found != list.end()) list.erase(found);
}

}  // namespace

bool Interface::matches(const Entry& entry, const UnexpectedHeader& header) const {
  const ptl_event_t& event = header.event;
  return !header.finder && matches(entry, header.source, event.match_bits, event.remote_offset, event.rlength);
}

bool Interface::matches(const Entry& entry, wire::ProcessId source, ptl_match_bits_t bits, ptl_size_t offset,
                        ptl_size_t length) const {
  if (!is_matching()) return true;
  const ptl_me_t& me = entry.me;
  if (((bits ^ me.match_bits) & ~me.ignore_bits) != 0) return false;
  if (is_logical()) {
    if (me.match_id.rank != PTL_RANK_ANY && resolve(me.match_id) != source) return false;
  } else {
    const auto id = physical(source).phys;
    if (me.match_id.phys.nid != PTL_NID_ANY && me.match_id.phys.nid != id.nid) return false;
    if (me.match_id.phys.pid != PTL_PID_ANY && me.match_id.phys.pid != id.pid) return false;
  }
  return !entry.has(PTL_ME_NO_TRUNCATE) || length <= entry.room_from(entry.offset_for(offset));
}

ptl_event_t Interface::entry_event(const Entry& entry, ptl_event_kind_t type) const {
  ptl_event_t event{};
  event.type = type;
  event.user_ptr = entry.user_ptr;
  event.pt_index = entry.pt_index;
  event.ptl_list = entry.list;
  event.ni_fail_type = PTL_NI_OK;
  return event;
}

int Interface::make_entry(ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list, void* user_ptr,
                          std::shared_ptr<Entry>* out) {
  if (table[index].lists[list].size() >= static_cast<std::size_t>(limits.max_list_size)) return PTL_LIST_TOO_LONG;
  *out = std::make_shared<Entry>(make(index, me, list, user_ptr));
  (*out)->handle = entries.add(*out);
  return (*out)->handle == PTL_INVALID_HANDLE ? PTL_NO_SPACE : PTL_OK;
}

void Interface::append(const std::shared_ptr<Entry>& entry) {
  PortalEntry& portal = table[entry->pt_index];
  if (entry->list == PTL_PRIORITY_LIST) {
    for (auto next = portal.unexpected.begin(); next != portal.unexpected.end();) {
      const auto header = next++;
      if (!matches(*entry, *header)) continue;
      if (entry->has(PTL_ME_MANAGE_LOCAL) && entry->has(PTL_ME_LOCAL_INC_UH_RLENGTH)) {
        entry->local_offset = std::min(entry->local_offset + header->event.rlength, entry->memory->bytes());
      }
      const bool leaves = entry->ends_with(0);
      header->finder = Finder{entry->me.ct_handle, entry->me.options, entry->user_ptr, leaves};
      if (header->complete) deliver(portal, header);
      if (leaves) return entries.remove(entry->handle);
    }
  }
  portal.lists[entry->list].push_back(entry);
  if (!entry->has(PTL_ME_EVENT_LINK_DISABLE)) post(portal.eq, entry_event(*entry, PTL_EVENT_LINK));
}

// REQUIRES: it is complete and has a finder.
void Interface::deliver(PortalEntry& portal, std::list<UnexpectedHeader>::iterator header) {
  const Finder finder = *header->finder;
  const std::shared_ptr<Entry> entry = header->entry;
  ptl_event_t event = header->event;
  event.type = overflow_kind(event.type);
  event.user_ptr = finder.user_ptr;
  portal.unexpected.erase(header);
  --unexpected_;
  --entry->headers;
  if ((finder.options & (PTL_ME_EVENT_OVER_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE)) == 0) post(portal.eq, event);
  if ((finder.options & PTL_ME_EVENT_CT_OVERFLOW) != 0) {
    count(finder.ct, false, (finder.options & PTL_ME_EVENT_CT_BYTES) != 0, event.mlength);
  }
  if (finder.leaves && (finder.options & PTL_ME_EVENT_UNLINK_DISABLE) == 0) {
    ptl_event_t unlinked = entry_event(*entry, PTL_EVENT_AUTO_UNLINK);
    unlinked.user_ptr = finder.user_ptr;
    unlinked.ptl_list = PTL_PRIORITY_LIST;
    post(portal.eq, unlinked);
  }
  free_if_unused(*entry);
}

int Interface::unlink(const std::shared_ptr<Entry>& entry) {
  if (entry->uses != 0 || entry->headers != 0) return PTL_IN_USE;
  take_out(table[entry->pt_index].lists[entry->list], entry);
  entries.remove(entry->handle);
  return PTL_OK;
}

void Interface::leave(PortalEntry& portal, const std::shared_ptr<Entry>& entry) {
  take_out(portal.lists[entry->list], entry);
  entries.remove(entry->handle);
  entry->left = true;
  if (!entry->has(PTL_ME_EVENT_UNLINK_DISABLE)) post(portal.eq, entry_event(*entry, PTL_EVENT_AUTO_UNLINK));
}

void Interface::free_if_unused(Entry& entry) {
  if (!entry.left || entry.freed || entry.list != PTL_OVERFLOW_LIST || entry.uses != 0 || entry.headers != 0) return;
  entry.freed = true;
  if (!entry.has(PTL_ME_EVENT_UNLINK_DISABLE)) {
    post(table[entry.pt_index].eq, entry_event(entry, PTL_EVENT_AUTO_FREE));
  }
}

void Interface::search(ptl_pt_index_t index, const ptl_me_t& me, ptl_search_op_t operation, void* user_ptr) {
  PortalEntry& portal = table[index];
  const Entry wanted = make(index, me, PTL_PRIORITY_LIST, user_ptr);
  const auto tell = [&](ptl_event_t event, ptl_ni_fail_t fail) {
    event.type = PTL_EVENT_SEARCH;
    event.user_ptr = user_ptr;
    event.ni_fail_type = fail;
    if (fail == PTL_NI_OK && wanted.has(PTL_ME_EVENT_SUCCESS_DISABLE)) return;
    post(portal.eq, event);
  };
  bool found = false;
  for (auto next = portal.unexpected.begin(); next != portal.unexpected.end();) {
    const auto header = next++;
    if (!matches(wanted, *header)) continue;
    found = true;
    if (operation == PTL_SEARCH_ONLY) return tell(header->event, PTL_NI_OK);
    header->finder = Finder{me.ct_handle, me.options, user_ptr, false};
    if (header->complete) deliver(portal, header);
    if (wanted.has(PTL_ME_USE_ONCE)) return;
  }
  if (!found) tell(entry_event(wanted, PTL_EVENT_SEARCH), PTL_NI_NO_MATCH);
}

}  // namespace heddle::portals4
