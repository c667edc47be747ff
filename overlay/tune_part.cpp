#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tune.hpp"

namespace heddle::overlay {
namespace {

constexpr std::uint64_t kSizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};
constexpr int kPartitions = 16, kTimes = 15, kTag = 1;
constexpr double kLate = 0.4e-3;  // after the others, in which a thread computes: 4 % of 10 ms
constexpr double kPatience = 2;   // seconds, for the host's own

enum class Verdict { kGood, kStuck, kWrong, kEarly };  // the last that one of the two says counts
constexpr const char* kVerdicts[] = {"", "it does not end", "it delivers other data",
                                     "its second send is complete before anything is ready"};

void use(PartWay way) {
  Profile profile;
  profile.partitioned.push_back({way, 1, ~std::uint64_t{0}});
  set_own_profile(std::move(profile));
}

// That of Open MPI 5.0.11 does not end, nor does MPI_Finalize after it, and its launcher calls a job without it failed.
#if HEDDLE_HOST_MPI_4 && !defined(OPEN_MPI)
constexpr bool kHostHasOne = true;
#else
constexpr bool kHostHasOne = false;
#endif

class Pair {
 public:
  explicit Pair(MPI_Comm comm) : comm_(comm), data_(kSizes[std::size(kSizes) - 1]) { PMPI_Comm_rank(comm, &rank_); }

  // Seconds from the last MPI_Pready until the receiver has said that all is there, a median; at both ranks alike.
  double measure(PartWay way, std::uint64_t bytes, Verdict* verdict) {
    use(way);
    const MPI_Count each = static_cast<MPI_Count>(bytes) / kPartitions;
    MPI_Request request;
    if (rank_ == 0) {
      MPI_Psend_init(data_.data(), kPartitions, each, MPI_BYTE, 1, kTag, comm_, MPI_INFO_NULL, &request);
    } else {
      MPI_Precv_init(data_.data(), kPartitions, each, MPI_BYTE, 0, kTag, comm_, MPI_INFO_NULL, &request);
    }
    std::vector<double> times;
    *verdict = Verdict::kGood;
    for (int i = 0; i < kTimes && *verdict == Verdict::kGood; ++i) {
      double took = 0;
      Verdict mine = rank_ == 0 ? send(&request, i, bytes, &took) : receive(&request, i, bytes);
      MPI_Bcast(&took, 1, MPI_DOUBLE, 0, comm_);
      PMPI_Allreduce(&mine, verdict, 1, MPI_INT, MPI_MAX, comm_);
      if (i >= 2) times.push_back(took);
    }
    if (*verdict != Verdict::kGood) return 0;
    MPI_Request_free(&request);
    return median(times);
  }

 private:
  static_assert(sizeof(Verdict) == sizeof(int));

  // False: not within that time.
  static bool end(MPI_Request* request) {
    const double begin = PMPI_Wtime();
    for (unsigned n = 0;; ++n) {
      int done = 0;
      MPI_Test(request, &done, MPI_STATUS_IGNORE);
      if (done) return true;
      if (n > 50) sched_yield();
      if (PMPI_Wtime() - begin > kPatience) return false;
    }
  }

  char* mark(std::uint64_t bytes, int partition) {
    return &data_[bytes / kPartitions * static_cast<unsigned>(partition)];
  }

  Verdict send(MPI_Request* request, int i, std::uint64_t bytes, double* took) {
    for (int p = 0; p < kPartitions; ++p) *mark(bytes, p) = static_cast<char>(i + p + 1);
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, kTag, comm_, MPI_STATUS_IGNORE);
    MPI_Start(request);
    int early = 0;
    if (i == 1) MPI_Test(request, &early, MPI_STATUS_IGNORE);
    double begin = PMPI_Wtime();
    if (!early) {
      for (int p = 0; p + 1 < kPartitions; ++p) MPI_Pready(p, *request);
      while (PMPI_Wtime() - begin < kLate) {
      }
      begin = PMPI_Wtime();
      MPI_Pready(kPartitions - 1, *request);
    }
    const bool ended = end(request);
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, kTag, comm_, MPI_STATUS_IGNORE);
    *took = PMPI_Wtime() - begin;
    return early ? Verdict::kEarly : ended ? Verdict::kGood : Verdict::kStuck;
  }

  Verdict receive(MPI_Request* request, int i, std::uint64_t bytes) {
    MPI_Start(request);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
    const bool ended = end(request);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
    if (!ended) return Verdict::kStuck;
    for (int p = 0; p < kPartitions; ++p) {
      if (*mark(bytes, p) != static_cast<char>(i + p + 1)) return Verdict::kWrong;
    }
    return Verdict::kGood;
  }

  const MPI_Comm comm_;
  int rank_ = 0;
  std::vector<char> data_;
};

// The faster of the overlay's two ways; the host's own where it is good and neither is faster.
PartWay choose(double persistent, double rma, bool host_is_good, double host) {
  const PartWay ours = rma < kMargin * persistent ? PartWay::kRma : PartWay::kPersistent;
  const double best = ours == PartWay::kRma ? rma : persistent;
  return host_is_good && best >= kMargin * host ? PartWay::kHost : ours;
}

}  // namespace

bool tune_partitioned(MPI_Comm comm, bool figures, Profile* out) {
  Pair pair(comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  bool host_is_good = kHostHasOne;
  Verdict verdict = Verdict::kGood;
  PartLine* last = nullptr;
  if (rank == 0) std::puts("partitioned, between two ranks, 16 partitions, the last one 0.4 ms late");
  for (const std::uint64_t bytes : kSizes) {
    double seconds[3] = {};
    Verdict good;
    for (const PartWay way : {PartWay::kPersistent, PartWay::kRma, PartWay::kHost}) {
      if (way == PartWay::kHost && !host_is_good) continue;
      const auto w = static_cast<std::size_t>(way);
      seconds[w] = pair.measure(way, bytes, &good);
      if (way == PartWay::kHost && good != Verdict::kGood) {
        host_is_good = false;
        verdict = good;
        if (rank == 0) std::printf("  the host's own is not used: %s\n", kVerdicts[static_cast<int>(good)]);
      }
    }
    const PartWay best = choose(seconds[0], seconds[1], host_is_good, seconds[2]);
    if (rank == 0 && figures) {
      std::printf("    %8llu B   persistent %9.2f   rma %9.2f", static_cast<unsigned long long>(bytes),
                  1e6 * seconds[0], 1e6 * seconds[1]);
      host_is_good ? std::printf("   host %9.2f us\n", 1e6 * seconds[2]) : std::puts(" us");
    }
    const std::uint64_t from = last == nullptr || last->way != best ? bytes : last->from;
    if (best == PartWay::kPersistent) {
      last = nullptr;
      continue;
    }
    if (last == nullptr || last->way != best) last = &out->partitioned.emplace_back(PartLine{best, from, bytes});
    last->to = 2 * bytes - 1;
  }
  // What is used for some sizes has to be good at all of them.
  if (!host_is_good) std::erase_if(out->partitioned, [](const PartLine& line) { return line.way == PartWay::kHost; });
  if (rank == 0) {
    for (const PartLine& line : out->partitioned) {
      std::printf("  %s %llu to %llu B\n", kPartWayNames[static_cast<std::size_t>(line.way)].data(),
                  static_cast<unsigned long long>(line.from), static_cast<unsigned long long>(line.to));
    }
    if (out->partitioned.empty()) std::puts("  persistent");
  }
  return verdict != Verdict::kEarly && verdict != Verdict::kStuck;
}

}  // namespace heddle::overlay
