// Long messages that go as a whole: what is dropped, to the byte, and that every byte comes all the same.
#include "p2p/eager.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>

#include "mpi/datatype.hpp"
#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "support/in_process.hpp"

namespace heddle::p2p {
namespace {

using mpi::Process;
using Bytes = std::vector<std::byte>;

Datatype& byte_type() { return *mpi::from_handle(MPI_BYTE); }
constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0xEE};
constexpr std::size_t kPacket = 16 << 10, kLong = 4 << 20;

std::byte byte_of(std::size_t i, unsigned seed) {
  return static_cast<std::byte>((i * 31 + (i >> 12) * 7 + seed) & 0xFF);
}

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = byte_of(i, seed);
  return out;
}

// `in` holds so much of the message and then only what was there before.
void expect_message(const Bytes& in, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(in[i], byte_of(i, seed)) << "byte " << i << " of " << bytes;
  for (std::size_t i = bytes; i < in.size(); ++i) ASSERT_EQ(in[i], kUntouched) << "written behind the message";
}

Bytes empty(std::size_t bytes) { return Bytes(bytes + kGuard, kUntouched); }

Request* start_send(Comm& comm, const Bytes& data, int tag, Mode mode = Mode::kStandard) {
  Request* request = nullptr;
  EXPECT_TRUE(isend(comm, data.data(), static_cast<MPI_Count>(data.size()), byte_type(), 1, tag, mode, Channel::kUser,
                    &request));
  return request;
}

Request* start_receive(Comm& comm, Bytes& in, std::size_t room, int source, int tag) {
  Request* request = nullptr;
  EXPECT_TRUE(irecv(comm, in.data(), static_cast<MPI_Count>(room), byte_type(), source, tag, Channel::kUser, &request));
  return request;
}

void end(Request* request) {
  wait(*request);
  destroy(request);
}

vci::Counts counts(Process& process) { return process.world()->vci->counts(); }
std::uint64_t dropped(Process& process) { return counts(process).dropped_bytes; }

template <class Condition>
void until(Process& process, Condition condition) {
  process.domain().wait(*process.world()->vci, condition);
}

// Under HEDDLE_LONG_MESSAGES=eager and what else is set, a body for the sender (rank 0) and one for the receiver.
class EagerMessages : public testing::Test {
 protected:
  EagerMessages() {
    set("HEDDLE_LONG_MESSAGES", "eager");
    set("HEDDLE_SINGLE_COPY", "off");
  }
  ~EagerMessages() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    set_.push_back(name);
  }
  template <class Send, class Receive>
  void run(Send send, Receive receive) {
    test::run_processes(2, [&](Process& process) {
      if (process.world()->rank == 0) {
        send(process, *process.world());
      } else {
        receive(process, *process.world());
        const LockedVci vci(process);
        EXPECT_EQ(vci.arriving(), 0u) << "a receive that is complete is still known";
      }
    });
  }
  // What the ranks tell each other beside the messages.
  std::atomic<int> step{0};

 private:
  struct LockedVci {
    explicit LockedVci(Process& process) : vci(*process.world()->vci) {}
    std::size_t arriving() const {
      LockGuard guard(vci.lock());
      return vci.arriving().size();
    }
    vci::Vci& vci;
  };
  std::vector<std::string> set_;
};

TEST_F(EagerMessages, NothingIsDroppedWhereAReceiveWaits) {
  run(
      [&](Process& process, Comm& world) {
        until(process, [&] { return step == 1; });
        const Bytes out = pattern(kLong, 1);
        Request* send = start_send(world, out, 7);
        end(send);
        EXPECT_EQ(dropped(process), 0u);
      },
      [&](Process& process, Comm& world) {
        Bytes in = empty(kLong);
        Request* receive = start_receive(world, in, kLong, MPI_ANY_SOURCE, MPI_ANY_TAG);
        step = 1;
        wait(*receive);
        EXPECT_EQ(receive->source, 0);
        EXPECT_EQ(receive->tag, 7);
        EXPECT_EQ(receive->bytes, static_cast<MPI_Count>(kLong));
        destroy(receive);
        expect_message(in, kLong, 1);
        EXPECT_EQ(dropped(process), 0u);
      });
}

TEST_F(EagerMessages, AllButTheFirstPacketIsDroppedWhereNoneWaits) {
  for (Mode mode : {Mode::kStandard, Mode::kSynchronous}) {
    step = 0;
    run(
        [&](Process& process, Comm& world) {
          Bytes out = pattern(kLong, 2);
          Request* send = start_send(world, out, 0, mode);
          while (step == 0) ASSERT_FALSE(test(*send)) << "nobody has received it";
          end(send);
          std::fill(out.begin(), out.end(), std::byte{0xBB});  // nobody may take it for the message any more
          until(process, [&] { return step == 2; });
          end(start_send(world, out, 1));
        },
        [&](Process& process, Comm& world) {
          until(process, [&] { return dropped(process) == kLong - kPacket; });
          EXPECT_LE(counts(process).kept_bytes, kPacket);
          step = 1;
          Bytes in = empty(kLong);
          end(start_receive(world, in, kLong, 0, 0));
          expect_message(in, kLong, 2);
          EXPECT_EQ(dropped(process), kLong - kPacket);
          step = 2;
          end(start_receive(world, in, kLong, 0, 1));
          EXPECT_TRUE(
              std::ranges::all_of(in.begin(), in.end() - kGuard, [](std::byte b) { return b == std::byte{0xBB}; }));
        });
  }
}

// The sender turns back: what it has not sent yet does not go twice.
TEST_F(EagerMessages, AReceiveThatIsPostedInTheMiddleEndsTheStream) {
  run(
      [&](Process&, Comm& world) {
        const Bytes out = pattern(kLong, 3);
        Request* send = start_send(world, out, 0);  // as much as finds room
        step = 1;
        while (step == 1) std::this_thread::yield();
        end(send);
      },
      [&](Process& process, Comm& world) {
        while (step == 0) std::this_thread::yield();
        until(process, [&] { return dropped(process) != 0; });
        Bytes in = empty(kLong);
        Request* receive = start_receive(world, in, kLong, 0, 0);
        step = 2;
        end(receive);
        expect_message(in, kLong, 3);
        EXPECT_LT(dropped(process), kLong / 2);
      });
}

TEST_F(EagerMessages, ATruncatedMessageIsTakenToItsEnd) {
  for (bool posted : {true, false}) {
    SCOPED_TRACE(posted);
    step = 0;
    run(
        [&](Process& process, Comm& world) {
          const Bytes out = pattern(kLong, 4), next = pattern(50'000, 5);
          until(process, [&] { return !posted || step == 1; });
          Request* send = start_send(world, out, 0);
          Request* after = start_send(world, next, 0);
          end(send);
          end(after);
        },
        [&](Process& process, Comm& world) {
          Bytes in = empty(100'000), next = empty(50'000);
          until(process, [&] { return posted || dropped(process) != 0; });
          Request* receive = start_receive(world, in, 100'000, 0, 0);
          step = 1;
          wait(*receive);
          EXPECT_EQ(receive->error, MPI_ERR_TRUNCATE);
          EXPECT_EQ(receive->bytes, 100'000);
          destroy(receive);
          expect_message(in, 100'000, 4);
          end(start_receive(world, next, 50'000, 0, 0));
          expect_message(next, 50'000, 5);
        });
  }
}

TEST_F(EagerMessages, AMatchedProbeFindsItsLengthAndGetsIt) {
  run(
      [&](Process&, Comm& world) {
        const Bytes out = pattern(kLong, 6);
        end(start_send(world, out, 3));
      },
      [&](Process&, Comm& world) {
        MPI_Message message;
        MPI_Status status;
        Bytes in = empty(kLong);
        ASSERT_TRUE(api::mprobe(MPI_ANY_SOURCE, 3, world, &message, &status));
        EXPECT_EQ(mpi::status_bytes(status), static_cast<MPI_Count>(kLong));
        ASSERT_TRUE(api::mrecv(in.data(), kLong, byte_type(), &message, &status));
        expect_message(in, kLong, 6);
      });
}

// Short ones pass the stream of a long one, and long ones take turns; the order of matching stays.
TEST_F(EagerMessages, ManyAtOnceInBothOrders) {
  constexpr int kMessages = 24;
  const auto size = [](int i) { return i % 3 == 0 ? std::size_t{100} : kPacket * static_cast<std::size_t>(i) + 1; };
  for (bool posted : {true, false}) {
    SCOPED_TRACE(posted);
    step = 0;
    run(
        [&](Process& process, Comm& world) {
          until(process, [&] { return !posted || step == 1; });
          std::vector<Bytes> out;
          std::vector<Request*> sends;
          for (int i = 0; i < kMessages; ++i) out.push_back(pattern(size(i), static_cast<unsigned>(i)));
          for (int i = 0; i < kMessages; ++i)
            sends.push_back(start_send(world, out[static_cast<std::size_t>(i)], i % 2));
          for (Request* send : sends) end(send);
        },
        [&](Process& process, Comm& world) {
          std::vector<Bytes> in;
          std::vector<std::pair<int, Request*>> receives;
          for (int i = 0; i < kMessages; ++i) in.push_back(empty(size(i)));
          until(process, [&] { return posted || dropped(process) > kPacket; });
          for (int parity : {1, 0}) {
            for (int i = parity; i < kMessages; i += 2) {
              Bytes& to = in[static_cast<std::size_t>(i)];
              receives.emplace_back(i, start_receive(world, to, size(i), i % 4 < 2 ? 0 : MPI_ANY_SOURCE, parity));
            }
          }
          step = 1;
          for (const auto& [i, receive] : receives) {
            end(receive);
            expect_message(in[static_cast<std::size_t>(i)], size(i), static_cast<unsigned>(i));
          }
        });
  }
}

// Long messages for which the receiver has no credit are a rendezvous: of bytes, and of headers.
TEST_F(EagerMessages, WithoutCreditForItsBytesItWaits) {
  constexpr int kMessages = 20;
  constexpr std::size_t kBytes = 8 * kPacket;
  set("HEDDLE_UNEXPECTED_BYTES", "16384");
  run(
      [&](Process&, Comm& world) {
        // The first are held until the receiver has refused; those that come later know.
        const Bytes out = pattern(kBytes, 8);
        std::vector<Request*> sends;
        for (int tag = 0; tag < kMessages; ++tag) {
          sends.push_back(start_send(world, out, tag));
          while (step == tag) ASSERT_FALSE(test(*sends.back()));
        }
        for (Request* send : sends) end(send);
      },
      [&](Process& process, Comm& world) {
        MPI_Status status;
        for (int tag = 0; tag < kMessages; ++tag) {
          ASSERT_TRUE(api::probe(0, tag, world, &status));
          for (int i = 0; i < 100; ++i) process.domain().progress_once(*world.vci);
          step = tag + 1;
        }
        EXPECT_EQ(dropped(process), 0u);
        for (int tag = kMessages - 1; tag >= 0; --tag) {
          Bytes in = empty(kBytes);
          end(start_receive(world, in, kBytes, 0, tag));
          expect_message(in, kBytes, 8);
        }
        EXPECT_EQ(dropped(process), 0u);
      });
}

TEST_F(EagerMessages, WhatWasHeldIsNotSentUnasked) {
  constexpr int kMessages = 200;
  constexpr std::size_t kBytes = 3 * kPacket;
  set("HEDDLE_UNEXPECTED_HEADERS", "64");
  std::atomic<std::uint64_t> held{0};
  run(
      [&](Process& process, Comm& world) {
        std::vector<Bytes> out;
        std::vector<Request*> sends;
        for (int i = 0; i < kMessages; ++i) out.push_back(pattern(kBytes, static_cast<unsigned>(i)));
        for (const Bytes& one : out) sends.push_back(start_send(world, one, 0));
        for (Request* send : sends) end(send);
        held = counts(process).held;
        step = 1;
      },
      [&](Process& process, Comm& world) {
        until(process, [&] { return counts(process).disables != 0; });
        for (int i = 0; i < kMessages; ++i) {
          Bytes in = empty(kBytes);
          end(start_receive(world, in, kBytes, 0, 0));
          expect_message(in, kBytes, static_cast<unsigned>(i));
        }
        until(process, [&] { return step == 1; });
        EXPECT_GT(held, 0u);
        EXPECT_LE(dropped(process), (kMessages - held) * (kBytes - kPacket));
      });
}

// What the receiver may read by itself is offered to it, and not sent.
TEST_F(EagerMessages, WhatIsOfferedIsNotSent) {
  set("HEDDLE_SINGLE_COPY", "auto");
  run(
      [&](Process&, Comm& world) {
        const Bytes out = pattern(kLong, 9);
        Request* send = start_send(world, out, 0);
        while (step == 0) test(*send);
        end(send);
      },
      [&](Process& process, Comm& world) {
        MPI_Status status;
        ASSERT_TRUE(api::probe(0, 0, world, &status));
        for (int i = 0; i < 1000; ++i) process.domain().progress_once(*world.vci);
        EXPECT_EQ(dropped(process), 0u);
        step = 1;
        Bytes in = empty(kLong);
        end(start_receive(world, in, kLong, 0, 0));
        expect_message(in, kLong, 9);
      });
}

}  // namespace
}  // namespace heddle::p2p
