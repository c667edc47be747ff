// The tool interface as any tool meets it: what is there, by which name, and what each wrong call returns. Of every MPI.
#include "check.h"

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)
enum { kText = 512 };

static int invalid_item(int code) { return code == MPI_T_ERR_INVALID_INDEX || code == MPI_T_ERR_INVALID_ITEM; }

// The convention for texts: cut to fit, the whole length told, nothing written where nothing is wanted.
static void check_cut(const char* whole, const char* cut, int room, int told) {
  CHECK_EQ(told, strlen(whole) + 1);
  CHECK(strncmp(cut, whole, (size_t)(room - 1)) == 0, "%s", cut);
  CHECK_EQ(strlen(cut), (int)strlen(whole) < room ? (int)strlen(whole) : room - 1);
}

static void enumeration(MPI_T_enum e) {
  char name[kText], item[kText], other[kText];
  int num, value, length = kText;
  OK(MPI_T_enum_get_info(e, &num, name, &length));
  CHECK(num > 0 && length == (int)strlen(name) + 1 && length > 1, "%d %d", num, length);
  for (int i = 0; i < num; i++) {
    length = kText;
    OK(MPI_T_enum_get_item(e, i, &value, item, &length));
    CHECK(length == (int)strlen(item) + 1 && length > 1, "%d", length);
    for (int j = 0; j < i; j++) {
      length = kText;
      OK(MPI_T_enum_get_item(e, j, NULL, other, &length));
      CHECK(strcmp(item, other) != 0, "%s", item);
    }
  }
  length = 3;
  OK(MPI_T_enum_get_item(e, 0, &value, item, &length));
  CHECK_EQ(strlen(item), 2);
  CHECK(invalid_item(MPI_T_enum_get_item(e, num, &value, item, &length)));
  CHECK(invalid_item(MPI_T_enum_get_item(e, -1, &value, item, &length)));
}

static int cvars(void) {
  char name[kText], desc[kText], cut[4];
  int num, index, length, desc_length, verbosity, bind, scope, count, value;
  MPI_Datatype type;
  MPI_T_enum e;
  MPI_T_cvar_handle handle;
  OK(MPI_T_cvar_get_num(&num));
  CHECK(num > 0);
  for (int i = 0; i < num; i++) {
    length = desc_length = kText;
    OK(MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &e, desc, &desc_length, &bind, &scope));
    CHECK(length == (int)strlen(name) + 1 && length > 1, "%d", length);
    CHECK(desc_length == (int)strlen(desc) + 1 && desc_length > 1, "%d", desc_length);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d", verbosity);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%d", scope);
    OK(MPI_T_cvar_get_index(name, &index));
    CHECK_EQ(index, i);
    length = sizeof cut;
    OK(MPI_T_cvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    check_cut(name, cut, sizeof cut, length);
    length = 1;
    OK(MPI_T_cvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    check_cut(name, cut, 1, length);
    length = 0;
    strcpy(cut, "abc");
    OK(MPI_T_cvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strcmp(cut, "abc") == 0 && length == (int)strlen(name) + 1, "%s %d", cut, length);
    length = 5;
    OK(MPI_T_cvar_get_info(i, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(length, strlen(name) + 1);
    OK(MPI_T_cvar_get_info(i, cut, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strcmp(cut, "abc") == 0, "%s", cut);
    if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_INT) continue;
    if (e != MPI_T_ENUM_NULL) enumeration(e);
    OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
    CHECK(count >= 1 && handle != MPI_T_CVAR_HANDLE_NULL, "%d", count);
    if (count == 1) OK(MPI_T_cvar_read(handle, &value));
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  }
  for (int i = -1; i <= num; i += num + 1) {
    CHECK_EQ(MPI_T_cvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  }
  CHECK_EQ(MPI_T_cvar_get_index("no variable has this name", &index), MPI_T_ERR_INVALID_NAME);
  return num;
}

static int may_have(int class, MPI_Datatype type) {
  if (class == MPI_T_PVAR_CLASS_STATE) return type == MPI_INT;
  if (class == MPI_T_PVAR_CLASS_PERCENTAGE) return type == MPI_DOUBLE;
  if (class == MPI_T_PVAR_CLASS_GENERIC) return 1;
  int integer = type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
  return integer || (type == MPI_DOUBLE && class != MPI_T_PVAR_CLASS_COUNTER);
}

static int pvars(void) {
  char name[kText], desc[kText], cut[4];
  int num, index, length, desc_length, verbosity, class, bind, readonly, continuous, atomic, count;
  MPI_Datatype type;
  MPI_T_enum e;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  OK(MPI_T_pvar_get_num(&num));
  OK(MPI_T_pvar_session_create(&session));
  for (int i = 0; i < num; i++) {
    length = desc_length = kText;
    OK(MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &e, desc, &desc_length, &bind, &readonly,
                           &continuous, &atomic));
    CHECK(length == (int)strlen(name) + 1 && length > 1, "%d", length);
    CHECK(may_have(class, type), "%.80s has class %d", name, class);
    CHECK((readonly | continuous | atomic) >> 1 == 0, "%d %d %d", readonly, continuous, atomic);
    OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK_EQ(index, i);
    length = sizeof cut;
    OK(MPI_T_pvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    check_cut(name, cut, sizeof cut, length);
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    OK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count));
    void* value = malloc((size_t)count * 16);
    OK(MPI_T_pvar_read(session, handle, value));
    if (continuous) {
      CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
      CHECK_EQ(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    } else {
      OK(MPI_T_pvar_start(session, handle));
      OK(MPI_T_pvar_stop(session, handle));
    }
    if (readonly) {
      CHECK_EQ(MPI_T_pvar_write(session, handle, value), MPI_T_ERR_PVAR_NO_WRITE);
      CHECK_EQ(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
    } else {
      OK(MPI_T_pvar_write(session, handle, value));
      OK(MPI_T_pvar_reset(session, handle));
    }
    CHECK_EQ(MPI_T_pvar_readreset(session, handle, value), atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
    free(value);
    if (i % 2 == 0) continue;  // the session's end frees the others
    OK(MPI_T_pvar_handle_free(session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
  }
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  for (int i = -1; i <= num; i += num + 1) {
    length = kText;
    CHECK_EQ(MPI_T_pvar_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
  }
  CHECK_EQ(MPI_T_pvar_get_index("no variable has this name", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
  return num;
}

// Every member is a variable that there is, and no category is within itself.
static int depth(int category, int level) {
  int num_categories, deepest = level, inner[64];
  CHECK(level < 32, "a category contains itself");
  OK(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, NULL, NULL, &num_categories));
  OK(MPI_T_category_get_categories(category, num_categories, inner));
  for (int i = 0; i < num_categories; i++) {
    int d = depth(inner[i], level + 1);
    deepest = d > deepest ? d : deepest;
  }
  return deepest;
}

static void categories(int all_cvars, int all_pvars) {
  char name[kText], desc[kText];
  int num, index, length, desc_length, num_cvars, num_pvars, num_categories, num_events, stamp, again;
  OK(MPI_T_category_changed(&stamp));
  OK(MPI_T_category_get_num(&num));
  for (int i = 0; i < num; i++) {
    int members[1024];
    length = desc_length = kText;
    OK(MPI_T_category_get_info(i, name, &length, desc, &desc_length, &num_cvars, &num_pvars, &num_categories));
    CHECK(length == (int)strlen(name) + 1 && length > 1, "%d", length);
    OK(MPI_T_category_get_index(name, &index));
    CHECK_EQ(index, i);
    CHECK(num_cvars <= 1000 && num_pvars <= 1000 && num_categories <= 1000);
    members[num_cvars] = -7;
    OK(MPI_T_category_get_cvars(i, 1000, members));
    CHECK_EQ(members[num_cvars], -7);
    for (int m = 0; m < num_cvars; m++) CHECK(members[m] >= 0 && members[m] < all_cvars, "%d", members[m]);
    members[num_pvars] = -7;
    OK(MPI_T_category_get_pvars(i, 1000, members));
    CHECK_EQ(members[num_pvars], -7);
    for (int m = 0; m < num_pvars; m++) CHECK(members[m] >= 0 && members[m] < all_pvars, "%d", members[m]);
    if (num_pvars > 1) {
      members[1] = -7;
      OK(MPI_T_category_get_pvars(i, 1, members));
      CHECK_EQ(members[1], -7);
    }
    OK(MPI_T_category_get_num_events(i, &num_events));
    OK(MPI_T_category_get_events(i, num_events, members));
    depth(i, 0);
  }
  for (int i = -1; i <= num; i += num + 1) {
    CHECK_EQ(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &num_cvars, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_num_events(i, &num_events), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_cvars(i, 1, &index), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_pvars(i, 1, &index), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_events(i, 1, &index), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_categories(i, 1, &index), MPI_T_ERR_INVALID_INDEX);
  }
  CHECK_EQ(MPI_T_category_get_index("no category has this name", &index), MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_category_changed(&again));
  CHECK_EQ(again, stamp);
}

static void no_such_event(void) {
  int num, index;
  MPI_Count stamp;
  MPI_T_event_registration registration;
  OK(MPI_T_event_get_num(&num));
  CHECK_EQ(MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_handle_alloc(num, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_get_index("no event has this name", &index), MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_source_get_num(&num));
  CHECK_EQ(MPI_T_source_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_source_get_timestamp(num, &stamp), MPI_T_ERR_INVALID_INDEX);
}

static void all(void) {
  int num_cvars = cvars(), num_pvars = pvars();
  categories(num_cvars, num_pvars);
  no_such_event();
}

static void not_initialized(void) {
  int i;
  MPI_T_pvar_session session;
  CHECK_EQ(MPI_T_cvar_get_num(&i), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_pvar_get_num(&i), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_category_get_num(&i), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_event_get_num(&i), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_source_get_num(&i), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

int main(int argc, char** argv) {
  int provided;
  not_initialized();
  OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "%d", provided);
  all();
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  OK(MPI_T_finalize());
  all();
  OK(MPI_T_finalize());
  not_initialized();

  start(&argc, &argv);  // its errors are fatal, those of the tool interface are not
  not_initialized();
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  all();
  MPI_Finalize();
  all();
  OK(MPI_T_finalize());
  not_initialized();
  return 0;
}
