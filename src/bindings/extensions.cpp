// The procedures of mpix.h.
#include <mpix.h>
#include "bindings/call.hpp"
#include "comm/api_comm.hpp"

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

}  // extern "C"
