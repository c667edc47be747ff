// What there is of files without a file: the error handler of MPI_FILE_NULL, which hears of what concerns no open file,
// and data representations.
#include "check.h"

static int calls, last_class;
static MPI_File last_file;

static void note(MPI_File* file, int* code, ...) {
  calls++;
  last_file = *file;
  last_class = error_class(*code);
}
static void note_comm(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code, calls += 100; }

static MPI_Errhandler handler_of_null(void) {
  MPI_Errhandler got = MPI_ERRHANDLER_NULL;
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  return got;
}

static int extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type, (void)state;
  *extent = 8;
  return MPI_SUCCESS;
}
static int convert(void* user, MPI_Datatype type, int n, void* file, MPI_Offset position, void* state) {
  (void)user, (void)type, (void)n, (void)file, (void)position, (void)state;
  return MPI_SUCCESS;
}
static int convert_wide(void* user, MPI_Datatype type, MPI_Count n, void* file, MPI_Offset position, void* state) {
  (void)user, (void)type, (void)n, (void)file, (void)position, (void)state;
  return MPI_SUCCESS;
}

static void handlers(void) {
  MPI_Errhandler mine, of_comm, got;
  CHECK(handler_of_null() == MPI_ERRORS_RETURN, "the default of files");
  MPI_File_create_errhandler(note, &mine);
  MPI_File_set_errhandler(MPI_FILE_NULL, mine);
  got = handler_of_null();
  CHECK(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SPACE);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_class, MPI_ERR_NO_SPACE);
  CHECK(last_file == MPI_FILE_NULL);
  CHECK_CLASS(MPI_Register_datarep("native", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP);
  CHECK_EQ(calls, 2);
  CHECK_EQ(last_class, MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_File_get_errhandler((MPI_File)MPI_COMM_WORLD, &got), MPI_ERR_FILE);
  CHECK_EQ(calls, 3);
  MPI_Comm_create_errhandler(note_comm, &of_comm);
  CHECK_CLASS(MPI_File_set_errhandler(MPI_FILE_NULL, of_comm), MPI_ERR_ERRHANDLER);
  CHECK_EQ(calls, 4);
  MPI_Errhandler_free(&of_comm);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
}

static void representations(void) {
  char longest[MPI_MAX_DATAREP_STRING], too_long[MPI_MAX_DATAREP_STRING + 1];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  memset(too_long, 'x', sizeof too_long);
  too_long[sizeof too_long - 1] = '\0';
  MPI_Register_datarep("woven", convert, convert, extent, &calls);
  CHECK_CLASS(MPI_Register_datarep("woven", convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep_c("woven", convert_wide, convert_wide, extent, NULL), MPI_ERR_DUP_DATAREP);
  CHECK_EQ(MPI_Register_datarep("weave", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL), MPI_SUCCESS);
  CHECK_EQ(MPI_Register_datarep_c("Woven", convert_wide, MPI_CONVERSION_FN_NULL_C, extent, NULL), MPI_SUCCESS);
  CHECK_EQ(MPI_Register_datarep(longest, convert, convert, extent, NULL), MPI_SUCCESS);
  CHECK_CLASS(MPI_Register_datarep(too_long, convert, convert, extent, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Register_datarep("", convert, convert, extent, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Register_datarep("no extent", convert, convert, NULL, NULL), MPI_ERR_ARG);
  for (int i = 0; i < 3; i++) {
    const char* taken[] = {"native", "internal", "external32"};
    CHECK_CLASS(MPI_Register_datarep(taken[i], convert, convert, extent, NULL), MPI_ERR_DUP_DATAREP);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  handlers();
  representations();
  return finish();
}
