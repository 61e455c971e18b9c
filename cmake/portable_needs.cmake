# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=<file> -DREADELF=<program> -P portable_needs.cmake
# Copies the libraries that a portable program needs, and that other machines may lack, next to it, and prints
# what it needs and how large it is. Fails, and removes the program, where it needs what cannot be carried
# about, or a newer libc or libstdc++ than other machines have.
cmake_policy(VERSION 3.22)

set(most_bytes 6000000)
# CUDA's and what cuDNN itself needs, and those of every Linux.
set(there "^(libcudnn[a-z_]*|libcublas|libcublasLt|libcudart|libnvrtc|libz|libc|libm|libstdc\\+\\+|libgcc_s|ld-linux[a-z0-9_-]*|libpthread|libdl|librt)\\.so(\\.|$)")
set(carried "^(libbenchmark|libfmt|libgomp|libpugixml|libsqlite3)\\.so(\\.|$)")
# What the oldest machine has: Ubuntu 24.04.
set(newest_GLIBC 2.39)
set(newest_GLIBCXX 3.4.33)
set(newest_CXXABI 1.3.15)

get_filename_component(folder ${PROGRAM} DIRECTORY)
function(refuse)
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "benanza: a portable program must not " ${ARGN})
endfunction()

# Refuses a file that was linked with something newer.
function(check_versions file)
  execute_process(COMMAND ${READELF} -V -W ${file} OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "benanza: ${READELF} cannot read ${file}")
  endif()
  string(REGEX MATCHALL "Name: (GLIBC|GLIBCXX|CXXABI)_[0-9.]+" versions "${said}")
  list(REMOVE_DUPLICATES versions)
  get_filename_component(name ${file} NAME)
  foreach(version IN LISTS versions)
    string(REGEX MATCH "([A-Z]+)_([0-9.]+)" version "${version}")
    if(CMAKE_MATCH_2 VERSION_GREATER newest_${CMAKE_MATCH_1})
      refuse("need ${version}, as ${name} does: other machines have ${CMAKE_MATCH_1}_${newest_${CMAKE_MATCH_1}}")
    endif()
  endforeach()
endfunction()

execute_process(COMMAND ${READELF} -d -W ${PROGRAM}
  OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "benanza: ${READELF} cannot read ${PROGRAM}")
endif()
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" needed "${said}")
list(TRANSFORM needed REPLACE ".*\\[(.*)\\].*" "\\1")
if(NOT needed)
  message(FATAL_ERROR "benanza: ${PROGRAM} does not say which libraries it needs")
endif()
set(refused ${needed})
list(FILTER refused EXCLUDE REGEX "${there}")
list(FILTER refused EXCLUDE REGEX "${carried}")
if(refused)
  refuse("need ${refused}")
endif()

check_versions(${PROGRAM})
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} RESOLVED_DEPENDENCIES_VAR found
  PRE_EXCLUDE_REGEXES "${there}")
foreach(library IN LISTS found)
  check_versions(${library})
  get_filename_component(name ${library} NAME)
  if(NOT library STREQUAL "${folder}/${name}")
    get_filename_component(library ${library} REALPATH)
    file(COPY_FILE ${library} ${folder}/${name} ONLY_IF_DIFFERENT)
  endif()
endforeach()

file(SIZE ${PROGRAM} bytes)
if(bytes GREATER most_bytes)
  refuse("be larger than ${most_bytes} bytes, as one of ${bytes} is")
endif()
list(JOIN needed " " needed)
get_filename_component(name ${PROGRAM} NAME)
message(STATUS "${name}: ${bytes} bytes, needs ${needed}")
