// SPDX-License-Identifier: Apache-2.0
// An algorithm of cublasLt: its settings, read from the library and written to it, the bytes that
// the library keeps of it, and what the library says of it. True FP32 is what has no tensor cores
// in it, by the library's own word.
//
//   lt_choice really = settings_of(found.algo);   equivalence_of(found, numeric::f16) == "f16"
//   hex_of(*algo_of(hex_of(found.algo))) == hex_of(found.algo)
#pragma once

#include "../../core/checksum.hpp"
#include "context.hpp"
#include "lt_choice.hpp"

#include <cstdio>
#include <string>

namespace benanza::backend::cublas {

/// cuBLAS's name of an element type; only for types of classes that it computes in.
constexpr cudaDataType_t data_type_of(dtype t) {
  switch (t) {
  case dtype::f16: return CUDA_R_16F;
  case dtype::bf16: return CUDA_R_16BF;
  case dtype::s8: return CUDA_R_8I;
  case dtype::e4m3: return CUDA_R_8F_E4M3;
  default: return CUDA_R_32F;
  }
}

/// In which products are computed and added up.
constexpr cublasComputeType_t compute_type_of(numeric t) {
  return quantised(t)         ? CUBLAS_COMPUTE_32I
         : t == numeric::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                              : CUBLAS_COMPUTE_32F;
}

/// An algorithm with what the library says of it.
struct lt_found {
  lt_choice choice{};
  cublasLtMatmulAlgo_t algo{};
  std::int64_t workspace_bytes = 0;
  double waves = 0; ///< how many times over it fills the GPU
  bool tensor_cores = false;
  std::string refused{}; ///< why the library, which proposed it, then would not make it again
};

namespace detail {
inline constexpr std::array<cublasLtMatmulAlgoConfigAttributes_t, lt_setting_names.size()>
    lt_attributes{CUBLASLT_ALGO_CONFIG_ID,
                  CUBLASLT_ALGO_CONFIG_TILE_ID,
                  CUBLASLT_ALGO_CONFIG_STAGES_ID,
                  CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                  CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                  CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING,
                  CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
                  CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID,
                  CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID};
/// The last two are of 16 bits, all others of 32.
constexpr std::size_t lt_width(std::size_t setting) {
  return setting < 7 ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
}

inline std::int64_t read_setting(const cublasLtMatmulAlgo_t& algo, std::size_t setting) {
  std::uint32_t wide = 0;
  std::uint16_t narrow = 0;
  const bool is_wide = lt_width(setting) == sizeof wide;
  std::size_t written = 0;
  check(call::lt_algo_get(&algo, lt_attributes[setting],
                          is_wide ? static_cast<void*>(&wide) : &narrow, lt_width(setting),
                          &written),
        "a setting of an algorithm");
  return is_wide ? std::int64_t{wide} : std::int64_t{narrow};
}
inline void write_setting(cublasLtMatmulAlgo_t& algo, std::size_t setting, std::int64_t value) {
  const auto wide = static_cast<std::uint32_t>(value);
  const auto narrow = static_cast<std::uint16_t>(value);
  const bool fits = lt_width(setting) == sizeof wide ? value == wide : value == narrow;
  if (!fits) throw refusal("cuBLAS: no setting of an algorithm is " + std::to_string(value));
  check(call::lt_algo_set(&algo, lt_attributes[setting],
                          lt_width(setting) == sizeof wide ? static_cast<const void*>(&wide)
                                                           : &narrow,
                          lt_width(setting)),
        std::string("an algorithm with ")
            .append(lt_setting_names[setting])
            .append(" ")
            .append(std::to_string(value)));
}
} // namespace detail

/// The settings that an algorithm really has.
inline lt_choice settings_of(const cublasLtMatmulAlgo_t& algo) {
  lt_choice c;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    c.values[i] = detail::read_setting(algo, i);
  return c;
}

/// The bytes that the library keeps of an algorithm, in hexadecimal, without zeros at the end. The
/// same version of the library takes them in another process ("can be trivially serialized").
inline std::string hex_of(const cublasLtMatmulAlgo_t& algo) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  std::size_t end = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&algo);
  for (std::size_t i = 0; i < sizeof algo; ++i) {
    text.append(1, digits[bytes[i] / 16]).append(1, digits[bytes[i] % 16]);
    if (bytes[i] != 0) end = text.size();
  }
  text.resize(end);
  return text;
}
/// The algorithm of such bytes; nothing where the text is none.
inline std::optional<cublasLtMatmulAlgo_t> algo_of(std::string_view hex) {
  cublasLtMatmulAlgo_t algo{};
  if (hex.empty() || hex.size() % 2 != 0 || hex.size() > 2 * sizeof algo) return std::nullopt;
  auto* const bytes = reinterpret_cast<unsigned char*>(&algo);
  for (std::size_t i = 0; 2 * i < hex.size(); ++i) {
    const char* const digits = hex.data() + 2 * i;
    const auto [end, bad] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (bad != std::errc{} || end != digits + 2) return std::nullopt;
  }
  return algo;
}
/// What the bytes are called in an id.
inline std::string hash_of(const cublasLtMatmulAlgo_t& algo) {
  const std::string all = fnv1a(hex_of(algo));
  return all.substr(all.size() - hash_digits);
}

/// True where it computes as the class says: FP32 without tensor cores, TF32 with them.
inline bool has_own_arithmetic(const lt_found& f, numeric t) {
  if (t == numeric::f32) return !f.tensor_cores;
  return t != numeric::tf32 || f.tensor_cores;
}

/// True for classes in which parts of a sum could meet in a narrow type: the result's.
inline bool may_meet_narrow(numeric t) {
  return size_bytes(result_of(t)) < 4;
}

/// Which algorithms it competes with: parts of k whose sums meet in a narrow type are a class of
/// their own, and so is FP8 that is added up in fewer bits.
inline std::string equivalence_of(const lt_found& f, numeric t) {
  std::string text(name(t));
  if (f.choice.fast_accum) text.append(fast_accum_suffix);
  const std::int64_t by = f.choice[lt_setting::reduction];
  const bool meets_narrow =
      by == CUBLASLT_REDUCTION_SCHEME_INPLACE || by == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  if (f.choice[lt_setting::splitk] > 1 && meets_narrow && may_meet_narrow(t))
    text += "-reduced-accumulation";
  return text;
}

/// What the library says of it, in words.
inline std::string notes_of(const lt_found& f) {
  if (!f.refused.empty()) return "heuristic,refused";
  char waves[32];
  std::snprintf(waves, sizeof waves, ",waves=%.3g", f.waves);
  std::string text = "heuristic";
  if (f.tensor_cores) text += ",tensor-cores";
  if (f.choice.fast_accum) text += ",fast-accumulation";
  if (const std::int64_t parts = f.choice[lt_setting::splitk]; parts > 1)
    text += ",split-k=" + std::to_string(parts);
  return text + waves;
}

} // namespace benanza::backend::cublas
