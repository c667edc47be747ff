// simulate <folder>: the search depths of a recorded program on a machine of the LogGOPS model.
//
// Prints what bench/patterns/print_depth.h prints of the running library, and the time that the program takes there:
//   end <µs> <messages>
//   depth simulated <queue> <mean> <min> <max> <searches>
// With --each-rank also `rank <rank> simulated <queue> <searches> <inspected>`. With --bits, for tags cut to 0 to 32 bits,
//   bits <bits> <share of searches that meet a false positive: mean of ranks, worst rank> <chance of two messages, see
//   RankResult::alike: mean of ranks, worst rank>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "simulator/simulator.hpp"

namespace heddle::patterns {
namespace {

// Over the ranks for which it means something.
struct Summary {
  double sum = 0, least = 0, most = 0;
  int count = 0;

  void add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / count; }
};

double share(std::uint64_t part, std::uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

void print_queue(const std::vector<RankResult>& ranks, const char* name, QueueCounts RankResult::*queue, bool each) {
  Summary depth;
  std::uint64_t searches = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const QueueCounts& counts = ranks[r].*queue;
    if (each) std::printf("rank %zu simulated %s %lu %lu\n", r, name, counts.searches, counts.inspected);
    searches += counts.searches;
    if (counts.searches != 0) depth.add(share(counts.inspected, counts.searches));
  }
  std::printf("depth simulated %s %.6f %.6f %.6f %lu\n", name, depth.mean(), depth.least, depth.most, searches);
}

void print_bits(const std::vector<RankResult>& ranks) {
  for (int bits = 0; bits <= kMostBits; ++bits) {
    Summary met, possible;
    for (const RankResult& rank : ranks) {
      const std::uint64_t searches = rank.posted.searches + rank.unexpected.searches;
      const std::uint64_t wrong = rank.posted.false_positives(bits) + rank.unexpected.false_positives(bits);
      if (searches != 0) met.add(share(wrong, searches));
      if (rank.messages != 0) possible.add(rank.alike[static_cast<std::size_t>(bits)]);
    }
    std::printf("bits %d %.6f %.6f %.6f %.6f\n", bits, met.mean(), met.most, possible.mean(), possible.most);
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "Replays traces of bench/patterns/trace on a machine of the LogGOPS model and tells the depths of searches.");
  std::string folder;
  Machine machine;
  bool each_rank = false, bits = false;
  app.add_option("folder", folder, "where the traces are")->required()->check(CLI::ExistingDirectory);
  const auto number = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->check(CLI::Range(0.0, 1e9))->capture_default_str();
  };
  number("-L,--latency", machine.latency, "L, ns");
  number("-o,--overhead", machine.overhead, "o, ns");
  number("-g,--gap", machine.gap, "g, ns");
  number("-G,--per-byte", machine.per_byte, "G, ns");
  number("-O,--cpu-per-byte", machine.cpu_per_byte, "O, ns");
  number("-S,--eager", machine.eager, "S, bytes: longer messages wait at the sender");
  number("--compute", machine.compute, "by this the recorded computation is multiplied");
  app.add_flag("--each-rank", each_rank, "also each rank's counts");
  app.add_flag("--bits", bits, "also the false positives of tags cut to so many bits");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    return 2;
  }
  const std::vector<RankResult> ranks = simulate(read_folder(folder), machine);
  double end = 0;
  std::uint64_t messages = 0;
  for (const RankResult& rank : ranks) {
    end = std::max(end, rank.end);
    messages += rank.messages;
  }
  std::printf("end %.3f %lu\n", end / 1000, messages);
  print_queue(ranks, "posted", &RankResult::posted, each_rank);
  print_queue(ranks, "unexpected", &RankResult::unexpected, each_rank);
  if (bits) print_bits(ranks);
  return 0;
}

}  // namespace
}  // namespace heddle::patterns

int main(int argc, char** argv) {
  try {
    return heddle::patterns::run(argc, argv);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    return 1;
  }
}
