// The runs of contiguous bytes of which typed data consists, in the order of the type map.
//
// Cost: no memory; a call of `visit` for each run, or for all that a node says are alike.
#pragma once

#include "mpi/datatype.hpp"

namespace heddle::mpi {

// Runs of one length, as far from each other.
struct Runs {
  MPI_Count offset, bytes, stride, count;
};

template <class Visit>
bool visit_runs(const Node& node, MPI_Count offset, Visit& visit) {
  switch (node.kind) {
    case Node::kBlock:
      return visit(Runs{offset, node.size, 0, 1});
    case Node::kStrided:
      return visit(Runs{offset, node.bytes, node.stride, node.count});
    case Node::kBlocks:
      for (MPI_Count i = 0; i < node.count; ++i) {
        const MPI_Count bytes = node.blocks[i + 1].start - node.blocks[i].start;
        if (!visit(Runs{offset + node.blocks[i].offset, bytes, 0, 1})) return false;
      }
      return true;
    case Node::kRepeat:
      for (MPI_Count i = 0; i < node.count; ++i) {
        if (!visit_runs(*node.child, offset + i * node.stride, visit)) return false;
      }
      return true;
    case Node::kSequence:
      for (MPI_Count i = 0; i < node.count; ++i) {
        if (!visit_runs(node.parts[i].node, offset + node.parts[i].offset, visit)) return false;
      }
      return true;
  }
  return true;
}

// How many runs a node has. Cost: its parts.
inline MPI_Count count_runs(const Node& node) noexcept {
  switch (node.kind) {
    case Node::kBlock:
      return 1;
    case Node::kStrided:
    case Node::kBlocks:
      return node.count;
    case Node::kRepeat:
      return node.count * count_runs(*node.child);
    case Node::kSequence:
      break;
  }
  MPI_Count runs = 0;
  for (MPI_Count i = 0; i < node.count; ++i) runs += count_runs(node.parts[i].node);
  return runs;
}

// visit(Runs) for the runs of `count` items of `type`, until it returns false. Offsets count from the data's origin.
// REQUIRES: the bytes are within bounds (Datatype::most).
template <class Visit>
void for_all_runs(const Datatype& type, MPI_Count count, Visit visit) {
  if (count == 0 || type.size == 0) return;
  if (type.contiguous) {
    visit(Runs{0, type.size * count, 0, 1});
    return;
  }
  const Layout all = repeat(count, type.extent, type.layout, &type.layout.node);
  visit_runs(all.node, all.offset, visit);
}
// visit(offset, bytes) for each.
template <class Visit>
void for_each_run(const Datatype& type, MPI_Count count, Visit visit) {
  for_all_runs(type, count, [&](const Runs& runs) {
    for (MPI_Count i = 0; i < runs.count; ++i) {
      if (!visit(runs.offset + i * runs.stride, runs.bytes)) return false;
    }
    return true;
  });
}

}  // namespace heddle::mpi
