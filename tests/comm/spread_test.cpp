// A communicator over several VCIs: each message is received on the VCI that its tag and source name, and on no other.
#include <gtest/gtest.h>

#include <set>

#include "comm/api_comm.hpp"
#include "comm/messages.hpp"
#include "mpi/spread.hpp"
#include "p2p/api.hpp"
#include "support/in_process.hpp"

namespace heddle {
namespace {

using test::object;
using test::recv_int;
using test::run_processes;
using test::send_int;

constexpr int kTags = 8;

MPI_Comm duplicate(mpi::Process& p, std::initializer_list<const char*> assertions) {
  mpi::Info* info = mpi::take_info();
  for (const char* assertion : assertions) info->set(assertion, "true");
  MPI_Comm copy = MPI_COMM_NULL;
  EXPECT_TRUE(api::comm_dup_with_info(*p.world(), info, &copy));
  mpi::release(*info);
  return copy;
}

std::uint64_t received(mpi::Process& p, std::uint32_t vci) { return p.domain().vci(vci).counts().received; }

// The VCIs on which rank 1 has received messages of tags 0 to kTags - 1 from rank 0.
std::set<std::uint32_t> used_for_tags(mpi::Process& p, mpi::Comm& comm) {
  std::set<std::uint32_t> used;
  for (int tag = 0; tag < kTags; ++tag) {
    if (comm.rank == 0) {
      send_int(comm, 100 + tag, 1, tag);
      recv_int(*p.world(), 1);  // one at a time: whoever waits also takes what has come for other VCIs
      continue;
    }
    const std::uint32_t expected = mpi::stream_of(comm, mpi::Channel::kUser, 0, tag).vci->index();
    std::vector<std::uint64_t> before;
    for (std::uint32_t i = 0; i < p.domain().vci_count(); ++i) before.push_back(received(p, i));
    EXPECT_EQ(recv_int(comm, 0, tag), 100 + tag);
    EXPECT_EQ(received(p, expected), before[expected] + 1);
    for (std::uint32_t i = 0; i < p.domain().vci_count(); ++i) {
      if (i != expected) {
        EXPECT_EQ(received(p, i), before[i]) << "VCI " << i << " for tag " << tag;
      }
    }
    used.insert(expected);
    send_int(*p.world(), 0, 0);
  }
  return used;
}

TEST(Spread, TagsHaveVcisOfTheirOwn) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Comm comm = duplicate(p, {"mpi_assert_no_any_tag"});
    ASSERT_NE(object(comm).spread, nullptr);
    const std::set<std::uint32_t> used = used_for_tags(p, object(comm));
    if (object(comm).rank == 1) {
      EXPECT_EQ(used.size(), kTags);
    }
    ASSERT_TRUE(api::comm_free(&comm));
  });
}

TEST(Spread, SourcesAloneDoNotLookAtTags) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Comm comm = duplicate(p, {"mpi_assert_no_any_source"});
    ASSERT_NE(object(comm).spread, nullptr);
    const std::set<std::uint32_t> used = used_for_tags(p, object(comm));
    if (object(comm).rank == 1) {
      EXPECT_EQ(used.size(), 1u);
    }
    ASSERT_TRUE(api::comm_free(&comm));
  });
}

TEST(Spread, WhatOneDoesNotAssertNobodyReliesOn) {
  run_processes(2, [](mpi::Process& p) {
    const bool first = p.world()->rank == 0;
    MPI_Comm comm = first ? duplicate(p, {"mpi_assert_no_any_tag"}) : duplicate(p, {"mpi_assert_no_any_source"});
    EXPECT_EQ(object(comm).spread, nullptr);
    ASSERT_TRUE(api::comm_free(&comm));
  });
}

TEST(Spread, OneThreadHasNothingToSpread) {
  run_processes(
      2,
      [](mpi::Process& p) {
        MPI_Comm comm = duplicate(p, {"mpi_assert_no_any_tag", "mpi_assert_no_any_source"});
        const std::set<std::uint32_t> used = used_for_tags(p, object(comm));
        if (object(comm).rank == 1) {
          EXPECT_EQ(used.size(), 1u);
        }
        ASSERT_TRUE(api::comm_free(&comm));
      },
      MPI_THREAD_SERIALIZED);
}

}  // namespace
}  // namespace heddle
