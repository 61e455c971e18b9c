// SPDX-License-Identifier: Apache-2.0
// Does this process run on the fake GPU (programs/fake_gpu.cpp)? Its times are known beforehand: a
// memset goes at 4 TB/s.
//
//   TEST_CASE("..." * doctest::skip(!on_fake()))
#pragma once

#include <benanza/backend/cuda/compile.hpp>
#include <benanza/backend/cuda/device.hpp>

#include <cstdlib>
#include <string_view>

namespace cuda_test {

inline bool on_fake() {
  cudaDeviceProp p{};
  return benanza::backend::cuda::no_gpu().empty() &&
         cudaGetDeviceProperties(&p, 0) == cudaSuccess &&
         std::string_view(p.name).starts_with("Fake");
}

/// True where kernels can be compiled for it too.
inline bool runs_kernels() {
  return on_fake() && benanza::backend::cuda::compiles &&
         std::system("env -u LD_PRELOAD c++ --version >/dev/null") == 0;
}

/// Bytes whose memset takes so long.
constexpr std::int64_t bytes_for(std::int64_t ns) {
  return 4000 * ns;
}

} // namespace cuda_test
