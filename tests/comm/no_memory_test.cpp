// A communicator that cannot be made for lack of memory leaves nothing behind.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "comm/api_comm.hpp"
#include "comm/messages.hpp"
#include "mpi/api_attribute.hpp"
#include "support/in_process.hpp"

namespace {
thread_local std::size_t refuse_from = SIZE_MAX;  // bytes; what is allocated without exceptions
}

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  if (bytes >= refuse_from) return nullptr;
  try {
    return operator new[](bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (bytes >= refuse_from) return nullptr;
  try {
    return operator new[](bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace heddle {
namespace {

using test::object;
using test::run_processes;

int living_copies = 0;
int copy_attribute(MPI_Comm, int, void*, void*, void*, int* flag) {
  ++living_copies;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_attribute(MPI_Comm, int, void*, void*) {
  --living_copies;
  return MPI_SUCCESS;
}

void give_attribute(mpi::Comm& comm) {
  int key;
  ASSERT_TRUE(api::comm_create_keyval(copy_attribute, delete_attribute, &key, nullptr));
  ASSERT_TRUE(api::comm_set_attr(comm, key, nullptr));
  living_copies = 1;
}

TEST(NoMemory, ANonblockingDuplication) {
  run_processes(1, [](mpi::Process& p) {
    give_attribute(*p.self());
    const std::uint32_t contexts = p.contexts().in_use();
    MPI_Comm copy;
    MPI_Request request;
    refuse_from = 0;
    EXPECT_EQ(api::comm_idup(*p.self(), &copy, &request).error_class(), MPI_ERR_NO_MEM);
    refuse_from = SIZE_MAX;
    EXPECT_EQ(p.contexts().in_use(), contexts);
    EXPECT_EQ(living_copies, 1);
  });
}

TEST(NoMemory, ACommunicatorOrItsPeers) {
  run_processes(1, [](mpi::Process& p) {
    give_attribute(*p.self());
    for (std::size_t from : {sizeof(mpi::Comm), std::size_t{0}}) {
      const std::uint32_t contexts = p.contexts().in_use();
      std::vector<MPI_Comm> made;
      Status status;
      refuse_from = from;
      for (MPI_Comm copy; made.size() < 100; made.push_back(copy)) {
        status = api::comm_dup(*p.self(), &copy);
        if (!status) break;
      }
      refuse_from = SIZE_MAX;
      EXPECT_EQ(status.error_class(), MPI_ERR_NO_MEM);
      EXPECT_EQ(p.contexts().in_use(), contexts + made.size());
      EXPECT_EQ(living_copies, 1 + static_cast<int>(made.size()));
      for (MPI_Comm& copy : made) ASSERT_TRUE(api::comm_free(&copy));
    }
  });
}

}  // namespace
}  // namespace heddle
