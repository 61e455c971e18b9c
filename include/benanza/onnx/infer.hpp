// SPDX-License-Identifier: Apache-2.0
// What does libonnx say of an operator that we have no handler for? Its per-operator inference
// function is called for one node at a time, with operands and constants that are all known and
// checked. Whole-graph inference and data propagation are never used: they crash on bad files.
//
//   std::vector<result> r = infer(call);   // throws benanza::error with the reason
#pragma once

#include "handlers.hpp"

#include <onnx/defs/schema.h>

#include <exception>
#include <limits>
#include <string>
#include <vector>

namespace benanza::onnx {

namespace detail {
/// One node as libonnx wants to see it.
class inference final : public ::onnx::InferenceContext {
public:
  explicit inference(const call& c)
      : call_(c)
      , types_(static_cast<std::size_t>(c.size()))
      , tensors_(static_cast<std::size_t>(c.size()))
      , results_(static_cast<std::size_t>(c.outputs())) {
    for (int i = 0; i < c.size(); ++i) {
      if (!c.has(i)) continue;
      auto& t = *types_[static_cast<std::size_t>(i)].mutable_tensor_type();
      t.set_elem_type(c.element(i));
      t.mutable_shape();
      for (std::int64_t d : c.dims(i))
        t.mutable_shape()->add_dim()->set_dim_value(d);
    }
  }

  const ::onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return call_.attribute(name);
  }
  std::size_t getNumInputs() const override { return types_.size(); }
  const ::onnx::TypeProto* getInputType(std::size_t i) const override {
    return i < types_.size() && call_.has(static_cast<int>(i)) ? &types_[i] : nullptr;
  }
  const ::onnx::TensorProto* getInputData(std::size_t i) const override {
    if (i >= tensors_.size() || !call_.has(static_cast<int>(i))) return nullptr;
    const value& v = call_.operand(static_cast<int>(i));
    const elements_of* e = v.constant ? v.elements() : nullptr;
    if (e == nullptr) return nullptr;
    ::onnx::TensorProto& t = tensors_[i];
    if (t.data_type() != 0) return &t;
    for (std::int64_t d : *v.dims)
      t.add_dims(d);
    t.set_data_type(v.element);
    for (double r : e->reals)
      v.element == proto::DOUBLE ? t.add_double_data(r) : t.add_float_data(static_cast<float>(r));
    for (std::int64_t n : e->integers)
      if (v.element == proto::INT64)
        t.add_int64_data(n);
      else if (v.element == proto::UINT32 || v.element == proto::UINT64)
        t.add_uint64_data(static_cast<std::uint64_t>(n));
      else
        t.add_int32_data(static_cast<std::int32_t>(n));
    return &t;
  }
  std::size_t getNumOutputs() const override { return results_.size(); }
  ::onnx::TypeProto* getOutputType(std::size_t i) override {
    if (i >= results_.size()) throw error("libonnx asks for an output that is not there");
    return &results_[i];
  }
  ::onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override {
    throw error("it holds a graph");
  }
  const ::onnx::SparseTensorProto* getInputSparseData(std::size_t) const override {
    return nullptr;
  }
  const ::onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

  const std::vector<::onnx::TypeProto>& results() const { return results_; }

private:
  const call& call_;
  std::vector<::onnx::TypeProto> types_;
  mutable std::vector<::onnx::TensorProto> tensors_;
  std::vector<::onnx::TypeProto> results_;
};

/// What a tensor's type says, with dims where all of them are there and in range.
inline result result_of(const ::onnx::TypeProto& t) {
  result r;
  if (!t.has_tensor_type()) return r;
  r.element = t.tensor_type().elem_type();
  if (!t.tensor_type().has_shape() || t.tensor_type().shape().dim_size() > 8) return r;
  shape s;
  for (const auto& d : t.tensor_type().shape().dim()) {
    if (!d.has_dim_value() || d.dim_value() < 0 || d.dim_value() > dim_limit) return r;
    s.push(d.dim_value());
  }
  r.dims = s;
  return r;
}

/// Operators on which libonnx 1.12 is known to be wrong, and silent.
inline bool wrong_in_libonnx(const call& c) {
  return c.op() == "STFT" || (c.op() == "LpPool" && c.has_attribute("dilations"));
}

/// Refuses attributes on which libonnx divides by zero or reads behind an end.
inline void check_for_libonnx(const call& c) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  const std::string& op = c.op();
  const bool window = op.find("Conv") != std::string::npos ||
                      op.find("Pool") != std::string::npos || op == "RoiAlign" ||
                      op == "MaxRoiPool" || op == "GridSample";
  const int rank = c.has(0) ? c.dims(0).size : 0;
  if (window && rank < 3) throw error("its input has no spatial dims");
  for (const auto& a : c.node().attribute()) {
    const std::string& name = a.name();
    const bool positive = name == "kernel_shape" || name == "strides" || name == "dilations" ||
                          name == "group" || name == "blocksize" || name == "block_size" ||
                          name == "num_outputs";
    if (positive) {
      if (a.has_i() && (a.i() < 1 || a.i() > largest))
        throw error("its attribute " + name + " is out of range");
      for (std::int64_t v : a.ints())
        if (v < 1 || v > largest) throw error("its attribute " + name + " is out of range");
    }
    const bool spatial = name == "kernel_shape" || name == "strides" || name == "dilations";
    if (window && spatial && a.ints_size() != rank - 2)
      throw error("its attribute " + name + " does not match the spatial dims");
    if (window && name == "pads" && a.ints_size() != 2 * (rank - 2))
      throw error("its attribute pads does not match the spatial dims");
    for (std::int64_t v : a.ints())
      if (v > dim_limit || v < -dim_limit)
        throw error("its attribute " + name + " is out of range");
    if (name == "axis" && (a.i() > 64 || a.i() < -64))
      throw error("its attribute axis is out of range");
  }
  const bool weighted = op == "ConvInteger" || op == "QLinearConv";
  if (weighted && c.dims(op == "ConvInteger" ? 1 : 3).size != rank)
    throw error("its weights do not fit its input");
}
} // namespace detail

/// The outputs of a node by libonnx. The reason is thrown where it knows none, or has doubts.
inline std::vector<result> infer(const call& c) {
  const std::string domain(domain_of(c.node()));
  const int version = static_cast<int>(std::min<std::int64_t>(c.opset(), 1000));
  const ::onnx::OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(c.op(), version, domain);
  if (schema == nullptr || detail::wrong_in_libonnx(c) ||
      !schema->has_type_and_shape_inference_function())
    throw error("no rule says which dims it gives");
  for (const auto& a : c.node().attribute())
    if (a.has_g() || a.graphs_size() > 0) throw error("it holds a graph, these are not opened yet");
  const int given = c.size(), makes = c.outputs();
  if (given < schema->min_input() || given > schema->max_input() || makes < schema->min_output() ||
      makes > schema->max_output())
    throw error("it has " + std::to_string(given) + " inputs and " + std::to_string(makes) +
                " outputs, which its operator does not");
  for (const auto& [name, a] : schema->attributes())
    if (a.required && !c.has_attribute(name)) throw error("its attribute " + name + " is missing");
  for (int i = 0; i < given; ++i) {
    const auto& inputs = schema->inputs();
    const bool optional =
        i < static_cast<int>(inputs.size()) &&
        inputs[static_cast<std::size_t>(i)].GetOption() == ::onnx::OpSchema::Optional;
    if (!c.has(i) && !optional) throw error("its input " + std::to_string(i) + " is missing");
    if (c.has(i)) (void)c.dims(i);
  }
  detail::check_for_libonnx(c);

  detail::inference context(c);
  try {
    schema->GetTypeAndShapeInferenceFunction()(context);
  } catch (const error&) {
    throw;
  } catch (const std::exception& e) {
    throw error(std::string("libonnx refuses it: ") + e.what());
  }
  std::vector<result> out;
  bool any = false;
  for (const auto& t : context.results()) {
    out.push_back(detail::result_of(t));
    any = any || out.back().dims.has_value();
  }
  if (!any) throw error("its dims depend on what it reads when it runs");
  return out;
}

} // namespace benanza::onnx
