#include "node_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "executable.hpp"
#include "hello.hpp"
#include "mpi.h"

namespace heddle::launcher {
namespace {

constexpr auto kUntilTheJobComes = std::chrono::seconds(60);
constexpr auto kLastOutput = std::chrono::seconds(10);
constexpr const char* kNoInput =
    "nothing comes from mpiexec: the remote shell has to pass its standard input on (ssh without -n or -f)\n";

// A descriptor of the connection that no rank inherits, with nothing where it was.
Fd take_away(int standard) {
  Fd taken(fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.is_open()) dup2(null.get(), standard);
  return taken;
}

}  // namespace

int NodeProcess::run() {
  if (!open()) {
    std::fprintf(stderr, "%s\n", last_error_detail());
    return kFailed;
  }
  while (!code_) {
    if (!loop_.run_once()) code_ = kFailed;
  }
  if (node_) node_->signal(SIGKILL);  // nothing, after a good end
  return *code_;
}

Status NodeProcess::open() {
  Fd in = take_away(STDIN_FILENO), out = take_away(STDOUT_FILENO);
  if (!in.is_open() || !out.is_open()) {
    return error(MPI_ERR_OTHER, "--node is for mpiexec itself, with a connection as standard input and output");
  }
  HEDDLE_TRY(loop_.open());
  HEDDLE_TRY(signals_.open(loop_, [this](int signal) { on_signal(signal); }));
  if (const Status opened = channel_.open(std::move(in), std::move(out)); !opened) {
    if (opened.error_class() != MPI_ERR_ARG) return opened;
    std::fputs(kNoInput, stderr);  // a file or /dev/null
    code_ = kFailed;
    return Status::ok();
  }
  channel_.send_bytes(hello_line());
  loop_.at(Clock::now() + kUntilTheJobComes, [this] {
    if (!node_) code_ = kFailed;
  });
  return Status::ok();
}

void NodeProcess::on_frame(const Frame& frame) {
  FrameReader in(frame);
  if (frame.type == FrameType::kJob) return take_job(frame);
  if (!node_ || !handle(frame.type, in) || !in.ok()) on_closed("frame " + std::to_string(int(frame.type)));
}

void NodeProcess::take_job(const Frame& frame) {
  if (node_) return on_closed("a second job");
  if (!decode(frame, spec_)) return failed(0, kFailed, last_error_detail());
  outlets_[0] = std::make_unique<ChannelOutlet>(channel_, 0, spec_.out_is_terminal);
  outlets_[1] = std::make_unique<ChannelOutlet>(channel_, 1, spec_.err_is_terminal);
  NodeHome home{0, loop_, signals_, *this, *outlets_[0], *outlets_[1], false};
  home.guard_patience = std::chrono::seconds(2 * spec_.detection_seconds + 1);
  node_ = std::make_unique<Node>(home, spec_);
  channel_.watch_silence(std::chrono::seconds(spec_.detection_seconds));
  node_->prepare();
  beat_for_guard();
}

bool NodeProcess::handle(FrameType type, FrameReader& in) {
  if (type == FrameType::kStart) {
    node_->start();
  } else if (type == FrameType::kSignal) {
    const int number = in.number();
    if (number < 1 || number > SIGRTMAX) return false;
    node_->signal(number);
  } else if (type == FrameType::kAnswer) {
    const std::string key(in.text());
    const bool found = in.flag();
    const std::string value(in.text());
    if (!in.ok()) return false;
    node_->answer(key, found ? &value : nullptr);
  } else if (type == FrameType::kRelease) {
    node_->release();
  } else if (type == FrameType::kLose) {
    const int rank = in.number();
    const std::string why(in.text());
    if (!in.ok()) return false;
    node_->lose(rank, why);
  } else if (type == FrameType::kInput) {
    const std::string_view bytes = in.text();
    if (in.missing()) return false;
    node_->input(bytes);
  } else if (type == FrameType::kRoom) {
    const int which = in.number(), bytes = in.number();
    const bool broken = in.flag();
    if (!in.ok() || (which != 0 && which != 1)) return false;
    outlets_[which]->room(static_cast<std::size_t>(bytes), broken);
    node_->follow_outlets();
  } else if (type == FrameType::kPause) {
    channel_.excuse();
  } else if (type == FrameType::kLeave) {
    node_->leave(in.flag());
    channel_.send(FrameType::kBye);
    channel_.drain(kLastOutput);
    code_ = 0;
  } else {
    return false;
  }
  return true;
}

void NodeProcess::on_signal(int signal) {
  if (signal == SIGCHLD) {
    int wait_status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
      if (node_) node_->reaped(pid, wait_status);
    }
  } else if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT) {
    std::fprintf(stderr, "mpiexec's process here was ended by %s\n", signal_text(signal).c_str());
    code_ = 128 + signal;
  }
}

void NodeProcess::beat_for_guard() {
  node_->guard().beat();
  loop_.at(Clock::now() + std::chrono::seconds(1), [this] { beat_for_guard(); });
}

void NodeProcess::on_closed(const std::string& why) {
  if (!node_ && why.empty()) std::fputs(kNoInput, stderr);
  if (!why.empty()) std::fprintf(stderr, "mpiexec sends what makes no sense: %s\n", why.c_str());
  code_ = kFailed;
}

void NodeProcess::on_silent() {
  std::fprintf(stderr, "nothing was heard of mpiexec for %d s (HEDDLE_DETECTION_TIME); its ranks here end\n",
               spec_.detection_seconds);
  code_ = kFailed;
}

void NodeProcess::ready(int) { channel_.send(FrameType::kReady); }
void NodeProcess::failed(int, int code, const std::string& what) {
  channel_.send(FrameWriter(FrameType::kCannot).number(code).text(what));
}
void NodeProcess::started(int rank, pid_t pid) {
  channel_.send(FrameWriter(FrameType::kStarted).number(rank).number(pid));
}
void NodeProcess::ended(const RankEnd& end) {
  channel_.send(
      FrameWriter(FrameType::kEnded).number(end.rank).number(end.wait_status).number(end.started).number(end.finished));
}
void NodeProcess::lost(int, const std::string&, const std::string&) {}
void NodeProcess::put(int, const std::string& key, const std::string& value) {
  channel_.send(FrameWriter(FrameType::kPut).text(key).text(value));
}
void NodeProcess::get(int, const std::string& key) { channel_.send(FrameWriter(FrameType::kGet).text(key)); }
void NodeProcess::one_waits(int, int rank) { channel_.send(FrameWriter(FrameType::kOneWaits).number(rank)); }
void NodeProcess::all_wait(int, const Witness& witness) {
  channel_.send(FrameWriter(FrameType::kAllWait).number(witness.rank).number(witness.first_program));
}
void NodeProcess::aborted(int rank, int code) {
  channel_.send(FrameWriter(FrameType::kAborted).number(rank).number(code));
}
void NodeProcess::violated(int rank, const std::string& what) {
  channel_.send(FrameWriter(FrameType::kViolated).number(rank).text(what));
}
void NodeProcess::phase(int rank, boot::Phase phase) {
  channel_.send(FrameWriter(FrameType::kPhase).number(rank).number(static_cast<int>(phase)));
}
void NodeProcess::survives(int rank) { channel_.send(FrameWriter(FrameType::kSurvives).number(rank)); }
void NodeProcess::misses(int rank, int other, const std::string& why) {
  channel_.send(FrameWriter(FrameType::kMisses).number(rank).number(other).text(why));
}
void NodeProcess::stopped(int rank, pid_t pid) {
  channel_.send(FrameWriter(FrameType::kStopped).number(rank).number(pid));
}
void NodeProcess::wants_input() { channel_.send(FrameType::kWantsInput); }
void NodeProcess::left_input(std::size_t bytes) {
  channel_.send(FrameWriter(FrameType::kLeftInput).number(static_cast<std::int64_t>(bytes)));
}

}  // namespace heddle::launcher
