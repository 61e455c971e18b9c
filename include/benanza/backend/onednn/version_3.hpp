// SPDX-License-Identifier: Apache-2.0
// What is oneDNN 3's own way? A primitive descriptor is made at once, of the first implementation,
// and goes on to the next ones. Scales and zero points are values that each execution is given, and
// a bias is added behind them.
//
//   version::described<dnnl::matmul>(attributes, std::tuple(a, b, bias, c))(engine)
#pragma once

#include "engine.hpp"

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#if DNNL_VERSION_MAJOR < 3
#error "this is of oneDNN 3: operation.hpp includes what fits the library"
#endif

namespace benanza::backend::onednn::version {

/// One implementation of an operation: the library's primitive descriptor.
using implementation = dnnl::primitive_desc_base;
/// Lists the implementations of one operation, in the library's order.
using listing = std::function<std::vector<implementation>(const dnnl::engine&)>;

namespace detail {
/// The first implementation and all after it.
inline std::vector<implementation> listed(dnnl::primitive_desc_base first) {
  std::vector<implementation> found;
  if (!first.get(true)) return found;
  do { // it becomes the next one, so a copy is kept
    dnnl_primitive_desc_t copy = nullptr;
    if (dnnl_primitive_desc_clone(&copy, first.get()) != dnnl_success) break;
    found.emplace_back().reset(copy);
  } while (dnnl_primitive_desc_next_impl(first.get()) == dnnl_success);
  return found;
}
} // namespace detail

/// The implementations of a primitive `P` that its descriptor's arguments ask for.
template <class P, class Arguments>
listing described(const dnnl::primitive_attr& attributes, const Arguments& of) {
  return [attributes, of](const dnnl::engine& e) {
    return detail::listed(std::apply(
        [&](const auto&... a) { return typename P::primitive_desc(e, a..., attributes, true); },
        of));
  };
}

/// The same of a primitive that goes back, whose way forward is `F`.
template <class P, class F, class Arguments, class Forward>
listing backward(const dnnl::primitive_attr& attributes, const Arguments& of,
                 const Forward& forward) {
  return [attributes, of, forward](const dnnl::engine& e) {
    const auto hint =
        std::apply([&](const auto&... a) { return typename F::primitive_desc(e, a...); }, forward);
    return detail::listed(std::apply(
        [&](const auto&... a) {
          return typename P::primitive_desc(e, a..., hint, attributes, true);
        },
        of));
  };
}

/// The same of a primitive of one implementation.
template <class P, class... Arguments>
listing single(const dnnl::engine& e, const dnnl::primitive_attr& attributes,
               const Arguments&... of) {
  return [i = implementation(typename P::primitive_desc(e, of..., attributes))](
             const dnnl::engine&) { return std::vector<implementation>{i}; };
}

/// The arguments that say a source whose result is described as itself.
inline auto data_and_result(const description& d) {
  return std::tuple(d, d);
}
inline auto slopes_and_result(const description& slopes, const description& result) {
  return std::tuple(slopes, result);
}

using softmax_forward = dnnl::softmax_forward;

inline listing pooling(dnnl::algorithm how, const description& source, const description& result,
                       const dims& strides, const dims& kernel, const dims& dilations,
                       const dims& before, const dims& behind,
                       const dnnl::primitive_attr& attributes) {
  return described<dnnl::pooling_forward>(
      attributes, std::tuple(dnnl::prop_kind::forward_inference, how, source, result, strides,
                             kernel, dilations, before, behind));
}

/// Adds a function, times a number, to what is done on a result.
inline void append_eltwise(dnnl::post_ops& to, dnnl::algorithm how, float alpha, float beta,
                           float scale = 1) {
  to.append_eltwise(how, alpha, beta);
  if (scale != 1) to.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
}

/// A number, or one for each channel, that an execution is given.
struct run_time_value {
  int id = 0;                   ///< DNNL_ARG_ATTR_SCALES or DNNL_ARG_ATTR_ZERO_POINTS, and of what
  std::vector<float> factors{}; ///< empty: it is a zero point
  std::int32_t zero = 0;
  int input = -1; ///< the operand that holds the zero point, one code; -1: it is `zero`
};
using run_time_values = std::vector<run_time_value>;

/// True where a bias is added to a product that has been scaled already, and so must be in the
/// result's units.
inline constexpr bool bias_after_scale = true;

/// Multiplies a product, without bias, by one factor, or by one for each channel. `channels`: the
/// channels' dim in the result; in the weights, as bits.
inline void scale_product(dnnl::primitive_attr& a, const std::vector<float>& factors,
                          int /*channels*/, int of_weights, run_time_values& given) {
  if (factors.size() == 1 && factors[0] == 1) return;
  a.set_scales_mask(DNNL_ARG_WEIGHTS, factors.size() > 1 ? of_weights : 0);
  given.push_back({.id = DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, .factors = factors});
}
/// Multiplies the result of an operation without weights: the library divides by its scale.
inline void scale_result(dnnl::primitive_attr& a, float factor, run_time_values& given) {
  a.set_scales_mask(DNNL_ARG_DST, 0);
  given.push_back({.id = DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, .factors = {1 / factor}});
}
/// Multiplies an operand of a binary operation.
inline void scale_operand(dnnl::primitive_attr& a, int id, float factor, run_time_values& given) {
  a.set_scales_mask(id, 0);
  given.push_back({.id = DNNL_ARG_ATTR_SCALES | id, .factors = {factor}});
}
inline void set_zero_point(dnnl::primitive_attr& a, int id, std::int32_t zero,
                           run_time_values& given) {
  a.set_zero_points_mask(id, 0);
  given.push_back({.id = DNNL_ARG_ATTR_ZERO_POINTS | id, .zero = zero});
}
/// A zero point that each execution reads from an operand.
inline void read_zero_point(dnnl::primitive_attr& a, int id, int input, run_time_values& given) {
  a.set_zero_points_mask(id, 0);
  given.push_back({.id = DNNL_ARG_ATTR_ZERO_POINTS | id, .input = input});
}

inline data_type type_of(const description& d) {
  return d.get_data_type();
}

/// What a memory descriptor is made of.
struct anatomy {
  bool any = false, plain = false; ///< plain: strides and inner blocks say it all
  std::string opaque{};            ///< the name of a format that is not plain
  int rank = 0;
  dims sizes{}, padded{}, strides{}, block_sizes{}, block_dims{};

  explicit anatomy(const description& d)
      : any(d.get_format_kind() == dnnl::memory::format_kind::any)
      , plain(d.get_format_kind() == dnnl::memory::format_kind::blocked)
      , rank(d.get_ndims())
      , sizes(d.get_dims())
      , padded(d.get_padded_dims()) {
    if (plain) {
      strides = d.get_strides();
      block_sizes = d.get_inner_blks();
      block_dims = d.get_inner_idxs();
    } else {
      opaque = d.get_format_kind() == dnnl::memory::format_kind::opaque ? "packed" : "none";
    }
  }
};

/// The newest instruction set that the library uses on this machine, as it writes it in names.
inline std::string effective_instruction_set() {
  // Later versions have two names for one number: hence no switch.
  static constexpr std::pair<int, const char*> known[] = {
      {dnnl_cpu_isa_sse41, "sse41"},
      {dnnl_cpu_isa_avx, "avx"},
      {dnnl_cpu_isa_avx2, "avx2"},
      {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
      {dnnl_cpu_isa_avx2_vnni_2, "avx2_vnni_2"},
      {dnnl_cpu_isa_avx512_core, "avx512_core"},
      {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
      {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
      {dnnl_cpu_isa_avx512_core_fp16, "avx512_core_fp16"},
      {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
      {dnnl_cpu_isa_avx512_core_amx_fp16, "avx512_core_amx_fp16"}};
  const int its = dnnl_get_effective_cpu_isa();
  for (const auto& [isa, name] : known)
    if (isa == its) return name;
  return its > dnnl_cpu_isa_avx512_core_amx ? "avx512_core_amx" : "other";
}

} // namespace benanza::backend::onednn::version
