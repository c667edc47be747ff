#include "mpi/info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/slab.hpp"
#include "boot/boot.hpp"
#include "mpi/control.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

SharedSlab<Info>& infos() {
  static auto* slab = new SharedSlab<Info>;
  return *slab;
}

auto find(std::vector<Info::Pair>& pairs, std::string_view key) {
  return std::find_if(pairs.begin(), pairs.end(), [&](const Info::Pair& p) { return p.first == key; });
}

// What the launcher says of the job's size before MPI_Init asks for it; "": nothing.
std::string announced_size() {
  const char* size = std::getenv("PMI_SIZE");
  return size != nullptr ? size : "";
}

// This program's arguments, as the kernel keeps them.
std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

Info& environment() {
  static Info* info = [] {
    auto* made = new Info;
    made->read_only = true;
    made->fortran_index = static_cast<int>(handle_value(MPI_INFO_ENV));
    return made;
  }();
  static bool filled_with_process = false;  // guarded by the object's mutex
  std::lock_guard lock(info->mutex);
  const bool has_process = process() != nullptr;
  if (info->pairs.empty() || (has_process && !filled_with_process)) {
    info->pairs = environment_pairs(0, nullptr);
    filled_with_process = has_process;
  }
  return *info;
}

}  // namespace

Info* predefined_info(std::uintptr_t value) noexcept {
  return value == handle_value(MPI_INFO_ENV) ? &environment() : nullptr;
}

Info* take_info(std::vector<Info::Pair> pairs) noexcept { return infos().take(std::move(pairs)); }

void release(Info& info) noexcept {
  if (info.release()) infos().give_back(&info);
}

std::optional<std::string> Info::get(std::string_view key) {
  std::lock_guard lock(mutex);
  auto it = find(pairs, key);
  return it == pairs.end() ? std::nullopt : std::optional(it->second);
}

void Info::set(std::string_view key, std::string_view value) {
  std::lock_guard lock(mutex);
  auto it = find(pairs, key);
  if (it != pairs.end()) {
    it->second = value;
  } else {
    pairs.emplace_back(key, value);
  }
}

bool Info::erase(std::string_view key) {
  std::lock_guard lock(mutex);
  auto it = find(pairs, key);
  if (it == pairs.end()) return false;
  pairs.erase(it);
  return true;
}

std::vector<Info::Pair> Info::copy() {
  std::lock_guard lock(mutex);
  return pairs;
}

std::vector<Info::Pair> environment_pairs(int argc, char* const argv[]) {
  std::vector<std::string> words =
      argc > 0 && argv != nullptr ? std::vector<std::string>(argv, argv + argc) : own_command_line();
  std::vector<Info::Pair> pairs;
  auto add = [&](const char* key, std::string value) {
    pairs.emplace_back(key, value.substr(0, MPI_MAX_INFO_VAL - 1));
  };
  if (!words.empty()) {
    std::string rest;
    for (std::size_t i = 1; i < words.size(); ++i) rest += (i > 1 ? " " : "") + words[i];
    add("command", words.front());
    add("argv", rest);
  }
  Process* p = process();
  if (const std::string size = p != nullptr ? std::to_string(p->boot().size()) : announced_size(); !size.empty()) {
    add("maxprocs", size);
    add("soft", size);
  }
  utsname machine{};
  if (uname(&machine) == 0) {
    add("host", machine.nodename);
    add("arch", machine.machine);
  }
  char directory[PATH_MAX];
  if (getcwd(directory, sizeof directory) != nullptr) add("wdir", directory);
  add("mpi_initial_errhandler", spelled(controls()[kInitialErrhandler], legal_control(kInitialErrhandler)));
  pairs.push_back(memory_kinds());
  return pairs;
}

}  // namespace heddle::mpi
