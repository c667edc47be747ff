#include "plan/text.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include "mpi.h"
#include "plan/algorithms.hpp"
#include "plan/compile.hpp"

namespace heddle::plan {
namespace {

constexpr std::string_view kOpcodes[] = {"send", "recv", "copy", "reduce", "join"};

template <std::size_t N>
int index_of(const std::string_view (&names)[N], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? -1 : static_cast<int>(found - std::begin(names));
}

std::string slice(const Plan& plan, std::uint8_t buffer, std::uint32_t first, std::uint32_t length) {
  std::string text = buffer == kInput    ? "input"
                     : buffer == kOutput ? "output"
                                         : "scratch" + std::to_string(buffer - kScratch);
  const std::string sign = plan.symmetric ? "+" : "";
  text += "[" + sign + std::to_string(first);
  const auto last = (std::uint64_t{first} + length + plan.blocks - 1) % plan.blocks;
  if (length == 0) text += " none";
  if (length > 1) text += ".." + sign + std::to_string(last);
  return text + "]";
}

// Words of a line, one after the other; the first that does not fit makes everything after it fail.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t length = std::min(rest_.find_first_of(" [],"), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    good_ &= !word.empty();
    return word;
  }
  bool accept(std::string_view mark) {
    skip_blanks();
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }
  void expect(std::string_view mark) { good_ &= accept(mark); }
  template <class Number>
  Number number() {
    skip_blanks();
    Number value{};
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    good_ &= failed == std::errc();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  void fail() { good_ = false; }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  std::string_view rest_;
  bool good_ = true;
};

bool read(Line& line, Choice& choice) {
  choice = Choice();
  const std::string_view word = line.word();
  for (const Algorithm& a : algorithms()) {
    if (a.name == word) choice.algorithm = a.name;
  }
  while (line.good() && !line.at_end()) choice.numbers.push_back(line.number<int>());
  return line.good() && !choice.algorithm.empty();
}

class Parser {
 public:
  Parser(std::string_view text, Plan& plan) : rest_(text), plan_(plan) {}

  Status run() {
    plan_ = Plan();
    while (!rest_.empty()) {
      const std::size_t length = std::min(rest_.find('\n'), rest_.size());
      std::string_view text = rest_.substr(0, length);
      rest_.remove_prefix(std::min(length + 1, rest_.size()));
      ++number_;
      const std::string_view whole = text;
      text = text.substr(0, std::min(text.find('#'), text.size()));
      Line line(text);
      if (line.at_end()) continue;
      if (!parse(line) || !line.good() || !line.at_end()) {
        return error(MPI_ERR_ARG, "plan, line %d: cannot be read: %.*s", number_,
                     static_cast<int>(std::min(whole.size(), std::size_t{80})), whole.data());
      }
    }
    if (plan_.blocks == 0) return error(MPI_ERR_ARG, "plan: it does not say how many blocks there are");
    place_scratch(plan_);
    return Status::ok();
  }

 private:
  bool parse(Line& line) {
    const std::string_view key = line.word();
    if (key == "plan") return name(kCollectives, line.word(), plan_.spec.collective);
    if (key == "algorithm") return read(line, plan_.choice);
    if (key == "ranks") return plan_.spec.ranks = line.number<std::uint32_t>(), true;
    if (key == "root") return plan_.spec.root = line.number<std::uint32_t>(), true;
    if (key == "order") return flag(line.word(), "any", "ranks", plan_.spec.ordered);
    if (key == "rank") return rank(line);
    if (key == "blocks") {
      plan_.blocks = line.number<std::uint32_t>();
      return name(kPartitions, line.word(), plan_.partition);
    }
    Instruction i{};
    return plan_.blocks != 0 && name(kOpcodes, key, i.op) && (operands(line, i), plan_.code.push_back(i), true);
  }

  template <std::size_t N, class Enum>
  static bool name(const std::string_view (&names)[N], std::string_view word, Enum& value) {
    const int index = index_of(names, word);
    value = static_cast<Enum>(index);
    return index >= 0;
  }
  static bool flag(std::string_view word, std::string_view no, std::string_view yes, bool& value) {
    value = word == yes;
    return value || word == no;
  }
  bool rank(Line& line) {
    plan_.symmetric = line.accept("any");
    if (!plan_.symmetric) plan_.rank = line.number<std::uint32_t>();
    return true;
  }

  void operands(Line& line, Instruction& i) {
    if (i.op == Opcode::kJoin) return;
    if (uses_left(i.op)) slice(line, i.left_buffer, i.left, i.length);
    if (uses_right(i.op)) line.expect(","), same_length(line, i.right_buffer, i.right, i.length);
    if (i.op == Opcode::kRecv) {
      slice(line, i.to_buffer, i.to, i.length);
    } else if (uses_to(i.op)) {
      line.expect("->");
      same_length(line, i.to_buffer, i.to, i.length);
    }
    if (!is_transfer(i.op)) return;
    line.expect(i.op == Opcode::kSend ? "to" : "from");
    i.peer = block(line);
  }
  std::uint32_t block(Line& line) {
    if (plan_.symmetric) line.expect("+");
    return line.number<std::uint32_t>();
  }
  void slice(Line& line, std::uint8_t& buffer, std::uint32_t& first, std::uint32_t& length) {
    std::string_view word = line.word();
    if (word == "input" || word == "output") {
      buffer = word == "input" ? kInput : kOutput;
    } else {
      Line scratch(word);
      scratch.expect("scratch");
      const auto which = scratch.number<std::uint32_t>();
      if (!scratch.good() || !scratch.at_end() || which >= kMaxScratch) return line.fail();
      buffer = static_cast<std::uint8_t>(kScratch + which);
    }
    line.expect("[");
    first = block(line);
    length = 1;
    if (line.accept("none")) {
      length = 0;
    } else if (line.accept("..")) {
      const std::uint32_t last = block(line);
      if (first >= plan_.blocks || last >= plan_.blocks) return line.fail();
      length = static_cast<std::uint32_t>((std::uint64_t{last} + plan_.blocks - first) % plan_.blocks + 1);
    }
    line.expect("]");
  }
  void same_length(Line& line, std::uint8_t& buffer, std::uint32_t& first, std::uint32_t wanted) {
    std::uint32_t length = 0;
    slice(line, buffer, first, length);
    if (length != wanted) line.fail();
  }

  std::string_view rest_;
  Plan& plan_;
  int number_ = 0;
};

}  // namespace

std::string print(const Choice& choice) {
  std::string text(choice.algorithm);
  for (int n : choice.numbers) text += " " + std::to_string(n);
  return text;
}

std::string print(const Plan& plan) {
  std::string text = "plan " + std::string(kCollectives[static_cast<std::size_t>(plan.spec.collective)]);
  text += "\nalgorithm " + print(plan.choice);
  text += "\nranks " + std::to_string(plan.spec.ranks) + "\nroot " + std::to_string(plan.spec.root);
  text += plan.spec.ordered ? "\norder ranks" : "\norder any";
  text += "\nrank " + (plan.symmetric ? "any" : std::to_string(plan.rank));
  text += "\nblocks " + std::to_string(plan.blocks) + " " +
          std::string(kPartitions[static_cast<std::size_t>(plan.partition)]) + "\n";
  const std::string sign = plan.symmetric ? " +" : " ";
  for (const Instruction& i : plan.code) {
    text += "  " + std::string(kOpcodes[static_cast<std::size_t>(i.op)]);
    if (uses_left(i.op)) text += " " + slice(plan, i.left_buffer, i.left, i.length);
    if (uses_right(i.op)) text += ", " + slice(plan, i.right_buffer, i.right, i.length);
    if (uses_to(i.op)) text += (uses_left(i.op) ? " -> " : " ") + slice(plan, i.to_buffer, i.to, i.length);
    if (is_transfer(i.op)) text += (i.op == Opcode::kSend ? " to" : " from") + sign + std::to_string(i.peer);
    text += "\n";
  }
  return text;
}

Status parse(std::string_view text, Plan& plan) { return Parser(text, plan).run(); }

Status parse(std::string_view text, Choice& choice) {
  Line line(text);
  if (!read(line, choice)) {
    return error(MPI_ERR_ARG, "'%.*s' is no algorithm with its numbers, as in 'phases -7 1 7'",
                 static_cast<int>(text.size()), text.data());
  }
  return Status::ok();
}

}  // namespace heddle::plan
