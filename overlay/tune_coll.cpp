#include <algorithm>
#include <cstdio>

#include "coll_comm.hpp"
#include "tune.hpp"
#include "tune_calls.hpp"

namespace heddle::overlay {
namespace {

constexpr std::uint64_t kSizes[] = {8, 32, 128, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 1 << 20};
constexpr std::uint64_t kMost = 4 << 20;  // of all blocks
constexpr double kBatch = 1e-3, kLong = 20e-3;
constexpr int kTurns = 7, kMostTimes = 1000;

enum Side { kHost, kMessages, kMemory, kSides };

struct Figures {
  double seconds[kSides] = {};  // 0: there is none
  double best() const noexcept {
    return seconds[kMemory] == 0 ? seconds[kMessages] : std::min(seconds[kMessages], seconds[kMemory]);
  }
};

SizeTable all_by(bool messages) {
  SizeTable made;
  for (auto& kind : made) kind.fill({~0u, messages ? ~0u : 0});
  return made;
}

class Tuner {
 public:
  explicit Tuner(MPI_Comm comm) : comm_(comm), planned_(planned_comm(comm)), in_(kMost), out_(kMost) {
    PMPI_Comm_dup(comm, &control_);
    for (MPI_Comm c : {comm_, control_}) {
      planned_comm(c)->set_table(all_by(false));
      MPI_Barrier(c);  // which makes what it needs
    }
  }
  ~Tuner() { MPI_Comm_free(&control_); }
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  int size() const noexcept { return planned_->size; }
  int rank() const noexcept { return planned_->rank; }
  bool is_on_one_node() const noexcept { return planned_->is_on_one_node(); }

  Figures measure(CollKind kind, Way way, std::uint64_t bytes) {
    const Case c{kind, way, bytes, in_.data(), out_.data()};
    Board* board = way == Way::kBlocking ? planned_->board() : nullptr;
    const int sides = board != nullptr && board->takes(kind, bytes) ? kSides : kMemory;
    std::vector<double> turns[kSides];
    int times[kSides] = {};
    for (int s = 0; s < sides; ++s) {
      double first = batch(c, static_cast<Side>(s), 1);
      if (first >= kLong) turns[s].push_back(first);
      if (first < kLong) first = batch(c, static_cast<Side>(s), 1);
      times[s] = std::clamp(static_cast<int>(kBatch / std::max(first, 1e-9)), 1, kMostTimes);
    }
    Figures f;
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int s = 0; s < sides; ++s) {
        if (!turns[s].empty() && turns[s][0] >= kLong) continue;
        turns[s].push_back(batch(c, static_cast<Side>(s), times[s]));
      }
      for (int s = 0; s < sides; ++s) f.seconds[s] = median(turns[s]);
      const double ratio = f.best() / f.seconds[kHost];  // the same at all ranks
      if (turn >= 2 && (ratio > 1.5 || ratio < 0.67)) break;
    }
    return f;
  }

 private:
  // Of one call, at the slowest rank.
  double batch(const Case& c, Side side, int times) {
    const bool by_host = side == kHost;
    if (!by_host) planned_->set_table(all_by(side == kMessages));
    MPI_Request request = MPI_REQUEST_NULL;
    const bool persistent = c.way == Way::kPersistent;
#if HEDDLE_HOST_MPI_4
    if (persistent) make_request(c, by_host, comm_, &request);
#endif
    MPI_Barrier(control_);
    const double begin = PMPI_Wtime();
    for (int i = 0; i < times; ++i) {
      if (c.way == Way::kBlocking) {
        call_blocking(c, by_host, comm_);
        continue;
      }
      if (persistent) {
        start(by_host, &request);
      } else {
        call_nonblocking(c, by_host, comm_, &request);
      }
      wait(by_host, &request);
    }
    double took = (PMPI_Wtime() - begin) / times;
    if (persistent) free_request(by_host, &request);
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, control_);
    return took;
  }

  const MPI_Comm comm_;
  MPI_Comm control_ = MPI_COMM_NULL;
  CollComm* const planned_;
  std::vector<char> in_, out_;
};

Choice decide(const Figures& f) {
  if (f.best() >= kMargin * f.seconds[kHost]) return {};
  return {1, f.seconds[kMemory] != 0 && f.seconds[kMessages] < f.seconds[kMemory]};
}

// Of sizes between two that were measured.
Choice between(const Choice& a, const Choice& b) { return {a.planned & b.planned, a.messages & b.messages}; }

// The lines of what was chosen for each size, from the first byte on.
void add_lines(const PlannedLine& line, const std::vector<SizeChoice>& chosen, Profile* out) {
  PlannedLine* last = nullptr;
  std::size_t at = 0;
  for (int c = 0; c <= size_class(chosen.back().bytes); ++c) {
    while (size_class(chosen[at].bytes) < c) ++at;
    const bool measured = size_class(chosen[at].bytes) == c || at == 0;
    const Choice choice = measured ? chosen[at].choice : between(chosen[at - 1].choice, chosen[at].choice);
    if (choice.planned == 0) {
      last = nullptr;
      continue;
    }
    const std::uint64_t from = c == 0 ? 0 : std::uint64_t{1} << c,
                        to = line.kind == CollKind::kBarrier ? 0 : (std::uint64_t{2} << c) - 1;
    if (last == nullptr || last->messages != (choice.messages != 0)) {
      last = &out->lines.emplace_back(line);
      last->from = from;
      last->messages = choice.messages != 0;
    }
    last->to = to;
  }
}

void tell(const Figures& f, std::uint64_t bytes) {
  std::printf("    %8llu B   host %9.2f   messages %9.2f", static_cast<unsigned long long>(bytes),
              1e6 * f.seconds[kHost], 1e6 * f.seconds[kMessages]);
  if (f.seconds[kMemory] != 0) std::printf("   shared memory %9.2f", 1e6 * f.seconds[kMemory]);
  std::puts(" us");
}

void tell(const Profile& profile, std::size_t from, CollKind kind, Way way) {
  std::printf("  %-20s %-12s", kKindNames[static_cast<std::size_t>(kind)].data(),
              kWayNames[static_cast<std::size_t>(way)].data());
  for (std::size_t i = from; i < profile.lines.size(); ++i) {
    const PlannedLine& line = profile.lines[i];
    std::printf("%s%s", i == from ? "" : ", ", line.messages ? "messages" : "planned");
    if (kind == CollKind::kBarrier) continue;
    std::printf(" %llu to %llu B", static_cast<unsigned long long>(line.from),
                static_cast<unsigned long long>(line.to));
  }
  std::puts(from == profile.lines.size() ? "host" : "");
  std::fflush(stdout);
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void tune_collectives(MPI_Comm comm, bool figures, Profile* out) {
  Tuner tuner(comm);
  const auto size = static_cast<std::uint64_t>(tuner.size());
  const bool speaks = tuner.rank() == 0;
  out->measured.push_back({tuner.size(), tuner.is_on_one_node() ? 1 : 2});
  if (speaks) std::printf("%d ranks%s\n", tuner.size(), tuner.is_on_one_node() ? "" : " on several nodes");
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<CollKind>(k);
    const bool in_blocks =
        kind == CollKind::kAllgather || kind == CollKind::kAlltoall || kind == CollKind::kReduceScatterBlock;
    for (std::size_t w = 0; w < (HEDDLE_HOST_MPI_4 ? kWays : kWays - 1); ++w) {
      const auto way = static_cast<Way>(w);
      std::vector<SizeChoice> chosen;
      for (const std::uint64_t bytes : kSizes) {
        if (kind == CollKind::kBarrier && !chosen.empty()) break;
        if (in_blocks && bytes * size > kMost) break;
        const std::uint64_t n = kind == CollKind::kBarrier ? 0 : bytes;
        const Figures f = tuner.measure(kind, way, n);
        if (speaks && figures) tell(f, n);
        chosen.push_back({n, decide(f)});
      }
      const std::size_t before = out->lines.size();
      if (!chosen.empty()) add_lines({kind, way, tuner.size(), 0, 0}, chosen, out);
      if (speaks) tell(*out, before, kind, way);
    }
  }
}

}  // namespace heddle::overlay
