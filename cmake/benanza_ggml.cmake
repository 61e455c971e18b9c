# SPDX-License-Identifier: Apache-2.0
#
# ggml, llama.cpp's library of kernels, as a module (backend/module.hpp).
#
# BENANZA_GGML_ROOT   a folder with include/ggml.h and lib/libggml-cpu.so
# BENANZA_GGML_PYPI   ON: that of llama-cpp-python, which pip compiles for this processor into the build folder (minutes)

# Brings it into the build folder; its folder comes back.
function(benanza_ggml_from_pypi result)
  set(folder ${PROJECT_BINARY_DIR}/ggml-pypi)
  set(${result} ${folder} PARENT_SCOPE)
  if(EXISTS ${folder}/lib/libggml-cpu.so)
    return()
  endif()
  benanza_find_pip(BENANZA_GGML_PYPI)
  message(STATUS "benanza: pip compiles llama-cpp-python into ${folder}, for some minutes")
  execute_process(RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_QUIET
    COMMAND ${Python3_EXECUTABLE} -m pip install -q --no-deps --upgrade --ignore-installed
      --target ${folder}.new llama-cpp-python)
  if(failed OR NOT EXISTS ${folder}.new/lib/libggml-cpu.so OR NOT EXISTS ${folder}.new/include/ggml.h)
    string(STRIP "${said}" said)
    message(FATAL_ERROR "BENANZA_GGML_PYPI: pip did not bring ggml: ${said}")
  endif()
  file(RENAME ${folder}.new ${folder})
endfunction()

# Compiles the module and registers it in `runner`.
function(benanza_add_ggml_module runner)
  set(root ${BENANZA_GGML_ROOT})
  if(BENANZA_GGML_PYPI)
    benanza_ggml_from_pypi(root)
  endif()
  foreach(file include/ggml.h include/ggml-cpu.h lib/libggml.so lib/libggml-base.so lib/libggml-cpu.so)
    if(NOT EXISTS ${root}/${file})
      message(FATAL_ERROR "BENANZA_GGML_ROOT: ${root} has no ${file}; name the folder above include and lib")
    endif()
  endforeach()
  benanza_compile_functions()
  set(source ${PROJECT_BINARY_DIR}/benanza/ggml_module.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ggml_module.cpp.in ${source} COPYONLY)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-Og>")
  benanza_add_module(${runner} benanza_ggml ${source})
  target_include_directories(benanza_ggml SYSTEM BEFORE PRIVATE ${root}/include)
  target_link_libraries(benanza_ggml PRIVATE ${root}/lib/libggml.so ${root}/lib/libggml-base.so
    ${root}/lib/libggml-cpu.so)
  set_target_properties(benanza_ggml PROPERTIES BUILD_RPATH ${root}/lib)
  set(includes "#include <benanza/backend/module.hpp>\n")
  set(registrations "const benanza::backend::module_registration ggml{\"ggml\", \"$<TARGET_FILE:benanza_ggml>\"};\n")
  set(source ${PROJECT_BINARY_DIR}/benanza/backend_ggml.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/backend.cpp.in ${source}.in @ONLY)
  file(GENERATE OUTPUT ${source} INPUT ${source}.in)
  target_sources(${runner} PRIVATE ${source})
endfunction()
