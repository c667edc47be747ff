#include "plan/network.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "mpi.h"

namespace heddle::plan {
namespace {

struct Key {
  const char* name;
  double* number;
  std::uint32_t* count;
};

template <class Visit>
void each_key(Network& n, Visit visit) {
  const Key keys[] = {{"within.latency", &n.within.latency, nullptr},
                      {"within.overhead", &n.within.overhead, nullptr},
                      {"within.gap", &n.within.gap, nullptr},
                      {"within.byte", &n.within.byte, nullptr},
                      {"between.latency", &n.between.latency, nullptr},
                      {"between.overhead", &n.between.overhead, nullptr},
                      {"between.gap", &n.between.gap, nullptr},
                      {"between.byte", &n.between.byte, nullptr},
                      {"crowding", &n.crowding, nullptr},
                      {"crowd", nullptr, &n.crowd},
                      {"copy", &n.copy, nullptr},
                      {"reduce", &n.reduce, nullptr},
                      {"ppn", nullptr, &n.ppn},
                      {"ports", nullptr, &n.ports}};
  for (const Key& key : keys) visit(key);
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

// A second per byte is slower than any machine; 65,536 ports are more than any has.
bool set(const Key& key, std::string_view value) {
  if (key.number != nullptr) return read(value, *key.number) && *key.number >= 0 && *key.number <= 1;
  return read(value, *key.count) && *key.count >= 1 && *key.count <= 65'536;
}

std::string_view word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r=";
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view first = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(first.size());
  return first;
}

}  // namespace

Network usual_network() {
  return {.within = {3e-7, 1e-7, 0, 1e-10},
          .between = {4e-6, 4e-7, 5e-8, 8.3e-11},
          .crowding = 0.2,
          .copy = 5e-11,
          .reduce = 8e-11};
}

Status parse_network(std::string_view text, const char* name, Network* out) {
  Network network = *out;
  for (int number = 1; !text.empty();) {
    std::size_t end = std::min(text.find_first_of("\n,#"), text.size());
    std::string_view line = text.substr(0, end);
    if (end < text.size() && text[end] == '#') end = std::min(text.find('\n'), text.size());
    const int here = number;
    if (end < text.size() && text[end] == '\n') ++number;
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view key = word(line), value = word(line);
    if (key.empty()) continue;
    bool known = false, good = false;
    each_key(network, [&](const Key& k) {
      if (key != k.name) return;
      known = true;
      good = set(k, value) && word(line).empty();
    });
    if (good) continue;
    return error(MPI_ERR_ARG,
                 "%s, line %d: %s '%.*s'; a network's lines are 'between.latency 4e-6', 'ports 2' and so on", name,
                 here, known ? "no number that can be for" : "unknown key", static_cast<int>(key.size()), key.data());
  }
  *out = network;
  return Status::ok();
}

std::string print(const Network& network) {
  std::string text;
  Network copy = network;
  each_key(copy, [&](const Key& k) {
    char value[32];  // the shortest text that reads back as the same number
    const auto end =
        std::to_chars(value, std::end(value), k.number != nullptr ? *k.number : static_cast<double>(*k.count)).ptr;
    text.append(k.name).append(" ").append(value, end).append("\n");
  });
  return text;
}

}  // namespace heddle::plan
