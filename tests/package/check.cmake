# SPDX-License-Identifier: Apache-2.0
# Installs the build, builds the consumer project against it, runs what comes out, and sees that a
# changed model is generated again.

cmake_minimum_required(VERSION 3.22)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(failed)
    message(FATAL_ERROR "failed (${failed}): ${ARGN}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${BENANZA_BUILD} --prefix ${prefix})
file(READ ${BENANZA_BUILD}/install_manifest.txt manifest)
foreach(file benanza/README.md benanza/copyright libbenanza-dev/LICENSE)
  if(NOT EXISTS ${prefix}/share/doc/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# For projects without CMake.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ask ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/share/pkgconfig ${PKG_CONFIG} benanza)
  run(${ask} --modversion)
  string(STRIP "${output}" version)
  run(${ask} --cflags)
  if(NOT output MATCHES "^-I([^ ]+) -std=c\\+\\+20")
    message(FATAL_ERROR "pkg-config says: ${output}")
  endif()
  file(WRITE ${WORK}/version.cpp "#include <benanza/version.hpp>
    static_assert(std::string_view(BENANZA_VERSION) == \"${version}\");\n")
  run(${CXX} -fsyntax-only -std=c++20 -I${CMAKE_MATCH_1} ${WORK}/version.cpp)
endif()

run(${prefix}/bin/benanza_generate zoo lenet -o ${WORK}/models)
set(model ${WORK}/models/lenet.onnx)
# Nothing is timed.
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${build} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix} -DMODEL=${model}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
run(${CMAKE_COMMAND} --build ${build} --parallel 2)

run(${build}/costs)
if(NOT output STREQUAL "115605504\n")
  message(FATAL_ERROR "costs printed ${output}")
endif()

run(${build}/my_bench --benchmark_list_tests)
if(NOT output MATCHES "Conv/1x1x28x28-8x5x5-s1-p2/f32/onednn/[^\n]*/(llcw|coldw)/t1")
  message(FATAL_ERROR "the first convolution of LeNet is not among the cases:\n${output}")
endif()
if(NOT output MATCHES "Conv/2x1x28x28-8x5x5-s1-p2/")
  message(FATAL_ERROR "batch 2 is not among the cases:\n${output}")
endif()
if(NOT output MATCHES "/bf16/onednn/")
  message(FATAL_ERROR "TYPES is not what is measured by default:\n${output}")
endif()

# Another model under the same name: the next build generates again.
run(${prefix}/bin/benanza_generate zoo squeezenet-v1.1 -o ${WORK}/models)
file(RENAME ${WORK}/models/squeezenet-v1.1.onnx ${model})
file(TOUCH ${model})
run(${CMAKE_COMMAND} --build ${build} --parallel 2)
run(${build}/my_bench --benchmark_list_tests)
if(NOT output MATCHES "Conv/1x3x224x224-64x3x3-s2")
  message(FATAL_ERROR "the changed model was not generated again:\n${output}")
endif()

# A folder in which there is something else is left, whatever it is called.
set(odd "${WORK}/odd [1]/include/benanza")
file(WRITE "${odd}/core/ours.hpp" "")
file(WRITE "${odd}/core/theirs.hpp" "")
file(WRITE "${odd}/op/ours.hpp" "")
file(WRITE ${WORK}/odd.txt "${odd}/core/ours.hpp\n${odd}/op/ours.hpp\n")
run(${CMAKE_COMMAND} -DMANIFEST=${WORK}/odd.txt -P ${CMAKE_CURRENT_LIST_DIR}/../../cmake/benanza_uninstall.cmake)
if(NOT EXISTS "${odd}/core/theirs.hpp" OR EXISTS "${odd}/core/ours.hpp" OR EXISTS "${odd}/op")
  message(FATAL_ERROR "uninstall took or left what it should not")
endif()

# What was installed is removed again, whole.
file(WRITE ${BENANZA_BUILD}/install_manifest.txt "${manifest}") # another test installs too
file(WRITE ${prefix}/include/theirs.hpp "")
run(${CMAKE_COMMAND} --build ${BENANZA_BUILD} --target uninstall)
file(GLOB_RECURSE left LIST_DIRECTORIES true RELATIVE ${prefix} ${prefix}/*)
if(NOT "include/theirs.hpp" IN_LIST left OR left MATCHES "benanza")
  message(FATAL_ERROR "uninstall left ${left}")
endif()
