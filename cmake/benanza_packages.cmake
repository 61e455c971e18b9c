# SPDX-License-Identifier: Apache-2.0
#
# Debian packages of the two components that cmake --install has (benanza_install.cmake): `benanza` and
# `libbenanza-dev`. Build them on the release that they are for, without CUDA, which no package there has, and
# with kernels for all processors.
#
#   cmake -S . -B build-deb -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -DBENANZA_LEVELS=ALL
#   cmake --build build-deb --target package          # *.deb in build-deb

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME benanza)
set(CPACK_PACKAGE_VENDOR Benanza)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each component has its own, in its first line
set(BENANZA_MAINTAINER "The authors of Benanza <benanza@example.invalid>" CACHE STRING "Who answers for the packages")
set(CPACK_PACKAGE_CONTACT "${BENANZA_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL libbenanza-dev)
if(BENANZA_PROGRAMS)
  list(APPEND CPACK_COMPONENTS_ALL benanza)
endif()

set(CPACK_COMPONENT_BENANZA_DESCRIPTION "benchmarks and lower bounds of deep-learning models (programs)
benanza takes an ONNX model to a page: how fast it could run here, and what to
change first. It calls benanza_generate (the unique layers of a model),
benanza_bench (measures them),
benanza_analyze (bounds and advice) and, if asked, benanza_measure_framework.")
set(CPACK_DEBIAN_BENANZA_PACKAGE_NAME benanza)
set(CPACK_DEBIAN_BENANZA_PACKAGE_SECTION science)
set(CPACK_DEBIAN_BENANZA_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_BENANZA_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_BENANZA_PACKAGE_RECOMMENDS "python3-venv, libbenanza-dev (= ${PROJECT_VERSION})")

set(CPACK_COMPONENT_LIBBENANZA-DEV_DESCRIPTION "benchmarks and lower bounds of deep-learning models (library)
C++20 headers, and what CMake and pkg-config need to find them. A project
compiles its benchmark program with benanza_add_benchmarks();
/usr/share/benanza/bench is such a project.")
set(CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_NAME libbenanza-dev)
set(CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_ARCHITECTURE all)
set(dev_needs "cmake (>= 3.22)" "make | ninja-build" "g++ (>= 4:12)" libbenchmark-dev libcli11-dev
  libdnnl-dev libfmt-dev librange-v3-dev nlohmann-json3-dev
  ocl-icd-opencl-dev) # some releases' oneDNN looks for it, and their package does not say so
list(JOIN dev_needs ", " CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_RECOMMENDS "benanza (= ${PROJECT_VERSION}), libsqlite3-dev, libpqxx-dev, libpugixml-dev, zlib1g-dev")
set(CPACK_DEBIAN_LIBBENANZA-DEV_PACKAGE_SUGGESTS "libonnx-dev, libprotobuf-dev")

# cpack reads it first.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/install/cpack.cmake)
set(refusal "")
if(BENANZA_WITH_CUDNN AND TARGET benanza_generate)
  string(CONCAT refusal "if(NOT BENANZA_WITHOUT_DEPENDENCIES)\n  message(FATAL_ERROR "
    "\"benanza: benanza_generate needs cuDNN here, which is in no Debian package: "
    "configure with -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON\")\nendif()\n")
endif()
file(CONFIGURE OUTPUT ${CPACK_PROJECT_CONFIG_FILE} @ONLY CONTENT "${refusal}")
include(CPack)
