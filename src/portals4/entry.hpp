// What an initiator and a target hold: memory descriptors, list entries, unexpected headers, portal table entries.
//
// An LE is an ME that every message matches. An unexpected header is what remains of a message that an overflow entry took,
// until an entry of the priority list, or a search, finds it.
//
// Threads: the holder of the interface's lock.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "portals4/handle.hpp"
#include "portals4/region.hpp"
#include "wire/types.hpp"

namespace heddle::portals4 {

struct Descriptor {
  std::shared_ptr<const Region> memory;
  unsigned options = 0;
  ptl_handle_eq_t eq = PTL_EQ_NONE;
  ptl_handle_ct_t ct = PTL_CT_NONE;
  int uses = 0;  // by operations that are not complete, or not triggered
};

struct Entry {
  ptl_me_t me{};
  ptl_list_t list = PTL_PRIORITY_LIST;
  ptl_pt_index_t pt_index = 0;
  void* user_ptr = nullptr;
  std::shared_ptr<const Region> memory;
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  ptl_size_t local_offset = 0;
  int uses = 0;        // by messages that are not complete, or an append that is not triggered
  int headers = 0;     // unexpected ones that lie in its memory
  bool left = false;   // its list, by itself
  bool freed = false;  // PTL_EVENT_AUTO_FREE was its end

  bool has(unsigned option) const { return (me.options & option) != 0; }
  ptl_size_t offset_for(ptl_size_t asked) const { return has(PTL_ME_MANAGE_LOCAL) ? local_offset : asked; }
  ptl_size_t room_from(ptl_size_t offset) const { return offset < memory->bytes() ? memory->bytes() - offset : 0; }
  // Whether a message of `bytes` is the last that it takes.
  bool ends_with(ptl_size_t bytes) const {
    if (has(PTL_ME_USE_ONCE)) return true;
    return has(PTL_ME_MANAGE_LOCAL) && me.min_free != 0 && room_from(local_offset + bytes) < me.min_free;
  }
};

// Who has found an unexpected header.
struct Finder {
  ptl_handle_ct_t ct;
  unsigned options;
  void* user_ptr;
  bool leaves;  // and is used up by it
};

struct UnexpectedHeader {
  ptl_event_t event;  // as its finder will see it, but for the user_ptr
  wire::ProcessId source;
  std::shared_ptr<Entry> entry;
  bool complete = false;         // its data is there
  std::optional<Finder> finder;  // who waits for that
};

struct PortalEntry {
  bool allocated = false;
  bool enabled = false;
  unsigned options = 0;
  ptl_handle_eq_t eq = PTL_EQ_NONE;
  int arriving = 0;                            // messages that it has taken and that are not complete
  std::list<std::shared_ptr<Entry>> lists[2];  // by ptl_list_t
  std::list<UnexpectedHeader> unexpected;

  bool has_flow_control() const { return (options & PTL_PT_FLOWCTRL) != 0; }
};

}  // namespace heddle::portals4
