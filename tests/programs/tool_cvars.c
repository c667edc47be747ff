// Heddle's control variables: where a value comes from, what takes effect, and from when on it stays.
//   tool_cvars default|environment|written|broken|bad_single_copy|bad_profile|bad_matching
#include "check.h"

static int alloc(const char* name, MPI_T_cvar_handle* handle) {
  int index, count;
  CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  return index;
}

static int value_of(MPI_T_cvar_handle handle) {
  int value = -1;
  CHECK_EQ(MPI_T_cvar_read(handle, &value), MPI_SUCCESS);
  return value;
}

static int write_to(MPI_T_cvar_handle handle, int value) { return MPI_T_cvar_write(handle, &value); }

// Every performance variable has an element for each VCI.
static int elements(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  int index, count;
  CHECK_EQ(MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, NULL, handle, &count), MPI_SUCCESS);
  return count;
}

// How many VCIs the library uses: as many communicators can be made that send through different ones.
static int vcis_used(MPI_T_pvar_session session) {
  enum { kComms = 20 };
  unsigned long before[64], after[64];
  MPI_T_pvar_handle handle;
  MPI_Comm comms[kComms];
  int used = 0, count = elements(session, &handle), peer = (world_rank + 1) % world_size;
  MPI_T_pvar_start(session, handle);
  for (int c = 0; c < kComms; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  MPI_T_pvar_read(session, handle, before);
  for (int c = 0; c < kComms; c++) {
    MPI_Sendrecv(&c, 1, MPI_INT, peer, 0, &used, 1, MPI_INT, MPI_ANY_SOURCE, 0, comms[c], MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(&used, 1, MPI_INT, 0, 0, &used, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_T_pvar_read(session, handle, after);
  used = 0;
  for (int i = 0; i < count; i++) used += after[i] != before[i];
  for (int c = 0; c < kComms; c++) MPI_Comm_free(&comms[c]);
  MPI_T_pvar_handle_free(session, &handle);
  return used;
}

static MPI_T_cvar_handle text_variable(const char* name, int* bytes) {
  int index;
  MPI_T_cvar_handle handle;
  MPI_Datatype type;
  MPI_T_enum words;
  CHECK_EQ(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, &words, NULL, NULL, NULL, NULL), MPI_SUCCESS);
  CHECK(type == MPI_CHAR && words == MPI_T_ENUM_NULL);
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &handle, bytes), MPI_SUCCESS);
  CHECK_EQ(*bytes, 1024);
  return handle;
}

static void check_text(MPI_T_cvar_handle handle, const char* want) {
  char text[1024];
  memset(text, 'x', sizeof text);
  CHECK_EQ(MPI_T_cvar_read(handle, text), MPI_SUCCESS);
  CHECK(strcmp(text, want) == 0, "'%.100s'", text);
}

// What is not right comes to light in MPI_Init, which is not returned from.
static void write_wrong(const char* name, const char* text) {
  int bytes;
  MPI_T_cvar_handle handle = text_variable(name, &bytes);
  CHECK_EQ(MPI_T_cvar_write(handle, text), MPI_SUCCESS);
  MPI_Init(NULL, NULL);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "default";
  const int written = strcmp(how, "written") == 0, broken = strcmp(how, "broken") == 0;
  const int environment = strcmp(how, "environment") == 0;
  int provided, count, vcis = 16, mapping = 0;
  char sentence[MPI_MAX_ERROR_STRING];
  char endless[1024];
  MPI_T_cvar_handle vcis_handle, mapping_handle, copy_handle;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle early;
  if (environment)
    setenv("HEDDLE_VCIS", "3", 1), setenv("HEDDLE_VCI_MAPPING", "communicators", 1), vcis = 3, mapping = 1;
  if (broken) setenv("HEDDLE_VCIS", "many", 1), setenv("HEDDLE_VCI_MAPPING", "fast", 1);

  if (environment) setenv("HEDDLE_SINGLE_COPY", "off", 1);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (strcmp(how, "bad_single_copy") == 0) write_wrong("single_copy", "sometimes");
  if (strcmp(how, "bad_matching") == 0) write_wrong("matching", "fast");
  if (strcmp(how, "bad_profile") == 0) write_wrong("profile", "/nowhere/to/be/found");
  copy_handle = text_variable("single_copy", &count);
  check_text(copy_handle, environment ? "off" : "auto");
  memset(endless, 'x', sizeof endless);
  CHECK_EQ(MPI_T_cvar_write(copy_handle, endless), MPI_T_ERR_INVALID);
  if (written) CHECK_EQ(MPI_T_cvar_write(copy_handle, "off"), MPI_SUCCESS);
  alloc("vcis", &vcis_handle);
  alloc("vci_mapping", &mapping_handle);
  MPI_T_pvar_session_create(&session);
  if (broken) {
    CHECK_EQ(MPI_T_cvar_read(vcis_handle, &count), MPI_T_ERR_INVALID);
    MPI_Error_string(MPI_T_ERR_INVALID, sentence, &count);
    CHECK(strstr(sentence, "HEDDLE_VCIS='many' is not a number from 1 to 16") != NULL, "%s", sentence);
    CHECK_EQ(MPI_T_cvar_read(mapping_handle, &count), MPI_T_ERR_INVALID);
    MPI_Error_string(MPI_T_ERR_INVALID, sentence, &count);
    CHECK(strstr(sentence, "HEDDLE_VCI_MAPPING='fast' is not one of hints, communicators or none") != NULL, "%s",
          sentence);
  } else {
    CHECK_EQ(value_of(vcis_handle), vcis);
    CHECK_EQ(value_of(mapping_handle), mapping);
    CHECK_EQ(elements(session, &early), vcis);
    CHECK_EQ(write_to(vcis_handle, 5), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_EQ(value_of(vcis_handle), vcis);
    MPI_T_pvar_handle_free(session, &early);
  }
  CHECK_EQ(write_to(vcis_handle, 0), MPI_T_ERR_INVALID);
  CHECK_EQ(write_to(vcis_handle, 17), MPI_T_ERR_INVALID);
  CHECK_EQ(write_to(mapping_handle, 3), MPI_T_ERR_INVALID);
  CHECK_EQ(write_to(mapping_handle, -1), MPI_T_ERR_INVALID);
  if (written || broken) {
    vcis = 5, mapping = 1;
    CHECK_EQ(write_to(vcis_handle, vcis), MPI_SUCCESS);
    CHECK_EQ(write_to(mapping_handle, mapping), MPI_SUCCESS);
    CHECK_EQ(value_of(vcis_handle), vcis);
  }
  CHECK_EQ(elements(session, &early), vcis);
  unsigned long sent[64];
  CHECK_EQ(MPI_T_pvar_read(session, early, sent), MPI_SUCCESS);
  for (int i = 0; i < vcis; i++) CHECK_EQ(sent[i], 0);

  start(&argc, &argv);
  setenv("HEDDLE_VCIS", "7", 1);  // too late
  setenv("HEDDLE_SINGLE_COPY", "auto", 1);
  check_text(copy_handle, environment || written ? "off" : "auto");
  CHECK_EQ(MPI_T_cvar_write(copy_handle, "auto"), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(value_of(vcis_handle), vcis);
  CHECK_EQ(value_of(mapping_handle), mapping);
  CHECK_EQ(write_to(vcis_handle, 2), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(write_to(mapping_handle, 0), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(vcis_used(session), vcis);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  CHECK_EQ(value_of(vcis_handle), vcis);
  CHECK_EQ(write_to(vcis_handle, 2), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return 0;
}
