#include "settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "coll_kinds.hpp"
#include "host.hpp"

namespace heddle::overlay {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const char* choices) {
  std::fprintf(stderr, "heddle overlay: %s='%.*s' is none of %s\n", name, static_cast<int>(value.size()), value.data(),
               choices);
  std::exit(1);
}

void read_collectives(std::string_view value, Settings& made) {
  made.collectives_by_profile = value == "auto";
  if (value == "auto" || value == "off") return;
  if (value == "all") {
    made.collectives = (1u << kKinds) - 1;
    return;
  }
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto* found = std::find(std::begin(kKindNames), std::end(kKindNames), name);
    if (found == std::end(kKindNames)) {
      refuse("HEDDLE_OVERLAY_COLLECTIVES", name,
             "auto, all, off, or of barrier, bcast, reduce, allreduce, allgather, reduce_scatter_block, alltoall");
    }
    made.collectives |= 1u << (found - std::begin(kKindNames));
  }
}

Settings read() {
  Settings made;
  if (const char* text = std::getenv("HEDDLE_OVERLAY_PARTITIONED"); text != nullptr && *text != '\0') {
    const std::string_view value = text;
    if (value == "off") {
      made.partitioned = Settings::Partitioned::kOff;
    } else if (value == "persistent") {
      made.partitioned = Settings::Partitioned::kPersistent;
    } else if (value == "rma") {
      made.partitioned = Settings::Partitioned::kRma;
    } else if (value == "auto") {
      made.partitioned = Settings::Partitioned::kByProfile;
    } else {
      refuse("HEDDLE_OVERLAY_PARTITIONED", value, "auto, persistent, rma, off");
    }
  }
  if (const char* text = std::getenv("HEDDLE_OVERLAY_COLLECTIVES"); text != nullptr && *text != '\0') {
    read_collectives(text, made);
  }
  if (const char* text = std::getenv("HEDDLE_OVERLAY_SHARED_MEMORY"); text != nullptr && *text != '\0') {
    const std::string_view value = text;
    if (value != "on" && value != "off") refuse("HEDDLE_OVERLAY_SHARED_MEMORY", value, "on, off");
    made.shared_memory = value == "on";
  }
  if (const char* text = std::getenv("HEDDLE_OVERLAY_PROGRESS"); text != nullptr && *text != '\0') {
    const std::string_view value = text;
    if (value != "calls" && value != "auto" && value != "thread") {
      refuse("HEDDLE_OVERLAY_PROGRESS", value, "auto, thread, calls");
    }
    made.thread = value != "calls";
    made.thread_at_level = value == "thread";
  }
  if (const char* text = std::getenv("HEDDLE_OVERLAY_REPORT"); text != nullptr && *text != '\0') {
    const std::string_view value = text;
    if (value != "on" && value != "off") refuse("HEDDLE_OVERLAY_REPORT", value, "on, off");
    made.report = value == "on";
  }
  return made;
}

Settings& mine() {
  static Settings made = read();
  return made;
}

}  // namespace

const Settings& settings() { return mine(); }

void follow_rank_0() {
  Settings& own = mine();
  std::uint32_t shared[] = {static_cast<std::uint32_t>(own.partitioned), own.collectives, own.collectives_by_profile,
                            own.shared_memory};
  PMPI_Bcast(shared, std::size(shared), MPI_UINT32_T, 0, MPI_COMM_WORLD);
  own.partitioned = static_cast<Settings::Partitioned>(shared[0]);
  own.collectives = shared[1];
  own.collectives_by_profile = shared[2] != 0;
  own.shared_memory = shared[3] != 0;
}

}  // namespace heddle::overlay
