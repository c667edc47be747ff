#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mpi.h"
#include "plan/text.hpp"

namespace {

using namespace heddle;
using namespace heddle::plan;

// In user units of the picture.
constexpr int kBoxWide = 26, kBoxHigh = 10, kBuffersApart = 5, kRanksApart = 54, kStepsApart = 26;
constexpr int kLeft = 60, kTop = 56, kBottom = 34;
constexpr std::uint64_t kMostBoxes = 50'000;

// Blocks of one buffer of a rank, in one step.
struct Operand {
  std::uint32_t rank, step, buffer, first, length;
};

[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

class Picture {
 public:
  Picture(std::span<const Plan> plans, std::string& svg)
      : plans_(plans), svg_(svg), ranks_(plans[0].spec.ranks), blocks_(std::max(plans[0].blocks, 1u)) {
    each_operand([this](const Operand& o) {
      steps_ = std::max(steps_, o.step + 1);
      if (o.buffer >= kScratch) {
        std::uint32_t& rows = rows_[o.buffer];
        rows = std::max(rows, std::min(o.first + std::max(o.length, 1u), blocks_));
      } else {
        rows_[o.buffer] = blocks_;
      }
      for (std::uint32_t i = 0; i < o.length; ++i) touched_.insert({o.rank, o.step, o.buffer, (o.first + i) % blocks_});
    });
    for (const auto& [buffer, rows] : rows_) {
      begins_[buffer] = high_;
      high_ += static_cast<int>(rows) * kBoxHigh + kBuffersApart;
    }
  }

  std::uint64_t boxes() const { return std::uint64_t{ranks_} * steps_ * static_cast<unsigned>(high_) / kBoxHigh; }

  void draw() {
    const int wide = x(ranks_) + 10, high = y_of_step(steps_) + kBottom;
    append(svg_,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
           "font-size=\"11\">\n",
           wide, high);
    svg_ +=
        "<style>.box{fill:white;stroke:#888}.touched{fill:#bbb}.message,.reduce,.copy{fill:none;stroke-width:1.3}"
        ".message{stroke:#2b6cb0;marker-end:url(#m)}.reduce{stroke:#c53030;marker-end:url(#r)}"
        ".copy{stroke:#2f855a;marker-end:url(#c)}</style>\n<defs>";
    for (const auto& [name, colour] :
         {std::pair("m", "#2b6cb0"), std::pair("r", "#c53030"), std::pair("c", "#2f855a")}) {
      append(svg_,
             "<marker id=\"%s\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"5\" markerHeight=\"5\" "
             "orient=\"auto\">"
             "<path d=\"M0 0L6 3L0 6z\" fill=\"%s\"/></marker>",
             name, colour);
    }
    append(svg_, "</defs>\n<text x=\"10\" y=\"18\" font-size=\"13\">%s on %u ranks: %s</text>\n",
           kCollectives[static_cast<std::size_t>(plans_[0].spec.collective)].data(), ranks_,
           print(plans_[0].choice).c_str());
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      append(svg_, "<text class=\"rank\" x=\"%d\" y=\"%d\">%u</text>\n", x(rank), kTop - 10, rank);
    for (std::uint32_t step = 0; step < steps_; ++step) draw_step(step);
    draw_arrows();
    append(svg_,
           "<text x=\"10\" y=\"%d\" fill=\"#555\">blue: messages, red: reductions, green: copies; from above: input, "
           "output, scratch</text>\n</svg>\n",
           high - 12);
  }

 private:
  // visit(instruction, peer, left, right, to), rank by rank; what an instruction does not use of these means nothing.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const Plan& plan = plans_[plans_[0].symmetric ? 0 : rank];
      const std::uint32_t shift = plan.symmetric ? rank : 0;
      std::uint32_t step = 0;
      for (const Instruction& i : plan.code) {
        if (i.op == Opcode::kJoin) {
          ++step;
          continue;
        }
        const auto operand = [&](std::uint32_t buffer, std::uint32_t first) {
          return Operand{rank, step, buffer, (first + shift) % blocks_, i.length};
        };
        visit(i, (i.peer + shift) % ranks_, operand(i.left_buffer, i.left), operand(i.right_buffer, i.right),
              operand(i.to_buffer, i.to));
      }
    }
  }
  template <class Visit>
  void each_operand(Visit&& visit) const {
    each([&](const Instruction& i, std::uint32_t, const Operand& left, const Operand& right, const Operand& to) {
      if (uses_left(i.op)) visit(left);
      if (uses_right(i.op)) visit(right);
      if (uses_to(i.op)) visit(to);
    });
  }

  static int x(std::uint32_t rank) { return kLeft + static_cast<int>(rank) * (kBoxWide + kRanksApart); }
  int y_of_step(std::uint32_t step) const { return kTop + static_cast<int>(step) * (high_ + kStepsApart); }
  int y(std::uint32_t step, std::uint32_t buffer, std::uint32_t block) const {
    return y_of_step(step) + begins_.at(buffer) + static_cast<int>(block) * kBoxHigh;
  }
  // The middle of its blocks; of those that go round the end, of the first part.
  int middle(const Operand& o) const {
    const std::uint32_t length = std::clamp(o.length, 1u, rows_.at(o.buffer) - o.first);
    return y(o.step, o.buffer, o.first) + static_cast<int>(length) * kBoxHigh / 2;
  }

  void draw_step(std::uint32_t step) {
    append(svg_, "<text class=\"step\" x=\"10\" y=\"%d\">step %u</text>\n", y_of_step(step) + kBoxHigh, step + 1);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (const auto& [buffer, rows] : rows_) {
        for (std::uint32_t block = 0; block < rows; ++block) {
          const bool touched = touched_.contains({rank, step, buffer, block});
          append(svg_, "<rect class=\"box%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                 touched ? " touched" : "", x(rank), y(step, buffer, block), kBoxWide, kBoxHigh);
        }
      }
    }
  }

  void draw_arrows() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Operand>> sent;  // by sender and receiver, in order
    each([&](const Instruction& i, std::uint32_t peer, const Operand& left, const Operand&, const Operand&) {
      if (i.op == Opcode::kSend) sent[{left.rank, peer}].push_back(left);
    });
    each([&](const Instruction& i, std::uint32_t peer, const Operand& left, const Operand& right, const Operand& to) {
      if (i.op == Opcode::kRecv) {
        std::deque<Operand>& queue = sent[{peer, to.rank}];
        if (queue.empty()) return;
        message(queue.front(), to);
        queue.pop_front();
      } else if (i.op != Opcode::kSend) {
        if (uses_right(i.op)) within("reduce", right, to);
        within(i.op == Opcode::kReduce ? "reduce" : "copy", left, to);
      }
    });
  }
  void message(const Operand& from, const Operand& to) {
    const bool rightwards = to.rank > from.rank;
    append(svg_, "<path class=\"message\" d=\"M%d %dL%d %d\"/>\n", x(from.rank) + (rightwards ? kBoxWide : 0),
           middle(from), x(to.rank) + (rightwards ? 0 : kBoxWide), middle(to));
  }
  // Of what stays where it is nothing is to be seen.
  void within(const char* what, const Operand& from, const Operand& to) {
    if (from.buffer == to.buffer && from.first == to.first) return;
    const int begin = middle(from), end = middle(to), edge = x(from.rank) + kBoxWide;
    append(svg_, "<path class=\"%s\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", what, edge, begin, edge + 20, begin,
           edge + 20, end, edge, end);
  }

  const std::span<const Plan> plans_;
  std::string& svg_;
  const std::uint32_t ranks_, blocks_;
  std::uint32_t steps_ = 0;
  std::map<std::uint32_t, std::uint32_t> rows_;     // of each buffer that is used
  std::map<std::uint32_t, int> begins_;             // below the top of a step
  int high_ = 0;                                    // a step
  std::set<std::array<std::uint32_t, 4>> touched_;  // rank, step, buffer, block
};

}  // namespace

Status draw(std::span<const Plan> plans, std::string& svg) {
  const std::uint64_t most = std::uint64_t{plans[0].spec.ranks} * std::max(plans[0].blocks, 1u);
  if (most > kMostBoxes) {
    return error(MPI_ERR_ARG, "a picture of %u ranks with %u blocks each is too large to look at", plans[0].spec.ranks,
                 plans[0].blocks);
  }
  Picture picture(plans, svg);
  if (picture.boxes() > kMostBoxes) {
    return error(MPI_ERR_ARG, "a picture of %llu boxes is too large to look at",
                 static_cast<unsigned long long>(picture.boxes()));
  }
  picture.draw();
  return Status::ok();
}
