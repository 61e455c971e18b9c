// SPDX-License-Identifier: Apache-2.0
// What is oneDNN 2's own way? Operations are described apart from their implementations, which an
// iterator lists: it keeps a bare pointer to the description, and without it stops early and says
// nothing, so that a listing owns the description. Scales are part of the attributes.
//
//   version::described<dnnl::matmul>(attributes, std::tuple(a, b, bias, c))(engine)
#pragma once

#include "engine.hpp"

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#if DNNL_VERSION_MAJOR >= 3
#error "this is of oneDNN 2: operation.hpp includes what fits the library"
#endif

namespace benanza::backend::onednn::version {

/// One implementation of an operation: the library's primitive descriptor.
using implementation = dnnl::primitive_desc_base;
/// Lists the implementations of one operation, in the library's order.
using listing = std::function<std::vector<implementation>(const dnnl::engine&)>;

namespace detail {
struct end_iteration {
  void operator()(dnnl_primitive_desc_iterator_t i) const {
    dnnl_primitive_desc_iterator_destroy(i);
  }
};
} // namespace detail

namespace detail {
/// All that the library lists for a descriptor, one after the other; `hint`: what goes forward, of
/// an operation that goes back.
template <class Data>
std::vector<implementation> listed(const Data& of, const dnnl::primitive_attr& attributes,
                                   const dnnl::engine& e, const_dnnl_primitive_desc_t hint) {
  std::vector<implementation> found;
  dnnl_primitive_desc_iterator_t raw = nullptr;
  if (dnnl_primitive_desc_iterator_create(&raw, &of, attributes.get(), e.get(), hint) !=
      dnnl_success)
    return found;
  const std::unique_ptr<std::remove_pointer_t<decltype(raw)>, end_iteration> at(raw);
  do {
    implementation i;
    i.reset(dnnl_primitive_desc_iterator_fetch(at.get()));
    if (i.get(true)) found.push_back(std::move(i));
  } while (dnnl_primitive_desc_iterator_next(at.get()) == dnnl_success);
  return found;
}

template <class P, class Arguments>
auto descriptor(const Arguments& of) {
  const auto d = std::apply([](const auto&... a) { return typename P::desc(a...); }, of);
  return std::make_shared<decltype(d.data)>(d.data);
}
} // namespace detail

/// The implementations of a primitive `P` that its descriptor's arguments ask for. Throws
/// dnnl::error where the library refuses even to describe it.
template <class P, class Arguments>
listing described(const dnnl::primitive_attr& attributes, const Arguments& of) {
  return [data = detail::descriptor<P>(of), attributes](const dnnl::engine& e) {
    return detail::listed(*data, attributes, e, nullptr);
  };
}

/// The same of a primitive that goes back, whose way forward is `F`.
template <class P, class F, class Arguments, class Forward>
listing backward(const dnnl::primitive_attr& attributes, const Arguments& of,
                 const Forward& forward) {
  const auto hint = std::apply([](const auto&... a) { return typename F::desc(a...); }, forward);
  return [data = detail::descriptor<P>(of), hint, attributes](const dnnl::engine& e) {
    return detail::listed(*data, attributes, e, typename F::primitive_desc(hint, e).get());
  };
}

/// The same of a primitive that the library makes at once, of one implementation.
template <class P, class... Arguments>
listing single(const dnnl::engine& e, const dnnl::primitive_attr& attributes,
               const Arguments&... of) {
  return [i = implementation(typename P::primitive_desc(of..., e, attributes))](
             const dnnl::engine&) { return std::vector<implementation>{i}; };
}

/// The arguments that say a source whose result is described as itself.
inline auto data_and_result(const description& d) {
  return std::tuple(d);
}
inline auto slopes_and_result(const description& slopes, const description& /*result*/) {
  return std::tuple(slopes);
}

using softmax_forward = dnnl::softmax_v2_forward;

inline listing pooling(dnnl::algorithm how, const description& source, const description& result,
                       const dims& strides, const dims& kernel, const dims& dilations,
                       const dims& before, const dims& behind,
                       const dnnl::primitive_attr& attributes) {
  constexpr auto inference = dnnl::prop_kind::forward_inference;
  // The older descriptor has no dilation, and more implementations know it.
  if (std::all_of(dilations.begin(), dilations.end(), [](auto d) { return d == 0; }))
    return described<dnnl::pooling_forward>(
        attributes, std::tuple(inference, how, source, result, strides, kernel, before, behind));
  return described<dnnl::pooling_v2_forward>(
      attributes,
      std::tuple(inference, how, source, result, strides, kernel, dilations, before, behind));
}

/// Adds a function, times a number, to what is done on a result.
inline void append_eltwise(dnnl::post_ops& to, dnnl::algorithm how, float alpha, float beta,
                           float scale = 1) {
  to.append_eltwise(scale, how, alpha, beta);
}

/// What an execution is given besides operands: in this version only zero points that it reads.
struct run_time_value {
  int id = 0;                   ///< DNNL_ARG_ATTR_ZERO_POINTS, and of what
  std::vector<float> factors{}; ///< none
  std::int32_t zero = 0;
  int input = -1; ///< the operand that holds the zero point, one code
};
using run_time_values = std::vector<run_time_value>;

/// True where a bias is added to a product that has been scaled already, and so must be in the
/// result's units; here it is scaled with the product.
inline constexpr bool bias_after_scale = false;

/// Multiplies a product, bias included, by one factor, or by one for each channel. `channels`: the
/// channels' dim in the result; in the weights, as bits.
inline void scale_product(dnnl::primitive_attr& a, const std::vector<float>& factors, int channels,
                          int /*of_weights*/, run_time_values& /*given*/) {
  a.set_output_scales(factors.size() > 1 ? 1 << channels : 0, factors);
}
/// Multiplies the result of an operation without weights.
inline void scale_result(dnnl::primitive_attr& a, float factor, run_time_values& /*given*/) {
  a.set_output_scales(0, {factor});
}
/// Multiplies an operand of a binary operation.
inline void scale_operand(dnnl::primitive_attr& a, int id, float factor,
                          run_time_values& /*given*/) {
  a.set_scales(id, 0, {factor});
}
inline void set_zero_point(dnnl::primitive_attr& a, int id, std::int32_t zero,
                           run_time_values& /*given*/) {
  a.set_zero_points(id, 0, {zero});
}
/// A zero point that each execution reads from an operand.
inline void read_zero_point(dnnl::primitive_attr& a, int id, int input, run_time_values& given) {
  a.set_zero_points(id, 0, {DNNL_RUNTIME_S32_VAL});
  given.push_back({.id = DNNL_ARG_ATTR_ZERO_POINTS | id, .input = input});
}

inline data_type type_of(const description& d) {
  return d.data_type();
}

/// What a memory descriptor is made of.
struct anatomy {
  bool any = false, plain = false; ///< plain: strides and inner blocks say it all
  std::string opaque{};            ///< the name of a format that is not plain
  int rank = 0;
  dims sizes{}, padded{}, strides{}, block_sizes{}, block_dims{};

  explicit anatomy(const description& d) {
    const dnnl_memory_desc_t& m = d.data;
    rank = m.ndims;
    any = m.format_kind == dnnl_format_kind_any;
    plain = m.format_kind == dnnl_blocked;
    sizes.assign(m.dims, m.dims + rank);
    padded.assign(m.padded_dims, m.padded_dims + rank);
    if (plain) {
      const dnnl_blocking_desc_t& b = m.format_desc.blocking;
      strides.assign(b.strides, b.strides + rank);
      block_sizes.assign(b.inner_blks, b.inner_blks + b.inner_nblks);
      block_dims.assign(b.inner_idxs, b.inner_idxs + b.inner_nblks);
    } else {
      opaque = m.format_kind == dnnl_format_kind_wino         ? "wino"
               : m.format_kind == dnnl_format_kind_rnn_packed ? "packed"
                                                              : "none";
      if (m.format_kind == dnnl_format_kind_wino)
        opaque += std::to_string(m.format_desc.wino_desc.wino_format);
    }
  }
};

/// The newest instruction set that the library uses on this machine, as it writes it in names.
inline std::string effective_instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
  case dnnl_cpu_isa_sse41: return "sse41";
  case dnnl_cpu_isa_avx: return "avx";
  case dnnl_cpu_isa_avx2: return "avx2";
  case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
  case dnnl_cpu_isa_avx512_mic:
  case dnnl_cpu_isa_avx512_mic_4ops: return "avx512_mic";
  case dnnl_cpu_isa_avx512_core: return "avx512_core";
  case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
  case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
  case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
  default: return "other";
  }
}

} // namespace benanza::backend::onednn::version
