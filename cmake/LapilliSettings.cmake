# What every target of the project is built with.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(LAPILLI_CCACHE ccache)
if(LAPILLI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LAPILLI_CCACHE})
endif()

add_library(lapilli_settings INTERFACE)
target_compile_features(lapilli_settings INTERFACE cxx_std_23)
target_include_directories(lapilli_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(lapilli_settings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
if(LAPILLI_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "LAPILLI_FUZZERS needs Clang: -DCMAKE_CXX_COMPILER=clang++")
endif()
# Built as Debug, without optimisation, since optimising instrumented code takes half of the build. Lines are all that a
# report shows of debug information.
if(LAPILLI_SANITIZE)
  target_compile_options(lapilli_settings INTERFACE -fsanitize=${LAPILLI_SANITIZE} -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer -g1)
  target_compile_definitions(lapilli_settings INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(lapilli_settings INTERFACE -fsanitize=${LAPILLI_SANITIZE})
endif()
