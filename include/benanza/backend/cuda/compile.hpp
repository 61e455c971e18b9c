// SPDX-License-Identifier: Apache-2.0
// How does the text of a kernel become code for a GPU? NVRTC compiles it for one architecture; no
// GPU is needed for that. What was compiled is kept for the rest of the process. In a build without
// NVRTC there are no kernels.
//
//   const compiled& c = compile(text, "sm_90");   c.code is a CUBIN, c.log says what ptxas said
#pragma once

#include "../../core/error.hpp"

#ifdef BENANZA_WITH_NVRTC
#include <nvrtc.h>
#endif

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace benanza::backend::cuda {

#ifdef BENANZA_WITH_NVRTC
/// True where kernels can be compiled.
inline constexpr bool compiles = true;
#else
inline constexpr bool compiles = false;
#endif

/// Code for one architecture.
struct compiled {
  std::vector<char> code{};
  std::string log{}; ///< registers and spills, as ptxas counts them
};

#ifdef BENANZA_WITH_NVRTC
namespace detail {

/// Throws with NVRTC's reason.
inline void check_nvrtc(nvrtcResult r, const std::string& what) {
  if (r != NVRTC_SUCCESS)
    throw error("NVRTC: " + what + ": " + nvrtcGetErrorString(r), "",
                "is the toolkit's libnvrtc-builtins beside libnvrtc?");
}

/// Owner of a text on its way to code.
class program_text {
public:
  explicit program_text(const std::string& text) {
    check_nvrtc(nvrtcCreateProgram(&it_, text.c_str(), "benanza_kernel.cu", 0, nullptr, nullptr),
                "a kernel's text is not taken");
  }
  program_text(const program_text&) = delete;
  program_text& operator=(const program_text&) = delete;
  ~program_text() { nvrtcDestroyProgram(&it_); }

  compiled compile_for(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const std::array options{target.c_str(), "--std=c++17", "--ptxas-options=-v"};
    const nvrtcResult done =
        nvrtcCompileProgram(it_, static_cast<int>(options.size()), options.data());
    compiled out;
    std::size_t size = 0;
    if (nvrtcGetProgramLogSize(it_, &size) == NVRTC_SUCCESS && size > 1) {
      out.log.resize(size);
      nvrtcGetProgramLog(it_, out.log.data());
      out.log.resize(size - 1); // without the zero at its end
    }
    if (done == NVRTC_ERROR_COMPILATION)
      throw error("NVRTC: a kernel cannot be compiled for " + architecture + ": " +
                  first_line(out.log));
    check_nvrtc(done, "a kernel cannot be compiled for " + architecture);
    check_nvrtc(nvrtcGetCUBINSize(it_, &size), "there is no code");
    out.code.resize(size);
    check_nvrtc(nvrtcGetCUBIN(it_, out.code.data()), "there is no code");
    return out;
  }

private:
  static std::string first_line(const std::string& log) { return log.substr(0, log.find('\n')); }

  nvrtcProgram it_ = nullptr;
};
} // namespace detail

/// NVRTC's version: "13.0".
inline std::string compiler_version() {
  int major = 0, minor = 0;
  detail::check_nvrtc(nvrtcVersion(&major, &minor), "its version");
  return std::to_string(major) + '.' + std::to_string(minor);
}

/// The code of a text for an architecture such as "sm_90".
inline const compiled& compile(const std::string& text, const std::string& architecture) {
  static std::map<std::pair<std::string, std::string>, compiled> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto found = known.find({text, architecture});
  if (found == known.end()) {
    compiled made = detail::program_text(text).compile_for(architecture);
    found = known.emplace(std::pair(text, architecture), std::move(made)).first;
  }
  return found->second;
}

#else

inline std::string compiler_version() {
  return {};
}

[[noreturn]] inline const compiled& compile(const std::string&, const std::string&) {
  throw error("kernels need NVRTC, and this build has none", "",
              "install the CUDA toolkit's NVRTC, and build again");
}

#endif

} // namespace benanza::backend::cuda
