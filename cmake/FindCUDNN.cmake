# SPDX-License-Identifier: Apache-2.0
# Finds cuDNN: its headers, and the one library that loads all others. Looks where CUDNN_ROOT (or
# CUDNN_PATH in the environment) says, in the CUDA toolkit, and among Python's packages. Sets
# CUDNN_FOUND, CUDNN_VERSION and the target CUDNN::cudnn.

set(hints ${CUDNN_ROOT} $ENV{CUDNN_PATH} $ENV{CUDNN_ROOT})
if(CUDAToolkit_FOUND)
  foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS)
    get_filename_component(folder ${folder} DIRECTORY)
    list(APPEND hints ${folder})
  endforeach()
endif()
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${hints} PATH_SUFFIXES include)
if(NOT CUDNN_INCLUDE_DIR)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -c "import nvidia.cudnn as c; print(list(c.__path__)[0])"
      OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND hints ${package})
    find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${package} PATH_SUFFIXES include)
  endif()
endif()
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${hints} PATH_SUFFIXES lib lib64)
mark_as_advanced(CUDNN_INCLUDE_DIR CUDNN_LIBRARY)

set(CUDNN_VERSION "")
if(CUDNN_INCLUDE_DIR)
  file(STRINGS ${CUDNN_INCLUDE_DIR}/cudnn_version.h lines
    REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) ")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#define CUDNN_[A-Z]+ +([0-9]+).*" "\\1" number "${line}")
    string(APPEND CUDNN_VERSION ".${number}")
  endforeach()
  string(REGEX REPLACE "^\\." "" CUDNN_VERSION "${CUDNN_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDNN
  REQUIRED_VARS CUDNN_LIBRARY CUDNN_INCLUDE_DIR VERSION_VAR CUDNN_VERSION)
if(CUDNN_FOUND AND NOT TARGET CUDNN::cudnn)
  add_library(CUDNN::cudnn UNKNOWN IMPORTED)
  set_target_properties(CUDNN::cudnn PROPERTIES
    IMPORTED_LOCATION ${CUDNN_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CUDNN_INCLUDE_DIR})
  if(TARGET CUDA::cudart)
    # The headers include the CUDA runtime's.
    set_target_properties(CUDNN::cudnn PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_DIR};${CUDAToolkit_INCLUDE_DIRS}")
  endif()
endif()
