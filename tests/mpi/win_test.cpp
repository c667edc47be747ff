#include "mpi/win.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "mpi/api_attribute.hpp"
#include "mpi/api_errhandler.hpp"
#include "mpi/api_info.hpp"
#include "mpi/api_win.hpp"
#include "mpi/attribute.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::mpi {
namespace {

// A communicator without a network; it is never destroyed, because that needs one.
Comm& lone_comm() {
  static Process process;
  static Comm& comm = *new Comm(process, *take_group({0}, 0));
  return comm;
}

Comm& kept_comm() {
  lone_comm().retain();
  return lone_comm();
}

struct WinTest : ::testing::Test {
  Win win{kept_comm()};
};

// Attributes.

using Values = std::vector<std::intptr_t>;
Values deleted;
std::intptr_t undeletable = 0;
MPI_Win deleted_from = MPI_WIN_NULL;

int note_delete(MPI_Win win, int, void* value, void* extra) {
  EXPECT_EQ(extra, &deleted);
  if (reinterpret_cast<std::intptr_t>(value) == undeletable) return MPI_ERR_OTHER;
  deleted_from = win;
  deleted.push_back(reinterpret_cast<std::intptr_t>(value));
  return MPI_SUCCESS;
}

void* value(std::intptr_t n) { return reinterpret_cast<void*>(n); }

struct WinAttributes : WinTest {
  WinAttributes() {
    deleted.clear();
    undeletable = 0;
  }
  static int new_key() {
    int key = MPI_KEYVAL_INVALID;
    EXPECT_TRUE(api::win_create_keyval(MPI_WIN_NULL_COPY_FN, note_delete, &key, &deleted));
    return key;
  }
  void* get(int key) {
    void* v = nullptr;
    int flag = 0;
    EXPECT_TRUE(api::win_get_attr(win, key, &v, &flag));
    EXPECT_EQ(flag, 1) << key;
    return v;
  }
  bool has(int key) {
    void* v;
    int flag = -1;
    EXPECT_TRUE(api::win_get_attr(win, key, &v, &flag));
    return flag != 0;
  }
};

TEST_F(WinAttributes, ThePredefinedOnesAreTheWindows) {
  int memory[4];
  win.base = memory;
  win.size = sizeof memory;
  win.disp_unit = sizeof *memory;
  win.flavor = MPI_WIN_FLAVOR_SHARED;
  EXPECT_EQ(get(MPI_WIN_BASE), memory) << "the base itself, not where it is kept";
  EXPECT_EQ(*static_cast<MPI_Aint*>(get(MPI_WIN_SIZE)), 16);
  EXPECT_EQ(*static_cast<int*>(get(MPI_WIN_DISP_UNIT)), 4);
  EXPECT_EQ(*static_cast<int*>(get(MPI_WIN_CREATE_FLAVOR)), MPI_WIN_FLAVOR_SHARED);
  EXPECT_EQ(*static_cast<int*>(get(MPI_WIN_MODEL)), MPI_WIN_UNIFIED);
}

TEST_F(WinAttributes, ThePredefinedOnesAreReadOnly) {
  for (int key : {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL}) {
    EXPECT_EQ(api::win_set_attr(win, key, nullptr).error_class(), MPI_ERR_KEYVAL);
    EXPECT_EQ(api::win_delete_attr(win, key).error_class(), MPI_ERR_KEYVAL);
    EXPECT_EQ(api::win_free_keyval(&key).error_class(), MPI_ERR_KEYVAL);
    void* v;
    int flag;
    EXPECT_EQ(api::comm_get_attr(lone_comm(), key, &v, &flag).error_class(), MPI_ERR_KEYVAL);
  }
  void* v;
  int flag;
  EXPECT_EQ(api::win_get_attr(win, MPI_TAG_UB, &v, &flag).error_class(), MPI_ERR_KEYVAL);
}

TEST_F(WinAttributes, SetReplaceDelete) {
  int key = new_key();
  EXPECT_FALSE(has(key));
  ASSERT_TRUE(api::win_set_attr(win, key, value(5)));
  ASSERT_TRUE(api::win_set_attr(win, key, value(6)));
  EXPECT_EQ(deleted, (Values{5}));
  EXPECT_EQ(deleted_from, to_handle(&win));
  EXPECT_EQ(get(key), value(6));
  ASSERT_TRUE(api::win_delete_attr(win, key));
  EXPECT_EQ(deleted, (Values{5, 6}));
  EXPECT_FALSE(has(key));
  ASSERT_TRUE(api::win_free_keyval(&key));
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
}

TEST_F(WinAttributes, DeletingAllGoesBackwardsAndStopsAtAFailure) {
  for (std::intptr_t i = 1; i <= 4; ++i) ASSERT_TRUE(api::win_set_attr(win, new_key(), value(i)));
  undeletable = 2;
  EXPECT_EQ(delete_all_attributes(win).error_class(), MPI_ERR_OTHER);
  EXPECT_EQ(deleted, (Values{4, 3}));
  undeletable = 0;
  ASSERT_TRUE(delete_all_attributes(win));
  EXPECT_EQ(deleted, (Values{4, 3, 2, 1}));
}

TEST_F(WinAttributes, KeysBelongToOneKindOfObject) {
  int win_key = new_key(), comm_key;
  ASSERT_TRUE(api::comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, nullptr));
  EXPECT_EQ(api::win_set_attr(win, comm_key, nullptr).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::win_free_keyval(&comm_key).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::comm_set_attr(lone_comm(), win_key, nullptr).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::comm_free_keyval(&win_key).error_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(api::comm_free_keyval(&comm_key));
  ASSERT_TRUE(api::win_free_keyval(&win_key));
}

// Error handlers.

MPI_Win called_with = MPI_WIN_NULL;
int called_code = MPI_SUCCESS;
void note_call(MPI_Win* win, int* code, ...) {
  called_with = *win;
  called_code = *code;
}

struct WinErrhandlers : WinTest {
  MPI_Errhandler current() {
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    EXPECT_TRUE(api::win_get_errhandler(win, &got));
    const MPI_Errhandler seen = got;
    EXPECT_TRUE(api::errhandler_free(&got));
    return seen;
  }
};

TEST_F(WinErrhandlers, TheFirstOneIsFatal) {
  ASSERT_TRUE(api::comm_set_errhandler(lone_comm(), *from_handle(MPI_ERRORS_RETURN)));
  EXPECT_EQ(current(), MPI_ERRORS_ARE_FATAL) << "it is not the communicator's";
}

TEST_F(WinErrhandlers, AFunctionOfTheUserIsCalled) {
  MPI_Errhandler handler;
  ASSERT_TRUE(api::win_create_errhandler(note_call, &handler));
  const MPI_Errhandler made = handler;
  ASSERT_TRUE(api::win_set_errhandler(win, *from_handle(handler)));
  ASSERT_TRUE(api::errhandler_free(&handler));
  EXPECT_EQ(current(), made) << "the window keeps it";
  EXPECT_EQ(raise(win, error(MPI_ERR_RMA_SYNC, "no epoch"), "MPI_Put"), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(called_with, to_handle(&win));
  EXPECT_EQ(called_code, MPI_ERR_RMA_SYNC);
  ASSERT_TRUE(api::win_call_errhandler(win, MPI_ERR_OTHER));
  EXPECT_EQ(called_code, MPI_ERR_OTHER);
  EXPECT_EQ(api::win_call_errhandler(win, -5).error_class(), MPI_ERR_ARG);
  ASSERT_TRUE(api::win_set_errhandler(win, *from_handle(MPI_ERRORS_RETURN)));
  EXPECT_EQ(from_handle(made), nullptr) << "nobody keeps it now";
  EXPECT_EQ(raise(win, Status::of_class(MPI_ERR_DISP), "MPI_Put"), MPI_ERR_DISP);
  EXPECT_EQ(called_code, MPI_ERR_OTHER);
}

TEST_F(WinErrhandlers, AHandlerForOtherObjectsIsRefused) {
  Errhandler* of_comms = take_errhandler(Kind::kComm, nullptr);
  EXPECT_EQ(api::win_set_errhandler(win, *of_comms).error_class(), MPI_ERR_ERRHANDLER);
  release(*of_comms);
  MPI_Errhandler of_windows;
  ASSERT_TRUE(api::win_create_errhandler(note_call, &of_windows));
  EXPECT_EQ(api::comm_set_errhandler(lone_comm(), *from_handle(of_windows)).error_class(), MPI_ERR_ERRHANDLER);
  ASSERT_TRUE(api::errhandler_free(&of_windows));
}

using WinErrhandlersDeathTest = WinErrhandlers;

TEST_F(WinErrhandlersDeathTest, TheFirstOneSaysWhichCallEndedTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(raise(win, error(MPI_ERR_RMA_SYNC, "no epoch is open"), "MPI_Put"),
              ::testing::ExitedWithCode(MPI_ERR_RMA_SYNC), "MPI_Put: MPI_ERR_RMA_SYNC: no epoch is open");
}

// Names.

TEST_F(WinTest, ItsNameIsCutAtTheLongest) {
  char name[MPI_MAX_OBJECT_NAME] = "?";
  int length = -1;
  ASSERT_TRUE(api::win_get_name(win, name, &length));
  EXPECT_STREQ(name, "");
  EXPECT_EQ(length, 0);
  ASSERT_TRUE(api::win_set_name(win, std::string(1000, 'w').c_str()));
  ASSERT_TRUE(api::win_get_name(win, name, &length));
  EXPECT_EQ(name, std::string(MPI_MAX_OBJECT_NAME - 1, 'w'));
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
}

// Hints.

struct WinHints : WinTest {
  using Hints = std::map<std::string, std::string>;

  Hints in_force() {
    MPI_Info got = MPI_INFO_NULL;
    EXPECT_TRUE(api::win_get_info(win, &got));
    Hints hints;
    for (const auto& [key, hint] : from_handle(got)->copy()) hints[key] = hint;
    EXPECT_TRUE(api::info_free(&got));
    return hints;
  }
  void set(const char* key, const char* hint) {
    Info* info = take_info({{key, hint}});
    EXPECT_TRUE(api::win_set_info(win, info));
    release(*info);
  }
  const Hints defaults = {{"no_locks", "false"},
                          {"accumulate_ordering", "rar,raw,war,waw"},
                          {"accumulate_ops", "same_op_no_op"},
                          {"mpi_accumulate_granularity", "0"},
                          {"same_size", "false"},
                          {"same_disp_unit", "false"},
                          {"mpi_memory_alloc_kinds", "system,mpi"}};
};

TEST_F(WinHints, TheDefaultsAreInForceAtFirst) {
  EXPECT_EQ(in_force(), defaults);
  ASSERT_TRUE(api::win_set_info(win, nullptr));
  EXPECT_EQ(in_force(), defaults);
}

TEST_F(WinHints, WhatIsKnownAndMeansSomethingIsTakenUp) {
  const Hints legal[] = {
      {{"no_locks", "true"}}, {{"accumulate_ops", "same_op"}}, {{"same_size", "true"}}, {{"same_disp_unit", "true"}}};
  Hints expected = defaults;
  for (const Hints& hint : legal) {
    set(hint.begin()->first.c_str(), hint.begin()->second.c_str());
    expected[hint.begin()->first] = hint.begin()->second;
    EXPECT_EQ(in_force(), expected);
  }
  const std::pair<const char*, const char*> wrong[] = {{"no_locks", "yes"},
                                                       {"accumulate_ordering", "rar,"},
                                                       {"accumulate_ordering", "rar,xyz"},
                                                       {"accumulate_ops", ""},
                                                       {"same_size", "1"},
                                                       {"mpi_accumulate_granularity", "-8"},
                                                       {"mpi_memory_alloc_kinds", "system"},
                                                       {"no_such_hint", "true"}};
  for (const auto& [key, hint] : wrong) {
    set(key, hint);
    EXPECT_EQ(in_force(), expected) << key << " " << hint;
  }
}

TEST_F(WinHints, HowMembersAccumulateIsDecidedOnce) {
  set("accumulate_ordering", "none");
  set("mpi_accumulate_granularity", "16");
  EXPECT_EQ(in_force(), defaults) << "it was made without them";
  win.info = take_info({{"accumulate_ordering", "rar,waw"}, {"mpi_accumulate_granularity", "16"}});
  Hints expected = defaults;
  expected["accumulate_ordering"] = "rar,waw";
  expected["mpi_accumulate_granularity"] = "16";
  EXPECT_EQ(in_force(), expected);
  set("accumulate_ordering", "none");
  set("mpi_accumulate_granularity", "0");
  EXPECT_EQ(in_force(), expected);
}

TEST_F(WinHints, HowSharedMemoryLiesIsDecidedOnce) {
  set("alloc_shared_noncontig", "true");
  EXPECT_EQ(in_force(), defaults) << "it has no shared memory";
  win.flavor = MPI_WIN_FLAVOR_SHARED;
  EXPECT_EQ(in_force()["alloc_shared_noncontig"], "false") << "it was made before";
  win.info = take_info({{"alloc_shared_noncontig", "true"}, {"no_locks", "perhaps"}, {"mine", "x"}});
  EXPECT_EQ(in_force()["alloc_shared_noncontig"], "true") << "it was made with it";
  EXPECT_EQ(in_force()["no_locks"], "false");
  EXPECT_EQ(in_force().count("mine"), 0u);
  set("alloc_shared_noncontig", "false");
  EXPECT_EQ(in_force()["alloc_shared_noncontig"], "true");
}

}  // namespace
}  // namespace heddle::mpi
