// The host list, and which rank runs where.
//
//   -hosts a,b:4         --hostfile FILE:   # a comment
//                                           a
//                                           b:4            (as MPICH writes it)
//                                           c slots=4      (as Open MPI does)
//
// A node is an entry of the list, not a host name: `a,b,a` are three nodes, of which the first and the last share no
// memory. An entry has one slot unless it says otherwise, and `-ppn K` gives each K. Ranks fill the slots of one entry
// after the other; when all are full and no entry has said how many it has, the list starts again from its first.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace heddle::launcher {

struct HostEntry {
  std::string name;  // as the remote shell takes it
  int slots = 1;
  bool says_slots = false;
};
using HostList = std::vector<HostEntry>;

// "a,b:4"; `option` is named in errors. What is found is appended.
Status parse_host_list(const char* option, const std::string& text, HostList& hosts);
// Errors name the file and the line.
Status read_host_file(const std::string& path, HostList& hosts);

// Every entry gets `slots`.
void set_slots(HostList& hosts, int slots);
int slots_of(const HostList& hosts);

struct Placement {
  std::vector<int> node_of_rank;  // index into the list
  int nodes = 0;                  // the entries that have ranks: the first ones
  std::string mapping;            // the same as PMI_process_mapping (src/boot/mapping.hpp)
};
Status place(const HostList& hosts, int ranks, bool oversubscribe, Placement& placement);

}  // namespace heddle::launcher
