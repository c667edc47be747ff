// The PMI-1 client against launchers that behave, and against those that do not.
#include "boot/pmi.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <span>

#include "boot/fake_launcher.hpp"
#include "boot/loss_line.hpp"
#include "boot/pmi1_line.hpp"
#include "mpi.h"

namespace heddle::test {
namespace {

using boot::Boot;
using testing::ExitedWithCode;

std::vector<int> list(std::span<const int> s) { return {s.begin(), s.end()}; }

TEST(Pmi1, LearnsTheJob) {
  FakeLauncher launcher(2, 4, Polite(4, "(vector,(7,2,2))"));
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->rank(), 2);
  EXPECT_EQ(boot->size(), 4);
  EXPECT_EQ(boot->job(), "the-job");
  EXPECT_EQ(boot->appnum(), 3);
  EXPECT_EQ(boot->universe_size(), 8);
  EXPECT_EQ(list(boot->node_of_rank()), (std::vector{0, 0, 1, 1}));
  EXPECT_EQ(list(boot->local_ranks()), (std::vector{2, 3}));
  EXPECT_EQ(boot->local_rank(), 0);
  EXPECT_EQ(boot->local_size(), 2);
}

TEST(Pmi1, PutsFencesGetsAndSaysGoodbye) {
  FakeLauncher launcher(0, 2, Polite(2));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  ASSERT_TRUE(boot->put("heddle-shm-0", "pid:1234,fd=5"));
  ASSERT_TRUE(boot->fence());
  std::string value;
  ASSERT_TRUE(boot->get(0, "heddle-shm-0", value));
  EXPECT_EQ(value, "pid:1234,fd=5");
  ASSERT_TRUE(boot->finalize());
  boot.reset();
  const std::vector<std::string> expected = {
      "cmd=init pmi_version=1 pmi_subversion=1",
      "cmd=get_maxes",
      "cmd=get_my_kvsname",
      "cmd=get_appnum",
      "cmd=get_universe_size",
      "cmd=get kvsname=the-job key=heddle-segment",
      "cmd=get kvsname=the-job key=PMI_process_mapping",
      "cmd=put kvsname=the-job key=heddle-shm-0 value=pid:1234,fd=5",
      "cmd=barrier_in",
      "cmd=get kvsname=the-job key=heddle-shm-0",
      "cmd=finalize",
  };
  EXPECT_EQ(launcher.heard(), expected);
}

TEST(Pmi1, HowFarARankIs) {
  for (const boot::Phase phase :
       {boot::Phase::kUntold, boot::Phase::kInit, boot::Phase::kRunning, boot::Phase::kFinalize}) {
    std::string text = boot::phase_line(phase);
    text.pop_back();
    boot::Pmi1Line line;
    ASSERT_TRUE(boot::Pmi1Line::parse(text, line)) << text;
    EXPECT_EQ(line.command(), boot::kPhase);
    boot::Phase read = boot::Phase::kUntold;
    EXPECT_EQ(boot::parse_phase(line, &read), phase >= boot::Phase::kRunning) << text;
    EXPECT_EQ(read, phase >= boot::Phase::kRunning ? phase : boot::Phase::kUntold);
  }
  for (const char* text :
       {"cmd=heddle-phase", "cmd=heddle-phase phase=4", "cmd=heddle-phase phase=-1", "cmd=heddle-phase phase=x"}) {
    boot::Pmi1Line line;
    ASSERT_TRUE(boot::Pmi1Line::parse(text, line)) << text;
    boot::Phase read;
    EXPECT_FALSE(boot::parse_phase(line, &read)) << text;
  }
}

// What a launcher that tells of inherited memory makes of a rank.
std::unique_ptr<Boot> connect_with(const std::string& segment, Status& status) {
  Polite answers(2);
  answers.put("heddle-segment", segment);
  FakeLauncher launcher(0, 2, answers);
  return launcher.connect(status);
}

TEST(Pmi1, MemoryThatTheRanksInherit) {
  Status status;
  const int fd = memfd_create("test", 0);
  std::unique_ptr<Boot> boot = connect_with(std::to_string(fd), status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_TRUE(boot->can_rejoin());
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(boot->take_segment_fd(), fd);
  EXPECT_EQ(boot->take_segment_fd(), -1);
  boot = connect_with("used:" + std::to_string(fd), status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_TRUE(boot->can_rejoin());
  EXPECT_EQ(boot->take_segment_fd(), -1);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1) << "it is of no use any more";

  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  for (const std::string& wrong : {std::string("99999"), std::to_string(pipes[0])}) {
    EXPECT_EQ(connect_with(wrong, status), nullptr);
    EXPECT_NE(std::string(last_error_detail()).find("closes descriptors"), std::string::npos) << last_error_detail();
  }
  close(pipes[0]);
  close(pipes[1]);
}

TEST(Pmi1, AKeyThatNobodyPut) {
  FakeLauncher launcher(0, 2, Polite(2));
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  std::string value = "untouched";
  EXPECT_EQ(boot->get(0, "no-such-key", value).error_class(), MPI_ERR_NAME);
  EXPECT_STREQ(last_error_detail(), "nobody has put 'no-such-key'");
  EXPECT_EQ(value, "untouched");
  EXPECT_TRUE(boot->fence()) << "a missing key breaks nothing";
}

TEST(Pmi1, RefusesWhatTheWireCannotCarry) {
  FakeLauncher launcher(0, 2, Polite(2));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_EQ(boot->max_value(), 1023u);
  EXPECT_TRUE(boot->put("k", std::string(1023, 'v')));
  EXPECT_EQ(boot->put("k", std::string(1024, 'v')).error_class(), MPI_ERR_ARG);
  EXPECT_STREQ(last_error_detail(), "the value of 'k' has 1024 bytes; the launcher takes at most 1023");
  EXPECT_EQ(boot->put(std::string(64, 'k'), "v").error_class(), MPI_ERR_ARG);
  for (const char* bad : {"", "two words", "a\nb", "\x80", "tab\t"}) {
    EXPECT_EQ(boot->put("k", bad).error_class(), MPI_ERR_ARG) << bad;
    EXPECT_EQ(boot->put(bad, "v").error_class(), MPI_ERR_ARG) << bad;
  }
  EXPECT_EQ(boot->put("k=k", "v").error_class(), MPI_ERR_ARG);
  EXPECT_TRUE(boot->put("k", "v=v,(w)"));
  boot.reset();
  EXPECT_EQ(launcher.heard().size(), 9u) << "7 of the greeting and the two good puts";
}

TEST(Pmi1, ClosesTheSocketOnExec) {
  FakeLauncher launcher(0, 2, Polite(2));
  EXPECT_EQ(fcntl(launcher.client_fd(), F_GETFD) & FD_CLOEXEC, 0);
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  EXPECT_EQ(fcntl(launcher.client_fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Pmi1, ComparesHostsWhereThereIsNoMapping) {
  Polite polite(3);
  polite.forget_mapping();
  std::string here;
  auto answers = [polite, here](const std::string& line) mutable -> std::optional<std::string> {
    const std::size_t at = line.find(" value=");
    if (line.starts_with("cmd=put") && at != line.npos) here = line.substr(at + 7);
    if (line.ends_with("key=heddle-host-0")) return "cmd=get_result rc=0 value=another-machine";
    if (line.ends_with("key=heddle-host-2")) return "cmd=get_result rc=0 value=" + here;
    return polite(line);
  };
  FakeLauncher launcher(1, 3, answers);
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(list(boot->node_of_rank()), (std::vector{0, 1, 1}));
  EXPECT_EQ(list(boot->local_ranks()), (std::vector{1, 2}));
}

// The answer to what is asked inside a barrier and the end of that barrier, in one piece and either order.
TEST(Pmi1, AsksInsideAFence) {
  for (const bool end_first : {false, true}) {
    FakeLauncher launcher(
        0, 2, [=, polite = Polite(2), inside = false](const std::string& line) mutable -> std::optional<std::string> {
          if (line == "cmd=barrier_in") {
            inside = true;
            return "";
          }
          if (!inside || !line.starts_with("cmd=get ")) return polite(line);
          inside = false;
          const std::string end = "cmd=barrier_out", value = *polite(line);
          return end_first ? end + "\n" + value : value + "\n" + end;
        });
    Status status;
    const std::unique_ptr<Boot> boot = launcher.connect(status);
    ASSERT_TRUE(boot->put("a", "b"));
    int right = 0, calls = 0;
    std::string value;
    EXPECT_TRUE(boot->fence([&] { ++calls, right += boot->get(0, "a", value) && value == "b"; }));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(right, 1);
    EXPECT_TRUE(boot->get(0, "a", value)) << "question and answer are in step after it";
  }
}

TEST(Pmi1, AsksInsideAFenceAsLongAsItTakes) {
  FakeLauncher launcher(0, 2, [polite = Polite(2)](const std::string& line) mutable {
    return line == "cmd=barrier_in" ? std::optional<std::string>("") : polite(line);
  });
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(boot->put("a", "b"));
  int right = 0;
  std::string value;
  EXPECT_TRUE(boot->fence([&] {
    right += boot->get(0, "a", value) && value == "b";
    if (right == 3) launcher.say("cmd=barrier_out\n");
  }));
  EXPECT_GE(right, 3);
}

TEST(Pmi1, ABarrierThatNobodyEnteredDoesNotEnd) {
  FakeLauncher launcher(0, 2, [polite = Polite(2)](const std::string& line) mutable {
    return line.starts_with("cmd=put") ? "cmd=barrier_out\n" + *polite(line) : polite(line);
  });
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  EXPECT_FALSE(boot->put("a", "b"));
  EXPECT_NE(std::string(last_error_detail()).find("'cmd=barrier_out' where PMI-1"), std::string::npos);
}

TEST(Pmi1, AnErrorInsideAFenceEndsIt) {
  FakeLauncher launcher(0, 2, [polite = Polite(2)](const std::string& line) mutable -> std::optional<std::string> {
    if (line == "cmd=barrier_in") return "";
    return line.ends_with("key=bad") ? "cmd=surprise" : polite(line);
  });
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  std::string value;
  EXPECT_FALSE(boot->fence([&] { EXPECT_FALSE(boot->get(0, "bad", value)); }));
}

// A launcher that answers `question` with `answer` and everything else well.
Answers spoiled(const std::string& question, std::optional<std::string> answer) {
  return [=, polite = Polite(2)](const std::string& line) mutable {
    return line.starts_with("cmd=" + question) ? answer : polite(line);
  };
}

struct Hostile {
  const char* question;
  std::optional<std::string> answer;
  const char* says;  // a part of the message
};

class HostileLauncher : public testing::TestWithParam<Hostile> {};

TEST_P(HostileLauncher, IsAnErrorThatSaysWhy) {
  FakeLauncher launcher(0, 2, spoiled(GetParam().question, GetParam().answer));
  Status status;
  EXPECT_EQ(launcher.connect(status), nullptr);
  EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
  EXPECT_NE(std::string(last_error_detail()).find(GetParam().says), std::string::npos) << last_error_detail();
}

const Hostile kHostile[] = {
    {"init", std::nullopt, "closed its end"},
    {"init", "cmd=response_to_init rc=1", "refuses PMI version 1.1"},
    {"init", "hello", "not a PMI-1 line: 'hello'"},
    {"init", "cmd=response_to_init\x01 rc=0", "0x01"},
    {"init", "cmd=maxes rc=0", "where PMI-1 has 'cmd=response_to_init'"},
    {"init", std::string(100'000, 'x'), "more than 16384 bytes"},
    {"init", "cmd=" + std::string(10'000, 'x'), "where PMI-1 has"},
    {"get_maxes", "cmd=maxes keylen_max=64", "vallen_max='', not a number"},
    {"get_maxes", "cmd=maxes keylen_max=64 vallen_max=-1", "vallen_max='-1'"},
    {"get_maxes", "cmd=maxes keylen_max=99999999999999999999 vallen_max=64", "keylen_max='99999999999999999999'"},
    {"get_my_kvsname", "cmd=my_kvsname", "no usable kvsname="},
    {"get_my_kvsname", "cmd=my_kvsname kvsname=" + std::string(300, 'k'), "no usable kvsname="},
    {"get_appnum", "cmd=appnum appnum=many", "appnum='many'"},
    {"get_universe_size", std::nullopt, "closed its end"},
    {"get ", "cmd=get_result rc=0 value=(vector,(0,1", "PMI_process_mapping"},
    {"get ", "cmd=get_result rc=0 value=(vector,(0,0,0))", "PMI_process_mapping"},
};
INSTANTIATE_TEST_SUITE_P(Answers, HostileLauncher, testing::ValuesIn(kHostile));

TEST(Pmi1, ALauncherThatSaysNothingIsGivenUp) {
  FakeLauncher launcher(0, 2, spoiled("get_appnum", ""));
  Status status;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(launcher.connect(status, 50), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_NE(std::string(last_error_detail()).find("has not answered for 50 ms (waiting for 'appnum'"),
            std::string::npos)
      << last_error_detail();
}

TEST(Pmi1, AFenceOutlastsTheAnswerLimitButNotTheLauncher) {
  // No answer to the barrier, and 500 ms later the end: the fence must have waited for that.
  Answers answers = [polite = Polite(2)](const std::string& line) mutable -> std::optional<std::string> {
    if (line != "cmd=barrier_in") return polite(line);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return std::nullopt;
  };
  FakeLauncher launcher(0, 2, answers);
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status, 200);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_FALSE(boot->fence());
  EXPECT_NE(std::string(last_error_detail()).find("closed its end"), std::string::npos) << last_error_detail();
}

TEST(Pmi1, ALauncherThatHangsUpIsNoticedUntilTheGoodbye) {
  for (const bool says_goodbye : {false, true}) {
    FakeLauncher launcher(0, 2, Polite(2));
    Status status;
    const std::unique_ptr<Boot> boot = launcher.connect(status);
    ASSERT_TRUE(status) << last_error_detail();
    EXPECT_FALSE(boot->launcher_is_gone());
    EXPECT_TRUE(!says_goodbye || boot->finalize());
    launcher.hang_up();
    EXPECT_EQ(boot->launcher_is_gone(), !says_goodbye);
  }
}

TEST(Pmi1, AfterAnErrorNoLateAnswerIsTaken) {
  FakeLauncher launcher(0, 2, spoiled("put", "cmd=surprise"));
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status);
  EXPECT_FALSE(boot->put("a", "b"));
  std::string value;
  EXPECT_EQ(boot->get(0, "a", value).error_class(), MPI_ERR_OTHER);
  EXPECT_FALSE(boot->fence());
}

TEST(Pmi1, AbortTellsTheLauncherAndEndsTheProcess) {
  // In a death test's child the launcher's thread is gone; its end of the socket still holds what was sent.
  FakeLauncher launcher(0, 1, Polite(1));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status);
  EXPECT_EXIT(boot->abort(7, "all is lost"), ExitedWithCode(7), "^all is lost\n$");
  EXPECT_EXIT(boot->abort(256, "a multiple of 256 must not look like success"), ExitedWithCode(1), "multiple");
  boot.reset();
  ASSERT_EQ(launcher.heard().size(), 8u);
  EXPECT_EQ(launcher.heard()[6], "cmd=abort exitcode=7");
  EXPECT_EQ(launcher.heard()[7], "cmd=abort exitcode=256");
}

}  // namespace
}  // namespace heddle::test
