# SPDX-License-Identifier: Apache-2.0
#
# What scripts/python/pyproject.toml puts into a wheel, as the component `wheel`: the programs, their modules and all
# libraries that not every Linux has, in one folder; scripts for frameworks; and the licences of all that is inside.

get_target_property(modules benanza_runner BENANZA_MODULES)
set(programs benanza_bench benanza_generate benanza_analyze)
add_custom_target(benanza_wheel DEPENDS ${programs} ${modules})

set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN")
foreach(target IN LISTS programs modules)
  target_link_options(${target} PRIVATE LINKER:--as-needed)
endforeach()

set(folder benanza/programs)
install(TARGETS ${programs} RUNTIME DESTINATION ${folder} COMPONENT wheel)
install(TARGETS ${modules} LIBRARY DESTINATION ${folder} COMPONENT wheel)
install(PROGRAMS scripts/measure_framework DESTINATION benanza/scripts COMPONENT wheel)
file(GLOB scripts CONFIGURE_DEPENDS scripts/frameworks/*.py)
install(FILES ${scripts} DESTINATION benanza/scripts/frameworks COMPONENT wheel)
install(FILES analyzer/report/report.schema.json analyzer/report/answers.schema.json DESTINATION benanza COMPONENT wheel)
install(FILES LICENSE DESTINATION benanza/licenses RENAME benanza COMPONENT wheel)
get_property(roots GLOBAL PROPERTY BENANZA_ONEDNN_FOLDERS)
foreach(root IN LISTS roots)
  get_filename_component(name ${root} NAME)
  file(GLOB texts ${root}/share/doc/*/LICENSE ${root}/share/doc/*/THIRD-PARTY-PROGRAMS)
  if(NOT texts)
    message(FATAL_ERROR "benanza: ${root} has no licences below share/doc")
  endif()
  install(FILES ${texts} DESTINATION benanza/licenses/${name} COMPONENT wheel)
endforeach()

set(files "")
foreach(target IN LISTS programs modules)
  list(APPEND files $<TARGET_FILE:${target}>)
endforeach()
install(CODE "set(sysroot \"${CMAKE_SYSROOT}\")\nset(architecture \"${CMAKE_LIBRARY_ARCHITECTURE}\")" COMPONENT wheel)
install(CODE "set(files \"${files}\")\nset(folder \"\${CMAKE_INSTALL_PREFIX}/benanza\")" COMPONENT wheel)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/wheel_needs.cmake COMPONENT wheel)
