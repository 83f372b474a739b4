# lapilli_folder(NAME [LINK target ...]): the folder's own .cpp files as an object library lapilli_NAME, collected into
# the library lapilli. LINK names the folders above it and outside libraries that it may use, and nothing else.
function(lapilli_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(lapilli_${name} OBJECT ${sources})
  target_link_libraries(lapilli_${name} PUBLIC lapilli_settings ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY lapilli_folders lapilli_${name})
endfunction()

# lapilli_test(NAME SOURCES file ... [LINK target ...]): a GoogleTest program whose cases ctest knows one by one.
function(lapilli_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE lapilli_settings ${arg_LINK} GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
