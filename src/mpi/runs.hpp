// The runs of contiguous bytes of which typed data consists, in the order of the type map.
//
// Cost: no memory; a call of `visit` for each run.
#pragma once

#include "mpi/datatype.hpp"

namespace heddle::mpi {

template <class Visit>
bool visit_runs(const Node& node, MPI_Count offset, Visit& visit) {
  switch (node.kind) {
    case Node::kBlock:
      return visit(offset, node.size);
    case Node::kStrided:
      for (MPI_Count i = 0; i < node.count; ++i) {
        if (!visit(offset + i * node.stride, node.bytes)) return false;
      }
      return true;
    case Node::kBlocks:
      for (MPI_Count i = 0; i < node.count; ++i) {
        const MPI_Count bytes = node.blocks[i + 1].start - node.blocks[i].start;
        if (!visit(offset + node.blocks[i].offset, bytes)) return false;
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

// visit(offset, bytes) for each run of `count` items of `type`, until it returns false. Offsets count from the data's origin.
// REQUIRES: the bytes are within bounds (Datatype::most).
template <class Visit>
void for_each_run(const Datatype& type, MPI_Count count, Visit visit) {
  if (count == 0 || type.size == 0) return;
  if (type.contiguous) {
    visit(MPI_Count{0}, type.size * count);
    return;
  }
  const Layout all = repeat(count, type.extent, type.layout, &type.layout.node);
  visit_runs(all.node, all.offset, visit);
}

}  // namespace heddle::mpi
