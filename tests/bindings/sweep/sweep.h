// The sweep of bad input: every procedure, called with each of its arguments wrong in turn.
//
// Problem: a wrong argument must give the error class that the standard names, at once, whatever the procedure; some 470
//          procedures with 2,300 arguments are too many to try by hand, and the one that was left out is the one that
//          crashes.
// Method:  scripts/generate_sweep.py says, from the table that the bindings are made from, of which Kind each argument of
//          each procedure is (generated/sweep_*.c). A Kind, written by hand in kinds_*.c, knows a good value and all the
//          wrong ones, each with its error class. Each procedure is called with good values only, which must succeed, and
//          then once for each wrong value. Whatever an argument points to is a block of the heap of just its size, so
//          that the address sanitizer sees who reads or writes beyond it.
// Threads: one.
#ifndef HEDDLE_SWEEP_H
#define HEDDLE_SWEEP_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef intptr_t Word;  // any argument

// A value to pass: `bytes` of a block that `value` is copied to, and whose address is passed; with 0 bytes the value itself.
typedef struct {
  size_t bytes;
  const void* value;   // a Word when bytes is 0; null: zeros
  Word (*make)(void);  // instead: a value of this moment, such as a handle that was freed just now
} Value;

enum Where { kEverywhere, kOnlyIntra, kOnlyInter };
enum Mode { kAlone, kPair, kInterPair };  // one process; two, in one group; two, on an intercommunicator

typedef struct {
  const char* what;
  int error;  // MPI_SUCCESS: odd, but legal
  Value value;
  enum Where where;  // in which kind of communicator it is wrong
} Wrong;

typedef struct {
  Value good;
  void (*end)(Word argument);  // gives back what the call made or left; null: nothing to do
  const Wrong* wrong;          // ends with a row of zeros; null: no value can be told to be wrong
  int per_rank;                // the block has one such element for each rank; a wrong one is the last
} Kind;

// Which processes look at an argument of a rooted collective. What is kOthersLook on an intercommunicator, all look at in one
// group.
enum Looks { kAllLook, kRootLooks, kOthersLook };

typedef struct {
  const char* name;
  const Kind* kind;
  enum Looks looks;
} Parameter;

enum { kMaxParameters = 16 };
// With two processes: left out; swept; MPI_ERR_COMM on an intercommunicator; the same, and left out on another one; swept on an
// intercommunicator and nowhere else.
enum Together { kNever, kSwept, kRefusesInter, kOnlyRefusesInter, kOnlyInterSwept };

typedef struct {
  const char* name;
  int (*call)(const Word* a);
  int expected;          // of the call with good values
  void (*before)(void);  // each call
  void (*after)(void);
  enum Together together;
  Parameter parameters[kMaxParameters];
} Procedure;

typedef struct {
  const char* title;
  const Procedure* procedures;
  size_t length;
} Chapter;

extern const Chapter* const chapters[];  // ends with null

// What the kinds are made of.
#define V(x) \
  { 0, &(const Word){(Word)(x)}, NULL }  // the value itself
#define CELL(x) \
  { 8, &(const Word){(Word)(x)}, NULL }
#define INT(x) \
  { 4, &(const int){(x)}, NULL }
#define BLOCK(type, ...) \
  { sizeof((type[]){__VA_ARGS__}), (const type[]){__VA_ARGS__}, NULL }
#define ROOM(bytes) \
  { (bytes), NULL, NULL }
#define MADE(f) \
  { 0, NULL, f }
#define MADE_CELL(f) \
  { 8, NULL, f }
#define MADE_INT(f) \
  { 4, NULL, f }
#define NULL_POINTER \
  { "a null pointer", MPI_ERR_ARG, V(0), kEverywhere }
#define LAST \
  { NULL, 0, {0, NULL, NULL}, kEverywhere }

// The communicator of this run.
extern enum Mode sweep_mode;
extern MPI_Comm sweep_comm;
extern int sweep_rank;
extern Word sweep_size;  // of the group that ranks are of
void make_objects(void);
void free_objects(void);

#endif
