# SPDX-License-Identifier: Apache-2.0
# BENANZA_PORTABLE: a benchmark program for GPUs alone, and the analyzer, that run where nothing can be
# installed. They need CUDA's own libraries and those of every Linux; Google Benchmark is built in, from source:
# -DBENANZA_BENCHMARK_SOURCE=<folder> (on Debian: apt-get source benchmark), else it is fetched.

set(BENANZA_BENCHMARK_SOURCE "$ENV{BENANZA_BENCHMARK_SOURCE}" CACHE PATH
  "Folder of Google Benchmark's sources, for BENANZA_PORTABLE; fetched if unset")

set(BENANZA_BENCHMARK_REPOSITORY https://github.com/google/benchmark.git)
set(BENANZA_BENCHMARK_COMMIT 192ef10025eb2c4cdd392bc502f0c852196baa48) # v1.9.5

# The sources, fetched by the hash of their commit; ends with one line where that is not possible.
function(benanza_fetch_benchmark folder)
  find_package(Git QUIET)
  set(failed "git was not found")
  if(GIT_FOUND)
    file(MAKE_DIRECTORY ${folder})
    foreach(words "init;-q" "fetch;-q;--depth;1;${BENANZA_BENCHMARK_REPOSITORY};${BENANZA_BENCHMARK_COMMIT}"
        "checkout;-q;${BENANZA_BENCHMARK_COMMIT}")
      execute_process(COMMAND ${GIT_EXECUTABLE} ${words} WORKING_DIRECTORY ${folder}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 120)
      if(failed)
        break()
      endif()
    endforeach()
  endif()
  if(failed)
    file(REMOVE_RECURSE ${folder})
    message(FATAL_ERROR "benanza: Google Benchmark's sources could not be fetched from ${BENANZA_BENCHMARK_REPOSITORY}; give -DBENANZA_BENCHMARK_SOURCE=<folder> (on Debian: apt-get source benchmark)")
  endif()
endfunction()

# Makes the target benchmark::benchmark, a static library.
macro(benanza_benchmark_from_source)
  set(benanza_sources ${BENANZA_BENCHMARK_SOURCE})
  if(NOT benanza_sources)
    set(benanza_sources ${PROJECT_BINARY_DIR}/google_benchmark-source)
    if(NOT EXISTS ${benanza_sources}/CMakeLists.txt)
      benanza_fetch_benchmark(${benanza_sources})
    endif()
  endif()
  if(NOT EXISTS ${benanza_sources}/include/benchmark/benchmark.h)
    message(FATAL_ERROR "benanza: ${benanza_sources} does not hold Google Benchmark's sources; give -DBENANZA_BENCHMARK_SOURCE=<folder>")
  endif()
  foreach(option TESTING GTEST_TESTS INSTALL WERROR LIBPFM DOXYGEN)
    set(BENCHMARK_ENABLE_${option} OFF CACHE BOOL "" FORCE)
  endforeach()
  set(BENCHMARK_INSTALL_DOCS OFF CACHE BOOL "" FORCE)
  set(BUILD_SHARED_LIBS OFF)
  if(NOT TARGET benchmark::benchmark)
    add_subdirectory(${benanza_sources} ${PROJECT_BINARY_DIR}/google_benchmark EXCLUDE_FROM_ALL)
  endif()
  file(STRINGS ${benanza_sources}/CMakeLists.txt benanza_line REGEX "^project *\\(benchmark VERSION")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" benchmark_VERSION "${benanza_line}")
  set(benchmark_FOUND TRUE)
endmacro()

# Links a benchmark program for other machines: CUDA's libraries are looked for beside it first. What
# it needs is printed, and refused where another machine will not have it.
function(benanza_make_portable target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
  target_link_options(${target} PRIVATE -s -Wl,--as-needed -Wl,--gc-sections)
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND}
    -DPROGRAM=$<TARGET_FILE:${target}> -DREADELF=${CMAKE_READELF}
    -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/portable_needs.cmake VERBATIM)
endfunction()
