#include "mpi/api_op.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {

Status op_create(MPI_User_function* function, int commute, MPI_Op* op, bool wide) {
  mpi::Op* made = mpi::take_op();
  if (made == nullptr) return error(MPI_ERR_NO_MEM, "no memory for one more operation");
  made->commutative = commute != 0;
  if (wide) {
    made->wide_function = reinterpret_cast<MPI_User_function_c*>(function);
  } else {
    made->function = function;
  }
  *op = mpi::to_handle(made);
  return Status::ok();
}

Status op_free(MPI_Op* op) {
  mpi::Op* object = mpi::from_handle(*op);
  if (object->predefined) {
    return error(MPI_ERR_OP, "%s is predefined and can't be freed", object->predefined_name);
  }
  *op = MPI_OP_NULL;
  object->mark_dead();
  release(*object);
  return Status::ok();
}

Status op_commutative(mpi::Op& op, int* commute) {
  *commute = op.commutative ? 1 : 0;
  return Status::ok();
}

Status reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op) {
  HEDDLE_TRY(mpi::check_op(op, datatype));
  mpi::reduce(op, inbuf, inoutbuf, count, datatype);
  return Status::ok();
}

}  // namespace heddle::api
