#include "mpi/api_attribute.hpp"

#include "mpi/attribute.hpp"

namespace heddle::api {

using mpi::AttributeFunction;
using mpi::Kind;

Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                          void* extra_state) {
  return mpi::create_keyval(Kind::kComm, reinterpret_cast<AttributeFunction>(copy),
                            reinterpret_cast<AttributeFunction>(remove), extra_state, keyval);
}
Status comm_free_keyval(int* keyval) { return mpi::free_keyval(Kind::kComm, keyval); }
Status comm_set_attr(Comm& comm, int keyval, void* attribute_val) {
  return mpi::set_attribute(comm, keyval, attribute_val);
}
Status comm_get_attr(Comm& comm, int keyval, void* attribute_val, int* flag) {
  return mpi::get_attribute(comm, keyval, static_cast<void**>(attribute_val), flag);
}
Status comm_delete_attr(Comm& comm, int keyval) { return mpi::delete_attribute(comm, keyval); }

Status type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                          void* extra_state) {
  return mpi::create_keyval(Kind::kDatatype, reinterpret_cast<AttributeFunction>(copy),
                            reinterpret_cast<AttributeFunction>(remove), extra_state, keyval);
}
Status type_free_keyval(int* keyval) { return mpi::free_keyval(Kind::kDatatype, keyval); }
Status type_set_attr(Datatype& datatype, int keyval, void* attribute_val) {
  return mpi::set_attribute(datatype, keyval, attribute_val);
}
Status type_get_attr(Datatype& datatype, int keyval, void* attribute_val, int* flag) {
  return mpi::get_attribute(datatype, keyval, static_cast<void**>(attribute_val), flag);
}
Status type_delete_attr(Datatype& datatype, int keyval) { return mpi::delete_attribute(datatype, keyval); }

}  // namespace heddle::api
