# SPDX-License-Identifier: Apache-2.0
# The target benanza_portable makes the folder portable/: a benchmark program for GPUs alone, which reads its
# layers from a file (--graphs), and the analyzer, for a machine on which nothing can be installed. They are
# objects of the ordinary programs, without what is compiled for this processor and without PostgreSQL.
# CUDA's own libraries are looked for next to them first; the few others that they need are there.

set(folder ${PROJECT_BINARY_DIR}/portable)
configure_file(cmake/ceilings.cpp.in ${PROJECT_BINARY_DIR}/benanza/portable_ceilings.cpp @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/benanza/portable_ceilings.cpp PROPERTIES COMPILE_OPTIONS -O3)
add_executable(benanza_portable_bench EXCLUDE_FROM_ALL
  generated/sample/main.cpp ${PROJECT_BINARY_DIR}/benanza/portable_ceilings.cpp
  "$<FILTER:$<TARGET_OBJECTS:benanza_runner>,INCLUDE,/(runner|revision|backend_gpu)[.]>")
target_link_libraries(benanza_portable_bench PRIVATE benanza_compiled_result benanza::store benanza::cuda
  benanza::cudnn benanza::cublas benchmark::benchmark OpenMP::OpenMP_CXX benanza_internal)
add_executable(benanza_portable_analyze EXCLUDE_FROM_ALL analyzer/benanza_analyze.cpp)
target_link_libraries(benanza_portable_analyze PRIVATE benanza_analyzer benanza::store benanza_internal)
benanza_add_revision(benanza_portable_analyze)

if(BENANZA_WITH_POSTGRES)
  add_library(benanza_no_server OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/benanza/compiled_server.cpp)
  target_compile_definitions(benanza_no_server PRIVATE BENANZA_WITH_STORE=1)
  target_link_libraries(benanza_no_server PRIVATE SQLite::SQLite3 benanza_internal)
endif()

add_custom_target(benanza_portable)
foreach(program bench analyze)
  set(target benanza_portable_${program})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME benanza_${program} RUNTIME_OUTPUT_DIRECTORY ${folder}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR};/usr/local/cuda/lib64")
  if(TARGET benanza_no_server)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:benanza_no_server>)
  endif()
  target_link_options(${target} PRIVATE -s -Wl,--as-needed -Wl,--gc-sections)
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND}
    -DPROGRAM=$<TARGET_FILE:${target}> -DREADELF=${CMAKE_READELF}
    -P ${CMAKE_CURRENT_LIST_DIR}/portable_needs.cmake VERBATIM)
  add_dependencies(benanza_portable ${target})
endforeach()
