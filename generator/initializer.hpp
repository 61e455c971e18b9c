// SPDX-License-Identifier: Apache-2.0
// How does a person write a layer in C++? As its parameter type with designated initialisers,
// members that have their default left out. This is the third archive over an operator's `fields`
// (the others write and read keys, op/key.hpp).
//
//   initializer(op::parse("Conv/1x64x56x56-64x3x3-s1-p1"))
//   == "conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}"
#pragma once

#include "enumerator.hpp"

#include <benanza/core/text.hpp>
#include <benanza/op/kinds.hpp>

#include <range/v3/view/transform.hpp>

#include <string>
#include <string_view>

namespace benanza::generator {

/// The archive that writes designated initialisers.
class initializer_writer {
public:
  const std::string& text() const { return text_; }

  template <int N>
  void dims(std::string_view member, const list<N>& values) {
    if (!values.empty()) add(member, numbers(values));
  }
  template <int N>
  void dims_or(std::string_view member, const list<N>& values, const list<N>&) {
    dims(member, values);
  }
  template <int N>
  void count_and_dims(std::string_view count_member, std::int64_t count, std::string_view member,
                      const list<N>& values) {
    add(count_member, std::to_string(count));
    dims(member, values);
  }
  template <int N>
  void tagged(std::string_view member, std::string_view, const list<N>& values, int, std::int64_t,
              bool = false) {
    dims(member, values);
  }
  template <int N>
  void tagged_list(std::string_view member, std::string_view, const list<N>& values) {
    dims(member, values);
  }
  void number(std::string_view member, std::string_view, std::int64_t value, std::int64_t fallback,
              bool = false) {
    if (value != fallback) add(member, std::to_string(value));
  }
  void flag(std::string_view member, std::string_view, bool value) {
    if (value) add(member, "true");
  }
  template <class Enum, std::size_t N>
  void choice(std::string_view member, std::string_view enumeration, Enum value,
              const std::string_view (&)[N]) {
    if (value != Enum{}) enumerator(member, enumeration, value);
  }
  template <class Enum, std::size_t N>
  void word(std::string_view member, std::string_view enumeration, Enum value,
            const std::string_view (&)[N]) {
    enumerator(member, enumeration, value);
  }
  void element(std::string_view member, dtype value, dtype fallback = dtype::real) {
    if (value != fallback) enumerator(member, "dtype", value);
  }
  template <class Enum>
  void enumerator(std::string_view member, std::string_view enumeration, Enum value) {
    add(member, std::string(enumeration) + "::" + std::string(enumerator_name(value)));
  }
  /// Members without a name are those that `leading` writes.
  void add(std::string_view member, const std::string& value) {
    if (member.empty()) return;
    if (!text_.empty()) text_ += ", ";
    text_.append(".").append(member).append(" = ").append(value);
  }

private:
  template <int N>
  static std::string numbers(const list<N>& values) {
    return "{" + join(values, ", ") + "}";
  }
  std::string text_;
};

namespace detail {
inline std::string_view type_name(const op::layer& l) {
  // clang-format off
  static constexpr std::string_view names[] = {
      "conv", "conv_transpose", "conv_weight_gradient", "gemm", "matmul",
      "pool",
      "grid_sample", "affine_grid", "roi_align", "max_roi_pool", "non_max_suppression",
      "col2im", "deform_conv", "max_unpool", "dft", "det",
      "batch_norm", "lrn", "layer_norm", "rms_norm", "group_norm", "instance_norm", "softmax",
      "attention", "rotary", "matmul_nbits", "matmul_ggml",
      "gather_ggml",
      "linear_attention", "tf_idf",
      "unary", "binary",
      "cast", "where", "expand",
      "reduce",
      "concat", "split", "transpose", "pad", "slice", "gather", "resize", "depth_to_space",
      "indexing", "tensor_scatter", "cumulate",
      "arg", "top_k", "non_zero", "compress", "unique",
      "trilu", "reverse_sequence", "one_hot",
      "view",
      "fused<conv>", "fused<conv_transpose>", "fused<gemm>", "fused<matmul>", "fused<batch_norm>",
      "fused<unary>", "fused<binary>",
      "residual<layer_norm>", "residual<rms_norm>",
      "reorder",
      "quantize", "dynamic_quantize", "lookup_table",
      "on_codes<conv>", "on_codes<gemm>", "on_codes<matmul>", "on_codes<binary>",
      "recurrent"};
  // clang-format on
  static_assert(std::size(names) == op::kinds::size);
  return names[l.kind().index];
}

/// Members that `fields` does not name: the family says them, or a key has them in one field.
inline void leading(initializer_writer& w, const op::gemm& p) {
  w.add("m", std::to_string(p.m));
  w.add("n", std::to_string(p.n));
  w.add("k", std::to_string(p.k));
}
inline void leading(initializer_writer& w, const op::attention& p) {
  w.add("batch", std::to_string(p.batch));
  w.add("heads", std::to_string(p.heads));
  w.add("queries", std::to_string(p.queries));
  w.add("head_size", std::to_string(p.head_size));
  w.add("kv_heads", std::to_string(p.kv_heads));
  w.add("keys", std::to_string(p.keys));
  w.add("value_size", std::to_string(p.value_size));
}
inline void leading(initializer_writer& w, const op::linear_attention& p) {
  w.add("batch", std::to_string(p.batch));
  w.add("heads", std::to_string(p.heads));
  w.add("steps", std::to_string(p.steps));
  w.add("key_size", std::to_string(p.key_size));
  w.add("kv_heads", std::to_string(p.kv_heads));
  w.add("value_size", std::to_string(p.value_size));
}
inline void leading(initializer_writer& w, const op::non_max_suppression& p) {
  w.add("batch", std::to_string(p.batch));
  w.add("boxes", std::to_string(p.boxes));
  w.add("classes", std::to_string(p.classes));
}
inline void leading(initializer_writer& w, const op::recurrent& p) {
  w.enumerator("cell", "cell_kind", p.cell);
  w.add("steps", std::to_string(p.steps));
  w.add("batch", std::to_string(p.batch));
  w.add("inputs", std::to_string(p.inputs));
}
inline void leading(initializer_writer& w, const op::quantize& p) {
  if (p.inverse) w.add("inverse", "true");
}
inline void leading(initializer_writer& w, const op::pool& p) {
  w.enumerator("function", "pooling", p.function);
}
inline void leading(initializer_writer& w, const op::unary& p) {
  w.enumerator("function", "unary_function", p.function);
}
inline void leading(initializer_writer& w, const op::binary& p) {
  w.enumerator("function", "binary_function", p.function);
}
inline void leading(initializer_writer& w, const op::reduce& p) {
  w.enumerator("function", "reduction", p.function);
}
inline void leading(initializer_writer& w, const op::indexing& p) {
  w.enumerator("function", "indexing_function", p.function);
}
inline void leading(initializer_writer& w, const op::cumulate& p) {
  if (p.product) w.add("product", "true");
}
inline void leading(initializer_writer& w, const op::arg& p) {
  if (p.smallest) w.add("smallest", "true");
}
inline void leading(initializer_writer& w, const op::view& p) {
  w.enumerator("function", "view_function", p.function);
}
inline void leading(initializer_writer&, const auto&) {}

inline void trailing(initializer_writer& w, const op::softmax& p) {
  if (p.log) w.add("log", "true");
}
inline void trailing(initializer_writer& w, const op::expand& p) {
  if (p.tile) w.add("tile", "true");
}
inline void trailing(initializer_writer& w, const op::gather& p) {
  if (p.index != dtype::s64) w.enumerator("index", "dtype", p.index);
}
inline void trailing(initializer_writer& w, const op::indexing& p) {
  if (p.index != dtype::s64) w.enumerator("index", "dtype", p.index);
}
inline void trailing(initializer_writer& w, const op::resize& p) {
  if (p.upsample) w.add("upsample", "true");
}
inline void trailing(initializer_writer& w, const op::depth_to_space& p) {
  if (p.inverse) w.add("inverse", "true");
}
inline void trailing(initializer_writer&, const auto&) {}

inline std::string step_text(const op::step& s) {
  if (!s.joins) return "unary_function::" + std::string(enumerator_name(s.function));
  const std::string function = "binary_function::" + std::string(enumerator_name(s.join));
  if (s.operand.empty()) return function;
  return "{" + function + ", {" + join(s.operand, ", ") + "}}";
}
} // namespace detail

inline std::string initializer(const op::layer& l);

namespace detail {
template <class Base>
std::string fused_text(const op::fused<Base>& p) {
  return ".base = " + initializer(p.base) + ", .steps = {" +
         join(p.steps | ranges::views::transform(step_text), ", ") + "}";
}
} // namespace detail

namespace detail {
/// What `fields` says behind the base's, and what only the family says.
template <class Base>
std::string quantised_text(const op::on_codes<Base>& p) {
  initializer_writer w;
  w.add("base", initializer(p.base));
  w.enumerator("types", "code_types", p.types);
  if (p.integer) w.add("integer", "true");
  if (p.per_channel) w.add("per_channel", "true");
  if (p.zero_a) w.add("zero_a", "true");
  if (p.zero_b) w.add("zero_b", "true");
  if (p.zero_result) w.add("zero_result", "true");
  if (p.rectified) w.add("rectified", "true");
  return w.text();
}
} // namespace detail

/// The layer as a C++ expression, for a source that uses namespaces benanza and benanza::op.
inline std::string initializer(const op::layer& l) {
  return op::visit(
      [&](auto p) {
        initializer_writer w;
        if constexpr (op::is_fused<decltype(p)>)
          return std::string(detail::type_name(l)) + '{' + detail::fused_text(p) + '}';
        if constexpr (op::is_residual<decltype(p)>) {
          w.add("base", initializer(p.base));
          if (p.sum) w.add("sum", "true");
          return std::string(detail::type_name(l)) + '{' + w.text() + '}';
        }
        if constexpr (op::is_on_codes<decltype(p)>)
          return std::string(detail::type_name(l)) + '{' + detail::quantised_text(p) + '}';
        detail::leading(w, p);
        p.fields(w);
        detail::trailing(w, p);
        return std::string(detail::type_name(l)) + '{' + w.text() + '}';
      },
      l);
}

} // namespace benanza::generator
