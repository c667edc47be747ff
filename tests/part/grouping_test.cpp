// In how many groups small partitions travel: as the info key says, or else the machine's profile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/profile.hpp"
#include "mpi/datatype_basic.hpp"
#include "mpi/handle.hpp"
#include "mpi/info.hpp"
#include "p2p/api.hpp"
#include "part/api.hpp"
#include "part/request.hpp"
#include "support/in_process.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

constexpr int kParts = 24, kEach = 40, kReceivers = 4;  // 240 bytes of each of the receiver's

void send(mpi::Process& process, mpi::Info* info, std::uint32_t groups) {
  std::vector<char> data(kParts * kEach, 'x');
  MPI_Request request;
  ASSERT_TRUE(api::psend_init(data.data(), kParts, kEach, mpi::byte_type(), 1, 5, *process.world(), info, &request));
  ASSERT_TRUE(api::start(&request));
  ASSERT_TRUE(api::pready_range(0, kParts - 1, request));
  ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
  EXPECT_EQ(static_cast<Send*>(mpi::from_handle(request))->grouping.groups(), groups);
  ASSERT_TRUE(api::request_free(&request));
}

void receive(mpi::Process& process) {
  std::vector<char> data(kParts * kEach);
  MPI_Request request;
  ASSERT_TRUE(api::precv_init(data.data(), kReceivers, kParts * kEach / kReceivers, mpi::byte_type(), 0, 5,
                              *process.world(), nullptr, &request));
  ASSERT_TRUE(api::start(&request));
  ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
  EXPECT_EQ(data, std::vector<char>(data.size(), 'x'));
  ASSERT_TRUE(api::request_free(&request));
  vci::Vci& vci = *process.world()->vci;
  while (vci.has_busy_lanes()) vci.domain().progress_once(vci);
}

TEST(Groups, AreAsLargeAsTheInfoSays) {
  const std::pair<const char*, std::uint32_t> cases[] = {
      {nullptr, 4}, {"0", 24}, {"40", 24}, {"100", 12}, {"239", 8}, {"1000000", 4}, {"many", 4}, {"", 4}, {"10 ", 4}};
  test::run_processes(2, [&](mpi::Process& process) {
    for (const auto& [text, groups] : cases) {
      mpi::Info info;
      if (text != nullptr) info.set("heddle_aggregate_bytes", text);
      process.world()->rank == 0 ? send(process, &info, groups) : receive(process);
    }
  });
}

TEST(Groups, AreElseAsLargeAsTheProfileSays) {
  const std::string path = testing::TempDir() + "heddle-groups-" + std::to_string(getpid());
  std::ofstream(path) << "aggregate_bytes 100\nmachine " << machine_name() << "\n";
  setenv("HEDDLE_PROFILE", path.c_str(), 1);
  test::run_processes(2, [](mpi::Process& process) {
    mpi::Info info;
    info.set("heddle_aggregate_bytes", "0");
    const bool sends = process.world()->rank == 0;
    sends ? send(process, nullptr, 12) : receive(process);
    sends ? send(process, &info, 24) : receive(process);
  });
  unsetenv("HEDDLE_PROFILE");
  unlink(path.c_str());
}

}  // namespace
}  // namespace heddle::part
