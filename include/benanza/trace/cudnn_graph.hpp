// SPDX-License-Identifier: Apache-2.0
// Which layer is a plan that cuDNN executes (cudnnBackendExecute)? The log writes it with its graph
// of operations, the engine, and the engine's knobs. A convolution or a product, and what is done
// on its result, becomes one layer; a graph of more is named by its operations.
//
//   call c = read_cudnn_plan(fields);   c.algorithm   // "eng41_k2=4_k13=0_k18=0_k25=1"
#pragma once

#include "../op/kinds.hpp"
#include "call.hpp"
#include "cudnn_window.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::trace {

namespace detail {
// clang-format off
/// The kinds of knobs, by their numbers (cudnnBackendKnobType_t).
inline constexpr std::array<std::string_view, 44> knob_names = {
    "SPLIT_K", "SWIZZLE", "TILE_SIZE", "USE_TEX", "EDGE", "KBLOCK", "LDGA", "LDGB", "CHUNK_K",
    "SPLIT_H", "WINO_TILE", "MULTIPLY", "SPLIT_K_BUF", "TILEK", "STAGES", "REDUCTION_MODE",
    "CTA_SPLIT_K_MODE", "SPLIT_K_SLC", "IDX_MODE", "SLICED", "SPLIT_RS", "SINGLEBUFFER", "LDGC",
    "SPECFILT", "KERNEL_CFG", "WORKSPACE", "TILE_CGA", "TILE_CGA_M", "TILE_CGA_N", "BLOCK_SIZE",
    "OCCUPANCY", "ARRAY_SIZE_PER_THREAD", "NUM_C_PER_BLOCK", "SPLIT_COLS", "TILE_ROWS",
    "TILE_COLS", "LOAD_SIZE", "CTA_COUNT", "STREAM_K", "SPLIT_P_SLC", "TILE_M", "TILE_N",
    "WARP_SPEC_CFG", "SWAP_AB",
};
// clang-format on

/// `eng62_k2=4_k13=0`: the engine's number, then its knobs by theirs; one that is not known comes
/// behind them with its name.
inline std::string engine_text(const fields& f, const field& engine) {
  const std::string_view id = f.value(engine, "engine_id");
  if (!number(id)) return {};
  std::vector<std::pair<std::size_t, std::string>> knobs;
  if (const field* d = f.below(engine, "knobDesc"))
    for (const field* k : f.members(*d)) {
      const std::string_view name = without(k->name, "CUDNN_KNOB_TYPE_");
      const auto at = static_cast<std::size_t>(
          std::find(knob_names.begin(), knob_names.end(), name) - knob_names.begin());
      const std::string shown =
          at < knob_names.size() ? "k" + std::to_string(at) : std::string(name);
      knobs.emplace_back(at, shown + '=' + std::string(k->value));
    }
  std::sort(knobs.begin(), knobs.end());
  std::string out = "eng" + std::string(id);
  for (const auto& [at, text] : knobs)
    out += '_' + text;
  return out;
}

/// `CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR` as `CONVOLUTION_FORWARD`.
inline std::string_view operation_name(std::string_view type) {
  type = without(without(type, "CUDNN_BACKEND_"), "OPERATION_");
  if (type.ends_with("_DESCRIPTOR")) type.remove_suffix(11);
  return type;
}

/// `[3/1,3/1]` as numbers; nothing where a fraction is no whole number.
inline std::optional<shape> whole_fractions(std::string_view text) {
  std::string plain(text);
  for (std::size_t at; (at = plain.find("/1")) != std::string::npos;)
    plain.erase(at, 2);
  return numbers(plain);
}

/// A plan while it is read: its operations in their order, each reading the one before.
class plan_reader {
public:
  plan_reader(const fields& f, const field& graph)
      : f_(f) {
    for (const field* m : f.members(graph))
      if (m->name == "operation") operations_.push_back(m);
  }

  bool empty() const { return operations_.empty(); }

  /// `CONVOLUTION_FORWARD+ADD+RELU`: what the graph does.
  std::string text() const {
    std::string out;
    for (const field* o : operations_) {
      const field* pw = f_.below(*o, "pwDesc");
      std::string_view name = operation_name(o->type);
      if (pw != nullptr) name = pointwise_name(*pw);
      out.append(out.empty() ? "" : "+").append(name);
    }
    return out;
  }

  /// The tensor that the first operation reads first.
  std::optional<tensor> source() const {
    if (empty()) return std::nullopt;
    for (std::string_view name : {"xDesc", "aDesc", "dyDesc"})
      if (const auto t = tensor_of(f_, operations_[0], name)) return t;
    for (const field* m : f_.members(*operations_[0]))
      if (m->type == "CUDNN_BACKEND_TENSOR_DESCRIPTOR")
        if (const auto t = tensor_of(f_, *m)) return t;
    return std::nullopt;
  }

  /// Which operands of a product are transposed; empty for all else.
  std::string transposes() const {
    if (empty() || operation_name(operations_[0]->type) != "MATMUL") return {};
    const auto a = tensor_of(f_, operations_[0], "aDesc"),
               b = tensor_of(f_, operations_[0], "bDesc");
    std::string out = a && a->transposed() ? "ta" : "";
    if (b && b->transposed()) out += out.empty() ? "tb" : " tb";
    return out;
  }

  std::optional<op::layer> layer() const {
    if (empty()) return std::nullopt;
    const field& first = *operations_[0];
    const std::string_view name = operation_name(first.type);
    if (name == "CONVOLUTION_FORWARD") return convolution(first);
    if (name == "MATMUL") return product(first);
    if (operations_.size() > 1) return std::nullopt;
    if (name == "CONVOLUTION_BACKWARD_DATA") return transposed(first);
    if (name == "RESAMPLE_FWD") return pooling(first);
    if (name == "POINTWISE") return pointwise(first);
    return std::nullopt;
  }

private:
  std::string_view pointwise_name(const field& pw) const {
    std::string_view mode = without(word(f_.value(pw, "mode")), "CUDNN_POINTWISE_");
    if (mode.ends_with("_FWD")) mode.remove_suffix(4);
    if (mode != "RELU") return mode;
    const std::string_view slope = f_.value(pw, "ReluLowerClipSlope");
    if (!slope.empty() && slope != "0") return "LEAKY_RELU";
    const std::string_view upper = f_.value(pw, "ReluUpperClip");
    return upper.empty() || upper.find("e+") != std::string_view::npos ? mode : "CLIPPED_RELU";
  }

  std::optional<window> convolution_window(const field& operation) const {
    const field* d = f_.below(operation, "convDesc");
    if (d == nullptr) return std::nullopt;
    const auto begin = numbers(f_.value(*d, "lowerPadA")), end = numbers(f_.value(*d, "upperPadA"));
    const auto strides = extents_of(f_, *d, "strideA"), dilations = extents_of(f_, *d, "dilationA");
    if (!begin || !end || begin->size > 3 || end->size > 3 || !strides || !dilations)
      return std::nullopt;
    window out{{}, *strides, *dilations};
    for (const shape* side : {&*begin, &*end})
      for (std::int64_t p : *side)
        out.pads.push(p);
    return out;
  }

  /// The function of one number of a pointwise operation.
  std::optional<op::unary_function> function_of(const field& pw) const {
    const std::string_view name = pointwise_name(pw);
    return name == "LEAKY_RELU" ? std::optional(op::unary_function::leaky_relu)
                                : function_named(name);
  }

  /// The steps that all operations behind the first are; nothing: they are more than steps.
  std::optional<op::step_list> steps(const shape& result) const {
    op::step_list out;
    for (std::size_t i = 1; i < operations_.size(); ++i) {
      const field* pw = f_.below(*operations_[i], "pwDesc");
      if (pw == nullptr || out.size == op::step_list::capacity) return std::nullopt;
      if (const auto function = function_of(*pw)) {
        out.push(*function);
        continue;
      }
      // Of the two operands one is the result so far.
      const auto join = join_named(pointwise_name(*pw));
      const field *x = f_.below(*operations_[i], "xDesc"), *b = f_.below(*operations_[i], "bDesc");
      if (!join || x == nullptr || b == nullptr) return std::nullopt;
      const std::string_view made = uid(*operations_[i - 1]);
      const bool first = f_.value(*x, "uid") == made;
      if (!first && f_.value(*b, "uid") != made) return std::nullopt;
      const auto other = tensor_of(f_, first ? *b : *x);
      if (!other) return std::nullopt;
      out.push(op::step(*join, other->dims == result ? shape{} : other->dims));
    }
    return out;
  }

  /// The number of the tensor that an operation makes.
  std::string_view uid(const field& operation) const {
    for (std::string_view name : {"yDesc", "cDesc"})
      if (const field* t = f_.below(operation, name)) return f_.value(*t, "uid");
    return {};
  }

  std::optional<op::layer> convolution(const field& first) const {
    const auto x = tensor_of(f_, &first, "xDesc"), w = tensor_of(f_, &first, "wDesc");
    const auto how = convolution_window(first);
    if (!x || !w || !how) return std::nullopt;
    const auto base = conv_of(x->dims, w->dims, *how, false);
    if (!base) return std::nullopt;
    const shape result = base->output();
    const auto done = steps(result);
    if (!done) return std::nullopt;
    op::fused<op::conv> out{.base = *base};
    shape row = shape::filled(result.size, 1);
    row[1] = result[1];
    for (const op::step& s : *done)
      // A row that is added is the bias, also behind a tensor that is added.
      if (!out.base.bias && s.joins && s.join == op::binary_function::add && s.operand == row &&
          only_adds(out.steps))
        out.base.bias = true;
      else
        out.steps.push(s);
    if (out.steps.size == 0) return checked_layer(out.base);
    return checked_layer(out);
  }

  static bool only_adds(const op::step_list& steps) {
    return std::all_of(steps.begin(), steps.end(), [](const op::step& s) {
      return s.joins && s.join == op::binary_function::add;
    });
  }

  std::optional<op::layer> product(const field& first) const {
    const auto a = tensor_of(f_, &first, "aDesc"), b = tensor_of(f_, &first, "bDesc");
    if (!a || !b) return std::nullopt;
    op::matmul m{.a = a->dims, .b = b->dims};
    const auto plain = checked_layer(m);
    if (!plain) return std::nullopt;
    const auto done = steps(op::output(*plain));
    if (!done) return std::nullopt;
    if (done->size == 0) return plain;
    return checked_layer(op::fused<op::matmul>{.base = m, .steps = *done});
  }

  std::optional<op::layer> transposed(const field& first) const {
    const auto dy = tensor_of(f_, &first, "dyDesc"), dx = tensor_of(f_, &first, "dxDesc"),
               w = tensor_of(f_, &first, "wDesc");
    const auto how = convolution_window(first);
    if (!dy || !dx || !w || !how) return std::nullopt;
    return transposed_layer(dy->dims, w->dims, dx->dims, *how);
  }

  std::optional<op::layer> pooling(const field& first) const {
    const auto x = tensor_of(f_, &first, "xDesc"), y = tensor_of(f_, &first, "yDesc");
    const field* d = f_.below(first, "resampleDesc");
    if (!x || !y || d == nullptr) return std::nullopt;
    // 2: averages that count padding, 3: maxima, 4: averages that do not
    const auto mode = number(f_.value(*d, "mode"));
    if (!mode || *mode < 2 || *mode > 4) return std::nullopt;
    const auto kernel = whole_fractions(f_.value(*d, "windowDimA")),
               strides = whole_fractions(f_.value(*d, "strideA")),
               begin = whole_fractions(f_.value(*d, "prePaddingA")),
               end = whole_fractions(f_.value(*d, "postPaddingA"));
    window how;
    extents taps;
    for (const auto* each : {&kernel, &strides, &begin, &end}) {
      if (!*each || (*each)->size > 3) return std::nullopt;
      for (std::int64_t v : **each)
        if (each == &kernel)
          taps.push(v);
        else if (each == &strides)
          how.strides.push(v);
        else
          how.pads.push(v);
    }
    return pool_layer(*mode == 3, *mode == 2, x->dims, y->dims, taps, how);
  }

  std::optional<op::layer> pointwise(const field& first) const {
    const field* pw = f_.below(first, "pwDesc");
    const auto x = tensor_of(f_, &first, "xDesc");
    if (pw == nullptr || !x) return std::nullopt;
    if (const auto function = function_of(*pw))
      return checked_layer(op::unary{.function = *function, .input = x->dims});
    const auto join = join_named(pointwise_name(*pw));
    const auto b = tensor_of(f_, &first, "bDesc");
    if (!join || !b) return std::nullopt;
    return checked_layer(op::binary{.function = *join, .a = x->dims, .b = b->dims});
  }

  const fields& f_;
  std::vector<const field*> operations_;
};
} // namespace detail

/// The call that a block of cudnnBackendExecute says.
inline call read_cudnn_plan(const fields& f) {
  call c{.from = library::cudnn, .function = "cudnnBackendExecute"};
  const field* plan = f.find("executionPlan");
  const field* engine = plan == nullptr ? nullptr : f.deep_below(*plan, "engine");
  const field* graph = engine == nullptr ? nullptr : f.below(*engine, "opGraph");
  if (engine != nullptr) c.algorithm = detail::engine_text(f, *engine);
  if (graph == nullptr) {
    c.remark = "a plan that the log does not write out";
    return c;
  }
  const detail::plan_reader p(f, *graph);
  if (p.empty()) {
    c.remark = "a graph that this version of cuDNN does not write out";
    return c;
  }
  bool tensor_cores = false;
  if (const field* notes = f.below(*engine, "numericalNotes"))
    for (const field* n : f.members(*notes)) {
      const std::string_view note = detail::without(n->name, "CUDNN_NUMERICAL_NOTE_");
      tensor_cores = tensor_cores || note == "TENSOR_CORE";
      c.math.append(c.math.empty() ? "" : " ").append(note);
    }
  if (const auto x = p.source()) {
    c.type = cudnn_type(x->element, tensor_cores);
    c.layout = x->layout();
  }
  c.layer = attempted([&] { return p.layer(); });
  if (c.layer && (op::is<op::matmul, op::fused<op::matmul>>(*c.layer))) c.layout = p.transposes();
  if (!c.layer) c.remark = p.text();
  return c;
}

} // namespace benanza::trace
