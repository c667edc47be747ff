// Long messages: who moves which part, and what happens when the receiver cannot read.
//
// The processes are threads of this program. With a control that begins with `test:` they read each other by the system
// call all the same (wire/memory_reader.hpp).
#include "p2p/rendezvous.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>

#include "mpi/api_datatype.hpp"
#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "p2p/api.hpp"
#include "support/in_process.hpp"
#include "wire/shm.hpp"

namespace heddle::p2p {
namespace {

using mpi::Process;
using test::run_processes;

Datatype& byte_type() { return *mpi::from_handle(MPI_BYTE); }
constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0xEE};

// The messages are parts of one row of random bytes, each from another place on.
const std::vector<std::byte>& random_bytes() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::uint64_t> words(1 << 20);
    std::mt19937_64 random(5);
    for (std::uint64_t& word : words) word = random();
    const auto* begin = reinterpret_cast<const std::byte*>(words.data());
    return std::vector<std::byte>(begin, begin + words.size() * sizeof(std::uint64_t));
  }();
  return bytes;
}

const std::byte* first_byte(unsigned seed) { return random_bytes().data() + std::size_t{seed} * 977; }
std::byte byte_of(std::size_t i, unsigned seed) { return first_byte(seed)[i]; }
std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  return {first_byte(seed), first_byte(seed) + bytes};
}

// `in` holds the message and then only what was there before.
void expect_message(const std::vector<std::byte>& in, std::size_t bytes, unsigned seed) {
  if (std::memcmp(in.data(), first_byte(seed), bytes) != 0) {  // which is quick under the race detector too
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(in[i], byte_of(i, seed)) << "byte " << i << " of " << bytes;
  }
  for (std::size_t i = bytes; i < in.size(); ++i) ASSERT_EQ(in[i], kUntouched) << "written behind the message";
}

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

// A profile for the life of the object.
class ProfileFile {
 public:
  explicit ProfileFile(const Profile& profile) : path_(testing::TempDir() + "profile-" + std::to_string(getpid())) {
    Profile here = profile;
    here.machine = machine_name();
    EXPECT_TRUE(store_profile(here, path_)) << last_error_detail();
    environment_.emplace("HEDDLE_PROFILE", path_);
  }
  ~ProfileFile() { unlink(path_.c_str()); }

 private:
  const std::string path_;
  std::optional<Environment> environment_;
};

const wire::SingleCopyStats& stats(Process& process) {
  return static_cast<wire::ShmWire*>(process.domain().wires().front())->single_copy().stats();
}

Request* start_send(Comm& comm, const std::vector<std::byte>& data, int to, int tag, Mode mode = Mode::kStandard,
                    Channel channel = Channel::kUser) {
  Request* request = nullptr;
  EXPECT_TRUE(
      isend(comm, data.data(), static_cast<MPI_Count>(data.size()), byte_type(), to, tag, mode, channel, &request));
  return request;
}

void receive(Comm& comm, std::vector<std::byte>& in, std::size_t bytes, int from, int tag,
             Channel channel = Channel::kUser) {
  EXPECT_TRUE(recv(comm, in.data(), static_cast<MPI_Count>(bytes), byte_type(), from, tag, channel, nullptr));
}

// One message to a receiver that waits, from a sender that makes no progress until `until` says so. Then one each way
// between two that are in MPI.
template <class Until>
void one_of_a_computing_sender(const char* control, std::size_t bytes, bool unexpected, Until until) {
  SCOPED_TRACE(std::string(control) + ", " + std::to_string(bytes) + " bytes");
  Environment environment("HEDDLE_SINGLE_COPY", control);
  std::atomic<const wire::SingleCopyStats*> readers{nullptr};
  std::atomic<bool> received{false}, announced{false};
  run_processes(2, [&](Process& process) {
    Comm& world = *process.world();
    std::vector<std::byte> in(bytes + kGuard, kUntouched);
    if (world.rank == 0) {
      std::vector<std::byte> out = pattern(bytes, 1);
      Request* send = start_send(world, out, 1, 0);
      announced = true;
      while (readers == nullptr || !until(*readers.load(), received.load())) std::this_thread::yield();
      wait(*send);
      destroy(send);
      std::fill(out.begin(), out.end(), std::byte{0xBB});  // nobody may read it any more
      out = pattern(bytes, 3);
      receive(world, in, bytes, 1, 1);
      expect_message(in, bytes, 2);
      send = start_send(world, out, 1, 2);
      wait(*send);
      destroy(send);
    } else {
      while (unexpected && !announced) std::this_thread::yield();
      readers = &stats(process);
      receive(world, in, bytes, 0, 0);
      received = true;
      expect_message(in, bytes, 1);
      const std::vector<std::byte> out = pattern(bytes, 2);
      Request* send = start_send(world, out, 0, 1);
      wait(*send);
      destroy(send);
      std::fill(in.begin(), in.end(), kUntouched);
      receive(world, in, bytes, 0, 2);
      expect_message(in, bytes, 3);
    }
  });
}

const std::size_t kSizes[] = {(64 << 10) + 1, (1 << 20) + 13, (5 << 20) - 1};

TEST(Rendezvous, AReceiveCompletesWhileTheSenderComputes) {
  for (const char* control :
       {"auto", "test:none", "test:short@1", "test:short@2,short@3", "test:both", "test:both,short@1,short@2"}) {
    for (std::size_t bytes : kSizes) {
      for (bool unexpected : {false, true}) {
        one_of_a_computing_sender(control, bytes, unexpected,
                                  [](const wire::SingleCopyStats&, bool received) { return received; });
      }
    }
  }
}

TEST(Rendezvous, WhatCannotBeReadIsPushed) {
  // The probe, the first read, one in the middle; nothing, or a part before it.
  for (const char* control : {"test:refuse@0", "test:fault@0", "test:short@0", "test:refuse@1", "test:fault@1",
                              "test:stop@1", "test:refuse@4", "test:fault@4", "test:stop@4", "test:short@2,fault@3",
                              "test:both,refuse@0", "test:both,refuse@1", "test:both,stop@1", "test:both,fault@4"}) {
    for (std::size_t bytes : kSizes) {
      const std::string_view first_call = std::string_view(control).substr(std::string_view(control).find('@'), 2);
      const bool reaches = bytes > (1 << 20) || first_call == "@0" || first_call == "@1";
      one_of_a_computing_sender(control, reaches ? bytes : kSizes[2], bytes == kSizes[1],
                                [](const wire::SingleCopyStats& reader, bool received) {
                                  EXPECT_FALSE(received) << "without the sender, and without reading";
                                  return received || reader.failures != 0;
                                });
    }
  }
}

// Both sides claim as often as they can, in several threads, with messages of every length, one after the other.
void storm(const char* control) {
  Environment environment("HEDDLE_SINGLE_COPY", control);
  Profile eager;
  eager.single_copy_from = 0;
  eager.pull_bytes = 32 << 10;
  eager.pull_after = 0;
  ProfileFile profile(eager);
  std::atomic<std::uint64_t> read{0};
  run_processes(2, [&](Process& process) {
    Comm& world = *process.world();
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&world, t] {
        std::mt19937 random(static_cast<unsigned>(t) + 5);
        for (int i = 0; i < 60; ++i) {
          const std::size_t bytes = 16385 + random() % (i % 8 == 0 ? 900'000 : 120'000);
          const auto seed = static_cast<unsigned>(i * 4 + t);
          const auto out = pattern(bytes, seed + static_cast<unsigned>(world.rank));
          std::vector<std::byte> in(bytes + kGuard, kUntouched);
          Request* send = start_send(world, out, 1 - world.rank, t, i % 7 == 0 ? Mode::kSynchronous : Mode::kStandard);
          receive(world, in, bytes, 1 - world.rank, t);
          expect_message(in, bytes, seed + static_cast<unsigned>(1 - world.rank));
          wait(*send);
          destroy(send);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    read += stats(process).bytes_copied + stats(process).bytes_mapped;
  });
  EXPECT_GT(read, 0u) << "nobody has read anything: this test tests nothing";
}

TEST(Rendezvous, BothSidesAtItByPlainCopies) { storm("auto"); }
TEST(Rendezvous, BothSidesAtItBySystemCalls) { storm("test:none"); }
TEST(Rendezvous, BothSidesAtItWithFaults) { storm("test:fault@5,stop@9,short@13,stop@17,refuse@40"); }
TEST(Rendezvous, TheSenderWritesMeanwhile) { storm("test:both"); }
TEST(Rendezvous, TheSenderWritesMeanwhileWithFaults) {
  storm("test:both,fault@5,stop@9,short@13,stop@17,fault@25,stop@31,refuse@60");
}

// From rank 0 to rank 1, until both have copied, and in each side as many calls have failed. The receiver answers and
// lets the sender write before it reads, so that it has not read all itself.
void until_both_have_copied(const char* control, std::uint64_t failures) {
  SCOPED_TRACE(control);
  Environment environment("HEDDLE_SINGLE_COPY", control);
  std::atomic<const wire::SingleCopyStats*> of_sender{nullptr};
  run_processes(2, [&](Process& process) {
    Comm& world = *process.world();
    constexpr std::size_t kBytes = (2 << 20) - 77;
    if (world.rank == 0) of_sender = &stats(process);
    constexpr unsigned kMost = 40;  // of 64 one goes through cells alone
    std::byte more{1};
    for (unsigned seed = 1; more == std::byte{1}; ++seed) {
      ASSERT_LE(seed, kMost) << "one side alone has copied all";
      if (world.rank == 0) {
        std::vector<std::byte> out = pattern(kBytes, seed);
        EXPECT_TRUE(send(world, out.data(), kBytes, byte_type(), 1, 0, Mode::kStandard, Channel::kUser));
        std::fill(out.begin(), out.end(), std::byte{0xBB});
        EXPECT_TRUE(recv(world, &more, 1, byte_type(), 1, 1, Channel::kUser, nullptr));
      } else {
        std::vector<std::byte> in(kBytes + kGuard, kUntouched);
        EXPECT_TRUE(api::probe(0, 0, world, nullptr));
        const wire::SingleCopyStats& sender = *of_sender.load();
        const auto tries = [&sender] { return sender.bytes_copied + sender.failures; };
        const std::uint64_t before = tries();
        Request* request = nullptr;
        ASSERT_TRUE(irecv(world, in.data(), kBytes, byte_type(), 0, 0, Channel::kUser, &request));
        while (seed > 1 && tries() == before)
          std::this_thread::yield();  // it may not write before it was answered once
        wait(*request);
        destroy(request);
        expect_message(in, kBytes, seed);
        const auto is_done = [failures](const wire::SingleCopyStats& side) {
          return side.bytes_copied > 0 && side.failures >= failures;
        };
        more = is_done(stats(process)) && is_done(sender) ? std::byte{0} : std::byte{1};
        EXPECT_TRUE(send(world, &more, 1, byte_type(), 0, 1, Mode::kStandard, Channel::kUser));
      }
    }
  });
}

TEST(Rendezvous, BothCopyAndWhatOneCannotComesThroughCells) {
  until_both_have_copied("test:both", 0);
  until_both_have_copied("test:both,short@2,short@3", 0);
  until_both_have_copied("test:both,fault@2", 1);
  until_both_have_copied("test:both,stop@2,stop@5", 2);
  until_both_have_copied("test:both,fault@1,refuse@40", 1);
}

// It never reads, and so has nothing to compare. Reading costs ever so much, then next to nothing. Of a collective, so that nobody
// writes, and slow fills do not count.
TEST(Rendezvous, WhoOnlySendsHearsWhatReadingCosts) {
  constexpr int kTurn = wire::CopyCosts::kMessages, kOthers = wire::CopyCosts::kInARow;
  constexpr std::size_t kBytes = 32 << 10;  // not offered, but to be read at once
  Environment environment("HEDDLE_SINGLE_COPY", "test:none");
  run_processes(2, [&](Process& process) {
    Comm& world = *process.world();
    const std::vector<std::byte> out = pattern(kBytes, 1);
    std::vector<std::byte> in(kBytes + kGuard, kUntouched);
    int read = 0;
    const auto messages = [&](int n) {
      for (int i = 0; i < n; ++i) {
        if (world.rank == 1) {
          receive(world, in, kBytes, 0, 0, Channel::kCollective);
          continue;
        }
        Request* send = start_send(world, out, 1, 0, Mode::kStandard, Channel::kCollective);
        wait(*send);
        destroy(send);
      }
      if (world.rank == 1) expect_message(in, kBytes, 1);
    };
    const auto all_take = [&](wire::Copy kind, float each) {
      for (int i = 0; i < 100 && world.rank == 1; ++i) process.domain().copy_costs()->took(kind, each);
    };
    const auto expect_read = [&](int n) {
      read += world.rank == 1 ? n : 0;
      EXPECT_EQ(stats(process).bytes_copied, static_cast<std::size_t>(read) * kBytes);
    };
    all_take(wire::Copy::kRead, 1e6);
    messages(1);  // whether it can be read is not known yet
    messages(2 * kTurn);
    expect_read(2 * kOthers);
    all_take(wire::Copy::kFill, 1e9);
    all_take(wire::Copy::kEmpty, 1e9);
    messages(kTurn);
    expect_read(1 + kTurn - 2 * kOthers);  // the first of the others, and all behind them
  });
}

TEST(Rendezvous, TurnedOffNobodyReads) {
  Environment environment("HEDDLE_SINGLE_COPY", "off");
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    std::vector<std::byte> in((1 << 20) + kGuard, kUntouched);
    const auto out = pattern(1 << 20, 1);
    Request* send = start_send(world, out, 1 - world.rank, 0);
    receive(world, in, 1 << 20, 1 - world.rank, 0);
    expect_message(in, 1 << 20, 1);
    wait(*send);
    destroy(send);
    EXPECT_EQ(stats(process).bytes_copied + stats(process).bytes_mapped, 0u);
  });
}

TEST(Rendezvous, AProcessCopiesToItselfOnce) {
  run_processes(1, [](Process& process) {
    Comm& self = *process.self();
    std::vector<std::byte> in((3 << 20) + kGuard, kUntouched);
    const auto out = pattern(3 << 20, 9);
    Request* send = start_send(self, out, 0, 0);
    receive(self, in, 3 << 20, 0, 0);
    expect_message(in, 3 << 20, 9);
    wait(*send);
    destroy(send);
    EXPECT_GT(stats(process).bytes_mapped, std::uint64_t{2} << 20);
  });
}

TEST(Rendezvous, TypesWithGapsAndTruncation) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    Datatype* column = nullptr;
    MPI_Datatype handle;
    ASSERT_TRUE(api::type_vector(1 << 17, 4, 8, byte_type(), &handle, false));  // 512 KiB of 1 MiB
    column = mpi::from_handle(handle);
    constexpr std::size_t kBytes = 1 << 19;
    const auto all = pattern(1 << 20, 4);
    std::vector<std::byte> in((1 << 20) + kGuard, kUntouched);
    if (world.rank == 0) {
      EXPECT_TRUE(send(world, all.data(), kBytes, byte_type(), 1, 0, Mode::kStandard, Channel::kUser));
      EXPECT_TRUE(send(world, all.data(), 1, *column, 1, 1, Mode::kStandard, Channel::kUser));
      EXPECT_TRUE(send(world, all.data(), kBytes, byte_type(), 1, 2, Mode::kStandard, Channel::kUser));
    } else {
      EXPECT_TRUE(recv(world, in.data(), 1, *column, 0, 0, Channel::kUser, nullptr));
      for (std::size_t i = 0; i < kBytes; ++i) {
        ASSERT_EQ(in[i / 4 * 8 + i % 4], byte_of(i, 4));
        ASSERT_EQ(in[i / 4 * 8 + 4 + i % 4], kUntouched);
      }
      receive(world, in, kBytes, 0, 1);
      for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(in[i], byte_of(i / 4 * 8 + i % 4, 4));
      std::fill(in.begin(), in.end(), kUntouched);
      const Status result = recv(world, in.data(), 100'000, byte_type(), 0, 2, Channel::kUser, nullptr);
      EXPECT_EQ(result.error_class(), MPI_ERR_TRUNCATE);
      expect_message(in, 100'000, 4);
    }
    mpi::release(*column);
  });
}

TEST(Rendezvous, ASendThatWasLetGoIsReadToItsEnd) {
  for (const char* control : {"auto", "test:none", "test:fault@2"}) {
    Environment environment("HEDDLE_SINGLE_COPY", control);
    std::atomic<bool> let_go{false};
    run_processes(2, [&](Process& process) {
      Comm& world = *process.world();
      const auto out = pattern(1 << 20, 8);
      if (world.rank == 0) {
        abandon(*start_send(world, out, 1, 0));
        let_go = true;
        process.domain().wait(*world.vci, [&] { return process.domain().abandoned().empty(); });
      } else {
        while (!let_go) std::this_thread::yield();
        std::vector<std::byte> in((1 << 20) + kGuard, kUntouched);
        receive(world, in, 1 << 20, 0, 0);
        expect_message(in, 1 << 20, 8);
      }
    });
  }
}

// The receiver answers more announcements than its ring has slots and then computes: its sender writes no more than it can
// say, and loses none of it.
TEST(Rendezvous, NothingIsWrittenThatCannotBeSaid) {
  Environment environment("HEDDLE_SINGLE_COPY", "test:both");
  constexpr std::size_t kBytes = 64 << 10, kPart = kBytes / 2, kSlots = 256;
  constexpr unsigned kMessages = 300;
  std::atomic<const wire::SingleCopyStats*> of_sender{nullptr};
  run_processes(2, [&](Process& process) {
    Comm& world = *process.world();
    std::vector<std::vector<std::byte>> data;
    std::vector<Request*> requests(kMessages);
    for (unsigned i = 0; i < kMessages; ++i) {
      data.push_back(world.rank == 0 ? pattern(kBytes, i) : std::vector<std::byte>(kBytes + kGuard, kUntouched));
    }
    if (world.rank == 0) {  // which asks whether it may write when it has been answered once
      EXPECT_TRUE(send(world, data[0].data(), kBytes, byte_type(), 1, kMessages, Mode::kStandard, Channel::kUser));
      of_sender = &stats(process);
      for (unsigned i = 0; i < kMessages; ++i) requests[i] = start_send(world, data[i], 1, static_cast<int>(i));
    } else {
      receive(world, data[0], kBytes, 0, kMessages);
      std::fill(data[0].begin(), data[0].end(), kUntouched);
      EXPECT_TRUE(api::probe(0, kMessages - 1, world, nullptr));  // all are there
      for (unsigned i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(
            irecv(world, data[i].data(), kBytes, byte_type(), 0, static_cast<int>(i), Channel::kUser, &requests[i]));
      }
      while (of_sender.load()->bytes_copied < kSlots * 3 / 4 * kPart) std::this_thread::yield();
      // It goes on if it can. By the clock: where others are busy a yield may take a whole slice.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_LE(of_sender.load()->bytes_copied, kSlots * kPart);
    }
    for (unsigned i = 0; i < kMessages; ++i) {
      wait(*requests[i]);
      destroy(requests[i]);
      if (world.rank == 1) expect_message(data[i], kBytes, i);
    }
  });
}

// The blocks go round: more messages than one carve has blocks, of a persistent send and of others.
TEST(Rendezvous, BlocksAreUsedAgain) {
  run_processes(2, [](Process& process) {
    Comm& world = *process.world();
    constexpr std::size_t kBytes = 70'000;
    const auto out = pattern(kBytes, 5);
    if (world.rank == 0) {
      SendRequest* again = make_send(
          world, {const_cast<std::byte*>(out.data()), kBytes, &byte_type(), 1, 0, Channel::kUser}, Mode::kStandard);
      for (int i = 0; i < 100; ++i) {
        std::vector<Request*> others;
        ASSERT_TRUE(again->start());
        for (int k = 0; k < 3; ++k) others.push_back(start_send(world, out, 1, 0));
        for (Request* other : others) {
          wait(*other);
          destroy(other);
        }
        wait(*again);
      }
      destroy(again);
    } else {
      for (int i = 0; i < 400; ++i) {
        std::vector<std::byte> in(kBytes + kGuard, kUntouched);
        receive(world, in, kBytes, 0, 0);
        expect_message(in, kBytes, 5);
      }
    }
  });
}

}  // namespace
}  // namespace heddle::p2p
