# SPDX-License-Identifier: Apache-2.0
# Finds what the parts of Benanza need. Each library is optional; whoever cannot do without says so
# with benanza_require(). Sets BENANZA_WITH_ONNX, BENANZA_WITH_STORE and BENANZA_BACKENDS (onednn,
# host, cudnn, cublas).

find_package(range-v3 QUIET)
find_package(nlohmann_json QUIET)
find_package(fmt QUIET)
find_package(CLI11 QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/benanza_portable.cmake)
if(BENANZA_PORTABLE)
  benanza_benchmark_from_source()
else()
  find_package(benchmark QUIET)
endif()
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(dnnl QUIET)

# Debian's ONNX package names Protobuf's targets but does not look for them.
find_package(Protobuf QUIET)
set(BENANZA_WITH_ONNX OFF)
if(Protobuf_FOUND AND NOT BENANZA_PORTABLE)
  find_package(ONNX QUIET CONFIG)
  if(ONNX_FOUND)
    set(BENANZA_WITH_ONNX ON)
    if(NOT TARGET benanza::onnx)
      add_library(benanza::onnx INTERFACE IMPORTED)
      target_link_libraries(benanza::onnx INTERFACE onnx onnx_proto protobuf::libprotobuf)
      target_compile_definitions(benanza::onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
    endif()
  endif()
endif()

# Results in a database: result/store/, and what the programs do with it.
find_package(SQLite3 QUIET)
set(BENANZA_WITH_STORE ${SQLite3_FOUND})
if(BENANZA_PORTABLE)
  set(BENANZA_WITH_STORE OFF)
endif()
if(NOT TARGET benanza::store)
  add_library(benanza::store INTERFACE IMPORTED)
  if(BENANZA_WITH_STORE)
    target_link_libraries(benanza::store INTERFACE SQLite::SQLite3)
    target_compile_definitions(benanza::store INTERFACE BENANZA_WITH_STORE=1)
  endif()
endif()

# What frameworks' profilers write (trace/profile/): execution graphs of OpenVINO are XML, traces may
# be compressed, and Nsight Systems writes SQLite.
find_package(pugixml QUIET)
find_package(ZLIB QUIET)
if(NOT TARGET benanza::profiles)
  add_library(benanza::profiles INTERFACE IMPORTED)
  target_link_libraries(benanza::profiles INTERFACE benanza::store)
  if(pugixml_FOUND AND NOT BENANZA_PORTABLE)
    target_link_libraries(benanza::profiles INTERFACE pugixml::pugixml)
    target_compile_definitions(benanza::profiles INTERFACE BENANZA_WITH_PUGIXML=1)
  endif()
  if(ZLIB_FOUND AND NOT BENANZA_PORTABLE)
    target_link_libraries(benanza::profiles INTERFACE ZLIB::ZLIB)
    target_compile_definitions(benanza::profiles INTERFACE BENANZA_WITH_ZLIB=1)
  endif()
endif()

# NVIDIA GPUs: host code only, never linked to the driver.
find_package(CUDAToolkit QUIET)
set(BENANZA_WITH_CUDNN OFF)
if(CUDAToolkit_FOUND)
  list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(CUDNN 9 QUIET)
  set(BENANZA_WITH_CUDNN ${CUDNN_FOUND})
endif()
if(NOT TARGET benanza::cudnn)
  add_library(benanza::cudnn INTERFACE IMPORTED)
  if(BENANZA_WITH_CUDNN)
    target_link_libraries(benanza::cudnn INTERFACE CUDNN::cudnn ${CMAKE_DL_LIBS})
    target_compile_definitions(benanza::cudnn INTERFACE
      BENANZA_WITH_CUDNN=1 BENANZA_CUDA_LIBRARIES="${CUDAToolkit_LIBRARY_DIR}")
  endif()
endif()

# The CUDA runtime alone: its copies, and kernels that NVRTC compiles. Before 12.8 only the driver
# could load kernels.
set(BENANZA_WITH_CUDA OFF)
if(TARGET CUDA::cudart AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
  set(BENANZA_WITH_CUDA ON)
endif()
if(NOT TARGET benanza::cuda)
  add_library(benanza::cuda INTERFACE IMPORTED)
  if(BENANZA_WITH_CUDA)
    target_link_libraries(benanza::cuda INTERFACE CUDA::cudart)
    if(TARGET CUDA::nvrtc)
      # It is loaded when the first kernel is compiled (backend/cuda/nvrtc.hpp).
      target_link_libraries(benanza::cuda INTERFACE ${CMAKE_DL_LIBS})
      # CUB's headers are read by the kernels that include them (backend/cuda/cub_headers.hpp).
      list(JOIN CUDAToolkit_INCLUDE_DIRS ":" cuda_includes)
      target_compile_definitions(benanza::cuda INTERFACE
        BENANZA_WITH_NVRTC=1 BENANZA_CUDA_INCLUDE_FOLDERS="${cuda_includes}")
    endif()
  endif()
endif()

set(BENANZA_WITH_CUBLAS OFF)
if(TARGET CUDA::cublas AND TARGET CUDA::cublasLt AND TARGET CUDA::cudart)
  set(BENANZA_WITH_CUBLAS ON)
endif()
if(NOT TARGET benanza::cublas)
  add_library(benanza::cublas INTERFACE IMPORTED)
  if(BENANZA_WITH_CUBLAS)
    # The libraries themselves are loaded when a GPU is there (backend/cublas/functions.hpp).
    target_link_libraries(benanza::cublas INTERFACE CUDA::cudart ${CMAKE_DL_LIBS})
    target_compile_definitions(benanza::cublas INTERFACE
      BENANZA_WITH_CUBLAS=1 BENANZA_CUBLAS_FOLDER="${CUDAToolkit_LIBRARY_DIR}")
  endif()
endif()

set(BENANZA_BACKENDS "")
if(OpenMP_CXX_FOUND)
  list(APPEND BENANZA_BACKENDS host)
  if(dnnl_FOUND)
    list(APPEND BENANZA_BACKENDS onednn)
  endif()
  if(BENANZA_WITH_CUDA)
    list(APPEND BENANZA_BACKENDS cuda)
  endif()
  if(BENANZA_WITH_CUDNN)
    list(APPEND BENANZA_BACKENDS cudnn)
  endif()
  if(BENANZA_WITH_CUBLAS)
    list(APPEND BENANZA_BACKENDS cublas)
  endif()
endif()

if(BENANZA_PORTABLE)
  list(REMOVE_ITEM BENANZA_BACKENDS host onednn) # only what runs on a GPU
endif()

# benanza_require(<package> <who needs it> <Debian package>)
function(benanza_require package who debian)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${who} needs ${package}, which was not found; on Debian: apt-get install ${debian}")
  endif()
endfunction()
