// What a rank of a large job keeps for its peers: the tables of 131,072 ranks, and 26 neighbours on other hosts.
#include <gtest/gtest.h>

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

// Rank 0 of that job, whose other ranks have not said anything yet.
class LargeBoot final : public boot::Boot {
 public:
  LargeBoot() : Boot(large_job()) { values_[std::string(boot::kSecretKey)] = std::string(64, 'a'); }
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
  static boot::Job large_job() {
    boot::Job job;
    job.size = kRanks;
    job.name = "scale-test-" + std::to_string(getpid());
    job.node_of_rank.clear();
    for (int rank = 0; rank < kRanks; ++rank) job.node_of_rank.push_back(rank / (kRanks / kNodes));
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

TEST(Scale, TheTablesOfALargeJobAreAFewMegabytes) {
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
    const auto peer = static_cast<wire::ProcessId>(i * (kRanks / kNodes));
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
  const long tables = with_boot - nothing + with_neighbours - with_wires;
  RecordProperty("tables_kib", static_cast<int>(tables));
  EXPECT_LT(tables, 8 * 1024);
  EXPECT_LT(with_neighbours - with_world, 256);
  EXPECT_TRUE(process.finish());
}

}  // namespace
}  // namespace heddle::mpi
