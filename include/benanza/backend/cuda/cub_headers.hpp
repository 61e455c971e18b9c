// SPDX-License-Identifier: Apache-2.0
// Where are CUB's headers, which kernels include that are compiled at run time? In the CUDA
// toolkit's folder of headers, which a machine with its libraries may lack: the one that
// BENANZA_CUDA_INCLUDE, CUDA_HOME or CUDA_PATH names, the one next to the runtime, that of the
// build, the one next to NVRTC.
//
//   const cub_headers& h = cub_headers::it();   h.found()   h.version() == "3.0.1"   h.why_not()
#pragma once

#ifdef BENANZA_WITH_NVRTC
#include "nvrtc.hpp"
#endif

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend::cuda {

class cub_headers {
public:
  /// Those of this process.
  static const cub_headers& it() {
    static const cub_headers one = [] {
      cub_headers found(places());
#ifdef BENANZA_WITH_NVRTC
      if (!found.found()) try { // the last: it has to be loaded for that
          found = cub_headers(beside(reinterpret_cast<const void*>(nvrtc::it().version)));
        } catch (const error&) { // then nothing is compiled
        }
#endif
      return found;
    }();
    return one;
  }

  /// Looks in these folders, the first before others.
  explicit cub_headers(const std::vector<std::string>& in) {
    namespace fs = std::filesystem;
    for (const std::string& folder : in)
      for (const char* below : {"/cccl", ""}) { // since CUDA 13; before
        std::error_code ignored;
        if (folder.empty() || !fs::exists(folder + below + "/cub/block/block_scan.cuh", ignored))
          continue;
        folders_ = {folder + below, folder};
        version_ = version_in(folder + below + "/cub/version.cuh");
        return;
      }
    why_not_ = "CUB's headers were not found: install the CUDA toolkit's headers (CCCL), or name "
               "their folder in BENANZA_CUDA_INCLUDE";
  }

  bool found() const {
    return !folders_.empty();
  }
  const std::string& why_not() const {
    return why_not_;
  }
  /// "3.0.1"; empty where it is not known.
  const std::string& version() const {
    return version_;
  }
  /// In which the compiler looks for headers.
  const std::vector<std::string>& folders() const {
    return folders_;
  }

private:
  /// Where toolkits and Python's packages have headers next to the library of a function.
  static std::vector<std::string> beside(const void* function) {
    Dl_info where{};
    if (dladdr(function, &where) == 0 || where.dli_fname == nullptr) return {};
    std::error_code ignored;
    const auto above =
        std::filesystem::canonical(where.dli_fname, ignored).parent_path().parent_path();
    if (above.empty()) return {};
    return {(above / "include").string(), (above.parent_path() / "cuda_cccl/include").string()};
  }

  static std::vector<std::string> places() {
    std::vector<std::string> out;
    const auto named = [&out](const char* variable, const char* below) {
      const char* const folder = std::getenv(variable);
      if (folder != nullptr && *folder != 0) out.push_back(std::string(folder) + below);
    };
    named("BENANZA_CUDA_INCLUDE", "");
    named("CUDA_HOME", "/include");
    named("CUDA_PATH", "/include");
    for (std::string& one : beside(reinterpret_cast<const void*>(&cudaRuntimeGetVersion)))
      out.push_back(std::move(one));
#ifdef BENANZA_CUDA_INCLUDE_FOLDERS
    std::string_view rest = BENANZA_CUDA_INCLUDE_FOLDERS;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      out.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
#endif
    return out;
  }

  /// 300001 means 3.0.1, and 200802 means 2.8.2.
  static std::string version_in(const std::string& path) {
    std::ifstream in(path);
    const std::string before = "#define CUB_VERSION ";
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(before)) {
        const int n = std::atoi(line.c_str() + before.size());
        return n <= 0 ? std::string{}
                      : std::to_string(n / 100000) + '.' + std::to_string(n / 100 % 1000) + '.' +
                            std::to_string(n % 100);
      }
    return {};
  }

  std::vector<std::string> folders_{};
  std::string version_{}, why_not_{};
};

} // namespace benanza::backend::cuda
