#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace heddle::overlay {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const char* choices) {
  std::fprintf(stderr, "heddle overlay: %s='%.*s' is none of %s\n", name, static_cast<int>(value.size()), value.data(),
               choices);
  std::exit(1);
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
    } else {
      refuse("HEDDLE_OVERLAY_PARTITIONED", value, "persistent, rma, off");
    }
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

}  // namespace

const Settings& settings() {
  static const Settings made = read();
  return made;
}

}  // namespace heddle::overlay
