#include "hosts.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "boot/boot.hpp"
#include "boot/environment.hpp"
#include "mpi.h"
#include "text_file.hpp"

namespace heddle::launcher {
namespace {

constexpr std::size_t kMaxName = 255, kMaxMapping = 12'000;

int shown(std::string_view text) { return static_cast<int>(std::min<std::size_t>(text.size(), 80)); }

Status read_slots(const std::string& where, std::string_view text, HostEntry& entry) {
  if (!boot::parse_int(text, 1, boot::kMaxRanks, entry.slots)) {
    return error(MPI_ERR_ARG, "%s: '%s' has '%.*s' slots; it takes a number of at least 1", where.c_str(),
                 entry.name.c_str(), shown(text), text.data());
  }
  entry.says_slots = true;
  return Status::ok();
}

// What the remote shell could take for an option or for more than one word is no name, nor is half an address.
Status check_name(const std::string& where, const std::string& name) {
  const auto printable = [](char c) { return c > ' ' && c != 0x7f; };
  const auto may_begin = [](char c) { return c != '-' && c != '['; };
  if (!name.empty() && name.size() <= kMaxName && may_begin(name.front()) && std::ranges::all_of(name, printable)) {
    return Status::ok();
  }
  return error(MPI_ERR_ARG, "%s: '%.80s' is no name of a host", where.c_str(), name.c_str());
}

// host, host:4, [::1]:4, ::1
Status read_entry(const std::string& where, std::string_view text, HostEntry& entry) {
  std::string_view slots;
  if (const std::size_t bracket = text.find(']'); text.starts_with('[') && bracket != text.npos) {
    entry.name = text.substr(1, bracket - 1);
    slots = text.substr(bracket + 1);
  } else {
    const std::size_t colon = std::ranges::count(text, ':') == 1 ? text.find(':') : text.size();
    entry.name = text.substr(0, colon);
    slots = text.substr(colon);
  }
  HEDDLE_TRY(check_name(where, entry.name));
  if (slots.empty()) return Status::ok();
  if (slots.front() != ':') return error(MPI_ERR_ARG, "%s: '%.*s' is no host", where.c_str(), shown(text), text.data());
  return read_slots(where, slots.substr(1), entry);
}

Status read_line(const std::string& where, const std::string& line, HostList& hosts) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return Status::ok();
  HostEntry entry;
  HEDDLE_TRY(read_entry(where, word, entry));
  while (words >> word) {
    constexpr std::string_view kSlots = "slots=";
    if (!word.starts_with(kSlots)) {
      return error(MPI_ERR_ARG, "%s: '%.80s' is not known; a line is HOST, HOST:SLOTS or HOST slots=SLOTS",
                   where.c_str(), word.c_str());
    }
    HEDDLE_TRY(read_slots(where, std::string_view(word).substr(kSlots.size()), entry));
  }
  hosts.push_back(std::move(entry));
  return Status::ok();
}

// Entries of the same number of slots that follow each other are one block.
std::string mapping_of(const HostList& hosts, int nodes) {
  std::string text = "(vector";
  for (int first = 0, next; first < nodes; first = next) {
    const int slots = hosts[static_cast<std::size_t>(first)].slots;
    next = first;
    while (next < nodes && hosts[static_cast<std::size_t>(next)].slots == slots) ++next;
    text += ",(" + std::to_string(first) + "," + std::to_string(next - first) + "," + std::to_string(slots) + ")";
  }
  return text + ")";
}

}  // namespace

Status parse_host_list(const char* option, const std::string& text, HostList& hosts) {
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    HEDDLE_TRY(read_entry(option, rest.substr(0, comma), hosts.emplace_back()));
    if (comma == rest.size()) return Status::ok();
    rest.remove_prefix(comma + 1);
  }
}

Status read_host_file(const std::string& path, HostList& hosts) {
  std::string text;
  HEDDLE_TRY(read_text_file("host file", path, text));
  const std::size_t before = hosts.size();
  std::istringstream lines(std::move(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    HEDDLE_TRY(read_line(path + ":" + std::to_string(number), line, hosts));
  }
  if (hosts.size() == before) return error(MPI_ERR_ARG, "the host file '%s' names no host", path.c_str());
  return Status::ok();
}

void set_slots(HostList& hosts, int slots) {
  for (HostEntry& entry : hosts) {
    entry.slots = slots;
    entry.says_slots = false;
  }
}

int slots_of(const HostList& hosts) {
  long sum = 0;
  for (const HostEntry& entry : hosts) sum += entry.slots;
  return static_cast<int>(std::min<long>(sum, boot::kMaxRanks + 1));
}

Status place(const HostList& hosts, int ranks, bool oversubscribe, Placement& placement) {
  const int slots = slots_of(hosts);
  if (ranks > slots && !oversubscribe && std::ranges::all_of(hosts, &HostEntry::says_slots)) {
    return error(MPI_ERR_ARG,
                 "%d ranks, and the host list has %d slots; give more hosts or slots, or say --oversubscribe", ranks,
                 slots);
  }
  placement = {};
  while (static_cast<int>(placement.node_of_rank.size()) < ranks) {
    for (std::size_t node = 0; node < hosts.size(); ++node) {
      const std::size_t left = static_cast<std::size_t>(ranks) - placement.node_of_rank.size();
      const std::size_t here = std::min(left, static_cast<std::size_t>(hosts[node].slots));
      if (here == 0) break;
      placement.node_of_rank.insert(placement.node_of_rank.end(), here, static_cast<int>(node));
      placement.nodes = std::max(placement.nodes, static_cast<int>(node) + 1);
    }
  }
  placement.mapping = mapping_of(hosts, placement.nodes);
  if (placement.mapping.size() > kMaxMapping) {
    return error(MPI_ERR_ARG,
                 "the numbers of slots of %d hosts are too irregular to be told to the ranks; -ppn makes "
                 "them equal",
                 placement.nodes);
  }
  return Status::ok();
}

}  // namespace heddle::launcher
