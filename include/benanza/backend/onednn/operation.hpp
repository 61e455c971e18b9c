// SPDX-License-Identifier: Apache-2.0
// Which calls differ between oneDNN 2 and 3? All of them are here: how an operation is described,
// how its implementations are listed, and what a memory descriptor is made of. Only 2.x is written.
// An operation owns its descriptor: the library's iterator keeps a bare pointer to it and, without
// it, stops early and says nothing.
//
//   for (const implementation& i : implementations(operation::matmul(a, b, bias, c, attributes),
//   engine))
//     i.impl_info_str();   // "brg:avx512_core"
#pragma once

#include "engine.hpp"

#include <oneapi/dnnl/dnnl_version.h>

#include <utility>
#include <vector>

#if DNNL_VERSION_MAJOR != 2
#error "benanza's oneDNN backend needs oneDNN 2.x: write operation.hpp for this version"
#endif

namespace benanza::backend::onednn {

/// One implementation of an operation: the library's primitive descriptor.
using implementation = dnnl::primitive_desc_base;

/// Where a window of a convolution or a pooling lies, in the library's terms (a dilation of 0 is
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
    return described(a, [&] {
      return dnnl::convolution_forward::desc(inference, how, source, weights, bias, result,
                                             w.strides, w.dilations, w.pads_begin, w.pads_end);
    });
  }
  static operation deconvolution(dnnl::algorithm how, const description& source,
                                 const description& weights, const description& bias,
                                 const description& result, const window& w,
                                 const dnnl::primitive_attr& a) {
    return described(a, [&] {
      return dnnl::deconvolution_forward::desc(inference, how, source, weights, bias, result,
                                               w.strides, w.dilations, w.pads_begin, w.pads_end);
    });
  }
  static operation inner_product(const description& source, const description& weights,
                                 const description& bias, const description& result,
                                 const dnnl::primitive_attr& a) {
    return described(a, [&] {
      return dnnl::inner_product_forward::desc(inference, source, weights, bias, result);
    });
  }
  static operation matmul(const description& a, const description& b, const description& bias,
                          const description& result, const dnnl::primitive_attr& attributes) {
    return described(attributes, [&] { return dnnl::matmul::desc(a, b, bias, result); });
  }
  static operation pooling(dnnl::algorithm how, const description& source,
                           const description& result, const window& w,
                           const dnnl::primitive_attr& a) {
    // The older descriptor has no dilation, and more implementations know it.
    bool dilated = false;
    for (const auto d : w.dilations)
      dilated = dilated || d != 0;
    if (!dilated)
      return described(a, [&] {
        return dnnl::pooling_forward::desc(inference, how, source, result, w.strides, w.kernel,
                                           w.pads_begin, w.pads_end);
      });
    return described(a, [&] {
      return dnnl::pooling_v2_forward::desc(inference, how, source, result, w.strides, w.kernel,
                                            w.dilations, w.pads_begin, w.pads_end);
    });
  }
  static operation batch_normalization(const description& data, float epsilon,
                                       bool given_statistics, const dnnl::primitive_attr& a) {
    using flags = dnnl::normalization_flags;
    const auto parameters = flags::use_scale | flags::use_shift;
    return described(a, [&] {
      return dnnl::batch_normalization_forward::desc(
          inference, data, epsilon,
          given_statistics ? parameters | flags::use_global_stats : parameters);
    });
  }
  static operation layer_normalization(const description& data, float epsilon, bool shift,
                                       const dnnl::primitive_attr& a) {
    using flags = dnnl::normalization_flags;
    return described(a, [&] {
      return dnnl::layer_normalization_forward::desc(
          inference, data, epsilon, shift ? flags::use_scale | flags::use_shift : flags::use_scale);
    });
  }
  static operation lrn(const description& data, std::int64_t size, float alpha, float beta,
                       float bias, const dnnl::primitive_attr& a) {
    return described(a, [&] {
      return dnnl::lrn_forward::desc(inference, dnnl::algorithm::lrn_across_channels, data, size,
                                     alpha, beta, bias);
    });
  }
  static operation softmax(bool log, const description& source, const description& result, int axis,
                           const dnnl::primitive_attr& a) {
    const auto how = log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
    return described(
        a, [&] { return dnnl::softmax_v2_forward::desc(inference, how, source, result, axis); });
  }
  static operation eltwise(dnnl::algorithm how, const description& data, float alpha, float beta,
                           const dnnl::primitive_attr& a) {
    return described(
        a, [&] { return dnnl::eltwise_forward::desc(inference, how, data, alpha, beta); });
  }
  static operation binary(dnnl::algorithm how, const description& a, const description& b,
                          const description& result, const dnnl::primitive_attr& attributes) {
    return described(attributes, [&] { return dnnl::binary::desc(how, a, b, result); });
  }
  static operation prelu(const description& data, const description& slopes,
                         const dnnl::primitive_attr& a) {
    return described(a, [&] { return dnnl::prelu_forward::desc(inference, data, slopes); });
  }
  static operation reduction(dnnl::algorithm how, const description& source,
                             const description& result, float p, const dnnl::primitive_attr& a) {
    return described(a, [&] { return dnnl::reduction::desc(how, source, result, p, 0.0f); });
  }
  static operation resampling(dnnl::algorithm how, const description& source,
                              const description& result, const dnnl::primitive_attr& a) {
    return described(
        a, [&] { return dnnl::resampling_forward::desc(inference, how, source, result); });
  }
  /// `way` reads the sequence; an LSTM has states of two kinds, and maybe peepholes.
  static operation recurrent(dnnl::algorithm cell, dnnl::algorithm activation,
                             dnnl::rnn_direction way, const recurrent_tensors& t,
                             const dnnl::primitive_attr& a) {
    switch (cell) {
    case dnnl::algorithm::vanilla_lstm:
      return described(a, [&] {
        return dnnl::lstm_forward::desc(inference, way, t.source, t.first_h, t.first_c,
                                        t.input_weights, t.state_weights, t.peepholes, t.bias,
                                        t.result, t.last_h, t.last_c);
      });
    case dnnl::algorithm::vanilla_gru:
      return described(a, [&] {
        return dnnl::gru_forward::desc(inference, way, t.source, t.first_h, t.input_weights,
                                       t.state_weights, t.bias, t.result, t.last_h);
      });
    case dnnl::algorithm::lbr_gru:
      return described(a, [&] {
        return dnnl::lbr_gru_forward::desc(inference, way, t.source, t.first_h, t.input_weights,
                                           t.state_weights, t.bias, t.result, t.last_h);
      });
    default:
      return described(a, [&] {
        return dnnl::vanilla_rnn_forward::desc(inference, activation, way, t.source, t.first_h,
                                               t.input_weights, t.state_weights, t.bias, t.result,
                                               t.last_h);
      });
    }
  }
  static operation concat(const description& result, int axis,
                          const std::vector<description>& sources, const dnnl::engine& e,
                          const dnnl::primitive_attr& a) {
    return single([&] { return dnnl::concat::primitive_desc(result, axis, sources, e, a); });
  }
  static operation sum(const description& result, const std::vector<float>& scales,
                       const std::vector<description>& sources, const dnnl::engine& e,
                       const dnnl::primitive_attr& a) {
    return single([&] { return dnnl::sum::primitive_desc(result, scales, sources, e, a); });
  }
  static operation reorder(const description& source, const description& result,
                           const dnnl::engine& e, const dnnl::primitive_attr& a) {
    return single([&] { return dnnl::reorder::primitive_desc(e, source, e, result, a); });
  }

  /// Every implementation that the library lists for `o`, in its order.
  friend std::vector<implementation> implementations(const operation& o, const dnnl::engine& e) {
    if (o.single_) return {*o.single_};
    std::vector<implementation> found;
    if (!o.descriptor_) return found;
    dnnl_primitive_desc_iterator_t raw = nullptr;
    if (dnnl_primitive_desc_iterator_create(&raw, o.descriptor_.get(), o.attributes_.get(), e.get(),
                                            nullptr) != dnnl_success)
      return found;
    const std::unique_ptr<std::remove_pointer_t<decltype(raw)>, end_iteration> at(raw);
    do {
      implementation i;
      i.reset(dnnl_primitive_desc_iterator_fetch(at.get()));
      if (i.get(true)) found.push_back(std::move(i));
    } while (dnnl_primitive_desc_iterator_next(at.get()) == dnnl_success);
    return found;
  }

private:
  static constexpr auto inference = dnnl::prop_kind::forward_inference;
  struct end_iteration {
    void operator()(dnnl_primitive_desc_iterator_t i) const {
      dnnl_primitive_desc_iterator_destroy(i);
    }
  };

  template <class Describe>
  static operation described(const dnnl::primitive_attr& a, Describe describe) {
    operation o;
    try {
      const auto d = describe();
      o.descriptor_ = std::make_shared<decltype(d.data)>(d.data);
      o.attributes_ = a;
    } catch (const dnnl::error&) {
    }
    return o;
  }
  template <class Create>
  static operation single(Create create) {
    operation o;
    try {
      o.single_ = std::make_shared<implementation>(create());
    } catch (const dnnl::error&) {
    }
    return o;
  }

  std::shared_ptr<const void> descriptor_{};
  dnnl::primitive_attr attributes_{};
  std::shared_ptr<const implementation> single_{};
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

} // namespace benanza::backend::onednn
