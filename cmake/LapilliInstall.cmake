# The library lapilli, collected from the folders, and what is installed for those who use it.
include(CMakePackageConfigHelpers)

# Shared, so that its own dependencies stay its own.
get_property(folders GLOBAL PROPERTY lapilli_folders)
add_library(lapilli SHARED)
target_link_libraries(lapilli PRIVATE ${folders})
target_compile_features(lapilli INTERFACE cxx_std_23)
target_include_directories(lapilli INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Before 1.0 a minor version may change the interface, so it is part of the name that programs are linked to.
set_target_properties(lapilli PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                         SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(lapilli::lapilli ALIAS lapilli)

install(TARGETS lapilli EXPORT lapilli LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lapilli DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/lapilli)
install(EXPORT lapilli NAMESPACE lapilli:: FILE lapilli-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lapilli-config.cmake.in
                              ${PROJECT_BINARY_DIR}/lapilli-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lapilli-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lapilli-config.cmake ${PROJECT_BINARY_DIR}/lapilli-config-version.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lapilli.pc.in ${PROJECT_BINARY_DIR}/lapilli.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lapilli.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
