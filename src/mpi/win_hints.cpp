#include "mpi/win_hints.hpp"

#include <algorithm>

namespace heddle::mpi {
namespace {

bool is_bool(std::string_view value) { return value == "true" || value == "false"; }
bool is_ops(std::string_view value) { return value == "same_op" || value == "same_op_no_op"; }
bool is_number(std::string_view value) {
  constexpr std::size_t kDigits = 18;  // of any MPI_Count
  return !value.empty() && value.size() <= kDigits && value.find_first_not_of("0123456789") == std::string_view::npos;
}

// "none", or some of rar, raw, war and waw with commas between.
bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view word = value.substr(0, comma);
    if (word != "rar" && word != "raw" && word != "war" && word != "waw") return false;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

struct Hint {
  std::string_view key;
  std::string_view start;  // the default
  bool (*is_legal)(std::string_view value);
  bool of_making = false;  // decided when the window is made
  bool of_shared = false;  // of MPI_Win_allocate_shared alone
};

constexpr Hint kHints[] = {
    {"no_locks", "false", is_bool},
    {"accumulate_ordering", "rar,raw,war,waw", is_ordering, true},
    {"accumulate_ops", "same_op_no_op", is_ops},
    {"mpi_accumulate_granularity", "0", is_number, true},
    {"same_size", "false", is_bool},
    {"same_disp_unit", "false", is_bool},
    {"alloc_shared_noncontig", "false", is_bool, true, true},
};

const Hint* find(std::string_view key) {
  const Hint* found = std::find_if(std::begin(kHints), std::end(kHints), [&](const Hint& h) { return h.key == key; });
  return found == std::end(kHints) ? nullptr : found;
}

bool applies(const Hint& hint, const Win& win) { return !hint.of_shared || win.flavor == MPI_WIN_FLAVOR_SHARED; }

// REQUIRES: the window's mutex is held.
std::string in_force(Win& win, const Hint& hint) {
  std::optional<std::string> set = win.info != nullptr ? win.info->get(hint.key) : std::nullopt;
  return set && hint.is_legal(*set) ? *std::move(set) : std::string(hint.start);
}

}  // namespace

Status change_hints(Win& win, Info& info) {
  const std::vector<Info::Pair> pairs = info.copy();
  std::lock_guard lock(win.mutex);
  for (const auto& [key, value] : pairs) {
    const Hint* hint = find(key);
    if (hint == nullptr || hint->of_making || !hint->is_legal(value)) continue;
    if (win.info == nullptr) win.info = take_info();
    if (win.info == nullptr) return error(MPI_ERR_NO_MEM, "no memory for an info object");
    win.info->set(key, value);
  }
  return Status::ok();
}

std::string hint(Win& win, std::string_view key) {
  std::lock_guard lock(win.mutex);
  return in_force(win, *find(key));
}

std::vector<Info::Pair> hints_in_force(Win& win) {
  std::vector<Info::Pair> pairs;
  std::lock_guard lock(win.mutex);
  for (const Hint& hint : kHints) {
    if (applies(hint, win)) pairs.emplace_back(hint.key, in_force(win, hint));
  }
  pairs.push_back(memory_kinds());
  return pairs;
}

}  // namespace heddle::mpi
