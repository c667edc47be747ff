// What the generated functions of the tool interface are made of.
//
// Problem: MPI_T works before MPI_Init and after MPI_Finalize, knows no error handlers, and has return codes of its own.
// Method:  a frame for each call: the tool layer's lock, whether the interface is initialised, then the body. The sentence
//          that goes with a code can be had from MPI_Error_string.
// Threads: any; one at a time is in the tool layer.
#pragma once

#include <new>

#include "base/lock.hpp"
#include "bindings/call.hpp"
#include "tool/state.hpp"

namespace heddle::bindings {

enum class Tool { kInitialized, kFirstCall };

inline Status needed(const char* parameter, const void* pointer) {
  if (pointer != nullptr) return Status::ok();
  return error(MPI_T_ERR_INVALID, "%s is a null pointer; the call needs the address of a variable or a text",
               parameter);
}

template <Tool when, class Body>
int call_tool(const char* procedure, Body body) {
  tool::State& state = tool::state();
  LockGuard guard(state.lock);
  if (when == Tool::kInitialized && state.users == 0) {
    return error(MPI_T_ERR_NOT_INITIALIZED, "%s was called outside of MPI_T_init_thread and MPI_T_finalize", procedure)
        .error_class();
  }
  try {
    return body().error_class();
  } catch (const std::bad_alloc&) {
    return error(MPI_T_ERR_MEMORY, "memory ran out in %s; nothing was done", procedure).error_class();
  }
}

}  // namespace heddle::bindings
