# SPDX-License-Identifier: Apache-2.0
#
# Programs for many processors: our kernels compiled for several levels of them, each into a module, of which the
# program opens the highest that its processor has (backend/level.hpp).
#
# BENANZA_LEVELS   empty: for the processor of the build alone; ALL; or some of those below, the lowest first

set(BENANZA_LEVEL_NAMES x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4-bf16)
set(BENANZA_LEVEL_FLAGS_x86-64-v2 -march=x86-64-v2)
set(BENANZA_LEVEL_FLAGS_x86-64-v3 -march=x86-64-v3)
set(BENANZA_LEVEL_FLAGS_x86-64-v4 -march=x86-64-v4 -mtune=skylake-avx512)
set(BENANZA_LEVEL_FLAGS_x86-64-v4-bf16
  -march=x86-64-v4 -mavx512vnni -mavx512vbmi -mavx512bf16 -mtune=sapphirerapids)
# By which a processor is known to have a level's instructions.
set(BENANZA_LEVEL_NEEDS_x86-64-v2 sse4.2 popcnt)
set(BENANZA_LEVEL_NEEDS_x86-64-v3 avx2 fma bmi bmi2)
set(BENANZA_LEVEL_NEEDS_x86-64-v4 ${BENANZA_LEVEL_NEEDS_x86-64-v3} avx512f avx512bw avx512cd avx512dq avx512vl)
set(BENANZA_LEVEL_NEEDS_x86-64-v4-bf16 ${BENANZA_LEVEL_NEEDS_x86-64-v4} avx512vnni avx512vbmi avx512bf16)

# benanza_add_level_modules(<runner> <flags...>): the modules, and what opens them, compiled with these flags.
function(benanza_add_level_modules runner)
  set(wanted ${BENANZA_LEVELS})
  if(wanted STREQUAL "ALL")
    set(wanted ${BENANZA_LEVEL_NAMES})
  endif()
  benanza_refuse_unknown(BENANZA_LEVELS "${BENANZA_LEVEL_NAMES}" ${wanted})
  benanza_compile_functions()
  set(templates ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(levels "")
  foreach(level IN LISTS wanted)
    set(target benanza_host-${level})
    set(source ${PROJECT_BINARY_DIR}/benanza/${target}.cpp)
    configure_file(${templates}/level_module.cpp.in ${source} COPYONLY)
    benanza_add_module(${runner} ${target} ${source})
    target_compile_options(${target} PRIVATE ${ARGN} ${BENANZA_LEVEL_FLAGS_${level}})
    list(TRANSFORM BENANZA_LEVEL_NEEDS_${level} REPLACE "(.+)" "__builtin_cpu_supports(\"\\1\")" OUTPUT_VARIABLE runs)
    list(JOIN runs " && " runs)
    string(APPEND levels
      "    {\"${level}\", \"$<TARGET_FILE:${target}>\", [] { return static_cast<bool>(${runs}); }},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/benanza/levels.cpp)
  configure_file(${templates}/levels.cpp.in ${source}.in @ONLY)
  file(GENERATE OUTPUT ${source} INPUT ${source}.in)
  target_sources(${runner} PRIVATE ${source})
endfunction()
