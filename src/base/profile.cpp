#include "base/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/cache_file.hpp"
#include "mpi.h"

namespace heddle {
namespace {

struct Number {
  std::string_view key;
  std::uint64_t low, high;
};
constexpr Number kSingleCopyFrom{"single_copy_from", 0, UINT64_MAX};
constexpr Number kPullBytes{"pull_bytes", 4096, 1 << 30};
constexpr Number kPullAfter{"pull_after", 0, Profile::kMaxPullAfter};
constexpr Number kAggregateBytes{"aggregate_bytes", 0, 1 << 30};

constexpr std::string_view kMachine = "machine", kNetwork = "network";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool parse_number(std::string_view text, const Number& number, std::uint64_t* value) {
  std::uint64_t parsed = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (failed != std::errc() || end != text.data() + text.size() || parsed < number.low || parsed > number.high) {
    return false;
  }
  *value = parsed;
  return true;
}

// What plan/network.hpp takes, whose layer is above this one: a number of ports, ranks or messages; else seconds, or a part.
bool may_be_of_network(std::string_view key, std::string_view text) {
  std::uint64_t count;
  if (key == "ports" || key == "ppn" || key == "crowd") return parse_number(text, {key, 1, 65'536}, &count);
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() && number >= 0 && number <= 1;
}

// `name number`, as `name=number` behind what is there.
bool add_pair(std::string_view text, std::string* pairs) {
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == text.npos || text.find_first_of("=,") != text.npos) return false;
  const std::string_view name = text.substr(0, blank), number = trimmed(text.substr(blank));
  if (!may_be_of_network(name, number)) return false;
  if (!pairs->empty()) pairs->push_back(',');
  pairs->append(name).append("=").append(number);
  return true;
}

}  // namespace

Status parse_profile(std::string_view text, const char* name, Profile* out) {
  Profile profile = *out;
  profile.network.clear();
  profile.machine.clear();
  for (int line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t blank = line.find_first_of(" \t");
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = blank == line.npos ? std::string_view() : trimmed(line.substr(blank));
    std::uint64_t number = 0;
    bool good = !value.empty();
    if (key == kMachine) profile.machine = value;
    if (key == kNetwork && good) good = add_pair(value, &profile.network);
    if (key == kSingleCopyFrom.key) {
      good = parse_number(value, kSingleCopyFrom, &number);
      profile.single_copy_from = number;
    } else if (key == kPullBytes.key) {
      good = parse_number(value, kPullBytes, &number);
      profile.pull_bytes = static_cast<std::uint32_t>(number);
    } else if (key == kPullAfter.key) {
      good = parse_number(value, kPullAfter, &number);
      profile.pull_after = static_cast<std::uint32_t>(number);
    } else if (key == kAggregateBytes.key) {
      good = parse_number(value, kAggregateBytes, &number);
      profile.aggregate_bytes = static_cast<std::uint32_t>(number);
    }
    if (!good) {
      return error(MPI_ERR_OTHER,
                   "the machine profile %s is broken: line %d, '%.60s'; correct it, or run 'heddle tune' again", name,
                   line_number, std::string(line).c_str());
    }
  }
  *out = profile;
  return Status::ok();
}

std::string machine_name() {
  std::string text;
  constexpr std::string_view kModel = "model name";
  read_file("/proc/cpuinfo", &text, 1);  // of the first core
  const std::size_t at = text.find(kModel), colon = text.find(':', at);
  const std::string_view model =
      at == text.npos || colon == text.npos ? "unknown processor" : std::string_view(text).substr(colon + 1);
  std::string name(trimmed(model.substr(0, model.find('\n'))));
  std::replace(name.begin(), name.end(), '#', ' ');
  return name + ", " + std::to_string(sysconf(_SC_NPROCESSORS_CONF)) + " cores";
}

std::string print_profile(const Profile& profile) {
  char text[512];
  std::snprintf(text, sizeof text,
                "# How long messages travel on this machine (heddle tune; docs/decisions/large-messages.md)\n"
                "single_copy_from %llu  # bytes: a shorter message is read only where cells cost more\n"
                "pull_bytes %u  # a side that copies by itself takes so many at once\n"
                "pull_after %u  # rounds of progress in vain before it does\n"
                "aggregate_bytes %u  # of a group of small partitions\n",
                static_cast<unsigned long long>(profile.single_copy_from), profile.pull_bytes, profile.pull_after,
                profile.aggregate_bytes);
  std::string all = text;
  if (!profile.machine.empty()) all.append(kMachine).append(" ").append(profile.machine).append("\n");
  each_pair(profile.network, [&all](std::string_view pair) {
    const std::size_t equals = pair.find('=');
    all.append(kNetwork)
        .append(" ")
        .append(pair.substr(0, equals))
        .append(" ")
        .append(pair.substr(equals + 1))
        .append("\n");
  });
  return all;
}

std::string profile_path() {
  const char* named = std::getenv("HEDDLE_PROFILE");
  return profile_path(named != nullptr ? named : "");
}

std::string profile_path(const std::string& named) { return cache_file(named, "profile"); }

Status load_profile(const std::string& named, Profile* out, std::string* warning) {
  warning->clear();
  const bool asked_for = !named.empty();
  const std::string path = profile_path(named);
  std::string text;
  if (path.empty()) return Status::ok();
  if (!read_file(path.c_str(), &text)) {
    if (errno == ENOENT && !asked_for) return Status::ok();
    const Status unread =
        error(MPI_ERR_OTHER, "the machine profile %s cannot be read: %s; %s", path.c_str(), std::strerror(errno),
              asked_for ? "correct or unset HEDDLE_PROFILE" : "run 'heddle tune' again, or remove it");
    if (asked_for) return unread;
    *warning = last_error_detail();
    return Status::ok();
  }
  Profile read = *out;
  if (!parse_profile(text, path.c_str(), &read)) {
    *warning = std::string(last_error_detail()) + "; it is not used";
  } else if (read.machine.empty()) {
    *warning = "the machine profile " + path +
               " does not say of which machine it is (a line 'machine ...'); it is not used: run 'heddle tune' here";
  } else if (const std::string here = machine_name(); read.machine != here) {
    *warning = "the machine profile " + path + " is of another machine (" + read.machine + ", this is " + here +
               "); it is not used: run 'heddle tune' here";
  } else {
    *out = read;
  }
  return Status::ok();
}

Status store_profile(const Profile& profile, const std::string& path) {
  if (store_file(path, print_profile(profile))) return Status::ok();
  return error(MPI_ERR_OTHER, "the machine profile %s cannot be written: %s; name another file with --output",
               path.c_str(), std::strerror(errno));
}

}  // namespace heddle
