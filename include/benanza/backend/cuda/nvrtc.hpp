// SPDX-License-Identifier: Apache-2.0
// NVRTC's functions, looked up when the first kernel is compiled. The library is 100 MB: programs
// start without it, and where it is absent the runtime's copies are still there. What was loaded
// before, such as a stand-in, is used.
//
//   const nvrtc& n = nvrtc::it();   n.create(&program, text, ...);   // throws where it is absent
#pragma once

#include "../../core/error.hpp"
#include "load_beside.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <string>

namespace benanza::backend::cuda {

class nvrtc {
public:
  /// The library of this process. Throws with the reason where it cannot be loaded.
  static const nvrtc& it() {
    static const nvrtc one;
    return one;
  }

private:
  template <class Function>
  Function* find(const char* name) const {
    void* there = dlsym(RTLD_DEFAULT, name);
    if (there == nullptr) there = dlsym(library_, name);
    if (there == nullptr) throw error(std::string("NVRTC has no ") + name);
    return reinterpret_cast<Function*>(there);
  }

  static void* open() {
    const std::string name = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
    void* it = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (it == nullptr) // where toolkits have it
      it = load_beside(reinterpret_cast<const void*>(&cudaRuntimeGetVersion), name);
    if (it == nullptr) {
      const char* const why = dlerror();
      throw error("NVRTC cannot be loaded: " + (why != nullptr ? std::string(why) : name), "",
                  "install the CUDA toolkit's NVRTC, or name its folder in LD_LIBRARY_PATH");
    }
    int major = 0, minor = 0;
    const auto ask = reinterpret_cast<decltype(&nvrtcVersion)>(dlsym(it, "nvrtcVersion"));
    if (ask != nullptr && ask(&major, &minor) == NVRTC_SUCCESS)
      load_beside(reinterpret_cast<const void*>(ask),
                  "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor));
    return it;
  }

  void* library_ = open();

public:
#define BENANZA_NVRTC_FUNCTION(name, function)                                                     \
  decltype(&::function) name = find<decltype(::function)>(#function)
  BENANZA_NVRTC_FUNCTION(version, nvrtcVersion);
  BENANZA_NVRTC_FUNCTION(reason, nvrtcGetErrorString);
  BENANZA_NVRTC_FUNCTION(create, nvrtcCreateProgram);
  BENANZA_NVRTC_FUNCTION(destroy, nvrtcDestroyProgram);
  BENANZA_NVRTC_FUNCTION(compile, nvrtcCompileProgram);
  BENANZA_NVRTC_FUNCTION(log_size, nvrtcGetProgramLogSize);
  BENANZA_NVRTC_FUNCTION(log, nvrtcGetProgramLog);
  BENANZA_NVRTC_FUNCTION(code_size, nvrtcGetCUBINSize);
  BENANZA_NVRTC_FUNCTION(code, nvrtcGetCUBIN);
  BENANZA_NVRTC_FUNCTION(ptx_size, nvrtcGetPTXSize);
  BENANZA_NVRTC_FUNCTION(ptx, nvrtcGetPTX);
  BENANZA_NVRTC_FUNCTION(architectures, nvrtcGetNumSupportedArchs);
  BENANZA_NVRTC_FUNCTION(each_architecture, nvrtcGetSupportedArchs);
#undef BENANZA_NVRTC_FUNCTION
};

} // namespace benanza::backend::cuda
