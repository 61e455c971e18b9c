# SPDX-License-Identifier: Apache-2.0
#
# benanza_embed_html(<target>): the program holds the page of `--format html`: the files of
# analyzer/html/page/, and d3 as Debian has it (node-d3), with its licence. Where there is none, the
# format is refused with a line that names the package. BENANZA_D3 names another d3.min.js, 5 or later.
#
# The file is its own script too: cmake -DOUT=html_texts.cpp -DPAGE=... -DD3=... -DLICENCE=... -P benanza_html.cmake

# Texts as functions of C++, in pieces that every compiler takes: cut behind a sign that is one byte.
function(benanza_write_text out name)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" one)
    string(APPEND text "${one}")
  endforeach()
  file(APPEND "${out}" "std::string ${name}();\nstd::string ${name}() {\n  std::string out;\n")
  string(LENGTH "${text}" left)
  set(at 0)
  while(left GREATER 0)
    string(SUBSTRING "${text}" ${at} 15000 piece)
    if(left GREATER 15000)
      string(FIND "${piece}" "," comma REVERSE)
      string(FIND "${piece}" "\n" line REVERSE)
      if(comma LESS line)
        set(comma ${line})
      endif()
      math(EXPR length "${comma} + 1")
      string(SUBSTRING "${text}" ${at} ${length} piece)
    else()
      set(length ${left})
    endif()
    file(APPEND "${out}" "  out += R\"benanza(${piece})benanza\";\n")
    math(EXPR at "${at} + ${length}")
    math(EXPR left "${left} - ${length}")
  endwhile()
  file(APPEND "${out}" "  return out;\n}\n")
endfunction()

set(BENANZA_HTML_SCRIPTS base packed figures layers roofline graph timeline curves start)

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.22)
  file(WRITE "${OUT}.new" "// Written by the build: the texts of the page of --format html.\n#include <string>\nnamespace benanza::analyzer {\n")
  benanza_write_text("${OUT}.new" html_page "${PAGE}/page.html")
  benanza_write_text("${OUT}.new" html_style "${PAGE}/page.css")
  set(scripts ${BENANZA_HTML_SCRIPTS})
  list(TRANSFORM scripts REPLACE "(.+)" "${PAGE}/\\1.js")
  benanza_write_text("${OUT}.new" html_script ${scripts})
  benanza_write_text("${OUT}.new" html_library ${D3})
  benanza_write_text("${OUT}.new" html_licence ${LICENCE})
  file(APPEND "${OUT}.new" "}\n")
  file(RENAME "${OUT}.new" "${OUT}")
  return()
endif()

find_file(BENANZA_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH
  DOC "d3.min.js, 5 or later, for the page of --format html")
find_file(BENANZA_D3_LICENCE copyright PATHS /usr/share/doc/node-d3 NO_DEFAULT_PATH DOC "The licence of BENANZA_D3")
mark_as_advanced(BENANZA_D3 BENANZA_D3_LICENCE)
set(BENANZA_HTML_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(benanza_embed_html target)
  set(page ${PROJECT_SOURCE_DIR}/analyzer/html/page)
  set(out ${PROJECT_BINARY_DIR}/benanza/html_texts.cpp)
  set(library "")
  set(licence "")
  if(BENANZA_D3)
    set(library ${BENANZA_D3})
    if(BENANZA_D3_LICENCE)
      set(licence ${BENANZA_D3_LICENCE})
    endif()
  else()
    message(STATUS "benanza: no d3 (node-d3): benanza_analyze writes no --format html")
  endif()
  set(files ${BENANZA_HTML_SCRIPTS})
  list(TRANSFORM files REPLACE "(.+)" "${page}/\\1.js")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DPAGE=${page} "-DD3=${library}" "-DLICENCE=${licence}" -P ${BENANZA_HTML_SCRIPT}
    DEPENDS ${page}/page.html ${page}/page.css ${files} ${BENANZA_HTML_SCRIPT} ${library} VERBATIM)
  target_sources(${target} PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
