// What a rank and Heddle's mpiexec say of lost ranks, and of how far a rank is: lines, of which any may come.
#include <cstdlib>

#include "boot/loss_line.hpp"
#include "boot/pmi1_line.hpp"

using namespace heddle;
using namespace heddle::boot;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  constexpr int kSize = 16;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Pmi1Line line;
  if (Pmi1Line::parse(text, line)) {
    int rank = -1;
    std::string why;
    if (parse_loss(line, kSize, &rank, &why) && (rank < 0 || rank >= kSize)) std::abort();
    Phase phase = Phase::kUntold;
    if (parse_phase(line, &phase) != (phase == Phase::kRunning || phase == Phase::kFinalize)) std::abort();
  }
  // Any sentence crosses, as one line.
  std::string said = loss_line(kLossNotice, kSize - 1, text), why;
  if (said.find('\n') != said.size() - 1) std::abort();
  said.pop_back();
  int rank = -1;
  if (!Pmi1Line::parse(said, line) || line.command() != kLossNotice) std::abort();
  if (size != 0 && (!parse_loss(line, kSize, &rank, &why) || rank != kSize - 1)) std::abort();
  return 0;
}
