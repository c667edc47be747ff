// Whether the peers for which this process waits are still there.
//
// Problem: who waits for a peer whose host was cut off, or that died, waits for ever: a silent network looks like a peer
//          that computes, and not every provider tells of a connection that is gone.
// Method:  a process that waits and has had nothing from the network for a while opens a connection to each peer to which
//          it has sent, or for a message of which it waits, where that answers for Reach (reach.hpp), and asks it from time to
//          time whether it is there. The peer's waker answers (watched.hpp), also while the peer computes. A peer that has given no sign of life for the
//          detection time, counted from the last one, is lost; and one whose connection is closed: after a grace, for the
//          launcher knows more of how it ended, and should be the first to say so. Who says goodbye before it goes is not lost.
// Limits:  at most 64 peers are watched at once, in turn: each is asked twice before the next comes, so n peers take about
//          n / 64 * 2 s more until a silent one is noticed. A peer that hangs up without an answer is not judged: it
//          may have no descriptor left. One whose host refuses the first connection has ended, maybe in order, or cannot be
//          reached: it is lost unless somebody knows that it may have left; where nobody can ever tell, once it is waited for and
//          nothing has come from anybody for the detection time: it sends no more, either way. Time counts
//          while this process waits and gets to run; of a step that came late not more than twice its length does. A
//          process that is stopped (a debugger) is silent.
// Threads: all that is public but start() by any; all else happens in the waker.
// Cost:    nothing on the way of a message. While the process waits, the waker runs every half second (detection times
//          below 4 s: more often), and sends 40 bytes a second to each that is watched.
// Memory:  for such a peer about 100 bytes; 100 more and a descriptor while it is watched.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/waker.hpp"
#include "wire/watch_frame.hpp"

namespace heddle::wire {

// What of this process's progress there was ever.
struct WatchActivity {
  std::uint64_t looked = 0;  // times somebody looked whether anything has come
  std::uint64_t moved = 0;   // of these, in which something had
};

struct WatchOptions {
  ProcessId self = 0;
  SipKey key;
  int seconds = 10;     // the detection time
  int grace_ms = 2000;  // after a connection has closed: the launcher may be the first to say so
  std::string address;  // of this host, from which to ask
  std::size_t most = 64;
  std::function<WatchActivity()> activity;
  std::function<void(ProcessId, const char*)> lost;  // once for each; in the waker
  // Whether a peer has gone in order, of whose port connections are refused. Nothing: that cannot be told now. Empty:
  // nobody asks, and who refuses is not judged. In the waker.
  std::function<std::optional<bool>(ProcessId, std::uint16_t port)> has_left;
  bool can_tell_later = true;  // where has_left says nothing; false: it never will
};

class Watch {
 public:
  static constexpr int kMostAskMs = 1000;

  Watch() = default;
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Status start(Waker& waker, WatchOptions options);
  // Whether this process has waited in vain for long enough to ask others.
  bool asks() const noexcept { return asks_.load(std::memory_order_relaxed); }
  bool knows(ProcessId peer) noexcept;
  // It is lost, or has left.
  bool is_done(ProcessId peer) noexcept;
  // Where `peer` answers.
  void know(ProcessId peer, const std::string& address, std::uint16_t port);
  // Somebody waits for a message of it, now. False: it is not known.
  bool need(ProcessId peer) noexcept;
  // Somebody waits.
  void begin() noexcept;
  // How many are being watched.
  std::size_t connections() noexcept;

 private:
  static constexpr int kAbsences = 4;  // ticks: who sleeps looks ten times a second, where the machine lets it

  struct Link {
    int fd = -1;
    int tries = 0;       // to connect
    int age_ms = 0;      // of this try
    int asked_ms = 0;    // since the last question, as far as it is answered
    int silent_ms = 0;   // since the last sign of life, of this peer or of anybody before the first try
    int closed_ms = -1;  // since then it is closed; -1: it is not
    int answers = 0;
    bool asked = false;
    bool answered = false;  // the last question
    std::uint64_t number = 0;
    WatchInput input;
  };
  struct Peer {
    sockaddr_in at{};
    bool known = false;        // it has answered once
    bool away = false;         // and said that it may go
    bool done = false;         // lost, or gone in order
    int rest_ms = 0;           // until it is asked again
    int refusals = 0;          // before it was known
    int unneeded = kAbsences;  // ticks since somebody waited for it
    std::unique_ptr<Link> link;
  };
  using Peers = std::map<ProcessId, Peer>;
  using Losses = std::vector<std::pair<ProcessId, std::string>>;

  void tick();
  void rest() noexcept;
  void turn();
  void connect(ProcessId id, Peer& peer);
  void disconnect(Peer& peer);
  void unlink(Peer& peer);
  void ask(ProcessId id, Peer& peer);
  void receive(ProcessId id, Peer& peer);
  void hear(ProcessId id, Peer& peer);
  void broken(Peer& peer, int reason);
  // True: it is lost, for the reason *why.
  bool judge(ProcessId id, Peer& peer, int elapsed_ms, std::string* why);
  void judge_refusing();
  int limit_ms() const noexcept { return options_.seconds * 1000; }

  Waker* waker_ = nullptr;
  WatchOptions options_;
  int ask_ms_ = kMostAskMs, tick_ms_ = kMostAskMs / 2;
  int timer_ = -1;
  std::atomic<bool> runs_{false}, asks_{false};

  // Of the waker.
  std::int64_t last_tick_ = 0;  // ms
  int absent_ = 0;              // ticks in which nobody looked
  int quiet_ms_ = 0;            // nothing has come
  WatchActivity seen_;

  std::mutex mutex_;  // of what follows
  Peers peers_;
  std::size_t links_ = 0;
  ProcessId next_ = 0;  // to be watched
};

}  // namespace heddle::wire
