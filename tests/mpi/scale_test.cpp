// What a rank of a large job keeps for its peers: the tables of 131,072 ranks, and 26 neighbours on other hosts.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "boot/boot.hpp"
#include "boot/pmi1_line.hpp"
#include "mpi/process.hpp"
#include "vci/domain.hpp"
#include "wire/wire.hpp"

namespace heddle::mpi {
namespace {

constexpr int kRanks = 131'072, kNodes = 1'024, kNeighbours = 26;
constexpr int kOfNode = kRanks / kNodes;

// Rank 0 of that job, or of one with fewer nodes, whose other ranks have not said anything yet.
class LargeBoot final : public boot::Boot {
 public:
  explicit LargeBoot(int nodes = kNodes) : Boot(large_job(nodes)) {
    values_[std::string(boot::kSecretKey)] = std::string(64, 'a');
  }
  std::size_t max_value() const noexcept override { return 1024; }
  Status put(std::string_view key, std::string_view value) override {
    values_[std::string(key)] = value;
    return Status::ok();
  }
  Status get(int rank, std::string_view key, std::string& value) override {
    const auto found = values_.find(std::string(key));
    if (rank != 0 || found == values_.end()) return error(MPI_ERR_NAME, "rank %d has put nothing", rank);
    value = found->second;
    return Status::ok();
  }
  Status fence(const Meanwhile&) override { return Status::ok(); }
  [[noreturn]] void abort(int, std::string_view message) noexcept override {
    boot::write_message(message);
    _exit(1);
  }
  Status finalize() override { return Status::ok(); }
  bool can_rejoin() const noexcept override { return true; }

 private:
  static boot::Job large_job(int nodes) {
    boot::Job job;
    job.size = nodes * kOfNode;
    job.name = "scale-test-" + std::to_string(getpid());
    job.node_of_rank.clear();
    for (int rank = 0; rank < job.size; ++rank) job.node_of_rank.push_back(rank / kOfNode);
    job.facts.node_cores = 1;
    return job;
  }
  std::map<std::string, std::string> values_;
};

// Resident memory in KiB.
long resident() {
  long pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  return resident_pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// What the wires and the domain take in a job of so many nodes, libraries and the node's shared memory included; by a process of its own.
long kib_of_wires(int nodes) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto boot = std::make_unique<LargeBoot>(nodes);
    const long before = resident();
    Process process;
    const bool started = process.start(std::move(boot), MPI_THREAD_MULTIPLE).is_ok() && process.has_fabric();
    const long took = started ? resident() - before : -1;
    _exit(write(ends[1], &took, sizeof took) == sizeof took ? 0 : 1);
  }
  long took = -1;
  int status = 0;
  ::close(ends[1]);
  EXPECT_EQ(read(ends[0], &took, sizeof took), static_cast<ssize_t>(sizeof took));
  ::close(ends[0]);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(took, 0);
  return took;
}

TEST(Scale, TheTablesOfALargeJobAreAFewMegabytes) {
  const long wires_of_two = kib_of_wires(2), wires_of_all = kib_of_wires(kNodes);
  const long nothing = resident();
  auto boot = std::make_unique<LargeBoot>();
  const long with_boot = resident();
  Process process;
  ASSERT_TRUE(process.start(std::move(boot), MPI_THREAD_MULTIPLE)) << last_error_detail();
  ASSERT_TRUE(process.has_fabric());
  const long with_wires = resident();
  ASSERT_TRUE(process.open_world(MPI_THREAD_MULTIPLE)) << last_error_detail();
  ASSERT_EQ(process.world()->peer_count, kRanks);
  const long with_world = resident();
  wire::Wire& fabric = *process.domain().wires()[1];
  for (int i = 1; i <= kNeighbours; ++i) {
    const auto peer = static_cast<wire::ProcessId>(i * kOfNode);
    ASSERT_TRUE(fabric.reaches(peer));
    wire::TxLane* lane = nullptr;
    ASSERT_TRUE(fabric.connect(0, peer, 0, &lane)) << last_error_detail();
    wire::Payload none;
    EXPECT_FALSE(lane->try_send({}, nullptr, none)) << "it is not there yet";
  }
  const long with_neighbours = resident();
  std::printf("KiB: boot %ld, wires (shared memory and libfabric too) %ld, world %ld, %d lanes %ld\n",
              with_boot - nothing, with_wires - with_boot, with_world - with_wires, kNeighbours,
              with_neighbours - with_world);
  std::printf("KiB: wires of a job of two nodes %ld, of all %ld\n", wires_of_two, wires_of_all);
  EXPECT_LT(wires_of_all - wires_of_two, 2048) << "they keep nothing for ranks that nobody talks to, but a number";
  const long tables = with_boot - nothing + wires_of_all - wires_of_two + with_neighbours - with_wires;
  RecordProperty("tables_kib", static_cast<int>(tables));
  EXPECT_LT(tables, 8 * 1024);
  EXPECT_LT(with_neighbours - with_world, 256);
  EXPECT_TRUE(process.finish());
}

}  // namespace
}  // namespace heddle::mpi
