# SPDX-License-Identifier: Apache-2.0
# Builds the portable benchmark program from Google Benchmark's sources, where these are at hand, and
# sees that it lists cases, needs nothing that another machine lacks, and refuses what it cannot do.

if(NOT BENCHMARK_SOURCE)
  message("skipped: Google Benchmark's sources are not at hand (BENANZA_BENCHMARK_SOURCE)")
  return()
endif()

function(run status)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE ended OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT ended EQUAL status)
    message(FATAL_ERROR "ended with ${ended}: ${ARGN}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
  string(REGEX REPLACE "[ \n]+" " " err "${err}") # CMake wraps what it says
  set(errors "${err}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_BUILD_TYPE=Release -DBENANZA_PORTABLE=ON)
run(1 ${configure} -B ${WORK}/none -DBENANZA_BENCHMARK_SOURCE=${WORK})
if(NOT errors MATCHES "does not hold Google Benchmark's")
  message(FATAL_ERROR "a folder without sources was refused so: ${errors}")
endif()

run(0 ${configure} -B ${WORK}/build -DBENANZA_BENCHMARK_SOURCE=${BENCHMARK_SOURCE})
run(0 ${CMAKE_COMMAND} --build ${WORK}/build --target benanza_bench --parallel 2)
if(NOT output MATCHES "benanza_bench: [0-9]+ bytes, needs [^\n]*libcudnn")
  message(FATAL_ERROR "the build did not say what the program needs:\n${output}")
endif()
set(bench ${WORK}/build/benanza_bench)
run(0 ${bench} --backends cudnn --benchmark_list_tests --benchmark_filter=^Conv)
if(NOT output MATCHES "Conv/1x1x28x28-8x5x5-s1-p2/f32/cudnn/")
  message(FATAL_ERROR "the first convolution of LeNet is not among the cases:\n${output}")
endif()
run(2 ${bench} --backends onednn --benchmark_list_tests)
run(2 ${bench} --threads 2 --benchmark_list_tests)
run(2 ${bench} --store ${WORK}/results.db --backends cudnn --benchmark_filter=^Conv)

# What another machine lacks is refused.
run(1 ${CMAKE_COMMAND} -E env ${CMAKE_COMMAND} -DPROGRAM=${WORK}/full -DREADELF=readelf
  -P ${SOURCE}/cmake/portable_needs.cmake)
file(COPY_FILE ${FULL} ${WORK}/full)
run(1 ${CMAKE_COMMAND} -DPROGRAM=${WORK}/full -DREADELF=readelf
  -P ${SOURCE}/cmake/portable_needs.cmake)
if(NOT errors MATCHES "must not need .*libgomp" OR EXISTS ${WORK}/full)
  message(FATAL_ERROR "a program that needs OpenMP was not refused: ${errors}")
endif()
