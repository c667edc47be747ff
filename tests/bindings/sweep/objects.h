// The objects that the kinds pass: live ones, and ways to make one that is freed again.
#ifndef HEDDLE_SWEEP_OBJECTS_H
#define HEDDLE_SWEEP_OBJECTS_H

#include "sweep.h"

extern MPI_Comm live_comm, live_cart, live_graph, live_dist;
extern MPI_Datatype live_type, open_type;  // committed; not committed
extern MPI_Group live_group;
extern MPI_Info live_info;
extern MPI_Op live_op;
extern MPI_Session live_session;
extern Word no_object;   // the address of something else
extern Word sweep_root;  // the root of rooted collectives: MPI_ROOT or a rank
extern int live_comm_key, live_type_key;
extern char long_text[4096];

void make_windows(void);
void free_windows(void);
void begin_tool(void);
void end_tool(void);

Word new_comm(void);
Word new_type(void);
Word new_open_type(void);
Word new_group(void);
Word new_info(void);
Word new_op(void);
Word new_session(void);
Word new_errhandler(void);
Word new_request(void);             // active; completes at once
Word new_persistent_request(void);  // inactive
Word new_started_request(void);
Word new_grequest(void);
Word new_completed_grequest(void);
Word new_comm_key(void);
Word new_type_key(void);
Word stale_comm(void);
Word stale_type(void);
Word stale_group(void);
Word stale_info(void);
Word stale_op(void);
Word stale_session(void);
Word stale_errhandler(void);
Word stale_request(void);
Word stale_message(void);
Word stale_comm_key(void);
Word stale_type_key(void);

// Of a cell: frees what is in it.
void end_comm(Word cell);
void end_type(Word cell);
void end_group(Word cell);
void end_info(Word cell);
void end_op(Word cell);
void end_session(Word cell);
void end_errhandler(Word cell);
void end_request(Word cell);
void end_grequest(Word cell);
void end_comm_key(Word cell);
void end_type_key(Word cell);

// A null handle, one that was freed, one of another kind, and what never was one.
#define BAD_HANDLE(form, form_made, error, stale, other, constant)                                              \
  {"a handle of zeros", error, form(0), kEverywhere}, {"a freed handle", error, form_made(stale), kEverywhere}, \
      {"a handle of another kind", error, form_made(other), kEverywhere},                                       \
      {#constant, error, form(constant), kEverywhere},                                                          \
      {"the address of no object", error, form_made(address_of_no_object), kEverywhere}, {                      \
    "an odd address", error, form_made(odd_address), kEverywhere                                                \
  }
Word address_of_no_object(void);
Word odd_address(void);
Word the_type(void);
Word the_group(void);

#endif
