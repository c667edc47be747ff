// A PMIx library that a test teaches what to answer: opened as any other, and reached through fake_pmix().
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::test {

struct FakePmix {
  std::mutex mutex;
  std::condition_variable changed;

  // Taught before the call:
  unsigned rank = 0;
  int init_code = 0, fence_code = 0;
  bool init_hangs = false;                     // until it is false again
  bool get_is_silent = false;                  // the answer is kept in `held`
  bool fence_is_silent = false;                // likewise
  std::map<std::string, std::string> strings;  // "rank/key", "job/key"; what is put comes here at once
  std::map<std::string, long> numbers;         // as UINT32

  // What has happened:
  unsigned inits = 0;  // that are over, of all tests
  std::vector<std::string> heard;
  std::vector<std::function<void()>> held;
  std::function<void()> hang_up;  // tells the client that this server has gone
};

}  // namespace heddle::test

// Of the library; there is one for the whole process.
extern "C" heddle::test::FakePmix* fake_pmix();
