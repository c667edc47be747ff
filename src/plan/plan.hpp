// What the ranks of one collective do, as data: a list of fixed-size instructions for a rank.
//
// Problem: a collective should be proved, printed and simulated before it runs, and then run without deciding anything,
//          for any count and for every variant with counts per rank.
// Method:  an operand is an interval of *blocks* of a buffer. The block says which part of the data, the buffer where it
//          lies: every buffer, scratch too, is an image of the same blocks, so an operand fits wherever its blocks fit.
//          How long a block is, only the call knows that is bound to the plan. Intervals are cyclic: [p-1..0] is two
//          blocks. In a symmetric plan peers and blocks count from the rank (mod ranks), and one plan serves all.
//          Instructions start in order. SEND and RECV are under way until the next JOIN; COPY and REDUCE are over at
//          once. Messages between two ranks match in order. The end of a plan is a JOIN.
//
//     byte   0     1         4       8      12      16     20       24
//            +-----+---------+-------+------+-------+------+--------+
//            | op  | buffers | peer  | left | right | to   | length |   left, right, to: the first block of each
//            +-----+---------+-------+------+-------+------+--------+
//
// Threads: a plan does not change after it is compiled; any thread may read it.
// Cost:    24 bytes an instruction; a circulant plan for 100,000 ranks has under 100 of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::plan {

enum class Opcode : std::uint8_t { kSend, kRecv, kCopy, kReduce, kJoin };

// Buffers. Those from kScratch on belong to the plan.
inline constexpr std::uint8_t kInput = 0, kOutput = 1, kScratch = 2;
inline constexpr std::uint32_t kMaxScratch = 200;
// Of a node. A leader needs a vector for what each of the others sends, and choices that are forced end there, too.
inline constexpr std::uint32_t kMostLeaders = kMaxScratch - 1;

struct Instruction {
  Opcode op;
  std::uint8_t left_buffer, right_buffer, to_buffer;
  std::uint32_t peer;         // SEND, RECV
  std::uint32_t left, right;  // SEND, COPY: left; REDUCE: to = left op right
  std::uint32_t to;           // RECV, COPY, REDUCE
  std::uint32_t length;       // blocks, of every operand
  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 24);
static_assert(offsetof(Instruction, peer) == 4 && offsetof(Instruction, to) == 16 &&
              offsetof(Instruction, length) == 20);

enum class Collective : std::uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kAllgather,
  kGather,
  kScatter,
  kAlltoall,
  kScan,
  kExscan,
  kNeighborAllgather,
  kNeighborAlltoall
};
inline constexpr std::string_view kCollectives[] = {
    "barrier", "bcast",    "reduce", "allreduce", "reduce_scatter",     "allgather",        "gather",
    "scatter", "alltoall", "scan",   "exscan",    "neighbor_allgather", "neighbor_alltoall"};

// What is known of the lengths of blocks.
enum class Partition : std::uint8_t {
  kShares,   // block i is its share of one count, so it has the same length on every rank
  kPerRank,  // block i is what rank i gives or gets: the same, and any lengths are possible
  kEqual,    // all blocks have one length
  kMatrix,   // input block j of rank i goes with output block i of rank j; any lengths are possible
  kEdges  // the blocks at both ends of an edge (neighbors.hpp) go together; any lengths, and ranks have any number of blocks
};
inline constexpr std::string_view kPartitions[] = {"shares", "per-rank", "equal", "matrix", "edges"};

class Neighborhoods;

// What has to be done. `ordered`: the operation does not commute, so operands are combined in the order of the ranks.
struct Spec {
  Collective collective = Collective::kBarrier;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  bool ordered = false;
  const Neighborhoods* neighborhoods =
      nullptr;  // of a neighbourhood collective; outlives its plans; null: nobody has neighbours
  bool operator==(const Spec&) const = default;
};

// How: an algorithm's name (algorithms.hpp) and its numbers: radices, ports, segments.
struct Choice {
  std::string_view algorithm;  // of kAlgorithms: lives for ever
  std::vector<int> numbers;
  bool operator==(const Choice&) const = default;
};

struct Interval {
  std::uint32_t first = 0, length = 0;
  bool operator==(const Interval&) const = default;
};

struct Plan {
  Spec spec;
  Choice choice;
  std::uint32_t rank = 0;
  bool symmetric = false;  // serves every rank, which adds itself to peers and blocks
  Partition partition = Partition::kShares;
  std::uint32_t blocks = 0;
  std::vector<Instruction> code;
  std::vector<Interval> scratch;  // of each scratch buffer, what of it is used: that much has memory
  bool operator==(const Plan&) const = default;
};

inline bool uses_left(Opcode op) { return op != Opcode::kRecv && op != Opcode::kJoin; }
inline bool uses_right(Opcode op) { return op == Opcode::kReduce; }
inline bool uses_to(Opcode op) { return op != Opcode::kSend && op != Opcode::kJoin; }
inline bool is_transfer(Opcode op) { return op == Opcode::kSend || op == Opcode::kRecv; }

}  // namespace heddle::plan
