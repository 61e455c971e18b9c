// SPDX-License-Identifier: Apache-2.0
// What is said of threads, other frameworks, types and settings, where they were measured, and
// where they were not?
#include "model/graph_maker.hpp"
#include "result/synthetic.hpp"

#include <benanza/advice/advised.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace test_of_other_runs {
using namespace benanza::advice;
using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::result::measurement;
using benanza::result::run;
using benanza::trace::profile;

/// The residual block; on two threads too, each case in this share of its time.
run block(double two_threads = 0, double bf16 = 0) {
  run r = synthetic::fused_run();
  const std::vector<measurement> own = r.measurements;
  const auto add = [&](double by, const char* type, int threads) {
    for (measurement m : own) {
      m.type = m.equivalence = type;
      m.threads = threads;
      for (double& ns : m.samples_ns)
        ns *= by;
      benanza::result::recompute(m);
      r.measurements.push_back(std::move(m));
    }
  };
  if (two_threads > 0) add(two_threads, "f32", 2);
  if (bf16 > 0) add(bf16, "bf16", 1);
  return r;
}

std::vector<model_bound> figures(const source& s,
                                 const std::vector<benanza::bound::setting>& settings) {
  std::vector<model_bound> out;
  for (const benanza::bound::setting& in : settings)
    out.push_back(benanza::bound::analyse(s, s.run.graphs[0], in));
  return out;
}

profile ran(const char* framework, double ms, int threads = 1, const char* precision = "f32") {
  profile p{.source = "made up", .framework = framework, .version = "1.2"};
  p.model = "block";
  p.precision = precision;
  p.threads = threads;
  p.batch = 1;
  p.latency_ns = {ms * 1e6, ms * 1e6, ms * 1.01e6};
  return p;
}

const item* of_id(const advice_list& l, std::string_view beginning) {
  const auto found = std::find_if(l.items.begin(), l.items.end(),
                                  [&](const item& i) { return i.id.starts_with(beginning); });
  return found == l.items.end() ? nullptr : &*found;
}
template <class List>
std::string said(const List& list, std::string_view kind) {
  std::string out;
  for (const auto& x : list)
    if (x.kind == kind) out += x.what + "\n";
  return out;
}

TEST_CASE("a second thread is advised where it was measured, by what it saves of the same run") {
  const run r = block(0.6);
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}, {numeric::f32, 2}});
  const std::vector<advised> of_all = advise_all(s, all, {});
  const advice_list& l = of_all[0].list;
  const item* i = of_id(l, "threads/2");
  REQUIRE(i != nullptr);
  CHECK(l.run.supposed);
  CHECK(i->saves.ns == doctest::Approx(0.4 * l.run.ns).epsilon(0.01));
  CHECK(i->how.text.find("intra_op_num_threads=2") != std::string::npos);
  CHECK(i->leads_to == "2 threads");
  CHECK(i->evidence.size() == 2);
  CHECK(&l.items.front() == i); // before what only makers can do, and the most
  // Nothing is gained by one thread fewer.
  CHECK(of_id(of_all[1].list, "threads/") == nullptr);
  CHECK(said(of_all[1].list.not_worth, "threads").find("1 thread in place of 2") == 0);
}

TEST_CASE("a second thread that does not pay is not advised") {
  const run r = block(1.02);
  const source s(r);
  auto all = figures(s, {{numeric::f32, 1}, {numeric::f32, 2}});
  const advice_list l = advise_all(s, all, {})[0].list;
  CHECK(of_id(l, "threads/") == nullptr);
  const std::string plain = said(l.not_worth, "threads");
  CHECK(plain.find("2 threads in place of 1") == 0);
  CHECK(plain.find("memory") == plain.npos);
  all[1].memory.ns = 0.9 * all[1].best_form().bound.sequential.ns; // of which most is reading
  const std::string memory = said(advise_all(s, all, {})[0].list.not_worth, "threads");
  CHECK(memory.find("; reading what it must from memory takes ") != memory.npos);
}

TEST_CASE("where one number of threads was measured, the page asks for more of them") {
  const run r = block();
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}});
  const advice_list l = advise_all(s, all, {})[0].list;
  CHECK(of_id(l, "threads/") == nullptr);
  REQUIRE(said(l.not_measured, "threads") == "more than 1 thread, of 2 cores\n");
  CHECK(l.not_measured.front().command ==
        "benanza_bench --model block@batch=1 --threads 1,2 --benchmark_out=more.json");
}

TEST_CASE(
    "of batches beyond the largest that was measured nothing is said, but how to measure them") {
  run r = block();
  r.provenance["measuring"]["effort"] = "quick";
  benanza::model::graph eight = r.graphs[0];
  eight.batch = 8;
  eight.name = "block@batch=8";
  r.graphs.push_back(eight); // whose layers take as long as those of one item
  const source s(r);
  const std::vector<model_bound> all{
      benanza::bound::analyse(s, r.graphs[0], {numeric::f32, 1}),
      benanza::bound::analyse(s, r.graphs.back(), {numeric::f32, 1})};
  const std::vector<advised> of_all = advise_all(s, all, {});
  CHECK(of_id(of_all[0].list, "batch/8") != nullptr);
  for (const advised& a : of_all) {
    CHECK(said(a.list.not_worth, "batch").empty());
    CHECK(said(a.list.not_measured, "batch").find("batches of more than 8; up to there") == 0);
    const auto asked = std::find_if(a.list.not_measured.begin(), a.list.not_measured.end(),
                                    [](const question& q) { return q.kind == "batch"; });
    REQUIRE(asked != a.list.not_measured.end());
    CHECK(asked->command == "benanza_generate block.onnx --batch 16 --no-sources -o larger && "
                            "benanza_bench --graphs larger/graphs.json --effort quick "
                            "--benchmark_out=larger.json");
  }
}

/// The block, and another model of another name that takes less: it lacks the last nodes.
run with_shorter(const std::string& name) {
  run r = block();
  benanza::model::graph other = r.graphs[0];
  other.model = name;
  other.name = name + "@batch=1";
  other.nodes.resize(other.nodes.size() - 2);
  r.graphs.push_back(other);
  return r;
}
advice_list advice_of(const run& r, std::size_t graph) {
  const source s(r);
  std::vector<model_bound> all;
  for (const std::size_t i : {std::size_t{0}, r.graphs.size() - 1})
    all.push_back(benanza::bound::analyse(s, r.graphs[i], {numeric::f32, 1}));
  return advise_all(s, all, {})[graph].list;
}

TEST_CASE("batches of a language model are compared in tokens, at the same dims alone") {
  run r = block();
  benanza::model::graph eight = r.graphs[0];
  eight.batch = 8;
  eight.name = "block@batch=8";
  eight.cache = {.bytes = 8, .sequences = 8, .past = 5, .added = 1};
  r.graphs[0].cache = {.bytes = 1, .sequences = 1, .past = 5, .added = 1};
  r.graphs.push_back(eight);
  const advice_list l = advice_of(r, 0);
  const item* const i = of_id(l, "batch/8");
  REQUIRE(i != nullptr);
  CHECK(i->what.find(" tokens/s in place of ") != std::string::npos);
  CHECK(i->how.text == "give a run 8 sequences at once");
  r.graphs.back().dims = {{"past", 9}};
  CHECK(of_id(advice_of(r, 0), "batch/") == nullptr);
}

TEST_CASE("of a language model every change says what it comes to in tokens") {
  run r = block(0.6);
  r.graphs[0].cache = {.bytes = 1, .sequences = 1, .past = 5, .added = 3};
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}, {numeric::f32, 2}});
  const advice_list l = advise_all(s, all, {})[0].list;
  const item* const i = of_id(l, "threads/2");
  REQUIRE(i != nullptr);
  const double before = 3e9 / l.run.ns, after = 3e9 / (l.run.ns - i->saves.ns);
  CHECK(i->what.ends_with(
      fmt::format(": {:.0f} tokens/s in place of {:.0f} tokens/s", after, before)));
  r.graphs[0].cache = {};
  const auto plain = figures(s, {{numeric::f32, 1}, {numeric::f32, 2}});
  CHECK(of_id(advise_all(s, plain, {})[0].list, "threads/2")->what.find("tokens") ==
        std::string::npos);
}

TEST_CASE("weights in another type are advised where they were measured to be faster") {
  const run r = with_shorter("block,weights=q8_0");
  const advice_list l = advice_of(r, 0);
  const item* const i = of_id(l, "weights/q8_0");
  REQUIRE(i != nullptr);
  CHECK(i->kind == "weights");
  CHECK(i->what.find("weights in q8_0: ") == 0);
  CHECK(i->how.command == "llama-quantize --pure ORIGINAL.gguf block-q8_0.gguf q8_0");
  CHECK(i->check == "benanza_measure_framework llamacpp block-q8_0.gguf --threads 1");
  CHECK(i->assumes.find("results are good enough") == 0);
  // And from there the other way.
  const advice_list back = advice_of(r, 1);
  CHECK(of_id(back, "weights/") == nullptr);
  CHECK(said(back.not_worth, "weights").find("weights as they were: ") == 0);
}

TEST_CASE("so are keys and values; another name, setting or model is not compared") {
  const advice_list l = advice_of(with_shorter("block,cache=f16"), 0);
  const item* const i = of_id(l, "cache/f16");
  REQUIRE(i != nullptr);
  CHECK(i->how.text == "-ctk f16 -ctv f16");
  CHECK(i->check ==
        "benanza_measure_framework llamacpp block.gguf --threads 1 --set cache_type=f16");
  for (const char* name : {"block,colour=red", "block,weights=", "block,weights=\x1b[1m",
                           "other,weights=q8_0", "block-q8_0"}) {
    CAPTURE(name);
    const advice_list none = advice_of(with_shorter(name), 0);
    CHECK(of_id(none, "weights/") == nullptr);
    CHECK(of_id(none, "cache/") == nullptr);
    CHECK(said(none.not_worth, "weights").empty());
  }
  run r = with_shorter("block,weights=q8_0");
  r.graphs.back().dims = {{"past", 9}};
  CHECK(of_id(advice_of(r, 0), "weights/") == nullptr);
}

TEST_CASE("kernels that round what they multiply are advised, and set no bound") {
  run r = block();
  const auto with = [&](double by) {
    run out = r;
    for (const measurement& m : r.measurements) {
      if (m.family != "Conv") continue;
      measurement its = m;
      its.backend = "ggml";
      its.algorithm = "mul_mat:repack";
      its.equivalence = "f32-rounded";
      for (double& ns : its.samples_ns)
        ns *= by;
      benanza::result::recompute(its);
      out.measurements.push_back(std::move(its));
    }
    return out;
  };
  const run faster = with(0.5), slower = with(2);
  const source plain(r), s(faster), t(slower);
  const std::vector<benanza::bound::setting> setting{{numeric::f32, 1}};
  const auto before = figures(plain, setting), all = figures(s, setting);
  const advice_list l = advise_all(s, all, {})[0].list;
  const item* const i = of_id(l, "rounding/ggml");
  REQUIRE(i != nullptr);
  CHECK(i->what.find("activations that are rounded, as llama.cpp does, ") != std::string::npos);
  CHECK(i->saves.ns > 0);
  CHECK(i->evidence.at(0).find(" by mul_mat:repack of ggml") != std::string::npos);
  CHECK(i->how.text == "a framework has to take ggml's kernels, as llama.cpp does");
  CHECK(all[0].best_form().bound.sequential.ns == before[0].best_form().bound.sequential.ns);
  CHECK(l.run.ns == advise_all(plain, before, {})[0].list.run.ns);
  CHECK(of_id(advise_all(t, figures(t, setting), {})[0].list, "rounding/") == nullptr);
  const std::vector<profile> ours{ran("llamacpp", 30)};
  CHECK(of_id(advise_all(s, all, ours)[0].list, "rounding/") == nullptr);
}

TEST_CASE("for a framework its own runs count, else its run changed as predictions do") {
  const run r = block(0.6);
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}, {numeric::f32, 2}});
  const advice_list measured =
      advise_all(s, all, {ran("onnxruntime", 4), ran("onnxruntime", 2.2, 2)})[0].list;
  const item* i = of_id(measured, "threads/2");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(1.8e6));
  CHECK(i->assumes.empty());
  CHECK(i->how.text == "intra_op_num_threads=2");
  CHECK(i->check == "benanza_measure_framework onnxruntime block.onnx --threads 2");
  const advice_list other =
      advise_all(s, all, {ran("onnxruntime", 4), ran("openvino", 2.2, 2)})[0].list;
  const item* j = of_id(other, "threads/2");
  REQUIRE(j != nullptr);
  CHECK(j->saves.ns == doctest::Approx(0.4 * 4e6).epsilon(0.01));
  CHECK(j->assumes.find("what the best kernels gain") != std::string::npos);
}

TEST_CASE(
    "commands that run a framework have the model's dims, and those of a GGUF file its name") {
  benanza::model::graph g = graphs::maker().add("Relu/1x8", "i").g;
  g.model = "bert";
  using benanza::advice::detail::framework_command;
  CHECK(framework_command(g) == "benanza_measure_framework onnxruntime bert.onnx");
  g.dims = {{"sequence", 128}, {"a b", 2}};
  CHECK(framework_command(g, "openvino", "MODEL") ==
        "benanza_measure_framework openvino MODEL.onnx --dim 'a b=2' --dim sequence=128");
  benanza::model::graph words = graphs::maker().add("MatMulGgml/1x1x32-n8-q4_0", "i").g;
  words.model = "words";
  CHECK(framework_command(words) == "benanza_measure_framework llamacpp words.gguf");
  CHECK(framework_command(words, "openvino-genai") ==
        "benanza_measure_framework openvino-genai words.gguf");
}

TEST_CASE("another framework that is faster is advised; a slower one is not") {
  const run r = block();
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}});
  const advice_list l = advise_all(s, all, {ran("onnxruntime", 4), ran("openvino", 3)})[0].list;
  const item* i = of_id(l, "framework/switch/openvino");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(1e6));
  CHECK(i->how.by == doer::you);
  CHECK(i->how.kind == way::framework);
  CHECK(i->how.text == "run the model by OpenVINO 1.2");
  const advice_list back = advise_all(s, all, {ran("openvino", 3), ran("onnxruntime", 4)})[0].list;
  CHECK(of_id(back, "framework/switch") == nullptr);
  CHECK(said(back.not_worth, "framework") == "ONNX Runtime 1.2: 4.00 ms in place of 3.00 ms\n");
}

TEST_CASE("a framework that is faster at the same nodes is named next to what makers can do") {
  const run r = block();
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}});
  const auto profiled = [](const char* framework, double first_us) {
    profile p = ran(framework, 2);
    const std::vector<double> us{first_us, 9.2, 110, 15.2, 9.2, 410};
    for (std::size_t i = 0; i < us.size(); ++i) {
      p.operators.push_back({.name = "node" + std::to_string(i), .type = "Op"});
      p.operators.back().ns = {1000 * us[i], 1000 * us[i]};
    }
    return p;
  };
  const auto text = [&](double other_us) {
    const advice_list l =
        advise_all(s, all, {profiled("onnxruntime", 900), profiled("openvino", other_us)})[0].list;
    const item* i = of_id(l, "algorithm/onednn/jit/Conv");
    return i == nullptr ? std::string() : i->how.text;
  };
  CHECK(text(750) == "ONNX Runtime has to take onednn's jit; OpenVINO 1.2 takes 750 us for these "
                     "in place of 900 us");
  CHECK(text(890) == "ONNX Runtime has to take onednn's jit");
}

TEST_CASE("another type saves what the framework's own run of it shows, where there is one") {
  const run r = block(0, 0.5);
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}, {numeric::bf16, 1}});
  profile bf16 = ran("openvino", 2.5, 1, "bf16");
  bf16.settings["INFERENCE_PRECISION_HINT"] = "bf16";
  const advice_list own = advise_all(s, all, {ran("openvino", 4), bf16})[0].list;
  const item* i = of_id(own, "precision/bf16");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(1.5e6));
  CHECK(i->how.text == "INFERENCE_PRECISION_HINT=bf16");
  CHECK(i->assumes.empty());
  // ONNX Runtime has no such kernels: the other framework is the way.
  const advice_list other = advise_all(s, all, {ran("onnxruntime", 4), bf16})[0].list;
  CHECK(of_id(other, "precision/bf16") == nullptr);
  const item* j = of_id(other, "framework/switch/openvino/bf16");
  REQUIRE(j != nullptr);
  CHECK(j->how.text == "OpenVINO 1.2: INFERENCE_PRECISION_HINT=bf16");
}

TEST_CASE("only a lower precision is advised, by what the framework has for it") {
  const run r = block(0, 0.5);
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}, {numeric::bf16, 1}});
  const std::vector<advised> none = advise_all(s, all, {});
  const item* i = of_id(none[0].list, "precision/bf16");
  REQUIRE(i != nullptr);
  CHECK(i->how.by == doer::you);
  CHECK(i->how.text.find("OpenVINO: INFERENCE_PRECISION_HINT=bf16") == 0);
  CHECK(i->assumes.find("as fast as the best that were measured here") != std::string::npos);
  CHECK(of_id(none[1].list, "precision/") == nullptr);
}

TEST_CASE(
    "f32 is asked for where its kernels are the best of a narrower type, and called more exact") {
  run r = block(0, 0.5);
  for (measurement& m : r.measurements)
    if (m.type == "bf16") m.algorithm = "f32:" + m.algorithm;
  const source s(r);
  const auto alone = figures(s, {{numeric::bf16, 1}});
  const profile narrow = ran("openvino", 4, 1, "bf16");
  const advice_list l = advise_all(s, alone, {narrow})[0].list;
  const auto asked = std::find_if(l.not_measured.begin(), l.not_measured.end(),
                                  [](const question& q) { return q.kind == "type"; });
  REQUIRE(asked != l.not_measured.end());
  CHECK(asked->what == "f32, by whose kernels bf16 is computed best here");
  CHECK(asked->command == "benanza_bench --model block@batch=1 --benchmark_out=more.json");
  const auto both = figures(s, {{numeric::f32, 1}, {numeric::bf16, 1}});
  const advice_list now = advise_all(s, both, {ran("openvino", 3), narrow})[1].list;
  for (const question& q : now.not_measured)
    CHECK(q.kind != "type");
  const item* i = of_id(now, "precision/f32");
  REQUIRE(i != nullptr);
  CHECK(i->what.find(", results more exact") != std::string::npos);
  // Kernels of bf16 itself ask for nothing.
  const run plain = block(0, 0.5);
  const source t(plain);
  const auto advised = advise_all(t, figures(t, {{numeric::bf16, 1}}), {narrow});
  for (const question& q : advised[0].list.not_measured)
    CHECK(q.kind != "type");
}

TEST_CASE("a setting that was tried is said with what it gave") {
  const run r = block();
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}});
  profile tried = ran("onnxruntime", 4.1);
  tried.settings["execution_mode"] = "parallel";
  const advice_list l = advise_all(s, all, {ran("onnxruntime", 4), tried})[0].list;
  CHECK(said(l.not_worth, "setting") == "execution_mode=parallel: 4.10 ms in place of 4.00 ms\n");
  tried.latency_ns = {3e6, 3e6};
  const advice_list faster = advise_all(s, all, {ran("onnxruntime", 4), tried})[0].list;
  const item* i = of_id(faster, "setting/execution_mode=parallel");
  REQUIRE(i != nullptr);
  CHECK(i->how.kind == way::setting);
  CHECK(i->check == "benanza_measure_framework onnxruntime block.onnx --threads 1 --set "
                    "execution_mode=parallel");
}

TEST_CASE("of operators below what a slow profiler can see nothing is advised") {
  const run r = block();
  const source s(r);
  const auto all = figures(s, {{numeric::f32, 1}});
  profile p = ran("onnxruntime", 3);
  const auto op = [&](const std::string& name, double us) {
    p.operators.push_back({.name = name, .type = "Op"});
    p.operators.back().ns = {us * 1000, us * 1000};
  };
  op("node0", 1500);
  op("node1", 300); // a Relu of 9 us
  op("node2", 130);
  op("node3", 100);
  op("node4", 100);
  op("node5", 400);
  op("pad", 90);
  const advice_list clear = advise_all(s, all, {p})[0].list;
  CHECK(of_id(clear, "framework/added/pad") == nullptr);
  CHECK(of_id(clear, "framework/added/Op") != nullptr);
  CHECK(of_id(clear, "framework/between_operators") != nullptr);
  p.profiled_ns = {6e6, 6e6}; // 3 ms more for 7 operators
  for (auto& o : p.operators)
    for (double& ns : o.ns)
      ns *= 2;
  const std::vector<profile> given{p};
  const std::vector<advised> slowed = advise_all(s, all, given);
  const comparison& c = slowed[0].frameworks[0];
  CHECK(c.profiler.pace == doctest::Approx(3e6 / (6e6 - 7 * most_event_ns)));
  CHECK(c.profiler.unplaced_ns == doctest::Approx(2 * (1 - c.profiler.pace) * 3e6 / 7));
  CHECK(c.much_blurred());
  CHECK(of_id(slowed[0].list, "framework/") == nullptr);
  for (const item& i : slowed[0].list.items)
    CHECK(i.nodes == std::vector{0}); // the only one that takes more than that
}
} // namespace test_of_other_runs
