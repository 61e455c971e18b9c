# SPDX-License-Identifier: Apache-2.0
# Runs when a wheel is put together (benanza_wheel.cmake): copies the libraries that `files` need into the folder of
# the programs, where they look for each other first, and the licences of these and of the headers inside them, as Debian has them, into licenses/.
cmake_policy(VERSION 3.22)

# Of every Linux: the C library, and that of C++.
set(there "^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\\+\\+|ld-linux-[a-z0-9-]+)\\.so\\.")
set(elsewhere "")
if(sysroot)
  set(elsewhere DIRECTORIES ${sysroot}/usr/lib/${architecture} ${sysroot}/lib/${architecture})
endif()
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${files} RESOLVED_DEPENDENCIES_VAR found ${elsewhere}
  PRE_EXCLUDE_REGEXES "${there}")
# What is compiled into the programs.
set(packages libbenchmark-dev libcli11-dev libfmt-dev librange-v3-dev nlohmann-json3-dev node-d3)
find_program(patchelf patchelf REQUIRED)
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} real)
  message(STATUS "Bundling: ${name}")
  file(COPY_FILE ${real} ${folder}/programs/${name})
  file(CHMOD ${folder}/programs/${name} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  execute_process(COMMAND ${patchelf} --set-rpath "$ORIGIN" ${folder}/programs/${name} COMMAND_ERROR_IS_FATAL ANY)
  if(name MATCHES "^libdnnl\\.") # of PyPI, which brought its licence
    continue()
  endif()
  # Packages name files below / or /usr; one of that name for another processor is not meant.
  string(REGEX REPLACE "^/usr" "" real "${real}")
  if(sysroot) # which has no list of its packages' files: the same package is installed here
    cmake_path(GET real FILENAME real)
    string(PREPEND real "/")
  endif()
  execute_process(COMMAND dpkg-query -S "*${real}" OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:,]+)")
    list(APPEND packages ${CMAKE_MATCH_1})
  else()
    message(WARNING "benanza: no package says whose ${library} is: this wheel lacks its licence, give it to nobody")
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)
foreach(package IN LISTS packages)
  if(EXISTS ${sysroot}/usr/share/doc/${package}/copyright)
    file(REAL_PATH ${sysroot}/usr/share/doc/${package}/copyright text)
    file(COPY_FILE ${text} ${folder}/licenses/${package})
  else()
    message(WARNING "benanza: no ${sysroot}/usr/share/doc/${package}/copyright: this wheel lacks a licence, give it to nobody")
  endif()
endforeach()
