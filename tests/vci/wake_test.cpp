// A thread that sleeps in a wait is woken when another thread of its process leaves work behind: the lane and the domain as
// they are, what lane_model_test and task_model_test explore in small.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "vci/domain.hpp"

namespace heddle::vci {
namespace {

// A wire that has no room unless it is told to.
struct FullWire final : wire::Wire, wire::TxLane {
  explicit FullWire(Doorbell& b) : Wire(false), TxLane(false, 1000), bell_(b) {}
  bool try_send(const wire::Header&, const void*, wire::Payload&) noexcept override {
    if (const auto act = std::exchange(in_send, nullptr)) act();
    return has_room;
  }
  bool reaches(wire::ProcessId) const noexcept override { return true; }
  Status connect(std::uint32_t, wire::ProcessId, std::uint32_t, wire::TxLane** lane) override {
    *lane = this;
    return Status::ok();
  }
  unsigned poll(std::uint32_t, wire::Sink&, unsigned) noexcept override { return 0; }
  Doorbell* bell() noexcept override { return &bell_; }

  std::atomic<bool> has_room{false};
  std::function<void()> in_send;
  Doorbell& bell_;
};

// A network: what has come is taken by whoever polls first, and nobody else is told of it.
struct Network final : wire::Wire {
  Network() : Wire(false) {}
  bool reaches(wire::ProcessId) const noexcept override { return false; }
  Status connect(std::uint32_t, wire::ProcessId, std::uint32_t, wire::TxLane**) override { return Status::ok(); }
  unsigned poll(std::uint32_t, wire::Sink& sink, unsigned) noexcept override {
    if (!has_packet.exchange(false)) return 0;
    sink.deliver({wire::Header{.portal = kPortal}, nullptr, nullptr, 0});
    return 1;
  }

  static constexpr std::uint8_t kPortal = 5;
  std::atomic<bool> has_packet{false};
};

struct Process {
  Process() {
    auto made = std::make_unique<FullWire>(bell);
    wire = made.get();
    auto other = std::make_unique<Network>();
    network = other.get();
    DomainOptions options;
    options.threaded = true;
    std::vector<std::unique_ptr<wire::Wire>> wires;
    wires.push_back(std::move(made));
    wires.push_back(std::move(other));
    domain = std::make_unique<Domain>(options, std::move(wires));
    EXPECT_TRUE(domain->vci(0).lane_to(0, 0, &lane));
  }
  // An operation that finds no room in an idle lane.
  SendOp& blocked() {
    wire->has_room = true;
    while (lane->busy()) domain->vci(0).progress();
    wire->has_room = false;
    return operation();
  }
  SendOp& operation() {
    return ops.emplace_back(SendOp{[](SendOp&, Lane& l) {
                                     wire::Payload none;
                                     return l.send({}, nullptr, none) ? SendOp::Pushed::kFinished
                                                                      : SendOp::Pushed::kBlocked;
                                   },
                                   nullptr});
  }

  Doorbell bell;
  FullWire* wire;
  Network* network;
  std::unique_ptr<Domain> domain;
  Lane* lane = nullptr;
  std::deque<SendOp> ops;
};

// Whether `act`, done while a thread sleeps, rings. A sleep ends by itself now and then, so it is tried a few times.
bool wakes(Process& process, const std::function<void()>& act) {
  std::atomic<bool> done{false};
  std::thread waiter([&] { process.domain->wait(process.domain->vci(0), [&] { return done.load(); }); });
  bool rang = false;
  for (int i = 0; i < 20 && !rang; ++i) {
    while (process.bell.sleepers.load() == 0) std::this_thread::yield();
    const std::uint32_t before = process.bell.sequence.load();
    act();
    rang = process.bell.sequence.load() != before;
  }
  done = true;
  process.bell.ring();
  waiter.join();
  return rang;
}

TEST(Wake, WhenAMessageIsQueued) {
  Process process;
  EXPECT_TRUE(wakes(process, [&] { process.lane->queue(process.blocked()); }));
}

TEST(Wake, WhenAStreamWaitsForRoom) {
  Process process;
  EXPECT_TRUE(wakes(process, [&] { process.lane->stream(process.blocked()); }));
}

TEST(Wake, WhenThereIsANewTask) {
  Process process;
  std::deque<Task> tasks;
  EXPECT_TRUE(wakes(process, [&] {
    tasks.push_back({[](Task&) { return true; }, nullptr});
    process.domain->add_task(tasks.back());
  }));
}

// Others know whom to wake for what the task waited for before.
TEST(Wake, WhenATaskGetsOn) {
  struct Stepped : Task {
    Domain* domain;
    std::atomic<bool> may_get_on{false}, over{false};
  };
  Process process;
  Stepped task;
  task.domain = process.domain.get();
  task.step = [](Task& stepped) {
    auto& self = static_cast<Stepped&>(stepped);
    if (self.may_get_on.exchange(false)) self.domain->note_advance();
    return self.over.load();
  };
  process.domain->add_task(task);
  EXPECT_TRUE(wakes(process, [&] {
    task.may_get_on = true;
    process.domain->progress(process.domain->vci(0), 0);
  }));
  task.over = true;
  process.domain->progress(process.domain->vci(0), 0);
}

// Such as one that a probe waits for.
TEST(Wake, WhenAMessageIsTakenFromANetwork) {
  Process process;
  process.domain->vci(0).table().set(Network::kPortal, [](Vci&, const wire::Packet&) {});
  EXPECT_TRUE(wakes(process, [&] {
    process.network->has_packet = true;
    process.domain->vci(0).progress();
  }));
}

// Who was kept from looking at a lane, by a thread that tries in vain just now, does not sleep.
TEST(Wake, WhoWasKeptFromALaneDoesNotSleep) {
  Process process;
  process.lane->queue(process.blocked());
  bool contended = false;
  const auto look_meanwhile = [&] {
    std::thread([&] { process.domain->vci(0).progress_before_sleep(&contended); }).join();
  };
  process.wire->in_send = look_meanwhile;
  process.domain->vci(0).progress();
  EXPECT_TRUE(contended) << "the other was about to push all lanes";
  contended = false;
  process.wire->in_send = look_meanwhile;
  process.lane->stream(process.operation());
  EXPECT_TRUE(contended) << "the other was at this lane";
}

}  // namespace
}  // namespace heddle::vci
