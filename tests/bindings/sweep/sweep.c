// Runs the sweep.
//   sweep          on a communicator of one process
//   sweep pair     two processes, in one group
//   sweep inter    two processes, on an intercommunicator
#include "objects.h"

#include <signal.h>
#include <unistd.h>

enum { kSecondsForACall = 20 };
static const char* const modes[] = {"", " (two processes)", " (intercommunicator)"};

static char now[512];  // the call under way, for whoever reads the last words
static int calls, failures;

static void last_words(int signal_number) {
  static const char hang[] = "sweep: this call does not return: ", crash[] = "sweep: this call crashed: ";
  const int hangs = signal_number == SIGALRM;
  ssize_t written = write(2, hangs ? hang : crash, hangs ? sizeof hang - 1 : sizeof crash - 1);
  written += write(2, now, strlen(now));
  written += write(2, "\n", 1);
  _exit(written > 0 ? 1 : 2);
}

// The sanitizer calls this before it reports.
void __asan_on_error(void);
void __asan_on_error(void) { fprintf(stderr, "sweep: this call is in error: %s\n", now); }

static void fill(void* element, const Value* v) {
  if (v->value != NULL) memcpy(element, v->value, v->bytes);
  if (v->make != NULL) {
    const Word made = v->make();
    memcpy(element, &made, v->bytes);
  }
}

static Word realize(const Kind* kind, const Value* v) {
  if (v->bytes == 0) return v->make != NULL ? v->make() : *(const Word*)v->value;
  const size_t before = kind->per_rank ? (size_t)(sweep_size - 1) * v->bytes : 0;
  char* block = calloc(1, before + v->bytes);
  for (size_t at = 0; at < before; at += v->bytes) fill(block + at, &kind->good);
  fill(block + before, v);
  return (Word)block;
}

static int class_of(int code) {
  int class;
  return MPI_Error_class(code, &class) == MPI_SUCCESS ? class : code;
}

// "MPI_ERR_RANK: what the class means: what it is here".
static int has_sentence(const char* text) {
  const char* meaning = strstr(text, ": ");
  const char* sentence = meaning != NULL ? strstr(meaning + 2, ": ") : NULL;
  return sentence != NULL && sentence[2] != '\0';
}

static int is_refused(const Procedure* p) {
  return sweep_mode == kInterPair && (p->together == kRefusesInter || p->together == kOnlyRefusesInter);
}

static int is_left_out(const Procedure* p) {
  switch (sweep_mode) {
    case kAlone:
      return p->together == kOnlyInterSwept;
    case kPair:
      return p->together != kSwept && p->together != kRefusesInter;
    default:
      return p->together == kNever;
  }
}

// One call, with the wrong value for parameter `at`, if there is one.
static void call(const Procedure* p, int at, const Wrong* wrong) {
  const Value* values[kMaxParameters];
  Word arguments[kMaxParameters];
  int n = 0;
  for (; n < kMaxParameters && p->parameters[n].name != NULL; n++) {
    values[n] = n == at ? &wrong->value : &p->parameters[n].kind->good;
  }
  if (wrong != NULL) {
    snprintf(now, sizeof now, "%s%s, %s is %s", p->name, modes[sweep_mode], p->parameters[at].name, wrong->what);
  } else {
    snprintf(now, sizeof now, "%s%s, all arguments right", p->name, modes[sweep_mode]);
  }
  if (p->before != NULL) p->before();
  for (int i = 0; i < n; i++) {
    if (i != at) arguments[i] = realize(p->parameters[i].kind, values[i]);
  }
  if (at >= 0)
    arguments[at] = realize(p->parameters[at].kind, values[at]);  // last: what was freed for it is not taken again
  const int expected = wrong != NULL ? wrong->error : is_refused(p) ? MPI_ERR_COMM : p->expected;
  alarm(kSecondsForACall);
  const int code = p->call(arguments), found = class_of(code);
  alarm(0);
  calls++;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (found != expected) {
    fprintf(stderr, "sweep: %s: error class %d, expected %d. %s\n", now, found, expected, text);
    failures++;
  } else if (code != MPI_SUCCESS && !has_sentence(text)) {
    fprintf(stderr, "sweep: %s: no sentence says what is wrong: %s\n", now, text);
    failures++;
  }
  for (int i = n; i-- > 0;) {  // from the last on: a request, before what it makes
    const Kind* kind = p->parameters[i].kind;
    if (kind->end != NULL && arguments[i] != 0) kind->end(arguments[i]);  // a wrong one: refused, or made for the call
  }
  if (p->after != NULL) p->after();
  for (int i = 0; i < n; i++) {
    if (values[i]->bytes != 0) free((void*)arguments[i]);
  }
}

// Is the argument looked at in this process? Rank 0 has the root.
static int is_looked_at(const Parameter* parameter) {
  if (parameter->looks == kRootLooks) return sweep_mode == kAlone || sweep_rank == 0;
  return parameter->looks == kAllLook || sweep_mode != kInterPair || sweep_rank != 0;
}

static void sweep(const Procedure* p) {
  if (is_left_out(p)) return;
  call(p, -1, NULL);
  if (is_refused(p)) return;
  for (int i = 0; i < kMaxParameters && p->parameters[i].name != NULL; i++) {
    const Wrong* wrong = p->parameters[i].kind->wrong;
    if (wrong == NULL || !is_looked_at(&p->parameters[i])) continue;
    for (; wrong->what != NULL; wrong++) {
      if (wrong->where == (sweep_mode == kInterPair ? kOnlyIntra : kOnlyInter)) continue;
      call(p, i, wrong);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  signal(SIGALRM, last_words);
#ifndef __SANITIZE_ADDRESS__
  signal(SIGSEGV, last_words);
  signal(SIGABRT, last_words);
#endif
  if (argc > 1) sweep_mode = strcmp(argv[1], "inter") == 0 ? kInterPair : kPair;
  make_objects();
  make_windows();
  begin_tool();
  for (const Chapter* const* chapter = chapters; *chapter != NULL; chapter++) {
    const int before = calls;
    for (size_t i = 0; i < (*chapter)->length; i++) sweep(&(*chapter)->procedures[i]);
    if (calls != before) printf("%-24s %5d calls\n", (*chapter)->title, calls - before);
  }
  end_tool();
  free_windows();
  free_objects();
  printf("%d calls, %d of them not as they should be\n", calls, failures);
  const int failed = failures != 0;
  MPI_Finalize();
  return failed;
}
