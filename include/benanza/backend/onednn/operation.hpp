// SPDX-License-Identifier: Apache-2.0
// What may the library be asked to compute? One maker for each of its primitives. What differs
// between oneDNN 2 and 3 is in version_2.hpp and version_3.hpp, which say the same names: how an
// operation is described and its implementations are listed, scales, and what a memory descriptor
// is made of.
//
//   for (const implementation& i : implementations(operation::matmul(a, b, bias, c, attributes),
//   engine))
//     i.impl_info_str();   // "brg:avx512_core"
#pragma once

#include <oneapi/dnnl/dnnl_version.h>

#if DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR >= 6
#include "version_2.hpp"
#elif DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR >= 1
#include "version_3.hpp"
#else
#error                                                                                             \
    "benanza's oneDNN backend knows oneDNN 2.6, 2.7 and 3.1 or newer: write version_N.hpp for this one"
#endif

namespace benanza::backend::onednn {

using version::anatomy;
using version::effective_instruction_set;
using version::implementation;
using version::run_time_values;
using version::type_of;

/// Where a window of a convolution or a pooling is, in the library's terms (a dilation of 0 is
/// none).
struct window {
  dims strides{}, kernel{}, dilations{}, pads_begin{}, pads_end{};
};

/// What a recurrent layer reads and writes; those that are not there are empty.
struct recurrent_tensors {
  description source{}, first_h{}, first_c{};
  description input_weights{}, state_weights{}, peepholes{}, bias{};
  description result{}, last_h{}, last_c{};
};

/// What the library is asked to compute. Empty where it refuses even to describe it.
class operation {
public:
  operation() = default;

  static operation convolution(dnnl::algorithm how, const description& source,
                               const description& weights, const description& bias,
                               const description& result, const window& w,
                               const dnnl::primitive_attr& a) {
    return described<dnnl::convolution_forward>(a, std::tuple(inference, how, source, weights, bias,
                                                              result, w.strides, w.dilations,
                                                              w.pads_begin, w.pads_end));
  }
  static operation deconvolution(dnnl::algorithm how, const description& source,
                                 const description& weights, const description& bias,
                                 const description& result, const window& w,
                                 const dnnl::primitive_attr& a) {
    return described<dnnl::deconvolution_forward>(
        a, std::tuple(inference, how, source, weights, bias, result, w.strides, w.dilations,
                      w.pads_begin, w.pads_end));
  }
  /// The gradient by the weights of a convolution, from its source and the gradient by its result.
  static operation weight_gradient(const description& source, const description& weights,
                                   const description& result, const window& w,
                                   const dnnl::primitive_attr& a) {
    const auto of = std::tuple(dnnl::algorithm::convolution_direct, source, weights, result,
                               w.strides, w.dilations, w.pads_begin, w.pads_end);
    return made([&] {
      return version::backward<dnnl::convolution_backward_weights, dnnl::convolution_forward>(
          a, of, std::tuple_cat(std::tuple(dnnl::prop_kind::forward_training), of));
    });
  }
  static operation inner_product(const description& source, const description& weights,
                                 const description& bias, const description& result,
                                 const dnnl::primitive_attr& a) {
    return described<dnnl::inner_product_forward>(
        a, std::tuple(inference, source, weights, bias, result));
  }
  static operation matmul(const description& a, const description& b, const description& bias,
                          const description& result, const dnnl::primitive_attr& attributes) {
    return described<dnnl::matmul>(attributes, std::tuple(a, b, bias, result));
  }
  static operation pooling(dnnl::algorithm how, const description& source,
                           const description& result, const window& w,
                           const dnnl::primitive_attr& a) {
    return made([&] {
      return version::pooling(how, source, result, w.strides, w.kernel, w.dilations, w.pads_begin,
                              w.pads_end, a);
    });
  }
  static operation batch_normalization(const description& data, float epsilon,
                                       bool given_statistics, const dnnl::primitive_attr& a) {
    using flags = dnnl::normalization_flags;
    const auto parameters = flags::use_scale | flags::use_shift;
    return described<dnnl::batch_normalization_forward>(
        a,
        std::tuple_cat(std::tuple(inference), version::data_and_result(data),
                       std::tuple(epsilon, given_statistics ? parameters | flags::use_global_stats
                                                            : parameters)));
  }
  /// Nothing before oneDNN 3.3.
  static operation group_normalization(const description& data, std::int64_t groups, float epsilon,
                                       const dnnl::primitive_attr& a) {
#if DNNL_VERSION_MAJOR > 2 && DNNL_VERSION_MINOR >= 3
    using flags = dnnl::normalization_flags;
    return described<dnnl::group_normalization_forward>(
        a, std::tuple(inference, data, data, groups, epsilon, flags::use_scale | flags::use_shift));
#else
    static_cast<void>(data), static_cast<void>(groups), static_cast<void>(epsilon),
        static_cast<void>(a);
    return {};
#endif
  }
  static operation layer_normalization(const description& data, float epsilon, bool shift,
                                       const dnnl::primitive_attr& a) {
    using flags = dnnl::normalization_flags;
    return described<dnnl::layer_normalization_forward>(
        a, std::tuple_cat(std::tuple(inference), version::data_and_result(data),
                          std::tuple(epsilon, shift ? flags::use_scale | flags::use_shift
                                                    : flags::use_scale)));
  }
  static operation lrn(const description& data, std::int64_t size, float alpha, float beta,
                       float bias, const dnnl::primitive_attr& a) {
    return described<dnnl::lrn_forward>(
        a, std::tuple_cat(std::tuple(inference, dnnl::algorithm::lrn_across_channels),
                          version::data_and_result(data), std::tuple(size, alpha, beta, bias)));
  }
  static operation softmax(bool log, const description& source, const description& result, int axis,
                           const dnnl::primitive_attr& a) {
    const auto how = log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
    return described<version::softmax_forward>(a, std::tuple(inference, how, source, result, axis));
  }
  static operation eltwise(dnnl::algorithm how, const description& data, float alpha, float beta,
                           const dnnl::primitive_attr& a) {
    return described<dnnl::eltwise_forward>(a, std::tuple_cat(std::tuple(inference, how),
                                                              version::data_and_result(data),
                                                              std::tuple(alpha, beta)));
  }
  static operation binary(dnnl::algorithm how, const description& a, const description& b,
                          const description& result, const dnnl::primitive_attr& attributes) {
    return described<dnnl::binary>(attributes, std::tuple(how, a, b, result));
  }
  static operation prelu(const description& data, const description& slopes,
                         const dnnl::primitive_attr& a) {
    return described<dnnl::prelu_forward>(
        a, std::tuple_cat(std::tuple(inference, data), version::slopes_and_result(slopes, data)));
  }
  static operation reduction(dnnl::algorithm how, const description& source,
                             const description& result, float p, const dnnl::primitive_attr& a) {
    return described<dnnl::reduction>(a, std::tuple(how, source, result, p, 0.0f));
  }
  static operation resampling(dnnl::algorithm how, const description& source,
                              const description& result, const dnnl::primitive_attr& a) {
    return described<dnnl::resampling_forward>(a, std::tuple(inference, how, source, result));
  }
  /// `way` reads the sequence; an LSTM has states of two kinds, and maybe peepholes.
  static operation recurrent(dnnl::algorithm cell, dnnl::algorithm activation,
                             dnnl::rnn_direction way, const recurrent_tensors& t,
                             const dnnl::primitive_attr& a) {
    const auto tensors = std::tuple(t.source, t.first_h, t.input_weights, t.state_weights, t.bias,
                                    t.result, t.last_h);
    const auto directed = std::tuple_cat(std::tuple(inference, way), tensors);
    switch (cell) {
    case dnnl::algorithm::vanilla_lstm:
      return described<dnnl::lstm_forward>(
          a, std::tuple(inference, way, t.source, t.first_h, t.first_c, t.input_weights,
                        t.state_weights, t.peepholes, t.bias, t.result, t.last_h, t.last_c));
    case dnnl::algorithm::vanilla_gru: return described<dnnl::gru_forward>(a, directed);
    case dnnl::algorithm::lbr_gru: return described<dnnl::lbr_gru_forward>(a, directed);
    default:
      return described<dnnl::vanilla_rnn_forward>(
          a, std::tuple_cat(std::tuple(inference, activation, way), tensors));
    }
  }
  static operation concat(const description& result, int axis,
                          const std::vector<description>& sources, const dnnl::engine& e,
                          const dnnl::primitive_attr& a) {
    return made([&] { return version::single<dnnl::concat>(e, a, result, axis, sources); });
  }
  static operation sum(const description& result, const std::vector<float>& scales,
                       const std::vector<description>& sources, const dnnl::engine& e,
                       const dnnl::primitive_attr& a) {
    return made([&] { return version::single<dnnl::sum>(e, a, result, scales, sources); });
  }
  static operation reorder(const description& source, const description& result,
                           const dnnl::engine& e, const dnnl::primitive_attr& a) {
    return made([&]() -> version::listing {
      return [i = implementation(dnnl::reorder::primitive_desc(e, source, e, result, a))](
                 const dnnl::engine&) { return std::vector<implementation>{i}; };
    });
  }

  /// Every implementation that the library lists for `o`, in its order.
  friend std::vector<implementation> implementations(const operation& o, const dnnl::engine& e) {
    try {
      if (o.list_) return o.list_(e);
    } catch (const dnnl::error&) {
    }
    return {};
  }

private:
  static constexpr auto inference = dnnl::prop_kind::forward_inference;

  template <class Make>
  static operation made(Make make) {
    operation o;
    try {
      o.list_ = make();
    } catch (const dnnl::error&) {
    }
    return o;
  }
  template <class P, class Arguments>
  static operation described(const dnnl::primitive_attr& a, const Arguments& of) {
    return made([&] { return version::described<P>(a, of); });
  }

  version::listing list_{};
};

/// The name of the implementation that a created primitive really is.
inline std::string implementation_name(const dnnl::primitive& p) {
  const_dnnl_primitive_desc_t d = nullptr;
  const char* text = nullptr;
  if (dnnl_primitive_get_primitive_desc(p.get(), &d) != dnnl_success ||
      dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &text) != dnnl_success)
    return "unknown";
  return text;
}

} // namespace benanza::backend::onednn
