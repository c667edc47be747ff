// How it measures. Between pairs of one node, and of ranks in the same place on two nodes; what rank 0 sees counts. Of what is short
// all pairs at once, since ranks that have the machine for themselves show figures that no program will see; of what is long one of a node:
//   one way      half of a ping-pong of 8 bytes: overhead + latency + overhead
//   overhead     MPI_Isend of 8 bytes, of kBurst in a row
//   gap          kBurst messages of 8 bytes and an answer, less one message and the answer, for each of the others
//   byte         what 1 MiB takes longer than 64 KiB
//   crowding     how much longer kCrowd messages of 64 KiB together take than as often one; `crowd`: that each was with at most so many others
//   ports        how many times as much all ranks of a node send together as one, 256 KiB each
// and of each rank, all at once: a copy, and MPI_Reduce_local. Each the median of kTurns.
#include "tune_network.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "boot/launch_facts.hpp"
#include "mpi.h"
#include "plan/network.hpp"

namespace {

using namespace heddle;

constexpr int kTurns = 7, kBurst = 32, kCrowd = 4, kMostRanks = 4;
constexpr int kTag = 1;
constexpr std::size_t kLong = 1 << 20, kMiddle = 64 << 10, kWide = 256 << 10;
constexpr double kTurn = 0.01;  // seconds, at least
// The file may be the one to be made, and what a user is trying out is not what programs will run with.
constexpr const char* kNotMeasured[] = {"HEDDLE_PROFILE", "HEDDLE_NETWORK", "HEDDLE_PLANS", "HEDDLE_LONG_MESSAGES"};

// Of the library beside this program.
struct Mpi {
  decltype(&PMPI_Init) init;
  decltype(&PMPI_Finalize) finalize;
  decltype(&PMPI_Comm_rank) rank;
  decltype(&PMPI_Comm_size) size;
  decltype(&PMPI_Comm_split_type) split_type;
  decltype(&PMPI_Send) send;
  decltype(&PMPI_Recv) recv;
  decltype(&PMPI_Isend) isend;
  decltype(&PMPI_Irecv) irecv;
  decltype(&PMPI_Waitall) waitall;
  decltype(&PMPI_Barrier) barrier;
  decltype(&PMPI_Bcast) bcast;
  decltype(&PMPI_Wtime) wtime;
  decltype(&PMPI_Reduce_local) reduce_local;
};

template <class Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string folder(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  folder.resize(folder.rfind('/') == folder.npos ? 0 : folder.rfind('/'));
  return folder;
}

bool load(Mpi* m) {
  void* library = nullptr;
  for (const char* lib : {"/../lib", "/../" HEDDLE_LIBDIR}) {
    if (library == nullptr) library = dlopen((own_folder() + lib + "/libmpi_abi.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  const bool good = library != nullptr && find(library, "PMPI_Init", &m->init) &&
                    find(library, "PMPI_Finalize", &m->finalize) && find(library, "PMPI_Comm_rank", &m->rank) &&
                    find(library, "PMPI_Comm_size", &m->size) &&
                    find(library, "PMPI_Comm_split_type", &m->split_type) && find(library, "PMPI_Send", &m->send) &&
                    find(library, "PMPI_Recv", &m->recv) && find(library, "PMPI_Isend", &m->isend) &&
                    find(library, "PMPI_Irecv", &m->irecv) && find(library, "PMPI_Waitall", &m->waitall) &&
                    find(library, "PMPI_Barrier", &m->barrier) && find(library, "PMPI_Bcast", &m->bcast) &&
                    find(library, "PMPI_Wtime", &m->wtime) && find(library, "PMPI_Reduce_local", &m->reduce_local);
  if (!good) std::fprintf(stderr, "heddle tune: the library cannot be loaded: %s\n", dlerror());
  return good;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kTurns / 2, values.end());
  return values[kTurns / 2];
}

class Ranks {
 public:
  explicit Ranks(const Mpi& m) : m_(m), data_(kLong, '\1'), more_(kLong, '\1') {
    MPI_Comm node;
    m_.rank(MPI_COMM_WORLD, &rank_);
    m_.size(MPI_COMM_WORLD, &size_);
    m_.split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    m_.size(node, &ppn_);
    m_.bcast(&ppn_, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }

  // At rank 0: what it has measured.
  plan::Network measure() {
    plan::Network n = plan::usual_network();
    const bool has_nodes = size_ > ppn_, has_ranks = ppn_ > 1;
    if (has_ranks) say("messages within a host"), n.within = link(false);
    if (has_nodes) say("messages between hosts"), n.between = link(true);
    if (has_ranks || has_nodes)
      say("messages that are under way together"), n.crowding = crowding(has_nodes), n.crowd = kCrowd - 1;
    if (has_nodes) say("all processes of a host at once"), n.ports = ports(n.between);
    say("copies and reductions");
    n.copy = seconds([&] { std::memcpy(more_.data(), data_.data(), kMiddle); }) / kMiddle;
    n.reduce = seconds([&] {
                 constexpr int kCount = kMiddle / sizeof(double);
                 m_.reduce_local(data_.data(), more_.data(), kCount, MPI_DOUBLE, MPI_SUM);
               }) /
               kMiddle;
    return n;
  }
  int rank() const { return rank_; }
  bool has_nodes() const { return size_ > ppn_; }
  bool has_ranks() const { return ppn_ > 1; }

 private:
  void say(const char* step) const {
    if (rank_ == 0) tell_step(step);
  }

  // Seconds of one action, the median of turns that last a while. All ranks together, each as often as rank 0 finds necessary.
  template <class Action>
  double seconds(Action&& action) {
    int times = 1;
    std::vector<double> turns;
    while (turns.size() < kTurns) {
      m_.barrier(MPI_COMM_WORLD);
      const double begin = m_.wtime();
      for (int i = 0; i < times; ++i) action();
      const double took = m_.wtime() - begin;
      int next = times;
      if (took < kTurn) next = times * std::clamp(static_cast<int>(1.2 * kTurn / std::max(took, 1e-9)), 2, 100);
      m_.bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (next == times) turns.push_back(took / times);
      times = next;
    }
    return median(turns);
  }

  // Whom this rank talks to; -1: it has nobody, or waits while the first pair of each node is measured.
  int partner(bool far, bool all) const {
    const int node = rank_ / ppn_, local = rank_ % ppn_;
    const int other = far ? (is_sender(far) ? rank_ + ppn_ : rank_ - ppn_) : (is_sender(far) ? rank_ + 1 : rank_ - 1);
    if (other >= size_ || (!far && other / ppn_ != node)) return -1;
    return all || local < (far ? 1 : 2) ? other : -1;
  }
  bool is_sender(bool far) const { return (far ? rank_ / ppn_ : rank_ % ppn_) % 2 == 0; }

  // `count` messages from one of a pair to the other, and an answer of no bytes.
  void burst(bool far, bool all, int count, std::size_t bytes) {
    MPI_Request requests[kBurst];
    const auto n = static_cast<int>(bytes);
    const int peer = partner(far, all);
    if (peer < 0) return;
    if (is_sender(far)) {
      for (int i = 0; i < count; ++i) m_.isend(data_.data(), n, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &requests[i]);
      m_.waitall(count, requests, MPI_STATUSES_IGNORE);
      m_.recv(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int i = 0; i < count; ++i) m_.irecv(more_.data(), n, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &requests[i]);
      m_.waitall(count, requests, MPI_STATUSES_IGNORE);
      m_.send(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD);
    }
  }
  double burst_seconds(bool far, bool all, int count, std::size_t bytes) {
    return seconds([&] { burst(far, all, count, bytes); });
  }

  // Of MPI_Isend alone: rank 0's time in it, for each message.
  double overhead(bool far) {
    std::vector<double> turns;
    const int peer = partner(far, true);
    for (int turn = 0; turn < kTurns; ++turn) {
      double spent = 0;
      int messages = 0;
      for (int i = 0; i < 20; ++i, messages += kBurst) {
        MPI_Request requests[kBurst];
        m_.barrier(MPI_COMM_WORLD);
        if (peer < 0) continue;
        const double begin = m_.wtime();
        for (MPI_Request& r : requests) {
          is_sender(far) ? m_.isend(data_.data(), 8, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &r)
                         : m_.irecv(more_.data(), 8, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &r);
        }
        spent += m_.wtime() - begin;
        m_.waitall(kBurst, requests, MPI_STATUSES_IGNORE);
      }
      turns.push_back(spent / messages);
    }
    return median(turns);
  }

  plan::Link link(bool far) {
    plan::Link l;
    const double one_way = burst_seconds(far, true, 1, 8) / 2;
    l.overhead = std::min(overhead(far), one_way / 3);
    l.latency = one_way - 2 * l.overhead;
    l.gap = std::max(0.0, (burst_seconds(far, true, kBurst, 8) - 2 * one_way) / (kBurst - 1));
    const double middle = burst_seconds(far, false, 1, kMiddle), whole = burst_seconds(far, false, 1, kLong);
    l.byte = std::max(0.0, (whole - middle) / static_cast<double>(kLong - kMiddle));
    return l;
  }

  // k messages on one port take 1 + (1 + c) + ... + (1 + (k - 1) c) times as long as one.
  double crowding(bool far) {
    const double start = burst_seconds(far, false, 1, 8);
    const double one = burst_seconds(far, false, 1, kMiddle) - start;
    const double all = burst_seconds(far, false, kCrowd, kMiddle) - start;
    return one <= 0 ? 0 : std::clamp(2 * (all / (kCrowd * one) - 1) / (kCrowd - 1), 0.0, 1.0);
  }

  // All ranks of a node together.
  std::uint32_t ports(const plan::Link& between) {
    const double all = burst_seconds(true, true, 1, kWide);
    const double lasts = std::max(all - 2 * between.latency, 1e-9);
    const double ports = std::round(ppn_ * static_cast<double>(kWide) * between.byte / lasts);
    return static_cast<std::uint32_t>(std::clamp(ports, 1.0, static_cast<double>(ppn_)));
  }

  const Mpi& m_;
  std::vector<char> data_, more_;
  int rank_ = 0, size_ = 0, ppn_ = 1;
};

// The lines of the keys that were measured.
void print_measured(const plan::Network& network, bool within, bool between) {
  const std::string text = print(network);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const bool of_within = line.starts_with("within."),
               of_between = line.starts_with("between.") || line.starts_with("ports");
    if (line.starts_with("ppn") || (of_within && !within) || (of_between && !between)) continue;
    const std::size_t blank = line.find(' ');  // more than three digits are noise
    std::printf("network %.*s %.3g\n", static_cast<int>(blank), line.data(), std::strtod(line.data() + blank, nullptr));
  }
}

// `key value` behind what there is.
void add_line(std::string_view line, std::string* network) {
  const std::size_t blank = line.find(' ');
  if (blank == line.npos) return;
  if (!network->empty()) network->push_back(',');
  network->append(line.substr(0, blank)).append("=").append(line.substr(blank + 1));
}

}  // namespace

int run_network_rank() {
  Mpi mpi;
  if (!load(&mpi)) return 1;
  mpi.init(nullptr, nullptr);
  {
    Ranks ranks(mpi);
    const plan::Network network = ranks.measure();
    if (ranks.rank() == 0) print_measured(network, ranks.has_ranks(), ranks.has_nodes());
  }
  std::fflush(stdout);
  mpi.finalize();
  return 0;
}

void tell_step(const char* step) { std::fprintf(stderr, "heddle tune: measures %s ...\n", step); }

heddle::Status measure_network(const std::string& hosts, const std::vector<std::string>& options,
                               std::string* network) {
  const std::string folder = own_folder(), ranks = std::to_string(std::clamp(boot::cores_of_affinity(), 1, kMostRanks));
  std::vector<std::string> words = {folder + "/mpiexec"};
  if (hosts.empty()) {
    words.insert(words.end(), {"-n", "2"});
  } else {
    words.insert(words.end(), {"-hosts", hosts, "-ppn", ranks, "-oversubscribe"});
  }
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {folder + "/heddle", "tune", std::string(kRankOption)});
  int ends[2];
  if (pipe(ends) != 0) return error(MPI_ERR_OTHER, "no pipe: %s", std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (const char* name : kNotMeasured) unsetenv(name);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    std::fprintf(stderr, "heddle tune: %s cannot be run: %s\n", arguments[0], std::strerror(errno));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; child > 0 && ((n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR));) {
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0)
    return error(MPI_ERR_OTHER, "the ranks that measure %s did not end well",
                 hosts.empty() ? "this machine" : hosts.c_str());
  network->clear();
  constexpr std::string_view kMark = "network ";
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with(kMark)) add_line(line.substr(kMark.size()), network);
  }
  plan::Network checked = plan::usual_network();
  return plan::parse_network(*network, "what was measured", &checked);
}
