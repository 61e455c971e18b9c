// SPDX-License-Identifier: Apache-2.0
// What does a line of a cublasLt log say (CUBLASLT_LOG_LEVEL=2 or more)? Each product is one line,
// with its matrices, what is done on the result, and the algorithm. cuBLAS itself calls cublasLt
// by names such as cublasLtTSTMatmul.
//
//   [2026-11-20 20:21:58][cublasLt][29380][Trace][cublasLtMatmul] A=0X.. Adesc=[type=R_16F
//    rows=768 cols=3072 ld=768] ... computeDesc=[computeType=COMPUTE_32F scaleType=R_32F
//    transa=OP_T] algo=[algoId=66 tile=MATMUL_TILE_128x128] ... beta=0 outOfPlace=0 stream=0X0
//
//   if (const auto l = read_cublaslt_line(line)) call c = read_cublaslt(*l);
#pragma once

#include "../op/kinds.hpp"
#include "call.hpp"
#include "fields.hpp"
#include "product.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::trace {

/// The parts of a line.
struct cublaslt_line {
  std::string_view time, thread, level, function, arguments;

  bool product() const { return function.starts_with("cublasLt") && function.ends_with("Matmul"); }
};

/// The parts of a line, if cublasLt wrote it.
inline std::optional<cublaslt_line> read_cublaslt_line(std::string_view line) {
  std::string_view parts[5];
  for (std::string_view& part : parts) {
    const std::size_t stop = line.find(']');
    if (line.empty() || line.front() != '[' || stop == std::string_view::npos) return std::nullopt;
    part = line.substr(1, stop - 1);
    line.remove_prefix(stop + 1);
  }
  if (parts[1] != "cublasLt") return std::nullopt;
  return cublaslt_line{parts[0], parts[2], parts[3], parts[4], detail::trimmed(line)};
}

namespace detail {
/// The value of `name=` in a row of `name=value`; in brackets, what is between them.
inline std::string_view argument(std::string_view row, std::string_view name) {
  for (std::size_t at = 0; (at = row.find(name, at)) != std::string_view::npos; at += name.size()) {
    const std::size_t behind = at + name.size();
    const bool begins = at == 0 || row[at - 1] == ' ' || row[at - 1] == '[';
    if (!begins || behind >= row.size() || row[behind] != '=') continue;
    std::string_view value = row.substr(behind + 1);
    if (value.starts_with('[')) return value.substr(1, value.find(']') - 1);
    return value.substr(0, value.find_first_of(" ]"));
  }
  return {};
}

/// `algoId=66 tile=MATMUL_TILE_128x128` as `algo66_tile=128x128`.
inline std::string algorithm_text(std::string_view row) {
  std::string out;
  while (!row.empty()) {
    const std::size_t stop = row.find(' ');
    const std::string_view item = row.substr(0, stop);
    row = stop == std::string_view::npos ? std::string_view{} : row.substr(stop + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = item.substr(0, equals), value = item.substr(equals + 1);
    for (std::string_view front : {"MATMUL_TILE_", "MATMUL_STAGES_", "CLUSTER_SHAPE_"})
      value = without(value, front);
    if (name == "algoId")
      out.insert(0, "algo" + std::string(value));
    else
      out.append("_").append(name).append("=").append(value);
  }
  return out;
}

/// What an epilogue does on a product.
struct epilogue {
  bool known = true, bias = false;
  std::optional<op::unary_function> function{};
};

inline epilogue read_epilogue(std::string_view text) {
  epilogue out;
  text = without(text, "EPILOGUE_");
  if (text.empty() || text == "DEFAULT") return out;
  while (!text.empty()) {
    const std::size_t stop = text.find('_');
    const std::string_view part = text.substr(0, stop);
    text = stop == std::string_view::npos ? std::string_view{} : text.substr(stop + 1);
    if (part == "BIAS")
      out.bias = true;
    else if (part == "RELU")
      out.function = op::unary_function::relu;
    else if (part == "GELU") // the form with tanh
      out.function = op::unary_function::fast_gelu;
    else if (part != "AUX") // gradients, and what later versions may bring
      out.known = false;
  }
  return out;
}

/// `l`, a product, with what the epilogue does on it.
inline std::optional<op::layer> with_epilogue(const op::layer& l, const epilogue& e, bool adds_c) {
  if (const auto* g = op::as<op::gemm>(l)) {
    op::gemm base = *g;
    if (e.bias)
      base.c = {1, base.n};
    else if (adds_c)
      base.c = {base.m, base.n};
    if (!e.function) return checked_layer(base);
    return checked_layer(op::fused<op::gemm>{.base = base, .steps = {*e.function}});
  }
  const auto* m = op::as<op::matmul>(l);
  if (m == nullptr) return std::nullopt;
  op::fused<op::matmul> out{.base = *m};
  if (e.bias) out.steps.push(op::step(op::binary_function::add, {m->n()}));
  if (adds_c) out.steps.push(op::step(op::binary_function::add));
  if (e.function) out.steps.push(*e.function);
  if (out.steps.size == 0) return l;
  return checked_layer(out);
}
} // namespace detail

/// The call that a line of a product says.
inline call read_cublaslt(const cublaslt_line& line) {
  using detail::argument;
  call c{.from = library::cublaslt, .function = std::string(line.function)};
  const std::string_view row = line.arguments;
  const std::string_view a = argument(row, "Adesc"), b = argument(row, "Bdesc"),
                         d = argument(row, "Ddesc"), how = argument(row, "computeDesc");
  c.math = argument(how, "computeType");
  c.type = product_type(argument(a, "type"), argument(b, "type"), c.math);
  c.algorithm = detail::algorithm_text(argument(row, "algo"));
  c.workspace_bytes = number(argument(row, "workSpaceSizeInBytes")).value_or(0);

  const auto size = [](std::string_view of, std::string_view name, std::int64_t otherwise) {
    return number(argument(of, name)).value_or(otherwise);
  };
  const auto turned = [&](std::string_view name) {
    const std::string_view said = argument(how, name);
    return !said.empty() && said != "OP_N";
  };
  product p{.m = size(d, "rows", 0),
            .n = size(d, "cols", 0),
            .transpose_a = turned("transa"),
            .transpose_b = turned("transb"),
            .batch = size(d, "batchCount", 1)};
  p.k = size(a, p.transpose_a ? "rows" : "cols", 0);
  p.one_a = argument(a, "stridedBatchOffset") == "0" || size(a, "batchCount", 1) < p.batch;
  p.one_b = argument(b, "stridedBatchOffset") == "0" || size(b, "batchCount", 1) < p.batch;
  if (argument(d, "order") == "ORDER_ROW") { // as frameworks have it: the operands change places
    std::swap(p.m, p.n);
    std::swap(p.transpose_a, p.transpose_b);
    std::swap(p.one_a, p.one_b);
  }
  c.layout = transposes(p);
  const detail::epilogue e = detail::read_epilogue(argument(how, "epilogue"));
  const std::string_view beta = argument(row, "beta");
  const bool adds_c = !beta.empty() && beta != "0" && beta != "?";
  const std::optional<op::layer> plain = product_layer(p);
  if (plain && e.known) c.layer = detail::with_epilogue(*plain, e, adds_c);
  if (!e.known)
    c.remark = "a product with " + std::string(argument(how, "epilogue"));
  else if (!c.layer)
    c.remark = "a product whose sizes cannot be read";
  return c;
}

} // namespace benanza::trace
