// What a message of PMI-1 and one of PMI-2 have in common once they are taken apart: a command, and words `name=value`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::boot {

class PmiWords {
 public:
  // The value of the first word, `cmd=` (or `mcmd=`, in PMI-1).
  std::string_view command() const noexcept { return command_; }
  // Null when there is no such word.
  const std::string* find(std::string_view name) const noexcept {
    for (const auto& [key, value] : words_) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  // rc is missing in older launchers' answers; then all is well.
  bool refused() const noexcept {
    const std::string* rc = find("rc");
    return rc != nullptr && *rc != "0";
  }

 protected:
  std::string command_;
  std::vector<std::pair<std::string, std::string>> words_;
};

}  // namespace heddle::boot
