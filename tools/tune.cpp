// How it measures: one process a core, in pairs, each pair over the library's own wire, all at the same time. A pair that
// has the machine for itself shows figures that no program with a rank on each core will see.
#include "tune.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/profile.hpp"
#include "boot/launch_facts.hpp"
#include "plan/network.hpp"
#include "tune_host.hpp"
#include "tune_network.hpp"
#include "wire/shm.hpp"

namespace {

using namespace heddle;

constexpr char kTuneUsage[] =
    "heddle tune: measures this machine, with all of its cores busy, and stores what decides how long messages travel\n"
    "and, where that is asked for, which way collectives over several hosts go\n"
    "\n"
    "  heddle tune                  into $HEDDLE_PROFILE, or heddle/profile-<host> in $XDG_CACHE_HOME or ~/.cache\n"
    "  heddle tune --output FILE    into FILE; use it with HEDDLE_PROFILE=FILE\n"
    "  heddle tune --dry-run        only shows it\n"
    "  heddle tune --anyway         stores it although something else is running\n"
    "  heddle tune --hosts A,B      also between these hosts, as mpiexec -hosts takes them; HEDDLE_NETWORK=profile "
    "uses "
    "it\n"
    "  heddle tune ... -- OPTIONS   more options for that mpiexec\n"
    "  heddle tune --host           under another MPI, what is faster by the overlay (heddle tune --host --help)\n"
    "\n"
    "Run it while nothing else does; it takes about five seconds. Programs read the profile when they start.\n";

constexpr std::size_t kMessage = 4 << 20;
constexpr std::size_t kReads[] = {16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20};
constexpr std::size_t kReadSizes = sizeof kReads / sizeof *kReads;
constexpr double kPart = 0.15;  // seconds of each measurement
constexpr int kMaxProcesses = 512;
constexpr double kQuiet = 0.9;

struct Figures {
  double cells = 0;  // bytes/s
  double reads[kReadSizes] = {};
  double round = 0;  // s, of progress in vain
  double offer = 0;  // s, of an offer and all that it costs without being used
  double had = 1;    // of its core
};

// What the processes share.
struct Board {
  std::atomic<int> arrived{0};
  std::atomic<int> failed{0};
  char card[256] = "";
  char why[256] = "";
  std::atomic<std::uint64_t> offers[kMaxProcesses];
  std::atomic<int> stop[kMaxProcesses];
  Figures figures[kMaxProcesses];
};

double now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Worker {
 public:
  Worker(Board& board, int self, int processes) : board_(board), self_(self), peer_(self ^ 1), processes_(processes) {}

  Status run() {
    HEDDLE_TRY(open());
    if (self_ % 2 == 0) {
      board_.offers[self_] = lane_->memory()->all().offer(data_.data(), 0).bits();
    }
    meet();
    const double begin = now(), used = now(CLOCK_PROCESS_CPUTIME_ID);
    say("messages through shared memory");
    measure_cells();
    meet();
    say("reads of each other's memory");
    if (self_ % 2 != 0) measure_reads();
    meet();
    say("looking in vain, and offers");
    measure_costs();
    board_.figures[self_].had = (now(CLOCK_PROCESS_CPUTIME_ID) - used) / (now() - begin);
    meet();
    return Status::ok();
  }

 private:
  Status open() {
    const auto ranks = static_cast<std::uint32_t>(processes_);
    std::shared_ptr<wire::Segment> segment;
    if (self_ == 0) {
      HEDDLE_TRY(wire::Segment::create(ranks, &segment));
      std::snprintf(board_.card, sizeof board_.card, "%s", segment->card().c_str());
    }
    meet();
    if (self_ != 0) HEDDLE_TRY(wire::Segment::attach(board_.card, ranks, &segment));
    std::vector<wire::ProcessId> ids(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) ids[i] = i;
    wire_ = std::make_unique<wire::ShmWire>(segment, static_cast<std::uint32_t>(self_), ids, false,
                                            std::make_unique<wire::MemoryReader>());
    wire::allow_single_copy(getppid());
    data_.assign(kMessage, std::byte{1});
    HEDDLE_TRY(wire_->connect(0, static_cast<wire::ProcessId>(peer_), 0, &lane_));
    return Status::ok();
  }

  void say(const char* step) const {
    if (self_ == 0) tell_step(step);
  }

  void meet() {
    const int all = (board_.arrived.fetch_add(1) / processes_ + 1) * processes_;
    while (board_.arrived.load() < all && board_.failed.load() == 0) sched_yield();
    if (board_.failed.load() != 0) _exit(1);
  }

  struct Copy final : wire::Sink {
    void deliver(const wire::Packet& packet) noexcept override {
      std::memcpy(to + at, packet.payload, packet.payload_bytes);
      at = (at + packet.payload_bytes) % kMessage;
      bytes += packet.payload_bytes;
    }
    std::byte* to = nullptr;
    std::size_t at = 0, bytes = 0;
  };

  void measure_cells() {
    const double begin = now();
    if (self_ % 2 == 0) {
      const std::size_t unit = lane_->max_payload();
      for (std::size_t at = 0; board_.stop[self_].load(std::memory_order_relaxed) == 0;) {
        wire::Payload payload{data_.data() + at, unit};
        if (lane_->try_send({}, nullptr, payload)) at = (at + unit) % kMessage;
      }
      return;
    }
    Copy copy;
    copy.to = data_.data();
    while (now() - begin < kPart) wire_->poll(0, copy, 32);
    board_.figures[self_].cells = static_cast<double>(copy.bytes) / (now() - begin);
    board_.stop[peer_] = 1;
    while (wire_->poll(0, copy, 32) != 0) {
    }
  }

  void measure_reads() {
    wire::PeerMemory& peer = *lane_->memory();
    const wire::Offer offer(board_.offers[peer_]);
    wire::Claims<> claims = peer.claims(offer, 1);
    if (peer.way() != wire::PeerMemory::Way::kRead || claims.claim(1).count == 0) return;
    for (std::size_t i = 0; i < kReadSizes; ++i) {
      std::size_t bytes = 0;
      const double begin = now();
      for (std::size_t at = 0; now() - begin < kPart; at = (at + kReads[i]) % kMessage) {
        bytes += peer.read(offer, claims.address(), at, data_.data() + at, kReads[i]);
      }
      board_.figures[self_].reads[i] = static_cast<double>(bytes) / (now() - begin);
    }
  }

  void measure_costs() {
    constexpr int kTimes = 20'000;
    Copy none;
    none.to = data_.data();
    double begin = now();
    for (int i = 0; i < kTimes; ++i) {
      wire_->poll(0, none, 32);
      cpu_relax();
    }
    board_.figures[self_].round = (now() - begin) / kTimes;
    wire::PeerMemory& memory = *lane_->memory();
    begin = now();
    for (int i = 0; i < kTimes; ++i) {
      const wire::Offer offer = memory.all().offer(data_.data(), 1);
      memory.claims(offer, 4).claim(3);
      memory.all().withdraw(offer);
    }
    board_.figures[self_].offer = (now() - begin) / kTimes;
  }

  Board& board_;
  const int self_, peer_, processes_;
  std::unique_ptr<wire::ShmWire> wire_;
  wire::TxLane* lane_ = nullptr;
  std::vector<std::byte> data_;
};

// What the most disturbed process had of its core.
double quiet(const Board& board, int processes) {
  double least = 1;
  for (int i = 0; i < processes; ++i) least = std::min(least, board.figures[i].had);
  return least;
}

// The slowest pair: the job waits for it.
Figures worst_of(const Board& board, int processes) {
  Figures worst = board.figures[1];
  for (int i = 3; i < processes; i += 2) {
    const Figures& one = board.figures[i];
    worst.cells = std::min(worst.cells, one.cells);
    for (std::size_t k = 0; k < kReadSizes; ++k) worst.reads[k] = std::min(worst.reads[k], one.reads[k]);
    worst.round = std::min(worst.round, one.round);
    worst.offer = std::max(worst.offer, one.offer);
  }
  return worst;
}

Profile decide(const Figures& f) {
  Profile profile;
  const double best = *std::max_element(f.reads, f.reads + kReadSizes);
  std::size_t i = 0;
  while (f.reads[i] < 0.9 * best) ++i;
  if (best > 0) profile.pull_bytes = static_cast<std::uint32_t>(kReads[i]);
  // Four packets' time without one: the sender is elsewhere. Much less, and both sides would be at it at once, which is
  // slower than cells alone.
  const double rounds = 4 * static_cast<double>(wire::kCellBytes) / f.cells / f.round;
  profile.pull_after = static_cast<std::uint32_t>(std::clamp(rounds, 16.0, double{Profile::kMaxPullAfter}));
  // An offer that comes to nothing may cost three hundredths.
  const double from = std::clamp(f.offer / 0.03 * f.cells, 32.0 * 1024, 1024.0 * 1024);
  profile.single_copy_from = std::bit_ceil(static_cast<std::uint64_t>(from));
  return profile;
}

// In a group of so many bytes a message costs a tenth of what they do: a longer one would save little more.
std::uint32_t bytes_of_group(const std::string& network) {
  plan::Network n = plan::usual_network();
  if (!plan::parse_network(network, "what was measured", &n) || n.within.byte <= 0) return Profile().aggregate_bytes;
  const double bytes = 10 * std::max(n.within.overhead, n.within.gap) / n.within.byte;
  return std::bit_floor(static_cast<std::uint32_t>(std::clamp(bytes, 1024.0, 64.0 * 1024)));
}

// One process for each of the cores that this one may use; an even number, at least two.
bool measure(Board& board, int* processes) {
  cpu_set_t allowed;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
    }
  }
  *processes = std::clamp(boot::cores_of_affinity() / 2 * 2, 2, kMaxProcesses);
  std::vector<pid_t> children;
  for (int i = 0; i < *processes; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (cpus.size() >= static_cast<std::size_t>(*processes)) {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(cpus[static_cast<std::size_t>(i)], &mine);
        sched_setaffinity(0, sizeof mine, &mine);
      }
      const Status status = Worker(board, i, *processes).run();
      if (!status && board.failed.exchange(1) == 0)
        std::snprintf(board.why, sizeof board.why, "%s", last_error_detail());
      _exit(status ? 0 : 1);
    }
    if (child < 0) {
      board.failed = 1;
      std::snprintf(board.why, sizeof board.why, "no process could be started: %s", std::strerror(errno));
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 && board.failed.exchange(1) == 0) {
      std::snprintf(board.why, sizeof board.why, "a process ended before its time");
    }
  }
  return board.failed == 0;
}

struct TuneWish {
  std::string path = profile_path(), hosts;
  std::vector<std::string> launch;  // options of mpiexec
  bool dry_run = false, anyway = false;
};

// What an earlier run has measured between hosts, where this one does not; with it its crowding, which is that between hosts.
void keep_between_hosts(const std::string& path, std::string* network) {
  Profile before;
  std::string warning, kept;
  if (!load_profile(path, &before, &warning) || before.network.find("between.") == std::string::npos) return;
  const auto keep = [&kept](std::string_view pair) { kept.append(kept.empty() ? "" : ",").append(pair); };
  const bool has_crowding = before.network.find("crowd") != std::string::npos;
  each_pair(*network, [&](std::string_view pair) {
    if (!has_crowding || !pair.starts_with("crowd")) keep(pair);
  });
  each_pair(before.network, [&](std::string_view pair) {
    if (pair.starts_with("between.") || pair.starts_with("ports") || pair.starts_with("crowd")) keep(pair);
  });
  *network = kept;
}

int tune(const TuneWish& wish) {
  const auto& [path, hosts, launch, dry_run, anyway] = wish;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::perror("heddle tune: no memory"), 1;
  auto& board = *new (memory) Board;
  int processes = 0;
  if (!measure(board, &processes)) return std::fprintf(stderr, "heddle tune: %s\n", board.why), 1;
  const Figures f = worst_of(board, processes);
  std::printf("%d processes, the slowest pair: cells %.1f GB/s, round %.0f ns, offer %.0f ns\n", processes,
              f.cells / 1e9, f.round * 1e9, f.offer * 1e9);
  if (f.reads[0] == 0) std::puts("single copy is refused here; its numbers are the defaults");
  for (std::size_t i = 0; f.reads[0] != 0 && i < kReadSizes; ++i) {
    std::printf("single copy, %4zu KiB at once: %.1f GB/s\n", kReads[i] >> 10, f.reads[i] / 1e9);
  }
  Profile profile = decide(f);
  profile.machine = machine_name();
  std::fflush(stdout);
  if (!measure_network(hosts, launch, &profile.network)) {
    return std::fprintf(stderr, "heddle tune: %s\n", last_error_detail()), 1;
  }
  profile.aggregate_bytes = bytes_of_group(profile.network);
  if (hosts.empty()) keep_between_hosts(path, &profile.network);
  std::fputs(print_profile(profile).c_str(), stdout);
  const double had = quiet(board, processes);
  if (had < kQuiet) {
    std::fprintf(stderr, "heddle tune: something else is running: a process had only %.0f %% of its core%s\n",
                 100 * had, dry_run || anyway ? "" : "; nothing is stored. Try again later, or say --anyway");
    if (!anyway && !dry_run) return 1;
  }
  if (dry_run) return 0;
  if (const Status stored = store_profile(profile, path); !stored) {
    return std::fprintf(stderr, "heddle tune: %s\n", last_error_detail()), 1;
  }
  std::printf("stored in %s\n", path.c_str());
  return 0;
}

}  // namespace

int run_tune(std::span<const std::string_view> options) {
  TuneWish wish;
  if (options.size() == 1 && options[0] == kRankOption) return run_network_rank();
  if (!options.empty() && options[0] == "--host") return run_tune_host(options.subspan(1));
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == "--help") return std::fputs(kTuneUsage, stdout), 0;
    if (options[i] == "--dry-run") {
      wish.dry_run = true;
    } else if (options[i] == "--anyway") {
      wish.anyway = true;
    } else if (options[i] == "--output" && i + 1 < options.size()) {
      wish.path = options[++i];
    } else if (options[i] == "--hosts" && i + 1 < options.size()) {
      wish.hosts = options[++i];
    } else if (options[i] == "--") {
      wish.launch.assign(options.begin() + static_cast<std::ptrdiff_t>(i) + 1, options.end());
      break;
    } else {
      std::fprintf(stderr, "heddle tune: '%.*s' is not understood ('heddle tune --help')\n",
                   static_cast<int>(options[i].size()), options[i].data());
      return 2;
    }
  }
  if (wish.path.empty() && !wish.dry_run) {
    std::fputs("heddle tune: neither HOME nor XDG_CACHE_HOME is set; say --output FILE\n", stderr);
    return 1;
  }
  return tune(wish);
}
