// The other end of PMI_FD, as a thread that a test teaches what to answer.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "boot/pmi.hpp"
#include "boot/pmi1_line.hpp"
#include "boot/pmi2_message.hpp"

namespace heddle::test {

// The answer to one line, without a newline; nullopt: hang up. An empty answer: say nothing. What begins with `cmd=init`
// is a line; after it come messages of PMI-2 when that was agreed on, without their lengths on either side.
using Answers = std::function<std::optional<std::string>(const std::string&)>;

// A launcher of `size` ranks that behaves, and keeps what is put.
class Polite {
 public:
  explicit Polite(int size, std::string mapping = "") {
    values_["PMI_process_mapping"] = mapping.empty() ? "(vector,(0,1," + std::to_string(size) + "))" : mapping;
  }
  void forget_mapping() { values_.erase("PMI_process_mapping"); }
  void put(const std::string& key, const std::string& value) { values_[key] = value; }

  std::optional<std::string> operator()(const std::string& text) {
    boot::Pmi1Line line;
    if (!boot::Pmi1Line::parse(text, line)) return std::nullopt;
    const std::string command(line.command());
    if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
    if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=the-job";
    if (command == "get_appnum") return "cmd=appnum appnum=3";
    if (command == "get_universe_size") return "cmd=universe_size size=8";
    if (command == "barrier_in") return "cmd=barrier_out";
    if (command == "finalize") return "cmd=finalize_ack";
    if (command == "abort") return "";
    if (command == "put") {
      values_[*line.find("key")] = *line.find("value");
      return "cmd=put_result rc=0 msg=success";
    }
    if (command == "get") {
      const auto found = values_.find(*line.find("key"));
      if (found == values_.end()) return "cmd=get_result rc=-1 msg=not found";
      return "cmd=get_result rc=0 msg=success value=" + found->second;
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, std::string> values_;
};

// The same in PMI-2.
class Polite2 {
 public:
  explicit Polite2(int rank, int size) : rank_(rank), size_(size) {
    attributes_ = {{"PMI_process_mapping", "(vector,(0,1," + std::to_string(size) + "))"}, {"universeSize", "8"}};
  }
  void forget(const std::string& attribute) { attributes_.erase(attribute); }

  std::optional<std::string> operator()(const std::string& text) {
    if (text.starts_with("cmd=init pmi_version=1")) return "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0";
    if (text.starts_with("cmd=init ")) return "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0";
    boot::Pmi2Message message;
    if (!boot::Pmi2Message::parse(text, message)) return std::nullopt;
    const std::string command(message.command()), answer = "cmd=" + command + "-response;rc=0;";
    if (command == "fullinit") {
      return answer + "pmi-version=2;pmi-subversion=0;rank=" + std::to_string(rank_) +
             ";size=" + std::to_string(size_) + ";appnum=3;";
    }
    if (command == "job-getid") return answer + "jobid=the-job;";
    if (command == "info-getjobattr") return answer + found(attributes_, *message.find("key"));
    if (command == "kvs-get") return answer + found(values_, *message.find("srcid") + ":" + *message.find("key"));
    if (command == "kvs-put") {
      values_[std::to_string(rank_) + ":" + *message.find("key")] = *message.find("value");
      return answer;
    }
    if (command == "kvs-fence" || command == "finalize") return answer;
    if (command == "abort") return "";
    return std::nullopt;
  }

 private:
  using Values = std::map<std::string, std::string>;
  static std::string found(const Values& values, const std::string& key) {
    const auto at = values.find(key);
    return at == values.end() ? "found=FALSE;" : "found=TRUE;value=" + at->second + ";";
  }
  int rank_, size_;
  Values attributes_, values_;
};

// Sets PMI_FD, PMI_RANK and PMI_SIZE for this process, and answers until the client or the answers hang up.
class FakeLauncher {
 public:
  FakeLauncher(int rank, int size, Answers answers) : answers_(std::move(answers)) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    client_ = ends[0];
    server_ = ends[1];
    setenv("PMI_FD", std::to_string(client_).c_str(), 1);
    setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
    setenv("PMI_SIZE", std::to_string(size).c_str(), 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeLauncher() {
    shutdown(server_, SHUT_RDWR);
    thread_.join();
    close(server_);
    for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) unsetenv(name);
  }

  std::unique_ptr<boot::Boot> connect(Status& status, int answer_ms = 60'000) {
    return boot::connect_pmi({answer_ms}, status);
  }
  // What the client said; after it has gone.
  const std::vector<std::string>& heard() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }
  // An answer of PMI-2 in which this word stands is two messages, sent as one piece. REQUIRES: before connect().
  void split_at(const std::string& word) { between_ = word; }
  // Of its own accord, from the client's thread.
  void say(const std::string& text) { EXPECT_EQ(send(server_, text.data(), text.size(), 0), ssize_t(text.size())); }
  // What the client has not read stays readable.
  void hang_up() { shutdown(server_, SHUT_RDWR); }
  int client_fd() const { return client_; }

 private:
  void serve() {
    char bytes[512];
    ssize_t n;
    while ((n = read(server_, bytes, sizeof bytes)) > 0) {
      if (!second_) {
        lines_.append({bytes, static_cast<std::size_t>(n)});
      } else {
        messages_.append({bytes, static_cast<std::size_t>(n)});
      }
      std::string text;
      Status status;
      while (second_ ? messages_.next(text, status) : lines_.next(text, status)) {
        heard_.push_back(text);
        const std::optional<std::string> answer = answers_(text);
        if (!answer) {
          shutdown(server_, SHUT_RDWR);
          return;
        }
        const bool agreed = answer->find("pmi_version=2") != std::string::npos && answer->ends_with("rc=0");
        const std::string sent = second_ ? framed(*answer) : *answer + "\n";
        if (agreed) second_ = true;
        if (!answer->empty() && send(server_, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) return;
      }
    }
  }
  // Slurm fills up behind the number.
  std::string framed(const std::string& answer) const {
    const std::size_t at = between_.empty() ? answer.npos : answer.find(between_);
    if (at != answer.npos) return framed(answer.substr(0, at)) + framed(answer.substr(at + between_.size()));
    const std::string length = std::to_string(answer.size());
    return length + std::string(6 - std::min<std::size_t>(6, length.size()), ' ') + answer;
  }

  boot::Pmi1Buffer lines_;
  boot::Pmi2Buffer messages_;
  bool second_ = false;
  std::string between_;
  Answers answers_;
  int client_ = -1, server_ = -1;
  std::vector<std::string> heard_;
  std::thread thread_;
};

}  // namespace heddle::test
