// SPDX-License-Identifier: Apache-2.0
// Real models: the paper's 30, which we build ourselves, and exported files where they are at hand
// (BENANZA_SHARED). Layers, multiply-accumulates and parameters are those known from elsewhere.
#include "text_model.hpp"

#include "generator/zoo/modern.hpp"
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
bool has_models() {
  return fs::exists(shared_models());
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

/// Multiply-accumulates of twelve layers of width 768 for `n` tokens that look at `seen` each.
constexpr std::int64_t twelve_layers(std::int64_t n, std::int64_t seen) {
  return 12 * (n * (4 * 768 * 768 + 2 * 768 * 3072) + 2 * n * seen * 768);
}
/// The same of TinyLlama's 22 layers and its output. In pieces, angles are a product too.
constexpr std::int64_t tinyllama(std::int64_t n, std::int64_t seen, bool pieces) {
  constexpr std::int64_t weights = 2 * 2048 * 2048 + 2 * 2048 * 256 + 3 * 2048 * 5632;
  return 22 * (n * weights + 2 * n * seen * 2048) + n * 2048 * 32000 + (pieces ? n * 32 : 0);
}

/// The newer models of the zoo at the sizes that it names: parameters as those who publish them
/// count, and what an export adds.
struct modern_expectation {
  std::string_view name;
  std::int64_t macs;
  std::int64_t parameters;
};
constexpr std::int64_t vocabulary = 768 * 50257;                          ///< GPT-2's
constexpr std::int64_t bert_parameters = 109'482'240 - (512 - 128) * 768; // places that are read
constexpr std::int64_t gpt2_parameters = 124'439'808 + vocabulary;        // the output's copy
constexpr std::int64_t llama_parameters = 1'100'048'384;
constexpr modern_expectation modern_expectations[] = {
    {"bert-base", twelve_layers(128, 128) + 768 * 768, bert_parameters},
    {"bert-base-op20", twelve_layers(128, 128) + 768 * 768, bert_parameters},
    {"gpt2-prefill", twelve_layers(128, 128) + 128 * vocabulary, gpt2_parameters},
    {"gpt2-decode", twelve_layers(1, 513) + vocabulary, gpt2_parameters},
    {"tinyllama-prefill", tinyllama(128, 128, true), llama_parameters + 32},
    {"tinyllama-decode", tinyllama(1, 513, true), llama_parameters + 32},
    {"tinyllama-prefill-op23", tinyllama(128, 128, false), llama_parameters + 2 * 2048 * 32},
    {"tinyllama-decode-op23", tinyllama(1, 513, false), llama_parameters + 2 * 2048 * 32},
    {"vit-b-16", 17'563'828'224, 86'567'656},
    {"vit-b-16-op20", 17'563'828'224, 86'567'656},
    {"swin-t", 4'490'566'656, 28'817'262},
    {"convnext-t", 4'455'531'264, 28'589'128},
    {"efficientnet-b0", 385'814'752, 5'267'540},
    {"mobilenet-v3-large", 216'589'760, 5'470'832},
    {"regnet-y-400mf", 401'842'848, 4'330'568},
    {"yolo-n", 4'371'993'600, 3'151'904 + 3 * 8400},
    {"ddpm-unet", 6'221'856'768, 35'746'307 + 2 * 32 + 64},
    {"whisper-tiny-encoder", 18'468'864'000, 8'208'384},
    {"whisper-tiny-decoder", 33'177'984, 48'115'584},
    {"lstm-lm", 35 * (2 * 4 * 650 * 1300 + 650 * std::int64_t{10000}),
     13'010'000 + 2 * 4 * 650 * 1302},
    {"resnet50-qdq", 4'089'184'256, 25'530'472},
};

/// What a model must come out as, at batch 1.
struct expectation {
  const char* file;
  std::int64_t macs;
  std::int64_t convolutions;
  /// With batch normalization folded into convolutions, as exported; less those that the exporter
  /// found equal, stored once and hands on by Identity.
  std::int64_t parameters;
};

constexpr expectation expectations[] = {
    {"torch/resnet18_op9.onnx", 1'814'073'344, 20, 11'684'712 - 3'840},
    {"torch/resnet50_op17.onnx", 4'089'184'256, 53, 25'530'472 - 22'528},
    {"torch/resnet50_static_op13.onnx", 4'089'184'256, 53, 25'530'472 - 22'528},
    {"torch/mobilenet_v2_op11.onnx", 300'774'272, 52, 3'487'816 - 12'808},
    {"torch/googlenet_op14.onnx", 1'498'376'192, 57, 6'617'624 - 4'584},
    {"torch/densenet121_op17.onnx", 2'834'161'664, 120, 8'040'040 - 111'104},
    {"torch/efficientnet_b0_op13.onnx", 385'814'752, 81, 5'267'540 - 25'344},
    {"torch/vit_b_16_op17.onnx", 17'563'828'224, 1, 86'567'656 - 72'192},
    {"torch/swin_t_static_op14.onnx", 4'490'566'656, 1, 28'817'262 - 51'168},
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
}

TEST_CASE("newer models of the zoo have the parameters and multiply-accumulates that they are "
          "known for") {
  REQUIRE(std::size(modern_expectations) == zoo::modern().size());
  double took = 0;
  for (std::size_t i = 0; i < zoo::modern().size(); ++i) {
    const zoo::modern_entry& e = zoo::modern()[i];
    const modern_expectation& expected = modern_expectations[i];
    REQUIRE(e.name == expected.name);
    CAPTURE(e.name);
    const std::clock_t start = std::clock();
    const bonnx::source s = bonnx::from(zoo::build(e.name), std::string(e.name));
    const auto one = bonnx::resolve(s, {.dims = e.dims()});
    took += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK(one.repairs.empty());
    for (const auto& [what, count] : model::unresolved(one))
      FAIL_CHECK(what.first << " x" << count << ": " << what.second);
    CHECK(macs(one) == expected.macs);
    CHECK(one.parameters == expected.parameters);
    const auto close = [&](std::int64_t ours, double theirs) {
      return theirs == 0 || std::abs(static_cast<double>(ours) / theirs - 1) < 0.02;
    };
    const bool agrees = close(one.parameters, e.parameters) && close(macs(one), e.macs);
    CHECK_MESSAGE((agrees || !e.note.empty()), "neither the authors' figures nor a note");
    const auto doubled = bonnx::resolve(s, {.batch = 2, .dims = e.dims()});
    CHECK(macs(doubled) == 2 * macs(one));
  }
  MESSAGE(zoo::modern().size() << " models in " << took << " s");
}

TEST_CASE("exported models come out as they are known" * doctest::skip(!has_models())) {
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
    const auto doubled = bonnx::resolve(bonnx::load(shared_models() / e.file), {.batch = 2});
    CHECK(model::unresolved(doubled).empty());
    CHECK(macs(doubled) == 2 * e.macs);
  }
}

TEST_CASE("every exported model is resolved as far as it goes, whatever it holds" *
          doctest::skip(!has_models())) {
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
