#include "wire/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "mpi.h"

namespace heddle::wire {
namespace {

// Segments of this process by the inode of their memfd. Several Process contexts of one program share a mapping, so
// that they see one address for one word, as the race detector needs.
std::mutex registry_mutex;
std::map<ino_t, std::weak_ptr<Segment>>& registry() {
  static auto* map = new std::map<ino_t, std::weak_ptr<Segment>>;
  return *map;
}

ino_t inode_of(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

// Memory behind these bytes, now, so that a later access can't be killed for want of it. False: see errno.
bool allocate(int fd, std::uint64_t at, std::size_t bytes) noexcept {
  int failed;
  do {
    failed = fallocate(fd, 0, static_cast<off_t>(at), static_cast<off_t>(bytes));
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

// Among processes, until it is closed or the process ends.
bool lock(int fd, short type) {
  struct flock whole {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  int failed;
  do {
    failed = fcntl(fd, F_SETLKW, &whole);
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

std::size_t size_of(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

Status check_size(int fd, std::size_t bytes) {
  if (size_of(fd) >= bytes) return Status::ok();  // behind the regions there may be pieces
  return error(MPI_ERR_OTHER,
               "the node's shared memory has %zu bytes where %zu belong; are all ranks of one Heddle version?",
               size_of(fd), bytes);
}

// Else: death by SIGXFSZ.
Status check_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return Status::ok();
  return error(
      MPI_ERR_NO_MEM,
      "the limit on file sizes (ulimit -f) of %llu KiB is below the %zu MiB of the node's shared memory; raise it",
      static_cast<unsigned long long>(limit.rlim_cur >> 10), bytes >> 20);
}

// By the holder of the lock.
Status give_size(int fd, std::uint32_t ranks) {
  const std::size_t bytes = ranks * Segment::kRegionBytes;
  if (size_of(fd) != 0) return check_size(fd, bytes);
  HEDDLE_TRY(check_limit(bytes));
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) return Status::ok();
  return error(MPI_ERR_NO_MEM, "sizing the shared memory of %u ranks failed: %s", ranks, std::strerror(errno));
}

}  // namespace

Status Segment::map(int fd, std::uint32_t ranks, std::shared_ptr<Segment>* out) {
  std::lock_guard lock(registry_mutex);
  std::weak_ptr<Segment>& known = registry()[inode_of(fd)];
  if (std::shared_ptr<Segment> segment = known.lock()) {
    close(fd);
    *out = std::move(segment);
    return Status::ok();
  }
  const std::size_t bytes = ranks * kRegionBytes;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    const int cause = errno;
    close(fd);
    return error(MPI_ERR_NO_MEM,
                 "mapping %zu MiB of address space for shared memory failed: %s; is there a 'ulimit -v'?", bytes >> 20,
                 std::strerror(cause));
  }
  madvise(base, bytes, MADV_DONTFORK);  // a forked child must not ring our bells
  out->reset(new Segment(fd, static_cast<std::byte*>(base), bytes));
  known = *out;
  return Status::ok();
}

Status Segment::create(std::uint32_t ranks, std::shared_ptr<Segment>* out) {
  const int fd = memfd_create("heddle", MFD_CLOEXEC);
  if (fd < 0) return error(MPI_ERR_NO_MEM, "memfd_create for shared memory failed: %s", std::strerror(errno));
  fchmod(fd, 0600);
  return adopt(fd, ranks, out);
}

Status Segment::adopt(int fd, std::uint32_t ranks, std::shared_ptr<Segment>* out) {
  // One that dies in the middle loses the lock, and the next begins anew. Closing the descriptor lets it go, too.
  if (!lock(fd, F_WRLCK)) {
    const int cause = errno;
    close(fd);
    return error(MPI_ERR_OTHER, "locking the node's shared memory failed: %s", std::strerror(cause));
  }
  if (Status status = give_size(fd, ranks); !status) {
    close(fd);
    return status;
  }
  HEDDLE_TRY(map(fd, ranks, out));
  Segment& segment = **out;
  Status status;
  if (segment.region(0).made.load(std::memory_order_relaxed) == 0) status = segment.make_headers(ranks);
  lock(segment.fd_, F_UNLCK);
  return status;
}

Status Segment::make_headers(std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    RegionHeader* header = &region(rank);
    if (!allocate(fd_, rank * kRegionBytes, sizeof(RegionHeader))) {
      return error(MPI_ERR_NO_MEM, "no memory for the shared segment of %u ranks: %s; free memory on this node", ranks,
                   std::strerror(errno));
    }
    new (header) RegionHeader;
    header->carved.store((sizeof(RegionHeader) + 4095) & ~std::size_t{4095}, std::memory_order_relaxed);
  }
  region(0).made.store(1, std::memory_order_relaxed);  // the lock orders it
  return Status::ok();
}

Status Segment::attach(const std::string& card, std::uint32_t ranks, std::shared_ptr<Segment>* out) {
  long pid = 0;
  int number = -1;
  const char* end = card.data() + card.size();
  auto [after_pid, bad_pid] = std::from_chars(card.data(), end, pid);
  if (bad_pid != std::errc() || after_pid == end || *after_pid != ':' ||
      std::from_chars(after_pid + 1, end, number).ptr != end || pid <= 0 || number < 0) {
    return error(MPI_ERR_OTHER,
                 "the shared memory's address '%.64s' is malformed; are all ranks of one Heddle version?",
                 card.c_str());
  }
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return error(MPI_ERR_OTHER,
                 "opening the node's shared memory (%s) failed: %s; ranks of one node must see each other's /proc "
                 "(one PID namespace, one user)",
                 path.c_str(), std::strerror(errno));
  }
  if (Status status = check_size(fd, ranks * kRegionBytes); !status) {
    close(fd);
    return status;
  }
  return map(fd, ranks, out);
}

Segment::~Segment() {
  {
    std::lock_guard lock(registry_mutex);
    registry().erase(inode_of(fd_));
  }
  for (const MappedPiece& piece : pieces_) munmap(piece.base, piece.bytes);
  munmap(base_, bytes_);
  close(fd_);
}

std::string Segment::card() const { return std::to_string(getpid()) + ":" + std::to_string(fd_); }

Status Segment::carve(std::uint32_t rank, std::size_t bytes, std::uint64_t* offset) {
  std::atomic<std::uint64_t>& carved = region(rank).carved;
  std::uint64_t begin = carved.load(std::memory_order_relaxed);
  do {
    if (begin + bytes > kRegionBytes) {
      return error(
          MPI_ERR_NO_MEM,
          "the %zu MiB of shared memory of local rank %u are used up (%zu KiB more wanted); free communicators, "
          "or set HEDDLE_VCIS lower",
          kRegionBytes >> 20, rank, bytes >> 10);
    }
  } while (!carved.compare_exchange_weak(begin, begin + bytes, std::memory_order_acq_rel, std::memory_order_relaxed));
  const std::uint64_t at = rank * kRegionBytes + begin;
  if (!allocate(fd_, at, bytes)) {
    // Whoever tries again finds the space again, unless somebody came after.
    std::uint64_t end = begin + bytes;
    carved.compare_exchange_strong(end, begin, std::memory_order_acq_rel, std::memory_order_relaxed);
    return error(MPI_ERR_NO_MEM, "reserving %zu KiB of shared memory failed: %s; free memory on this node", bytes >> 10,
                 std::strerror(errno));
  }
  *offset = at;
  return Status::ok();
}

namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

// A piece that was given back, in one word; 0: none.
//
//     63     62            40                        0
//     +-------+--------------+------------------------+
//     | holes | its pages    | number of the first    |
//     +-------+--------------+------------------------+
//
// holes: there is not memory behind all of it.
constexpr std::size_t kLongestSpare = std::size_t{8} << 20;  // a board of 300 ranks
constexpr unsigned kNumberBits = 40;
constexpr std::uint64_t kHoles = std::uint64_t{1} << 63;
static_assert(kLongestSpare / kPage < kHoles >> kNumberBits);
std::uint64_t spare_of(std::uint64_t offset, std::size_t bytes, bool has_holes) {
  return (has_holes ? kHoles : 0) | std::uint64_t{whole_pages(bytes) / kPage} << kNumberBits | offset / kPage;
}
std::uint64_t offset_of_spare(std::uint64_t spare) { return (spare & ((std::uint64_t{1} << kNumberBits) - 1)) * kPage; }
std::size_t bytes_of_spare(std::uint64_t spare) { return ((spare & ~kHoles) >> kNumberBits) * kPage; }

}  // namespace

bool Segment::reserve(std::uint64_t at, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  if (!check_limit(at + bytes)) return false;
  return allocate(fd_, at, bytes) || (drop_spares(), allocate(fd_, at, bytes));
}

Status Segment::make_piece(std::size_t bytes, std::size_t reserved, std::uint64_t* offset, bool* is_fresh) {
  constexpr std::size_t kMost = std::size_t{1} << 47;  // bytes: no address space holds more
  if (bytes > kMost)
    return error(MPI_ERR_NO_MEM, "%zu GiB of shared memory are more than any memory holds", bytes >> 30);
  const std::size_t length = whole_pages(bytes);
  const bool has_holes = reserved < bytes;
  for (std::atomic<std::uint64_t>& place : region(0).spares) {
    std::uint64_t spare = place.load(std::memory_order_relaxed);
    if (spare == 0 || bytes_of_spare(spare) != length || ((spare & kHoles) != 0) != has_holes) continue;
    if (!place.compare_exchange_strong(spare, 0, std::memory_order_acquire, std::memory_order_relaxed)) continue;
    *offset = offset_of_spare(spare);
    *is_fresh = false;
    if (!has_holes || reserve(*offset, whole_pages(reserved))) return Status::ok();
    drop_spare(spare);
    break;
  }
  *is_fresh = true;
  std::atomic<std::uint64_t>& pieces = region(0).pieces;
  const std::uint64_t begin = pieces.fetch_add(length, std::memory_order_relaxed);
  const std::uint64_t at = bytes_ + begin;
  Status status = check_limit(at + length);
  // The last page, too: then a look at what nobody has written is one at zeros, not behind the file's end.
  if (status && !(reserve(at, whole_pages(reserved)) && (!has_holes || reserve(at + length - kPage, kPage)))) {
    status = error(MPI_ERR_NO_MEM, "reserving %zu KiB of shared memory failed: %s; free memory on this node",
                   whole_pages(reserved) >> 10, std::strerror(errno));
  }
  if (!status) {
    drop_piece(at, length);
    // Whoever tries again finds the space again, unless somebody came after.
    std::uint64_t end = begin + length;
    pieces.compare_exchange_strong(end, begin, std::memory_order_relaxed);
    return status;
  }
  *offset = at;
  return Status::ok();
}

Status Segment::map_piece(std::uint64_t offset, std::size_t bytes, std::byte** base) {
  *base = nullptr;
  if (bytes == 0) return Status::ok();
  std::lock_guard lock(mutex_);
  for (MappedPiece& piece : pieces_) {
    if (piece.offset != offset || piece.bytes != bytes) continue;
    ++piece.users;
    *base = piece.base;
    return Status::ok();
  }
  MappedPiece& piece =
      pieces_.emplace_back(MappedPiece{offset, bytes, nullptr, 1});  // first, as there may be no memory
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, static_cast<off_t>(offset));
  if (at == MAP_FAILED) {
    pieces_.pop_back();
    return error(MPI_ERR_NO_MEM, "mapping %zu KiB of a window failed: %s", bytes >> 10, std::strerror(errno));
  }
  *base = piece.base = static_cast<std::byte*>(at);
  return Status::ok();
}

void Segment::unmap_piece(std::byte* base) noexcept {
  if (base == nullptr) return;
  std::lock_guard lock(mutex_);
  const auto piece = std::ranges::find(pieces_, base, &MappedPiece::base);
  if (--piece->users != 0) return;
  // The last in the list is the one that was let go last.
  std::rotate(piece, piece + 1, pieces_.end());
  const auto is_idle = [](const MappedPiece& p) { return p.users == 0; };
  const bool stays = pieces_.back().bytes <= kLongestSpare;
  if (stays && std::ranges::count_if(pieces_, is_idle) <= RegionHeader::kSpares) return;
  const auto gone = stays ? std::ranges::find_if(pieces_, is_idle) : pieces_.end() - 1;
  munmap(gone->base, gone->bytes);
  pieces_.erase(gone);
}

void Segment::give_piece_back(std::uint64_t offset, std::size_t bytes, bool has_holes) noexcept {
  if (bytes == 0 || bytes > kLongestSpare) return drop_piece(offset, bytes);
  const std::uint64_t spare = spare_of(offset, bytes, has_holes);
  for (std::atomic<std::uint64_t>& place : region(0).spares) {
    std::uint64_t none = 0;
    if (place.compare_exchange_strong(none, spare, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  // In place of another one, so that none stays for ever.
  const std::uint32_t turn = region(0).next_spare.fetch_add(1, std::memory_order_relaxed);
  drop_spare(region(0).spares[turn % RegionHeader::kSpares].exchange(spare, std::memory_order_acq_rel));
}

void Segment::drop_spare(std::uint64_t spare) noexcept {
  if (spare != 0) drop_piece(offset_of_spare(spare), bytes_of_spare(spare));
}

// As there is no memory for others.
void Segment::drop_spares() noexcept {
  for (std::atomic<std::uint64_t>& place : region(0).spares) drop_spare(place.exchange(0, std::memory_order_acquire));
}

void Segment::drop_piece(std::uint64_t offset, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(whole_pages(bytes)));
}

}  // namespace heddle::wire
