#include "mpi/attribute.hpp"

#include <gtest/gtest.h>

#include <climits>

#include "mpi/api_attribute.hpp"
#include "mpi/api_datatype.hpp"
#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::mpi {
namespace {

void* value(std::intptr_t n) { return reinterpret_cast<void*>(n); }

std::vector<std::intptr_t> deleted;
int fail_deleting = 0;

int note_delete(MPI_Comm, int, void* v, void* extra) {
  if (fail_deleting != 0 && reinterpret_cast<std::intptr_t>(v) == fail_deleting) return MPI_ERR_OTHER;
  deleted.push_back(reinterpret_cast<std::intptr_t>(v));
  EXPECT_EQ(extra, &deleted);
  return MPI_SUCCESS;
}

int copy_plus_one(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  const auto n = reinterpret_cast<std::intptr_t>(in);
  if (n < 0) return MPI_ERR_INTERN;
  *static_cast<void**>(out) = value(n + 1);
  *flag = n != 0;
  return MPI_SUCCESS;
}

class AttributeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    deleted.clear();
    fail_deleting = 0;
  }
  // Communicators without a network, never destroyed: that needs one.
  static Comm& new_comm() {
    static Process process;
    static auto& all = *new std::vector<Comm*>;  // reachable until the end
    all.push_back(new Comm(process, *take_group({0}, 0)));
    return *all.back();
  }
  static int new_key(MPI_Comm_copy_attr_function* copy) {
    int key;
    EXPECT_TRUE(api::comm_create_keyval(copy, note_delete, &key, &deleted));
    return key;
  }
  // 0 for none.
  static std::intptr_t get(Comm& comm, int key) {
    void* v = nullptr;
    int flag = -1;
    EXPECT_TRUE(api::comm_get_attr(comm, key, &v, &flag));
    return flag != 0 ? reinterpret_cast<std::intptr_t>(v) : 0;
  }
  using Deleted = std::vector<std::intptr_t>;
};

TEST_F(AttributeTest, SetGetReplaceDelete) {
  Comm& comm = new_comm();
  int key = new_key(MPI_COMM_NULL_COPY_FN);
  EXPECT_EQ(get(comm, key), 0);
  ASSERT_TRUE(api::comm_set_attr(comm, key, value(5)));
  EXPECT_EQ(get(comm, key), 5);
  ASSERT_TRUE(api::comm_set_attr(comm, key, value(6)));
  EXPECT_EQ(deleted, (Deleted{5})) << "a value that is replaced is deleted";
  ASSERT_TRUE(api::comm_delete_attr(comm, key));
  EXPECT_EQ(deleted, (Deleted{5, 6}));
  EXPECT_EQ(get(comm, key), 0);
  EXPECT_EQ(api::comm_delete_attr(comm, key).error_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(api::comm_free_keyval(&key));
}

TEST_F(AttributeTest, AFreedKeyLivesOnInItsValues) {
  Comm& comm = new_comm();
  int key = new_key(MPI_COMM_DUP_FN);
  const int number = key;
  ASSERT_TRUE(api::comm_set_attr(comm, key, value(7)));
  ASSERT_TRUE(api::comm_free_keyval(&key));
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
  void* v;
  int flag;
  ASSERT_TRUE(api::comm_get_attr(comm, number, &v, &flag));
  EXPECT_TRUE(flag);
  EXPECT_EQ(api::comm_get_attr(new_comm(), number, &v, &flag).error_class(), MPI_ERR_KEYVAL);
  EXPECT_NE(new_key(MPI_COMM_NULL_COPY_FN), number) << "a number is not given twice";
  Comm& copy = new_comm();
  ASSERT_TRUE(copy_attributes(comm, &copy.attributes));
  EXPECT_TRUE(deleted.empty());
  ASSERT_TRUE(delete_all_attributes(comm));
  ASSERT_TRUE(delete_all_attributes(copy));
  EXPECT_EQ(deleted, (Deleted{7, 7}));
}

TEST_F(AttributeTest, CopyFunctionsDecide) {
  Comm& from = new_comm();
  Comm& to = new_comm();
  const int none = new_key(MPI_COMM_NULL_COPY_FN), same = new_key(MPI_COMM_DUP_FN), own = new_key(copy_plus_one);
  const int declined = new_key(copy_plus_one);
  for (int key : {none, same, own}) ASSERT_TRUE(api::comm_set_attr(from, key, value(10)));
  ASSERT_TRUE(api::comm_set_attr(from, declined, value(0)));
  ASSERT_TRUE(copy_attributes(from, &to.attributes));
  EXPECT_EQ(get(to, none), 0);
  EXPECT_EQ(get(to, same), 10);
  EXPECT_EQ(get(to, own), 11);
  EXPECT_EQ(to.attributes->entries.size(), 2u) << "a copy function may decline";
}

TEST_F(AttributeTest, AFailedCopyLeavesNothing) {
  Comm& from = new_comm();
  const int good = new_key(copy_plus_one), bad = new_key(copy_plus_one), never = new_key(copy_plus_one);
  ASSERT_TRUE(api::comm_set_attr(from, good, value(1)));
  ASSERT_TRUE(api::comm_set_attr(from, bad, value(-1)));
  ASSERT_TRUE(api::comm_set_attr(from, never, value(3)));
  Attributes* copies;
  EXPECT_EQ(copy_attributes(from, &copies).error_class(), MPI_ERR_INTERN) << "what the function returned";
  EXPECT_EQ(copies, nullptr);
  EXPECT_EQ(deleted, (Deleted{2}));
}

TEST_F(AttributeTest, DeletingAllGoesBackwardsAndStopsAtAFailure) {
  Comm& comm = new_comm();
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(api::comm_set_attr(comm, new_key(MPI_COMM_NULL_COPY_FN), value(i)));
  fail_deleting = 2;
  EXPECT_EQ(delete_all_attributes(comm).error_class(), MPI_ERR_OTHER);
  EXPECT_EQ(deleted, (Deleted{4, 3}));
  fail_deleting = 0;
  ASSERT_TRUE(delete_all_attributes(comm));
  EXPECT_EQ(deleted, (Deleted{4, 3, 2, 1}));
}

TEST_F(AttributeTest, AValueThatCannotBeDeletedStays) {
  Comm& comm = new_comm();
  const int key = new_key(MPI_COMM_NULL_COPY_FN);
  ASSERT_TRUE(api::comm_set_attr(comm, key, value(9)));
  fail_deleting = 9;
  EXPECT_EQ(api::comm_delete_attr(comm, key).error_class(), MPI_ERR_OTHER);
  EXPECT_EQ(api::comm_set_attr(comm, key, value(1)).error_class(), MPI_ERR_OTHER);
  EXPECT_EQ(get(comm, key), 9);
}

int delete_by_calling_mpi(MPI_Comm comm, int, void*, void* other) {
  return api::comm_delete_attr(*reinterpret_cast<Comm*>(comm), *static_cast<int*>(other)).error_class();
}

TEST_F(AttributeTest, ACallbackMayChangeTheSameObject) {
  Comm& comm = new_comm();
  int first = new_key(MPI_COMM_NULL_COPY_FN), second;
  ASSERT_TRUE(api::comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_by_calling_mpi, &second, &first));
  ASSERT_TRUE(api::comm_set_attr(comm, first, value(1)));
  ASSERT_TRUE(api::comm_set_attr(comm, second, value(2)));
  ASSERT_TRUE(delete_all_attributes(comm));
  EXPECT_EQ(deleted, (Deleted{1}));
  EXPECT_TRUE(comm.attributes->entries.empty());
}

TEST_F(AttributeTest, PredefinedOnesAreReadOnly) {
  Comm& comm = new_comm();
  auto number = [&](int key) {
    void* v = nullptr;
    int flag = 0;
    EXPECT_TRUE(api::comm_get_attr(comm, key, &v, &flag));
    EXPECT_EQ(flag, 1);
    return *static_cast<int*>(v);
  };
  EXPECT_EQ(number(MPI_TAG_UB), INT_MAX);
  EXPECT_EQ(number(MPI_HOST), MPI_PROC_NULL);
  EXPECT_EQ(number(MPI_IO), MPI_ANY_SOURCE);
  EXPECT_EQ(number(MPI_WTIME_IS_GLOBAL), 1);
  const int before = number(MPI_LASTUSEDCODE);
  int added;
  ASSERT_TRUE(add_error_class(&added));
  EXPECT_GT(number(MPI_LASTUSEDCODE), before);
  ASSERT_TRUE(remove_error_class(added));
  int key = MPI_TAG_UB;
  EXPECT_EQ(api::comm_set_attr(comm, key, nullptr).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::comm_delete_attr(comm, key).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::comm_free_keyval(&key).error_class(), MPI_ERR_KEYVAL);
}

TEST_F(AttributeTest, KeysBelongToOneKindOfObject) {
  int type_key, flag;
  void* v;
  ASSERT_TRUE(api::type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, nullptr));
  Datatype& type = *from_handle(MPI_INT);
  ASSERT_TRUE(api::type_set_attr(type, type_key, value(3)));
  ASSERT_TRUE(api::type_get_attr(type, type_key, &v, &flag));
  EXPECT_EQ(v, value(3));
  EXPECT_EQ(api::comm_set_attr(new_comm(), type_key, v).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::type_get_attr(type, new_key(MPI_COMM_DUP_FN), &v, &flag).error_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(api::type_get_attr(type, MPI_TAG_UB, &v, &flag).error_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(api::type_delete_attr(type, type_key));
  ASSERT_TRUE(api::type_free_keyval(&type_key));
}

int note_type_delete(MPI_Datatype, int, void* v, void*) {
  if (fail_deleting != 0) return MPI_ERR_OTHER;
  deleted.push_back(reinterpret_cast<std::intptr_t>(v));
  return MPI_SUCCESS;
}
int refuse_type_copy(MPI_Datatype, int, void*, void*, void*, int*) { return MPI_ERR_INTERN; }

TEST_F(AttributeTest, DatatypesCopyAndDeleteTheirs) {
  int key, refusing, flag;
  void* v;
  ASSERT_TRUE(api::type_create_keyval(MPI_TYPE_DUP_FN, note_type_delete, &key, nullptr));
  ASSERT_TRUE(api::type_create_keyval(refuse_type_copy, MPI_TYPE_NULL_DELETE_FN, &refusing, nullptr));
  MPI_Datatype a, b = MPI_DATATYPE_NULL;
  ASSERT_TRUE(api::type_dup(*from_handle(MPI_INT), &a));
  ASSERT_TRUE(api::type_set_attr(*from_handle(a), key, value(8)));
  ASSERT_TRUE(api::type_dup(*from_handle(a), &b));
  ASSERT_TRUE(api::type_get_attr(*from_handle(b), key, &v, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(v, value(8));
  ASSERT_TRUE(api::type_free(&b));
  EXPECT_EQ(deleted, (Deleted{8}));
  ASSERT_TRUE(api::type_set_attr(*from_handle(a), refusing, nullptr));
  EXPECT_EQ(api::type_dup(*from_handle(a), &b).error_class(), MPI_ERR_INTERN);
  EXPECT_EQ(b, MPI_DATATYPE_NULL);
  EXPECT_EQ(deleted, (Deleted{8, 8}));
  fail_deleting = 1;
  EXPECT_EQ(api::type_free(&a).error_class(), MPI_ERR_OTHER);
  EXPECT_NE(from_handle(a), nullptr) << "a type whose attributes cannot be deleted is not freed";
  fail_deleting = 0;
  ASSERT_TRUE(api::type_free(&a));
}

}  // namespace
}  // namespace heddle::mpi
