#include "node_spec.hpp"

#include <algorithm>

#include "boot/boot.hpp"
#include "mpi.h"

namespace heddle::launcher {
namespace {

void write(FrameWriter& frame, const Variables& variables) {
  frame.number(static_cast<std::int64_t>(variables.size()));
  for (const auto& [name, value] : variables) frame.text(name).text(value);
}

void write(FrameWriter& frame, const Program& program) {
  frame.text(program.directory).text(program.path).number(static_cast<std::int64_t>(program.argv.size()));
  for (const std::string& argument : program.argv) frame.text(argument);
  write(frame, program.variables);
}

// A count that lies ends with the fields.
Variables read_variables(FrameReader& in) {
  Variables variables;
  for (int left = in.number(); left > 0 && !in.missing(); --left) {
    std::string name(in.text());
    variables.emplace_back(std::move(name), in.text());
  }
  return variables;
}

Program read_program(FrameReader& in) {
  Program program;
  program.directory = in.text();
  program.path = in.text();
  for (int left = in.number(); left > 0 && !in.missing(); --left) program.argv.emplace_back(in.text());
  program.variables = read_variables(in);
  return program;
}

bool is_runnable(const NodeSpec& spec) {
  const auto has_words = [](const Program& p) { return !p.argv.empty(); };
  const auto fits = [&spec](const NodeSpec::Rank& r) {
    return r.number >= 0 && r.number < spec.size && r.program >= 0 &&
           r.program < static_cast<int>(spec.programs.size());
  };
  return spec.size >= 1 && spec.size <= boot::kMaxRanks && !spec.ranks.empty() &&
         std::ranges::all_of(spec.programs, has_words) && std::ranges::all_of(spec.ranks, fits) &&
         std::ranges::is_sorted(spec.ranks, {}, &NodeSpec::Rank::number) && spec.detection_seconds >= 1;
}

}  // namespace

Status encode(const NodeSpec& spec, const std::vector<NodeSpec::Rank>& ranks, FrameWriter& frame) {
  frame.text(HEDDLE_VERSION).text(spec.job).text(spec.secret).text(spec.mapping).number(spec.size);
  frame.number(static_cast<std::int64_t>(ranks.size()));
  for (const NodeSpec::Rank& r : ranks) frame.number(r.number).number(r.program);
  frame.number(static_cast<std::int64_t>(spec.programs.size()));
  for (const Program& program : spec.programs) write(frame, program);
  write(frame, spec.variables);
  frame.number(static_cast<int>(spec.binding.bind_to)).number(static_cast<int>(spec.binding.map_by));
  frame.number(spec.binding.oversubscribe).text(spec.directory);
  frame.number(spec.out_is_terminal).number(spec.err_is_terminal).number(spec.detection_seconds);
  if (frame.fields() <= kMaxFields) return Status::ok();
  return error(MPI_ERR_ARG, "arguments and variables of %zu bytes are more than can be sent to another host (%zu)",
               frame.fields(), kMaxFields);
}

Status decode(const Frame& frame, NodeSpec& spec) {
  FrameReader in(frame);
  const std::string version(in.text());
  if (version != HEDDLE_VERSION) {
    return error(MPI_ERR_OTHER, "mpiexec is Heddle %.40s, and here is Heddle " HEDDLE_VERSION, version.c_str());
  }
  spec.job = in.text();
  spec.secret = in.text();
  spec.mapping = in.text();
  spec.size = in.number();
  for (int left = in.number(); left > 0 && !in.missing(); --left) {
    const int number = in.number();
    spec.ranks.push_back({number, in.number()});
  }
  for (int left = in.number(); left > 0 && !in.missing(); --left) spec.programs.push_back(read_program(in));
  spec.variables = read_variables(in);
  spec.binding.bind_to = static_cast<Unit>(in.number());
  spec.binding.map_by = static_cast<Unit>(in.number());
  spec.binding.oversubscribe = in.flag();
  spec.directory = in.text();
  spec.out_is_terminal = in.flag();
  spec.err_is_terminal = in.flag();
  spec.detection_seconds = in.number();
  if (in.ok() && is_runnable(spec)) return Status::ok();
  return error(MPI_ERR_OTHER, "mpiexec has sent a job that makes no sense");
}

std::string ranks_text(const std::vector<NodeSpec::Rank>& ranks) {
  constexpr std::size_t kShown = 8;
  if (ranks.empty()) return "no ranks";
  const int first = ranks.front().number, last = ranks.back().number;
  if (ranks.size() == 1) return "rank " + std::to_string(first);
  if (last - first + 1 == static_cast<int>(ranks.size())) {
    return "ranks " + std::to_string(first) + "-" + std::to_string(last);
  }
  std::string text = "ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(ranks[i].number);
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

}  // namespace heddle::launcher
