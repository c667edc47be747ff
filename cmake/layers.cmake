# A folder of src is a layer. Lowest first; a layer links with, and includes from, itself and the layers before it.
# scripts/check_layers holds the includes to the same list. portals4 is another library, made of itself, job and what is below.
set(HEDDLE_LAYERS base plan boot wire match portals vci job mpi p2p coll comm rma part tool bindings portals4)

set(HEDDLE_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror)

# heddle_layer_objects(OUT layer): the object files of `layer` and of every layer below it.
function(heddle_layer_objects out layer)
  set(objects "")
  foreach(l IN LISTS HEDDLE_LAYERS)
    if(TARGET heddle_${l})
      list(APPEND objects $<TARGET_OBJECTS:heddle_${l}>)
    endif()
    if(l STREQUAL layer)
      break()
    endif()
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# A test's own code, and GoogleTest's macros, compile in two thirds of the time that -O2 takes.
set(HEDDLE_TEST_OPTIONS ${HEDDLE_WARNINGS} ${HEDDLE_PRECOMPILED_WARNINGS} -O1 ${HEDDLE_SANITIZE_TESTS})

# heddle_test(name SOURCE file LAYER layer [LABELS ...] [TIMEOUT s]): a GoogleTest program against `layer` and below. A model
# (docs/verification.md) has one system thread and makes millions of small steps: not with a sanitizer.
function(heddle_test name)
  cmake_parse_arguments(T "" "SOURCE;LAYER;TIMEOUT" "LABELS;LIBS" ${ARGN})
  if(HEDDLE_SANITIZE AND model IN_LIST T_LABELS)
    return()
  endif()
  heddle_layer_objects(objects ${T_LAYER})
  add_executable(${name} ${T_SOURCE} ${objects})
  target_compile_options(${name} PRIVATE ${HEDDLE_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM heddle_test_headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS} ${T_LIBS})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
endfunction()
