// What the procedures that talk to nobody give back, through the C interface.
#include <cstring>
#include <vector>

#include "bindings/expect.hpp"

namespace {

std::string get(MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL + 1] = "?";
  int length = sizeof value, flag = 0;
  EXPECT_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  return flag ? value : "(none)";
}

TEST(Info, KeepsWhatWasSetInOrder) {
  MPI_Info info, copy;
  EXPECT_OK(MPI_Info_create(&info));
  EXPECT_OK(MPI_Info_set(info, "first", "1"));
  EXPECT_OK(MPI_Info_set(info, "second", "two words"));
  EXPECT_OK(MPI_Info_set(info, "first", "one"));
  int n = 0, flag = 0, length = 0;
  char key[MPI_MAX_INFO_KEY], value[8];
  EXPECT_OK(MPI_Info_get_nkeys(info, &n));
  EXPECT_EQ(n, 2);
  EXPECT_OK(MPI_Info_get_nthkey(info, 1, key));
  EXPECT_STREQ(key, "second");
  EXPECT_EQ(get(info, "first"), "one");
  EXPECT_EQ(get(info, "third"), "(none)");

  EXPECT_OK(MPI_Info_get_valuelen(info, "second", &length, &flag));
  EXPECT_TRUE(flag);
  EXPECT_EQ(length, 9);
  EXPECT_OK(MPI_Info_get(info, "second", 3, value, &flag));
  EXPECT_STREQ(value, "two");
  length = 0;  // asks how much room the value needs, with its zero
  EXPECT_OK(MPI_Info_get_string(info, "second", &length, nullptr, &flag));
  EXPECT_EQ(length, 10);

  EXPECT_OK(MPI_Info_dup(info, &copy));
  EXPECT_OK(MPI_Info_delete(info, "second"));
  EXPECT_EQ(get(info, "second"), "(none)");
  EXPECT_EQ(get(copy, "second"), "two words");
  EXPECT_ERROR(MPI_ERR_INFO_NOKEY, "second", MPI_Info_delete(info, "second"));
  EXPECT_ERROR(MPI_ERR_ARG, "key", MPI_Info_set(info, nullptr, "value"));
  EXPECT_OK(MPI_Info_free(&info));
  EXPECT_OK(MPI_Info_free(&copy));
  EXPECT_EQ(copy, MPI_INFO_NULL);

  char program[] = "program";
  char* arguments[] = {program, nullptr};
  EXPECT_OK(MPI_Info_create_env(1, arguments, &info));
  EXPECT_NE(info, MPI_INFO_NULL);
  EXPECT_OK(MPI_Info_free(&info));
}

TEST(CommunicatorInfo, IsTheUsersCopy) {
  MPI_Comm dup;
  MPI_Info hints, used;
  EXPECT_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  EXPECT_OK(MPI_Info_create(&hints));
  EXPECT_OK(MPI_Info_set(hints, "mpi_assert_no_any_tag", "true"));
  EXPECT_OK(MPI_Comm_set_info(dup, hints));
  EXPECT_OK(MPI_Info_free(&hints));
  EXPECT_OK(MPI_Comm_get_info(dup, &used));
  EXPECT_EQ(get(used, "mpi_assert_no_any_tag"), "true");
  EXPECT_OK(MPI_Info_free(&used));
  EXPECT_OK(MPI_Comm_disconnect(&dup));
  EXPECT_EQ(dup, MPI_COMM_NULL);
}

TEST(Communicator, AloneInTheWorld) {
  MPI_Comm parent, dup;
  MPI_Request request;
  MPI_Group group;
  int size = 0;
  EXPECT_OK(MPI_Comm_get_parent(&parent));
  EXPECT_EQ(parent, MPI_COMM_NULL);
  EXPECT_OK(MPI_Topo_test(MPI_COMM_WORLD, &size));
  EXPECT_EQ(size, MPI_UNDEFINED);
  EXPECT_ERROR(MPI_ERR_COMM, "", MPI_Comm_remote_size(MPI_COMM_SELF, &size));
  EXPECT_ERROR(MPI_ERR_COMM, "", MPI_Comm_remote_group(MPI_COMM_SELF, &group));
  EXPECT_OK(MPI_Comm_idup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &dup, &request));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  int result = -1;
  EXPECT_OK(MPI_Comm_compare(MPI_COMM_SELF, dup, &result));
  EXPECT_EQ(result, MPI_CONGRUENT);
  EXPECT_OK(MPI_Comm_free(&dup));
}

TEST(StatusFields, AreWhatWasSet) {
  MPI_Status status{};
  int value = 0, flag = -1;
  EXPECT_OK(MPI_Status_set_source(&status, 11));
  EXPECT_OK(MPI_Status_set_tag(&status, 12));
  EXPECT_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
  EXPECT_EQ(status.MPI_SOURCE, 11);
  EXPECT_EQ(status.MPI_TAG, 12);
  EXPECT_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
  status.MPI_SOURCE = 21;
  EXPECT_OK(MPI_Status_get_source(&status, &value));
  EXPECT_EQ(value, 21);
  EXPECT_OK(MPI_Status_get_tag(&status, &value));
  EXPECT_EQ(value, 12);
  EXPECT_OK(MPI_Status_get_error(&status, &value));
  EXPECT_EQ(value, MPI_ERR_TRUNCATE);
  EXPECT_OK(MPI_Status_set_cancelled(&status, 1));
  EXPECT_OK(MPI_Test_cancelled(&status, &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 5));
  EXPECT_OK(MPI_Get_count(&status, MPI_DOUBLE, &value));
  EXPECT_EQ(value, 5);
  EXPECT_OK(MPI_Get_count(&status, MPI_BYTE, &value));
  EXPECT_EQ(value, 40);
  MPI_Count wide = 0;
  EXPECT_OK(MPI_Status_set_elements_x(&status, MPI_INT, MPI_Count{1} << 33));
  EXPECT_OK(MPI_Get_elements_x(&status, MPI_INT, &wide));
  EXPECT_EQ(wide, MPI_Count{1} << 33);
  EXPECT_ERROR(MPI_ERR_ARG, "status", MPI_Status_set_tag(nullptr, 1));
}

TEST(Requests, AreLookedAtTogetherWithoutBeingCompleted) {
  int in[2] = {}, flag = -1, index = -1, outcount = -1, indices[3] = {};
  MPI_Request requests[3];
  MPI_Status status{}, statuses[3] = {};
  requests[1] = MPI_REQUEST_NULL;
  EXPECT_OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 20, MPI_COMM_SELF, &requests[0]));
  EXPECT_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 21, MPI_COMM_SELF, &requests[2]));
  EXPECT_OK(MPI_Request_get_status_any(3, requests, &index, &flag, &status));
  EXPECT_EQ(flag, 0);
  EXPECT_OK(MPI_Request_get_status_some(3, requests, &outcount, indices, statuses));
  EXPECT_EQ(outcount, 0);
  int value = 5;
  EXPECT_OK(MPI_Send(&value, 1, MPI_INT, 0, 21, MPI_COMM_SELF));
  do {
    EXPECT_OK(MPI_Request_get_status_any(3, requests, &index, &flag, &status));
  } while (!flag);
  EXPECT_EQ(index, 2);
  EXPECT_EQ(status.MPI_TAG, 21);
  EXPECT_OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
  EXPECT_EQ(flag, 0);
  EXPECT_OK(MPI_Request_get_status_some(3, requests, &outcount, indices, statuses));
  EXPECT_EQ(outcount, 1);
  EXPECT_EQ(indices[0], 2);
  EXPECT_OK(MPI_Send(&value, 1, MPI_INT, 0, 20, MPI_COMM_SELF));
  do {
    EXPECT_OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
  } while (!flag);
  EXPECT_EQ(statuses[0].MPI_TAG, 20);
  EXPECT_EQ(statuses[1].MPI_SOURCE, MPI_ANY_SOURCE);  // the empty status of a null request
  EXPECT_EQ(statuses[2].MPI_TAG, 21);
  EXPECT_NE(requests[0], MPI_REQUEST_NULL);
  EXPECT_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  EXPECT_EQ(in[0] + in[1], 10);
  EXPECT_OK(MPI_Request_get_status_some(3, requests, &outcount, indices, statuses));
  EXPECT_EQ(outcount, MPI_UNDEFINED);
  EXPECT_OK(MPI_Request_get_status_any(3, requests, &index, &flag, &status));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(index, MPI_UNDEFINED);
}

// Predefined handles are their constants as integers; any object's integer leads back to it.
template <class Handle>
void expect_round_trip(Handle handle, int (*toint)(Handle), Handle (*fromint)(int)) {
  EXPECT_EQ(fromint(toint(handle)), handle);
  auto value = reinterpret_cast<std::intptr_t>(handle);
  if (value < 4096) {
    EXPECT_EQ(toint(handle), value);
  }
}

TEST(HandlesAsIntegers, LeadBack) {
  expect_round_trip(MPI_COMM_WORLD, MPI_Comm_toint, MPI_Comm_fromint);
  expect_round_trip(MPI_COMM_NULL, MPI_Comm_toint, MPI_Comm_fromint);
  expect_round_trip(MPI_FLOAT, MPI_Type_toint, MPI_Type_fromint);
  expect_round_trip(MPI_DATATYPE_NULL, MPI_Type_toint, MPI_Type_fromint);
  expect_round_trip(MPI_MAX, MPI_Op_toint, MPI_Op_fromint);
  expect_round_trip(MPI_GROUP_EMPTY, MPI_Group_toint, MPI_Group_fromint);
  expect_round_trip(MPI_INFO_NULL, MPI_Info_toint, MPI_Info_fromint);
  expect_round_trip(MPI_ERRORS_RETURN, MPI_Errhandler_toint, MPI_Errhandler_fromint);
  expect_round_trip(MPI_REQUEST_NULL, MPI_Request_toint, MPI_Request_fromint);
  expect_round_trip(MPI_MESSAGE_NO_PROC, MPI_Message_toint, MPI_Message_fromint);
  expect_round_trip(MPI_WIN_NULL, MPI_Win_toint, MPI_Win_fromint);
  expect_round_trip(MPI_FILE_NULL, MPI_File_toint, MPI_File_fromint);
  expect_round_trip(MPI_SESSION_NULL, MPI_Session_toint, MPI_Session_fromint);
  MPI_Comm dup;
  MPI_Info info;
  EXPECT_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  EXPECT_OK(MPI_Info_create(&info));
  expect_round_trip(dup, MPI_Comm_toint, MPI_Comm_fromint);
  expect_round_trip(info, MPI_Info_toint, MPI_Info_fromint);
  int index = MPI_Comm_toint(dup);
  EXPECT_NE(index, MPI_Info_toint(info));
  EXPECT_OK(MPI_Comm_free(&dup));
  EXPECT_EQ(MPI_Comm_fromint(index), MPI_COMM_NULL);
  EXPECT_OK(MPI_Info_free(&info));
}

int copies = 0, deletes = 0;
int copy_value(MPI_Comm, int, void* extra, void* in, void* out, int* flag) {
  ++copies;
  *static_cast<void**>(out) = static_cast<char*>(in) + *static_cast<int*>(extra);
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_value(MPI_Comm, int, void*, void*) { return ++deletes, MPI_SUCCESS; }
int refuse_delete(MPI_Datatype, int, void*, void*) { return MPI_ERR_OTHER; }

TEST(Attributes, OldNamesAndNewAreTheSame) {
  int key = MPI_KEYVAL_INVALID, step = 3, flag = 0;
  char text[] = "abcdef";
  char* value = nullptr;
  MPI_Comm first, second;
  EXPECT_OK(MPI_Comm_dup(MPI_COMM_SELF, &first));
  EXPECT_OK(MPI_Keyval_create(copy_value, delete_value, &key, &step));
  EXPECT_OK(MPI_Attr_put(first, key, text));
  EXPECT_OK(MPI_Comm_dup(first, &second));
  EXPECT_EQ(copies, 1);
  EXPECT_OK(MPI_Attr_get(second, key, &value, &flag));
  EXPECT_TRUE(flag);
  EXPECT_EQ(value, text + 3);
  EXPECT_OK(MPI_Comm_get_attr(first, key, &value, &flag));
  EXPECT_EQ(value, text);
  EXPECT_OK(MPI_Attr_delete(first, key));
  EXPECT_EQ(deletes, 1);
  EXPECT_OK(MPI_Attr_get(first, key, &value, &flag));
  EXPECT_FALSE(flag);
  EXPECT_OK(MPI_Keyval_free(&key));
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
  EXPECT_OK(MPI_Comm_free(&first));
  EXPECT_OK(MPI_Comm_free(&second));
  EXPECT_EQ(deletes, 2);
}

TEST(Attributes, OfADatatype) {
  int key = MPI_KEYVAL_INVALID, flag = 0, value = 5;
  int* found = nullptr;
  MPI_Datatype type;
  EXPECT_OK(MPI_Type_dup(MPI_INT, &type));
  EXPECT_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, refuse_delete, &key, nullptr));
  EXPECT_OK(MPI_Type_set_attr(type, key, &value));
  EXPECT_OK(MPI_Type_get_attr(type, key, &found, &flag));
  EXPECT_EQ(found, &value);
  EXPECT_ERROR(MPI_ERR_OTHER, "", MPI_Type_delete_attr(type, key));
  EXPECT_ERROR(MPI_ERR_OTHER, "", MPI_Type_free(&type));  // the callback may refuse, and the type lives on
  int plain = MPI_KEYVAL_INVALID;
  EXPECT_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &plain, nullptr));
  EXPECT_OK(MPI_Type_set_attr(type, plain, &value));
  MPI_Datatype copy;
  EXPECT_OK(MPI_Type_dup(type, &copy));
  EXPECT_OK(MPI_Type_get_attr(copy, key, &found, &flag));
  EXPECT_FALSE(flag);
  EXPECT_OK(MPI_Type_get_attr(copy, plain, &found, &flag));
  EXPECT_TRUE(flag);
  EXPECT_OK(MPI_Type_delete_attr(copy, plain));
  EXPECT_OK(MPI_Type_get_attr(copy, plain, &found, &flag));
  EXPECT_FALSE(flag);
  EXPECT_OK(MPI_Type_free(&copy));
  EXPECT_OK(MPI_Type_free_keyval(&key));
  EXPECT_OK(MPI_Type_free_keyval(&plain));
}

TEST(Datatype, NamesBoundsAndSizes) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Datatype type;
  EXPECT_OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
  EXPECT_STREQ(name, "MPI_DOUBLE");
  EXPECT_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
  EXPECT_STREQ(name, "MPI_DATATYPE_NULL");
  EXPECT_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
  EXPECT_STREQ(name, "MPI_COMM_NULL");
  EXPECT_EQ(length, 13);
  EXPECT_ERROR(MPI_ERR_ARG, "null", MPI_Comm_get_name(MPI_COMM_NULL, nullptr, &length));
  EXPECT_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
  EXPECT_OK(MPI_Type_set_name(type, "every third"));
  EXPECT_OK(MPI_Type_get_name(type, name, &length));
  EXPECT_STREQ(name, "every third");
  EXPECT_EQ(length, 11);
  MPI_Aint lb = -1, extent = -1;
  EXPECT_OK(MPI_Type_get_extent(type, &lb, &extent));
  EXPECT_EQ(lb, 0);
  EXPECT_EQ(extent, 16);
  EXPECT_OK(MPI_Type_free(&type));
  EXPECT_OK(MPI_Type_create_resized(MPI_INT, -4, 24, &type));
  EXPECT_OK(MPI_Type_get_true_extent(type, &lb, &extent));
  EXPECT_EQ(lb, 0);
  EXPECT_EQ(extent, 4);
  MPI_Count lb_x = 0, extent_x = 0, size_x = 0;
  EXPECT_OK(MPI_Type_get_extent_x(type, &lb_x, &extent_x));
  EXPECT_EQ(lb_x, -4);
  EXPECT_EQ(extent_x, 24);
  EXPECT_OK(MPI_Type_get_true_extent_x(type, &lb_x, &extent_x));
  EXPECT_EQ(extent_x, 4);
  EXPECT_OK(MPI_Type_size_x(type, &size_x));
  EXPECT_EQ(size_x, 4);
  EXPECT_OK(MPI_Type_free(&type));
}

TEST(Datatype, TellsHowItWasMade) {
  MPI_Datatype type, inner[1];
  int n_integers = 0, n_addresses = 0, n_types = 0, combiner = 0, integers[3] = {};
  EXPECT_OK(MPI_Type_vector(4, 2, -3, MPI_SHORT, &type));
  EXPECT_OK(MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner));
  EXPECT_EQ(combiner, MPI_COMBINER_VECTOR);
  EXPECT_EQ(n_integers, 3);
  EXPECT_EQ(n_addresses, 0);
  EXPECT_EQ(n_types, 1);
  EXPECT_OK(MPI_Type_get_contents(type, 3, 0, 1, integers, nullptr, inner));
  EXPECT_EQ(std::vector<int>(integers, integers + 3), (std::vector<int>{4, 2, -3}));
  EXPECT_EQ(inner[0], MPI_SHORT);
  EXPECT_OK(MPI_Type_free(&type));

  MPI_Count integers_c = 0, addresses_c = 0, counts_c = 0, types_c = 0, counts[3] = {};
  EXPECT_OK(MPI_Type_vector_c(4, 2, MPI_Count{1} << 40, MPI_SHORT, &type));
  EXPECT_OK(MPI_Type_get_envelope_c(type, &integers_c, &addresses_c, &counts_c, &types_c, &combiner));
  EXPECT_EQ(counts_c, 3);
  EXPECT_EQ(integers_c, 0);
  EXPECT_OK(MPI_Type_get_contents_c(type, 0, 0, 3, 1, nullptr, nullptr, counts, inner));
  EXPECT_EQ(counts[2], MPI_Count{1} << 40);
  EXPECT_OK(MPI_Type_free(&type));
}

std::vector<int> elements_of(MPI_Datatype type, int n) {
  int data[32], out[32] = {}, position = 0;
  for (int i = 0; i < 32; ++i) data[i] = i;
  EXPECT_OK(MPI_Type_commit(&type));
  EXPECT_OK(MPI_Pack(data, 1, type, out, sizeof out, &position, MPI_COMM_SELF));
  EXPECT_EQ(position, n * static_cast<int>(sizeof(int)));
  EXPECT_OK(MPI_Type_free(&type));
  return {out, out + n};
}

TEST(Datatype, BlocksOfOneLengthAndSubarrays) {
  const std::vector<int> blocks = {1, 2, 6, 7}, square = {5, 6, 9, 10};
  MPI_Datatype type;
  const int starts[] = {1, 6}, sizes[] = {4, 4}, subsizes[] = {2, 2}, corner[] = {1, 1};
  const MPI_Aint bytes[] = {4, 24};
  const MPI_Count starts_c[] = {1, 6}, bytes_c[] = {4, 24}, sizes_c[] = {4, 4}, subsizes_c[] = {2, 2},
                  corner_c[] = {1, 1};
  EXPECT_OK(MPI_Type_create_indexed_block(2, 2, starts, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), blocks);
  EXPECT_OK(MPI_Type_create_indexed_block_c(2, 2, starts_c, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), blocks);
  EXPECT_OK(MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), blocks);
  EXPECT_OK(MPI_Type_create_hindexed_block_c(2, 2, bytes_c, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), blocks);
  EXPECT_OK(MPI_Type_create_subarray(2, sizes, subsizes, corner, MPI_ORDER_C, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), square);
  EXPECT_OK(MPI_Type_create_subarray_c(2, sizes_c, subsizes_c, corner_c, MPI_ORDER_FORTRAN, MPI_INT, &type));
  EXPECT_EQ(elements_of(type, 4), square);
}

TEST(External32, PacksInBothForms) {
  const int in[3] = {1, 2, 3};
  int out[3] = {};
  char bytes[12] = {};
  MPI_Aint size = 0, position = 0;
  EXPECT_OK(MPI_Pack_external_size("external32", 3, MPI_INT, &size));
  EXPECT_EQ(size, 12);
  EXPECT_OK(MPI_Pack_external("external32", in, 3, MPI_INT, bytes, size, &position));
  EXPECT_EQ(position, 12);
  EXPECT_EQ(bytes[11], 3);
  position = 4;
  EXPECT_OK(MPI_Unpack_external("external32", bytes, size, &position, out, 2, MPI_INT));
  EXPECT_EQ(out[1], 3);
  MPI_Count size_c = 0, position_c = 0;
  std::memset(bytes, 0, sizeof bytes);
  EXPECT_OK(MPI_Pack_external_size_c("external32", 3, MPI_INT, &size_c));
  EXPECT_EQ(size_c, 12);
  EXPECT_OK(MPI_Pack_external_c("external32", in, 3, MPI_INT, bytes, size_c, &position_c));
  position_c = 0;
  EXPECT_OK(MPI_Unpack_external_c("external32", bytes, size_c, &position_c, out, 3, MPI_INT));
  EXPECT_EQ(position_c, 12);
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{1, 2, 3}));
}

TEST(Addresses, AddAndSubtract) {
  int array[4] = {};
  MPI_Aint first = 0, third = 0;
  EXPECT_OK(MPI_Get_address(&array[0], &first));
  EXPECT_OK(MPI_Get_address(&array[2], &third));
  EXPECT_EQ(MPI_Aint_diff(third, first), 8);
  EXPECT_EQ(MPI_Aint_add(first, 8), third);
}

TEST(Memory, IsTheUsersAndAligned) {
  char* memory = nullptr;
  EXPECT_OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 7, 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
  EXPECT_OK(MPI_Free_mem(memory));
  EXPECT_ERROR(MPI_ERR_ARG, "", MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory));
}

TEST(Abi, SaysWhatItIs) {
  int major = -1, minor = -1;
  EXPECT_OK(MPI_Abi_get_version(&major, &minor));
  EXPECT_EQ(major, MPI_ABI_VERSION);
  EXPECT_EQ(minor, MPI_ABI_SUBVERSION);
  MPI_Info info;
  EXPECT_OK(MPI_Abi_get_info(&info));
  EXPECT_EQ(get(info, "mpi_aint_size"), "8");
  EXPECT_EQ(get(info, "mpi_count_size"), "8");
  EXPECT_EQ(get(info, "mpi_offset_size"), "8");
  EXPECT_OK(MPI_Info_free(&info));
  EXPECT_OK(MPI_Abi_get_fortran_info(&info));
  EXPECT_EQ(get(info, "mpi_integer_size"), "4");
  EXPECT_OK(MPI_Abi_set_fortran_info(info));  // what it has, it may be told again
  EXPECT_OK(MPI_Info_set(info, "mpi_integer_size", "3"));
  EXPECT_ERROR(MPI_ERR_ABI, "mpi_integer_size", MPI_Abi_set_fortran_info(info));
  EXPECT_OK(MPI_Info_free(&info));
  int yes = -1, no = -1, is_set = 0;
  EXPECT_OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
  EXPECT_TRUE(is_set);
  EXPECT_EQ(no, 0);
  EXPECT_NE(yes, no);
  EXPECT_OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
  EXPECT_OK(MPI_Get_hw_resource_info(&info));
  EXPECT_EQ(get(info, "mpi_shared_memory"), "true");
  EXPECT_OK(MPI_Info_free(&info));
}

TEST(ErrorCodes, AreAddedAndRemoved) {
  int error_class = 0, code = 0, found = 0;
  EXPECT_OK(MPI_Add_error_class(&error_class));
  EXPECT_GT(error_class, MPI_ERR_LASTCODE);
  EXPECT_OK(MPI_Add_error_code(error_class, &code));
  EXPECT_OK(MPI_Add_error_string(code, "the loom is jammed"));
  EXPECT_EQ(sentence(code), "the loom is jammed");
  EXPECT_OK(MPI_Error_class(code, &found));
  EXPECT_EQ(found, error_class);
  EXPECT_OK(MPI_Remove_error_string(code));
  EXPECT_EQ(sentence(code), "");
  EXPECT_OK(MPI_Remove_error_code(code));
  EXPECT_OK(MPI_Remove_error_class(error_class));
  EXPECT_NE(MPI_Remove_error_class(error_class), MPI_SUCCESS);
}

TEST(Profiling, ControlIsAccepted) {
  EXPECT_OK(MPI_Pcontrol(0));
  EXPECT_OK(MPI_Pcontrol(2, "anything", 3));
}

TEST(Buffers, FlushWaitsForWhatWasSent) {
  static char buffer[4096 + MPI_BSEND_OVERHEAD];
  int out = 9, in = 0;
  void* back = nullptr;
  int size = 0;
  EXPECT_OK(MPI_Buffer_attach(buffer, sizeof buffer));
  MPI_Request receive;
  EXPECT_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &receive));
  EXPECT_OK(MPI_Bsend(&out, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
  EXPECT_OK(MPI_Buffer_flush());
  EXPECT_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  EXPECT_EQ(in, 9);

  // A message without a receive stays in the buffer, and so the flush stays pending.
  static char large[2000000];
  static char automatic_in[sizeof large];
  int flag = -1;
  MPI_Request flush;
  EXPECT_OK(MPI_Buffer_detach(&back, &size));
  EXPECT_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  EXPECT_OK(MPI_Buffer_iflush(&flush));
  EXPECT_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
  EXPECT_EQ(flush, MPI_REQUEST_NULL);
  large[sizeof large - 1] = 5;
  EXPECT_OK(MPI_Bsend(large, sizeof large, MPI_CHAR, 0, 5, MPI_COMM_SELF));
  large[sizeof large - 1] = 6;  // ours again
  EXPECT_OK(MPI_Buffer_iflush(&flush));
  EXPECT_OK(MPI_Test(&flush, &flag, MPI_STATUS_IGNORE));
  EXPECT_EQ(flag, 0);
  EXPECT_OK(MPI_Recv(automatic_in, sizeof automatic_in, MPI_CHAR, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  EXPECT_EQ(automatic_in[sizeof large - 1], 5);
  EXPECT_OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_Buffer_detach(&back, &size));
  EXPECT_EQ(back, MPI_BUFFER_AUTOMATIC);
  EXPECT_OK(MPI_Buffer_attach(buffer, sizeof buffer));
  EXPECT_OK(MPI_Buffer_detach(&back, &size));
  EXPECT_EQ(back, buffer);
  EXPECT_EQ(size, static_cast<int>(sizeof buffer));
}

}  // namespace

int main(int argc, char** argv) { return run_as_singleton(argc, argv); }
