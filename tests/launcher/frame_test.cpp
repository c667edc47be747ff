// What two processes of mpiexec say to each other: whole, in pieces, cut off, and from somebody else.
#include "frame.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "hello.hpp"
#include "node_spec.hpp"

namespace heddle::launcher {
namespace {

// All frames of `bytes`, given to the decoder in pieces of `piece` bytes.
std::vector<Frame> decode_all(std::string_view bytes, std::size_t piece, Status& status) {
  FrameDecoder decoder;
  std::vector<Frame> frames;
  Frame frame;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    decoder.append(bytes.substr(at, piece));
    while (status && decoder.next(frame, status)) frames.push_back(frame);
  }
  return frames;
}

std::string header(std::uint32_t length, int type, int zero = 0) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  bytes += static_cast<char>(type);
  for (int i = 0; i < 3; ++i) bytes += static_cast<char>(zero);
  return bytes;
}

TEST(Frame, Picture) {
  FrameWriter writer(FrameType::kSignal);
  writer.number(-2).text("ab");
  EXPECT_EQ(writer.finish(), header(10, 4) + std::string("\xfe\xff\xff\xff\x02\0\0\0ab", 10));
}

RC_GTEST_PROP(Frame, CrossInPiecesOfAnySize, ()) {
  const auto numbers = *rc::gen::arbitrary<std::vector<std::int32_t>>();
  const auto texts = *rc::gen::arbitrary<std::vector<std::string>>();
  std::string bytes;
  for (const int n : numbers) bytes += FrameWriter(FrameType::kSignal).number(n).finish();
  for (const std::string& t : texts) bytes += FrameWriter(FrameType::kPut).text(t).text("v").finish();
  Status status;
  const auto frames = decode_all(bytes, static_cast<std::size_t>(*rc::gen::inRange(1, 40)), status);
  RC_ASSERT(status.is_ok());
  RC_ASSERT(frames.size() == numbers.size() + texts.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    FrameReader in(frames[i]);
    if (i < numbers.size()) {
      RC_ASSERT(in.number() == numbers[i]);
    } else {
      RC_ASSERT(in.text() == texts[i - numbers.size()]);
      RC_ASSERT(in.text() == "v");
    }
    RC_ASSERT(in.ok());
  }
}

TEST(Frame, Nonsense) {
  for (const std::string& bytes :
       {header(kMaxFields + 1, 1), header(0xffffffff, 1), header(0, 0), header(0, static_cast<int>(FrameType::kEnd_)),
        header(0, 255), header(0, 1, 1), std::string("ssh: something else")}) {
    Status status;
    EXPECT_TRUE(decode_all(bytes, 1, status).empty());
    EXPECT_FALSE(status);
  }
}

TEST(Frame, FieldsThatAreNotThere) {
  const std::string minus_one("\xff\xff\xff\xff", 4), five("\x05\0\0\0four", 8), three("\x01\0\0", 3);
  for (const std::string& fields : {std::string(), three, five, minus_one}) {
    const Frame frame{FrameType::kGet, fields};
    FrameReader in(frame);
    EXPECT_EQ(in.text(), "");
    EXPECT_TRUE(in.missing());
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(in.number(), 0) << "and nothing after it";
  }
  const Frame frame{FrameType::kSignal, std::string(8, '\0')};
  FrameReader in(frame);
  in.number();
  EXPECT_FALSE(in.ok()) << "one too many";
}

RC_GTEST_PROP(Hello, IsFoundInAnyNoise, (const std::string& noise)) {
  const std::string all = noise + hello_line() + "frames";
  HelloScanner scanner;
  Hello hello;
  const auto piece = static_cast<std::size_t>(*rc::gen::inRange(1, 60));
  std::string rest;
  bool found = false;
  for (std::size_t at = 0; at < all.size(); at += piece) {
    std::string_view bytes = std::string_view(all).substr(at, piece);
    if (found || (found = scanner.scan(bytes, hello))) rest += bytes;
  }
  RC_ASSERT(found);
  RC_ASSERT(hello.is_ours());
  RC_ASSERT(rest == "frames");
  RC_ASSERT(scanner.noise() == noise);
}

TEST(Hello, NeverComes) {
  HelloScanner scanner;
  Hello hello;
  std::string_view nearly = "\nheddle-node-hello protocol=1 version=";
  EXPECT_FALSE(scanner.scan(nearly, hello));
  EXPECT_FALSE(scanner.is_hopeless());
  const std::string much(HelloScanner::kMaxLine + 1, 'x');
  std::string_view bytes = much;
  EXPECT_FALSE(scanner.scan(bytes, hello));
  EXPECT_TRUE(scanner.is_hopeless());
}

TEST(Hello, OfAnother) {
  for (const char* line : {"\nheddle-node-hello protocol=1 version=0\n", "\nheddle-node-hello protocol=x version=1.0\n",
                           "\nheddle-node-hello protocol=\n"}) {
    HelloScanner scanner;
    Hello hello;
    std::string_view bytes = line;
    EXPECT_TRUE(scanner.scan(bytes, hello)) << line;
    EXPECT_FALSE(hello.is_ours()) << line;
  }
}

NodeSpec some_job() {
  NodeSpec spec;
  spec.job = "job";
  spec.secret = std::string(64, 'a');
  spec.mapping = "(vector,(0,2,2))";
  spec.size = 4;
  spec.programs.resize(2);
  spec.programs[0].argv = {"a", "", "two words", std::string(100'000, 'x')};
  spec.programs[0].variables = {{"A", "1=2"}};
  spec.programs[1].argv = {"b"};
  spec.programs[1].directory = "/tmp";
  spec.variables = {{"HEDDLE_X", ""}, {"B", "\n"}};
  spec.binding = {Unit::kNuma, Unit::kCore, true};
  spec.directory = "/home";
  spec.err_is_terminal = true;
  spec.detection_seconds = 3;
  return spec;
}

Frame frame_of(const NodeSpec& spec, const std::vector<NodeSpec::Rank>& ranks) {
  FrameWriter writer(FrameType::kJob);
  EXPECT_TRUE(encode(spec, ranks, writer));
  return {FrameType::kJob, std::string(writer.finish().substr(kFrameHeader))};
}

TEST(NodeSpec, Crosses) {
  const NodeSpec sent = some_job();
  NodeSpec got;
  ASSERT_TRUE(decode(frame_of(sent, {{2, 0}, {3, 1}}), got));
  EXPECT_EQ(got.job, sent.job);
  EXPECT_EQ(got.secret, sent.secret);
  EXPECT_EQ(got.mapping, sent.mapping);
  EXPECT_EQ(got.size, sent.size);
  ASSERT_EQ(got.ranks.size(), 2u);
  EXPECT_EQ(got.ranks[1].number, 3);
  EXPECT_EQ(got.ranks[1].program, 1);
  ASSERT_EQ(got.programs.size(), 2u);
  EXPECT_EQ(got.programs[0].argv, sent.programs[0].argv);
  EXPECT_EQ(got.programs[0].variables, sent.programs[0].variables);
  EXPECT_EQ(got.programs[1].directory, "/tmp");
  EXPECT_EQ(got.variables, sent.variables);
  EXPECT_EQ(got.binding.bind_to, Unit::kNuma);
  EXPECT_EQ(got.binding.map_by, Unit::kCore);
  EXPECT_TRUE(got.binding.oversubscribe);
  EXPECT_EQ(got.directory, "/home");
  EXPECT_FALSE(got.out_is_terminal);
  EXPECT_TRUE(got.err_is_terminal);
  EXPECT_EQ(got.detection_seconds, 3);
}

TEST(NodeSpec, CutAnywhereIsAnError) {
  NodeSpec spec = some_job();
  spec.programs[0].argv.pop_back();
  const Frame whole = frame_of(spec, {{0, 0}});
  for (std::size_t size = 0; size < whole.fields.size(); ++size) {
    NodeSpec got;
    ASSERT_FALSE(decode({FrameType::kJob, whole.fields.substr(0, size)}, got)) << size;
  }
}

RC_GTEST_PROP(NodeSpec, DamagedIsAnErrorOrAJob, ()) {
  NodeSpec spec = some_job();
  spec.programs[0].argv.pop_back();
  Frame frame = frame_of(spec, {{0, 0}, {1, 1}});
  const auto at = *rc::gen::inRange<std::size_t>(0, frame.fields.size());
  frame.fields[at] = *rc::gen::arbitrary<char>();
  NodeSpec got;
  if (!decode(frame, got)) return;
  for (const NodeSpec::Rank& r : got.ranks) {
    RC_ASSERT(r.number >= 0 && r.number < got.size);
    RC_ASSERT(r.program >= 0 && r.program < static_cast<int>(got.programs.size()));
    RC_ASSERT(!got.programs[static_cast<std::size_t>(r.program)].argv.empty());
  }
}

TEST(NodeSpec, JobsThatMakeNoSense) {
  const auto refused = [](const NodeSpec& spec, const std::vector<NodeSpec::Rank>& ranks) {
    NodeSpec got;
    return !decode(frame_of(spec, ranks), got);
  };
  EXPECT_TRUE(refused(some_job(), {})) << "no ranks";
  EXPECT_TRUE(refused(some_job(), {{4, 0}})) << "beyond the job";
  EXPECT_TRUE(refused(some_job(), {{-1, 0}}));
  EXPECT_TRUE(refused(some_job(), {{0, 2}})) << "no such program";
  EXPECT_TRUE(refused(some_job(), {{1, 0}, {0, 0}})) << "not ascending";
  NodeSpec spec = some_job();
  spec.programs[1].argv.clear();
  EXPECT_TRUE(refused(spec, {{0, 0}})) << "a program without a name";
}

TEST(NodeSpec, TooLarge) {
  NodeSpec spec = some_job();
  spec.programs[0].argv.emplace_back(kMaxFields, 'x');
  FrameWriter writer(FrameType::kJob);
  EXPECT_FALSE(encode(spec, {{0, 0}}, writer));
}

TEST(NodeSpec, RanksText) {
  EXPECT_EQ(ranks_text({{3, 0}}), "rank 3");
  EXPECT_EQ(ranks_text({{3, 0}, {4, 0}}), "ranks 3-4");
  EXPECT_EQ(ranks_text({{0, 0}, {2, 0}, {4, 0}}), "ranks 0, 2, 4");
}

}  // namespace
}  // namespace heddle::launcher
