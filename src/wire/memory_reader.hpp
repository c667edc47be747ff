// The calls by which another process's memory is read and written, and the place where tests make them fail.
//
// HEDDLE_SINGLE_COPY: unset or `auto`: the system call. `both`: the same, and the sender of a program's message writes while
// its receiver reads, whatever copies cost. `off`: null, nobody reads. For tests, `test:` and a list, by commas, of faults
// and `both`, or `alone`: receivers copy alone, whatever it costs. With `test:` a process reads itself, too, by the call. Calls, of
// either kind, count from 0, the first read of a cookie, in each process:
//
//     none        no fault
//     refuse@N    call N and all later ones: EPERM; of many pieces, each of which is a call here, all or none
//     fault@N     call N: EFAULT, nothing copied
//     short@N     call N copies only a part
//     stop@N      call N copies only a part, and the next one fails
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"

namespace heddle::wire {

// Who copies long messages (p2p/rendezvous.hpp): as measured, or whatever it costs both sides, or the receiver alone.
enum class Sides : std::uint8_t { kMeasured, kBoth, kAlone };

class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  // As process_vm_readv of one piece: the bytes read, or -1 and errno.
  virtual ssize_t read(pid_t from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;
  // As process_vm_writev.
  virtual ssize_t write(pid_t into, std::uint64_t address, const std::byte* from, std::size_t bytes) noexcept;
  // The same of many pieces, at most IOV_MAX.
  virtual ssize_t read_rows(pid_t from, const iovec* here, const iovec* there, std::size_t rows) noexcept;
  virtual ssize_t write_rows(pid_t into, const iovec* here, const iovec* there, std::size_t rows) noexcept;
  // A process's own memory is read by the call too.
  virtual bool always() const noexcept { return false; }
  Sides sides() const noexcept { return sides_; }
  void set_sides(Sides sides) noexcept { sides_ = sides; }

 private:
  Sides sides_ = Sides::kMeasured;
};

// As `control` (HEDDLE_SINGLE_COPY, may be null) says; null for `off`.
Status make_memory_reader(const char* control, std::unique_ptr<MemoryReader>* out);

}  // namespace heddle::wire
