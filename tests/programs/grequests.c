// Generalized requests: when each callback is called, what becomes of its status and its code, in every form of
// completion, alone and between receives.
#include "check.h"

enum { kAbsent = -1 };

// One operation of ours: what its callbacks answer, and how often each was called.
typedef struct {
  int source, tag, ints, cancelled;
  int query_code, free_code, cancel_code;
  int queries, frees, cancels, told_complete;
  MPI_Request request;
} Operation;

static int query(void* extra, MPI_Status* status) {
  Operation* o = extra;
  o->queries++;
  CHECK_EQ(o->frees, 0);
  CHECK(status != MPI_STATUS_IGNORE);
  status->MPI_SOURCE = o->source;
  status->MPI_TAG = o->tag;
  MPI_Status_set_elements(status, MPI_INT, o->ints);
  MPI_Status_set_cancelled(status, o->cancelled);
  return o->query_code;
}

static int release(void* extra) {
  Operation* o = extra;
  o->frees++;
  return o->free_code;
}

static int cancel(void* extra, int complete) {
  Operation* o = extra;
  o->cancels++;
  o->told_complete = complete;
  return o->cancel_code;
}

static MPI_Request* begin(Operation* o, int number) {
  memset(o, 0, sizeof *o);
  o->source = number, o->tag = 2 * number, o->ints = 3 * number;
  o->told_complete = kAbsent;
  MPI_Grequest_start(query, release, cancel, o, &o->request);
  CHECK(o->request != MPI_REQUEST_NULL);
  return &o->request;
}

#define CHECK_CALLED(o, q, f)  \
  do {                         \
    CHECK_EQ((o)->queries, q); \
    CHECK_EQ((o)->frees, f);   \
  } while (0)

static void check_outcome(const Operation* o, const MPI_Status* status) {
  int flag;
  check_status(status, o->source, o->tag, o->ints, MPI_INT);
  MPI_Test_cancelled(status, &flag);
  CHECK_EQ(flag, o->cancelled);
}

static void one(void) {
  Operation o;
  MPI_Status status;
  MPI_Request* request = begin(&o, 4);
  int flag = 1, index = 5;
  status.MPI_ERROR = 77;
  MPI_Test(request, &flag, &status);
  CHECK(!flag);
  MPI_Request_get_status(*request, &flag, &status);
  CHECK(!flag);
  CHECK_CALLED(&o, 0, 0);
  MPI_Grequest_complete(*request);
  CHECK_CALLED(&o, 0, 0);
  for (int i = 1; i <= 3; i++) {
    MPI_Request_get_status(*request, &flag, i == 2 ? MPI_STATUS_IGNORE : &status);
    CHECK(flag);
    CHECK_CALLED(&o, i, 0);
    if (i != 2) check_outcome(&o, &status);
  }
  o.tag = 99, o.cancelled = 1;  // it is asked anew
  MPI_Wait(request, &status);
  CHECK_CALLED(&o, 4, 1);
  check_outcome(&o, &status);
  CHECK_EQ(status.MPI_ERROR, 77);
  CHECK(*request == MPI_REQUEST_NULL);

  request = begin(&o, 1);
  MPI_Grequest_complete(*request);
  MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
  CHECK_CALLED(&o, 1, 1);
  CHECK(*request == MPI_REQUEST_NULL);
  MPI_Waitany(1, request, &index, &status);
  CHECK_EQ(index, MPI_UNDEFINED);
}

// Five requests: two operations, two receives, and a null one.
enum { kSet = 5 };
typedef struct {
  Operation a, b;
  int values[2];
  MPI_Request requests[kSet];
} Set;

static void begin_set(Set* s) {
  s->requests[0] = *begin(&s->a, 1);
  MPI_Irecv(&s->values[0], 1, MPI_INT, world_rank, 10, MPI_COMM_WORLD, &s->requests[1]);
  s->requests[2] = MPI_REQUEST_NULL;
  s->requests[3] = *begin(&s->b, 2);
  MPI_Irecv(&s->values[1], 1, MPI_INT, world_rank, 11, MPI_COMM_WORLD, &s->requests[4]);
}

static void send_to_self(int tag) {
  int value = 7 * tag;
  MPI_Send(&value, 1, MPI_INT, world_rank, tag, MPI_COMM_WORLD);
}

static void check_member(const Set* s, int index, const MPI_Status* status) {
  if (index == 0) check_outcome(&s->a, status);
  if (index == 3) check_outcome(&s->b, status);
  if (index == 1 || index == 4) {
    check_status(status, world_rank, index == 1 ? 10 : 11, 1, MPI_INT);
    CHECK_EQ(s->values[index / 4], index == 1 ? 70 : 77);
  }
}

static void all(int test, int ignore) {
  Set s;
  MPI_Status statuses[kSet];
  int flag = 1;
  begin_set(&s);
  send_to_self(10);
  send_to_self(11);
  MPI_Grequest_complete(s.requests[3]);
  MPI_Testall(kSet, s.requests, &flag, statuses);
  CHECK(!flag);
  MPI_Request_get_status_all(kSet, s.requests, &flag, statuses);
  CHECK(!flag);
  CHECK_CALLED(&s.b, 0, 0);
  MPI_Grequest_complete(s.requests[0]);
  for (flag = 0; !flag;) MPI_Request_get_status_all(kSet, s.requests, &flag, ignore ? MPI_STATUSES_IGNORE : statuses);
  CHECK_CALLED(&s.a, 1, 0);
  CHECK_CALLED(&s.b, 1, 0);
  for (int i = 0; i < kSet && !ignore; i++) check_member(&s, i, &statuses[i]);
  memset(statuses, 0, sizeof statuses);
  if (test) {
    for (flag = 0; !flag;) MPI_Testall(kSet, s.requests, &flag, ignore ? MPI_STATUSES_IGNORE : statuses);
  } else {
    MPI_Waitall(kSet, s.requests, ignore ? MPI_STATUSES_IGNORE : statuses);
  }
  CHECK_CALLED(&s.a, 2, 1);
  CHECK_CALLED(&s.b, 2, 1);
  for (int i = 0; i < kSet && !ignore; i++) check_member(&s, i, &statuses[i]);
  for (int i = 0; i < kSet; i++) CHECK(s.requests[i] == MPI_REQUEST_NULL);
}

static void any(int test) {
  Set s;
  MPI_Status status;
  const int order[] = {3, 4, 0, 1};
  int index = 9, flag = 1;
  begin_set(&s);
  MPI_Testany(kSet, s.requests, &index, &flag, &status);
  CHECK(!flag);
  MPI_Request_get_status_any(kSet, s.requests, &index, &flag, &status);
  CHECK(!flag);
  for (int i = 0; i < 4; i++) {
    const int next = order[i];
    if (next == 0 || next == 3) {
      MPI_Grequest_complete(s.requests[next]);
    } else {
      send_to_self(next == 1 ? 10 : 11);
    }
    for (flag = 0; !flag;) MPI_Request_get_status_any(kSet, s.requests, &index, &flag, &status);
    CHECK_EQ(index, next);
    check_member(&s, index, &status);
    memset(&status, 0, sizeof status);
    if (test) {
      for (flag = 0; !flag;) MPI_Testany(kSet, s.requests, &index, &flag, &status);
    } else {
      MPI_Waitany(kSet, s.requests, &index, &status);
    }
    CHECK_EQ(index, next);
    check_member(&s, index, &status);
    CHECK(s.requests[index] == MPI_REQUEST_NULL);
  }
  CHECK_CALLED(&s.a, 2, 1);
  CHECK_CALLED(&s.b, 2, 1);
}

static void some(int test) {
  Set s;
  MPI_Status statuses[kSet];
  int indices[kSet], count = 9, seen = 0;
  begin_set(&s);
  MPI_Testsome(kSet, s.requests, &count, indices, statuses);
  CHECK_EQ(count, 0);
  MPI_Grequest_complete(s.requests[3]);
  send_to_self(10);
  MPI_Request_get_status_some(kSet, s.requests, &count, indices, statuses);
  CHECK(count >= 1);
  for (int i = 0; i < count; i++) check_member(&s, indices[i], &statuses[i]);
  CHECK_CALLED(&s.a, 0, 0);
  CHECK_CALLED(&s.b, 1, 0);
  while (seen != (1 << 3 | 1 << 1)) {
    if (test) {
      MPI_Testsome(kSet, s.requests, &count, indices, statuses);
    } else {
      MPI_Waitsome(kSet, s.requests, &count, indices, statuses);
    }
    for (int i = 0; i < count; i++) {
      CHECK(!(seen & 1 << indices[i]));
      seen |= 1 << indices[i];
      check_member(&s, indices[i], &statuses[i]);
    }
  }
  CHECK_CALLED(&s.b, 2, 1);
  CHECK_CALLED(&s.a, 0, 0);
  MPI_Grequest_complete(s.requests[0]);
  send_to_self(11);
  MPI_Waitall(kSet, s.requests, MPI_STATUSES_IGNORE);
  CHECK_CALLED(&s.a, 1, 1);
}

// free_fn runs in whichever call comes last; query_fn never does.
static void freed(void) {
  Operation o;
  MPI_Request copy, *request = begin(&o, 1);
  copy = *request;
  MPI_Request_free(request);
  CHECK(*request == MPI_REQUEST_NULL);
  CHECK_CALLED(&o, 0, 0);
  MPI_Cancel(&copy);  // the copy names it until free_fn has run
  CHECK_EQ(o.told_complete, 0);
  MPI_Grequest_complete(copy);
  CHECK_CALLED(&o, 0, 1);

  request = begin(&o, 1);
  MPI_Grequest_complete(*request);
  CHECK_CALLED(&o, 0, 0);
  MPI_Request_free(request);
  CHECK_CALLED(&o, 0, 1);
}

static void cancels(void) {
  Operation o;
  MPI_Status status;
  MPI_Request* request = begin(&o, 1);
  MPI_Cancel(request);
  CHECK_EQ(o.cancels, 1);
  CHECK_EQ(o.told_complete, 0);
  o.cancelled = 1;
  MPI_Grequest_complete(*request);
  MPI_Cancel(request);
  CHECK_EQ(o.cancels, 2);
  CHECK(o.told_complete != 0);
  o.cancel_code = MPI_ERR_OTHER;
  CHECK_CLASS(MPI_Cancel(request), MPI_ERR_OTHER);
  MPI_Wait(request, &status);
  check_outcome(&o, &status);
}

// The codes of callbacks, a class of the standard and a code of our own.
static void codes(void) {
  Operation o;
  Set s;
  MPI_Status status, statuses[kSet];
  MPI_Request copy, *request;
  int class, code, flag, index, count, indices[kSet];
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);

  request = begin(&o, 1);
  o.query_code = code;
  MPI_Grequest_complete(*request);
  CHECK_EQ(MPI_Request_get_status(*request, &flag, &status), code);
  check_outcome(&o, &status);
  CHECK_EQ(MPI_Request_get_status_any(1, request, &index, &flag, &status), code);
  CHECK_EQ(MPI_Request_get_status_all(1, request, &flag, &status), MPI_ERR_IN_STATUS);
  CHECK_EQ(status.MPI_ERROR, code);
  CHECK_EQ(MPI_Request_get_status_some(1, request, &count, indices, &status), MPI_ERR_IN_STATUS);
  CHECK_EQ(status.MPI_ERROR, code);
  CHECK_EQ(MPI_Wait(request, &status), code);  // though free_fn comes last and succeeds
  CHECK(*request == MPI_REQUEST_NULL);

  for (int form = 0; form < 4; form++) {
    request = begin(&o, 1);
    o.free_code = form % 2 ? code : MPI_ERR_FILE;
    MPI_Grequest_complete(*request);
    CHECK_EQ(form == 0   ? MPI_Wait(request, &status)
             : form == 1 ? MPI_Test(request, &flag, &status)
             : form == 2 ? MPI_Waitany(1, request, &index, &status)
                         : MPI_Testany(1, request, &index, &flag, &status),
             o.free_code);
    check_outcome(&o, &status);
    CHECK_CALLED(&o, 1, 1);
    CHECK(*request == MPI_REQUEST_NULL);
  }
  for (int form = 0; form < 6; form++) {
    const int ignore = form >= 4;
    begin_set(&s);
    s.b.free_code = code;
    s.b.query_code = MPI_ERR_ARG;
    send_to_self(10);
    send_to_self(11);
    MPI_Grequest_complete(s.requests[0]);
    MPI_Grequest_complete(s.requests[3]);
    for (flag = 0; !flag;) CHECK_EQ(MPI_Request_get_status(s.requests[1], &flag, &status), MPI_SUCCESS);
    for (flag = 0; !flag;) CHECK_EQ(MPI_Request_get_status(s.requests[4], &flag, &status), MPI_SUCCESS);
    for (int i = 0; i < kSet; i++) indices[i] = i;
    CHECK_EQ(form == 0   ? MPI_Waitall(kSet, s.requests, statuses)
             : form == 1 ? MPI_Testall(kSet, s.requests, &flag, statuses)
             : form == 2 ? MPI_Waitsome(kSet, s.requests, &count, indices, statuses)
             : form == 3 ? MPI_Testsome(kSet, s.requests, &count, indices, statuses)
             : form == 4 ? MPI_Waitall(kSet, s.requests, MPI_STATUSES_IGNORE)
                         : MPI_Waitsome(kSet, s.requests, &count, indices, MPI_STATUSES_IGNORE),
             MPI_ERR_IN_STATUS);
    for (int i = 0; i < (form == 2 || form == 3 ? 4 : kSet) && !ignore; i++) {
      CHECK_EQ(statuses[i].MPI_ERROR, indices[i] == 3 ? code : MPI_SUCCESS);
      check_member(&s, indices[i], &statuses[i]);
    }
    CHECK_CALLED(&s.a, 1, 1);
    CHECK_CALLED(&s.b, 1, 1);
  }

  request = begin(&o, 1);
  o.free_code = code;
  copy = *request;
  CHECK_EQ(MPI_Request_free(request), MPI_SUCCESS);
  CHECK_EQ(MPI_Grequest_complete(copy), code);
  request = begin(&o, 1);
  o.free_code = code;
  MPI_Grequest_complete(*request);
  CHECK_EQ(MPI_Request_free(request), code);
}

static void misuse(void) {
  Operation o;
  int value;
  MPI_Request none = MPI_REQUEST_NULL, receive, *request = begin(&o, 1);
  CHECK_CLASS(MPI_Start(request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Grequest_complete(*request), MPI_SUCCESS);
  CHECK_CLASS(MPI_Grequest_complete(*request), MPI_ERR_REQUEST);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  CHECK_CALLED(&o, 1, 1);
  CHECK_CLASS(MPI_Grequest_complete(none), MPI_ERR_REQUEST);
  MPI_Irecv(&value, 1, MPI_INT, world_rank, 10, MPI_COMM_WORLD, &receive);
  CHECK_CLASS(MPI_Grequest_complete(receive), MPI_ERR_REQUEST);
  MPI_Cancel(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  CHECK_CLASS(MPI_Grequest_start(NULL, release, cancel, &o, &none), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, NULL, cancel, &o, &none), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, release, NULL, &o, &none), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, release, cancel, &o, NULL), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  one();
  for (int i = 0; i < 4; i++) all(i / 2, i % 2);
  for (int test = 0; test < 2; test++) any(test), some(test);
  freed();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  cancels();
  codes();
  misuse();
  return finish();
}
