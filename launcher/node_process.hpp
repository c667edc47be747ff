// mpiexec on another host: what the remote shell starts as `mpiexec --node`.
//
// Method:  says hello, gets the job, and is a Node whose every event becomes a frame, and every frame a call. When
//          mpiexec is silent or gone, so are the ranks. Its guard expects a sign of life from it too: nobody else on
//          this host would notice that it hangs.
// Threads: one.
#pragma once

#include <memory>
#include <optional>

#include "channel.hpp"
#include "channel_outlet.hpp"
#include "event_loop.hpp"
#include "node.hpp"
#include "node_link.hpp"
#include "node_spec.hpp"
#include "signals.hpp"

namespace heddle::launcher {

class NodeProcess final : private Upstream, private Channel::Listener {
 public:
  NodeProcess() : channel_(loop_, *this) {}
  // The exit code, for the remote shell.
  int run();

 private:
  Status open();
  void take_job(const Frame& frame);
  bool handle(FrameType type, FrameReader& in);
  void on_signal(int signal);
  void beat_for_guard();

  bool on_greeting(std::string_view&) override { return true; }  // mpiexec sends frames only
  void on_frame(const Frame& frame) override;
  void on_closed(const std::string& why) override;
  void on_silent() override;

  void ready(int node) override;
  void failed(int node, int code, const std::string& what) override;
  void started(int rank, pid_t pid) override;
  void ended(const RankEnd& end) override;
  void lost(int node, const std::string& who, const std::string& why) override;
  void put(int node, const std::string& key, const std::string& value) override;
  void get(int node, const std::string& key) override;
  void one_waits(int node, int rank) override;
  void all_wait(int node, const Witness& witness) override;
  void aborted(int rank, int code) override;
  void violated(int rank, const std::string& what) override;
  void phase(int rank, boot::Phase phase) override;
  void survives(int rank) override;
  void misses(int rank, int other, const std::string& why) override;
  void stopped(int rank, pid_t pid) override;
  void wants_input() override;
  void left_input(std::size_t bytes) override;

  EventLoop loop_;
  Signals signals_;
  Channel channel_;
  NodeSpec spec_;
  std::unique_ptr<ChannelOutlet> outlets_[2];
  std::unique_ptr<Node> node_;
  std::optional<int> code_;  // it is over
};

}  // namespace heddle::launcher
