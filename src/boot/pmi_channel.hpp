// Questions and answers over PMI_FD, in the messages of either protocol.
//
// Problem: an answer carries nothing that says which question it is of; and while a rank waits for the others in a
//          barrier, it may ask for something else, so that the barrier's end comes before or after that answer.
// Method:  one question, one answer, in turns. The end of a barrier is the one message that may come in between: it is
//          kept for the call that waits for it; so is a notice, which Heddle's mpiexec may send at any time. Anything
//          else out of turn is an error, and the last exchange.
//          Buffer makes messages of bytes, Message takes one apart (pmi1_line.hpp, pmi2_message.hpp).
// Threads: as PmiWire's.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "boot/loss_line.hpp"
#include "boot/pmi1_line.hpp"
#include "boot/pmi2_message.hpp"
#include "boot/pmi_wire.hpp"
#include "mpi.h"

namespace heddle::boot {

template <class Buffer, class Message>
class PmiChannel {
 public:
  explicit PmiChannel(std::unique_ptr<PmiWire> wire) : wire_(std::move(wire)) {}

  Status ask(std::string_view question, std::string_view expected, Message& answer) {
    return exchange(question, wire_->patience(expected), answer);
  }
  // Waits for the other ranks without limit. `meanwhile` may ask, but not enter a barrier.
  Status barrier(std::string_view question, std::string_view expected, const Boot::Meanwhile& meanwhile,
                 Message& answer) {
    barrier_over_ = expected;
    const Status status = exchange(question, {.what = expected, .forever = true, .meanwhile = &meanwhile}, answer);
    barrier_over_ = {};
    barrier_is_over_ = false;
    return status;
  }
  void shout(std::string_view message) noexcept { wire_->shout(message); }
  bool is_closed() const noexcept { return wire_->is_closed(); }
  // True: the launcher has said something unasked, of this command. Never waits.
  bool next_notice(Message& notice) {
    hear();
    if (notices_.empty()) return false;
    notice = std::move(notices_.front());
    notices_.pop_front();
    return true;
  }
  // For another protocol on the same wire; the last call.
  std::unique_ptr<PmiWire> release() noexcept { return std::move(wire_); }

 private:
  Status exchange(std::string_view question, const PmiPatience& patience, Message& answer) {
    const Status status = try_exchange(question, patience, answer);
    if (!status) wire_->hang_up();
    return status;
  }

  Status try_exchange(std::string_view question, const PmiPatience& patience, Message& answer) {
    HEDDLE_TRY(wire_->send(question));
    while (true) {
      HEDDLE_TRY(next(patience, answer));
      if (answer.command() == patience.what) return Status::ok();
      if (answer.command() != barrier_over_ || barrier_over_.empty() || barrier_is_over_) break;
      barrier_answer_ = answer;
      barrier_is_over_ = true;
    }
    return error(
        MPI_ERR_OTHER,
        "the launcher answered 'cmd=%.80s' where %s has 'cmd=%.*s'; do two MPI programs share this rank's PMI_FD?",
        std::string(answer.command()).c_str(), Message::kProtocol, static_cast<int>(patience.what.size()),
        patience.what.data());
  }

  Status next(const PmiPatience& patience, Message& answer) {
    while (true) {
      if (patience.forever && barrier_is_over_) {
        answer = barrier_answer_;
        return Status::ok();
      }
      std::string text;
      Status status;
      if (received_.next(text, status)) {
        HEDDLE_TRY(Message::parse(text, answer));
        if (!take_notice(answer)) return Status::ok();
        continue;
      }
      HEDDLE_TRY(status);
      std::string_view bytes;
      HEDDLE_TRY(wire_->receive(patience, bytes));
      received_.append(bytes);
    }
  }

  bool take_notice(const Message& message) {
    if (message.command() != kLossNotice) return false;
    notices_.push_back(message);
    return true;
  }

  // Takes what is there already. Only notices are, and, inside a barrier, the end of that.
  void hear() {
    received_.append(wire_->receive_now());
    std::string text;
    Status status;
    Message message;
    while (received_.next(text, status)) {
      if (!Message::parse(text, message) || take_notice(message)) continue;
      if (message.command() != barrier_over_ || barrier_over_.empty()) continue;
      barrier_answer_ = message;
      barrier_is_over_ = true;
    }
  }

  std::unique_ptr<PmiWire> wire_;
  Buffer received_;
  std::deque<Message> notices_;
  std::string_view barrier_over_;  // the answer that ends the barrier in which this rank is; empty: in none
  bool barrier_is_over_ = false;   // it came while another answer was awaited:
  Message barrier_answer_;
};

using Pmi1Channel = PmiChannel<Pmi1Buffer, Pmi1Line>;
using Pmi2Channel = PmiChannel<Pmi2Buffer, Pmi2Message>;

}  // namespace heddle::boot
