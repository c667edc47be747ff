// A node behind a remote shell, as mpiexec sees it.
//
// Problem: between "start a process there" and a running rank lies everything that can be wrong with a host: it does not
//          exist, refuses, hangs, asks for a password, prints a greeting, has another Heddle or none. Later it may
//          die, or be cut off. Each must be one line that says what, where and what to do, within seconds.
// Method:  the remote shell's standard input and output are the connection: authenticated already, with nothing to
//          connect back to. Stages, each of them under the same time limit until the ranks run:
//            kGreeting  a hello (hello.hpp) with the same version
//            kPreparing the job is sent; ready, or why not
//            kRunning   frames both ways (frame.hpp)
//            kLeaving   its last output, and goodbye
//            kClosed
//          What the remote shell writes to its standard error is kept while the node starts, and is part of the line
//          when it does not; later it is passed on. What a node says of a rank that it does not have is not believed.
// Threads: one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channel.hpp"
#include "channel_outlet.hpp"
#include "hello.hpp"
#include "node_link.hpp"
#include "node_spec.hpp"
#include "output.hpp"
#include "remote_shell.hpp"

namespace heddle::launcher {

// What all remote nodes of a job share. REQUIRES: outlives them.
struct RemoteHome {
  EventLoop& loop;
  const Signals& signals;
  Upstream& upstream;
  Outputs& outputs;
  const NodeSpec& spec;  // but for the ranks
  std::string shell;     // the command
  std::string program;   // mpiexec there
  pid_t group = 0;       // of the remote shells
};

class RemoteNode final : public NodeLink, private Channel::Listener {
 public:
  RemoteNode(int index, std::string host, std::vector<NodeSpec::Rank> ranks, const RemoteHome& home);
  ~RemoteNode() override;

  void prepare() override;
  void start() override;
  void signal(int number) override;
  void answer(const std::string& key, const std::string* value) override;
  void release() override { channel_.send(FrameType::kRelease); }
  void lose(int rank, const std::string& why) override;
  void input(std::string_view bytes) override;
  void follow_outlets() override;
  void pause() override;
  void leave(bool kill) override;
  bool is_doubtful() const override { return channel_.misses_beats(); }
  bool is_closed() const override { return stage_ == Stage::kClosed; }
  bool reaped(pid_t pid, int wait_status) override;

 private:
  enum class Stage { kGreeting, kPreparing, kRunning, kLeaving, kClosed };

  bool on_greeting(std::string_view& bytes) override;
  void on_frame(const Frame& frame) override;
  void on_closed(const std::string& why) override;
  void on_silent() override;

  Status try_prepare();
  void send_job();
  // False: no frame that this node may send, or not whole.
  bool handle(FrameType type, FrameReader& in);
  bool handle_pmi(FrameType type, FrameReader& in);
  bool take_output(FrameReader& in);
  void settle(int which);
  bool has(int rank) const;

  void on_error_text();
  void show_error_lines();
  void too_late();
  // The connection is gone and the remote shell has said all that it has to say.
  void conclude();
  void give_up(const std::string& what);
  void close();
  std::string who() const;
  std::string last_words();

  const int index_;
  const std::string host_;
  const std::vector<NodeSpec::Rank> ranks_;
  const RemoteHome& home_;
  Stage stage_ = Stage::kGreeting;
  pid_t pid_ = -1;
  int wait_status_ = 0;
  bool shell_ended_ = false, said_bye_ = false, connected_ = false;
  Channel channel_;
  HelloScanner greeting_;
  std::string why_;  // the connection closed, where there is more to say than that it did
  Fd error_fd_;
  std::string error_text_;        // of the remote shell, not yet shown
  std::size_t owed_[2] = {0, 0};  // of output that has come, not yet acknowledged
  bool told_broken_[2] = {false, false};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::launcher
