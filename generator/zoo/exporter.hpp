// SPDX-License-Identifier: Apache-2.0
// How is a model written down as an exporter writes it? Any operator of any opset, symbolic dims,
// sizes that are computed from shapes, and weights as initializers whose payload is in another
// file, which was never written. A value is the name of a tensor.
//
//   exporter net("toy", 17);
//   value x = net.input("input", {"batch", 8});
//   net.output(net.node("MatMul", {x, net.weight("w", {8, 4})}), "logits", {"batch", 4});
//   ::onnx::ModelProto model = net.finish();
#pragma once

#include <benanza/core/nothing.hpp>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace benanza::generator::zoo {

using value = std::string;
using dims = std::vector<std::int64_t>;

/// A number, or what represents one: the symbol of an input's dim ("batch", "past + 1"), or the
/// value that holds a size when the model runs.
using dim = std::variant<std::int64_t, std::string, nothing>;
using dim_list = std::vector<dim>;

struct attr {
  std::string name;
  std::variant<std::int64_t, float, std::string, dims, nothing> is;
};

/// Builds one model, node by node; nodes get names of their own.
class exporter {
public:
  using type = ::onnx::TensorProto::DataType;

  exporter(std::string_view name, int opset);
  exporter(const exporter&) = delete;
  exporter& operator=(const exporter&) = delete;

  int opset() const { return opset_; }

  value input(const std::string& name, const dim_list& shape,
              type element = ::onnx::TensorProto::FLOAT);
  void output(const value& v, const std::string& name, const dim_list& shape,
              type element = ::onnx::TensorProto::FLOAT);

  /// An operator that is not ONNX's own is written with its domain: com.microsoft::MatMulNBits.
  value node(const std::string& op, const std::vector<value>& inputs,
             const std::vector<attr>& attributes = {});
  /// The same for an operator with several results.
  std::vector<value> nodes(const std::string& op, const std::vector<value>& inputs, int results,
                           const std::vector<attr>& attributes = {});

  /// An initializer whose payload is elsewhere.
  value weight(const std::string& name, const dims& shape,
               type element = ::onnx::TensorProto::FLOAT);
  /// Small constants, each once a model: whole numbers as a list or one alone, and real ones.
  value list(const dims& numbers);
  value index(std::int64_t number);
  value number(float x);
  value scales(const std::vector<float>& numbers);
  value table(const std::string& name, const dims& shape, std::span<const std::int64_t> numbers,
              type element = ::onnx::TensorProto::INT64);

  /// The size of a dim as a list of one, computed from the shape.
  value size(const value& x, std::int64_t axis);
  /// A list of sizes, computed where one of them is.
  value sizes(const dim_list& parts);
  value reshape(const value& x, const dim_list& shape);
  value transpose(const value& x, const dims& order);
  /// With axes as an attribute or as an input, as the opset has it.
  value mean(const value& x, const dims& axes, bool keep = true);
  value unsqueeze(const value& x, std::int64_t axis);
  value slice(const value& x, std::int64_t axis, std::int64_t from, std::int64_t to,
              std::int64_t step = 1);
  std::vector<value> split(const value& x, std::int64_t axis, const dims& parts);
  value concat(const std::vector<value>& xs, std::int64_t axis);
  value cast(const value& x, type element);

  ::onnx::ModelProto finish() { return std::move(model_); }

private:
  ::onnx::TensorProto* fresh(const std::string& name, const dims& shape, type element);

  int opset_;
  ::onnx::ModelProto model_;
  ::onnx::GraphProto& graph_;
  std::set<std::string> initializers_, domains_{};
  std::int64_t bytes_of_weights_ = 0;
  int nodes_ = 0;
};

/// The largest number that a Slice may end at, for "to the end".
inline constexpr std::int64_t to_the_end = INT64_MAX;

} // namespace benanza::generator::zoo
