// SPDX-License-Identifier: Apache-2.0
// Real models: the paper's 30, which we build ourselves, and exported files where they are at hand
// (BENANZA_SHARED). Layers, multiply-accumulates and parameters are those known from elsewhere.
#include "text_model.hpp"

#include "generator/zoo/zoo.hpp"

#include <benanza/model/unique.hpp>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;
namespace fs = std::filesystem;
namespace zoo = benanza::generator::zoo;

namespace {
std::int64_t macs(const model::graph& g) {
  std::int64_t n = 0;
  const auto counts = model::counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    n += counts[i] * benanza::op::cost(g.layers[i]).macs;
  return n;
}

std::int64_t count_of(const model::graph& g, std::string_view op) {
  std::int64_t n = 0;
  for (const auto& v : g.nodes)
    n += v.op == op;
  return n;
}

fs::path shared_models() {
  if (const char* given = std::getenv("BENANZA_SHARED")) return fs::path(given) / "models";
#ifdef BENANZA_SHARED
  return fs::path(BENANZA_SHARED) / "models";
#else
  return {};
#endif
}

/// Sizes for the symbols that the exported models have.
bonnx::options sizes(std::int64_t batch) {
  bonnx::options o{.batch = batch};
  for (const char* s : {"sequence", "seq", "tokens", "tok", "seq_len"})
    o.dims[s] = 16;
  for (const char* s : {"height", "width"})
    o.dims[s] = 320;
  o.dims.insert({{"h", 32}, {"w", 32}, {"past_seq", 8}, {"past_seq_len", 8}});
  o.dims.insert({{"total_seq_len", 24}, {"length", 20}});
  return o;
}

/// What a model must come out as, at batch 1.
struct expectation {
  const char* file;
  std::int64_t macs;
  std::int64_t convolutions;
  std::int64_t parameters; ///< with batch normalization folded into convolutions, as exported
};

constexpr expectation expectations[] = {
    {"torch/resnet18_op9.onnx", 1'814'073'344, 20, 11'684'712},
    {"torch/resnet50_op17.onnx", 4'089'184'256, 53, 25'530'472},
    {"torch/resnet50_static_op13.onnx", 4'089'184'256, 53, 25'530'472},
    {"torch/mobilenet_v2_op11.onnx", 300'774'272, 52, 3'487'816},
    {"torch/googlenet_op14.onnx", 1'498'376'192, 57, 6'617'624},
    {"torch/densenet121_op17.onnx", 2'834'161'664, 120, 8'040'040},
    {"torch/efficientnet_b0_op13.onnx", 385'814'752, 81, 5'267'540},
    {"torch/vit_b_16_op17.onnx", 17'563'828'224, 1, 86'567'656},
    {"torch/swin_t_static_op14.onnx", 4'490'566'656, 1, 28'817'262},
    {"github/fastestdet.onnx", 121'491'744, 70, 240'301},
    {"github/super_resolution_10.onnx", 2'984'869'888, 4, 59'657},
    {"github/winml_squeezenet_fp16.onnx", 349'151'936, 26, 1'235'496},
    {"github/zigzag_mobilenetv2.onnx", 300'774'272, 52, 3'487'816},
    {"github/mnist_7.onnx", 786'560, 2, 5'994},
};
} // namespace

TEST_CASE("the paper's 30 models resolve completely, at two batches, in a moment") {
  const std::map<std::string_view, std::int64_t> exact{
      {"bvlc-alexnet", 654'560'384},     {"densenet-121", 2'834'161'664},
      {"emotion-ferplus", 875'831'296},  {"lenet", 786'560},
      {"mobilenet-v2", 429'111'936},     {"resnet50-v1", 3'857'973'248},
      {"resnet152-v2", 11'513'626'624},  {"shufflenet", 124'664'528},
      {"squeezenet-v1.1", 349'151'936},  {"tiny-yolo-v2", 3'485'520'896},
      {"vgg19-bn", 19'632'062'464},      {"inception-v2", 2'018'851'840},
      {"bvlc-googlenet", 1'582'671'872}, {"arcface", 12'089'606'144},
      {"duc", 673'074'204'672},          {"zfnet512", 1'481'727'008},
  };
  std::vector<model::graph> graphs;
  const std::clock_t start = std::clock(); // of our own processor: others may use it too
  for (const zoo::entry& e : zoo::list()) {
    CAPTURE(e.name);
    const bonnx::source s = bonnx::from(zoo::build(e.name), std::string(e.name));
    const auto one = bonnx::resolve(s, {}), eight = bonnx::resolve(s, {.batch = 8});
    CHECK(model::unresolved(one).empty());
    CHECK(model::unresolved(eight).empty());
    CHECK(one.repairs.empty());
    CHECK(one.nodes.size() == eight.nodes.size());
    CHECK(macs(eight) == 8 * macs(one));
    CHECK(one.parameters == eight.parameters);
    CHECK(std::abs(static_cast<double>(one.parameter_bytes) /
                       static_cast<double>(4 * one.parameters) -
                   1) < 1e-12);
    if (const auto found = exact.find(e.name); found != exact.end())
      CHECK(macs(one) == found->second);
    graphs.push_back(one);
    graphs.push_back(eight);
  }
  const model::catalogue all = model::unique_layers(graphs);
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  MESSAGE(graphs.size() << " graphs, " << all.layers.size() << " unique layers of " << all.nodes
                        << " nodes in " << took << " s");
  CHECK(took < 5.0);
}

TEST_CASE("exported models come out as they are known") {
  if (!fs::exists(shared_models())) {
    MESSAGE("skipped: no models under " << shared_models());
    return;
  }
  for (const expectation& e : expectations) {
    if (!fs::exists(shared_models() / e.file)) continue;
    CAPTURE(e.file);
    const auto g = bonnx::resolve(bonnx::load(shared_models() / e.file), {});
    for (const auto& [what, count] : model::unresolved(g))
      FAIL_CHECK(what.first << " x" << count << ": " << what.second);
    CHECK(macs(g) == e.macs);
    CHECK(count_of(g, "Conv") == e.convolutions);
    CHECK(g.parameters == e.parameters);
    if (count_of(g, "Conv") < 2) continue; // Swin's windows are not of one batch
    const auto two = bonnx::resolve(bonnx::load(shared_models() / e.file), {.batch = 2});
    CHECK(model::unresolved(two).empty());
    CHECK(macs(two) == 2 * e.macs);
  }
}

TEST_CASE("every exported model is resolved as far as it goes, whatever it holds") {
  if (!fs::exists(shared_models())) {
    MESSAGE("skipped: no models under " << shared_models());
    return;
  }
  int files = 0, complete = 0;
  std::int64_t nodes = 0, unresolved = 0;
  for (const auto& at : fs::recursive_directory_iterator(shared_models())) {
    if (at.path().extension() != ".onnx") continue;
    CAPTURE(at.path());
    for (std::int64_t batch : {1, 2}) {
      model::graph g;
      CHECK_NOTHROW(g = bonnx::resolve(bonnx::load(at.path()), sizes(batch)));
      std::int64_t here = 0;
      for (const auto& n : g.nodes) {
        here += n.layer == model::no_layer;
        CHECK((n.layer == model::no_layer) == !n.problem.empty());
      }
      if (batch > 1) continue;
      ++files;
      complete += here == 0;
      nodes += static_cast<std::int64_t>(g.nodes.size());
      unresolved += here;
    }
  }
  MESSAGE(files << " models, " << complete << " complete; " << nodes << " nodes, " << unresolved
                << " unresolved");
}
