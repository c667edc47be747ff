// What every object behind an MPI handle begins with.
//
// Problem: a handle may be null, freed, of another kind, or predefined; each must give the standard's error class, and
//          finding the object must cost a few instructions.
// Method:  a handle of the ABI is a pointer. Values below kPredefinedLimit are the ABI's predefined constants; all
//          others are addresses of objects. The first word of an object says its kind, and objects live in memory
//          that is never given back or reused for another kind (base/slab.hpp), so a stale handle reads a dead kind
//          instead of garbage.
// Threads: any thread may check a handle or ask for an object's index, so what they read is atomic. An object goes when
//          the last reference does.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::mpi {

enum class Kind : std::uint32_t {
  kDead = 0xDEADDEAD,
  kComm = 0x48440001,
  kGroup,
  kDatatype,
  kOp,
  kRequest,
  kInfo,
  kErrhandler,
  kMessage,
  kWin,
  kFile,
  kSession,
};

inline constexpr std::uintptr_t kPredefinedLimit = 4096;  // the ABI keeps the zero page for itself

struct Object;
void forget_index(Object& object) noexcept;  // handle.cpp

struct Object {
  // `constant`: the ABI's, of a predefined object.
  constexpr explicit Object(Kind k, std::int32_t constant = 0) noexcept : kind(k), fortran_index(constant) {}
  ~Object() {
    if (index() >= static_cast<std::int32_t>(kPredefinedLimit)) forget_index(*this);
    mark_dead();
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  std::atomic<Kind> kind;                    // kDead once freed
  std::atomic<std::uint32_t> references{1};  // the user's handle is one
  std::atomic<std::int32_t> fortran_index;   // MPI_*_toint: given when first asked for; predefined: the constant

  bool is(Kind k) const noexcept { return kind.load(std::memory_order_relaxed) == k; }
  std::int32_t index() const noexcept { return fortran_index.load(std::memory_order_relaxed); }
  bool is_predefined() const noexcept { return static_cast<std::uint32_t>(index()) - 1 < kPredefinedLimit - 1; }

  // From here on the user's handle is stale. Volatile: to a compiler, a store into an object that ends is a dead store.
  void mark_dead() noexcept {
    const_cast<volatile std::atomic<Kind>&>(kind).store(Kind::kDead, std::memory_order_relaxed);
  }

  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  // True when the caller held the last reference and has to destroy the object.
  bool release() noexcept { return references.fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

}  // namespace heddle::mpi
