# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=<file> -DREADELF=<program> -P portable_needs.cmake
# Prints which libraries a portable program needs and how large it is; fails, and removes it, where
# another machine would not have one of them, or it is larger than is good to carry about.

set(most_bytes 5000000)
set(allowed "^(libcudnn[a-z_]*|libcublas|libcublasLt|libcudart|libnvrtc|libc|libm|libstdc\\+\\+|libgcc_s|ld-linux[a-z0-9_-]*|libpthread|libdl|librt)\\.so(\\.|$)")

execute_process(COMMAND ${READELF} -d -W ${PROGRAM}
  OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "benanza: ${READELF} cannot read ${PROGRAM}")
endif()
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" lines "${said}")
set(needed "")
set(refused "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*\\[(.*)\\].*" "\\1" library "${line}")
  list(APPEND needed ${library})
  if(NOT library MATCHES "${allowed}")
    list(APPEND refused ${library})
  endif()
endforeach()
if(NOT needed)
  message(FATAL_ERROR "benanza: ${PROGRAM} does not say which libraries it needs")
endif()
file(SIZE ${PROGRAM} bytes)
list(JOIN needed " " needed)
get_filename_component(name ${PROGRAM} NAME)
message(STATUS "${name}: ${bytes} bytes, needs ${needed}")
if(refused)
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "benanza: a portable program must not need ${refused}")
endif()
if(bytes GREATER most_bytes)
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "benanza: a portable program must not be larger than ${most_bytes} bytes")
endif()
