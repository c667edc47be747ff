// The procedures of mpix.h.
#include <mpix.h>
#include "bindings/call.hpp"
#include "comm/api_comm.hpp"
#include "part/api.hpp"

using namespace heddle;
using namespace heddle::bindings;

extern "C" {

HEDDLE_PUBLIC int PMPIX_Comm_create_endpoints(MPI_Comm parent_comm, int my_num_ep, MPI_Info info,
                                              MPI_Comm out_comm_hdls[]) {
  return call<kRunning>("MPIX_Comm_create_endpoints", OnComm{"parent_comm", parent_comm},
                        [&](mpi::Comm& parent) -> Status {
                          mpi::Info* info_ = nullptr;
                          HEDDLE_TRY(find_or_null("info", info, info_));
                          HEDDLE_TRY(not_null("out_comm_hdls", out_comm_hdls, my_num_ep));
                          return api::comm_create_endpoints(parent, my_num_ep, info_, out_comm_hdls);
                        });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Comm_create_endpoints) int MPIX_Comm_create_endpoints(MPI_Comm, int, MPI_Info,
                                                                                       MPI_Comm[]);

HEDDLE_PUBLIC int PMPIX_Pbuf_prepare(MPI_Request request) {
  return call<kRunning>("MPIX_Pbuf_prepare", OnRequest{"request", &request, kMustBeLive},
                        [&] { return api::pbuf_prepare(request); });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pbuf_prepare) int MPIX_Pbuf_prepare(MPI_Request);

HEDDLE_PUBLIC int PMPIX_Pbuf_prepareall(int count, MPI_Request requests[]) {
  return call<kRunning>("MPIX_Pbuf_prepareall", OnRequests{"requests", "count", count, requests, kMustBeLive},
                        [&] { return api::pbuf_prepareall(count, requests); });
}
HEDDLE_PUBLIC HEDDLE_ALIAS(PMPIX_Pbuf_prepareall) int MPIX_Pbuf_prepareall(int, MPI_Request[]);

}  // extern "C"
