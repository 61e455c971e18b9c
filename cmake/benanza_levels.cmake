# SPDX-License-Identifier: Apache-2.0
#
# Programs for many processors: our kernels compiled for several levels of them, each into a module, of which the
# program opens the highest that its processor has (backend/level.hpp).
#
# BENANZA_LEVELS   empty: for the processor of the build alone; ALL; or some of those below, the lowest first

# What a processor must have: a word of __builtin_cpu_supports, or a bit that Linux gives a program on 64-bit ARM.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(BENANZA_LEVEL_NAMES armv8-a armv8.2-a armv8.2-a-bf16 armv8.2-a-sve)
  set(BENANZA_LEVEL_FLAGS_armv8-a -march=armv8-a)
  set(BENANZA_LEVEL_FLAGS_armv8.2-a -march=armv8.2-a+fp16+dotprod)
  set(BENANZA_LEVEL_FLAGS_armv8.2-a-bf16 -march=armv8.2-a+fp16+dotprod+bf16+i8mm)
  set(BENANZA_LEVEL_FLAGS_armv8.2-a-sve -march=armv8.2-a+fp16+dotprod+bf16+i8mm+sve)
  set(BENANZA_LEVEL_NEEDS_armv8-a HWCAP_ASIMD)
  set(BENANZA_LEVEL_NEEDS_armv8.2-a HWCAP_ASIMDHP HWCAP_ASIMDDP)
  set(BENANZA_LEVEL_NEEDS_armv8.2-a-bf16 ${BENANZA_LEVEL_NEEDS_armv8.2-a} HWCAP2_BF16 HWCAP2_I8MM)
  set(BENANZA_LEVEL_NEEDS_armv8.2-a-sve ${BENANZA_LEVEL_NEEDS_armv8.2-a-bf16} HWCAP_SVE)
  set(BENANZA_LEVEL_ASKED "(HWCAP2?)_(.+)" "(getauxval(AT_\\1) & \\1_\\2) != 0")
else()
  set(BENANZA_LEVEL_NAMES x86-64-v2 x86-64-v3 x86-64-v4 x86-64-v4-bf16)
  set(BENANZA_LEVEL_FLAGS_x86-64-v2 -march=x86-64-v2)
  set(BENANZA_LEVEL_FLAGS_x86-64-v3 -march=x86-64-v3)
  set(BENANZA_LEVEL_FLAGS_x86-64-v4 -march=x86-64-v4 -mtune=skylake-avx512)
  set(BENANZA_LEVEL_FLAGS_x86-64-v4-bf16
    -march=x86-64-v4 -mavx512vnni -mavx512vbmi -mavx512bf16 -mtune=sapphirerapids)
  set(BENANZA_LEVEL_NEEDS_x86-64-v2 sse4.2 popcnt)
  set(BENANZA_LEVEL_NEEDS_x86-64-v3 avx2 fma bmi bmi2)
  set(BENANZA_LEVEL_NEEDS_x86-64-v4 ${BENANZA_LEVEL_NEEDS_x86-64-v3} avx512f avx512bw avx512cd avx512dq avx512vl)
  set(BENANZA_LEVEL_NEEDS_x86-64-v4-bf16 ${BENANZA_LEVEL_NEEDS_x86-64-v4} avx512vnni avx512vbmi avx512bf16)
  set(BENANZA_LEVEL_ASKED "(.+)" "__builtin_cpu_supports(\"\\1\") != 0")
endif()

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
    list(TRANSFORM BENANZA_LEVEL_NEEDS_${level} REPLACE ${BENANZA_LEVEL_ASKED} OUTPUT_VARIABLE runs)
    list(JOIN runs " && " runs)
    string(APPEND levels
      "    {\"${level}\", \"$<TARGET_FILE:${target}>\", [] { return ${runs}; }},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/benanza/levels.cpp)
  configure_file(${templates}/levels.cpp.in ${source}.in @ONLY)
  file(GENERATE OUTPUT ${source} INPUT ${source}.in)
  target_sources(${runner} PRIVATE ${source})
endfunction()
