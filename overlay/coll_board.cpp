#include "coll_board.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "coll_types.hpp"
#include "engine.hpp"

namespace heddle::overlay {
namespace {

constexpr unsigned kSpins = 200;

// Memory that has no name, so that a job that is killed leaves none: the others find it as an open file of rank 0's process.
struct Offer {
  long process = 0;
  int fd = -1;
  dev_t device = 0;
  ino_t file = 0;
};

void* map(int fd, std::size_t bytes) noexcept {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void* make(std::size_t bytes, Offer* offer) noexcept {
  const int fd = memfd_create("heddle-overlay", MFD_CLOEXEC);
  struct stat about;
  // Reserved: writing to memory that is not there would be a signal.
  if (fd < 0 || posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0 || fstat(fd, &about) != 0) {
    if (fd >= 0) close(fd);
    return nullptr;
  }
  *offer = {static_cast<long>(getpid()), fd, about.st_dev, about.st_ino};
  return map(fd, bytes);
}

// Null, too, where that process is another one here, as in a container.
void* find(const Offer& offer, std::size_t bytes) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%ld/fd/%d", offer.process, offer.fd);
  const int fd = offer.fd < 0 ? -1 : ::open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return nullptr;
  struct stat about;
  const bool right = fstat(fd, &about) == 0 && about.st_dev == offer.device && about.st_ino == offer.file;
  void* at = right ? map(fd, bytes) : nullptr;
  close(fd);
  return at;
}

}  // namespace

std::unique_ptr<Board> Board::open(MPI_Comm own, int rank, int size) {
  const std::size_t bytes = sizeof(Place) * static_cast<std::size_t>(size);
  Offer offer;
  void* at = rank == 0 ? make(bytes, &offer) : nullptr;
  MPI_Request request;
  PMPI_Ibcast(&offer, sizeof offer, MPI_BYTE, 0, own, &request);
  engine().finish(request, MPI_STATUS_IGNORE);
  if (rank != 0) at = find(offer, bytes);
  int mine = at != nullptr, all = 0;
  PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, own, &request);
  engine().finish(request, MPI_STATUS_IGNORE);
  if (rank == 0 && offer.fd >= 0) close(offer.fd);
  if (all) return std::unique_ptr<Board>(new Board(static_cast<Place*>(at), own, rank, size));
  if (at != nullptr) munmap(at, bytes);
  return nullptr;
}

Board::~Board() { munmap(places_, sizeof(Place) * static_cast<std::size_t>(size_)); }

bool Board::takes(CollKind kind, std::uint64_t bytes) const noexcept {
  const bool for_each = kind == CollKind::kReduceScatterBlock || kind == CollKind::kAlltoall;
  return bytes <= kCell / (for_each ? static_cast<std::size_t>(size_) : 1);
}

// The host's progress, too: others may wait for what this rank sent before.
void Board::await(int rank, std::uint32_t number) {
  for (unsigned n = 0;; ++n) {
    const std::uint32_t there = places_[rank].number.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(there - number) >= 0) return;
    if (n < kSpins) continue;
    int here = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own_, &here, MPI_STATUS_IGNORE);
    engine().step();
    sched_yield();
  }
}

void Board::await_all(std::uint32_t number) {
  for (int i = 1; i < size_; ++i) await((rank_ + i) % size_, number);
}

void Board::show(const std::byte* data, std::size_t bytes) {
  await_all(number_);
  ++number_;
  if (bytes != 0) std::memcpy(places_[rank_].cells[number_ % 2], data, bytes);
  places_[rank_].number.store(number_, std::memory_order_release);
}

void Board::show_nothing() noexcept { places_[rank_].number.store(++number_, std::memory_order_release); }

// All in the same order, so that all have the same bits.
void Board::combine_all(const Call& call, std::size_t at, std::size_t bytes) {
  const auto count = static_cast<MPI_Count>(bytes / call.item);
  const int item = static_cast<int>(call.item);
  combine(call.op, call.type, item, shown(0) + at, shown(1) + at, call.output, count);
  for (int i = 2; i < size_; ++i) combine(call.op, call.type, item, shown(i) + at, call.output, call.output, count);
}

void Board::run(CollKind kind, const Call& call, int root, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
  switch (kind) {
    case CollKind::kBarrier:
      show_nothing();
      return await_all(number_);
    case CollKind::kBcast:
      if (rank_ == root) return show(call.output, bytes);
      show_nothing();
      await(root, number_);
      std::memcpy(call.output, shown(root), bytes);
      return;
    case CollKind::kReduce:
    case CollKind::kAllreduce:
      show(call.input, bytes);
      if (kind == CollKind::kReduce && rank_ != root) return;
      await_all(number_);
      return combine_all(call, 0, bytes);
    case CollKind::kReduceScatterBlock:
      show(call.input, size * bytes);
      await_all(number_);
      return combine_all(call, me * bytes, bytes);
    case CollKind::kAllgather:
    case CollKind::kAlltoall: {
      const bool gathers = kind == CollKind::kAllgather;
      show(call.input + (gathers && !call.own_input ? me * bytes : 0), gathers ? bytes : size * bytes);
      for (int i = 0; i < size_; ++i) {
        if (i != rank_) await(i, number_);
        std::memcpy(call.output + static_cast<std::size_t>(i) * bytes, shown(i) + (gathers ? 0 : me * bytes), bytes);
      }
      return;
    }
  }
}

}  // namespace heddle::overlay
