// SPDX-License-Identifier: Apache-2.0
// How does the text of a kernel become code for a GPU? NVRTC compiles it for one architecture; no
// GPU is needed for that. For a GPU that it does not know it makes PTX for the best that it knows,
// and the driver does the rest. What was compiled is kept for the rest of the process. In a build
// without NVRTC there are no kernels.
//
//   const compiled& c = compile(text, "sm_90");   c.code is a CUBIN, c.log says what ptxas said
//   architecture_for(107, {80, 90, 100}) == "compute_100"   // c.code is PTX
#pragma once

#include "../../core/error.hpp"
#include "cub_headers.hpp"

#ifdef BENANZA_WITH_NVRTC
#include "nvrtc.hpp"
#endif

#include <algorithm>
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

/// The target of texts for a GPU of compute capability `gpu` (90 for 9.0), with a compiler that
/// knows `known`: that of the GPU itself; or, as PTX, the highest below it.
inline std::string architecture_for(int gpu, const std::vector<int>& known) {
  int best = 0;
  for (const int one : known)
    if (one <= gpu) best = std::max(best, one);
  if (best == 0)
    throw error("this NVRTC compiles for no architecture that the GPU, sm_" + std::to_string(gpu) +
                    ", could run",
                "", "take the NVRTC of an older CUDA toolkit");
  return (best == gpu ? "sm_" : "compute_") + std::to_string(best);
}

#ifdef BENANZA_WITH_NVRTC
namespace detail {

/// Throws with NVRTC's reason.
inline void check_nvrtc(nvrtcResult r, const std::string& what) {
  if (r != NVRTC_SUCCESS)
    throw error("NVRTC: " + what + ": " + nvrtc::it().reason(r), "",
                "is the toolkit's libnvrtc-builtins beside libnvrtc?");
}

/// Owner of a text on its way to code.
class program_text {
public:
  explicit program_text(const std::string& text)
      : includes_(text.find("#include <cub/") != std::string::npos) {
    check_nvrtc(nvrtc::it().create(&it_, text.c_str(), "benanza_kernel.cu", 0, nullptr, nullptr),
                "a kernel's text is not taken");
  }
  program_text(const program_text&) = delete;
  program_text& operator=(const program_text&) = delete;
  ~program_text() { nvrtc::it().destroy(&it_); }

  compiled compile_for(const std::string& architecture) {
    std::vector<std::string> said{"--gpu-architecture=" + architecture, "--std=c++17",
                                  "--ptxas-options=-v"};
    if (includes_) {
      for (const std::string& folder : cub_headers::it().folders())
        said.push_back("--include-path=" + folder);
      // Reading them takes seconds: NVRTC keeps that for the next text.
      said.insert(said.end(), {"--pch", "--pch-messages=false"});
    }
    std::vector<const char*> options;
    for (const std::string& one : said)
      options.push_back(one.c_str());
    const nvrtcResult done =
        nvrtc::it().compile(it_, static_cast<int>(options.size()), options.data());
    compiled out;
    std::size_t size = 0;
    if (nvrtc::it().log_size(it_, &size) == NVRTC_SUCCESS && size > 1) {
      out.log.resize(size);
      nvrtc::it().log(it_, out.log.data());
      out.log.resize(size - 1); // without the zero at its end
    }
    if (done == NVRTC_ERROR_COMPILATION)
      throw error("NVRTC: a kernel cannot be compiled for " + architecture + ": " +
                  reason_in(out.log));
    check_nvrtc(done, "a kernel cannot be compiled for " + architecture);
    const nvrtc& n = nvrtc::it();
    const bool text = !architecture.starts_with("sm_");
    check_nvrtc(text ? n.ptx_size(it_, &size) : n.code_size(it_, &size), "there is no code");
    out.code.resize(size);
    check_nvrtc(text ? n.ptx(it_, out.code.data()) : n.code(it_, out.code.data()),
                "there is no code");
    return out;
  }

private:
  /// The first line of an error; warnings may come before it.
  static std::string reason_in(const std::string& log) {
    const std::size_t error = log.find("error");
    const std::size_t begin = error == std::string::npos ? 0 : log.rfind('\n', error) + 1;
    return log.substr(begin, log.find('\n', begin) - begin);
  }

  nvrtcProgram it_ = nullptr;
  bool includes_;
};
} // namespace detail

/// NVRTC's version: "13.0".
inline std::string compiler_version() {
  int major = 0, minor = 0;
  detail::check_nvrtc(nvrtc::it().version(&major, &minor), "its version");
  return std::to_string(major) + '.' + std::to_string(minor);
}

/// The architectures that it compiles for: 90 for sm_90.
inline std::vector<int> compiled_architectures() {
  int count = 0;
  detail::check_nvrtc(nvrtc::it().architectures(&count), "its architectures");
  std::vector<int> out(static_cast<std::size_t>(count));
  detail::check_nvrtc(nvrtc::it().each_architecture(out.data()), "its architectures");
  return out;
}

/// The code of a text for an architecture such as "sm_90"; PTX for one such as "compute_90".
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

namespace detail {
[[noreturn]] inline void refuse_to_compile() {
  throw error("kernels need NVRTC, and this build has none", "",
              "install the CUDA toolkit's NVRTC, and build again");
}
} // namespace detail

inline std::string compiler_version() {
  return {};
}

[[noreturn]] inline std::vector<int> compiled_architectures() {
  detail::refuse_to_compile();
}

[[noreturn]] inline const compiled& compile(const std::string&, const std::string&) {
  detail::refuse_to_compile();
}

#endif

} // namespace benanza::backend::cuda
