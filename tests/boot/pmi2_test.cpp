// The PMI-2 client against launchers that behave, and against those that do not.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "boot/fake_launcher.hpp"
#include "boot/pmi.hpp"
#include "mpi.h"

namespace heddle::test {
namespace {

using boot::Boot;

class Pmi2 : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PMI_JOBID", "7.0", 1);
    unsetenv("MPI_LOCALNRANKS");
  }
  void TearDown() override { unsetenv("PMI_JOBID"); }
};

TEST_F(Pmi2, LearnsTheJobPutsFencesGetsAndSaysGoodbye) {
  FakeLauncher launcher(1, 3, Polite2(1, 3));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->rank(), 1);
  EXPECT_EQ(boot->size(), 3);
  EXPECT_EQ(boot->job(), "the-job");
  EXPECT_EQ(boot->appnum(), 3);
  EXPECT_EQ(boot->universe_size(), 8);
  EXPECT_EQ(boot->local_size(), 3);
  EXPECT_FALSE(boot->can_rejoin());
  ASSERT_TRUE(boot->put("a", "b=c,(d)"));
  ASSERT_TRUE(boot->fence());
  std::string value;
  ASSERT_TRUE(boot->get(1, "a", value));
  EXPECT_EQ(value, "b=c,(d)");
  EXPECT_EQ(boot->get(0, "a", value).error_class(), MPI_ERR_NAME) << "another rank has put it";
  EXPECT_TRUE(boot->finalize());
  boot.reset();
  const std::vector<std::string> expected = {
      "cmd=init pmi_version=2 pmi_subversion=0",
      "cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;",
      "cmd=job-getid;",
      "cmd=info-getjobattr;key=universeSize;wait=FALSE;",
      "cmd=info-getjobattr;key=PMI_process_mapping;wait=FALSE;",
      "cmd=kvs-put;key=a;value=b=c,(d);",
      "cmd=kvs-fence;",
      "cmd=kvs-get;jobid=the-job;srcid=1;key=a;",
      "cmd=kvs-get;jobid=the-job;srcid=0;key=a;",
      "cmd=finalize;",
  };
  EXPECT_EQ(launcher.heard(), expected);
}

TEST_F(Pmi2, IsSpokenWherePmi1IsRefused) {
  unsetenv("PMI_JOBID");
  FakeLauncher launcher(0, 2, Polite2(0, 2));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->size(), 2);
  boot.reset();
  EXPECT_EQ(launcher.heard()[0], "cmd=init pmi_version=1 pmi_subversion=1");
  EXPECT_EQ(launcher.heard()[1], "cmd=init pmi_version=2 pmi_subversion=0");
  EXPECT_EQ(launcher.heard()[2], "cmd=fullinit;pmirank=0;threaded=FALSE;")
      << "an empty word would be an error to Hydra";
}

TEST_F(Pmi2, GivesWayToPmi1) {
  FakeLauncher launcher(0, 2, [polite = Polite(2)](const std::string& line) mutable -> std::optional<std::string> {
    if (line.starts_with("cmd=init pmi_version=2")) return "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1";
    return polite(line);
  });
  Status status;
  const std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EQ(boot->job(), "the-job");
}

TEST_F(Pmi2, RefusedEitherWay) {
  FakeLauncher launcher(0, 2, [](const std::string& line) -> std::optional<std::string> {
    return "cmd=response_to_init rc=-1 pmi_version=" +
           std::string(line.starts_with("cmd=init pmi_version=2") ? "1" : "2");
  });
  Status status;
  EXPECT_EQ(launcher.connect(status), nullptr);
  EXPECT_STREQ(last_error_detail(), "the launcher refuses PMI version 1.1; start with Heddle's mpiexec");
}

TEST_F(Pmi2, AsksInsideAFence) {
  for (const bool end_first : {false, true}) {
    FakeLauncher launcher(
        0, 2,
        [=, polite = Polite2(0, 2), inside = false](const std::string& text) mutable -> std::optional<std::string> {
          if (text.starts_with("cmd=kvs-fence")) {
            inside = true;
            return "";
          }
          if (!inside || !text.starts_with("cmd=kvs-get")) return polite(text);
          inside = false;
          const std::string end = "cmd=kvs-fence-response;rc=0;", value = *polite(text);
          const std::string second = end_first ? value : end;
          return (end_first ? end : value) + "THEN" + second;
        });
    launcher.split_at("THEN");
    Status status;
    const std::unique_ptr<Boot> boot = launcher.connect(status);
    ASSERT_TRUE(status) << last_error_detail();
    ASSERT_TRUE(boot->put("a", "b"));
    int right = 0, calls = 0;
    EXPECT_TRUE(boot->fence([&] {
      std::string value;
      ++calls;
      right += boot->get(0, "a", value) && value == "b";
    })) << last_error_detail();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(right, 1);
  }
}

// A launcher that answers `question` with `answer` and everything else well.
struct Hostile {
  const char* question;
  std::optional<std::string> answer;
  const char* says;  // a part of the error
};

class HostileLauncher2 : public testing::TestWithParam<Hostile> {
  void SetUp() override { setenv("PMI_JOBID", "7.0", 1); }
  void TearDown() override { unsetenv("PMI_JOBID"); }
};

TEST_P(HostileLauncher2, IsAnErrorThatSaysWhy) {
  const Hostile& h = GetParam();
  FakeLauncher launcher(0, 2, [&h, polite = Polite2(0, 2)](const std::string& text) mutable {
    return text.starts_with(std::string("cmd=") + h.question) ? h.answer : polite(text);
  });
  Status status;
  EXPECT_EQ(launcher.connect(status, 2000), nullptr);
  EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
  EXPECT_NE(std::string(last_error_detail()).find(h.says), std::string::npos) << last_error_detail();
}

const Hostile kHostile[] = {
    {"init", std::nullopt, "closed its end"},
    {"init", "cmd=response_to_init rc=1", "refuses PMI version 2.0"},
    {"fullinit", std::nullopt, "closed its end"},
    {"fullinit", "hello", "not a PMI-2 message: 'hello'"},
    {"fullinit", "cmd=fullinit-response;rc=0;\x01", "0x01"},
    {"fullinit", "cmd=kvs-fence-response;rc=0;", "where PMI-2 has 'cmd=fullinit-response'"},
    {"fullinit", "cmd=fullinit-response;rc=3;errmsg=no such job;", "the error 3 no such job"},
    {"fullinit", "cmd=fullinit-response;rc=0;size=2;appnum=0;", "rank='', not a number"},
    {"fullinit", "cmd=fullinit-response;rc=0;rank=1;size=2;appnum=0;", "rank='1'"},
    {"fullinit", "cmd=fullinit-response;rc=0;rank=0;size=3;appnum=0;", "size='3'"},
    {"fullinit", "cmd=fullinit-response;rc=0;rank=0;size=2;appnum=many;", "appnum='many'"},
    {"fullinit", "cmd=" + std::string(20'000, 'x'), "of '20004' bytes"},
    {"job-getid", "cmd=job-getid-response;rc=0;jobid=;", "the job's name"},
    {"info-getjobattr;key=PMI", "cmd=info-getjobattr-response;rc=0;found=FALSE;", "which rank runs where"},
    {"info-getjobattr;key=PMI", "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,1;",
     "PMI_process_mapping"},
};
INSTANTIATE_TEST_SUITE_P(Answers, HostileLauncher2, testing::ValuesIn(kHostile));

TEST_F(Pmi2, AbortTellsTheLauncherAndEndsTheProcess) {
  FakeLauncher launcher(0, 1, Polite2(0, 1));
  Status status;
  std::unique_ptr<Boot> boot = launcher.connect(status);
  ASSERT_TRUE(status) << last_error_detail();
  EXPECT_EXIT(boot->abort(7, "all is lost"), testing::ExitedWithCode(7), "^all is lost\n$");
  boot.reset();
  EXPECT_EQ(launcher.heard().back(), "cmd=abort;isworld=TRUE;msg=MPI_Abort;");
}

}  // namespace
}  // namespace heddle::test
