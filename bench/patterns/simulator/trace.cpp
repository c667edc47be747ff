#include "simulator/trace.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>

#include "match/key.hpp"

namespace heddle::patterns {
namespace {

// The words of one line, each taken as what it has to be.
class Line {
 public:
  Line(std::string_view text, const std::string& name, std::size_t number)
      : rest_(text), name_(name), number_(number) {}

  [[noreturn]] void wrong(const std::string& what) const {
    throw BadTrace(name_ + ":" + std::to_string(number_) + ": " + what);
  }

  std::string_view word(const char* what) {
    const std::size_t start = std::min(rest_.find_first_not_of(' '), rest_.size());
    const std::size_t end = std::min(rest_.find(' ', start), rest_.size());
    const std::string_view taken = rest_.substr(start, end - start);
    rest_.remove_prefix(end);
    if (taken.empty()) wrong(std::string("ends where ") + what + " should be");
    return taken;
  }
  std::string_view rest() const {
    return rest_.substr(std::min<std::size_t>(rest_.find_first_not_of(' '), rest_.size()));
  }
  bool more() const { return rest_.find_first_not_of(' ') != std::string_view::npos; }

  template <class Number>
  Number number(const char* what) {
    return as_number<Number>(word(what), what);
  }
  std::int32_t number_or_any(const char* what, std::int32_t any) {
    const std::string_view text = word(what);
    return text == "*" ? any : as_number<std::int32_t>(text, what);
  }
  void end() {
    if (more()) wrong("has more words than it should");
  }

 private:
  template <class Number>
  Number as_number(std::string_view text, const char* what) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
      wrong(std::string(what) + " cannot be '" + std::string(text) + "'");
    }
    return value;
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t number_;
};

std::uint32_t take_gap(Line& line) {
  const auto gap = line.number<std::int64_t>("the computation before it");
  return static_cast<std::uint32_t>(std::min<std::int64_t>(gap, std::numeric_limits<std::uint32_t>::max()));
}

void take_group(Line& line, RankTrace& trace, int ranks) {
  const auto number = line.number<std::int32_t>("the number of a communicator");
  std::vector<std::int32_t>& members = trace.groups[number];
  members.clear();
  while (line.more()) {
    members.push_back(line.number<std::int32_t>("a rank"));
    if (members.back() >= ranks) line.wrong("has a rank that is none");
  }
  if (members.empty()) line.wrong("is a communicator without ranks");
}

void take_group_of(Line& line, const RankTrace& trace, Op& op) {
  op.group = line.number<std::int32_t>("a communicator");
  if (!trace.groups.contains(op.group)) line.wrong("names a communicator that no line has told of");
}

void take_receive_key(Line& line, const RankTrace& trace, Op& op, int ranks) {
  op.peer = line.number_or_any("a source", match::kAnySource);
  op.tag = line.number_or_any("a tag", match::kAnyTag);
  if (op.peer >= ranks) line.wrong("names a rank that is none");
  take_group_of(line, trace, op);
}

void take_message(Line& line, RankTrace& trace, OpKind kind, int ranks) {
  Op op{.kind = kind, .gap = take_gap(line)};
  op.request = line.number<std::int32_t>("the number of a request");
  if (kind == OpKind::kReceive) {
    take_receive_key(line, trace, op, ranks);
  } else {
    op.peer = line.number<std::int32_t>("a destination");
    op.tag = line.number<std::int32_t>("a tag");
    if (op.peer >= ranks) line.wrong("names a rank that is none");
    take_group_of(line, trace, op);
  }
  op.bytes = line.number<std::int64_t>("a number of bytes");
  if (op.request != trace.requests) line.wrong("does not have the next request's number");
  ++trace.requests;
  trace.ops.push_back(op);
}

void take_wait(Line& line, RankTrace& trace) {
  Op op{.kind = OpKind::kWait, .gap = take_gap(line), .request = static_cast<std::int32_t>(trace.waited.size())};
  while (line.more()) {
    trace.waited.push_back(line.number<std::int32_t>("the number of a request"));
    if (trace.waited.back() >= trace.requests) line.wrong("waits for a request that was not started");
    ++op.peer;
  }
  trace.ops.push_back(op);
}

void take_probe(Line& line, RankTrace& trace, int ranks) {
  Op op{.kind = OpKind::kProbe, .gap = take_gap(line)};
  take_receive_key(line, trace, op, ranks);
  trace.ops.push_back(op);
}

void take_cancel(Line& line, RankTrace& trace) {
  Op op{
      .kind = OpKind::kCancel, .gap = take_gap(line), .request = line.number<std::int32_t>("the number of a request")};
  if (op.request >= trace.requests) line.wrong("cancels a request that was not started");
  trace.ops.push_back(op);
}

void take_collective(Line& line, RankTrace& trace) {
  Op op{.kind = OpKind::kCollective, .gap = take_gap(line)};
  line.word("the kind of collective");
  take_group_of(line, trace, op);
  trace.ops.push_back(op);
}

void take_line(Line& line, RankTrace& trace, int ranks) {
  const std::string_view what = line.word("an operation");
  if (what == "G") {
    take_group(line, trace, ranks);
  } else if (what == "R") {
    take_message(line, trace, OpKind::kReceive, ranks);
  } else if (what == "S") {
    take_message(line, trace, OpKind::kSend, ranks);
  } else if (what == "Y") {
    take_message(line, trace, OpKind::kSynchronousSend, ranks);
  } else if (what == "W") {
    take_wait(line, trace);
  } else if (what == "P") {
    take_probe(line, trace, ranks);
  } else if (what == "K") {
    take_cancel(line, trace);
  } else if (what == "C") {
    take_collective(line, trace);
  } else if (what == "X") {
    line.wrong("the program used " + std::string(line.rest()) + ", which is not recorded");
  } else {
    line.wrong("has an operation '" + std::string(what) + "' that is none");
  }
  line.end();
}

}  // namespace

RankTrace read_rank(std::istream& in, const std::string& name, int rank, int& ranks) {
  RankTrace trace;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    Line line(text, name, number);
    if (number > 1) {
      take_line(line, trace, ranks);
      continue;
    }
    if (line.word("heddle-trace") != "heddle-trace" || line.word("a version") != "1")
      line.wrong("is no trace of version 1");
    if (line.number<int>("a rank") != rank) line.wrong("is another rank's trace");
    const int said = line.number<int>("the number of ranks");
    if (ranks != 0 && said != ranks) line.wrong("is of another run: it has another number of ranks");
    ranks = said;
    line.end();
  }
  if (ranks == 0) throw BadTrace(name + ": is empty");
  return trace;
}

std::vector<RankTrace> read_folder(const std::filesystem::path& folder) {
  std::vector<RankTrace> traces;
  int ranks = 0;
  do {
    const std::filesystem::path path = folder / (std::to_string(traces.size()) + ".trace");
    std::ifstream in(path);
    if (!in) throw BadTrace("cannot read " + path.string());
    traces.push_back(read_rank(in, path.string(), static_cast<int>(traces.size()), ranks));
  } while (static_cast<int>(traces.size()) < ranks);
  return traces;
}

}  // namespace heddle::patterns
