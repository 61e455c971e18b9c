// SPDX-License-Identifier: Apache-2.0
// A kernel on the GPU: compiled code, loaded through the CUDA runtime and started on a stream. No
// function of the driver is called by us, so programs start where there is none. Kernels of equal
// text are loaded once, for as long as one is in use.
//
//   auto k = loaded_kernel::of(source_kernel);   k->launch(stream, arguments);
#pragma once

#include "compile.hpp"
#include "device.hpp"
#include "source/text.hpp"

#include <map>
#include <memory>

namespace benanza::backend::cuda {

/// Of this process's GPU: 90 for 9.0.
inline int compute_capability() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
         attribute(cudaDevAttrComputeCapabilityMinor);
}
/// What kernels for it are compiled for: "sm_90".
inline std::string architecture_of_gpu() {
  return architecture_for(compute_capability(), compiled_architectures());
}

#ifdef BENANZA_WITH_NVRTC
class loaded_kernel {
public:
  /// The kernel of a text on the GPU of this process.
  static std::shared_ptr<const loaded_kernel> of(const source::kernel& k) {
    static std::map<std::string, std::weak_ptr<const loaded_kernel>> known;
    auto& there = known[k.text];
    auto it = there.lock();
    if (!it) there = it = std::make_shared<const loaded_kernel>(k);
    return it;
  }

  explicit loaded_kernel(const source::kernel& k)
      : blocks_(k.blocks)
      , threads_(k.threads) {
    const std::string architecture = architecture_of_gpu();
    const compiled& made = compile(k.text, architecture);
    check(
        cudaLibraryLoadData(&library_, made.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "a kernel cannot be loaded");
    const cudaError_t e = cudaLibraryGetKernel(&it_, library_, k.name.c_str());
    if (e != cudaSuccess) cudaLibraryUnload(library_);
    check(e, "a kernel is not in its code");
  }
  loaded_kernel(const loaded_kernel&) = delete;
  loaded_kernel& operator=(const loaded_kernel&) = delete;
  ~loaded_kernel() { cudaLibraryUnload(library_); }

  /// Puts one execution on the stream; `arguments` point to the values of the parameters.
  void launch(const stream& s, void** arguments) const { launch(s, arguments, blocks_); }
  /// The same, of so many blocks.
  void launch(const stream& s, void** arguments, std::int64_t blocks) const {
    check(cudaLaunchKernel(it_, dim3(static_cast<unsigned>(blocks)),
                           dim3(static_cast<unsigned>(threads_)), arguments, 0, s.get()),
          "a kernel cannot be started");
  }

private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t it_ = nullptr;
  std::int64_t blocks_;
  int threads_;
};
#else
/// There is none in this build, whose CUDA may be too old to load one.
class loaded_kernel {
public:
  [[noreturn]] static std::shared_ptr<const loaded_kernel> of(const source::kernel&) {
    detail::refuse_to_compile();
  }
  void launch(const stream&, void**, std::int64_t = 1) const {}
};
#endif

} // namespace benanza::backend::cuda
