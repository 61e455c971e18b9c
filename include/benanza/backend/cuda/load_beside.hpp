// SPDX-License-Identifier: Apache-2.0
// Where is the other half of a library of CUDA's? In the same folder; but the loader looks there
// only if a library asks for that, and these libraries do not. What is loaded already they find by
// its name.
//
//   load_beside(dlsym(cupti, "cuptiGetVersion"), "libnvperf_host.so");
#pragma once

#include <dlfcn.h>
#include <string>

namespace benanza::backend::cuda {

/// Loads the library `name` from the folder of the one that `function` is part of; null: it is not
/// there.
inline void* load_beside(const void* function, const std::string& name) {
  Dl_info its{};
  if (function == nullptr || dladdr(function, &its) == 0) return nullptr;
  const std::string file = its.dli_fname;
  return dlopen((file.substr(0, file.rfind('/') + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace benanza::backend::cuda
