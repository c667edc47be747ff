# The standard library's headers, and GoogleTest's, are compiled once: to read them takes longer than most sources.
# Every file includes what it uses all the same: scripts/check_headers compiles without this, and a release its library.
set(HEDDLE_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <thread> <vector>)
# Of what was read so, GCC 12 forgets that it is the system's, and warns of what std::string does to itself: no error
# in tests; and the library of a release is compiled without.
set(HEDDLE_PRECOMPILED_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)  # ccache wants it

# heddle_precompiled(target OPTIONS option... HEADERS header... LIBS library...): headers that targets of the same options reuse.
function(heddle_precompiled target)
  cmake_parse_arguments(T "" "" "OPTIONS;HEADERS;LIBS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp CONTENT "")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_compile_options(${target} PRIVATE ${T_OPTIONS})
  target_link_libraries(${target} PRIVATE ${T_LIBS})
  target_precompile_headers(${target} PRIVATE ${HEDDLE_STANDARD_HEADERS} ${T_HEADERS})
endfunction()
