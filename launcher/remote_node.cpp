#include "remote_node.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "executable.hpp"

namespace heddle::launcher {
namespace {

constexpr std::size_t kMaxErrorText = 16 * 1024, kQuoted = 600;
constexpr auto kLastWords = std::chrono::milliseconds(300);  // from the end of a connection to the end of its shell

// One line of what somebody printed: the end of it, where the reason stands.
std::string quote(std::string_view text) {
  std::string line;
  if (text.size() > kQuoted) text.remove_prefix(text.size() - kQuoted);
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      if (!line.empty() && !line.ends_with(" / ")) line += " / ";
    } else {
      line += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  if (line.ends_with(" / ")) line.resize(line.size() - 3);
  return line.empty() ? "" : ": \"" + line + "\"";
}

std::string end_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) return "was ended by " + signal_text(WTERMSIG(wait_status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
}

}  // namespace

RemoteNode::RemoteNode(int index, std::string host, std::vector<NodeSpec::Rank> ranks, const RemoteHome& home)
    : index_(index), host_(std::move(host)), ranks_(std::move(ranks)), home_(home), channel_(home.loop, *this) {}

RemoteNode::~RemoteNode() { close(); }

void RemoteNode::prepare() {
  if (!try_prepare()) give_up(last_error_detail());
}

Status RemoteNode::try_prepare() {
  RemoteShell shell;
  HEDDLE_TRY(start_remote_shell(home_.shell, host_, home_.program, home_.group, home_.signals, shell));
  pid_ = shell.pid;
  error_fd_ = std::move(shell.err);
  fcntl(error_fd_.get(), F_SETFL, O_NONBLOCK);
  HEDDLE_TRY(home_.loop.watch(error_fd_.get(), EPOLLIN, [this] { on_error_text(); }));
  HEDDLE_TRY(channel_.open(std::move(shell.out), std::move(shell.in)));
  home_.loop.at(Clock::now() + std::chrono::seconds(home_.spec.detection_seconds), [this, alive = alive_] {
    if (*alive) too_late();
  });
  return Status::ok();
}

void RemoteNode::too_late() {
  if (stage_ != Stage::kGreeting && stage_ != Stage::kPreparing) return;
  give_up("no answer within " + std::to_string(home_.spec.detection_seconds) + " s (HEDDLE_DETECTION_TIME) from " +
          (stage_ == Stage::kGreeting ? "the remote shell '" + home_.shell + "'" : "Heddle there") + last_words());
}

bool RemoteNode::on_greeting(std::string_view& bytes) {
  Hello hello;
  if (!greeting_.scan(bytes, hello)) {
    if (greeting_.is_hopeless()) give_up("the shell there prints too much before Heddle starts" + last_words());
    return false;
  }
  connected_ = true;
  if (!hello.is_ours()) {
    give_up("there is Heddle " + hello.version.substr(0, 40) + " (protocol " + std::to_string(hello.protocol) +
            ") as '" + home_.program + "', and this mpiexec is Heddle " HEDDLE_VERSION " (protocol " +
            std::to_string(kProtocol) + "); install one version on all hosts, or say --remote-mpiexec PATH");
    return true;
  }
  send_job();
  return true;
}

void RemoteNode::send_job() {
  FrameWriter frame(FrameType::kJob);
  if (!encode(home_.spec, ranks_, frame)) return give_up(last_error_detail());
  stage_ = Stage::kPreparing;
  channel_.send(frame);
  channel_.watch_silence(std::chrono::seconds(home_.spec.detection_seconds));
}

void RemoteNode::start() {
  if (stage_ != Stage::kRunning) return;
  show_error_lines();
  channel_.send(FrameType::kStart);
}

void RemoteNode::signal(int number) {
  if (stage_ == Stage::kRunning) channel_.send(FrameWriter(FrameType::kSignal).number(number));
}

void RemoteNode::answer(const std::string& key, const std::string* value) {
  channel_.send(
      FrameWriter(FrameType::kAnswer).text(key).number(value != nullptr).text(value != nullptr ? *value : ""));
}

void RemoteNode::lose(int rank, const std::string& why) {
  if (stage_ == Stage::kRunning) channel_.send(FrameWriter(FrameType::kLose).number(rank).text(why));
}

void RemoteNode::input(std::string_view bytes) { channel_.send(FrameWriter(FrameType::kInput).text(bytes)); }

void RemoteNode::pause() {
  if (!connected_) return;
  channel_.send(FrameType::kPause);
  channel_.drain(kLastWords);
}

void RemoteNode::leave(bool kill) {
  if (stage_ == Stage::kClosed) return;
  stage_ = Stage::kLeaving;
  channel_.send(FrameWriter(FrameType::kLeave).number(kill));
}

void RemoteNode::on_frame(const Frame& frame) {
  FrameReader in(frame);
  if (!handle(frame.type, in)) give_up("it sends what makes no sense (frame " + std::to_string(int(frame.type)) + ")");
}

bool RemoteNode::handle(FrameType type, FrameReader& in) {
  Upstream& upstream = home_.upstream;
  if (type == FrameType::kReady) {
    if (stage_ != Stage::kPreparing || !in.ok()) return false;
    stage_ = Stage::kRunning;
    upstream.ready(index_);
  } else if (type == FrameType::kCannot) {
    const int code = in.number();
    const std::string what(in.text());
    if (!in.ok()) return false;
    close();
    upstream.failed(index_, code, "host '" + host_ + "' (" + ranks_text(ranks_) + "): " + what);
  } else if (stage_ != Stage::kRunning && stage_ != Stage::kLeaving) {
    return false;
  } else if (type == FrameType::kStarted) {
    const int rank = in.number(), pid = in.number();
    if (!in.ok() || !has(rank)) return false;
    upstream.started(rank, pid);
  } else if (type == FrameType::kEnded) {
    RankEnd end{in.number(), in.number(), in.flag(), in.flag()};
    if (!in.ok() || !has(end.rank)) return false;
    upstream.ended(end);
  } else if (type == FrameType::kOutput) {
    return take_output(in);
  } else if (type == FrameType::kWantsInput) {
    if (!in.ok() || !has(0)) return false;
    upstream.wants_input();
  } else if (type == FrameType::kLeftInput) {
    const int bytes = in.number();
    if (!in.ok() || !has(0) || bytes < 0 || bytes > (1 << 20)) return false;
    upstream.left_input(static_cast<std::size_t>(bytes));
  } else if (type == FrameType::kBye) {
    if (!in.ok() || stage_ != Stage::kLeaving) return false;
    said_bye_ = true;
    if (shell_ended_) close();
  } else {
    return handle_pmi(type, in);
  }
  return true;
}

bool RemoteNode::handle_pmi(FrameType type, FrameReader& in) {
  Upstream& upstream = home_.upstream;
  if (type == FrameType::kPut) {
    const std::string key(in.text()), value(in.text());
    if (!in.ok()) return false;
    upstream.put(index_, key, value);
  } else if (type == FrameType::kGet) {
    const std::string key(in.text());
    if (!in.ok()) return false;
    upstream.get(index_, key);
  } else if (type == FrameType::kOneWaits) {
    const int rank = in.number();
    if (!in.ok() || !has(rank)) return false;
    upstream.one_waits(index_, rank);
  } else if (type == FrameType::kAllWait) {
    const Witness witness{in.number(), in.number()};
    if (!in.ok() || !has(witness.rank)) return false;
    upstream.all_wait(index_, witness);
  } else if (type == FrameType::kAborted) {
    const int rank = in.number(), code = in.number();
    if (!in.ok() || !has(rank)) return false;
    upstream.aborted(rank, code);
  } else if (type == FrameType::kViolated) {
    const int rank = in.number();
    const std::string what(in.text());
    if (!in.ok() || !has(rank)) return false;
    upstream.violated(rank, what);
  } else if (type == FrameType::kPhase) {
    const int rank = in.number(), phase = in.number();
    if (!in.ok() || !has(rank) || phase < 0 || phase > static_cast<int>(boot::Phase::kFinalize)) return false;
    upstream.phase(rank, static_cast<boot::Phase>(phase));
  } else if (type == FrameType::kSurvives) {
    const int rank = in.number();
    if (!in.ok() || !has(rank)) return false;
    upstream.survives(rank);
  } else if (type == FrameType::kMisses) {
    const int rank = in.number(), other = in.number();
    const std::string why(in.text());
    if (!in.ok() || !has(rank) || other < 0 || other >= home_.spec.size) return false;
    upstream.misses(rank, other, why);
  } else if (type == FrameType::kStopped) {
    const int rank = in.number(), pid = in.number();
    if (!in.ok() || !has(rank)) return false;
    upstream.stopped(rank, pid);
  } else {
    return false;
  }
  return true;
}

bool RemoteNode::take_output(FrameReader& in) {
  const int which = in.number(), rank = in.number();
  const std::string_view text = in.text();
  if (!in.ok() || (which != 0 && which != 1) || !has(rank)) return false;
  owed_[which] += text.size();
  (which == 0 ? home_.outputs.out() : home_.outputs.err()).put(rank, text);
  settle(which);
  return true;
}

void RemoteNode::settle(int which) {
  const Outlet& outlet = which == 0 ? home_.outputs.out() : home_.outputs.err();
  const bool news = outlet.is_broken() && !told_broken_[which];
  if (!news && (outlet.is_full() || owed_[which] < kWindow / 4)) return;
  told_broken_[which] = outlet.is_broken();
  channel_.send(FrameWriter(FrameType::kRoom)
                    .number(which)
                    .number(static_cast<std::int64_t>(owed_[which]))
                    .number(outlet.is_broken()));
  owed_[which] = 0;
}

void RemoteNode::follow_outlets() {
  if (stage_ != Stage::kRunning) return;
  settle(0);
  settle(1);
}

bool RemoteNode::has(int rank) const { return std::ranges::binary_search(ranks_, rank, {}, &NodeSpec::Rank::number); }

void RemoteNode::on_error_text() {
  char bytes[4096];
  while (error_fd_.is_open()) {
    const ssize_t n = read(error_fd_.get(), bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0) {
      home_.loop.forget(error_fd_.get());
      error_fd_.reset();
    }
    error_text_.append(bytes, static_cast<std::size_t>(n));
    if (error_text_.size() > kMaxErrorText) error_text_.erase(0, error_text_.size() - kMaxErrorText);
  }
  if (stage_ == Stage::kRunning && channel_.is_open()) show_error_lines();
}

void RemoteNode::show_error_lines() {
  for (std::size_t end; (end = error_text_.find('\n')) != error_text_.npos; error_text_.erase(0, end + 1)) {
    home_.outputs.say(host_ + ": " + error_text_.substr(0, end));
  }
}

bool RemoteNode::reaped(pid_t pid, int wait_status) {
  if (pid != pid_) return false;
  pid_ = -1;
  shell_ended_ = true;
  wait_status_ = wait_status;
  channel_.read_available();
  // What a shell leaves behind, an ssh that stays for the next connection, may keep its output open.
  if (said_bye_) return close(), true;
  if (!channel_.is_open() || stage_ == Stage::kGreeting) conclude();
  return true;
}

void RemoteNode::on_closed(const std::string& why) {
  if (said_bye_) return close();
  why_ = why;
  if (shell_ended_) return conclude();
  home_.loop.at(Clock::now() + kLastWords, [this, alive = alive_] {
    if (*alive) conclude();
  });
}

void RemoteNode::conclude() {
  if (stage_ == Stage::kClosed) return;
  const std::string shell =
      "the remote shell '" + home_.shell + "' " + (shell_ended_ ? end_text(wait_status_) : "has closed its output");
  if (connected_) {
    give_up("the connection closed" + (why_.empty() ? "" : " (" + why_ + ")") + "; " + shell + last_words());
  } else if (shell_ended_ && WIFEXITED(wait_status_) && (WEXITSTATUS(wait_status_) & ~1) == 126) {
    give_up(shell + last_words() + "; is Heddle there as '" + home_.program + "'? --remote-mpiexec PATH says where");
  } else {
    give_up(shell + ", and Heddle has not started there" + last_words() + "; does this work: " + home_.shell + " " +
            quoted(host_) + " true");
  }
}

void RemoteNode::on_silent() {
  give_up("nothing was heard of it for " + std::to_string(home_.spec.detection_seconds) +
          " s (HEDDLE_DETECTION_TIME): the host or Heddle's process there hangs, or is cut off" + last_words());
}

// What was printed on the way, for the line that says that it went wrong.
std::string RemoteNode::last_words() {
  on_error_text();
  std::string words = quote(error_text_);
  if (!connected_ && !greeting_.noise().empty()) words += ", on its output" + quote(greeting_.noise());
  return words;
}

std::string RemoteNode::who() const { return "host '" + host_ + "' (" + ranks_text(ranks_) + ")"; }

void RemoteNode::give_up(const std::string& what) {
  if (stage_ == Stage::kClosed) return;
  const bool ran = stage_ == Stage::kRunning || stage_ == Stage::kLeaving;
  if (pid_ > 0) kill(pid_, SIGKILL);
  close();
  if (ran) {
    home_.upstream.lost(index_, who(), what);
  } else {
    home_.upstream.failed(index_, kFailed, who() + ": " + what);
  }
}

void RemoteNode::close() {
  stage_ = Stage::kClosed;
  *alive_ = false;
  channel_.close();
  if (!error_fd_.is_open()) return;
  home_.loop.forget(error_fd_.get());
  error_fd_.reset();
}

}  // namespace heddle::launcher
