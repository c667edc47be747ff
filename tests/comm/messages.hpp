// Small messages between the processes of a test.
#pragma once

#include <gtest/gtest.h>

#include "mpi/handle.hpp"
#include "p2p/p2p.hpp"

namespace heddle::test {

inline mpi::Comm& object(MPI_Comm handle) { return *mpi::from_handle(handle); }

inline void send_int(mpi::Comm& comm, int value, int dest, int tag = 0) {
  ASSERT_TRUE(
      p2p::send(comm, &value, sizeof value, mpi::byte_type(), dest, tag, p2p::Mode::kStandard, mpi::Channel::kUser));
}
inline int recv_int(mpi::Comm& comm, int source, int tag = 0) {
  int value = -1;
  EXPECT_TRUE(p2p::recv(comm, &value, sizeof value, mpi::byte_type(), source, tag, mpi::Channel::kUser, nullptr));
  return value;
}

// Every member sends its rank to the next one: shows that the communicator's addresses and order are right.
inline void expect_ring_works(mpi::Comm& comm) {
  const int next = (comm.rank + 1) % comm.size, previous = (comm.rank + comm.size - 1) % comm.size;
  p2p::Request* request = nullptr;
  const int mine = comm.rank;
  ASSERT_TRUE(p2p::isend(comm, &mine, sizeof mine, mpi::byte_type(), next, 5, p2p::Mode::kStandard, mpi::Channel::kUser,
                         &request));
  EXPECT_EQ(recv_int(comm, previous, 5), previous);
  p2p::wait(*request);
  p2p::destroy(request);
}

}  // namespace heddle::test
