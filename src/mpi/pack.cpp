#include "mpi/pack.hpp"

#include <algorithm>
#include <limits>

#include "mpi/pack_copy.hpp"

namespace heddle::mpi {
namespace {

template <class D>
void copy_blocks(std::uintptr_t base, const Block* b, MPI_Count count, typename D::Stream stream) noexcept {
  for (const Block* end = b + count; b != end; ++b) {
    const auto n = static_cast<std::size_t>(b[1].start - b[0].start);
    copy<D>(address_at(base, b->offset), stream, n);
    stream += n;
  }
}

// Blocks of one length.
template <class D, std::size_t kBytes>
void copy_equal_blocks(std::uintptr_t base, const Block* b, MPI_Count count, typename D::Stream stream) noexcept {
  for (const Block* end = b + count; b != end; ++b, stream += kBytes) {
    D::template fixed<kBytes>(address_at(base, b->offset), stream);
  }
}

template <class D>
void copy_equal_blocks(std::uintptr_t base, const Block* b, MPI_Count count, std::size_t bytes,
                       typename D::Stream stream) noexcept {
  switch (bytes) {
    case 4:
      return copy_equal_blocks<D, 4>(base, b, count, stream);
    case 8:
      return copy_equal_blocks<D, 8>(base, b, count, stream);
    case 16:
      return copy_equal_blocks<D, 16>(base, b, count, stream);
    case 24:
      return copy_equal_blocks<D, 24>(base, b, count, stream);
    case 32:
      return copy_equal_blocks<D, 32>(base, b, count, stream);
    case 64:
      return copy_equal_blocks<D, 64>(base, b, count, stream);
    default:
      for (const Block* end = b + count; b != end; ++b, stream += bytes) {
        copy<D>(address_at(base, b->offset), stream, bytes);
      }
  }
}

// The same few blocks again and again: an array of structs. Block by block, in chunks of items that stay in the
// first-level cache meanwhile, so that the inner loop copies blocks of one size.
constexpr MPI_Count kFewBlocks = 16;
constexpr MPI_Count kItems = 128;

template <class D>
void copy_items(std::uintptr_t base, MPI_Count stride, MPI_Count count, const Node& item,
                typename D::Stream stream) noexcept {
  while (count > 0) {
    const MPI_Count n = std::min(count, kItems);
    for (const Block *b = item.blocks, *end = b + item.count; b != end; ++b) {
      copy_strided<D>(base + static_cast<std::uintptr_t>(b->offset), stride, n,
                      static_cast<std::size_t>(b[1].start - b[0].start), stream + b->start, item.size);
    }
    base += static_cast<std::uintptr_t>(n * stride);
    stream += n * item.size;
    count -= n;
  }
}

// Columns of a matrix, one after the other: some rows at a time, so that a line is read once for all columns that it has a
// part of. That costs more than it brings while the lines of a whole column stay in the first-level cache, unless they
// compete for the same few places there.
constexpr MPI_Count kRows = 16;
constexpr MPI_Count kRowsThatStay = 256;
constexpr MPI_Count kSamePlace = 4096;

bool are_long_columns(const Node& node) noexcept {
  const Node& column = *node.child;
  return column.kind == Node::kStrided && node.stride > 0 && node.stride < 64 && column.stride > node.stride &&
         (column.count > kRowsThatStay || column.stride % kSamePlace == 0);
}

template <class D>
void copy_columns(std::uintptr_t base, const Node& node, typename D::Stream stream) noexcept {
  const Node& column = *node.child;
  for (MPI_Count row = 0; row < column.count; row += kRows) {
    const MPI_Count rows = std::min(kRows, column.count - row);
    for (MPI_Count i = 0; i < node.count; ++i) {
      copy_strided<D>(base + static_cast<std::uintptr_t>(row * column.stride + i * node.stride), column.stride, rows,
                      static_cast<std::size_t>(column.bytes), stream + i * column.size + row * column.bytes,
                      column.bytes);
    }
  }
}

// All of a node.
template <class D>
void walk(const Node& node, std::uintptr_t base, typename D::Stream stream) noexcept {
  switch (node.kind) {
    case Node::kBlock:
      return copy<D>(address_at(base, 0), stream, static_cast<std::size_t>(node.size));
    case Node::kStrided:
      return copy_strided<D>(base, node.stride, node.count, static_cast<std::size_t>(node.bytes), stream, node.bytes);
    case Node::kBlocks:
      if (node.stride != 0) {
        return copy_equal_blocks<D>(base, node.blocks, node.count, static_cast<std::size_t>(node.stride), stream);
      }
      return copy_blocks<D>(base, node.blocks, node.count, stream);
    case Node::kRepeat:
      if (node.child->kind == Node::kBlocks && node.child->count <= kFewBlocks) {
        return copy_items<D>(base, node.stride, node.count, *node.child, stream);
      }
      if (are_long_columns(node)) return copy_columns<D>(base, node, stream);
      for (MPI_Count i = 0; i < node.count; ++i) {
        walk<D>(*node.child, base + static_cast<std::uintptr_t>(i * node.stride), stream);
        stream += node.child->size;
      }
      return;
    case Node::kSequence:
      for (MPI_Count i = 0; i < node.count; ++i) {
        const Part& p = node.parts[i];
        walk<D>(p.node, base + static_cast<std::uintptr_t>(p.offset), stream + p.start);
      }
      return;
  }
}

// The entry of an array in order of `start` that holds byte `position`.
template <class Entry>
MPI_Count find(const Entry* entries, MPI_Count count, MPI_Count position) noexcept {
  const Entry* after =
      std::upper_bound(entries, entries + count, position, [](MPI_Count p, const Entry& e) { return p < e.start; });
  return after - entries - 1;
}

// Bytes [from, to) of a node; the stream begins with byte `from`. REQUIRES: from < to <= node.size.
template <class D>
void walk(const Node& node, std::uintptr_t base, MPI_Count from, MPI_Count to, typename D::Stream stream) noexcept {
  if (from == 0 && to == node.size) return walk<D>(node, base, stream);
  switch (node.kind) {
    case Node::kBlock:
      return copy<D>(address_at(base, from), stream, static_cast<std::size_t>(to - from));

    case Node::kStrided: {
      MPI_Count i = from / node.bytes;
      if (const MPI_Count inside = from % node.bytes; inside != 0) {
        const MPI_Count n = std::min(node.bytes - inside, to - from);
        copy<D>(address_at(base, i * node.stride + inside), stream, static_cast<std::size_t>(n));
        stream += n;
        from += n;
        ++i;
      }
      const MPI_Count whole = (to - from) / node.bytes;
      copy_strided<D>(base + static_cast<std::uintptr_t>(i * node.stride), node.stride, whole,
                      static_cast<std::size_t>(node.bytes), stream, node.bytes);
      stream += whole * node.bytes;
      const MPI_Count rest = (to - from) - whole * node.bytes;
      if (rest != 0) {
        copy<D>(address_at(base, (i + whole) * node.stride), stream, static_cast<std::size_t>(rest));
      }
      return;
    }

    case Node::kBlocks: {
      const Block* b = node.blocks + (node.stride != 0 ? from / node.stride : find(node.blocks, node.count, from));
      if (const MPI_Count inside = from - b->start; inside != 0) {
        const MPI_Count n = std::min(b[1].start, to) - from;
        copy<D>(address_at(base, b->offset + inside), stream, static_cast<std::size_t>(n));
        stream += n;
        from += n;
        ++b;
      }
      if (node.stride != 0) {
        const MPI_Count whole = (to - from) / node.stride;
        copy_equal_blocks<D>(base, b, whole, static_cast<std::size_t>(node.stride), stream);
        b += whole;
        stream += whole * node.stride;
        from += whole * node.stride;
      }
      for (; from < to; ++b) {
        const MPI_Count n = std::min(b[1].start, to) - from;
        copy<D>(address_at(base, b->offset), stream, static_cast<std::size_t>(n));
        stream += n;
        from += n;
      }
      return;
    }

    case Node::kRepeat: {
      const Node& child = *node.child;
      MPI_Count i = from / child.size;
      if (const MPI_Count inside = from % child.size; inside != 0) {
        const MPI_Count n = std::min(child.size - inside, to - from);
        walk<D>(child, base + static_cast<std::uintptr_t>(i * node.stride), inside, inside + n, stream);
        stream += n;
        from += n;
        ++i;
      }
      Node whole = node;
      whole.count = (to - from) / child.size;
      walk<D>(whole, base + static_cast<std::uintptr_t>(i * node.stride), stream);
      stream += whole.count * child.size;
      const MPI_Count rest = (to - from) - whole.count * child.size;
      if (rest != 0) {
        walk<D>(child, base + static_cast<std::uintptr_t>((i + whole.count) * node.stride), 0, rest, stream);
      }
      return;
    }

    case Node::kSequence: {
      const Part* p = node.parts + find(node.parts, node.count, from);
      for (; from < to; ++p) {
        const MPI_Count n = std::min(p->start + p->node.size, to) - from;
        const MPI_Count inside = from - p->start;
        walk<D>(p->node, base + static_cast<std::uintptr_t>(p->offset), inside, inside + n, stream);
        stream += n;
        from += n;
      }
      return;
    }
  }
}

}  // namespace

void PackCursor::init_derived(const Datatype& type, MPI_Count count) noexcept {
  MPI_Count total;
  if (__builtin_mul_overflow(count, type.size, &total)) [[unlikely]] {
    count = std::numeric_limits<MPI_Count>::max() / type.size;  // of a receive; no message fills so much room
    total = count * type.size;
  }
  total_ = static_cast<std::size_t>(total);
  if (total == 0) {
    root_ = Node();
  } else if (count == 1) {  // mostly, and as it is in the type
    root_ = type.layout.node;
    base_ += static_cast<std::uintptr_t>(type.layout.offset);
  } else {
    const Layout all = repeat(count, type.extent, type.layout, &type.layout.node);
    root_ = all.node;
    base_ += static_cast<std::uintptr_t>(all.offset);
  }
}

void PackCursor::pack_derived(std::byte* out, std::size_t n) noexcept {
  const auto from = static_cast<MPI_Count>(position_);
  walk<Packing>(root_, base_, from, from + static_cast<MPI_Count>(n), out);
}

void PackCursor::unpack_derived(const std::byte* in, std::size_t n) noexcept {
  const auto from = static_cast<MPI_Count>(position_);
  walk<Unpacking>(root_, base_, from, from + static_cast<MPI_Count>(n), in);
}

std::size_t copy_stream(PackCursor& from, PackCursor& to) noexcept {
  const std::size_t total = std::min(from.remaining(), to.remaining());
  if (from.contiguous()) {
    to.unpack(from.data(), total);
    from.seek(from.position() + total);
    return total;
  }
  if (to.contiguous()) {
    from.pack(to.data(), total);
    to.seek(to.position() + total);
    return total;
  }
  // Neither is in one piece: by way of a buffer that stays in the first-level cache.
  std::byte buffer[8192];
  for (std::size_t done = 0; done < total;) {
    const std::size_t n = from.pack(buffer, std::min(sizeof buffer, total - done));
    to.unpack(buffer, n);
    done += n;
  }
  return total;
}

std::size_t copy_typed(const Datatype& from_type, MPI_Count from_count, const void* from, const Datatype& to_type,
                       MPI_Count to_count, void* to) noexcept {
  PackCursor in, out;
  in.init(from_type, from_count, from);
  out.init(to_type, to_count, to);
  return copy_stream(in, out);
}

}  // namespace heddle::mpi
