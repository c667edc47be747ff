// The soak (tests/programs/soak.c) in small, with the processes as threads of one program, so that the race detector sees
// both sides of every message: random sizes and modes, threads that send beside threads that receive, cancelled and
// abandoned requests, matched probes, every byte checked, and the order of each sender.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "support/in_process.hpp"

namespace heddle::p2p {
namespace {

using mpi::Process;
using Bytes = std::vector<std::byte>;

constexpr int kThreads = 2;  // that send, and as many that receive
constexpr std::size_t kMost = 70'000;

Datatype& byte_type() { return *mpi::from_handle(MPI_BYTE); }

// How a message begins; the rest follows from it.
struct Name {
  int rank, thread, number;
};
Bytes content(const Name& name, std::size_t bytes) {
  Bytes out(bytes);
  const auto seed = static_cast<std::size_t>(name.rank * 7 + name.thread * 5 + name.number * 3);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 13 + (i >> 8) + seed);
  std::memcpy(out.data(), &name, sizeof name);
  return out;
}

class Soak {
 public:
  Soak(unsigned seed, int messages) : seed_(seed), messages_(messages) {}

  void operator()(Process& process) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, &process, t] { send_all(*process.world(), t); });
      threads.emplace_back([this, &process, t] { receive_all(*process.world(), t); });
    }
    for (std::thread& thread : threads) thread.join();
    leave(process);
  }

 private:
  std::size_t size(std::mt19937& random) const {
    static constexpr std::size_t kBorders[] = {12, 40, 41, 96, 97, 16383, 16384, 16385, kMost};
    const unsigned kind = random() % 10;
    if (kind < 5) return kBorders[random() % std::size(kBorders)];
    return sizeof(Name) + random() % (kind < 9 ? 200 : kMost - sizeof(Name));
  }

  // As MPI_Finalize: what was let go, and answers that wait for room, need this process's progress. The last message to a
  // peer is sent behind those.
  static void leave(Process& process) {
    Comm& world = *process.world();
    vci::Domain& domain = process.domain();
    domain.wait(*world.vci, [&domain] { return domain.abandoned().empty(); });
    for (int peer = 0; peer < world.size; ++peer) {
      ASSERT_TRUE(send(world, nullptr, 0, byte_type(), peer, kThreads, Mode::kStandard, Channel::kUser));
    }
    for (int peer = 0; peer < world.size; ++peer) {
      ASSERT_TRUE(recv(world, nullptr, 0, byte_type(), peer, kThreads, Channel::kUser, nullptr));
    }
  }

  // `messages_` to each receiver, with its number as their tag.
  void send_all(Comm& world, int thread) {
    std::mt19937 random(seed_ + static_cast<unsigned>(world.rank * 100 + thread));
    std::vector<std::pair<Request*, Bytes>> pending;
    for (int n = 0; n < messages_; ++n) {
      for (int to = 0; to < world.size * kThreads; ++to) {
        Bytes data = content({world.rank, thread, n}, size(random));
        const auto count = static_cast<MPI_Count>(data.size());
        const Mode mode = random() % 4 == 0 ? Mode::kSynchronous : Mode::kStandard;
        const int rank = to / kThreads, tag = to % kThreads;
        const unsigned way = random() % 4;
        if (way == 0) {
          ASSERT_TRUE(send(world, data.data(), count, byte_type(), rank, tag, mode, Channel::kUser));
          continue;
        }
        Request* request = nullptr;
        ASSERT_TRUE(isend(world, data.data(), count, byte_type(), rank, tag, mode, Channel::kUser, &request));
        if (way == 1) {
          MPI_Request handle = mpi::to_handle(request);
          ASSERT_TRUE(api::request_free(&handle));
          std::lock_guard lock(mutex_);
          abandoned_.push_back(std::move(data));
        } else {
          pending.emplace_back(request, std::move(data));
        }
        if (way == 2 || pending.size() > 8) {
          for (auto& [r, bytes] : pending) {
            wait(*r);
            destroy(r);
          }
          pending.clear();
        }
      }
    }
    for (auto& [request, bytes] : pending) {
      wait(*request);
      destroy(request);
    }
  }

  void receive_all(Comm& world, int tag) {
    std::mt19937 random(seed_ + static_cast<unsigned>(world.rank * 100 + 50 + tag));
    std::vector<int> next(static_cast<std::size_t>(world.size * kThreads), 0);
    const auto check = [&](const Bytes& data, int source, MPI_Count bytes) {
      Name name;
      std::memcpy(&name, data.data(), sizeof name);
      ASSERT_EQ(name.rank, source);
      ASSERT_EQ(name.number, next[static_cast<std::size_t>(source * kThreads + name.thread)]++) << "overtaken";
      const Bytes expected = content(name, static_cast<std::size_t>(bytes));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), data.begin())) << bytes << " bytes, torn";
    };
    constexpr auto kCount = static_cast<MPI_Count>(kMost);
    for (int left = messages_ * world.size * kThreads; left > 0;) {
      const unsigned way = random() % 3;
      if (way == 0) {
        Bytes data(kMost);
        MPI_Status status;
        ASSERT_TRUE(recv(world, data.data(), kCount, byte_type(), MPI_ANY_SOURCE, tag, Channel::kUser, &status));
        check(data, status.MPI_SOURCE, mpi::status_bytes(status));
        --left;
      } else if (way == 1) {
        Bytes data(kMost);
        MPI_Message message;
        MPI_Status status;
        ASSERT_TRUE(api::mprobe(MPI_ANY_SOURCE, tag, world, &message, &status));
        ASSERT_TRUE(api::mrecv(data.data(), kCount, byte_type(), &message, &status));
        check(data, status.MPI_SOURCE, mpi::status_bytes(status));
        --left;
      } else {  // several at once; the last may be cancelled before a message meets it
        std::vector<std::pair<Request*, Bytes>> posted(std::min<std::size_t>(4, static_cast<std::size_t>(left)));
        for (auto& [request, data] : posted) {
          data.resize(kMost);
          ASSERT_TRUE(irecv(world, data.data(), kCount, byte_type(), MPI_ANY_SOURCE, tag, Channel::kUser, &request));
        }
        MPI_Request last = mpi::to_handle(posted.back().first);
        ASSERT_TRUE(api::cancel(&last));
        for (auto& [request, data] : posted) {
          wait(*request);
          if (!request->cancelled) {
            check(data, request->source, request->bytes);
            --left;
          }
          destroy(request);
        }
      }
    }
  }

  const unsigned seed_;
  const int messages_;
  std::mutex mutex_;
  std::vector<Bytes> abandoned_;  // until all processes have ended
};

TEST(Soak, OverSharedMemory) {
  for (unsigned seed : {1u, 2u}) {
    Soak soak(seed, 60);
    test::run_processes(3, [&soak](Process& process) { soak(process); });
  }
}

TEST(Soak, InBadWeather) {
  Soak soak(3, 30);
  test::run_processes_in({.refuse_percent = 30, .max_delay = 6, .max_payload = 3000, .seed = 3}, 3,
                         [&soak](Process& process) { soak(process); });
}

TEST(Soak, FetchedInBadWeather) {
  Soak soak(4, 30);
  test::run_processes_in({.refuse_percent = 30,
                          .max_delay = 6,
                          .max_payload = 3000,
                          .fetches = true,
                          .broken_fetch_percent = 20,
                          .seed = 4},
                         3, [&soak](Process& process) { soak(process); });
}

// Where no receive waits yet, what comes is dropped and sent again, in the middle of it too.
TEST(Soak, LongMessagesSentAtOnceInBadWeather) {
  Soak soak(5, 30);
  std::atomic<std::uint64_t> dropped{0};
  test::run_processes_in(
      {.refuse_percent = 30, .max_delay = 6, .max_payload = 3000, .fetches = true, .seed = 5}, 3,
      [&](Process& process) {
        soak(process);
        dropped += process.world()->vci->counts().dropped_bytes;
      },
      vci::LongMessages::kEager);
  EXPECT_GT(dropped, 0u) << "every receive was posted in time: this test tests less than it should";
}

}  // namespace
}  // namespace heddle::p2p
