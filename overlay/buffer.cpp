#include "buffer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cut.hpp"

namespace heddle::overlay {
namespace {

struct Envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = 0;
};

// Types with counts of MPI_Count may be asked by the large form alone (MPI 5.0, 5.1.13).
Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
#if HEDDLE_HOST_MPI_4 && !defined(OPEN_MPI)
  PMPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.types, &e.combiner);
#else
  int integers = 0, addresses = 0, types = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
  e.integers = integers, e.addresses = addresses, e.types = types;
#endif
  return e;
}

// Its items are their bytes, one behind the other, in order. Sizes and bounds alone would not tell of an order.
bool is_plain(MPI_Datatype type) {
  MPI_Count size = 0, lb = 0, extent = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lb, &extent);
  if (lb != 0 || size != extent) return false;
  const Envelope e = envelope_of(type);
  if (e.combiner == MPI_COMBINER_NAMED) return true;
  if ((e.combiner != MPI_COMBINER_DUP && e.combiner != MPI_COMBINER_CONTIGUOUS) || e.large_counts != 0) return false;
  int integer[1];
  MPI_Aint address[1];
  MPI_Datatype old;
  PMPI_Type_get_contents(type, static_cast<int>(e.integers), static_cast<int>(e.addresses), static_cast<int>(e.types),
                         integer, address, &old);
  const bool plain = is_plain(old);
  if (envelope_of(old).combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&old);
  return plain;
}

}  // namespace

Buffer::Buffer(MPI_Comm comm, void* data, std::uint64_t partitions, MPI_Count count, MPI_Datatype type,
               std::uint64_t each)
    : comm_(comm), data_(static_cast<std::byte*>(data)), count_(count), each_(each) {
  if (each * partitions == 0 || is_plain(type)) return;
  MPI_Count lb = 0;
  PMPI_Type_size_x(type, &size_);
  PMPI_Type_get_extent_x(type, &lb, &extent_);
  PMPI_Type_dup(type, &type_);
  staged_.reset(new std::byte[each * partitions]);
}

Buffer::~Buffer() {
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
}

template <class Move>
void Buffer::for_pieces(std::uint64_t partition, Move move) {
  const MPI_Count most = std::max<MPI_Count>(static_cast<MPI_Count>(kMostPiece) / size_, 1);
  std::byte* user = data_ + static_cast<std::ptrdiff_t>(partition) * count_ * extent_;
  std::byte* bytes = staged_.get() + partition * each_;
  for (MPI_Count left = count_; left != 0;) {
    const MPI_Count n = std::min(left, most);
    move(user, bytes, static_cast<int>(n), static_cast<int>(n * size_));
    user += n * extent_;
    bytes += n * size_;
    left -= n;
  }
}

void Buffer::pack(std::uint64_t partition) {
  if (staged_ == nullptr) return;
  for_pieces(partition, [this](std::byte* user, std::byte* bytes, int items, int n) {
    int at = 0;
    PMPI_Pack(user, items, type_, bytes, n, &at, comm_);
  });
}

void Buffer::unpack(std::uint64_t partition) {
  if (staged_ == nullptr) return;
  for_pieces(partition, [this](std::byte* user, std::byte* bytes, int items, int n) {
    int at = 0;
    PMPI_Unpack(bytes, n, &at, user, items, type_, comm_);
  });
}

bool packs_bare_bytes(MPI_Comm comm) {
  const int numbers[] = {0x01020304, 0x05060708};
  unsigned char packed[2 * sizeof numbers];
  int at = 0;
  PMPI_Pack(numbers, 2, MPI_INT, packed, sizeof packed, &at, comm);
  return at == sizeof numbers && std::memcmp(packed, numbers, sizeof numbers) == 0;
}

MPI_Count type_size(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size;
}

}  // namespace heddle::overlay
