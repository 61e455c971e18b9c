# SPDX-License-Identifier: Apache-2.0
#
# What cmake --install puts where, in two components that are Debian packages too
# (benanza_packages.cmake): `benanza`, the programs, and `libbenanza-dev`, what a project needs that
# uses the library. The target `uninstall` removes it again.

include(CMakePackageConfigHelpers)
# The second does not depend on the processor: share/, not lib/.
set(config_folder ${CMAKE_INSTALL_DATADIR}/cmake/benanza)
set(out ${PROJECT_BINARY_DIR}/install)

# ---- libbenanza-dev ------------------------------------------------------------------------------
set(component COMPONENT libbenanza-dev)
install(DIRECTORY include/benanza DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component}
  FILES_MATCHING PATTERN "*.hpp")
install(TARGETS benanza EXPORT benanza_targets)
install(EXPORT benanza_targets NAMESPACE benanza:: DESTINATION ${config_folder} ${component})
benanza_write_revision(${PROJECT_BINARY_DIR}/benanza/revision.cpp) # for BENANZA_REVISION
configure_package_config_file(cmake/benanzaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/benanzaConfig.cmake INSTALL_DESTINATION ${config_folder}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/benanzaConfig.cmake ${PROJECT_BINARY_DIR}/benanzaConfigVersion.cmake
  cmake/benanza_dependencies.cmake cmake/benanza_add_benchmarks.cmake cmake/benanza_revision.cmake
  cmake/FindCUDNN.cmake
  cmake/benanza_ggml.cmake cmake/ggml_module.cpp.in
  cmake/benanza_onednn.cmake cmake/onednn_module.cpp.in cmake/backend.cpp.in cmake/benanza_levels.cmake
  cmake/levels.cpp.in cmake/level_module.cpp.in
  cmake/ceilings.cpp.in cmake/runner.cpp.in cmake/defaults.cpp.in cmake/compiled.cpp.in
  DESTINATION ${config_folder} ${component})
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_DATADIR}/pkgconfig /)
configure_file(cmake/benanza.pc.in ${out}/benanza.pc @ONLY)
install(FILES ${out}/benanza.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig ${component})
# A project of two commands, for those who have none of their own.
install(FILES cmake/bench/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/benanza/bench ${component})

# ---- benanza -------------------------------------------------------------------------------------
if(BENANZA_PROGRAMS AND TARGET benanza_bench)
  list(APPEND BENANZA_PROGRAMS benanza_bench)
endif()
if(BENANZA_PROGRAMS)
  # What calls them, and measures frameworks: scripts that find each other in a folder of their own.
  set(scripts ${CMAKE_INSTALL_DATADIR}/benanza/scripts)
  install(PROGRAMS scripts/benanza scripts/measure_framework DESTINATION ${scripts} COMPONENT benanza)
  file(GLOB modules CONFIGURE_DEPENDS scripts/frameworks/*.py)
  install(FILES ${modules} DESTINATION ${scripts}/frameworks COMPONENT benanza)
  file(GLOB modules CONFIGURE_DEPENDS scripts/python/benanza/*.py)
  install(FILES ${modules} scripts/python/benanza/py.typed DESTINATION ${scripts}/python/benanza COMPONENT benanza)
  file(RELATIVE_PATH to_scripts /${CMAKE_INSTALL_BINDIR} /${scripts})
  file(MAKE_DIRECTORY ${out}/links)
  file(CREATE_LINK ${to_scripts}/benanza ${out}/links/benanza SYMBOLIC)
  file(CREATE_LINK ${to_scripts}/measure_framework ${out}/links/benanza_measure_framework SYMBOLIC)
  # Under the name that pages give it also beside the programs of a build folder.
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/scripts/measure_framework ${PROJECT_BINARY_DIR}/benanza_measure_framework SYMBOLIC)
  install(FILES ${out}/links/benanza ${out}/links/benanza_measure_framework
    DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT benanza)
  install(TARGETS ${BENANZA_PROGRAMS} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT benanza)
  # Modules are looked for there (backend/module.hpp), and their libraries next to them.
  set(modules "")
  if(TARGET benanza_bench)
    get_target_property(modules benanza_runner BENANZA_MODULES)
  endif()
  if(modules)
    set_target_properties(${modules} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${modules} LIBRARY DESTINATION lib/benanza COMPONENT benanza)
    get_property(roots GLOBAL PROPERTY BENANZA_ONEDNN_FOLDERS)
    foreach(root IN LISTS roots)
      file(GLOB libraries ${root}/lib/libdnnl.so.[0-9] ${root}/lib64/libdnnl.so.[0-9])
      install(FILES ${libraries} DESTINATION lib/benanza COMPONENT benanza)
      get_filename_component(name ${root} NAME)
      file(GLOB texts ${root}/share/doc/*/LICENSE ${root}/share/doc/*/THIRD-PARTY-PROGRAMS)
      install(FILES ${texts} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${name} COMPONENT benanza)
    endforeach()
  endif()
  install(FILES README.md analyzer/report/report.schema.json analyzer/report/answers.schema.json
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT benanza)
  if(NOT CMAKE_CROSSCOMPILING)
    set(pages "")
    set(shells ${out}/completion)
    set(completions "")
    foreach(program IN LISTS BENANZA_PROGRAMS)
      set(page ${out}/${program}.1.gz)
      add_custom_command(OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DNAME=${program} -DOUT=${page}
          -DVERSION=${PROJECT_VERSION} -DCOLUMN=$<IF:$<STREQUAL:${program},benanza_bench>,34,30>
          -P ${PROJECT_SOURCE_DIR}/cmake/benanza_man.cmake
        DEPENDS ${program} cmake/benanza_man.cmake VERBATIM)
      list(APPEND pages ${page})
      set(completion ${shells}/bash/${program} ${shells}/zsh/_${program} ${shells}/fish/${program}.fish)
      add_custom_command(OUTPUT ${completion}
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DNAME=${program} -DOUT=${shells}
          -P ${PROJECT_SOURCE_DIR}/cmake/benanza_completion.cmake
        DEPENDS ${program} cmake/benanza_completion.cmake VERBATIM)
      list(APPEND completions ${completion})
    endforeach()
    add_custom_target(benanza_man ALL DEPENDS ${pages} ${completions})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT benanza)
    # Where each shell looks for what packages bring.
    install(DIRECTORY ${shells}/bash/ COMPONENT benanza
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(DIRECTORY ${shells}/zsh/ COMPONENT benanza DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
    install(DIRECTORY ${shells}/fish/ COMPONENT benanza
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()

# ---- both ----------------------------------------------------------------------------------------
# Where Debian has it: whose it is, and under what; and what changed.
configure_file(cmake/copyright.in ${out}/copyright @ONLY)
set(changelog ${out}/changelog.gz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS .github/CHANGELOG.md)
file(ARCHIVE_CREATE OUTPUT ${changelog} PATHS ${PROJECT_SOURCE_DIR}/.github/CHANGELOG.md
  FORMAT raw COMPRESSION GZip)
install(FILES ${out}/copyright ${changelog}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libbenanza-dev ${component})
if(BENANZA_PROGRAMS)
  install(FILES ${out}/copyright ${changelog} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT benanza)
endif()
# Debian has the text itself elsewhere, so it is in no package.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libbenanza-dev COMPONENT licence)

if(NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
    -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/benanza_uninstall.cmake VERBATIM)
endif()
