// SPDX-License-Identifier: Apache-2.0
// Random layers of every kind, the same ones on every machine: valid canonical ones.
#pragma once

#include "random_sequences.hpp"

namespace benanza::test {

inline constexpr std::size_t layer_kinds = op::kinds::size;

/// Makes valid canonical layers; the same seed gives the same ones.
class layer_source : public sequence_source {
public:
  using sequence_source::sequence_source;

  /// The next layer of the kind at place `kind` of the list.
  op::layer next(std::size_t kind) {
    return op::kinds::visit(kind, [this]<class Kind>() { return drawn<Kind>(); });
  }

private:
  using sequence_source::make;

  /// Not in the lambda above: there clang 14 loses the templates among those that make.
  template <class Kind>
  op::layer drawn() {
    while (true) {
      try {
        const auto made = make(Kind{});
        made.validate();
        return made.canonical_form();
      } catch (const error&) {
        continue; // numbers that do not fit together: others are drawn
      }
    }
  }

  template <class Convolution>
  Convolution window_layer() {
    Convolution c;
    const int n = static_cast<int>(pick(1, 3));
    c.groups = chance(60) ? 1 : pick(2, 8);
    c.input = {pick(1, 4), c.groups * pick(1, 16)};
    c.outputs = c.groups * pick(1, 16);
    for (int i = 0; i < n; ++i) {
      c.input.push(dim());
      c.kernel.push(pick(1, 7));
    }
    c.strides = values<3>(n, 1, 3);
    c.pads = values<6>(2 * n, 0, 3);
    c.dilations = values<3>(n, 1, 3);
    c.bias = chance(30);
    return c;
  }
  op::conv make(op::conv) { return window_layer<op::conv>(); }
  op::conv_transpose make(op::conv_transpose) {
    auto c = window_layer<op::conv_transpose>();
    c.output_pads = values<3>(c.kernel.size, 0, 2);
    return c;
  }
  op::conv_weight_gradient make(op::conv_weight_gradient) {
    const auto c = window_layer<op::conv>();
    return {.input = c.input,
            .outputs = c.outputs,
            .kernel = c.kernel,
            .strides = c.strides,
            .pads = c.pads,
            .dilations = c.dilations,
            .groups = c.groups};
  }
  op::gemm make(op::gemm) {
    op::gemm g{.m = dim(), .n = dim(), .k = dim()};
    g.transpose_a = chance(30);
    g.transpose_b = chance(30);
    if (chance(50)) g.c = {chance(50) ? 1 : g.m, chance(50) ? 1 : g.n};
    g.constant_b = chance(50);
    return g;
  }
  op::matmul make(op::matmul) {
    op::matmul m;
    const shape batch = dims(0, 3);
    m.a = batch;
    m.b = partner(batch);
    const std::int64_t k = dim();
    m.a.push(dim()), m.a.push(k);
    m.b.push(k), m.b.push(dim());
    m.constant_b = chance(50);
    return m;
  }
  op::pool make(op::pool) {
    const auto window = window_layer<op::conv>();
    op::pool p{.function = any_of<op::pooling>(op::pooling_families), .input = window.input};
    p.kernel = window.kernel;
    p.strides = window.strides;
    p.pads = window.pads;
    p.dilations = window.dilations;
    p.ceil = chance(40);
    p.include_pad = chance(40);
    if (p.function == op::pooling::max && chance(30))
      p.indices = any_of<op::pool_index>(op::pool_index_names);
    else if (p.function == op::pooling::max && chance(30))
      p.element = chance(50) ? dtype::u8 : dtype::s8;
    if (chance(50)) p.power = pick(1, 5);
    return p;
  }
  op::grid_sample make(op::grid_sample) {
    op::grid_sample g{.input = dims(4, 5)};
    for (int i = 2; i < g.input.size; ++i)
      g.points.push(dim());
    g.mode = any_of<op::interpolation>(op::resize_names);
    g.outside = any_of<op::border>(op::border_names);
    g.align_corners = chance(40);
    return g;
  }
  op::affine_grid make(op::affine_grid) {
    op::affine_grid g{.batch = pick(1, 4), .points = {dim(), dim()}};
    if (chance(40)) g.points.push(dim());
    g.align_corners = chance(40);
    return g;
  }
  op::roi_align make(op::roi_align) {
    return {.input = dims(4, 4),
            .regions = pick(0, 30),
            .pooled = {pick(1, 9), pick(1, 9)},
            .samples = chance(50) ? 0 : pick(1, 4),
            .maximum = chance(30),
            .half_pixel = chance(50)};
  }
  op::max_roi_pool make(op::max_roi_pool) {
    return {.input = dims(4, 4), .regions = pick(0, 30), .pooled = {pick(1, 9), pick(1, 9)}};
  }
  op::non_max_suppression make(op::non_max_suppression) {
    op::non_max_suppression n{.batch = pick(1, 3), .boxes = dim(), .classes = pick(1, 9)};
    n.most = pick(0, n.boxes);
    n.centred = chance(30);
    return n;
  }
  op::col2im make(op::col2im) {
    const auto window = window_layer<op::conv>();
    return {.image = window.input,
            .kernel = window.kernel,
            .strides = window.strides,
            .pads = window.pads,
            .dilations = window.dilations};
  }
  op::deform_conv make(op::deform_conv) {
    const auto c = window_layer<op::conv>();
    return {.input = c.input,
            .outputs = c.outputs,
            .kernel = c.kernel,
            .strides = c.strides,
            .pads = c.pads,
            .dilations = c.dilations,
            .groups = c.groups,
            .offset_groups = chance(60) ? 1 : pick(2, 4),
            .bias = chance(40),
            .mask = chance(40)};
  }
  op::max_unpool make(op::max_unpool) {
    op::max_unpool m{.input = dims(3, 5)};
    m.unpooled = m.result = m.input;
    for (int i = 2; i < m.input.size; ++i) {
      m.unpooled[i] += dim();
      m.result[i] = m.unpooled[i] + (chance(70) ? 0 : pick(0, 3));
    }
    return m;
  }
  op::dft make(op::dft) {
    op::dft d{.input = dims(1, 4)};
    d.axis = axis_of(d.input);
    d.input.push(pick(1, 2));
    d.length = chance(50) ? std::max<std::int64_t>(1, d.input[d.axis]) : dim();
    d.inverse = chance(40);
    d.onesided = chance(40);
    return d;
  }
  op::det make(op::det) {
    op::det d{.input = dims(0, 3)};
    const std::int64_t n = pick(0, 9);
    d.input.push(n), d.input.push(n);
    return d;
  }
  op::batch_norm make(op::batch_norm) { return {.input = dims(2, 5)}; }
  op::lrn make(op::lrn) { return {.input = dims(3, 5), .size = pick(1, 9)}; }
  op::layer_norm make(op::layer_norm) {
    op::layer_norm l{.input = dims(1, 5)};
    l.axis = axis_of(l.input);
    l.bias = chance(50);
    l.statistics = chance(30);
    return l;
  }
  op::rms_norm make(op::rms_norm) {
    op::rms_norm r{.input = dims(1, 5)};
    r.axis = axis_of(r.input);
    return r;
  }
  op::group_norm make(op::group_norm) {
    op::group_norm g{.input = dims(2, 5), .groups = pick(1, 8)};
    g.input[1] *= g.groups;
    return g;
  }
  op::instance_norm make(op::instance_norm) { return {.input = dims(3, 5)}; }
  op::attention make(op::attention) {
    op::attention a{.batch = pick(1, 4), .queries = dim(), .head_size = dim()};
    a.kv_heads = pick(1, 8);
    a.heads = a.kv_heads * (chance(50) ? 1 : pick(1, 8));
    a.keys = chance(50) ? a.queries : dim();
    a.value_size = chance(50) ? a.head_size : dim();
    a.causal = chance(30);
    a.sequence_major = chance(30);
    if (chance(40)) a.mask = partner(a.scores());
    a.truth_mask = !a.mask.empty() && chance(30);
    a.softcap = chance(20);
    a.lengths = chance(20);
    if (a.causal && chance(50)) a.past = pick(1, 64);
    if (a.causal && chance(30)) a.window = pick(1, 64);
    a.cached = a.sequence_major && chance(30);
    return a;
  }
  op::rotary make(op::rotary) {
    op::rotary r{.sizes = {pick(1, 4), pick(1, 8), dim(), 2 * pick(1, 64)}};
    if (chance(30)) r.rotated = 2 * pick(1, r.sizes[3] / 2);
    r.interleaved = chance(30);
    if (chance(50)) r.table = pick(1, 4096);
    r.own_places = r.table == 0 && chance(30);
    r.wide = chance(30);
    r.sequence_major = chance(50);
    return r;
  }
  op::softmax make(op::softmax) {
    op::softmax s{.input = dims(1, 5)};
    s.axis = axis_of(s.input);
    s.log = chance(30);
    return s;
  }
  op::unary make(op::unary) {
    return {.function = any_of<op::unary_function>(op::unary_families),
            .input = dims(0, 6),
            .element = element()};
  }
  op::binary make(op::binary) {
    op::binary b{.function = any_of<op::binary_function>(op::binary_families), .a = dims(0, 5)};
    b.b = partner(b.a);
    if (chance(30)) std::swap(b.a, b.b);
    if (b.variadic() && chance(50)) b.operands = pick(1, 6);
    b.element = element();
    return b;
  }
  op::cast make(op::cast) {
    const auto type = [this] { return chance(40) ? dtype::real : any_element(); };
    return {.input = dims(0, 5), .from = type(), .to = type()};
  }
  op::where make(op::where) {
    op::where w{.condition = dims(0, 5)};
    w.x = partner(w.condition);
    w.y = partner(w.condition);
    if (chance(30)) std::swap(w.condition, w.x);
    w.element = element();
    return w;
  }
  op::expand make(op::expand) {
    op::expand e{.input = dims(0, 4), .sizes = {}, .element = element(), .tile = chance(50)};
    for (std::int64_t n = e.tile ? 0 : pick(0, 2); n > 0; --n)
      e.sizes.push(dim());
    for (std::int64_t d : e.input)
      e.sizes.push(e.tile ? d * pick(0, 4) : d == 1 ? dim() : d);
    return e;
  }
  op::reduce make(op::reduce) {
    op::reduce r{.function = any_of<op::reduction>(op::reduction_families), .input = dims(0, 5)};
    for (int i = 0; i < r.input.size; ++i)
      if (chance(40)) r.axes.push(i);
    r.element = element();
    return r;
  }
  template <class Parts>
  Parts parts_layer() {
    Parts p;
    p.whole = dims(1, 5);
    p.axis = axis_of(p.whole);
    p.parts = pick(1, 6);
    p.element = element();
    return p;
  }
  op::concat make(op::concat) { return parts_layer<op::concat>(); }
  op::split make(op::split) { return parts_layer<op::split>(); }
  op::transpose make(op::transpose) {
    op::transpose t{.input = dims(0, 6)};
    for (int i = 0; i < t.input.size; ++i)
      t.order.push(i);
    for (int i = t.order.size - 1; i > 0; --i)
      std::swap(t.order[i], t.order[static_cast<int>(pick(0, i))]);
    t.element = element();
    return t;
  }
  op::pad make(op::pad) {
    op::pad p{.input = dims(0, 5)};
    for (int i = 0; i < p.input.size; ++i) {
      p.begins.push(chance(50) ? 0 : pick(-3, 9));
      p.ends.push(chance(50) ? 0 : pick(-3, 9));
    }
    p.mode = any_of<op::pad_mode>(op::pad_names);
    p.element = element();
    return p;
  }
  op::slice make(op::slice) {
    op::slice s{.input = dims(0, 5)};
    const int n = s.input.size;
    for (std::int64_t d : s.input)
      s.sizes.push(chance(30) ? d : pick(0, d));
    s.starts = values<8>(n, 0, chance(50) ? 1 : 40);
    s.steps = values<8>(n, -3, 3);
    s.element = element();
    return s;
  }
  op::gather make(op::gather) {
    op::gather g{.data = dims(1, 4), .indices = dims(0, 3)};
    g.axis = axis_of(g.data);
    g.element = element();
    g.index = chance(30) ? dtype::s32 : dtype::s64;
    return g;
  }
  op::resize make(op::resize) {
    op::resize r{.input = dims(1, 5)};
    for (std::int64_t d : r.input)
      r.sizes.push(chance(50) ? d : dim());
    r.mode = any_of<op::interpolation>(op::resize_names);
    r.coordinates = any_of<op::sampling>(op::sampling_names);
    r.upsample = chance(30);
    if (r.mode == op::interpolation::nearest) r.rounding = any_of<op::nearest>(op::nearest_names);
    r.antialias = chance(30);
    r.exclude = chance(30);
    if (r.crops() && chance(50)) r.axes = {axis_of(r.input)};
    return r;
  }
  op::depth_to_space make(op::depth_to_space) {
    const std::int64_t k = pick(1, 4);
    return {.input = {pick(1, 3), k * k * pick(1, 5), k * pick(1, 9), k * pick(1, 9)},
            .block = k,
            .column_row_depth = chance(50),
            .inverse = chance(50)};
  }
  op::indexing make(op::indexing) {
    op::indexing p{.function = any_of<op::indexing_function>(op::indexing_families)};
    p.data = dims(1, 4);
    if (p.of_elements()) {
      p.axis = axis_of(p.data);
      for (int i = 0; i < p.data.size; ++i)
        p.indices.push(i == p.axis ? dim() : pick(1, p.data[i]));
    } else {
      if (!p.scatters() && p.data.size > 1 && chance(30)) p.batch_dims = 1;
      if (p.batch_dims == 1) p.indices.push(p.data[0]);
      for (std::int64_t n = pick(0, 2); n > 0; --n)
        p.indices.push(dim());
      p.indices.push(pick(1, p.data.size - p.batch_dims));
    }
    if (p.scatters()) p.reduction = any_of<op::scatter_reduction>(op::scatter_names);
    p.element = element();
    p.index = chance(30) ? dtype::s32 : dtype::s64;
    return p;
  }
  op::tensor_scatter make(op::tensor_scatter) {
    op::tensor_scatter p{.cache = dims(2, 5)};
    p.axis = static_cast<int>(pick(1, p.cache.size - 1));
    p.length = pick(1, p.cache[p.axis]);
    p.offsets = chance(50);
    p.circular = chance(50);
    p.element = element();
    return p;
  }
  op::cumulate make(op::cumulate) {
    op::cumulate p{.product = chance(30), .input = dims(1, 5)};
    p.axis = axis_of(p.input);
    p.exclusive = chance(50);
    p.reverse = chance(50);
    p.element = element();
    return p;
  }
  op::arg make(op::arg) {
    op::arg p{.smallest = chance(50), .input = dims(1, 5)};
    p.axis = axis_of(p.input);
    p.last = chance(50);
    p.element = element();
    return p;
  }
  op::top_k make(op::top_k) {
    op::top_k p{.input = dims(1, 5)};
    p.axis = axis_of(p.input);
    p.k = pick(0, p.input[p.axis]);
    p.smallest = chance(50);
    p.unsorted = chance(50);
    p.element = element();
    return p;
  }
  op::non_zero make(op::non_zero) { return {.input = dims(1, 5), .element = element()}; }
  op::compress make(op::compress) {
    op::compress p{.input = dims(1, 5)};
    if (chance(50)) p.axis = axis_of(p.input);
    p.length = pick(0, p.size());
    p.kept = pick(0, p.length);
    p.element = element();
    return p;
  }
  op::unique make(op::unique) {
    op::unique p{.input = dims(0, 5)};
    if (!p.input.empty() && chance(50)) p.axis = axis_of(p.input);
    p.wanted = static_cast<int>(pick(1, 4));
    p.unsorted = chance(50);
    p.element = element();
    return p;
  }
  op::trilu make(op::trilu) {
    return {.input = dims(2, 5), .lower = chance(50), .k = pick(-9, 9), .element = element()};
  }
  op::reverse_sequence make(op::reverse_sequence) {
    return {.input = dims(2, 5), .batch_first = chance(50), .element = element()};
  }
  op::one_hot make(op::one_hot) {
    op::one_hot p{.indices = dims(0, 4), .depth = dim()};
    p.axis = static_cast<int>(pick(0, p.indices.size));
    p.index = any_of<op::one_hot_index>(op::one_hot_names);
    p.element = element();
    return p;
  }
  op::view make(op::view) {
    op::view v{.function = any_of<op::view_function>(op::view_families), .input = dims(0, 5)};
    v.result = v.input;
    if (chance(40)) v.result = {elements(v.input)};
    if (chance(20)) v.result.push(1);
    v.element = v.casts() ? any_element() : element();
    if (v.casts()) v.to = any_element();
    return v;
  }
  template <class Base>
  op::fused<Base> make(op::fused<Base>) {
    op::fused<Base> f{.base = make(Base{})};
    if constexpr (requires { f.base.element; }) f.base.element = dtype::real;
    f.base.validate();
    for (std::int64_t n = pick(1, 3); n > 0; --n) {
      if (chance(50))
        f.steps.push(op::step(any_of<op::unary_function>(op::unary_families)));
      else
        f.steps.push(op::step(any_of<op::binary_function>(op::binary_families),
                              chance(50) ? shape{} : partner(f.base.output())));
    }
    return f;
  }
  template <class Norm>
  op::residual<Norm> make(op::residual<Norm>) {
    return {.base = make(Norm{}), .sum = chance(50)};
  }
  op::reorder make(op::reorder) {
    return {.input = dims(3, 5),
            .from = any_of<layout>(layout_names),
            .to = any_of<layout>(layout_names),
            .element = element()};
  }

  op::quantize make(op::quantize) {
    op::quantize q{.inverse = chance(50), .input = dims(0, 5)};
    q.code = any_element();
    if (!q.input.empty() && chance(50)) q.axis = axis_of(q.input);
    if (q.axis >= 0 && chance(30)) q.block = pick(1, 40);
    q.zero_point = chance(50);
    return q;
  }
  op::dynamic_quantize make(op::dynamic_quantize) { return {.input = dims(0, 5)}; }
  op::lookup_table make(op::lookup_table) {
    return {.input = dims(0, 5),
            .element = chance(50) ? dtype::u8 : dtype::s8,
            .to = chance(50) ? dtype::u8 : dtype::s8};
  }
  template <class Base>
  op::on_codes<Base> make(op::on_codes<Base>) {
    op::on_codes<Base> q{.base = make(Base{})};
    if constexpr (q.adds) {
      q.base.function = chance(50) ? op::binary_function::add : op::binary_function::mul;
      q.base.operands = 2;
      q.base.element = dtype::real;
    } else {
      q.integer = !std::is_same_v<Base, op::gemm> && chance(30);
      q.per_channel = chance(30);
    }
    q.types = any_of<op::code_types>(op::code_type_names);
    q.zero_a = chance(30);
    q.zero_b = chance(30);
    q.zero_result = chance(30);
    q.rectified = chance(30);
    return q;
  }
};

} // namespace benanza::test
