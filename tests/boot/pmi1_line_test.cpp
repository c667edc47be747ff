// The lines of PMI-1, whole and in pieces, right and wrong.
#include "boot/pmi1_line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "mpi.h"

namespace heddle::boot {
namespace {

TEST(Pmi1Line, Words) {
  Pmi1Line line;
  ASSERT_TRUE(Pmi1Line::parse("cmd=get_result rc=0 msg=key was  found value=a=b,(c)", line));
  EXPECT_EQ(line.command(), "get_result");
  EXPECT_EQ(*line.find("rc"), "0");
  EXPECT_EQ(*line.find("msg"), "key");
  EXPECT_EQ(*line.find("value"), "a=b,(c)");
  EXPECT_EQ(line.find("cmd"), nullptr);
  EXPECT_EQ(line.find("key"), nullptr);
  ASSERT_TRUE(Pmi1Line::parse("mcmd=spawn", line));
  EXPECT_EQ(line.command(), "spawn");
  EXPECT_EQ(line.find("rc"), nullptr) << "nothing is left of the line before";
}

TEST(Pmi1Line, Nonsense) {
  Pmi1Line line;
  for (const char* text : {"", " ", "cmd", "cmd=", "command=x", "rc=0", "cmd=a\tb=c", "cmd=\x7f", "cmd=\xff"}) {
    EXPECT_EQ(Pmi1Line::parse(text, line).error_class(), MPI_ERR_OTHER) << text;
  }
}

TEST(Pmi1Buffer, ALineThatNeverEnds) {
  Pmi1Buffer buffer;
  std::string line;
  Status status;
  buffer.append(std::string(Pmi1Buffer::kMaxLine, 'x'));
  EXPECT_FALSE(buffer.next(line, status));
  EXPECT_TRUE(status);
  buffer.append("x");
  EXPECT_FALSE(buffer.next(line, status));
  EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
}

// However the bytes are cut on their way, the same lines come out.
RC_GTEST_PROP(Pmi1BufferProperty, LinesDoNotDependOnTheCuts, ()) {
  const auto lines =
      *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')));
  std::string bytes;
  for (const std::string& l : lines) bytes += l + "\n";
  Pmi1Buffer buffer;
  std::vector<std::string> got;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto cut = *rc::gen::inRange<std::size_t>(1, 20);
    buffer.append(std::string_view(bytes).substr(at, cut));
    at += cut;
    std::string line;
    Status status;
    while (buffer.next(line, status)) got.push_back(line);
    RC_ASSERT(status.is_ok());
  }
  RC_ASSERT(got == lines);
  RC_ASSERT(buffer.empty());
}

RC_GTEST_PROP(Pmi1LineProperty, SurvivesAnything, (const std::string& text)) {
  Pmi1Line line;
  if (Pmi1Line::parse(text, line)) RC_ASSERT(!line.command().empty());
}

}  // namespace
}  // namespace heddle::boot
