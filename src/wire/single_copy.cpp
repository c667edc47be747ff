#include "wire/single_copy.hpp"

#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace heddle::wire {

static_assert(PlainClaimBlock::kGenerations == 1u << (64 - 42), "they fill what an offer has for them");

namespace {

// Unlikely to be found by chance where another process has something else.
std::uint64_t make_cookie() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return (static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(now.tv_sec)) *
             0x9E3779B97F4A7C15u ^
         static_cast<std::uint64_t>(getpid()) << 17;
}

// Of this process, whoever of it asks.
std::uint64_t process_number() noexcept {
  static const std::uint64_t number = [] {
    std::uint64_t random = 0;
    return getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random ? random : make_cookie();
  }();
  return number;
}

bool is_refusal(int cause) noexcept { return cause != EFAULT && cause != ENOMEM; }

// Yama's ptrace_scope; 0 without Yama.
int ptrace_scope() noexcept {
  int scope = 0;
  if (std::FILE* file = std::fopen("/proc/sys/kernel/yama/ptrace_scope", "re")) {
    if (std::fscanf(file, "%d", &scope) != 1) scope = 0;
    std::fclose(file);
  }
  return scope;
}

}  // namespace

PeerMemory::Way PeerMemory::find_way() noexcept {
  Way way;
  const MemoryCard& card = all_->segment_->region(region_).memory;
  if (card.process == process_number() && !all_->reader_->always()) {
    way = Way::kMapped;
  } else {
    way = reads_cookie() ? Way::kRead : Way::kRefused;
  }
  way_.store(way, std::memory_order_relaxed);  // two threads find the same
  return way;
}

bool PeerMemory::reads_cookie() noexcept {
  const MemoryCard& card = all_->segment_->region(region_).memory;
  std::uint64_t found = 0;
  const ssize_t n = all_->reader_->read(static_cast<pid_t>(card.pid), card.address,
                                        reinterpret_cast<std::byte*>(&found), sizeof found);
  if (n == sizeof found && found == card.cookie) return true;
  all_->stats_.failures.fetch_add(1, std::memory_order_relaxed);
  return false;
}

std::size_t PeerMemory::read(Offer offer, std::uint64_t address, std::uint64_t at, std::byte* to,
                             std::size_t bytes) noexcept {
  SingleCopyStats& stats = all_->stats_;
  address += at;
  if (is_plain(offer)) {
    const void* from = offer.is_shared() ? all_->segment_->at<void>(address) : reinterpret_cast<void*>(address);
    std::memcpy(to, from, bytes);
    stats.bytes_mapped.fetch_add(bytes, std::memory_order_relaxed);
    return bytes;
  }
  return read_by_kernel(address, to, bytes);
}

std::size_t PeerMemory::read_by_kernel(std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
  return all_->costs_.time(Copy::kRead, bytes, [&] {
    return by_kernel(bytes, [&](pid_t pid, std::size_t done) {
      return all_->reader_->read(pid, address + done, to + done, bytes - done);
    });
  });
}

// Calls `step` until all bytes are through, or one fails.
template <class Step>
std::size_t PeerMemory::by_kernel(std::size_t bytes, Step step) noexcept {
  SingleCopyStats& stats = all_->stats_;
  const auto pid = static_cast<pid_t>(all_->segment_->region(region_).memory.pid);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = step(pid, done);
    if (n <= 0) {
      note_failure(n);
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  stats.bytes_copied.fetch_add(done, std::memory_order_relaxed);
  return done;
}

void PeerMemory::note_failure(ssize_t copied) noexcept {
  if (copied < 0 && is_refusal(errno)) way_.store(Way::kRefused, std::memory_order_relaxed);
  all_->stats_.failures.fetch_add(1, std::memory_order_relaxed);
}

// step(pid, done, within): copies rows from `done` on, the first from its byte `within` on.
template <class Step>
std::size_t PeerMemory::rows_by_kernel(const iovec* there, std::size_t rows, Step step) noexcept {
  const auto pid = static_cast<pid_t>(all_->segment_->region(region_).memory.pid);
  std::size_t done = 0, within = 0;
  while (done < rows) {
    const ssize_t n = step(pid, done, within);
    if (n <= 0) {
      note_failure(n);
      break;
    }
    all_->stats_.bytes_copied.fetch_add(static_cast<std::size_t>(n), std::memory_order_relaxed);
    within += static_cast<std::size_t>(n);
    while (done < rows && within >= there[done].iov_len) within -= there[done++].iov_len;
  }
  return done;
}

std::size_t PeerMemory::read_rows(const iovec* here, const iovec* there, std::size_t rows) noexcept {
  return rows_by_kernel(there, rows, [&](pid_t pid, std::size_t done, std::size_t within) {
    if (within == 0) return all_->reader_->read_rows(pid, here + done, there + done, rows - done);
    return all_->reader_->read(pid, reinterpret_cast<std::uint64_t>(there[done].iov_base) + within,
                               static_cast<std::byte*>(here[done].iov_base) + within, there[done].iov_len - within);
  });
}

std::size_t PeerMemory::write_rows(const iovec* here, const iovec* there, std::size_t rows) noexcept {
  return rows_by_kernel(there, rows, [&](pid_t pid, std::size_t done, std::size_t within) {
    if (within == 0) return all_->reader_->write_rows(pid, here + done, there + done, rows - done);
    return all_->reader_->write(pid, reinterpret_cast<std::uint64_t>(there[done].iov_base) + within,
                                static_cast<std::byte*>(here[done].iov_base) + within, there[done].iov_len - within);
  });
}

std::size_t PeerMemory::read_at(std::uint64_t address, std::byte* here, std::size_t bytes) noexcept {
  if (way() != Way::kMapped) return read_by_kernel(address, here, bytes);
  std::memcpy(here, reinterpret_cast<const void*>(address), bytes);
  return bytes;
}

std::size_t PeerMemory::write_at(std::uint64_t address, const std::byte* here, std::size_t bytes) noexcept {
  if (way() == Way::kMapped) {
    std::memcpy(reinterpret_cast<void*>(address), here, bytes);
    return bytes;
  }
  return by_kernel(bytes, [&](pid_t pid, std::size_t done) {
    return all_->reader_->write(pid, address + done, here + done, bytes - done);
  });
}

Claims<> PeerMemory::claims(Offer offer, std::uint32_t units) noexcept {
  return {*all_->segment_->at<PlainClaimBlock>(offer.offset()), offer.generation(), units};
}

SingleCopy::SingleCopy(std::shared_ptr<Segment> segment, std::uint32_t self, std::uint32_t ranks,
                       std::unique_ptr<MemoryReader> reader, bool threaded)
    : segment_(std::move(segment)), self_(self), cookie_(make_cookie()), reader_(std::move(reader)) {
  if (!threaded) lock_.elide();
  if (reader_ == nullptr) return;
  if (sides() == Sides::kAlone) costs_.take_reading_to_be_free();
  peers_.reset(new PeerMemory[ranks]);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    peers_[i].all_ = this;
    peers_[i].region_ = i;
  }
  segment_->region(self).memory = {getpid(), reinterpret_cast<std::uint64_t>(&cookie_), cookie_, process_number()};
}

Offer SingleCopy::offer(const void* data, std::uint32_t taken, bool at_once) noexcept {
  std::uint64_t offset = 0;
  {
    LockGuard guard(lock_);
    if (free_.empty()) {
      std::uint64_t chunk = 0;
      if (!segment_->carve(self_, kBlocksPerCarve * sizeof(PlainClaimBlock), &chunk)) return {};
      for (std::size_t i = kBlocksPerCarve; i-- > 0;) {
        free_.push_back(chunk + i * sizeof(PlainClaimBlock));
        new (segment_->at<void>(free_.back())) PlainClaimBlock;
      }
    }
    offset = free_.back();
    free_.pop_back();
  }
  auto& block = *segment_->at<PlainClaimBlock>(offset);
  const std::uint64_t shared = segment_->offset_of(data);
  if (at_once) at_once_.fetch_add(1, std::memory_order_relaxed);
  block.address = shared != 0 ? shared : reinterpret_cast<std::uint64_t>(data);
  return {offset, shared != 0, at_once, block.open(taken)};
}

void SingleCopy::withdraw(Offer offer) noexcept {
  if (offer.is_at_once()) at_once_.fetch_sub(1, std::memory_order_relaxed);
  LockGuard guard(lock_);
  free_.push_back(offer.offset());
}

void allow_single_copy(int launcher) noexcept {
  if (launcher > 0 && ptrace_scope() == 1) prctl(PR_SET_PTRACER, static_cast<unsigned long>(launcher), 0, 0, 0);
}

// A child that lies still, and another that reads it: siblings, as the ranks of one launcher are.
bool single_copy_works(const char** why) noexcept {
  static volatile std::uint64_t word = 0;
  const std::uint64_t cookie = make_cookie();
  *why = "";
  int ready[2], done[2];
  if (pipe(ready) != 0) return *why = "no pipe", false;
  if (pipe(done) != 0) return close(ready[0]), close(ready[1]), *why = "no pipe", false;
  const int parent = getpid();
  const pid_t source = fork();
  if (source == 0) {
    close(done[1]);
    allow_single_copy(parent);
    word = cookie;
    char byte = 1;
    if (write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 0) _exit(0);
    _exit(1);
  }
  char byte = 0;
  close(ready[1]);
  const bool there = source > 0 && read(ready[0], &byte, 1) == 1;
  const pid_t reader = there ? fork() : -1;
  if (reader == 0) {
    std::uint64_t found = 0;
    const ssize_t n = MemoryReader().read(source, reinterpret_cast<std::uint64_t>(&word),
                                          reinterpret_cast<std::byte*>(&found), sizeof found);
    _exit(n < 0 ? errno : n == sizeof found && found == cookie ? 0 : EIO);
  }
  int status = 0;
  if (reader > 0) waitpid(reader, &status, 0);
  close(ready[0]);
  close(done[0]);
  close(done[1]);
  if (source > 0) waitpid(source, nullptr, 0);
  if (reader <= 0) return *why = "no process could be started", false;
  const int cause = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  if (cause == 0) return true;
  if (cause == EPERM && ptrace_scope() > 1) {
    *why = "Yama's ptrace_scope is above 1";
  } else {
    *why = std::strerror(cause);
  }
  return false;
}

}  // namespace heddle::wire
