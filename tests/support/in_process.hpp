// Several MPI processes in one program, as threads: the race detector and the sanitizers see them all.
#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "boot/in_process.hpp"
#include "mpi/process.hpp"
#include "p2p/install.hpp"
#include "support/test_wire.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::test {

// Runs body(process) for ranks 0..size-1 of one job, each on a thread of its own, connected by shared memory.
template <class Body>
void run_processes(int size, Body body, int threads = MPI_THREAD_MULTIPLE) {
  std::vector<std::unique_ptr<boot::Boot>> boots = boot::in_process_job(size);
  std::vector<std::thread> ranks;
  for (auto& boot : boots) {
    ranks.emplace_back([&body, threads, mine = std::move(boot)]() mutable {
      mpi::Process process;
      Status status = process.start(std::move(mine), threads);
      if (status) status = process.open_world(threads);
      ASSERT_TRUE(status) << last_error_detail();
      p2p::install(process.domain());
      body(process);
      // Whoever left early would take its progress away from the others, and whoever waited here without any, what it still
      // has to tell them.
      ASSERT_TRUE(process.boot().fence([&] { process.domain().progress_once(process.domain().vci(0)); }));
      ASSERT_TRUE(process.finish());
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

// The same over a test wire in this weather. `nodes`: of each rank; empty: all on one.
template <class Body>
void run_processes_in(Weather weather, int size, Body body,
                      vci::LongMessages long_messages = vci::LongMessages::kRendezvous, std::vector<int> nodes = {}) {
  auto network = std::make_shared<Network>(size, weather);
  std::vector<std::unique_ptr<boot::Boot>> boots = boot::in_process_job(size, std::move(nodes));
  std::vector<std::thread> ranks;
  for (auto& boot : boots) {
    ranks.emplace_back([&body, network, size, long_messages, mine = std::move(boot)]() mutable {
      vci::DomainOptions options;
      options.self = static_cast<wire::ProcessId>(mine->rank());
      options.threaded = true;
      options.local_ranks = static_cast<std::uint32_t>(size);
      options.long_messages = long_messages;
      std::vector<std::unique_ptr<wire::Wire>> wires;
      wires.push_back(std::make_unique<TestWire>(network, options.self));
      mpi::Process process;
      process.set_boot(std::move(mine));
      ASSERT_TRUE(process.start_on(std::make_unique<vci::Domain>(options, std::move(wires)))) << last_error_detail();
      ASSERT_TRUE(process.open_world(MPI_THREAD_MULTIPLE)) << last_error_detail();
      p2p::install(process.domain());
      body(process);
      // What was refused goes with progress, and others may wait for it.
      ASSERT_TRUE(process.boot().fence([&] { process.domain().progress_once(process.domain().vci(0)); }));
      ASSERT_TRUE(process.finish());
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace heddle::test
