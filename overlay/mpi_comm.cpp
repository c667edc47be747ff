// Each communicator of the program gets its number as it is created (carrier.hpp), and is freed when the host is not at work for it.

#include "coll_comm.hpp"
#include "engine.hpp"
#include "settings.hpp"

using namespace heddle::overlay;

namespace {

// The number is drawn before the host creates: creations by several threads on different parents do not meet, and on one parent
// they are ordered by the program.
template <class Make>
int create(MPI_Comm parent, MPI_Comm* out, Make make) {
  const IdentityPtr from = identity_of(parent);
  const std::uint64_t id = from == nullptr ? 0 : mix(from->id, from->children++);
  const int rc = make();
  if (from != nullptr && rc == MPI_SUCCESS && *out != MPI_COMM_NULL) identify(*out, from->carrier, id);
  return rc;
}

template <class Make>
int create_later(MPI_Comm parent, MPI_Comm* out, Make make) {
  const IdentityPtr from = identity_of(parent);
  const std::uint64_t id = from == nullptr ? 0 : mix(from->id, from->children++);
  *out = MPI_COMM_NULL;
  const int rc = make();
  if (from != nullptr && rc == MPI_SUCCESS && *out != MPI_COMM_NULL) identify_later(*out, from->carrier, id);
  return rc;
}

std::uint64_t number(int tag) { return static_cast<std::uint64_t>(tag); }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Comm_dup(comm, out); });
}
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Comm_dup_with_info(comm, info, out); });
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* out, MPI_Request* request) {
  return create_later(comm, out, [&] { return PMPI_Comm_idup(comm, out, request); });
}
#if HEDDLE_HOST_MPI_4
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* out, MPI_Request* request) {
  return create_later(comm, out, [&] { return PMPI_Comm_idup_with_info(comm, info, out, request); });
}
#endif
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Comm_create(comm, group, out); });
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Comm_split(comm, color, key, out); });
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Comm_split_type(comm, type, key, info, out); });
}
int MPI_Cart_create(MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Cart_create(comm, n, dims, periods, reorder, out); });
}
int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Cart_sub(comm, remain, out); });
}
int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Graph_create(comm, n, index, edges, reorder, out); });
}
int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int to[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm* out) {
  return create(comm, out,
                [&] { return PMPI_Dist_graph_create(comm, n, sources, degrees, to, weights, info, reorder, out); });
}
int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[], const int in_weights[], int n_out,
                                   const int to[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm* out) {
  return create(comm, out, [&] {
    return PMPI_Dist_graph_create_adjacent(comm, in, sources, in_weights, n_out, to, out_weights, info, reorder, out);
  });
}
int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* out) {
  return create(comm, out, [&] { return PMPI_Intercomm_merge(comm, high, out); });
}

int MPI_Comm_free(MPI_Comm* comm) {
  end_opening(*comm);
  return PMPI_Comm_free(comm);
}
int MPI_Comm_disconnect(MPI_Comm* comm) {
  end_opening(*comm);
  return PMPI_Comm_disconnect(comm);
}

// By a part of the parent's processes: they, in order, and the tag tell such a creation from others.
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* out) {
  const int rc = PMPI_Comm_create_group(comm, group, tag, out);
  const IdentityPtr from = identity_of(comm);
  if (from == nullptr || rc != MPI_SUCCESS || *out == MPI_COMM_NULL) return rc;
  const std::uint64_t key = mix(mix(from->id, number(tag)), hash_group(*from->carrier, group));
  identify(*out, from->carrier, mix(key, count_of(key)));
  return rc;
}

// So do both groups together; which of them is the local one must not matter.
int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm* out) {
  const int rc = PMPI_Intercomm_create(local, leader, peer, remote_leader, tag, out);
  const IdentityPtr from = identity_of(local);
  if (from == nullptr || rc != MPI_SUCCESS) return rc;
  MPI_Group mine, theirs;
  PMPI_Comm_group(*out, &mine);
  PMPI_Comm_remote_group(*out, &theirs);
  const std::uint64_t a = hash_group(*from->carrier, mine), b = hash_group(*from->carrier, theirs);
  PMPI_Group_free(&mine);
  PMPI_Group_free(&theirs);
  if (b == 0) return rc;  // processes of elsewhere
  const std::uint64_t key = mix(mix(a < b ? a : b, a < b ? b : a), number(tag));
  identify(*out, from->carrier, mix(key, count_of(key)));
  return rc;
}

#if HEDDLE_HOST_MPI_4
int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* out) {
  const int rc = PMPI_Comm_create_from_group(group, tag, info, handler, out);
  if (settings().partitioned == Settings::Partitioned::kOff || rc != MPI_SUCCESS || *out == MPI_COMM_NULL) return rc;
  MPI_Comm own;
  PMPI_Comm_dup(*out, &own);
  const auto carrier = std::make_shared<Carrier>(own);
  engine().add(carrier);
  open_identities();
  identify(*out, carrier, 1);
  return rc;
}
#endif

}  // extern "C"
#pragma GCC visibility pop
