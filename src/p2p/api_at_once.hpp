// The calls that nearly every message makes, for the arguments that nearly every one of them has.
//
// Problem: to check an argument at a time, with what a failure needs ready at hand, costs more than an 8-byte message.
// Method:  each function sees in a few compares that all arguments are legal and usual, and then does the whole call.
//          Otherwise it hands over to `checked`, the way with all checks (bindings/call.hpp), which decides what the
//          matter is: an error and who is told of it, or only something longer.
// Threads: as the procedure.
// Cost:    the `instructions` suite of bench/run counts them.
#pragma once

#include "mpi/handle.hpp"
#include "mpi/state.hpp"
#include "p2p/completion.hpp"
#include "p2p/receive.hpp"
#include "p2p/send.hpp"

namespace heddle::api {

namespace at_once {

// The communicator behind the handle. Null: none, or MPI is not running.
inline mpi::Comm* find(MPI_Comm handle) noexcept {
  const std::uintptr_t value = mpi::handle_value(handle);
  const std::uintptr_t i = value - mpi::handle_value(MPI_COMM_WORLD);
  if (i < mpi::predefined_comms.size()) return mpi::predefined_comms[i].load(std::memory_order_acquire);
  if (value < mpi::kPredefinedLimit || !mpi::running()) return nullptr;
  return mpi::live_object<mpi::Comm>(value, mpi::Kind::kComm);
}

// The bytes of `count` items of a predefined type that lie in a row; kUnusual for other types. A negative int gives more
// than any positive one.
inline constexpr std::uint64_t kUnusual = UINT64_MAX;
template <class Count>
std::uint64_t bytes_of(MPI_Datatype handle, Count count) noexcept {
  const std::uintptr_t i = mpi::handle_value(handle) - mpi::kFirstDatatype;
  if (i >= mpi::predefined_sizes.size()) return kUnusual;
  const std::uint64_t size = mpi::predefined_sizes[i];
  if (size == 0 || (sizeof count > sizeof(int) && static_cast<std::uint64_t>(count) > INT32_MAX)) return kUnusual;
  return size * static_cast<std::uint64_t>(count);
}
inline constexpr std::uint64_t kMost = std::uint64_t{256} * INT32_MAX;  // of any legal int count

// These return MPI_SUCCESS, to be the last thing that is done.
[[gnu::cold]] int wake(vci::Lane& lane) noexcept;
int report_sent(MPI_Status* status) noexcept;
}  // namespace at_once

// `checked` is the way with all checks. What is not needed for an ordinary message is the last thing that is done, so that
// no register has to be kept for it. `then` is called when the message has gone.
template <class Count, class Checked, class Then>
[[gnu::always_inline]] inline int post_at_once(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                                               MPI_Comm handle, Checked checked, Then then) noexcept {
  mpi::Comm* comm = at_once::find(handle);
  const std::uint64_t bytes = at_once::bytes_of(datatype, count);
  if (comm == nullptr || bytes > wire::kMaxShort || !comm->has_peer(dest) || tag < 0 || mpi::is_odd_buffer(buf))
      [[unlikely]] {
    return checked();
  }
  vci::Lane* lane;
  const wire::Sent sent = p2p::send_short(*comm, buf, bytes, dest, tag, lane);
  if (sent == wire::Sent::kNot) [[unlikely]]
    return checked();
  then();
  return sent == wire::Sent::kYes ? MPI_SUCCESS : at_once::wake(*lane);
}

template <class Count, class Checked>
[[gnu::always_inline]] inline int send_at_once(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                                               MPI_Comm comm, Checked checked) noexcept {
  return post_at_once(buf, count, datatype, dest, tag, comm, checked, [] {});
}

template <class Count, class Checked>
[[gnu::always_inline]] inline int isend_at_once(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag,
                                                MPI_Comm comm, MPI_Request* request, Checked checked) noexcept {
  if (request == nullptr) [[unlikely]]
    return checked();
  return post_at_once(buf, count, datatype, dest, tag, comm, checked,
                      [request] { *request = mpi::to_handle(&p2p::immortal()); });
}

template <class Count, class Checked>
[[gnu::always_inline]] inline int irecv_at_once(void* buf, Count count, MPI_Datatype datatype, int source, int tag,
                                                MPI_Comm handle, MPI_Request* request, Checked checked) noexcept {
  mpi::Comm* comm = at_once::find(handle);
  if (comm == nullptr || at_once::bytes_of(datatype, count) > at_once::kMost ||
      !(comm->has_peer(source) || source == MPI_ANY_SOURCE) || !(tag >= 0 || tag == MPI_ANY_TAG) ||
      request == nullptr || mpi::is_odd_buffer(buf) || (comm->spread != nullptr && (source < 0 || tag < 0)))
      [[unlikely]] {
    return checked();
  }
  mpi::Datatype& type = *mpi::predefined_datatypes[mpi::handle_value(datatype) - mpi::kFirstDatatype];
  p2p::ReceiveRequest* receive = p2p::post_receive(*comm, {buf, count, &type, source, tag, mpi::Channel::kUser});
  if (receive == nullptr) [[unlikely]]
    return checked();
  *request = mpi::to_handle(receive);
  return MPI_SUCCESS;
}

using CheckedWait = int (*)(MPI_Request*, MPI_Status*) noexcept;
// Of a receive that is complete, or becomes so with one look at what has come; of anything else, `checked`.
int wait_for_receive_at_once(MPI_Request* request, MPI_Status* status, CheckedWait checked) noexcept;

[[gnu::always_inline]] inline int wait_at_once(MPI_Request* request, MPI_Status* status, CheckedWait checked) noexcept {
  if (request == nullptr) [[unlikely]]
    return checked(request, status);
  if (*request != mpi::to_handle(&p2p::immortal())) return wait_for_receive_at_once(request, status, checked);
  *request = MPI_REQUEST_NULL;
  return status == MPI_STATUS_IGNORE ? MPI_SUCCESS : at_once::report_sent(status);
}

// As many receives from the front of the array as are complete, or become so with a look at what has come: how many
// handles are null now. They share one taking of their VCI's lock.
MPI_Count complete_receives_at_once(MPI_Count count, MPI_Request requests[]) noexcept;

// What cannot be waited for at once is left to `checked`; the handles of the others are null by then.
template <class Checked>
inline int waitall_at_once(MPI_Count count, MPI_Request requests[], MPI_Status statuses[], Checked checked) noexcept {
  if (statuses != MPI_STATUSES_IGNORE || requests == nullptr || count < 0) return checked();
  for (MPI_Count i = 0; i < count;) {
    if (requests[i] == MPI_REQUEST_NULL || requests[i] == mpi::to_handle(&p2p::immortal())) {
      requests[i++] = MPI_REQUEST_NULL;
      continue;
    }
    const MPI_Count received = complete_receives_at_once(count - i, requests + i);
    if (received == 0) return checked();
    i += received;
  }
  return MPI_SUCCESS;
}

}  // namespace heddle::api
