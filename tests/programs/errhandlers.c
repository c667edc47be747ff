// Error handlers: which one is called, with what, and what it inherits; error classes, codes and texts of a program's
// own.
#include "check.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void note(MPI_Comm* comm, int* code, ...) {
  calls++;
  last_comm = *comm;
  last_class = error_class(*code);
}

static void called(void) {
  MPI_Errhandler mine, got;
  MPI_Comm one, two;
  MPI_Comm_create_errhandler(note, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_get_errhandler(one, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  MPI_Comm_set_errhandler(one, mine);
  MPI_Errhandler_free(&mine);
  CHECK(mine == MPI_ERRHANDLER_NULL);
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, world_size + 3, 0, one), MPI_ERR_RANK);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_class, MPI_ERR_RANK);
  CHECK(last_comm == one);
  MPI_Comm_dup(one, &two);  // a copy has the handler too
  CHECK_CLASS(MPI_Recv(NULL, -1, MPI_INT, 0, 0, two, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_EQ(calls, 2);
  CHECK(last_comm == two);
  MPI_Comm_get_errhandler(two, &got);
  MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, -9, 0, one), MPI_ERR_RANK);
  CHECK_EQ(calls, 2);
  MPI_Comm_set_errhandler(one, got);
  MPI_Errhandler_free(&got);
  MPI_Comm_call_errhandler(one, MPI_ERR_OTHER);
  CHECK_EQ(calls, 3);
  CHECK_EQ(last_class, MPI_ERR_OTHER);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
}

static void texts(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length, new_class, code, last, flag, *last_used;
  MPI_Error_string(MPI_SUCCESS, text, &length);
  CHECK_EQ(length, strlen(text));
  for (int class = MPI_SUCCESS + 1; class <= MPI_ERR_LASTCODE && class < 100; class ++) {
    if (MPI_Error_string(class, text, &length) != MPI_SUCCESS) continue;
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING, "class %d", class);
    CHECK_EQ(length, strlen(text));
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_used, &flag);
  CHECK(flag);
  last = *last_used;
  MPI_Add_error_class(&new_class);
  CHECK(new_class > MPI_ERR_LASTCODE || new_class > last, "%d", new_class);
  MPI_Add_error_code(new_class, &code);
  CHECK_CLASS(code, new_class);
  MPI_Add_error_string(code, "the shuttle is stuck");
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "the shuttle is stuck") == 0, "%s", text);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_used, &flag);
  CHECK(*last_used >= code && *last_used >= new_class, "%d", *last_used);
}

// An error that belongs to no communicator goes to MPI_COMM_SELF's handler.
static void without_communicator(void) {
  MPI_Errhandler mine;
  MPI_Datatype type;
  MPI_Comm_create_errhandler(note, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  calls = 0;
  CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_EQ(calls, 1);
  CHECK(last_comm == MPI_COMM_SELF);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&mine);
}

// A small send that is complete at once may belong to no communicator; the handler of the receive's listens all the same.
static void of_several_requests(void) {
  const int peer = world_rank ^ 1, to = peer < world_size ? peer : world_rank;
  int out[8] = {0}, in, done, indices[2];
  MPI_Comm comm;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < 3; round++) {  // the first send to a peer takes a longer way
    for (int some = 0; some < 2; some++) {
      MPI_Isend(out, 8, MPI_INT, to, 5, comm, &requests[0]);
      MPI_Probe(to, 5, comm, MPI_STATUS_IGNORE);
      MPI_Irecv(&in, 1, MPI_INT, to, 5, comm, &requests[1]);
      int code = some ? MPI_Waitsome(2, requests, &done, indices, statuses) : MPI_Waitall(2, requests, statuses);
      if (some && done == 1) {  // nobody said that it waits for both
        CHECK_CLASS(code, indices[0] == 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        continue;
      }
      CHECK_CLASS(code, MPI_ERR_IN_STATUS);
      CHECK_CLASS(statuses[0].MPI_ERROR, MPI_SUCCESS);
      CHECK_CLASS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
      CHECK_EQ(statuses[1].MPI_SOURCE, to);
      CHECK_EQ(statuses[1].MPI_TAG, 5);
      CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    }
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  called();
  of_several_requests();
  texts();
  without_communicator();
  return finish();
}
