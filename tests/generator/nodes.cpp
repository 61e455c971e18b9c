// SPDX-License-Identifier: Apache-2.0
// Is a layer that is written as ONNX read as the same layer? And do its files hold what a framework
// is to compute on?
#include "../op/random_layers.hpp"
#include "program.hpp"

#include <generator/nodes/writer.hpp>

#include <benanza/backend/make_operands.hpp>
#include <benanza/model/fuse.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <optional>
#include <set>

using namespace benanza;
using namespace benanza::test;
namespace fs = std::filesystem;

namespace {
/// The layers that a written layer is read as; nothing where none is written.
std::optional<model::graph> read_again(const op::layer& l) {
  try {
    const backend::operands o = backend::describe_operands(l, numeric::f32);
    generator::node_model m = generator::write_node(l, o);
    benanza::onnx::options as_written; // else the first dim of an input is a batch of one
    for (const std::size_t k : m.inputs)
      as_written.shapes["x" + std::to_string(k)] = o.inputs[k].dims;
    return benanza::onnx::resolve(benanza::onnx::from(std::move(m.model)), as_written);
  } catch (const generator::not_written&) {
    return std::nullopt;
  }
}

std::string names_of(const model::graph& g) {
  std::string out;
  for (const model::node& n : g.nodes)
    out += (out.empty() ? "" : " ") +
           (n.layer < 0 ? "? " + n.problem : op::name(g.layers[static_cast<std::size_t>(n.layer)]));
  return out;
}

/// What a fused layer is read as, before anything is fused: its base and its steps.
template <class Base>
std::string parts_of(const op::fused<Base>& p) {
  std::string out = op::name(op::layer(p.base.canonical_form()));
  for (const op::step& s : p.steps)
    out +=
        ' ' + op::name(s.joins ? op::layer(op::binary{
                                     .function = s.join, .a = p.output(), .b = p.operand_of(s)}
                                               .canonical_form())
                               : op::layer(op::unary{.function = s.function, .input = p.output()}));
  return out;
}
template <class Norm>
std::string parts_of(const op::residual<Norm>& p) {
  return op::name(op::layer(op::binary{.a = p.addend(), .b = p.addend()})) + ' ' +
         op::name(op::layer(p.base.canonical_form()));
}
std::string parts_of(const auto& p) {
  return op::name(op::layer(p));
}
} // namespace

TEST_CASE("a layer of any kind that is written as ONNX is read as itself") {
  std::map<std::string, int> written;
  const auto check = [&](const op::layer& l) {
    const std::string name = op::name(l);
    CAPTURE(name);
    // From pieces it is recognized only where a Sigmoid and a Mul follow each other.
    if (name.find("Swish") != std::string::npos) return;
    const auto g = read_again(l);
    if (!g) return;
    ++written[std::string(op::family(l))];
    CHECK(names_of(*g) == op::visit([](const auto& p) { return parts_of(p); }, l));
  };
  for (std::size_t kind = 0; kind < layer_kinds; ++kind) {
    layer_source source(kind + 1); // of its own: a new kind changes no other's layers
    for (int i = 0; i < 40; ++i)
      check(source.next(kind));
  }
  for (const char* name : {"Cube/24x3x1", "Gelu/4x24", "FastGelu/4x24", "PRelu/1x8x4-8x1"})
    check(op::parse(name));
  CHECK_FALSE(read_again(op::parse("Cube/24x3x1-s64")));   // ONNX would compute in floats
  CHECK_FALSE(read_again(op::parse("PRelu/1x8x1-6x8x1"))); // ONNX's slope fits the operand
  for (const char* family : {"Conv",
                             "ConvTranspose",
                             "Gemm",
                             "MatMul",
                             "MatMulNBits",
                             "DynamicQuantizeLinear",
                             "MaxPool",
                             "GlobalAveragePool",
                             "BatchNormalization",
                             "LayerNormalization",
                             "RMSNormalization",
                             "GroupNormalization",
                             "InstanceNormalization",
                             "LRN",
                             "Softmax",
                             "Attention",
                             "Gelu",
                             "FastGelu",
                             "Add",
                             "ReduceMean",
                             "Concat",
                             "Split",
                             "Transpose",
                             "Pad",
                             "Slice",
                             "Gather",
                             "Resize",
                             "DepthToSpace",
                             "Expand",
                             "Where",
                             "LSTM",
                             "GRU"})
    CHECK_MESSAGE(written[family] > 0, std::string(family));
}

TEST_CASE("what is written of a fused layer is fused again") {
  for (const char* name :
       {"Conv+Add+Relu/1x64x28x28-64x3x3-s1-p1-b", "Gemm+Relu/1x100x200-tb-c1x100-w",
        "MatMul+Add+Gelu/1x128x768-768x3072-w-w3072", "Conv+Clip/1x32x28x28-32x3x3-s1-p1-g32-b",
        "Add+LayerNormalization/1x128x768-a2-b-sum", "Add+RMSNormalization/8x64-a1"}) {
    const op::layer l = op::parse(name);
    const auto g = read_again(l);
    REQUIRE(g);
    const auto fused = model::fuse(*g, model::default_patterns());
    REQUIRE(fused);
    CHECK(names_of(*fused) == op::name(l));
  }
}

TEST_CASE(
    "the files of a layer hold its numbers and what is right, and what is not written is named") {
  const scratch_folder s("nodes");
  const std::string generate = BENANZA_GENERATE_BINARY;
  const outcome o = shell(generate + " onnx MatMul/2x3-3x4-w Relu/1x8 NonZero/4x4 -o " + (s / "n"));
  CAPTURE(o.err);
  CHECK(o.status == 1);
  CHECK(o.err.find("NonZero/4x4 is not written") != std::string::npos);
  CHECK(fs::exists(s / "n/1/layer.json"));
  CHECK_FALSE(fs::exists(s / "n/2"));
  const auto j = nlohmann::json::parse(text_of(s / "n/0/layer.json"));
  CHECK(j.at("inputs").at(0).at("dims") == nlohmann::json{2, 3});
  CHECK(j.at("weights") == nlohmann::json{"x1"});
  CHECK(j.at("weight_bytes") == 48);
  CHECK(j.at("flops") == 48);
  const auto numbers = [&](const char* file) {
    const std::string bytes = text_of(s / file);
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  const std::vector<float> a = numbers("n/0/x0.bin"), b = numbers("n/0/x1.bin");
  REQUIRE(a.size() == 6);
  REQUIRE(b.size() == 12);
  REQUIRE(j.at("positions").size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += double{a[i / 4 * 3 + k]} * b[k * 4 + i % 4];
    CHECK(j.at("expected").at(i).get<double>() == doctest::Approx(sum));
    CHECK(j.at("limits").at(i).get<double>() > 0);
    CHECK(j.at("limits").at(i).get<double>() < 1e-3);
  }
  CHECK(shell(generate + " onnx -o " + (s / "m")).status == 2);
  CHECK(shell(generate + " onnx Relu/1x8").status == 2);
  CHECK(shell(generate + " onnx Nonsense/1x8 -o " + (s / "m")).status == 2);
}
