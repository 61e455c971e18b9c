// SPDX-License-Identifier: Apache-2.0
// What can a GPU that is not here do at most? The peaks of NVIDIA's data sheets: dense arithmetic
// with sums in f32, at the boost clock, and memory's bandwidth. From these a roofline, whatever the
// algorithm: no kernel is faster that takes its operands from memory. A hot one may find them in
// the L2 cache, of which data sheets give no rate.
//
//   data_sheet h = *find_data_sheet("h100");   h.flops_per_ns(numeric::tf32) == 494.5e3
//   roof r = *roofline(h, layer, numeric::f16, op::direct_flops(layer));   r.ns, r.by_memory()
#pragma once

#include <benanza/op/layer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::generator {

/// Peaks in Tflop/s (of whole numbers Top/s), without sparsity; 0: it has no such arithmetic.
struct data_sheet {
  std::string_view name; ///< as --target has it
  double f32, tf32, f16, bf16, e4m3, s8;
  double gb_per_s; ///< of memory
  std::string_view board{};

  /// The peak of a class of numbers; 0 where it has none.
  constexpr double flops_per_ns(numeric t) const {
    switch (t) {
    case numeric::f32: return f32 * 1e3;
    case numeric::tf32: return tf32 * 1e3;
    case numeric::f16: return f16 * 1e3;
    case numeric::bf16: return bf16 * 1e3;
    case numeric::e4m3: return e4m3 * 1e3;
    case numeric::u8s8u8:
    case numeric::s8s8s8: return s8 * 1e3;
    }
    return 0;
  }
  constexpr double bytes_per_ns() const { return gb_per_s; }
};

// Where a sheet gives figures with sparsity, these are half of them. Those of the RTX 5090 are from
// NVIDIA's paper on its architecture.
// clang-format off
inline constexpr std::array<data_sheet, 10> data_sheets{{
    //         f32   tf32   f16    bf16   e4m3   s8     GB/s
    {"v100",    15.7,    0,  125,      0,     0,     0,  900, "V100 SXM2"},
    {"t4",       8.1,    0,   65,      0,     0,   130,  320, "T4"},
    {"a10",     31.2, 62.5,  125,    125,     0,   250,  600, "A10"},
    {"a100",    19.5,  156,  312,    312,     0,   624, 2039, "A100 SXM 80 GB"},
    {"l4",      30.3,   60,  121,    121, 242.5, 242.5,  300, "L4"},
    {"l40s",    91.6,  183,  362,    362,   733,   733,  864, "L40S"},
    {"h100",      67, 494.5, 989.5, 989.5, 1979,  1979, 3350, "H100 SXM"},
    {"h200",      67, 494.5, 989.5, 989.5, 1979,  1979, 4800, "H200 SXM"},
    {"b200",      75, 1100, 2250,   2250,  4500,  4500, 8000, "HGX B200"},
    {"rtx5090", 104.8, 104.8, 209.5, 209.5, 419,   838, 1792, "GeForce RTX 5090"},
}};
// clang-format on

/// The data sheet of a GPU by its name in --target; nothing for one that a file describes.
constexpr std::optional<data_sheet> find_data_sheet(std::string_view target) {
  for (const data_sheet& d : data_sheets)
    if (d.name == target) return d;
  return std::nullopt;
}

/// The least time of a layer, and what makes it.
struct roof {
  double ns = 0;
  double memory_ns = 0;
  std::int64_t flops = 0, bytes = 0;
  bool by_memory() const { return ns <= memory_ns; }
};

/// The roofline of so many operations and bytes, at so many operations a nanosecond.
constexpr roof roofline(const data_sheet& d, double flops_per_ns, std::int64_t flops,
                        std::int64_t bytes) {
  const double memory = static_cast<double>(bytes) / d.bytes_per_ns();
  const double arithmetic = flops > 0 ? static_cast<double>(flops) / flops_per_ns : 0;
  return {std::max(memory, arithmetic), memory, flops, bytes};
}

/// The roofline of a layer that needs `least_flops` at least. Nothing where the GPU lacks the
/// layer's arithmetic.
inline std::optional<roof> roofline(const data_sheet& d, const op::layer& l, numeric t,
                                    std::int64_t least_flops) {
  if (op::is_view(l)) return roof{};
  const double rate = d.flops_per_ns(op::computes_in(l, t));
  if (least_flops > 0 && !(rate > 0)) return std::nullopt;
  return roofline(d, rate, least_flops, op::cost(l).bytes(t));
}

} // namespace benanza::generator
