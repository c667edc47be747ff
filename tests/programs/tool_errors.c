// What Heddle's tool interface says where the standard leaves it open: null pointers, handles that never were, texts of
// errors; each procedure before MPI_T_init_thread.
#include "check.h"

static MPI_T_event_registration registration;
static MPI_T_event_instance instance;
static char text[8];
static int i, length;
static MPI_Count count;
static unsigned long value[64];

// What takes a handle of an event, of which there are none.
static void event_handles_return(int code) {
  MPI_Info info;
  CHECK_EQ(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), code);
  CHECK_EQ(MPI_T_event_handle_get_info(registration, &info), code);
  CHECK_EQ(MPI_T_event_handle_free(registration, NULL, NULL), code);
  CHECK_EQ(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), code);
  CHECK_EQ(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), code);
  CHECK_EQ(MPI_T_event_set_dropped_handler(registration, NULL), code);
  CHECK_EQ(MPI_T_event_read(instance, 0, value), code);
  CHECK_EQ(MPI_T_event_copy(instance, value), code);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &count), code);
  CHECK_EQ(MPI_T_event_get_source(instance, &i), code);
}

// Every procedure but MPI_T_init_thread, with arguments that are good in themselves.
static void each_returns(int code) {
  MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &i, text, &length), code);
  CHECK_EQ(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &i, text, &length), code);
  CHECK_EQ(MPI_T_cvar_get_num(&i), code);
  CHECK_EQ(MPI_T_cvar_get_info(0, text, &length, &i, NULL, NULL, NULL, NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_cvar_get_index("vcis", &i), code);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i), code);
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar), code);
  CHECK_EQ(MPI_T_cvar_read(cvar, value), code);
  CHECK_EQ(MPI_T_cvar_write(cvar, value), code);
  CHECK_EQ(MPI_T_pvar_get_num(&i), code);
  CHECK_EQ(MPI_T_pvar_get_info(0, text, &length, &i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &i), code);
  CHECK_EQ(MPI_T_pvar_session_create(&session), code);
  CHECK_EQ(MPI_T_pvar_session_free(&session), code);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &i), code);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &pvar), code);
  CHECK_EQ(MPI_T_pvar_start(session, pvar), code);
  CHECK_EQ(MPI_T_pvar_stop(session, pvar), code);
  CHECK_EQ(MPI_T_pvar_read(session, pvar, value), code);
  CHECK_EQ(MPI_T_pvar_write(session, pvar, value), code);
  CHECK_EQ(MPI_T_pvar_reset(session, pvar), code);
  CHECK_EQ(MPI_T_pvar_readreset(session, pvar, value), code);
  CHECK_EQ(MPI_T_category_get_num(&i), code);
  CHECK_EQ(MPI_T_category_get_info(0, text, &length, NULL, NULL, NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_category_get_num_events(0, &i), code);
  CHECK_EQ(MPI_T_category_get_index("heddle", &i), code);
  CHECK_EQ(MPI_T_category_get_cvars(0, 1, &i), code);
  CHECK_EQ(MPI_T_category_get_pvars(0, 1, &i), code);
  CHECK_EQ(MPI_T_category_get_events(0, 1, &i), code);
  CHECK_EQ(MPI_T_category_get_categories(0, 1, &i), code);
  CHECK_EQ(MPI_T_category_changed(&i), code);
  CHECK_EQ(MPI_T_source_get_num(&i), code);
  CHECK_EQ(MPI_T_source_get_info(0, text, &length, NULL, NULL, NULL, NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_source_get_timestamp(0, &count), code);
  CHECK_EQ(MPI_T_event_get_num(&i), code);
  CHECK_EQ(MPI_T_event_get_info(0, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), code);
  CHECK_EQ(MPI_T_event_get_index("none", &i), code);
  CHECK_EQ(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration), code);
  event_handles_return(code);
}

static void no_handles(void) {
  const int code = MPI_T_ERR_INVALID_HANDLE;
  event_handles_return(code);
  CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &i, text, &length), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_enum_get_info((MPI_T_enum)&i, &i, text, &length), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &i, text, &length), MPI_T_ERR_INVALID_INDEX);
}

static void null_pointers(void) {
  MPI_T_cvar_handle cvar;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle pvar;
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &i), MPI_SUCCESS);
  const int code = MPI_T_ERR_INVALID;
  CHECK_EQ(MPI_T_cvar_get_num(NULL), code);
  CHECK_EQ(MPI_T_cvar_get_index(NULL, &i), code);
  CHECK_EQ(MPI_T_cvar_get_index("vcis", NULL), code);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, NULL, &i), code);
  CHECK_EQ(MPI_T_cvar_handle_free(NULL), code);
  CHECK_EQ(MPI_T_cvar_read(cvar, NULL), code);
  CHECK_EQ(MPI_T_cvar_write(cvar, NULL), code);
  CHECK_EQ(MPI_T_pvar_read(session, pvar, NULL), code);
  CHECK_EQ(MPI_T_pvar_write(session, pvar, NULL), code);
  CHECK_EQ(MPI_T_pvar_session_create(NULL), code);
  CHECK_EQ(MPI_T_category_get_pvars(0, 1, NULL), code);
  CHECK_EQ(MPI_T_category_get_pvars(0, -1, &i), code);
  CHECK_EQ(MPI_T_category_get_pvars(0, 0, NULL), MPI_SUCCESS);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), code);
  CHECK_EQ(MPI_T_init_thread(-5, &i), code);
}

// Handles that were freed, the null handles, and all handles where one is wanted.
static void stale_handles(void) {
  MPI_T_pvar_session session, session_copy;
  MPI_T_pvar_handle pvar, pvar_copy;
  MPI_T_cvar_handle cvar, cvar_copy;
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i), MPI_SUCCESS);
  cvar_copy = cvar;
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i), MPI_SUCCESS);  // does not take its place
  CHECK_EQ(MPI_T_cvar_read(cvar_copy, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_write(cvar_copy, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar_copy), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &i), MPI_SUCCESS);
  pvar_copy = pvar;
  CHECK_EQ(MPI_T_pvar_handle_free(session, &pvar), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_read(session, pvar_copy, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_start(session, pvar_copy), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &pvar_copy), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, value), MPI_T_ERR_INVALID_HANDLE);
  cvar_copy = MPI_T_CVAR_HANDLE_NULL;
  CHECK_EQ(MPI_T_cvar_handle_free(&cvar_copy), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
  for (int wrong = -1; wrong < 2000; wrong += 1999) {
    CHECK_EQ(MPI_T_cvar_handle_alloc(wrong, NULL, &cvar_copy, &i), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, wrong, NULL, &pvar, &i), MPI_T_ERR_INVALID_INDEX);
  }
  session_copy = session;
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);  // it is null now
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &i), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_start(session_copy, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_reset(session_copy, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_session_free(&session_copy), MPI_T_ERR_INVALID_SESSION);
}

// The handles are there, and belong to somebody else; or were there, and ended with the last MPI_T_finalize.
static void foreign_handles(void) {
  MPI_T_pvar_session one, other;
  MPI_T_pvar_handle pvar, copy;
  MPI_T_cvar_handle cvar;
  CHECK_EQ(MPI_T_pvar_session_create(&one), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&other), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(one, 0, NULL, &pvar, &i), MPI_SUCCESS);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &i), MPI_SUCCESS);
  copy = pvar;
  CHECK_EQ(MPI_T_pvar_start(other, pvar), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read(other, pvar, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_reset(other, pvar), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(other, &copy), MPI_T_ERR_INVALID_HANDLE);
  copy = MPI_T_PVAR_ALL_HANDLES;
  CHECK_EQ(MPI_T_pvar_handle_free(one, &copy), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read((MPI_T_pvar_session)cvar, pvar, value), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_read(one, (MPI_T_pvar_handle)cvar, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_read((MPI_T_cvar_handle)pvar, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &i), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_read(one, pvar, value), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_cvar_read(cvar, value), MPI_T_ERR_INVALID_HANDLE);
}

int main(void) {
  char sentence[MPI_MAX_ERROR_STRING];
  each_returns(MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &i), MPI_SUCCESS);
  no_handles();
  null_pointers();
  stale_handles();
  foreign_handles();
  CHECK_EQ(MPI_T_cvar_get_index("vics", &i), MPI_T_ERR_INVALID_NAME);
  MPI_Error_string(MPI_T_ERR_INVALID_NAME, sentence, &length);
  CHECK(strstr(sentence, "'vics'") != NULL, "%s", sentence);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  each_returns(MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}
