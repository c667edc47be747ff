// The ranks' output, line by line, to mpiexec's own.
//
// Problem: 64 ranks print at once; a line of one must never be cut by a line of another, nor by mpiexec's messages. A
//          reader that stops (a pager) must stop the ranks and nothing else; memory stays bounded.
// Method:  a Stream holds what a rank has printed of an unfinished line; complete lines go to an Outlet: beside
//          mpiexec that is a Sink, which writes what its descriptor takes without blocking; on another host they go
//          to mpiexec first (channel_outlet.hpp). An Outlet that has too much to write stops reading from its ranks
//          until it is nearly empty. stdout and stderr that are the same file share one Sink.
// Exceptions: an unfinished line waits for its end. But a stream that closes gives out its rest, and a line over 1 MiB
//          is given out in pieces. Where nobody can be interrupted (a job of one rank) everything passes at once. On a
//          terminal a rest that stands still for 0.1 s is shown, so that a question can be answered. When another rank
//          prints after such a rest, a newline comes first.
// Threads: one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event_loop.hpp"

namespace heddle::launcher {

inline constexpr int kMpiexecItself = -1;

// Where lines go.
class Outlet {
 public:
  // Text of `rank`, or of mpiexec itself: whole lines, or a piece of one.
  virtual void put(int rank, std::string_view text) = 0;
  virtual bool is_full() const noexcept = 0;
  virtual bool is_terminal() const noexcept = 0;
  // The reader has gone: what is put is lost, and the ranks should learn of it.
  virtual bool is_broken() const noexcept = 0;

 protected:
  ~Outlet() = default;
};

// One of mpiexec's own descriptors.
class Sink final : public Outlet {
 public:
  Sink(EventLoop& loop, int fd, bool tag);
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void put(int rank, std::string_view text) override;
  bool is_full() const noexcept override { return pending_.size() - written_ > kFull; }
  bool is_terminal() const noexcept override { return terminal_; }
  bool is_broken() const noexcept override { return broken_; }
  // It broke, and not because the reader went: what the job printed is not where the user wanted it.
  bool has_lost() const noexcept { return lost_; }
  // Called when a full sink has room again, or broke.
  void on_room(EventLoop::Handler handler) { on_room_ = std::move(handler); }
  // Writes the rest, as long as that takes, unless `stop` says so after a wait of at most 100 ms.
  void drain(const std::function<bool()>& stop);

 private:
  static constexpr std::size_t kFull = 256 * 1024, kRoom = 32 * 1024;
  static constexpr std::size_t kPiece = 4096;  // PIPE_BUF: a pipe that polls writable takes as much without blocking

  void append_tagged(int rank, std::string_view text);
  void write_some();
  void after_write();
  void give_up(int cause);
  void wait_for_room();

  EventLoop& loop_;
  const int fd_;
  const bool tag_;
  bool terminal_ = false, regular_ = false, broken_ = false, lost_ = false, waiting_ = false, was_full_ = false;
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
  bool at_line_start_ = true;
  int last_rank_ = kMpiexecItself;
  EventLoop::Handler on_room_;
};

// What one rank prints to one of its two outputs.
class Stream {
 public:
  Stream(EventLoop& loop, Outlet& outlet, int rank, bool alone, Fd fd);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Takes what is there, without waiting. Works while paused, too.
  void read_available();
  // Stops and starts reading as the outlet can take it.
  void follow_outlet();
  void close_after_reading() {
    read_available();
    close();
  }

 private:
  void close();
  static constexpr std::size_t kMaxLine = 1 << 20;

  bool read_once();  // false: nothing there now
  void take(std::string_view bytes);
  void show_rest_later();

  EventLoop& loop_;
  Outlet& outlet_;
  const int rank_;
  const bool alone_;
  Fd fd_;
  bool reading_ = false;
  std::string rest_;                                            // of an unfinished line
  std::uint64_t received_ = 0;                                  // bytes, ever: tells a standing line from a growing one
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for timers that outlive the stream
};

// mpiexec's stdout and stderr.
class Outputs {
 public:
  Outputs(EventLoop& loop, bool tag);
  Sink& out() noexcept { return *out_; }
  Sink& err() noexcept { return err_ ? *err_ : *out_; }
  // A message of mpiexec: "mpiexec: ...\n" to stderr.
  void say(std::string_view message);

 private:
  std::unique_ptr<Sink> out_, err_;  // err_ null: the same file as out_
};

}  // namespace heddle::launcher
