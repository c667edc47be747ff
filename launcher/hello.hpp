// The first thing that mpiexec's process on another host says, before any frame.
//
//   heddle-node-hello protocol=3 version=0.1.0\n
//
// Problem: between mpiexec and that process there are a remote shell and the user's own start-up files, which may
//          print what they like to the same output.
// Method:  a line of text with a newline before it. What comes in front is kept, up to a bound, and shown when no
//          such line ever comes.
#pragma once

#include <string>
#include <string_view>

namespace heddle::launcher {

// Changes with frame.hpp and with what the frames mean.
inline constexpr int kProtocol = 3;

struct Hello {
  int protocol = 0;
  std::string version;
  bool is_ours() const;
};

// This program's, with the newlines around it.
std::string hello_line();

class HelloScanner {
 public:
  static constexpr std::size_t kMaxNoise = 64 * 1024, kMaxLine = 256;

  // True: `hello` is there, and `bytes` is what came after it. False: not yet.
  bool scan(std::string_view& bytes, Hello& hello);
  // More text than any start-up file should print: there will be no hello.
  bool is_hopeless() const noexcept { return seen_.size() > kMaxNoise; }
  // What came before it.
  const std::string& noise() const noexcept { return seen_; }

 private:
  std::string seen_;
};

}  // namespace heddle::launcher
