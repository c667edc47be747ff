#include "profile.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/cache_file.hpp"
#include "host.hpp"

namespace heddle::overlay {
namespace {

constexpr std::string_view kFirst = "heddle overlay profile 1", kLast = "end";

std::string_view word_of(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(begin);
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

template <class Number>
bool number_of(std::string_view& rest, Number* out) {
  const std::string_view word = word_of(rest);
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), *out);
  return failed == std::errc() && end == word.data() + word.size() && !word.empty();
}

template <class Names>
std::optional<std::size_t> index_in(const Names& names, std::string_view word) {
  const auto found = std::find(std::begin(names), std::end(names), word);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(names));
}

bool range_of(std::string_view& rest, std::uint64_t* from, std::uint64_t* to) {
  return number_of(rest, from) && number_of(rest, to) && *from <= *to && word_of(rest).empty();
}

bool parse_line(std::string_view rest, Profile* out) {
  const std::string_view what = word_of(rest);
  if (what == "measured") {
    MeasuredLine line{};
    if (!number_of(rest, &line.ranks) || !number_of(rest, &line.nodes) || !word_of(rest).empty()) return false;
    out->measured.push_back(line);
    return line.ranks > 1 && line.nodes > 0;
  }
  if (what == "partitioned") {
    const auto way = index_in(kPartWayNames, word_of(rest));
    PartLine line{};
    if (!way || !range_of(rest, &line.from, &line.to)) return false;
    line.way = static_cast<PartWay>(*way);
    out->partitioned.push_back(line);
    return true;
  }
  if (what != "planned" && what != "messages") return false;
  const auto kind = index_in(kKindNames, word_of(rest)), way = index_in(kWayNames, word_of(rest));
  PlannedLine line{};
  if (!kind || !way || !number_of(rest, &line.ranks) || !range_of(rest, &line.from, &line.to)) return false;
  line.kind = static_cast<CollKind>(*kind);
  line.way = static_cast<Way>(*way);
  line.messages = what == "messages";
  out->lines.push_back(line);
  return line.ranks > 1;
}

// Of a host's name: what may stand in a file's.
std::string short_name(const std::string& host) {
  std::string made;
  for (const char c : host) {
    if (made.size() == 32 || c == ',') break;
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.') {
      made.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (!made.empty() && made.back() != '-') {
      made.push_back('-');
    }
  }
  while (!made.empty() && made.back() == '-') made.pop_back();
  return made;
}

// The text of it, if it is to be used under this host; a line on stderr when it can't be.
std::string load(const std::string& host) {
  const char* named = std::getenv("HEDDLE_OVERLAY_PROFILE");
  const std::string path = own_profile_path(host);
  if (path.empty()) return {};
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "heddle overlay: the profile %s is not used: %s; the defaults hold\n", path.c_str(),
                 why.c_str());
    return std::string();
  };
  std::string text;
  if (!read_file(path.c_str(), &text)) {
    const bool none = errno == ENOENT && (named == nullptr || *named == '\0');
    return none ? std::string() : refuse(std::strerror(errno));
  }
  Profile profile;
  std::string why;
  if (!profile.parse(text, &why)) return refuse(why);
  if (profile.host != host) return refuse("it is of '" + profile.host + "', and this is '" + host + "'");
  return text;
}

struct Own {
  Profile profile;
  bool is_set = false;
};

Own& own() {
  static auto* const made = new Own;
  return *made;
}

}  // namespace

bool Profile::parse(std::string_view text, std::string* why) {
  *this = Profile();
  bool ended = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    bool good = !ended;
    if (number == 1) {
      good = line == kFirst;
    } else if (number == 2) {
      good = line.substr(0, 5) == "host " && line.size() > 5;
      if (good) host = line.substr(5);
    } else if (line == kLast) {
      ended = true;
    } else if (good) {
      good = parse_line(line, this);
    }
    if (good) continue;
    *why = "line " + std::to_string(number) + ", '" + std::string(line.substr(0, 60)) + "', is not of a profile";
    return false;
  }
  if (!ended) *why = "its end is missing";
  return ended;
}

std::string Profile::print() const {
  std::string text = std::string(kFirst) + "\nhost " + host + "\n";
  const auto add = [&text](std::string_view word) { text.append(word).push_back(' '); };
  const auto add_range = [&](std::uint64_t from, std::uint64_t to) {
    text.append(std::to_string(from)).append(" ").append(std::to_string(to)).push_back('\n');
  };
  for (const MeasuredLine& line : measured) {
    add("measured");
    add_range(static_cast<std::uint64_t>(line.ranks), static_cast<std::uint64_t>(line.nodes));
  }
  for (const PlannedLine& line : lines) {
    add(line.messages ? "messages" : "planned");
    add(kKindNames[static_cast<std::size_t>(line.kind)]);
    add(kWayNames[static_cast<std::size_t>(line.way)]);
    add(std::to_string(line.ranks));
    add_range(line.from, line.to);
  }
  for (const PartLine& line : partitioned) {
    add("partitioned");
    add(kPartWayNames[static_cast<std::size_t>(line.way)]);
    add_range(line.from, line.to);
  }
  return text + std::string(kLast) + "\n";
}

SizeTable Profile::table(int ranks, bool on_one_node) const {
  SizeTable made{};
  int nearest = 0;
  const auto reach = [&](int n) {
    if (n <= ranks) nearest = std::max(nearest, n);
  };
  for (const MeasuredLine& line : measured) {
    if ((line.nodes == 1) == on_one_node) reach(line.ranks);
  }
  for (const PlannedLine& line : lines) {
    if (measured.empty()) reach(line.ranks);
  }
  for (const PlannedLine& line : lines) {
    if (line.ranks != nearest) continue;
    Choice& choice = made[static_cast<std::size_t>(line.kind)][static_cast<std::size_t>(line.way)];
    for (int c = size_class(line.from); c <= size_class(line.to); ++c) {
      choice.planned |= 1u << c;
      if (line.messages) choice.messages |= 1u << c;
    }
  }
  return made;
}

PartWay Profile::part_way(std::uint64_t bytes) const noexcept {
  const int c = size_class(bytes);
  for (const PartLine& line : partitioned) {
    if (bytes != 0 && size_class(line.from) <= c && c <= size_class(line.to)) return line.way;
  }
  return PartWay::kPersistent;
}

std::string own_profile_path(const std::string& host) {
  const char* named = std::getenv("HEDDLE_OVERLAY_PROFILE");
  return cache_file(named != nullptr ? named : "", ("overlay-" + short_name(host)).c_str());
}

void learn_own_profile() {
  if (own().is_set) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text = rank == 0 ? load(host_name()) : std::string(), why;
  int length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (length != 0) own().profile.parse(text, &why);
}

void set_own_profile(Profile profile) { own() = {std::move(profile), true}; }

const Profile& own_profile() noexcept { return own().profile; }

std::string host_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name = name.substr(0, name.find('\n'));
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  while (!name.empty() && (name.back() == ' ' || name.back() == '\0')) name.pop_back();
  return name;
}

}  // namespace heddle::overlay
