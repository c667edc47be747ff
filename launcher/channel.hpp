// Frames to and from one process, over two descriptors, and whether it is still alive.
//
// Method:  frames are queued and written as the descriptor takes them; nothing waits. Each side sends a beat every
//          quarter of the detection time at least, and takes a peer that was not heard for all of it for dead. What a
//          process has slept itself (stopped, or starved) does not count.
// Memory:  the queue has no bound of its own. What can grow, the ranks' output, is bounded by who sends it
//          (channel_outlet.hpp), and input by being asked for.
// Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "event_loop.hpp"
#include "frame.hpp"

namespace heddle::launcher {

class Channel {
 public:
  class Listener {
   public:
    // Bytes before the first frame: true when frames begin behind what is left of `bytes`. Called until then.
    virtual bool on_greeting(std::string_view& bytes) = 0;
    virtual void on_frame(const Frame& frame) = 0;
    // The end of the connection, or (`why` says so) of any sense in it. The channel is closed.
    virtual void on_closed(const std::string& why) = 0;
    virtual void on_silent() = 0;

   protected:
    ~Listener() = default;
  };

  Channel(EventLoop& loop, Listener& listener) : loop_(loop), listener_(listener) {}
  ~Channel() { close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Status open(Fd in, Fd out);
  void send(FrameWriter& frame) { send_bytes(frame.finish()); }
  void send(FrameType type) { send_bytes(FrameWriter(type).finish()); }
  void send_bytes(std::string_view bytes);
  // From now on beats are sent and expected.
  void watch_silence(std::chrono::seconds limit);
  // Silence means nothing until the peer is heard again.
  void excuse() noexcept { excused_ = true; }
  // The peer is late: it may become a silent one.
  bool misses_beats() const noexcept;
  // Writes what is queued, for as long as `limit`.
  void drain(std::chrono::milliseconds limit);
  void close();
  bool is_open() const noexcept { return in_.is_open(); }
  // Takes what has arrived, without waiting.
  void read_available();

 private:
  bool read_once();
  void take(std::string_view bytes);
  void write_some();
  void fail(const std::string& why);
  void beat();

  EventLoop& loop_;
  Listener& listener_;
  Fd in_, out_;
  bool greeted_ = false, excused_ = false, taking_ = false;
  FrameDecoder decoder_;
  std::string unsent_;
  std::size_t sent_ = 0;  // of unsent_
  bool waiting_ = false;  // for room in out_
  std::chrono::milliseconds limit_{}, interval_{};
  Clock::time_point heard_, last_beat_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for timers that outlive the channel
};

}  // namespace heddle::launcher
