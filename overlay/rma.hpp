// Partitioned data by one-sided communication of the host.
//
// Problem: the paper's library makes two windows for each request, which is collective and so cannot be done in MPI_Psend_init; and
//          its flag is one more put, which arrives after data that was put later, so that an early partition is seen late.
// Method:  two windows for a carrier, made with it: one is dynamic, and a receiver attaches its buffer to it; one has the completion
//          flags, a byte each, with the epoch's last eight bits. A sender flushes a partition before it puts the next one or
//          the flag: nothing is in front of a flag but its own data.
// Limits:  what cannot be attached (the host has no room, the buffer overlaps one that is attached) goes by messages.
// Threads: any; one at a time for a receiver's landing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "host.hpp"
#include "ranges.hpp"

namespace heddle::overlay {

class Rma {
 public:
  static constexpr std::uint64_t kFlags = 256 << 10;  // of a process

  // Collective. Null, with a line by the first rank: the host cannot.
  static std::unique_ptr<Rma> open(MPI_Comm comm);
  ~Rma();
  Rma(const Rma&) = delete;
  Rma& operator=(const Rma&) = delete;

  // Where a receiver's data lands.
  struct Landing {
    std::uint64_t address = 0;
    std::uint64_t flags = 0;  // their place in the window
  };
  bool attach(std::byte* buffer, std::uint64_t bytes, std::uint64_t flags, Landing* landing);
  void detach(std::byte* buffer, std::uint64_t bytes, std::uint64_t flags, const Landing& landing);
  // What has come is in memory afterwards.
  void see();
  unsigned char flag(const Landing& landing, std::uint64_t n) const noexcept {
    return static_cast<const volatile unsigned char*>(flags_memory_)[landing.flags + n];
  }

  void put(int rank, const std::byte* data, std::uint64_t bytes, std::uint64_t address, std::uint64_t at);
  void flush(int rank);
  void raise_flag(int rank, std::uint64_t flag, unsigned char value);

 private:
  struct Attached {
    std::uint64_t bytes;
    unsigned users;
  };

  Rma() : free_flags_(0, kFlags) {}
  bool create(MPI_Comm comm);

  MPI_Win data_ = MPI_WIN_NULL, flags_ = MPI_WIN_NULL;
  unsigned char* flags_memory_ = nullptr;
  std::mutex lock_;
  Ranges free_flags_;
  std::map<std::uintptr_t, Attached> attached_;
};

}  // namespace heddle::overlay
