// SPDX-License-Identifier: Apache-2.0
// Do we see attention, rotary embeddings and normalizations in what torch's exporters write?
// Transformers of two layers as `scripts/prove exports` writes them, without their weights.
#include "text_model.hpp"

#include <benanza/model/fuse.hpp>
#include <benanza/model/unique.hpp>

#include <filesystem>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;

namespace {
const std::filesystem::path of_exports = BENANZA_SOURCE_FOLDER "/tests/onnx/exports";

struct exported {
  const char* file;
  int attentions, rotaries, norms;
};
constexpr exported exports[] = {
    {"bert.dynamo.onnx", 2, 0, 5},    // rows that may be empty are guarded
    {"bloom.dynamo.onnx", 2, 0, 6},   // ALiBi: products of three dims, a softmax of four
    {"gemma2.dynamo.onnx", 2, 4, 9},  // scores that are kept in a range
    {"gptneox.script.onnx", 2, 4, 5}, // a part of each head is turned
    {"llama.dynamo.onnx", 2, 4, 5},   // heads that share keys
    {"modernbert.dynamo.onnx", 2, 4, 5},
};

int fused_as(const model::graph& g, std::string_view family) {
  int n = 0;
  for (const model::node& node : g.nodes)
    for (std::string_view op = node.op; !op.empty();) {
      n += op.substr(0, op.find('+')) == family;
      op.remove_prefix(std::min(op.size(), op.find('+') == op.npos ? op.size() : op.find('+') + 1));
    }
  return n;
}
} // namespace

TEST_CASE("exports of torch: attention, rotary embeddings and normalizations are recognised") {
  for (const exported& e : exports) {
    CAPTURE(e.file);
    const model::graph g = bonnx::resolve(bonnx::load(of_exports / e.file), {});
    for (const auto& [what, count] : model::unresolved(g))
      FAIL_CHECK(what.first << " x" << count << ": " << what.second);
    const auto fused = model::fuse(g, model::default_patterns());
    REQUIRE(fused);
    CHECK(fused_as(*fused, "Attention") == e.attentions);
    CHECK(fused_as(*fused, "RotaryEmbedding") == e.rotaries);
    CHECK(fused_as(*fused, "LayerNormalization") + fused_as(*fused, "RMSNormalization") == e.norms);
  }
}
