# lapilli_folder(NAME [SEPARATE] [LINK target ...]): the folder's own .cpp files as an object library lapilli_NAME,
# collected into the library lapilli unless it is SEPARATE. LINK names the folders above it and outside libraries that
# it may use, and nothing else.
function(lapilli_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SEPARATE" "" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(lapilli_${name} OBJECT ${sources})
  target_link_libraries(lapilli_${name} PUBLIC lapilli_settings ${arg_LINK})
  if(NOT arg_SEPARATE)
    set_property(GLOBAL APPEND PROPERTY lapilli_folders lapilli_${name})
  endif()
endfunction()

# lapilli_test(NAME [SLOW | LONG | THREADS] SOURCES file ... [LINK target ...]): a GoogleTest program whose cases ctest knows one
# by one. SLOW leaves it out of the run with sanitizers: it is for tests of kernels, whose time goes into compiling
# shaders and whose host code conformance_plan_test runs. LONG leaves it out of `./do test` too. THREADS has the thread
# sanitizer run it as well.
function(lapilli_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW;LONG;THREADS" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lapilli_settings ${arg_LINK} GTest::gtest_main)
  if(LAPILLI_SANITIZE)
    target_link_libraries(${name} PRIVATE test_sanitizers)
  endif()
  # One label, since gtest_discover_tests takes no list: ctest's -L finds a part of it too.
  if(arg_SLOW)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
  elseif(arg_LONG)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS slow)
  elseif(arg_THREADS)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS checked_threads)
    set_property(GLOBAL APPEND PROPERTY lapilli_checked_tests ${name})
    set_property(GLOBAL APPEND PROPERTY lapilli_threads_tests ${name})
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS checked)
    set_property(GLOBAL APPEND PROPERTY lapilli_checked_tests ${name})
  endif()
endfunction()

# lapilli_fuzzer(NAME SOURCES file ... [LINK target ...]): a libFuzzer program in fuzzers/ of the build folder. Its seeds
# are tests/fuzz/corpus/NAME, where there are any. For tests/fuzz, which is built with LAPILLI_FUZZERS only.
function(lapilli_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lapilli_settings ${arg_LINK})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  set_property(GLOBAL APPEND PROPERTY lapilli_fuzzers ${name})
endfunction()
