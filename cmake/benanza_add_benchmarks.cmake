# SPDX-License-Identifier: Apache-2.0
#
# benanza_add_benchmarks(<target>
#   MODELS a.onnx b.onnx ...   models to measure; generated at build time, again when a model changes
#   [BATCH 1 8]                batch sizes (default 1)
#   [DIMS N=1 sequence=128]    values of symbolic dims
#   [LAYERS keys.txt]          a file of layer keys, in place of or beside models
#   [BACKENDS onednn host])    default: all that were found
# benanza_add_benchmarks(<target> GENERATED <folder>)   from a folder that benanza_generate wrote
#
# Adds an executable of that name: Google Benchmark cases for every unique layer of the models.

set(BENANZA_CMAKE_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# One object library holds the benchmark program without its layers, and the backends: compiled once
# for all benchmark programs of a project.
function(benanza_add_runner)
  if(TARGET benanza_runner)
    return()
  endif()
  if(NOT BENANZA_BACKENDS AND BENANZA_PORTABLE)
    message(FATAL_ERROR "benanza: BENANZA_PORTABLE needs the CUDA toolkit and cuDNN 9, which were not found")
  endif()
  if(NOT BENANZA_BACKENDS)
    message(FATAL_ERROR "benanza: no backend was found; on Debian: apt-get install libdnnl-dev")
  endif()
  add_library(benanza_runner OBJECT)
  # The largest source first: the others are compiled beside it.
  set(source ${PROJECT_BINARY_DIR}/benanza/runner.cpp)
  configure_file(${BENANZA_CMAKE_FOLDER}/runner.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS
    "BENANZA_BENCHMARK_VERSION=\"${benchmark_VERSION}\"")
  # It samples, and checks results: neither is much faster with -O2, which takes the compiler longer.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -O1)
  target_sources(benanza_runner PRIVATE ${source})
  benanza_add_revision(benanza_runner)
  set(flags -O3)
  if((NOT DEFINED BENANZA_NATIVE OR BENANZA_NATIVE) AND NOT BENANZA_PORTABLE)
    list(APPEND flags -march=native)
  endif()
  foreach(backend IN LISTS BENANZA_BACKENDS)
    set(source ${PROJECT_BINARY_DIR}/benanza/backend_${backend}.cpp)
    configure_file(${BENANZA_CMAKE_FOLDER}/backend.cpp.in ${source} @ONLY)
    set(its_flags ${flags})
    if(NOT backend STREQUAL "host")
      set(its_flags -O1) # what it times is not compiled here, and -O3 takes the compiler twice as long
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${its_flags}")
    target_sources(benanza_runner PRIVATE ${source})
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/benanza/ceilings.cpp)
  configure_file(${BENANZA_CMAKE_FOLDER}/ceilings.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}")
  target_sources(benanza_runner PRIVATE ${source})
  target_link_libraries(benanza_runner PUBLIC benanza::benanza
    benanza::store benchmark::benchmark nlohmann_json::nlohmann_json)
  if(BENANZA_PORTABLE)
    target_compile_options(benanza_runner PUBLIC -Wno-unknown-pragmas) # OpenMP's: one thread will do
  else()
    target_link_libraries(benanza_runner PUBLIC OpenMP::OpenMP_CXX)
  endif()
  if("onednn" IN_LIST BENANZA_BACKENDS)
    target_link_libraries(benanza_runner PUBLIC DNNL::dnnl)
  endif()
  if("cuda" IN_LIST BENANZA_BACKENDS)
    target_link_libraries(benanza_runner PUBLIC benanza::cuda)
  endif()
  if("cudnn" IN_LIST BENANZA_BACKENDS)
    target_link_libraries(benanza_runner PUBLIC benanza::cudnn CUDA::cudart)
  endif()
  if("cublas" IN_LIST BENANZA_BACKENDS)
    target_link_libraries(benanza_runner PUBLIC benanza::cublas)
  endif()
endfunction()

function(benanza_add_benchmarks target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GENERATED;LAYERS" "MODELS;BATCH;DIMS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "benanza_add_benchmarks: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(package benchmark nlohmann_json)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "benanza_add_benchmarks needs ${package}; on Debian: apt-get install libbenchmark-dev nlohmann-json3-dev")
    endif()
  endforeach()

  if(arg_GENERATED)
    file(GLOB sources CONFIGURE_DEPENDS ${arg_GENERATED}/*.cpp)
    if(NOT sources)
      message(FATAL_ERROR "benanza_add_benchmarks: ${arg_GENERATED} holds no generated sources; write it with benanza_generate -o")
    endif()
  else()
    if(NOT arg_MODELS AND NOT arg_LAYERS)
      message(FATAL_ERROR "benanza_add_benchmarks: give MODELS, LAYERS or GENERATED")
    endif()
    if(NOT arg_BATCH)
      set(arg_BATCH 1)
    endif()
    set(generate $<TARGET_FILE:benanza_generate>)
    if(TARGET benanza::benanza_generate)
      set(generate $<TARGET_FILE:benanza::benanza_generate>)
    endif()
    set(inputs "")
    foreach(file IN LISTS arg_MODELS arg_LAYERS)
      get_filename_component(path ${file} ABSOLUTE)
      list(APPEND inputs ${path})
    endforeach()
    set(models "")
    foreach(file IN LISTS arg_MODELS)
      get_filename_component(path ${file} ABSOLUTE)
      list(APPEND models ${path})
    endforeach()
    list(JOIN arg_BATCH "," batches)
    set(options --batch ${batches} --layer-files 2)
    foreach(dim IN LISTS arg_DIMS)
      list(APPEND options --dim ${dim})
    endforeach()
    if(arg_LAYERS)
      get_filename_component(path ${arg_LAYERS} ABSOLUTE)
      list(APPEND options --layers ${path})
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.generated)
    set(sources ${folder}/layers_0.cpp ${folder}/layers_1.cpp ${folder}/graph.cpp ${folder}/main.cpp)
    add_custom_command(OUTPUT ${sources} ${folder}.stamp
      COMMAND ${generate} ${models} ${options} -o ${folder}
      COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
      DEPENDS ${inputs} ${generate}
      COMMENT "benanza: generating ${target}" VERBATIM)
  endif()

  benanza_add_runner()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE benanza_runner)
  if(BENANZA_PORTABLE)
    benanza_make_portable(${target})
  endif()
endfunction()
