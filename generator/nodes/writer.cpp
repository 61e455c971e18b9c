// SPDX-License-Identifier: Apache-2.0
// Which node is a layer of each kind? Attributes that no key holds have the values that every
// backend computes with (backend/operands.hpp).
#include "writer.hpp"
#include <benanza/op/kinds.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::generator {
namespace {

using zoo::attr;
using zoo::dims;
using zoo::value;
using values = std::vector<value>;
namespace fixed = backend::attribute;

/// The operator set whose operators are written, and that of those which came later.
constexpr int usual_opset = 18;

[[noreturn]] void refuse(const char* why) {
  throw not_written(why);
}

int opset_of(op::unary_function f) {
  return f == op::unary_function::gelu || f == op::unary_function::fast_gelu ? 20 : usual_opset;
}

struct opsets {
  int operator()(const op::rms_norm&) const { return 23; }
  int operator()(const op::attention&) const { return 23; }
  int operator()(const op::rotary&) const { return 23; }
  int operator()(const op::group_norm&) const { return 21; }
  int operator()(const op::grid_sample&) const { return 20; }
  int operator()(const op::resize& p) const { return p.upsample ? 9 : 19; }
  int operator()(const op::unary& p) const { return opset_of(p.function); }
  template <class Base>
  int operator()(const op::fused<Base>& p) const {
    int most = (*this)(p.base);
    for (const op::step& s : p.steps)
      if (!s.joins) most = std::max(most, opset_of(s.function));
    return most;
  }
  template <class Norm>
  int operator()(const op::residual<Norm>& p) const {
    return (*this)(p.base);
  }
  int operator()(const auto&) const { return usual_opset; }
};

::onnx::TensorProto::DataType element_of(dtype d) {
  switch (d) {
  case dtype::real:
  case dtype::f32: return ::onnx::TensorProto::FLOAT;
  case dtype::f64: return ::onnx::TensorProto::DOUBLE;
  case dtype::f16: return ::onnx::TensorProto::FLOAT16;
  case dtype::bf16: return ::onnx::TensorProto::BFLOAT16;
  case dtype::s8: return ::onnx::TensorProto::INT8;
  case dtype::u8: return ::onnx::TensorProto::UINT8;
  case dtype::s16: return ::onnx::TensorProto::INT16;
  case dtype::u16: return ::onnx::TensorProto::UINT16;
  case dtype::s32: return ::onnx::TensorProto::INT32;
  case dtype::u32: return ::onnx::TensorProto::UINT32;
  case dtype::s64: return ::onnx::TensorProto::INT64;
  case dtype::u64: return ::onnx::TensorProto::UINT64;
  case dtype::boolean: return ::onnx::TensorProto::BOOL;
  default: refuse("no ONNX model is written with elements of this type");
  }
}

template <int N>
dims list_of(const list<N>& l) {
  return {l.begin(), l.end()};
}

/// Writes one layer.
class writer {
public:
  writer(const op::layer& l, const backend::operands& o)
      : operands_(o)
      , net_("layer", op::visit(opsets{}, l))
      , results_(op::results(l)) {
    for (std::size_t k = 0; k < o.inputs.size(); ++k)
      names_.emplace_back();
  }

  node_model take(const values& made, const op::layer& l) {
    const auto* cut = op::as<op::split>(l);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const op::result r = cut == nullptr
                               ? results_[static_cast<int>(i)]
                               : op::result{op::part_of(cut->whole, cut->axis, cut->parts,
                                                        static_cast<std::int64_t>(i)),
                                            results_[0].element};
      const zoo::dim_list shape(r.dims.begin(), r.dims.end());
      net_.output(made[i], "y" + std::to_string(i), shape, element_of(r.element));
    }
    written_.model = net_.finish();
    return std::move(written_);
  }

  values operator()(const op::conv& p) { return one("Conv", upto(3), window(p, p.groups)); }
  values operator()(const op::conv_transpose& p) {
    std::vector<attr> a = window(p, p.groups);
    if (!p.output_pads.empty()) a.push_back({"output_padding", list_of(p.output_pads)});
    return one("ConvTranspose", upto(3), a);
  }
  values operator()(const op::gemm& p) {
    return one("Gemm", upto(p.c.empty() ? 2 : 3),
               {{"transA", std::int64_t{p.transpose_a}}, {"transB", std::int64_t{p.transpose_b}}});
  }
  values operator()(const op::matmul&) { return one("MatMul", upto(2)); }
  values operator()(const op::matmul_nbits& p) {
    return one("com.microsoft::MatMulNBits", upto(6),
               {{"K", p.length()},
                {"N", p.n},
                {"bits", p.bits},
                {"block_size", p.block},
                {"experts", p.experts}});
  }
  values operator()(const op::matmul_ggml& p) {
    return one("benanza::MatMulGgml", upto(2),
               {{"N", p.n}, ggml(p.format), {"experts", p.experts}});
  }
  values operator()(const op::gather_ggml& p) {
    return one("benanza::GatherGgml", upto(2), {{"K", p.data[1]}, ggml(p.format)});
  }
  values operator()(const op::dynamic_quantize&) {
    return net_.nodes("DynamicQuantizeLinear", upto(1), results_.size);
  }
  values operator()(const op::pool& p) {
    std::vector<attr> a;
    if (p.norm()) a.push_back({"p", p.power});
    if (p.global()) return one(p.family(), upto(1), a);
    for (attr& w : window(p, 1))
      a.push_back(std::move(w));
    if (p.ceil) a.push_back({"ceil_mode", std::int64_t{1}});
    if (p.include_pad) a.push_back({"count_include_pad", std::int64_t{1}});
    if (p.indices == op::pool_index::column_major) a.push_back({"storage_order", std::int64_t{1}});
    return net_.nodes(std::string(p.family()), upto(1), results_.size, a);
  }
  values operator()(const op::batch_norm&) { return one("BatchNormalization", upto(5), epsilon()); }
  values operator()(const op::lrn& p) {
    return one("LRN", upto(1),
               {{"size", p.size},
                {"alpha", static_cast<float>(fixed::lrn_alpha)},
                {"beta", static_cast<float>(fixed::lrn_beta)},
                {"bias", static_cast<float>(fixed::lrn_bias)}});
  }
  values operator()(const op::layer_norm& p) {
    return net_.nodes("LayerNormalization", upto(p.bias ? 3 : 2), results_.size,
                      {{"axis", std::int64_t{p.axis}}, epsilon()[0]});
  }
  values operator()(const op::rms_norm& p) {
    return one("RMSNormalization", upto(2), {{"axis", std::int64_t{p.axis}}, epsilon()[0]});
  }
  values operator()(const op::group_norm& p) {
    return one("GroupNormalization", upto(3), {{"num_groups", p.groups}, epsilon()[0]});
  }
  values operator()(const op::instance_norm&) {
    return one("InstanceNormalization", upto(3), epsilon());
  }
  values operator()(const op::softmax& p) { return one(p.family(), upto(1), axis(p.axis)); }
  values operator()(const op::attention& p) {
    if (p.window > 0 || p.past > 0 || p.lengths || p.cached)
      refuse("attention with a past, a window or lengths is written in more nodes than one");
    std::vector<attr> a;
    if (p.causal) a.push_back({"is_causal", std::int64_t{1}});
    if (p.softcap) a.push_back({"softcap", static_cast<float>(fixed::softcap)});
    if (p.sequence_major) {
      a.push_back({"q_num_heads", p.heads});
      a.push_back({"kv_num_heads", p.kv_heads});
    }
    return one("Attention", upto(p.mask.empty() ? 3 : 4), a);
  }
  values operator()(const op::rotary& p) {
    if (p.wide) refuse("cosines and sines of both numbers of a pair are written in pieces");
    return one("RotaryEmbedding", upto(p.table > 0 ? 4 : 3),
               {{"interleaved", std::int64_t{p.interleaved}},
                {"rotary_embedding_dim", p.rotated},
                {"num_heads", p.sizes[1]}});
  }
  values operator()(const op::recurrent& p) {
    if (!p.activations.empty()) refuse("recurrent layers are written with their own activations");
    std::vector<attr> a{{"hidden_size", p.hidden},
                        {"direction", std::string(op::direction_names[static_cast<int>(p.way)])}};
    if (p.coupled) a.push_back({"input_forget", std::int64_t{1}});
    if (p.reset_after) a.push_back({"linear_before_reset", std::int64_t{1}});
    if (p.clipped) a.push_back({"clip", static_cast<float>(fixed::recurrent_clip)});
    if (p.batch_first) a.push_back({"layout", std::int64_t{1}});
    return net_.nodes(std::string(p.family()), upto(count()), static_cast<int>(p.wanted), a);
  }

  values operator()(const op::unary& p) { return {function(p.function, in(0), p.element)}; }
  values operator()(const op::binary& p) {
    if (p.function == op::binary_function::prelu && p.output() != expanded(p.a, p.output().size))
      refuse("ONNX's PRelu has no slopes beyond its operand");
    return {function(p.function, upto(count()))};
  }
  values operator()(const op::cast& p) {
    const auto named = [](dtype d) { return d != dtype::real && holds_reals(d); };
    if (named(p.from) != named(p.to)) refuse("a Cast names both of its reals, or none");
    return one("Cast", upto(1), {{"to", static_cast<std::int64_t>(element_of(p.to))}});
  }
  values operator()(const op::where&) { return one("Where", upto(3)); }
  values operator()(const op::expand& p) {
    dims sizes = list_of(p.sizes);
    for (std::size_t i = 0; p.tile && i < sizes.size(); ++i) {
      const std::int64_t n = p.input[static_cast<int>(i)];
      sizes[i] = n == 0 ? 1 : sizes[i] / n;
    }
    return {net_.node(p.tile ? "Tile" : "Expand", {in(0), net_.list(sizes)})};
  }
  values operator()(const op::reduce& p) {
    const bool none = p.axes.empty();
    return {net_.node(std::string(p.family()), {in(0), none ? value{} : net_.list(list_of(p.axes))},
                      {{"noop_with_empty_axes", std::int64_t{none}}})};
  }
  values operator()(const op::concat& p) { return one("Concat", upto(count()), axis(p.axis)); }
  values operator()(const op::split& p) {
    dims lengths;
    for (std::int64_t i = 0; i < p.parts; ++i)
      lengths.push_back(op::part_of(p.whole, p.axis, p.parts, i)[p.axis]);
    return net_.split(in(0), p.axis, lengths);
  }
  values operator()(const op::transpose& p) { return {net_.transpose(in(0), list_of(p.order))}; }
  values operator()(const op::pad& p) {
    dims pads = list_of(p.begins);
    pads.insert(pads.end(), p.ends.begin(), p.ends.end());
    return {net_.node("Pad", {in(0), net_.list(pads)},
                      {{"mode", std::string(op::pad_names[static_cast<int>(p.mode)])}})};
  }
  values operator()(const op::slice& p) {
    dims starts, ends, axes, steps;
    for (int i = 0; i < p.input.size; ++i) {
      const std::int64_t first = p.start(i), step = p.step(i), n = p.sizes[i];
      const std::int64_t last = first + (n - 1) * step;
      axes.push_back(i);
      starts.push_back(first);
      steps.push_back(step);
      // In front of the first element is what no negative place names.
      ends.push_back(n == 0     ? first
                     : step > 0 ? last + 1
                     : last > 0 ? last - 1
                                : std::numeric_limits<std::int32_t>::min());
    }
    return {net_.node(
        "Slice", {in(0), net_.list(starts), net_.list(ends), net_.list(axes), net_.list(steps)})};
  }
  values operator()(const op::gather& p) { return one("Gather", upto(2), axis(p.axis)); }
  values operator()(const op::resize& p) {
    const std::string mode(op::resize_names[static_cast<int>(p.mode)]);
    if (p.upsample) {
      std::vector<float> scales;
      for (int i = 0; i < p.input.size; ++i)
        scales.push_back(static_cast<float>(p.sizes[i]) / static_cast<float>(p.input[i]));
      if (p.coordinates != op::sampling::asymmetric || !p.plain())
        refuse("an Upsample is of its first form only");
      return {net_.node("Upsample", {in(0), net_.scales(scales)}, {{"mode", mode}})};
    }
    std::vector<attr> a{{"mode", mode},
                        {"coordinate_transformation_mode",
                         std::string(op::sampling_names[static_cast<int>(p.coordinates)])},
                        {"cubic_coeff_a", static_cast<float>(fixed::cubic)}};
    if (p.rounding != op::nearest::usual)
      a.push_back({"nearest_mode", std::string(op::nearest_names[static_cast<int>(p.rounding)])});
    if (p.antialias) a.push_back({"antialias", std::int64_t{1}});
    if (p.exclude) a.push_back({"exclude_outside", std::int64_t{1}});
    dims sizes = list_of(p.sizes);
    if (p.crops() && !p.axes.empty()) {
      a.push_back({"axes", list_of(p.axes)});
      sizes.clear();
      for (int i = 0; i < p.input.size; ++i)
        if (p.bound_of(i) < 0 && p.sizes[i] != p.input[i])
          refuse("a Resize crops all dims whose size it changes");
      for (const std::int64_t d : p.axes)
        sizes.push_back(p.sizes[static_cast<int>(d)]);
    }
    return {net_.node("Resize", {in(0), p.crops() ? in(1) : value{}, {}, net_.list(sizes)}, a)};
  }
  values operator()(const op::depth_to_space& p) {
    if (p.inverse && p.column_row_depth) refuse("ONNX's SpaceToDepth has one order only");
    std::vector<attr> a{{"blocksize", p.block}};
    if (!p.inverse) a.push_back({"mode", std::string(p.column_row_depth ? "CRD" : "DCR")});
    return one(p.family(), upto(1), a);
  }
  values operator()(const op::indexing& p) {
    std::vector<attr> a;
    if (p.of_elements()) a = axis(p.axis);
    if (p.batch_dims > 0) a.push_back({"batch_dims", std::int64_t{p.batch_dims}});
    if (p.scatters())
      a.push_back({"reduction", std::string(op::scatter_names[static_cast<int>(p.reduction)])});
    return one(p.family(), upto(count()), a);
  }
  values operator()(const op::cumulate& p) {
    if (p.product) refuse("ONNX's CumProd is newer than what frameworks read");
    return {net_.node(
        "CumSum", {in(0), net_.index(p.axis)},
        {{"exclusive", std::int64_t{p.exclusive}}, {"reverse", std::int64_t{p.reverse}}})};
  }
  values operator()(const op::arg& p) {
    std::vector<attr> a = axis(p.axis);
    if (p.last) a.push_back({"select_last_index", std::int64_t{1}});
    return one(p.family(), upto(1), a);
  }
  values operator()(const op::top_k& p) {
    return net_.nodes("TopK", {in(0), net_.list({p.k})}, 2,
                      {axis(p.axis)[0],
                       {"largest", std::int64_t{!p.smallest}},
                       {"sorted", std::int64_t{!p.unsorted}}});
  }
  values operator()(const op::trilu& p) {
    return {net_.node("Trilu", {in(0), net_.index(p.k)}, {{"upper", std::int64_t{!p.lower}}})};
  }
  values operator()(const op::reverse_sequence& p) {
    return one(
        "ReverseSequence", upto(2),
        {{"batch_axis", std::int64_t{!p.batch_first}}, {"time_axis", std::int64_t{p.batch_first}}});
  }
  values operator()(const op::one_hot& p) {
    return {net_.node("OneHot", {in(0), net_.index(p.depth), in(2)}, axis(p.axis))};
  }
  values operator()(const op::grid_sample& p) {
    return one("GridSample", upto(2),
               {{"mode", std::string(op::resize_names[static_cast<int>(p.mode)])},
                {"padding_mode", std::string(op::border_names[static_cast<int>(p.outside)])},
                {"align_corners", std::int64_t{p.align_corners}}});
  }
  template <class Base>
  values operator()(const op::fused<Base>& p) {
    std::size_t joined = 0;
    for (const op::step& s : p.steps)
      joined += s.joins;
    own_ = operands_.inputs.size() - joined;
    value v = (*this)(p.base).front();
    std::size_t next = own_;
    for (const op::step& s : p.steps)
      v = s.joins ? function(s.join, {v, in(next++)}) : function(s.function, v, dtype::real);
    return {v};
  }
  template <class Norm>
  values operator()(const op::residual<Norm>& p) {
    own_ = operands_.inputs.size() - 1;
    const value sum = net_.node("Add", {in(0), in(own_)});
    names_[0] = sum; // what the normalization reads
    const int results = std::exchange(results_.size, 1);
    values out = (*this)(p.base);
    results_.size = results;
    if (p.sum) out.push_back(sum);
    return out;
  }
  values operator()(const auto& /*kind*/) {
    refuse("no ONNX model is written for layers of this kind");
  }

private:
  static attr ggml(op::ggml_format f) {
    return {"format", std::string(op::ggml_names[static_cast<std::size_t>(f)])};
  }
  /// Operands of the layer itself, without those that steps join.
  std::size_t count() const { return std::min(own_, operands_.inputs.size()); }

  /// The value of an operand; empty where it is not there.
  value in(std::size_t k) {
    const backend::tensor& t = operands_.inputs.at(k);
    if (t.dims == shape{0}) return {};
    if (!names_[k].empty()) return names_[k];
    const std::string name = "x" + std::to_string(k);
    const bool constant = t.part == backend::role::weights || t.part == backend::role::vector;
    (constant ? written_.weights : written_.inputs).push_back(k);
    return names_[k] = constant
                           ? net_.weight(name, list_of(t.dims), element_of(t.type))
                           : net_.input(name, {t.dims.begin(), t.dims.end()}, element_of(t.type));
  }
  values upto(std::size_t n) {
    values out;
    for (std::size_t k = 0; k < std::min(n, count()); ++k)
      out.push_back(in(k));
    return out;
  }
  values one(std::string_view family, const values& inputs, const std::vector<attr>& a = {}) {
    return {net_.node(std::string(family), inputs, a)};
  }
  static std::vector<attr> axis(int a) { return {{"axis", std::int64_t{a}}}; }
  static std::vector<attr> epsilon() { return {{"epsilon", static_cast<float>(fixed::epsilon)}}; }

  template <class Window>
  static std::vector<attr> window(const Window& p, std::int64_t groups) {
    std::vector<attr> a{{"kernel_shape", list_of(p.kernel)}};
    if (!p.strides.empty()) a.push_back({"strides", list_of(p.strides)});
    if (!p.pads.empty()) a.push_back({"pads", list_of(p.pads)});
    if (!p.dilations.empty()) a.push_back({"dilations", list_of(p.dilations)});
    if (groups != 1) a.push_back({"group", groups});
    return a;
  }

  value function(op::unary_function f, const value& x, dtype element) {
    using enum op::unary_function;
    const std::string name(op::unary_families[static_cast<std::size_t>(f)]);
    const auto alpha = [&](double a) { return net_.node(name, {x}, {{"alpha", float(a)}}); };
    switch (f) {
    case leaky_relu: return alpha(fixed::leaky_slope);
    case elu: return alpha(fixed::elu_alpha);
    case celu: return alpha(fixed::celu_alpha);
    case thresholded_relu: return alpha(fixed::threshold);
    case selu:
      return net_.node(name, {x},
                       {{"alpha", float(fixed::selu_alpha)}, {"gamma", float(fixed::selu_gamma)}});
    case hard_sigmoid:
      return net_.node(
          name, {x},
          {{"alpha", float(fixed::hard_sigmoid_alpha)}, {"beta", float(fixed::hard_sigmoid_beta)}});
    case shrink:
      return net_.node(
          name, {x}, {{"lambd", float(fixed::shrink_lambda)}, {"bias", float(fixed::shrink_bias)}});
    case clip:
      if (element != dtype::real) refuse("a Clip of whole numbers is not written as a model");
      return net_.node(
          name, {x, net_.number(float(fixed::clip_low)), net_.number(float(fixed::clip_high))});
    case fast_gelu: return net_.node("Gelu", {x}, {{"approximate", std::string("tanh")}});
    case square:
    case cube:
      if (element != dtype::real) refuse("a power of whole numbers is not written as a model");
      return net_.node("Pow", {x, net_.number(f == square ? 2 : 3)});
    case swish: return net_.node("Mul", {x, net_.node("Sigmoid", {x})});
    default: return net_.node(name, {x});
    }
  }

  value function(op::binary_function f, const values& xs) {
    using enum op::binary_function;
    if (f == fmod) return net_.node("Mod", xs, {{"fmod", std::int64_t{1}}});
    if (f == shift_left || f == shift_right)
      return net_.node("BitShift", xs,
                       {{"direction", std::string(f == shift_left ? "LEFT" : "RIGHT")}});
    return net_.node(std::string(op::binary_families[static_cast<std::size_t>(f)]), xs);
  }

  const backend::operands& operands_;
  zoo::exporter net_;
  op::result_list results_;
  values names_{};
  std::size_t own_ = std::numeric_limits<std::size_t>::max();
  node_model written_{};
};

} // namespace

node_model write_node(const op::layer& l, const backend::operands& o) {
  const bool other_reals = op::visit(
      [](const auto& p) {
        if constexpr (requires { p.element; })
          return p.element != dtype::real && holds_reals(p.element);
        else
          return false;
      },
      l);
  if (other_reals) refuse("its reals are not those of single precision");
  writer w(l, o);
  return w.take(op::visit(w, l), l);
}

} // namespace benanza::generator
