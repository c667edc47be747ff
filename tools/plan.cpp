#include "plan.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/profile.hpp"
#include "base/spelling.hpp"
#include "draw.hpp"
#include "mpi.h"
#include "plan/algorithms.hpp"
#include "plan/best.hpp"
#include "plan/choose.hpp"
#include "plan/compile.hpp"
#include "plan/meaning.hpp"
#include "plan/network.hpp"
#include "plan/text.hpp"
#include "plan/verify.hpp"

namespace {

using namespace heddle;
using namespace heddle::plan;

constexpr char kPlanUsage[] =
    "heddle plan COLLECTIVE: what each rank does in a collective, step by step\n"
    "\n"
    "  -n RANKS             how many ranks there are\n"
    "  --rank RANK          only the plan of this rank (by default of all, or the one that serves all)\n"
    "  --algorithm 'NAME NUMBERS...'   for example 'phases -7 1 7', 'circulant 3', 'tree 4'\n"
    "  --root RANK          of bcast, reduce, gather, scatter\n"
    "  --grid 4x4, --torus 4x4   of neighbor_allgather and neighbor_alltoall: who is whose neighbour; in a torus each\n"
    "                       dimension leads back to its begin\n"
    "  --ordered            the operation does not commute\n"
    "  --bytes BYTES        as 100, 64K or 2M, of the vector (of each block where ranks have blocks of their own): "
    "without\n"
    "                       --algorithm, the one that is fastest by simulation\n"
    "  --simulate           how long each algorithm takes for --bytes, or the one that --algorithm names; prints "
    "nothing else\n"
    "  --scale              the same of each algorithm with its usual numbers, and of the one that --algorithm names, "
    "for 2, 4, 8\n"
    "                       and so on to RANKS ranks\n"
    "  --ppn RANKS          consecutive ranks on a node; 1. Without --algorithm, the one for nodes, where the table "
    "has one\n"
    "  --network FILE       of simulations: lines 'between.latency 4e-6' and so on (--simulate prints all at its end), "
    "or a "
    "profile\n"
    "                       of 'heddle tune'; 'profile': the one that it has stored on this host\n"
    "  --compile            how long it takes to compile a rank's plan, of --rank or 0: processor time, the median of "
    "several\n"
    "  --draw               a picture of it, SVG: ranks side by side, steps from above\n"
    "  --verify             proves the plans of all ranks together, and prints nothing else\n"
    "  --help               this text, and the algorithms of each collective\n";

constexpr std::string_view kPlanOptions[] = {
    "-n",    "--rank",     "--algorithm", "--root", "--ordered", "--verify",  "--help", "--bytes",
    "--ppn", "--simulate", "--network",   "--draw", "--scale",   "--compile", "--grid", "--torus"};

struct Wish {
  Spec spec;
  Choice choice;
  std::int64_t rank = -1;  // all
  bool verifies = false, simulates = false, draws = false, scales = false, compiles = false;
  std::int64_t bytes = -1;
  std::uint32_t ppn = 0;  // as the network says
  Network network = usual_network();
  Neighborhoods grid;
  std::uint32_t grid_ranks = 0;
};

void print_help() {
  std::fputs(kPlanUsage, stdout);
  std::printf("\n");
  constexpr const char* kNumbers[] = {"", " NUMBER", " RADIX", " RADIX...", " PORTS...", " PPN", " PPN LEADERS"};
  for (const Algorithm& a : algorithms()) {
    std::printf("  %-15s %s%s%s\n", kCollectives[static_cast<std::size_t>(a.collective)].data(), a.name.data(),
                kNumbers[static_cast<std::size_t>(a.numbers)],
                a.keeps_order ? "" : "   (the operation has to commute)");
  }
}

int wrong(const std::string& why) {
  std::fprintf(stderr, "heddle plan: %s ('heddle plan --help' tells more)\n", why.c_str());
  return 2;
}

std::string unknown(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_word(word, known);
  std::string text = "unknown " + std::string(what) + " '" + std::string(word) + "'";
  return nearest.empty() ? text : text + "; did you mean '" + std::string(nearest) + "'?";
}

bool read_number(std::string_view word, std::uint32_t& number) {
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  return failed == std::errc() && end == word.data() + word.size();
}

// As 100, 64K, 2M or 1G.
bool read_bytes(std::string_view word, std::int64_t& bytes) {
  int shift = 0;
  if (const std::size_t unit = std::string_view("KMG").find(word.empty() ? ' ' : word.back()); unit < 3) {
    shift = 10 * static_cast<int>(unit + 1);
    word.remove_suffix(1);
  }
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (failed != std::errc() || end != word.data() + word.size() || bytes < 0 || bytes > INT64_MAX >> 20 >> shift)
    return false;
  bytes <<= shift;
  return true;
}

// Dimensions as 4x4x2, and how many ranks they are. False: they are none, or too many.
bool read_dimensions(std::string_view word, std::vector<int>& dimensions, std::uint32_t& ranks) {
  constexpr std::uint32_t kMost = 1 << 20;
  ranks = 1;
  for (std::size_t at = 0, end = 0; end != word.npos; at = end + 1) {
    end = word.find('x', at);
    std::uint32_t length = 0;
    if (!read_number(word.substr(at, end - at), length) || length == 0 || length > kMost / ranks) return false;
    dimensions.push_back(static_cast<int>(length));
    ranks *= length;
  }
  return true;
}

Neighborhoods grid_of(const std::vector<int>& dimensions, std::uint32_t ranks, bool is_torus) {
  const std::vector<int> periods(dimensions.size(), is_torus);
  std::vector<Neighbors> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(grid_neighbors(dimensions, periods, static_cast<int>(r)));
  return Neighborhoods(std::move(all));
}

// Of lines as --simulate prints them; or of a profile, in which `network` stands before each, of whatever machine.
Status read_network(const std::string& word, Network& network) {
  const std::string path = word == "profile" ? profile_path() : word;
  std::ifstream file(path);
  std::ostringstream stream;
  if (file) stream << file.rdbuf();
  if (!file) return error(MPI_ERR_ARG, "%s cannot be read: %s", path.c_str(), std::strerror(errno));
  const std::string text = stream.str();
  Profile profile;
  if (("\n" + text).find("\nmachine ") == text.npos && word != "profile") {
    return parse_network(text, path.c_str(), &network);
  }
  HEDDLE_TRY(parse_profile(text, path.c_str(), &profile));
  if (profile.network.empty()) {
    return error(MPI_ERR_ARG, "%s has no lines 'network ...': run 'heddle tune', or 'heddle tune --hosts A,B'",
                 path.c_str());
  }
  return parse_network(profile.network, path.c_str(), &network);
}

// Empty, or what is wrong.
std::string read(std::span<const std::string_view> options, Wish& wish) {
  bool has_collective = false, says_ranks = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view option = options[i];
    if (!option.starts_with('-')) {
      std::size_t c = 0;
      while (c < std::size(kCollectives) && kCollectives[c] != option) ++c;
      if (c == std::size(kCollectives)) return unknown("collective", option, kCollectives);
      wish.spec.collective = static_cast<Collective>(c);
      has_collective = true;
      continue;
    }
    const std::pair<std::string_view, bool*> flags[] = {{"--ordered", &wish.spec.ordered}, {"--verify", &wish.verifies},
                                                        {"--simulate", &wish.simulates},   {"--draw", &wish.draws},
                                                        {"--compile", &wish.compiles},     {"--scale", &wish.scales}};
    const auto* flag = std::ranges::find(flags, option, &std::pair<std::string_view, bool*>::first);
    if (flag != std::end(flags)) {
      *flag->second = true;
      continue;
    }
    bool known = false;
    for (std::string_view k : kPlanOptions) known |= k == option;
    if (!known) return unknown("option", option, kPlanOptions);
    if (i + 1 == options.size()) return std::string(option) + " needs a value";
    const std::string_view value = options[++i];
    std::uint32_t number = 0;
    if (option == "--algorithm") {
      if (!parse(value, wish.choice)) return last_error_detail();
    } else if (option == "--network") {
      if (!read_network(std::string(value), wish.network)) return last_error_detail();
    } else if (option == "--bytes") {
      if (!read_bytes(value, wish.bytes))
        return "--bytes takes a number as 100, 64K or 2M, not '" + std::string(value) + "'";
    } else if (option == "--grid" || option == "--torus") {
      std::vector<int> dimensions;
      if (!read_dimensions(value, dimensions, wish.grid_ranks))
        return std::string(option) + " takes dimensions as 4x4x2, not '" + std::string(value) + "'";
      wish.grid = grid_of(dimensions, wish.grid_ranks, option == "--torus");
      wish.spec.neighborhoods = &wish.grid;
    } else if (!read_number(value, number)) {
      return std::string(option) + " takes a number, not '" + std::string(value) + "'";
    } else if (option == "-n") {
      wish.spec.ranks = number;
      says_ranks = true;
    } else if (option == "--ppn") {
      if (number == 0) return "--ppn takes a number from 1 on";
      wish.ppn = number;
    } else if (option == "--root") {
      wish.spec.root = number;
    } else {
      wish.rank = number;
    }
  }
  if (wish.ppn != 0) wish.network.ppn = wish.ppn;
  const bool has_grid = wish.spec.neighborhoods != nullptr;
  if (is_among_neighbors(wish.spec.collective) != has_grid)
    return has_grid ? "--grid and --torus are for neighbor_allgather and neighbor_alltoall"
                    : "who is whose neighbour: say --grid 4x4, or --torus";
  if (has_grid && wish.scales) return "--scale is for other numbers of ranks, and a grid has one";
  if (has_grid && says_ranks && wish.spec.ranks != wish.grid_ranks) return "the grid has not as many ranks as -n says";
  if (has_grid) wish.spec.ranks = wish.grid_ranks;
  if ((wish.simulates || wish.scales) && wish.bytes < 0) {
    return std::string(wish.scales ? "--scale" : "--simulate") + " needs --bytes";
  }
  if (wish.scales && wish.spec.ranks == 0) return "--scale needs ranks: say -n";
  if (wish.scales && wish.spec.root >= wish.spec.ranks) return "--root is no rank of so many";
  if (wish.draws && wish.rank >= 0) return "--draw shows all ranks: say it without --rank";
  if (wish.draws + wish.simulates + wish.scales + wish.verifies + wish.compiles > 1)
    return "--draw, --simulate, --scale, --compile and --verify print one thing each: say one";
  return has_collective ? "" : "say which collective";
}

// All candidates, fastest first; or the one that is wished for.
Status simulate(const Wish& wish, std::vector<Candidate>& ranked) {
  const auto bytes = static_cast<std::uint64_t>(wish.bytes);
  if (wish.choice.algorithm.empty()) return rank_candidates(wish.spec, bytes, wish.network, ranked);
  std::vector<Plan> plans;
  ranked.assign(1, Candidate());
  HEDDLE_TRY(compile_all(wish.spec, wish.choice, plans));
  ranked[0].choice = plans[0].choice;
  return simulate(plans, bytes, wish.network, &ranked[0].seconds);
}

void print_simulation(const Wish& wish, std::span<const Candidate> ranked) {
  for (const Candidate& c : ranked) std::printf("%12.2f us  %s\n", c.seconds * 1e6, print(c.choice).c_str());
  std::printf("\n%s", print(wish.network).c_str());
}

// The algorithms of the collective with their usual numbers, and the one that is wished for.
std::vector<Choice> columns(const Wish& wish) {
  std::vector<Choice> all;
  for (const Algorithm& a : algorithms()) {
    if (a.collective != wish.spec.collective || (wish.spec.ordered && !a.keeps_order)) continue;
    const bool nodes = a.numbers == Numbers::kNode || a.numbers == Numbers::kLeaders;
    all.push_back({a.name, nodes ? std::vector{static_cast<int>(wish.network.ppn)} : std::vector<int>()});
  }
  if (!wish.choice.algorithm.empty()) all.push_back(wish.choice);
  return all;
}

// "-" where an algorithm's numbers are not for so many ranks.
Status print_scale(const Wish& wish) {
  const std::vector<Choice> all = columns(wish);
  std::printf("%9s", "ranks");
  for (const Choice& c : all) std::printf("  %16s", print(c).c_str());
  std::printf("   us\n");
  const std::uint64_t most = wish.spec.ranks;
  for (std::uint64_t ranks = std::min<std::uint64_t>(2, most); ranks <= most;
       ranks = 2 * ranks <= most || ranks == most ? 2 * ranks : most) {
    Spec spec = wish.spec;
    spec.ranks = static_cast<std::uint32_t>(ranks);
    spec.root = std::min(spec.root, spec.ranks - 1);
    std::printf("%9u", spec.ranks);
    for (const Choice& c : all) {
      std::vector<Plan> plans;
      double seconds = 0;
      if (!compile_all(spec, c, plans)) {
        std::printf("  %16s", "-");
        continue;
      }
      HEDDLE_TRY(simulate(plans, static_cast<std::uint64_t>(wish.bytes), wish.network, &seconds));
      std::printf("  %16.2f", seconds * 1e6);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  std::printf("\n%s", print(wish.network).c_str());
  return Status::ok();
}

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The first time finds cold caches, as a program's does not when it has compiled others.
Status print_compile_time(const Wish& wish) {
  constexpr std::size_t kTurns = 9;
  std::vector<double> seconds;
  Plan plan;
  for (std::size_t i = 0; i < kTurns; ++i) {
    Plan fresh;
    const double begin = processor_seconds();
    HEDDLE_TRY(compile(wish.spec, wish.choice, wish.rank < 0 ? 0 : static_cast<std::uint32_t>(wish.rank), fresh));
    seconds.push_back(processor_seconds() - begin);
    plan = std::move(fresh);
  }
  std::ranges::sort(seconds);
  std::printf("%12.2f us  %s: %zu instructions\n", seconds[kTurns / 2] * 1e6, print(plan.choice).c_str(),
              plan.code.size());
  return Status::ok();
}

}  // namespace

int run_plan(std::span<const std::string_view> options) {
  for (std::string_view option : options) {
    if (option == "--help") return print_help(), 0;
  }
  Wish wish;
  if (const std::string why = read(options, wish); !why.empty()) return wrong(why);
  if (wish.scales) return print_scale(wish) ? 0 : wrong(last_error_detail());
  if (wish.simulates || (wish.bytes >= 0 && wish.choice.algorithm.empty())) {
    std::vector<Candidate> ranked;
    if (!simulate(wish, ranked)) return wrong(last_error_detail());
    if (wish.simulates) return print_simulation(wish, ranked), 0;
    wish.choice = ranked[0].choice;
  }
  if (wish.choice.algorithm.empty() && wish.network.ppn > 1) {
    const std::uint32_t ppn = ranks_of_node(wish.spec.ranks, [&](std::uint32_t r) { return r / wish.network.ppn; });
    const Choice choice = choice_of(choose(wish.spec, 0, ppn), wish.spec, ppn);
    if (choice.algorithm == "nodes") wish.choice = choice;
  }
  if (wish.compiles) return print_compile_time(wish) ? 0 : wrong(last_error_detail());
  std::vector<Plan> plans(1);
  if (wish.rank >= 0 && !wish.verifies) {
    if (!compile(wish.spec, wish.choice, static_cast<std::uint32_t>(wish.rank), plans[0]))
      return wrong(last_error_detail());
  } else if (!compile_all(wish.spec, wish.choice, plans)) {
    return wrong(last_error_detail());
  }
  if (wish.verifies) {
    if (!verify(plans)) return std::fprintf(stderr, "heddle plan: %s\n", last_error_detail()), 1;
    std::printf("%s by %s is right for %u ranks\n", kCollectives[static_cast<std::size_t>(wish.spec.collective)].data(),
                print(plans[0].choice).c_str(), wish.spec.ranks);
    return 0;
  }
  if (wish.draws) {
    std::string svg;
    if (!draw(plans, svg)) return wrong(last_error_detail());
    return std::fputs(svg.c_str(), stdout), 0;
  }
  for (const Plan& plan : plans) std::printf("%s%s", &plan == plans.data() ? "" : "\n", print(plan).c_str());
  return 0;
}
