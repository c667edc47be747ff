#include "rma.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cut.hpp"

namespace heddle::overlay {
namespace {

bool is_unified(MPI_Win win) {
  int* model = nullptr;
  int found = 0;
  PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
  return found && *model == MPI_WIN_UNIFIED;
}

}  // namespace

bool Rma::create(MPI_Comm comm) {
  if (PMPI_Win_create_dynamic(MPI_INFO_NULL, comm, &data_) != MPI_SUCCESS) return false;
  if (PMPI_Win_allocate(kFlags, 1, MPI_INFO_NULL, comm, &flags_memory_, &flags_) != MPI_SUCCESS) return false;
  std::memset(flags_memory_, 0, kFlags);
  PMPI_Win_set_errhandler(data_, MPI_ERRORS_RETURN);
  return PMPI_Win_lock_all(MPI_MODE_NOCHECK, data_) == MPI_SUCCESS &&
         PMPI_Win_lock_all(MPI_MODE_NOCHECK, flags_) == MPI_SUCCESS && is_unified(data_) && is_unified(flags_);
}

std::unique_ptr<Rma> Rma::open(MPI_Comm comm) {
  std::unique_ptr<Rma> made(new Rma);
  int rank = 0, works = 0, all_work = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  works = made->create(comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  PMPI_Allreduce(&works, &all_work, 1, MPI_INT, MPI_MIN, comm);
  if (all_work) return made;
  if (rank == 0) {
    std::fprintf(stderr,
                 "heddle overlay: this MPI has no dynamic windows of the unified model: partitioned communication "
                 "goes by messages\n");
  }
  (void)made.release();  // some ranks may have a window that others lack: it cannot be freed
  return nullptr;
}

Rma::~Rma() {
  PMPI_Win_unlock_all(data_);
  PMPI_Win_unlock_all(flags_);
  PMPI_Win_free(&data_);
  PMPI_Win_free(&flags_);
}

bool Rma::attach(std::byte* buffer, std::uint64_t bytes, std::uint64_t flags, Landing* landing) {
  const std::lock_guard guard(lock_);
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  if (bytes != 0) {
    const auto next = attached_.upper_bound(at);
    const auto before = next == attached_.begin() ? attached_.end() : std::prev(next);
    if (before != attached_.end() && before->first == at && before->second.bytes == bytes) {
      ++before->second.users;
    } else {
      // Memory that overlaps may not be attached.
      if (before != attached_.end() && before->first + before->second.bytes > at) return false;
      if (next != attached_.end() && at + bytes > next->first) return false;
      if (PMPI_Win_attach(data_, buffer, static_cast<MPI_Aint>(bytes)) != MPI_SUCCESS) return false;
      attached_[at] = {bytes, 1};
    }
  }
  const auto lent = free_flags_.take(flags);
  if (!lent) {
    if (bytes != 0 && --attached_[at].users == 0) {
      PMPI_Win_detach(data_, buffer);
      attached_.erase(at);
    }
    return false;
  }
  std::memset(flags_memory_ + *lent, 0, flags);
  PMPI_Win_sync(flags_);
  MPI_Aint address = 0;
  PMPI_Get_address(buffer, &address);
  *landing = {static_cast<std::uint64_t>(address), *lent};
  return true;
}

void Rma::detach(std::byte* buffer, std::uint64_t bytes, std::uint64_t flags, const Landing& landing) {
  const std::lock_guard guard(lock_);
  free_flags_.give(landing.flags, flags);
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  if (bytes == 0 || --attached_[at].users != 0) return;
  PMPI_Win_detach(data_, buffer);
  attached_.erase(at);
}

void Rma::see() {
  PMPI_Win_sync(flags_);
  PMPI_Win_sync(data_);
}

void Rma::put(int rank, const std::byte* data, std::uint64_t bytes, std::uint64_t address, std::uint64_t at) {
  while (bytes != 0) {
    const auto n = static_cast<int>(std::min(bytes, kMostPiece));
    const MPI_Aint to = PMPI_Aint_add(static_cast<MPI_Aint>(address), static_cast<MPI_Aint>(at));
    PMPI_Put(data, n, MPI_BYTE, rank, to, n, MPI_BYTE, data_);
    data += n;
    at += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::uint64_t>(n);
  }
}

void Rma::flush(int rank) { PMPI_Win_flush(rank, data_); }

void Rma::raise_flag(int rank, std::uint64_t flag, unsigned char value) {
  PMPI_Put(&value, 1, MPI_BYTE, rank, static_cast<MPI_Aint>(flag), 1, MPI_BYTE, flags_);
  PMPI_Win_flush(rank, flags_);
}

}  // namespace heddle::overlay
