#include "handles.hpp"

#include <mutex>
#include <vector>

namespace heddle::overlay {

std::atomic<Operation*> request_slots[kMostRequests];  // pages that nobody touched take no memory

namespace {

std::mutex lock;
std::size_t fresh = 0;  // slots that were never used begin here

std::vector<std::size_t>& freed() {
  static auto* const slots = new std::vector<std::size_t>;
  return *slots;
}

template <class Handle>
Handle to_handle(std::size_t slot) noexcept {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(&request_slots[slot]);
  } else {
    const Handle null = MPI_REQUEST_NULL;
    return static_cast<Handle>(static_cast<std::size_t>(null) + 1 + slot);
  }
}

}  // namespace

bool add_request(Operation& request, MPI_Request* handle) noexcept {
  const std::lock_guard guard(lock);
  std::size_t slot = fresh;
  if (!freed().empty()) {
    slot = freed().back();
    freed().pop_back();
  } else if (fresh == kMostRequests) {
    return false;
  } else {
    ++fresh;
  }
  request_slots[slot].store(&request, std::memory_order_release);
  *handle = to_handle<MPI_Request>(slot);
  return true;
}

void forget_requests() noexcept {
  const std::lock_guard guard(lock);
  for (std::size_t slot = 0; slot < fresh; ++slot) request_slots[slot].store(nullptr, std::memory_order_release);
}

void remove_request(MPI_Request handle) noexcept {
  const std::lock_guard guard(lock);
  const std::size_t slot = slot_of(handle);
  request_slots[slot].store(nullptr, std::memory_order_release);
  freed().push_back(slot);
}

}  // namespace heddle::overlay
