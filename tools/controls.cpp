#include "controls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "mpi.h"

namespace heddle {
namespace {

// A procedure of the library.
#define ASK(name) (*reinterpret_cast<decltype(P##name)*>(dlsym(library, "P" #name)))

// The value as the environment would say it, or why there is none.
std::string value_of(void* library, int index, MPI_Datatype type, MPI_T_enum words) {
  MPI_T_cvar_handle handle;
  int count = 0, value = 0;
  ASK(MPI_T_cvar_handle_alloc)(index, nullptr, &handle, &count);
  if (type == MPI_CHAR) {
    std::string text(static_cast<std::size_t>(count), '\0');
    ASK(MPI_T_cvar_read)(handle, text.data());
    ASK(MPI_T_cvar_handle_free)(&handle);
    return "'" + std::string(text.c_str()) + "'";
  }
  const int code = ASK(MPI_T_cvar_read)(handle, &value);
  ASK(MPI_T_cvar_handle_free)(&handle);
  int length = 0;
  if (code != MPI_SUCCESS) {
    char sentence[MPI_MAX_ERROR_STRING];
    ASK(MPI_Error_string)(code, sentence, &length);
    return std::string("none: ") + sentence;
  }
  char word[80] = "";
  length = sizeof word;
  if (words != MPI_T_ENUM_NULL && ASK(MPI_T_enum_get_item)(words, value, &value, word, &length) == MPI_SUCCESS)
    return word;
  return std::to_string(value);
}

}  // namespace

void print_controls(void* library) {
  int threads = 0, variables = 0;
  if (dlsym(library, "PMPI_T_init_thread") == nullptr ||
      ASK(MPI_T_init_thread)(MPI_THREAD_SINGLE, &threads) != MPI_SUCCESS) {
    return;
  }
  ASK(MPI_T_cvar_get_num)(&variables);
  std::printf("control variables, set in the environment or with MPI_T_cvar_write\n");
  for (int i = 0; i < variables; ++i) {
    char name[80], meaning[600];
    int name_length = sizeof name, meaning_length = sizeof meaning;
    MPI_T_enum words = MPI_T_ENUM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    ASK(MPI_T_cvar_get_info)
    (i, name, &name_length, nullptr, &type, &words, meaning, &meaning_length, nullptr, nullptr);
    std::printf("  %s = %s\n    %s\n", name, value_of(library, i, type, words).c_str(), meaning);
  }
  ASK(MPI_T_finalize)();
}

}  // namespace heddle
