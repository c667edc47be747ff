# HEDDLE_SANITIZE: empty, "address" (with undefined behaviour) or "thread". The presets set it.
set(HEDDLE_SANITIZE "" CACHE STRING "address, thread, or empty")
if(HEDDLE_SANITIZE STREQUAL "address")
  add_compile_options(-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  # GoogleTest's macros make much code. With undefined behaviour looked for in the library alone, and in the programs, a test
  # compiles in a third of the time; and unoptimised in half of that.
  set(HEDDLE_SANITIZE_TESTS -fno-sanitize=undefined -O0)
elseif(HEDDLE_SANITIZE STREQUAL "thread")
  add_compile_options(-O1 -fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT HEDDLE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HEDDLE_SANITIZE is '${HEDDLE_SANITIZE}'; say address, thread, or nothing")
endif()
