// What mpiexec and its process on another host read of each other: a hello, then frames, of which one is a job.
#include <cstdlib>
#include <string>

#include "hello.hpp"
#include "node_spec.hpp"

using namespace heddle;
using namespace heddle::launcher;

namespace {

void read_job(const Frame& frame) {
  NodeSpec spec;
  if (!decode(frame, spec)) return;
  FrameWriter out(FrameType::kJob);  // what is accepted can be sent on, and is the same again
  if (!encode(spec, spec.ranks, out)) std::abort();
  FrameDecoder decoder;
  decoder.append(out.finish());
  Frame again;
  Status status;
  NodeSpec same;
  if (!decoder.next(again, status) || !decode(again, same)) std::abort();
  if (same.ranks.size() != spec.ranks.size() || same.variables != spec.variables || same.job != spec.job) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] % 64 + 1;  // it comes in pieces
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  HelloScanner scanner;
  FrameDecoder frames;
  Hello hello;
  Status status;
  bool greeted = (data[0] & 64) != 0;  // or not at all
  for (std::size_t at = 0; at < text.size() && !scanner.is_hopeless(); at += step) {
    std::string_view piece = std::string_view(text).substr(at, step);
    if (!greeted && !(greeted = scanner.scan(piece, hello))) continue;
    frames.append(piece);
    Frame frame;
    while (frames.next(frame, status)) read_job(frame);
    if (!status) break;
  }
  read_job({FrameType::kJob, text});
  return 0;
}
