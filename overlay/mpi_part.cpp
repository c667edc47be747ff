// MPI_Psend_init to MPI_Parrived, and MPIX_Pbuf_prepare.
#include <cstdlib>
#include <new>

#include "call.hpp"
#include "errors.hpp"
#include "part_way.hpp"

using namespace heddle::overlay;

namespace {

bool is_on() { return settings().partitioned != Settings::Partitioned::kOff; }

// A request that the host made, by extensions of its own if not by MPI_Psend_init.
[[maybe_unused]] bool is_hosts(MPI_Request request) {
  return !is_on() || (!is_ours(request) && request != MPI_REQUEST_NULL);
}

// What is wrong is ours, as are the errors.
[[maybe_unused]] bool goes_to_host(int partitions, MPI_Count count, MPI_Datatype type, int peer) {
  if (!is_on()) return true;
  if (!some_go_by(PartWay::kHost) || partitions <= 0 || count <= 0 || type == MPI_DATATYPE_NULL || peer < 0)
    return false;
  const MPI_Count size = type_size(type);
  MPI_Count all = 0;
  if (size <= 0 || __builtin_mul_overflow(count, MPI_Count{partitions}, &all) ||
      __builtin_mul_overflow(all, size, &all)) {
    return false;
  }
  return part_way(static_cast<std::uint64_t>(all)) == PartWay::kHost;
}

// Null: it is none, or freed, or a collective's.
Request* partitioned(MPI_Request handle) {
  Operation* operation = is_ours(handle) ? find_request(handle) : nullptr;
  return operation != nullptr && operation->is_partitioned ? static_cast<Request*>(operation) : nullptr;
}

int size_of_peers(MPI_Comm comm) {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return size;
}

std::uint64_t aggregate_of(MPI_Info info) {
  char text[32];
  int found = 0;
  if (info != MPI_INFO_NULL) PMPI_Info_get(info, "heddle_aggregate_bytes", sizeof text - 1, text, &found);
  char* end = nullptr;
  const std::uint64_t bytes = found ? std::strtoull(text, &end, 10) : 0;
  return found && end != text && *end == '\0' ? bytes : heddle::part::Grouping::kTarget;
}

// What both init calls check, in the words of both.
int check(const char* name, const Identity* identity, const void* buffer, int partitions, MPI_Count count,
          MPI_Datatype type, int peer, int tag, MPI_Comm comm, Arguments* out) {
  if (identity == nullptr) {
    Identity unknown;
    unknown.handle = comm;
    return fail(name, comm == MPI_COMM_NULL ? nullptr : &unknown,
                comm == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_ERR_UNSUPPORTED_OPERATION,
                "the overlay does not know this communicator: it was created past it, or has other processes");
  }
  if (partitions < 0) return fail(name, identity, MPI_ERR_ARG, "partitions is %d; it must not be negative", partitions);
  if (count < 0) return fail(name, identity, MPI_ERR_COUNT, "count is %lld", static_cast<long long>(count));
  if (type == MPI_DATATYPE_NULL) return fail(name, identity, MPI_ERR_TYPE, "the datatype is null");
  const bool nobody = peer == MPI_PROC_NULL;
  if (!nobody && (peer < 0 || peer >= size_of_peers(comm))) {
    return fail(name, identity, MPI_ERR_RANK, "rank %d; there is no wildcard for a partitioned operation", peer);
  }
  if (!nobody && tag < 0) {
    return fail(name, identity, MPI_ERR_TAG, "tag %d; there is no wildcard for a partitioned operation", tag);
  }
  const MPI_Count size = type_size(type);
  MPI_Count all = 0;
  if (__builtin_mul_overflow(count, MPI_Count{partitions}, &all) || __builtin_mul_overflow(all, size, &all)) {
    return fail(name, identity, MPI_ERR_COUNT, "%d partitions of %lld items are more bytes than an MPI_Count holds",
                partitions, static_cast<long long>(count));
  }
  const int there = nobody ? MPI_PROC_NULL : identity->carrier_rank(peer);
  if (there == MPI_UNDEFINED) {
    return fail(name, identity, MPI_ERR_UNSUPPORTED_OPERATION, "rank %d was not there when MPI was initialized", peer);
  }
  *out = {const_cast<void*>(buffer),
          static_cast<std::uint32_t>(partitions),
          count,
          type,
          peer,
          there,
          tag,
          static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size),
          0};
  return MPI_SUCCESS;
}

int no_room(const char* name, const Identity* identity) {
  return fail(name, identity, MPI_ERR_NO_MEM, "no memory, or no tag, is left for a partitioned request");
}

template <class Kind>
int init(const char* name, const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
         MPI_Comm comm, MPI_Info info, MPI_Request* handle) {
  const IdentityPtr identity = identity_of(comm);
  Arguments args;
  const int rc = check(name, identity.get(), buffer, partitions, count, type, peer, tag, comm, &args);
  if (rc != MPI_SUCCESS) return rc;
  args.aggregate = aggregate_of(info);
  std::shared_ptr<Kind> request;
  try {
    request = std::make_shared<Kind>(identity, args);
  } catch (const std::bad_alloc&) {
    return no_room(name, identity.get());
  }
  MPI_Request made;
  if (!add_request(*request, &made)) return no_room(name, identity.get());
  if constexpr (std::is_same_v<Kind, Send>) {
    if (!engine().add(request)) {
      remove_request(made);
      return no_room(name, identity.get());
    }
  } else {
    engine().add(request);
  }
  *handle = made;
  engine().progress();
  return MPI_SUCCESS;
}

// A started send with these partitions; else the error, told.
int find_send(const char* name, MPI_Request handle, int low, int high, Send** out) {
  Request* request = partitioned(handle);
  const Identity* identity = request == nullptr ? nullptr : request->identity.get();
  if (request == nullptr || !request->sends) {
    return fail(name, identity, MPI_ERR_REQUEST, "the request is not a partitioned send");
  }
  if (!request->is_active()) {
    return fail(name, identity, MPI_ERR_REQUEST, "the send to rank %d is not started", request->args.peer);
  }
  if (low < 0 || low > high || static_cast<std::uint32_t>(high) >= request->args.partitions) {
    return fail(name, identity, MPI_ERR_ARG, "partitions %d to %d of a send to rank %d that has %u; they count from 0",
                low, high, request->args.peer, request->args.partitions);
  }
  *out = static_cast<Send*>(request);
  return MPI_SUCCESS;
}

int make_ready(const char* name, Send& send, int partition) {
  if (send.ready(static_cast<std::uint32_t>(partition))) return MPI_SUCCESS;
  return fail(name, send.identity.get(), MPI_ERR_ARG,
              "partition %d has been made ready before, since the send to rank %d was started", partition,
              send.args.peer);
}

int ready_range(const char* name, int low, int high, MPI_Request handle) {
  Send* send = nullptr;
  int rc = find_send(name, handle, low, high, &send);
  for (int p = low; rc == MPI_SUCCESS && p <= high; ++p) rc = make_ready(name, *send, p);
  return rc;
}

int prepare(const char* name, MPI_Request handle) {
  Request* request = partitioned(handle);
  if (request == nullptr || !request->is_active()) {
    return fail(name, request == nullptr ? nullptr : request->identity.get(), MPI_ERR_REQUEST,
                "the request is not partitioned, or not started");
  }
  const std::shared_ptr<Operation> keep = request->shared_from_this();
  engine().wait([&] { return request->poll() || request->is_prepared(); });
  return request->is_complete() ? tell(name, *request, request->error) : MPI_SUCCESS;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
#if HEDDLE_HOST_MPI_4
  if (goes_to_host(partitions, count, type, dest)) {
    return PMPI_Psend_init(buf, partitions, count, type, dest, tag, comm, info, request);
  }
#else
  if (!is_on()) {
    return fail(__func__, nullptr, MPI_ERR_UNSUPPORTED_OPERATION,
                "not in this MPI, and HEDDLE_OVERLAY_PARTITIONED=off");
  }
#endif
  return init<Send>(__func__, buf, partitions, count, type, dest, tag, comm, info, request);
}

int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
#if HEDDLE_HOST_MPI_4
  if (goes_to_host(partitions, count, type, source)) {
    return PMPI_Precv_init(buf, partitions, count, type, source, tag, comm, info, request);
  }
#else
  if (!is_on()) {
    return fail(__func__, nullptr, MPI_ERR_UNSUPPORTED_OPERATION,
                "not in this MPI, and HEDDLE_OVERLAY_PARTITIONED=off");
  }
#endif
  return init<Receive>(__func__, buf, partitions, count, type, source, tag, comm, info, request);
}

int MPI_Psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return MPI_Psend_init(buf, partitions, count, type, dest, tag, comm, info, request);
}

int MPI_Precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
  return MPI_Precv_init(buf, partitions, count, type, source, tag, comm, info, request);
}

int MPI_Pready(int partition, MPI_Request request) {
#if HEDDLE_HOST_MPI_4
  if (is_hosts(request)) return PMPI_Pready(partition, request);
#endif
  return ready_range(__func__, partition, partition, request);
}

int MPI_Pready_range(int low, int high, MPI_Request request) {
#if HEDDLE_HOST_MPI_4
  if (is_hosts(request)) return PMPI_Pready_range(low, high, request);
#endif
  return ready_range(__func__, low, high, request);
}

int MPI_Pready_list(int length, PartitionList partitions, MPI_Request request) {
#if HEDDLE_HOST_MPI_4
  if (is_hosts(request)) return PMPI_Pready_list(length, partitions, request);
#endif
  Send* send = nullptr;
  int rc = MPI_SUCCESS;
  for (int i = 0; i < length && rc == MPI_SUCCESS; ++i) {
    rc = find_send(__func__, request, partitions[i], partitions[i], &send);
  }
  for (int i = 0; i < length && rc == MPI_SUCCESS; ++i) rc = make_ready(__func__, *send, partitions[i]);
  return rc;
}

int MPI_Parrived(MPI_Request handle, int partition, int* flag) {
#if HEDDLE_HOST_MPI_4
  if (is_hosts(handle)) return PMPI_Parrived(handle, partition, flag);
#endif
  *flag = 1;
  if (handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  Request* request = partitioned(handle);
  const Identity* identity = request == nullptr ? nullptr : request->identity.get();
  if (request == nullptr || request->sends) {
    return fail(__func__, identity, MPI_ERR_REQUEST, "the request is not a partitioned receive");
  }
  auto& receive = static_cast<Receive&>(*request);
  if (partition < 0 || static_cast<std::uint32_t>(partition) >= receive.args.partitions) {
    return fail(__func__, identity, MPI_ERR_ARG,
                "partition %d of a receive from rank %d that has %u; they count from 0", partition, receive.args.peer,
                receive.args.partitions);
  }
  const auto p = static_cast<std::uint32_t>(partition);
  if (!receive.is_active() || receive.has(p)) return MPI_SUCCESS;
  if (!receive.poll()) {
    engine().progress();
    receive.poll();
  }
  const bool over = receive.is_complete();
  *flag = over || receive.has(p);
  if (!*flag) sched_yield();  // the program may ask in a loop, while who could bring it waits for the host's lock
  return over && receive.error != MPI_SUCCESS ? tell(__func__, receive, receive.error) : MPI_SUCCESS;
}

// Of a request that the profile gave to the host nothing is known, and nothing has to be: its MPI_Pready may come at any time.
int MPIX_Pbuf_prepare(MPI_Request request) {
  if (is_on() && some_go_by(PartWay::kHost) && request != MPI_REQUEST_NULL && !is_ours(request)) return MPI_SUCCESS;
  return prepare(__func__, request);
}

int MPIX_Pbuf_prepareall(int count, MPI_Request requests[]) {
  int rc = MPI_SUCCESS;
  for (int i = 0; i < count && rc == MPI_SUCCESS; ++i) rc = MPIX_Pbuf_prepare(requests[i]);
  return rc;
}

}  // extern "C"
#pragma GCC visibility pop
