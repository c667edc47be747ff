#include "coll_profile.hpp"

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

bool parse_line(std::string_view rest, PlannedLine* line) {
  if (word_of(rest) != "planned") return false;
  const auto kind = index_in(kKindNames, word_of(rest)), way = index_in(kWayNames, word_of(rest));
  if (!kind || !way) return false;
  line->kind = static_cast<CollKind>(*kind);
  line->way = static_cast<Way>(*way);
  return number_of(rest, &line->ranks) && number_of(rest, &line->from) && number_of(rest, &line->to) &&
         word_of(rest).empty() && line->ranks > 1 && line->from <= line->to;
}

}  // namespace

bool CollProfile::parse(std::string_view text, std::string* why) {
  host.clear();
  lines.clear();
  bool ended = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    PlannedLine planned{};
    bool good = !ended;
    if (number == 1) {
      good = line == kFirst;
    } else if (number == 2) {
      good = line.substr(0, 5) == "host " && line.size() > 5;
      if (good) host = line.substr(5);
    } else if (line == kLast) {
      ended = true;
    } else if (good && (good = parse_line(line, &planned))) {
      lines.push_back(planned);
    }
    if (good) continue;
    *why = "line " + std::to_string(number) + ", '" + std::string(line.substr(0, 60)) + "', is not of a profile";
    return false;
  }
  if (!ended) *why = "its end is missing";
  return ended;
}

SizeTable CollProfile::table(int ranks) const {
  SizeTable made{};
  int nearest = 0;
  for (const PlannedLine& line : lines) {
    if (line.ranks <= ranks) nearest = std::max(nearest, line.ranks);
  }
  for (const PlannedLine& line : lines) {
    if (line.ranks != nearest) continue;
    std::uint32_t& mask = made[static_cast<std::size_t>(line.kind)][static_cast<std::size_t>(line.way)];
    for (int c = size_class(line.from); c <= size_class(line.to); ++c) mask |= 1u << c;
  }
  return made;
}

std::string load_own_profile(const std::string& host) {
  const char* variable = std::getenv("HEDDLE_OVERLAY_PROFILE");
  const std::string named = variable != nullptr ? variable : "", path = cache_file(named, "overlay");
  if (path.empty()) return {};
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "heddle overlay: the profile %s is not used: %s; all collectives are the host's own\n",
                 path.c_str(), why.c_str());
    return std::string();
  };
  std::string text;
  if (!read_file(path.c_str(), &text)) {
    return errno == ENOENT && named.empty() ? std::string() : refuse(std::strerror(errno));
  }
  CollProfile profile;
  std::string why;
  if (!profile.parse(text, &why)) return refuse(why);
  if (profile.host != host) return refuse("it is of '" + profile.host + "', and this is '" + host + "'");
  return text;
}

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
