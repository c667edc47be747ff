#include <gtest/gtest.h>

#include <atomic>

#include "comm/api_comm.hpp"
#include "comm/messages.hpp"
#include "mpi/api_attribute.hpp"
#include "mpi/api_errhandler.hpp"
#include "mpi/api_info.hpp"
#include "p2p/api.hpp"
#include "support/in_process.hpp"

namespace heddle {
namespace {

using test::expect_ring_works;
using test::object;
using test::recv_int;
using test::run_processes;
using test::send_int;

TEST(CommDup, ACopyIsCongruentAndApart) {
  run_processes(3, [](mpi::Process& p) {
    mpi::Comm& world = *p.world();
    MPI_Comm copy;
    ASSERT_TRUE(api::comm_dup(world, &copy));
    int relation;
    ASSERT_TRUE(api::comm_compare(world, object(copy), &relation));
    EXPECT_EQ(relation, MPI_CONGRUENT);
    ASSERT_TRUE(api::comm_compare(object(copy), object(copy), &relation));
    EXPECT_EQ(relation, MPI_IDENT);
    // The same source and tag on both: each communicator gets its own.
    if (world.rank == 0) {
      send_int(world, 1, 1);
      send_int(object(copy), 2, 1);
    } else if (world.rank == 1) {
      EXPECT_EQ(recv_int(object(copy), MPI_ANY_SOURCE, MPI_ANY_TAG), 2);
      EXPECT_EQ(recv_int(world, MPI_ANY_SOURCE, MPI_ANY_TAG), 1);
    }
    expect_ring_works(object(copy));
    ASSERT_TRUE(api::comm_free(&copy));
    EXPECT_EQ(copy, MPI_COMM_NULL);
  });
}

TEST(CommDup, ContextsDoNotLeak) {
  run_processes(2, [](mpi::Process& p) {
    const std::uint32_t before = p.contexts().in_use();
    for (int i = 0; i < 300; ++i) {
      MPI_Comm a, b;
      ASSERT_TRUE(api::comm_dup(*p.world(), &a));
      ASSERT_TRUE(api::comm_dup(object(a), &b));
      ASSERT_TRUE(api::comm_free(&a));
      expect_ring_works(object(b));
      ASSERT_TRUE(api::comm_free(&b));
    }
    EXPECT_EQ(p.contexts().in_use(), before);
  });
}

TEST(CommDup, TheErrorHandlerIsInheritedAndHintsAreNot) {
  run_processes(2, [](mpi::Process& p) {
    MPI_Comm a, b, c;
    MPI_Info hints;
    ASSERT_TRUE(api::info_create(&hints));
    ASSERT_TRUE(api::info_set(mpi::from_handle(hints), "colour", "red"));
    ASSERT_TRUE(api::comm_dup_with_info(*p.world(), mpi::from_handle(hints), &a));
    ASSERT_TRUE(api::info_set(mpi::from_handle(hints), "colour", "blue"));
    MPI_Info got;
    ASSERT_TRUE(api::comm_get_info(object(a), &got));
    EXPECT_EQ(mpi::from_handle(got)->get("colour"), "red") << "a copy was taken";
    ASSERT_TRUE(api::info_free(&got));
    ASSERT_TRUE(api::comm_set_errhandler(object(a), *mpi::from_handle(MPI_ERRORS_RETURN)));
    ASSERT_TRUE(api::comm_dup(object(a), &b));
    MPI_Errhandler handler;
    ASSERT_TRUE(api::comm_get_errhandler(object(b), &handler));
    EXPECT_EQ(handler, MPI_ERRORS_RETURN);
    ASSERT_TRUE(api::comm_get_info(object(b), &got));
    EXPECT_EQ(mpi::from_handle(got)->get("colour"), std::nullopt) << "MPI 4.0 and later";
    ASSERT_TRUE(api::info_free(&got));
    ASSERT_TRUE(api::comm_dup(*p.world(), &c));
    ASSERT_TRUE(api::comm_get_errhandler(object(c), &handler));
    EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
    for (MPI_Comm* comm : {&a, &b, &c}) ASSERT_TRUE(api::comm_free(comm));
    ASSERT_TRUE(api::info_free(&hints));
  });
}

// The value counts how many live copies there are; -1 refuses to be copied.
std::atomic<int> live{0};
int copy_counted(MPI_Comm, int, void* refuse, void* in, void* out, int* flag) {
  if (in == refuse) return MPI_ERR_OTHER;
  ++live;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_counted(MPI_Comm, int, void*, void*) {
  --live;
  return MPI_SUCCESS;
}

TEST(CommDup, AFailedCopyFunctionFailsItEverywhere) {
  live = 0;
  run_processes(3, [](mpi::Process& p) {
    const std::uint32_t before = p.contexts().in_use();
    int refused, copied, key;
    ASSERT_TRUE(api::comm_create_keyval(copy_counted, delete_counted, &key, &refused));
    MPI_Comm parent, copy = MPI_COMM_NULL;
    ASSERT_TRUE(api::comm_dup(*p.world(), &parent));
    // Rank 1 refuses.
    ASSERT_TRUE(api::comm_set_attr(object(parent), key, p.world()->rank == 1 ? &refused : &copied));
    EXPECT_EQ(api::comm_dup(object(parent), &copy).error_class(), MPI_ERR_OTHER);
    EXPECT_EQ(copy, MPI_COMM_NULL);
    MPI_Request request;
    ASSERT_TRUE(api::comm_idup(object(parent), &copy, &request));
    EXPECT_EQ(api::wait(&request, MPI_STATUS_IGNORE).error_class(), MPI_ERR_OTHER);
    EXPECT_EQ(copy, MPI_COMM_NULL);
    expect_ring_works(object(parent));
    ++live;  // parent's own value
    ASSERT_TRUE(api::comm_free(&parent));
    EXPECT_EQ(p.contexts().in_use(), before);
    ASSERT_TRUE(api::comm_free_keyval(&key));
  });
  EXPECT_EQ(live, 0) << "copies were not deleted again";
}

TEST(CommDup, AttributesAreCopied) {
  live = 0;
  run_processes(2, [](mpi::Process& p) {
    int key, flag, unique;
    ASSERT_TRUE(api::comm_create_keyval(copy_counted, delete_counted, &key, nullptr));
    MPI_Comm a, b, c;
    MPI_Request request;
    ASSERT_TRUE(api::comm_dup(*p.world(), &a));
    ASSERT_TRUE(api::comm_set_attr(object(a), key, &unique));
    ++live;
    ASSERT_TRUE(api::comm_dup(object(a), &b));
    ASSERT_TRUE(api::comm_idup(object(b), &c, &request));
    ASSERT_TRUE(api::wait(&request, MPI_STATUS_IGNORE));
    void* value = nullptr;
    ASSERT_TRUE(api::comm_get_attr(object(c), key, &value, &flag));
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(value, &unique);
    for (MPI_Comm* comm : {&a, &b, &c}) ASSERT_TRUE(api::comm_free(comm));
    ASSERT_TRUE(api::comm_free_keyval(&key));
  });
  EXPECT_EQ(live, 0);
}

TEST(CommIdup, SeveralAtOnceBesideOtherCollectives) {
  run_processes(4, [](mpi::Process& p) {
    constexpr int kMany = 10;
    MPI_Comm copies[kMany], blocking;
    MPI_Request requests[kMany];
    for (int i = 0; i < kMany; ++i) ASSERT_TRUE(api::comm_idup(*p.world(), &copies[i], &requests[i]));
    ASSERT_TRUE(api::comm_dup(*p.world(), &blocking));
    ASSERT_TRUE(api::waitall(kMany, requests, MPI_STATUSES_IGNORE));
    for (MPI_Comm& copy : copies) {
      expect_ring_works(object(copy));
      ASSERT_TRUE(api::comm_free(&copy));
    }
    expect_ring_works(object(blocking));
    ASSERT_TRUE(api::comm_free(&blocking));
  });
}

TEST(CommFree, WaitsForRequestsUnderWay) {
  run_processes(2, [](mpi::Process& p) {
    const std::uint32_t before = p.contexts().in_use();
    MPI_Comm copy;
    ASSERT_TRUE(api::comm_dup(*p.world(), &copy));
    int value = -1;
    if (p.world()->rank == 0) {
      p2p::Request* request;
      ASSERT_TRUE(
          p2p::irecv(object(copy), &value, sizeof value, mpi::byte_type(), 1, 3, mpi::Channel::kUser, &request));
      ASSERT_TRUE(api::comm_free(&copy));
      EXPECT_EQ(p.contexts().in_use(), before + 1) << "the receive still listens";
      send_int(*p.world(), 0, 1);  // now the other may send
      p2p::wait(*request);
      EXPECT_EQ(value, 42);
      p2p::destroy(request);
    } else {
      recv_int(*p.world(), 0);
      send_int(object(copy), 42, 0, 3);
      ASSERT_TRUE(api::comm_free(&copy));
    }
    EXPECT_EQ(p.contexts().in_use(), before);
  });
}

TEST(CommFree, PredefinedOnesStay) {
  run_processes(1, [](mpi::Process& p) {
    mpi::set_process(&p);
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    EXPECT_EQ(api::comm_free(&world).error_class(), MPI_ERR_COMM);
    EXPECT_EQ(api::comm_disconnect(&self).error_class(), MPI_ERR_COMM);
    EXPECT_EQ(world, MPI_COMM_WORLD);
    EXPECT_EQ(mpi::to_handle(p.world()), MPI_COMM_WORLD);
    EXPECT_EQ(mpi::from_handle(MPI_COMM_SELF), p.self());
    mpi::set_process(nullptr);
  });
}

TEST(CommFree, StaleHandlesAreNoticed) {
  run_processes(1, [](mpi::Process& p) {
    MPI_Comm copy, stale_copy;
    MPI_Group group;
    ASSERT_TRUE(api::comm_dup(*p.world(), &copy));
    ASSERT_TRUE(api::comm_group(object(copy), &group));
    mpi::release(*mpi::from_handle(group));
    EXPECT_EQ(mpi::from_handle(group), nullptr) << "although the communicator lives";
    stale_copy = copy;
    p2p::Request* pending;
    ASSERT_TRUE(p2p::irecv(object(copy), nullptr, 0, mpi::byte_type(), 0, 0, mpi::Channel::kUser, &pending));
    ASSERT_TRUE(p2p::send(object(copy), nullptr, 0, mpi::byte_type(), 0, 0, p2p::Mode::kStandard, mpi::Channel::kUser));
    ASSERT_TRUE(api::comm_free(&copy));
    EXPECT_EQ(mpi::from_handle(stale_copy), nullptr) << "although a receive still needs it";
    p2p::wait(*pending);
    p2p::destroy(pending);
    EXPECT_EQ(mpi::from_handle(stale_copy), nullptr);
  });
}

TEST(CommFree, DisconnectIsCollective) {
  run_processes(3, [](mpi::Process& p) {
    MPI_Comm copy;
    ASSERT_TRUE(api::comm_dup(*p.world(), &copy));
    expect_ring_works(object(copy));
    ASSERT_TRUE(api::comm_disconnect(&copy));
    EXPECT_EQ(copy, MPI_COMM_NULL);
  });
}

TEST(CommQuery, NamesGroupsAndWhatOnlyIntercommunicatorsHave) {
  run_processes(2, [](mpi::Process& p) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, number;
    ASSERT_TRUE(api::comm_get_name(*p.world(), name, &length));
    EXPECT_STREQ(name, "MPI_COMM_WORLD");
    EXPECT_EQ(length, 14);
    MPI_Comm copy;
    ASSERT_TRUE(api::comm_dup(*p.self(), &copy));
    ASSERT_TRUE(api::comm_get_name(object(copy), name, &length));
    EXPECT_STREQ(name, "") << "names are not copied";
    ASSERT_TRUE(api::comm_set_name(object(copy), std::string(1000, 'n').c_str()));
    ASSERT_TRUE(api::comm_get_name(object(copy), name, &length));
    EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
    MPI_Group group;
    ASSERT_TRUE(api::comm_group(*p.world(), &group));
    EXPECT_EQ(mpi::from_handle(group)->size(), 2);
    EXPECT_EQ(mpi::from_handle(group)->rank, p.world()->rank);
    mpi::release(*mpi::from_handle(group));
    ASSERT_TRUE(api::comm_test_inter(object(copy), &number));
    EXPECT_EQ(number, 0);
    EXPECT_EQ(api::comm_remote_size(object(copy), &number).error_class(), MPI_ERR_COMM);
    EXPECT_EQ(api::comm_remote_group(object(copy), &group).error_class(), MPI_ERR_COMM);
    ASSERT_TRUE(api::comm_free(&copy));
  });
}

}  // namespace
}  // namespace heddle
