#include "mpi/datatype_layout.hpp"

#include <algorithm>

namespace heddle::mpi {
namespace {

// count * stride == distance, where the product may not fit.
bool spans(MPI_Count count, MPI_Count stride, MPI_Count distance) noexcept {
  MPI_Count product;
  return !__builtin_mul_overflow(count, stride, &product) && product == distance;
}

// The repetition without a new node, if there is one.
bool fold(MPI_Count count, MPI_Count stride, const Layout& item, Layout* out) noexcept {
  const Node& node = item.node;
  if (count == 0 || node.empty()) {
    *out = Layout();
    return true;
  }
  *out = item;
  if (count == 1) return true;
  if (node.kind == Node::kBlock) {
    out->node.size = node.size * count;
    if (stride == node.size) return true;
    out->node.kind = Node::kStrided;
    out->node.count = count;
    out->node.stride = stride;
    out->node.bytes = node.size;
    return true;
  }
  if ((node.kind == Node::kStrided || node.kind == Node::kRepeat) && spans(node.count, node.stride, stride)) {
    out->node.size = node.size * count;
    out->node.count = node.count * count;
    return true;
  }
  return false;
}

Node repeat_node(MPI_Count count, MPI_Count stride, const Node* child) noexcept {
  Node node;
  node.kind = Node::kRepeat;
  node.size = child->size * count;
  node.count = count;
  node.stride = stride;
  node.child = child;
  return node;
}

}  // namespace

Layout repeat(MPI_Count count, MPI_Count stride, const Layout& item, const Node* child) noexcept {
  Layout folded;
  if (fold(count, stride, item, &folded)) return folded;
  return {item.offset, repeat_node(count, stride, child)};
}

Layout repeat(MPI_Count count, MPI_Count stride, const Layout& item, LayoutMemory& memory) {
  Layout folded;
  if (fold(count, stride, item, &folded)) return folded;
  memory.nodes.push_front(item.node);
  return {item.offset, repeat_node(count, stride, &memory.nodes.front())};
}

void SequenceBuilder::add(MPI_Count offset, const Layout& item) {
  const Node& node = item.node;
  const bool too_deep = node.depth >= kMaxDepth;
  if (node.count <= kSpliceParts || too_deep) {
    splice(offset + item.offset, node, too_deep);
  } else {
    add_node(offset + item.offset, node);
  }
}

// Adds the parts of a node, if it has any; `deeply`: also the parts of its parts.
void SequenceBuilder::splice(MPI_Count offset, const Node& node, bool deeply) {
  if (node.kind == Node::kBlocks) {
    for (MPI_Count i = 0; i < node.count; ++i) {
      add_block(offset + node.blocks[i].offset, node.blocks[i + 1].start - node.blocks[i].start);
    }
  } else if (node.kind == Node::kSequence) {
    for (MPI_Count i = 0; i < node.count; ++i) {
      const Part& p = node.parts[i];
      deeply ? splice(offset + p.offset, p.node, true) : add_node(offset + p.offset, p.node);
    }
  } else {
    add_node(offset, node);
  }
}

void SequenceBuilder::add_node(MPI_Count offset, const Node& node) {
  if (node.empty()) return;
  if (node.kind == Node::kBlock) return add_block(offset, node.size);
  if (parts_.empty()) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const MPI_Count end = i + 1 < blocks_.size() ? blocks_[i + 1].start : size_;
      parts_.push_back({blocks_[i].start, blocks_[i].offset, block_layout(0, end - blocks_[i].start).node});
    }
    blocks_ = {};
  }
  parts_.push_back({size_, offset, node});
  size_ += node.size;
}

void SequenceBuilder::add_block(MPI_Count offset, MPI_Count bytes) {
  if (!parts_.empty()) {
    Part& last = parts_.back();
    if (last.node.kind == Node::kBlock && last.offset + last.node.size == offset) {
      last.node.size += bytes;
    } else {
      parts_.push_back({size_, offset, block_layout(0, bytes).node});
    }
  } else if (blocks_.empty() || blocks_.back().offset + (size_ - blocks_.back().start) != offset) {
    blocks_.push_back({size_, offset});
  }
  size_ += bytes;
}

// The length of every block; 0 when they differ.
MPI_Count SequenceBuilder::common_length() const noexcept {
  const MPI_Count bytes = blocks_[1].start;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    const MPI_Count end = i + 1 < blocks_.size() ? blocks_[i + 1].start : size_;
    if (end - blocks_[i].start != bytes) return 0;
  }
  return bytes;
}

// Are the blocks equally far apart?
bool SequenceBuilder::regular() const noexcept {
  MPI_Count stride;
  if (__builtin_sub_overflow(blocks_[1].offset, blocks_[0].offset, &stride)) return false;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    MPI_Count here;
    if (__builtin_sub_overflow(blocks_[i].offset, blocks_[i - 1].offset, &here) || here != stride) return false;
  }
  return true;
}

Layout SequenceBuilder::finish() {
  Layout out;
  if (size_ == 0) return out;
  if (blocks_.size() == 1) return block_layout(blocks_[0].offset, size_);
  if (parts_.size() == 1) return {parts_[0].offset, parts_[0].node};
  const MPI_Count length = blocks_.empty() ? 0 : common_length();
  if (length != 0 && regular()) {
    const auto count = static_cast<MPI_Count>(blocks_.size());
    return repeat(count, blocks_[1].offset - blocks_[0].offset, block_layout(blocks_[0].offset, blocks_[1].start),
                  nullptr);
  }
  out.node.size = size_;
  if (!blocks_.empty()) {
    out.node.kind = Node::kBlocks;
    out.node.count = static_cast<MPI_Count>(blocks_.size());
    blocks_.push_back({size_, 0});
    blocks_.shrink_to_fit();
    memory_.blocks = std::move(blocks_);
    out.node.stride = length;
    out.node.blocks = memory_.blocks.data();
    return out;
  }
  out.node.kind = Node::kSequence;
  out.node.count = static_cast<MPI_Count>(parts_.size());
  for (const Part& p : parts_) out.node.depth = std::max(out.node.depth, p.node.depth + 1);
  parts_.shrink_to_fit();
  memory_.parts = std::move(parts_);
  out.node.parts = memory_.parts.data();
  return out;
}

}  // namespace heddle::mpi
