// Probes, and receives of messages that a matched probe has found (MPI 4.1, 3.8).
#include "base/slab.hpp"
#include "mpi/handle.hpp"
#include "mpi/message.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "p2p/completion.hpp"
#include "p2p/loss.hpp"
#include "p2p/protocol.hpp"
#include "p2p/receive.hpp"
#include "p2p/search.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::api {
namespace {

using mpi::Message;
using p2p::ReceiveRequest;
using portals::UnexpectedHeader;

SharedSlab<Message>& messages() {
  static auto* slab = new SharedSlab<Message>;
  return *slab;
}

void describe(const match::Key& key, std::uint64_t bytes, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = key.source;
  status->MPI_TAG = key.tag;
  mpi::set_status_bytes(*status, static_cast<MPI_Count>(bytes));
  mpi::set_status_cancelled(*status, false);
}

// What a receive from MPI_PROC_NULL reports (MPI 5.0, 3.11).
void set_proc_null(MPI_Status* status) { describe({0, MPI_PROC_NULL, MPI_ANY_TAG}, 0, status); }

void describe(const UnexpectedHeader& header, MPI_Status* status) {
  describe(header.key, p2p::is_announcement(header.portal) ? header.prefix_as<p2p::RtsPrefix>().total : header.bytes,
           status);
}

vci::Vci& vci_for(Comm& comm, int source, int tag) {
  return *mpi::stream_of(comm, mpi::Channel::kUser, source, tag).vci;
}

// The same as below where nothing is here: at senders that hold messages back.
bool look_at_senders(Comm& comm, vci::Vci& vci, const match::Key& key, MPI_Status* status,
                     UnexpectedHeader** taken) noexcept NO_THREAD_SAFETY_ANALYSIS {
  const vci::Sources::Found* found = p2p::search_senders(comm, vci, key);
  if (found == nullptr) return false;
  describe(found->key, found->total, status);
  if (taken == nullptr) return true;
  *taken = p2p::take_from_sender(vci, *found);
  return *taken != nullptr;
}

// Looks for the oldest message that matches; reports it, and takes it off the list when `taken` is not null.
bool look(Comm& comm, int source, int tag, MPI_Status* status, UnexpectedHeader** taken) {
  const match::Key key{comm.address.context, source, tag};
  vci::Vci& vci = vci_for(comm, source, tag);
  LockGuard guard(vci.lock());
  portals::MatchList& list = vci.matching();
  const UnexpectedHeader* header = taken != nullptr ? * taken = list.extract(key) : list.search(key);
  if (header == nullptr) return look_at_senders(comm, vci, key, status, taken);
  describe(*header, status);
  return true;
}

// An error when no message can come any more.
Status look_after_progress(Comm& comm, int source, int tag, int* flag, MPI_Status* status, UnexpectedHeader** taken) {
  *flag = look(comm, source, tag, status, taken);
  if (*flag) return Status::ok();
  comm.vci->domain().progress_once(vci_for(comm, source, tag));
  const bool lost =
      p2p::has_losses(comm) && p2p::is_lost(comm, source);  // before the look: a message may have come first
  *flag = look(comm, source, tag, status, taken);
  return lost && !*flag ? p2p::loss_error(comm, source) : Status::ok();
}

Status wait_for_message(Comm& comm, int source, int tag, MPI_Status* status, UnexpectedHeader** taken) {
  bool lost = false, found = false;
  comm.vci->domain().wait(
      vci_for(comm, source, tag),
      [&] {
        lost = p2p::has_losses(comm) && p2p::is_lost(comm, source);
        return (found = look(comm, source, tag, status, taken)) || lost;
      },
      [&] { p2p::expect(comm, source); });
  return found ? Status::ok() : p2p::loss_error(comm, source);
}

Status wrap(Comm& comm, UnexpectedHeader* header, MPI_Message* handle) {
  Message* message = messages().take(comm, header);
  if (message == nullptr) {
    comm.vci->domain().fatal("no memory for the message that a matched probe found");
  }
  *handle = mpi::to_handle(message);
  return Status::ok();
}

// The message of mrecv and imrecv; null for MPI_MESSAGE_NO_PROC.
Message* resolve(MPI_Message handle) { return handle == MPI_MESSAGE_NO_PROC ? nullptr : mpi::from_handle(handle); }

p2p::Arguments arguments_of(const Message& message, void* buf, MPI_Count count, Datatype& type) {
  const match::Key& key = message.header->key;
  return {buf, count, &type, key.source, key.tag, mpi::Channel::kUser};
}

}  // namespace

Status probe(int source, int tag, Comm& comm, MPI_Status* status) {
  if (source != MPI_PROC_NULL) return wait_for_message(comm, source, tag, status, nullptr);
  set_proc_null(status);
  return Status::ok();
}

Status iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  if (source != MPI_PROC_NULL) return look_after_progress(comm, source, tag, flag, status, nullptr);
  set_proc_null(status);
  *flag = 1;
  return Status::ok();
}

Status mprobe(int source, int tag, Comm& comm, MPI_Message* handle, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    *handle = MPI_MESSAGE_NO_PROC;
    return Status::ok();
  }
  UnexpectedHeader* header = nullptr;
  HEDDLE_TRY(wait_for_message(comm, source, tag, status, &header));
  return wrap(comm, header, handle);
}

Status improbe(int source, int tag, Comm& comm, int* flag, MPI_Message* handle, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    *handle = MPI_MESSAGE_NO_PROC;
    *flag = 1;
    return Status::ok();
  }
  UnexpectedHeader* header = nullptr;
  HEDDLE_TRY(look_after_progress(comm, source, tag, flag, status, &header));
  if (!*flag) {
    *handle = MPI_MESSAGE_NULL;
    return Status::ok();
  }
  return wrap(comm, header, handle);
}

Status mrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* handle, MPI_Status* status) {
  Message* message = resolve(*handle);
  if (message == nullptr) {
    set_proc_null(status);
    *handle = MPI_MESSAGE_NULL;
    return Status::ok();
  }
  ReceiveRequest request(*message->comm, arguments_of(*message, buf, count, type));
  *handle = MPI_MESSAGE_NULL;
  request.start_with(*message->header);
  p2p::wait(request);
  p2p::fill_status(request, status);
  messages().give_back(message);
  return p2p::outcome(request);
}

Status imrecv(void* buf, MPI_Count count, Datatype& type, MPI_Message* handle, MPI_Request* request_handle) {
  Message* message = resolve(*handle);
  if (message == nullptr) {
    *handle = MPI_MESSAGE_NULL;
    return irecv(buf, count, type, MPI_PROC_NULL, MPI_ANY_TAG, *mpi::process()->own(), request_handle);
  }
  ReceiveRequest* request = p2p::make_receive(*message->comm, arguments_of(*message, buf, count, type));
  if (request == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the request of a receive");
  *request_handle = mpi::to_handle(static_cast<mpi::Request*>(request));
  *handle = MPI_MESSAGE_NULL;
  UnexpectedHeader* header = message->header;
  messages().give_back(message);
  request->start_with(*header);
  return Status::ok();
}

}  // namespace heddle::api
