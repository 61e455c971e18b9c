# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of the build and looks into them: what they hold, which is what
# cmake --install puts, and what they want installed with them.

cmake_minimum_required(VERSION 3.22)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE err
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "failed (${failed}): ${ARGN}\n${out}\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "there is no \"${pattern}\" in:\n${text}")
  endif()
endfunction()

foreach(program dpkg-deb dpkg-shlibdeps file man)
  find_program(has_${program} ${program})
  if(NOT has_${program} AND NOT program STREQUAL "man")
    message("skipped: there is no ${program} here (Debian: dpkg-dev file)")
    return()
  endif()
endforeach()

file(STRINGS ${SOURCE}/.github/CHANGELOG.md changes REGEX "^## ")
list(GET changes 0 newest)
expect("${newest} " "^## ${VERSION} ")

file(REMOVE_RECURSE ${WORK})
set(options "")
if(WITH_CUDNN) # no package has it: such a build is refused
  execute_process(COMMAND ${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK}
    RESULT_VARIABLE failed ERROR_VARIABLE err OUTPUT_VARIABLE err)
  string(REGEX REPLACE "[ \n]+" " " err "${err}")
  if(NOT failed OR NOT err MATCHES "benanza_generate needs cuDNN here")
    message(FATAL_ERROR "packages with cuDNN were not refused: ${err}")
  endif()
  message("dependencies of the programs are not looked at: cuDNN is in this build")
  set(options -D BENANZA_WITHOUT_DEPENDENCIES=ON -D CPACK_DEBIAN_BENANZA_PACKAGE_SHLIBDEPS=OFF)
endif()
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK} ${options})

run(dpkg --print-architecture)
set(programs_package ${WORK}/benanza_${VERSION}_${output}.deb)
set(dev_package ${WORK}/libbenanza-dev_${VERSION}_all.deb)
file(GLOB made ${WORK}/*.deb)
if(NOT made STREQUAL "${programs_package};${dev_package}")
  message(FATAL_ERROR "packages: ${made}")
endif()

run(dpkg-deb -f ${programs_package} Depends)
if(NOT WITH_CUDNN)
  set(server "")
  if(WITH_POSTGRES)
    set(server libpqxx)
  endif()
  foreach(library libc6 libonnx1 libfmt libprotobuf libsqlite3-0 libstdc ${server})
    expect(", ${output}" ", ${library}")
  endforeach()
endif()
run(dpkg-deb -f ${dev_package} Depends)
foreach(package libbenchmark-dev libdnnl-dev nlohmann-json3-dev libcli11-dev libfmt-dev librange-v3-dev
    "g++ (>= 4:12)" "cmake (>= 3.22)")
  string(FIND ", ${output}," ", ${package}," found)
  if(found LESS 0)
    message(FATAL_ERROR "libbenanza-dev does not need ${package}: ${output}")
  endif()
endforeach()

# The same files as cmake --install has, and one list for both.
run(${CMAKE_COMMAND} -E env DESTDIR= ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
foreach(package ${programs_package} ${dev_package})
  run(dpkg-deb -x ${package} ${WORK}/unpacked)
  run(dpkg-deb -c ${package})
  expect("${output}" "^drwxr-xr-x root/root ")
  if(output MATCHES "\n.r[^ ]* [^r][^\n]*" OR output MATCHES "\n[^\n]* \\./[^u][^\n]*")
    message(FATAL_ERROR "is owned by somebody, or outside /usr: ${CMAKE_MATCH_0}")
  endif()
endforeach()
file(GLOB_RECURSE packed RELATIVE ${WORK}/unpacked/usr ${WORK}/unpacked/usr/*)
file(GLOB_RECURSE installed RELATIVE ${WORK}/installed ${WORK}/installed/*)
list(REMOVE_ITEM installed share/doc/libbenanza-dev/LICENSE)
if(NOT packed STREQUAL installed)
  set(more ${packed})
  list(REMOVE_ITEM more ${installed})
  set(less ${installed})
  list(REMOVE_ITEM less ${packed})
  message(FATAL_ERROR "in packages alone: ${more}; installed alone: ${less}")
endif()
foreach(file bin/benanza_generate bin/benanza_analyze bin/benanza_bench bin/benanza bin/benanza_measure_framework
    share/benanza/scripts/benanza share/benanza/scripts/measure_framework share/benanza/scripts/frameworks/whole.py
    share/man/man1/benanza_bench.1.gz
    share/man/man1/benanza_generate.1.gz share/man/man1/benanza_analyze.1.gz
    share/bash-completion/completions/benanza_generate share/zsh/vendor-completions/_benanza_generate
    share/fish/vendor_completions.d/benanza_generate.fish
    share/doc/benanza/copyright share/doc/benanza/changelog.gz
    share/doc/libbenanza-dev/copyright share/doc/libbenanza-dev/changelog.gz
    include/benanza/benanza.hpp include/benanza/version.hpp
    share/cmake/benanza/benanzaConfig.cmake share/cmake/benanza/runner.cpp.in
    share/pkgconfig/benanza.pc share/benanza/bench/CMakeLists.txt)
  if(NOT file IN_LIST packed)
    message(FATAL_ERROR "no package holds ${file}: ${packed}")
  endif()
endforeach()

# The command that calls the others finds them next to itself.
run(${CMAKE_COMMAND} -E env PATH=/usr/bin:/bin ${WORK}/unpacked/usr/bin/benanza_measure_framework --help)
expect("${output}" "^usage: measure_framework")
execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=/usr/bin:/bin ${WORK}/unpacked/usr/bin/benanza no-model -o ${WORK}/door
  RESULT_VARIABLE failed ERROR_VARIABLE err)
if(NOT failed EQUAL 2 OR NOT err MATCHES "no-model" OR err MATCHES "quickstart")
  message(FATAL_ERROR "benanza did not find its programs (${failed}): ${err}")
endif()

# What a shell completes: options, commands, and the values of an option that has few.
file(WRITE ${WORK}/try "source ${WORK}/unpacked/usr/share/bash-completion/completions/benanza_generate
try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _benanza_generate; echo \"\${COMPREPLY[@]}\"; }
try benanza_generate sta; try benanza_generate stats --gra; try benanza_generate stats --format j\n")
run(bash ${WORK}/try)
expect("${output}" "^stats\n--granularity\njson$")
foreach(shell zsh fish)
  find_program(has_${shell} ${shell})
  file(GLOB completions ${WORK}/unpacked/usr/share/${shell}/vendor*completions*/*)
  foreach(completion IN LISTS completions)
    if(has_${shell})
      run(${has_${shell}} -n ${completion})
    endif()
  endforeach()
endforeach()

if(has_man)
  run(${CMAKE_COMMAND} -E env MANWIDTH=200 LC_ALL=C man --warnings -l
    ${WORK}/unpacked/usr/share/man/man1/benanza_generate.1.gz)
  foreach(text "benanza_generate - From ONNX models" "--batch TEXT\n" "BENANZA_GENERATE ZOO\n" "--list" "EXIT STATUS\n")
    expect("${output}" "${text}")
  endforeach()
endif()
