// Attributes: values that the user caches on communicators, datatypes and windows, under keys of their own.
//
// Problem: callbacks of the user copy and delete the values, may call MPI again, and may fail; a key may be freed while
//          values under it live on (MPI 5.0, 7.7).
// Method:  a table of keys; each value keeps its key alive, so freeing a key only takes away its number. A number is
//          never given twice. A value stays in place while its delete callback runs, and goes when the callback
//          succeeded. Copying runs the callbacks on the old object before the new one exists, so a failure leaves
//          nothing half made.
// Threads: any; one mutex for all attributes, never held while a callback runs.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Comm;
struct Datatype;
struct Keyval;
struct Win;

// The attributes of one object, in the order in which they were set. Null in the object while it has none.
struct Attributes {
  struct Entry {
    std::shared_ptr<Keyval> keyval;
    void* value;
  };
  std::vector<Entry> entries;
};

// `copy` and `remove` are the ABI's callbacks for objects of `kind`; the predefined ones are small constants.
using AttributeFunction = void (*)();
Status create_keyval(Kind kind, AttributeFunction copy, AttributeFunction remove, void* extra_state, int* keyval);
// The number becomes MPI_KEYVAL_INVALID.
Status free_keyval(Kind kind, int* keyval);

// `Holder` is Comm, Datatype or Win.
template <class Holder>
Status set_attribute(Holder& object, int keyval, void* value);
// The predefined attributes are found on every communicator, and those of windows on every window (MPI 5.0, 12.2.6).
template <class Holder>
Status get_attribute(Holder& object, int keyval, void** value, int* flag);
template <class Holder>
Status delete_attribute(Holder& object, int keyval);

// Runs the copy callbacks of `object` for an object that will be made; null when there is nothing to give it. Where one
// fails, what was copied before is deleted again. Of communicators and datatypes only: a window has no copies.
template <class Holder>
Status copy_attributes(Holder& object, Attributes** copies);
// Runs the delete callbacks of copies for which no object was made, and forgets them. The callbacks see the object that
// they were copied from, and their failures are of no consequence.
template <class Holder>
void undo_copies(Holder& object, Attributes* copies);

// Runs the delete callbacks, the newest attribute first; stops at the first that fails. Called when the user frees the
// object, and for MPI_COMM_SELF by MPI_Finalize before anything else.
Status delete_all_attributes(Comm& comm);
Status delete_all_attributes(Datatype& type);
Status delete_all_attributes(Win& win);

// Lets go of what is left, without a callback: for the destructor of the object.
void drop_attributes(Attributes* attributes) noexcept;

}  // namespace heddle::mpi
