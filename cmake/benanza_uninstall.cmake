# SPDX-License-Identifier: Apache-2.0
# Removes what cmake --install put: the files of MANIFEST, and Benanza's own folders if they are
# empty then.
cmake_policy(VERSION 3.22)

if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "uninstall: nothing was installed from here: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
set(folders "")
foreach(file IN LISTS files)
  set(file "$ENV{DESTDIR}${file}")
  file(REMOVE ${file})
  if(EXISTS ${file})
    message(FATAL_ERROR "uninstall: ${file} cannot be removed; run this as the user who installed it")
  endif()
  get_filename_component(folder ${file} DIRECTORY)
  while(folder MATCHES "/(include|cmake|doc|share)/(benanza|libbenanza-dev)(/|$)")
    list(APPEND folders ${folder})
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # deeper ones first
foreach(folder IN LISTS folders)
  execute_process(COMMAND rmdir -- ${folder} OUTPUT_QUIET ERROR_QUIET) # only an empty one goes
endforeach()
file(REMOVE ${MANIFEST})
list(LENGTH files count)
message(STATUS "removed ${count} files")
