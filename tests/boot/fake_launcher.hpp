// The other end of PMI_FD, as a thread that a test teaches what to answer.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "boot/pmi1.hpp"

namespace heddle::test {

// The answer to one line, without a newline; nullopt: hang up. An empty answer: say nothing.
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
    return boot::Pmi1::connect({answer_ms}, status);
  }
  // What the client said; after it has gone.
  const std::vector<std::string>& heard() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }
  int client_fd() const { return client_; }

 private:
  void serve() {
    boot::Pmi1Buffer buffer;
    char bytes[512];
    ssize_t n;
    while ((n = read(server_, bytes, sizeof bytes)) > 0) {
      buffer.append({bytes, static_cast<std::size_t>(n)});
      std::string line;
      Status status;
      while (buffer.next(line, status)) {
        heard_.push_back(line);
        const std::optional<std::string> answer = answers_(line);
        if (!answer) {
          shutdown(server_, SHUT_RDWR);
          return;
        }
        if (answer->empty()) continue;
        const std::string sent = *answer + "\n";
        if (send(server_, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) return;
      }
    }
  }

  Answers answers_;
  int client_ = -1, server_ = -1;
  std::vector<std::string> heard_;
  std::thread thread_;
};

}  // namespace heddle::test
