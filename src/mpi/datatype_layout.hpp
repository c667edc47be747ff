// Where the bytes of a datatype lie: a normalised tree of blocks and strides.
//
// Problem: a type map may have 10^9 entries; messages need its bytes in order, in chunks that end anywhere.
// Method:  five kinds of nodes. Each knows its bytes, so any position is found by going down from the root, with one
//          division or binary search a level. Nothing is listed byte by byte.
//
//     kBlock     size bytes in a row
//     kStrided   count blocks of `bytes` bytes, `stride` apart
//     kBlocks    count blocks, anywhere: blocks[i].offset; its length is blocks[i + 1].start - blocks[i].start. `stride` is
//                the length of all of them, or 0 where they differ
//     kRepeat    count copies of `child`, `stride` apart
//     kSequence  count parts, each a node at an offset
//
// Invariants: order is the type map's, not that of addresses. Where a node lies is its parent's affair (Layout, Part).
//          No node is empty except a root, which is then a kBlock of 0 bytes. Neighbours in order and in memory are one
//          block; a repetition of a repetition is one where the strides agree; blocks of one length, equally far
//          apart, are kStrided; a sequence in a sequence is spliced in unless it is long.
// Depth:   a kRepeat at least doubles the bytes, so a path has at most 63; between two of them, sequences that nest
//          kMaxDepth deep are flattened, all at once, so that even a chain of types is built in linear time and
//          memory. So a walk may recurse.
// Threads: immutable once built.
#pragma once

#include <cstdint>
#include <forward_list>
#include <vector>

#include "mpi.h"

namespace heddle::mpi {

struct Node;

struct Block {
  MPI_Count start;  // bytes before it, in order; the array ends with one more, whose start is the node's size
  MPI_Count offset;
};
struct Part;

struct Node {
  enum Kind : std::uint32_t { kBlock, kStrided, kBlocks, kRepeat, kSequence };

  constexpr Node() noexcept : kind(kBlock), depth(0), size(0), count(1), stride(0), bytes(0) {}
  // Leaves the members as they are, to be set.
  struct Unset {};
  explicit Node(Unset) noexcept {}

  Kind kind;
  std::uint32_t depth;  // sequences on the longest path down to a kRepeat or a leaf
  MPI_Count size;       // bytes
  MPI_Count count;
  MPI_Count stride;
  union {
    MPI_Count bytes;      // kStrided
    const Node* child;    // kRepeat
    const Block* blocks;  // kBlocks: count + 1
    const Part* parts;    // kSequence: count
  };

  bool empty() const noexcept { return size == 0; }
};

struct Part {
  MPI_Count start;  // bytes before it, in order
  MPI_Count offset;
  Node node;
};

struct Layout {
  MPI_Count offset = 0;
  Node node;
};

// The memory behind the pointers of nodes that were made together.
struct LayoutMemory {
  std::forward_list<Node> nodes;  // addresses stay, also when this is moved
  std::vector<Block> blocks;
  std::vector<Part> parts;
  std::forward_list<LayoutMemory> more;  // of further sequences that were made on the way

  bool empty() const noexcept { return nodes.empty() && blocks.empty() && parts.empty() && more.empty(); }
};

inline constexpr std::uint32_t kMaxDepth = 64;
inline constexpr MPI_Count kSpliceParts = 16;  // a sequence of at most so many parts is always spliced in

constexpr Layout block_layout(MPI_Count offset, MPI_Count bytes) noexcept {
  Layout l;
  l.offset = bytes == 0 ? 0 : offset;
  l.node.size = bytes;
  return l;
}

// `count` times `item`, `stride` bytes apart, without a new node in memory: `child` must be a copy of item.node that
// stays where it is as long as the result. REQUIRES: the bytes fit into 63 bits.
Layout repeat(MPI_Count count, MPI_Count stride, const Layout& item, const Node* child) noexcept;
// The same, with the child's copy in `memory` if one is needed.
Layout repeat(MPI_Count count, MPI_Count stride, const Layout& item, LayoutMemory& memory);

// Collects parts in type-map order and joins them into one layout.
// Cost: 16 bytes a block while there are only blocks, 64 bytes a part once there is anything else.
class SequenceBuilder {
 public:
  explicit SequenceBuilder(LayoutMemory& memory) noexcept : memory_(memory) {}
  void add(MPI_Count offset, const Layout& item);
  // REQUIRES: called once per LayoutMemory.
  Layout finish();

 private:
  void add_node(MPI_Count offset, const Node& node);
  void splice(MPI_Count offset, const Node& node, bool deeply);
  void add_block(MPI_Count offset, MPI_Count bytes);
  MPI_Count common_length() const noexcept;
  bool regular() const noexcept;

  LayoutMemory& memory_;
  std::vector<Block> blocks_;  // while all parts are blocks
  std::vector<Part> parts_;    // from the first that is none
  MPI_Count size_ = 0;
};

}  // namespace heddle::mpi
