function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${prefix} ${WORK}/consumer ${WORK}/moved)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# An installed tree may be moved.
file(RENAME ${prefix} ${WORK}/moved)
set(prefix ${WORK}/moved)

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/consumer -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBRARY_FOLDER}/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBRARY_FOLDER})
execute_process(COMMAND pkg-config --cflags --libs lapilli OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${COMPILER} -std=c++23 ${SOURCE}/main.cpp -o ${WORK}/consumer/by_pkg_config ${flags})
run(${WORK}/consumer/by_pkg_config)
