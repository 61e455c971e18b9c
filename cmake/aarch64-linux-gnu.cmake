# SPDX-License-Identifier: Apache-2.0
#
# Crosses from Debian to Linux on 64-bit ARM: libraries are those of a root of Debian arm64, which scripts/arm64 makes;
# programs run under emulation where they have to.
#
#   cmake -S . -B build-arm64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DCMAKE_SYSROOT=ROOT
#
# CMAKE_CXX_COMPILER=clang++-14 takes another compiler. BENANZA_PROCESSOR_FLAGS name the processor: Graviton 3 and Grace
# have what is asked for here, Graviton 2 and the Raspberry Pi 5 armv8.2-a.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CMAKE_SYSROOT)

if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu) # of clang, as is its OpenMP
file(GLOB folders ${CMAKE_SYSROOT}/usr/lib/llvm-*/lib)
list(TRANSFORM folders PREPEND -L)
list(JOIN folders " " CMAKE_EXE_LINKER_FLAGS_INIT)
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # protoc runs here
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(BENANZA_PROCESSOR_FLAGS -march=armv8.2-a+fp16+dotprod+bf16+i8mm CACHE STRING "The processor that kernels are for")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
