// MPI_Type_create_darray: one process's part of an array that is distributed over a grid of processes (MPI 5.0, 5.1.4).
//
// Method:  every distribution is a cyclic one: the blocks of a dimension are dealt out in turn. BLOCK deals one to each
//          process, NONE one to the only process. So a dimension is a repetition of equal blocks, perhaps with a shorter
//          one at the end of the array; around that lies the next dimension.
#include "mpi/api_datatype.hpp"
#include "mpi/datatype_builder.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::Datatype;
using mpi::IntArray;
using mpi::Layout;
using mpi::TypeBuilder;

// The arguments of one dimension, and where this process is in it.
struct Dimension {
  MPI_Count size;
  int distribution;
  int argument;
  int processes;
  int place;
};

// What this process has of it: `count` blocks of `length` elements, `stride` elements apart, from `first` on; the last one
// may be shorter.
struct Share {
  MPI_Count first = 0;
  MPI_Count count = 0;
  MPI_Count length = 0;
  MPI_Count stride = 0;
  MPI_Count last_length = 0;

  MPI_Count elements() const noexcept { return count == 0 ? 0 : (count - 1) * length + last_length; }
  // The highest element. REQUIRES: there is one.
  MPI_Count last() const noexcept { return first + (count - 1) * stride + last_length - 1; }
};

// The ABI gives MPI_DISTRIBUTE_DFLT_DARG a value that is also a legal block size; it is the default that is meant.
MPI_Count block_length(const Dimension& d) noexcept {
  if (d.distribution == MPI_DISTRIBUTE_NONE) return d.size;
  if (d.argument != MPI_DISTRIBUTE_DFLT_DARG) return d.argument;
  if (d.distribution == MPI_DISTRIBUTE_CYCLIC) return 1;
  return d.size / d.processes + (d.size % d.processes != 0);
}

// No overflow: where a product would be too large, there is no such block.
Share share_of(const Dimension& d) noexcept {
  Share s;
  s.length = block_length(d);
  const MPI_Count blocks = d.size / s.length + (d.size % s.length != 0);
  if (d.place >= blocks) return s;
  s.first = d.place * s.length;
  s.count = (blocks - d.place - 1) / d.processes + 1;
  s.stride = s.count > 1 ? d.processes * s.length : 0;
  const MPI_Count last = d.place + (s.count - 1) * d.processes;  // the block's number
  s.last_length = std::min(s.length, d.size - last * s.length);
  return s;
}

Status check_dimension(int i, const Dimension& d) {
  if (d.size < 1) {
    return error(MPI_ERR_ARG, "dimension %d has %lld elements; it needs at least one", i,
                 static_cast<long long>(d.size));
  }
  if (d.distribution != MPI_DISTRIBUTE_NONE && d.distribution != MPI_DISTRIBUTE_BLOCK &&
      d.distribution != MPI_DISTRIBUTE_CYCLIC) {
    return error(MPI_ERR_ARG, "the distribution of dimension %d is %d; give MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE", i,
                 d.distribution);
  }
  if (d.distribution == MPI_DISTRIBUTE_NONE) {
    if (d.processes == 1) return Status::ok();
    return error(MPI_ERR_ARG, "dimension %d is not distributed (MPI_DISTRIBUTE_NONE), but over %d processes", i,
                 d.processes);
  }
  if (d.argument == MPI_DISTRIBUTE_DFLT_DARG) return Status::ok();
  if (d.argument < 1) {
    return error(MPI_ERR_ARG,
                 "the blocks of dimension %d have %d elements; give a positive number or "
                 "MPI_DISTRIBUTE_DFLT_DARG",
                 i, d.argument);
  }
  if (d.distribution == MPI_DISTRIBUTE_BLOCK && MPI_Count{d.argument} * d.processes < d.size) {
    return error(MPI_ERR_ARG, "dimension %d: %d blocks of %d elements do not hold %lld", i, d.processes, d.argument,
                 static_cast<long long>(d.size));
  }
  return Status::ok();
}

// The grid is numbered by rows, whatever the order of the array.
Status find_place(int size, int rank, int ndims, const int psizes[], std::vector<Dimension>& dimensions) {
  if (ndims < 1) return error(MPI_ERR_ARG, "ndims is %d; an array has at least one dimension", ndims);
  if (size < 1 || rank < 0 || rank >= size) {
    return error(MPI_ERR_ARG, "rank %d is not one of %d processes", rank, size);
  }
  MPI_Count processes = 1;
  for (int i = 0; i < ndims; ++i) {
    if (psizes[i] < 1) return error(MPI_ERR_ARG, "the grid has %d processes along dimension %d", psizes[i], i);
    processes = std::min<MPI_Count>(processes * psizes[i], MPI_Count{size} + 1);
  }
  if (processes != size) {
    return error(MPI_ERR_ARG,
                 "the grid of processes does not have the %d that there are; array_of_psizes must "
                 "multiply to size",
                 size);
  }
  dimensions.resize(static_cast<std::size_t>(ndims));
  for (int i = ndims; i-- > 0;) {
    Dimension& d = dimensions[static_cast<std::size_t>(i)];
    d.processes = psizes[i];
    d.place = rank % psizes[i];
    rank /= psizes[i];
  }
  return Status::ok();
}

// `item`, `stride` bytes apart, where this process has elements of the dimension. Without the offset of the first.
Layout lay_out(const Share& share, MPI_Count stride, const Layout& item, mpi::LayoutMemory& memory) {
  const bool cut = share.count > 1 && share.last_length != share.length;
  const MPI_Count whole = share.count - cut;
  const MPI_Count length = share.count == 1 ? share.last_length : share.length;
  const Layout block = mpi::repeat(length, stride, item, memory);
  const Layout blocks = mpi::repeat(whole, share.stride * stride, block, memory);
  if (!cut) return blocks;
  memory.more.emplace_front();
  mpi::SequenceBuilder sequence(memory.more.front());
  sequence.add(0, blocks);
  sequence.add(whole * share.stride * stride, mpi::repeat(share.last_length, stride, item, memory));
  return sequence.finish();
}

}  // namespace

Status type_create_darray(int size, int rank, int ndims, IntArray gsizes, const int distribs[], const int dargs[],
                          const int psizes[], int order, Datatype& oldtype, MPI_Datatype* newtype, bool wide) {
  std::vector<Dimension> dimensions;
  HEDDLE_TRY(find_place(size, rank, ndims, psizes, dimensions));
  HEDDLE_TRY(mpi::check_order(order));
  TypeBuilder builder(MPI_COMBINER_DARRAY, wide);
  for (int argument : {size, rank, ndims}) builder.record_int(argument);
  for (int i = 0; i < ndims; ++i) {
    Dimension& d = dimensions[static_cast<std::size_t>(i)];
    d.size = gsizes[static_cast<std::size_t>(i)];
    d.distribution = distribs[i];
    d.argument = dargs[i];
    HEDDLE_TRY(check_dimension(i, d));
    builder.record(d.size);
  }
  for (const int* arguments : {distribs, dargs, psizes}) {
    for (int i = 0; i < ndims; ++i) builder.record_int(arguments[i]);
  }
  builder.record_int(order);

  // From the dimension whose elements are neighbours to the outermost.
  if (order == MPI_ORDER_C) std::reverse(dimensions.begin(), dimensions.end());
  mpi::Checked& checked = builder.checked;
  MPI_Count stride = oldtype.extent, first = 0, last = 0, times = 1;
  for (const Dimension& d : dimensions) {
    const Share share = share_of(d);
    times = checked.multiply(times, share.elements());
    if (share.count != 0) {
      first = checked.add(first, checked.multiply(share.first, stride));
      last = checked.add(last, checked.multiply(share.last(), stride));
    }
    stride = checked.multiply(stride, d.size);
  }
  builder.record_type(oldtype, times);
  builder.place_between(oldtype, std::min(first, last), std::max(first, last), times);
  builder.mark(0, stride);

  Layout layout;
  if (builder.ok() && times != 0) {
    layout = oldtype.layout;
    stride = oldtype.extent;
    for (const Dimension& d : dimensions) {
      layout = lay_out(share_of(d), stride, layout, builder.memory);
      stride *= d.size;
    }
    layout.offset += layout.node.empty() ? 0 : first;
  }
  Datatype* type;
  HEDDLE_TRY(builder.finish(layout, &type));
  *newtype = mpi::to_handle(type);
  return Status::ok();
}

}  // namespace heddle::api
