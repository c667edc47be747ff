// The last line of a job comes out whole, also where stderr is a full pipe that does not block.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "boot/boot.hpp"

namespace heddle::boot {
namespace {

bool sleeps(int thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string line(std::istreambuf_iterator<char>(stat), {});
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line[name_end + 2] == 'S';
}

TEST(WriteMessage, WaitsForTheReaderOfAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  std::size_t stuffed = 0;
  const char stuff[512] = {};
  for (ssize_t n = 0; (n = write(ends[1], stuff, sizeof stuff)) > 0;) stuffed += static_cast<std::size_t>(n);
  const std::string message(10'000, 'x');
  const int before = dup(STDERR_FILENO);
  ASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  std::atomic<int> thread{0};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    thread = gettid();
    write_message(message);
    done = true;
  });
  while (!done && (thread == 0 || !sleeps(thread))) std::this_thread::yield();
  std::string got;
  char some[1024];
  pollfd readable{ends[0], POLLIN, 0};
  while (got.size() < stuffed + message.size() + 1 && poll(&readable, 1, 5000) == 1) {
    got.append(some, static_cast<std::size_t>(read(ends[0], some, sizeof some)));
  }
  writer.join();
  dup2(before, STDERR_FILENO);
  for (int fd : {before, ends[0], ends[1]}) close(fd);
  EXPECT_EQ(got.substr(stuffed), message + "\n");
}

}  // namespace
}  // namespace heddle::boot
