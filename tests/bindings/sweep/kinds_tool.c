// Kinds of the tool interface, which has codes of its own (MPI 5.0, 15.3.10).
#include "objects.h"

#define INVALID \
  { "a null pointer", MPI_T_ERR_INVALID, V(0), kEverywhere }
#define INDEX \
  {"-1", MPI_T_ERR_INVALID_INDEX, V(-1), kEverywhere}, { "too large", MPI_T_ERR_INVALID_INDEX, V(INT_MAX), kEverywhere }

static const Wrong no_room[] = {INVALID, LAST};
static const Wrong bad_indices[] = {INDEX, LAST};
static const Wrong bad_names[] = {INVALID,
                                  {"no name of any", MPI_T_ERR_INVALID_NAME, {8, "nothing", NULL}, kEverywhere},
                                  {"empty", MPI_T_ERR_INVALID_NAME, {1, "", NULL}, kEverywhere},
                                  LAST};
static const Wrong bad_lengths[] = {
    {"-1", MPI_T_ERR_INVALID, V(-1), kEverywhere}, {"0", MPI_SUCCESS, V(0), kEverywhere}, LAST};
static const Wrong bad_levels[] = {
    {"-1", MPI_T_ERR_INVALID, V(-1), kEverywhere}, {"12345", MPI_T_ERR_INVALID, V(12345), kEverywhere}, LAST};
static const Wrong bad_classes[] = {{"another one", MPI_T_ERR_INVALID_NAME, V(12345), kEverywhere}, LAST};
const Kind kind_tool_out = {ROOM(8), NULL, no_room};
const Kind kind_tool_index = {V(0), NULL, bad_indices};
const Kind kind_tool_length = {V(1), NULL, bad_lengths};
const Kind kind_tool_indices = {ROOM(4), NULL, no_room};
const Kind kind_tool_level = {V(MPI_THREAD_SINGLE), NULL, bad_levels};
const Kind kind_tool_cvar_name = {{5, "vcis", NULL}, NULL, bad_names};
const Kind kind_tool_pvar_name = {{14, "messages_sent", NULL}, NULL, bad_names};
const Kind kind_tool_category_name = {{9, "messages", NULL}, NULL, bad_names};
const Kind kind_tool_event_name = {{19, "message_unexpected", NULL}, NULL, bad_names};
const Kind kind_tool_pvar_class = {V(MPI_T_PVAR_CLASS_COUNTER), NULL, bad_classes};
// Nothing is bound to an object, so it is not looked at; a text of any length may be declined.
const Kind kind_tool_text = {ROOM(16), NULL, NULL};
static const Wrong odd_lengths[] = {{"a null pointer", MPI_SUCCESS, V(0), kEverywhere},
                                    {"-1", MPI_SUCCESS, INT(-1), kEverywhere},
                                    {"0", MPI_SUCCESS, INT(0), kEverywhere},
                                    LAST};
const Kind kind_tool_text_length = {INT(16), NULL, odd_lengths};

static MPI_T_pvar_session session;
static Word new_tool_session(void) {
  MPI_T_pvar_session made;
  MPI_T_pvar_session_create(&made);
  return (Word)made;
}
static Word stale_tool_session(void) {
  MPI_T_pvar_session made = (MPI_T_pvar_session)new_tool_session(), old = made;
  MPI_T_pvar_session_free(&made);
  return (Word)old;
}
static void end_tool_session(Word cell) { MPI_T_pvar_session_free((MPI_T_pvar_session*)cell); }
static Word the_session(void) {
  if (session == MPI_T_PVAR_SESSION_NULL) session = (MPI_T_pvar_session)new_tool_session();
  return (Word)session;
}
static Word new_pvar(void) {
  MPI_T_pvar_handle made;
  int index, count;
  MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
  MPI_T_pvar_handle_alloc((MPI_T_pvar_session)the_session(), index, NULL, &made, &count);
  return (Word)made;
}
static Word stale_pvar(void) {
  MPI_T_pvar_handle made = (MPI_T_pvar_handle)new_pvar(), old = made;
  MPI_T_pvar_handle_free((MPI_T_pvar_session)the_session(), &made);
  return (Word)old;
}
static void end_pvar(Word cell) {
  MPI_T_pvar_handle* handle = (MPI_T_pvar_handle*)cell;
  if (*handle != MPI_T_PVAR_HANDLE_NULL) MPI_T_pvar_handle_free((MPI_T_pvar_session)the_session(), handle);
}
static void end_pvar_value(Word handle) { end_pvar((Word)&handle); }
static Word new_registration(void) {
  MPI_T_event_registration made;
  MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &made);
  return (Word)made;
}
static void end_registration_value(Word made) { MPI_T_event_handle_free((MPI_T_event_registration)made, NULL, NULL); }
static void end_registration(Word cell) { end_registration_value(*(Word*)cell); }
static Word stale_registration(void) {
  const Word made = new_registration();
  end_registration_value(made);
  return made;
}
static Word new_cvar(void) {
  MPI_T_cvar_handle made;
  int count;
  MPI_T_cvar_handle_alloc(0, NULL, &made, &count);
  return (Word)made;
}
static Word stale_cvar(void) {
  MPI_T_cvar_handle made = (MPI_T_cvar_handle)new_cvar(), old = made;
  MPI_T_cvar_handle_free(&made);
  return (Word)old;
}
static void end_cvar(Word cell) {
  MPI_T_cvar_handle* handle = (MPI_T_cvar_handle*)cell;
  if (*handle != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(handle);
}
static void end_cvar_value(Word handle) { end_cvar((Word)&handle); }

#define BAD(form, form_made, error, stale, other)                                               \
  {"null", error, form(0), kEverywhere}, {"a freed one", error, form_made(stale), kEverywhere}, \
      {"of another kind", error, form_made(other), kEverywhere}, {                              \
    "the address of no object", error, form_made(address_of_no_object), kEverywhere             \
  }
static const Wrong bad_sessions[] = {BAD(V, MADE, MPI_T_ERR_INVALID_SESSION, stale_tool_session, new_pvar), LAST};
static const Wrong bad_session_ends[] = {
    INVALID, BAD(CELL, MADE_CELL, MPI_T_ERR_INVALID_SESSION, stale_tool_session, new_pvar), LAST};
static const Wrong bad_pvars[] = {BAD(V, MADE, MPI_T_ERR_INVALID_HANDLE, stale_pvar, the_session), LAST};
static const Wrong bad_pvar_ends[] = {INVALID, BAD(CELL, MADE_CELL, MPI_T_ERR_INVALID_HANDLE, stale_pvar, the_session),
                                      LAST};
static const Wrong bad_cvars[] = {BAD(V, MADE, MPI_T_ERR_INVALID_HANDLE, stale_cvar, the_session), LAST};
static const Wrong bad_cvar_ends[] = {INVALID, BAD(CELL, MADE_CELL, MPI_T_ERR_INVALID_HANDLE, stale_cvar, the_session),
                                      LAST};
const Kind kind_tool_session = {MADE(the_session), NULL, bad_sessions};
const Kind kind_tool_session_end = {MADE_CELL(new_tool_session), end_tool_session, bad_session_ends};
const Kind kind_tool_session_out = {ROOM(8), end_tool_session, no_room};
const Kind kind_tool_pvar = {MADE(new_pvar), end_pvar_value, bad_pvars};
const Kind kind_tool_pvar_end = {MADE_CELL(new_pvar), end_pvar, bad_pvar_ends};
const Kind kind_tool_pvar_out = {ROOM(8), end_pvar, no_room};
const Kind kind_tool_cvar = {MADE(new_cvar), end_cvar_value, bad_cvars};
const Kind kind_tool_cvar_end = {MADE_CELL(new_cvar), end_cvar, bad_cvar_ends};
const Kind kind_tool_cvar_out = {ROOM(8), end_cvar, no_room};
static const Wrong bad_registrations[] = {BAD(V, MADE, MPI_T_ERR_INVALID_HANDLE, stale_registration, the_session),
                                          LAST};
static void end_tool_info(Word cell) {
  MPI_Info* info = (MPI_Info*)cell;
  if (*info != MPI_INFO_NULL && *info != (MPI_Info)0) MPI_Info_free(info);
}
const Kind kind_tool_info_out = {ROOM(8), end_tool_info, no_room};
const Kind kind_tool_registration = {MADE(new_registration), end_registration_value, bad_registrations};
const Kind kind_tool_registration_end = {MADE(new_registration), NULL, bad_registrations};
const Kind kind_tool_registration_out = {ROOM(8), end_registration, no_room};
static const Wrong bad_safeties[] = {
    {"62", MPI_T_ERR_INVALID, V(62), kEverywhere}, {"1", MPI_T_ERR_INVALID, V(1), kEverywhere}, LAST};
const Kind kind_tool_safety = {V(MPI_T_CB_REQUIRE_NONE), NULL, bad_safeties};
static const Wrong bad_cvar_values[] = {INVALID, {"0", MPI_T_ERR_INVALID, INT(0), kEverywhere}, LAST};
const Kind kind_tool_cvar_value = {INT(1), NULL, bad_cvar_values};
const Kind kind_tool_values = {ROOM(8 * 64), NULL, no_room};  // one for each VCI

// Enumerations: that of the first control variable that has one.
static Word the_enumeration(void) {
  int n = 0;
  MPI_T_enum found = MPI_T_ENUM_NULL;
  MPI_T_cvar_get_num(&n);
  for (int i = 0; i < n && found == MPI_T_ENUM_NULL; i++) {
    MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &found, NULL, NULL, NULL, NULL);
  }
  return (Word)found;
}
static const Wrong bad_enumerations[] = {BAD(V, MADE, MPI_T_ERR_INVALID_INDEX, stale_cvar, the_session), LAST};
const Kind kind_tool_enum = {MADE(the_enumeration), NULL, bad_enumerations};

void begin_tool(void) {
  int provided;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}
void end_tool(void) {
  if (session != MPI_T_PVAR_SESSION_NULL) MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}
