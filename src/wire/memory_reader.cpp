#include "wire/memory_reader.hpp"

#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <vector>

#include "mpi.h"

namespace heddle::wire {
namespace {

struct Fault {
  enum Kind { kRefuse, kFault, kShort, kStop } kind;
  std::uint64_t call;
};

class FaultyReader final : public MemoryReader {
 public:
  explicit FaultyReader(std::vector<Fault> faults) : faults_(std::move(faults)) {}
  bool always() const noexcept override { return true; }

  ssize_t read(pid_t from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept override {
    return begins(&bytes) ? MemoryReader::read(from, address, to, bytes) : -1;
  }
  ssize_t write(pid_t into, std::uint64_t address, const std::byte* from, std::size_t bytes) noexcept override {
    return begins(&bytes) ? MemoryReader::write(into, address, from, bytes) : -1;
  }

  // Each row is a call, but the kernel asks once whether it may.
  ssize_t read_rows(pid_t from, const iovec* here, const iovec* there, std::size_t rows) noexcept override {
    if (refuses_one_of(rows)) return -1;
    return each(there, rows, [&](std::size_t i, std::uint64_t address) {
      return read(from, address, static_cast<std::byte*>(here[i].iov_base), there[i].iov_len);
    });
  }
  ssize_t write_rows(pid_t into, const iovec* here, const iovec* there, std::size_t rows) noexcept override {
    if (refuses_one_of(rows)) return -1;
    return each(there, rows, [&](std::size_t i, std::uint64_t address) {
      return write(into, address, static_cast<const std::byte*>(here[i].iov_base), there[i].iov_len);
    });
  }

 private:
  template <class Call>
  static ssize_t each(const iovec* there, std::size_t rows, Call call) noexcept {
    ssize_t all = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const ssize_t n = call(i, reinterpret_cast<std::uint64_t>(there[i].iov_base));
      if (n < 0) return all == 0 ? n : all;
      all += n;
      if (static_cast<std::size_t>(n) < there[i].iov_len) break;
    }
    return all;
  }
  bool refuses_one_of(std::uint64_t rows) noexcept {
    const std::uint64_t end = calls_.load(std::memory_order_relaxed) + rows;
    for (const Fault& fault : faults_) {
      if (fault.kind != Fault::kRefuse || end <= fault.call) continue;
      calls_.fetch_add(rows, std::memory_order_relaxed);
      return !fail(EPERM);
    }
    return false;
  }
  // False: the call fails, with errno.
  bool begins(std::size_t* bytes) noexcept {
    const std::uint64_t call = calls_.fetch_add(1, std::memory_order_relaxed);
    for (const Fault& fault : faults_) {
      if (fault.kind == Fault::kRefuse && call >= fault.call) return fail(EPERM);
      if (fault.kind == Fault::kFault && call == fault.call) return fail(EFAULT);
      if (fault.kind == Fault::kStop && call == fault.call + 1) return fail(EFAULT);
      if (fault.kind >= Fault::kShort && call == fault.call) *bytes -= *bytes / 3;
    }
    return true;
  }
  static bool fail(int cause) noexcept {
    errno = cause;
    return false;
  }

  const std::vector<Fault> faults_;
  std::atomic<std::uint64_t> calls_{0};
};

// "kind@N"; false when it is neither.
bool parse(std::string_view word, Fault* fault) {
  constexpr std::string_view kKinds[] = {"refuse", "fault", "short", "stop"};  // as Fault::Kind
  const std::size_t at = word.find('@');
  if (at == word.npos) return false;
  for (int kind = 0; kind < 4; ++kind) {
    if (word.substr(0, at) == kKinds[kind]) {
      fault->kind = static_cast<Fault::Kind>(kind);
      const char* end = word.data() + word.size();
      const auto [stop, failed] = std::from_chars(word.data() + at + 1, end, fault->call);
      return failed == std::errc() && stop == end;
    }
  }
  return false;
}

}  // namespace

ssize_t MemoryReader::read(pid_t from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(from, &here, 1, &there, 1, 0);
}

ssize_t MemoryReader::write(pid_t into, std::uint64_t address, const std::byte* from, std::size_t bytes) noexcept {
  const iovec here{const_cast<std::byte*>(from), bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(into, &here, 1, &there, 1, 0);
}

ssize_t MemoryReader::read_rows(pid_t from, const iovec* here, const iovec* there, std::size_t rows) noexcept {
  return process_vm_readv(from, here, rows, there, rows, 0);
}

ssize_t MemoryReader::write_rows(pid_t into, const iovec* here, const iovec* there, std::size_t rows) noexcept {
  return process_vm_writev(into, here, rows, there, rows, 0);
}

Status make_memory_reader(const char* control, std::unique_ptr<MemoryReader>* out) {
  const std::string_view text = control == nullptr ? "auto" : control;
  constexpr std::string_view kTest = "test:";
  out->reset();
  if (text == "off") return Status::ok();
  if (text == "auto" || text == "both") {
    *out = std::make_unique<MemoryReader>();
    if (text == "both") (*out)->set_sides(Sides::kBoth);
    return Status::ok();
  }
  std::vector<Fault> faults;
  Sides sides = Sides::kMeasured;
  std::string_view rest = text;
  bool good = rest.starts_with(kTest);
  if (good) rest.remove_prefix(kTest.size());
  while (good && !rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "both") sides = Sides::kBoth;
    if (word == "alone") sides = Sides::kAlone;
    if (word == "none" || word == "both" || word == "alone") continue;
    good = parse(word, &faults.emplace_back());
  }
  if (!good)
    return error(MPI_ERR_OTHER, "HEDDLE_SINGLE_COPY='%.60s' is none of 'auto', 'both' and 'off'; correct or unset it",
                 control);
  *out = std::make_unique<FaultyReader>(std::move(faults));
  (*out)->set_sides(sides);
  return Status::ok();
}

}  // namespace heddle::wire
