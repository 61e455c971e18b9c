# SPDX-License-Identifier: Apache-2.0
#
# benanza_add_revision(<target>): the program says from which git revision it was built. That is
# looked up in every build; another one costs the compilation of one line (core/version.hpp).
#
# The file is its own script too: cmake -DOUT=revision.cpp -P benanza_revision.cmake

function(benanza_write_revision out)
  set(revision "${BENANZA_INSTALLED_REVISION}") # who was installed is in no repository
  if(NOT revision)
    set(revision "unknown")
    find_package(Git QUIET)
    if(GIT_FOUND)
      execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --tags
        WORKING_DIRECTORY ${CMAKE_CURRENT_FUNCTION_LIST_DIR} OUTPUT_VARIABLE described
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
      if(NOT failed)
        set(revision "${described}")
      endif()
    endif()
  endif()
  # Written only if it is another one.
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
    "namespace benanza {\nconst char* built_revision();\nconst char* built_revision() { return \"${revision}\"; }\n}\n")
  set(BENANZA_REVISION "${revision}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.22)
  benanza_write_revision(${OUT})
  return()
endif()

set(BENANZA_REVISION_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(benanza_add_revision target)
  set(source ${PROJECT_BINARY_DIR}/benanza/revision.cpp)
  if(NOT TARGET benanza_revision)
    benanza_write_revision(${source})
    add_custom_target(benanza_revision BYPRODUCTS ${source}
      COMMAND ${CMAKE_COMMAND} -DOUT=${source} "-DBENANZA_INSTALLED_REVISION=${BENANZA_INSTALLED_REVISION}"
        -P ${BENANZA_REVISION_SCRIPT}
      COMMENT "" VERBATIM)
    set_target_properties(benanza_revision PROPERTIES BENANZA_SOURCE ${source})
  endif()
  get_target_property(source benanza_revision BENANZA_SOURCE)
  target_sources(${target} PRIVATE ${source})
  add_dependencies(${target} benanza_revision)
endfunction()
