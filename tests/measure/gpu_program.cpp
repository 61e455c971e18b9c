// SPDX-License-Identifier: Apache-2.0
// The benchmark program on a GPU whose every time and failure is known beforehand, and on a machine
// that has none.
#include "gpu_engines.hpp"

#include <benanza/backend/cudnn/device_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace benanza::test;
using nlohmann::json;

TEST_CASE("gpu: times are what the GPU takes, hot, with cold weights and with cold operands") {
  const auto engines = engines_of(small_conv);
  REQUIRE(engines.size() >= 2);
  const fake_run r({small_conv},
                   "cost 20us\ncold 3us\n" + engine(engines[1], "cost 12us") +
                       engine(engines[1], "cold 5us"),
                   cudnn_json + "--states hot,coldw,cold");
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  REQUIRE(r.rows.size() >= 3 * engines.size());
  std::set<std::string> ids;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.algorithm);
    CAPTURE(row.state);
    CHECK(row.error == "");
    const bool other = row.engine == engines[1];
    const double cost = other ? 12e3 : 20e3, more = other ? 5e3 : 3e3;
    const double wanted = row.state == "hot"     ? cost
                          : row.state == "coldw" ? cost + more
                                                 : cost + 2 * more;
    CHECK(is(row.min_ns, wanted));
    CHECK(is(row.median_ns, wanted));
    CHECK(row.notes.find("launched one by one") == std::string::npos);
    ids.insert(row.algorithm);
  }
  CHECK(r.rows.size() == 3 * ids.size());
  CHECK(r.tidy());
  REQUIRE(r.records.size() == 1);
  CAPTURE(r.records[0].dump());
  CHECK(r.records[0]["graphs_launched"] > 0);
  CHECK(r.records[0]["captures_failed"] == 0);
}

TEST_CASE("gpu: what is recorded of one state stays while another one is measured") {
  const auto captures = [](const std::string& states) {
    const fake_run r({small_conv}, "cost 20us", cudnn_json + "--states " + states);
    REQUIRE(r.records.size() == 1);
    return r.records[0]["captures"].get<std::int64_t>();
  };
  const std::int64_t hot = captures("hot"), cold_weights = captures("coldw");
  CHECK(hot > 0);
  CHECK(captures("hot,coldw") <= hot + cold_weights);
}

TEST_CASE("gpu: a configuration of an engine has its own time") {
  const std::string id = configuration_of(small_conv);
  const fake_run r({small_conv}, "cost 20us\nid " + id + " cost 9us", cudnn_json + "--states hot");
  int seen = 0;
  for (const gpu_row& row : r.rows) {
    const bool it = row.algorithm.ends_with(id);
    seen += it;
    CHECK(is(row.min_ns, it ? 9e3 : 20e3));
  }
  CHECK(seen >= 1);
}

TEST_CASE("gpu: what cannot be captured is launched one by one, and says so") {
  const fake_run r({small_conv}, "cost 20us\nno-capture", cudnn_json + "--states hot");
  CHECK(r.ended.status == 0);
  REQUIRE(!r.rows.empty());
  for (const gpu_row& row : r.rows) {
    CHECK(is(row.min_ns, 20e3));
    CHECK(row.notes.find("launched one by one, not replayed") != std::string::npos);
  }
  REQUIRE(r.tidy());
  CHECK(r.records[0]["graphs_launched"] == 0);
  CHECK(r.records[0]["captures_failed"] > 0);
}

TEST_CASE("gpu: what is launched one by one races against nothing that is replayed") {
  const auto engines = engines_of(small_conv);
  REQUIRE(engines.size() >= 4);
  const fake_run r({small_conv},
                   "cost 20us\n" + engine(engines[0], "no-capture") +
                       engine(engines[0], "cost 300us") + engine(engines[1], "no-capture") +
                       engine(engines[1], "cost 1us") + engine(engines[2], "cost 300us"),
                   cudnn_json + "--states hot");
  std::map<std::int64_t, int> timed;
  for (const gpu_row& row : r.rows) {
    if (row.engine < 0 || row.engine > engines[3]) continue;
    CAPTURE(row.algorithm);
    ++timed[row.engine];
    const bool launched = row.engine == engines[0] || row.engine == engines[1];
    CHECK(holds(row.notes, "launched one by one, not replayed") == launched);
    CHECK(row.stop_reason.starts_with("raced out") == (row.engine == engines[2]));
  }
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(timed[engines[i]] > 0);
  CHECK(r.tidy());
}

TEST_CASE("gpu: each failure costs its own cases, and is named") {
  const auto engines = engines_of(small_conv);
  REQUIRE(engines.size() >= 3);
  const fake_run r({small_conv},
                   "cost 20us\n" + engine(engines[0], "refuses-to-run") +
                       engine(engines[1], "wrong"),
                   cudnn_json);
  CHECK(r.ended.status == 1);
  CHECK(one_line(r.ended.err));
  int refused = 0, wrong = 0, timed = 0;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.algorithm);
    if (row.engine == engines[0]) {
      CHECK(row.error.find("an execution failed") != std::string::npos);
      CHECK(row.error.find("scripted not to run") != std::string::npos);
      ++refused;
    } else if (row.engine == engines[1]) {
      CHECK(row.error.starts_with("wrong result: output 0 "));
      ++wrong;
    } else {
      CHECK(row.error == "");
      CHECK(row.min_ns > 0);
      ++timed;
    }
  }
  CHECK(refused >= 2);
  CHECK(wrong >= 2);
  CHECK(timed >= 2);
  CHECK(r.tidy());
}

TEST_CASE("gpu: an engine that is listed, and whose plan cannot be made, fails alone") {
  const std::string relu = "Relu/1x4x8x8"; // its engines are compiled at run time
  const std::string bad = configuration_of(relu);
  const fake_run r({relu}, "id " + bad + " unsupported", cudnn_json);
  CHECK(r.ended.status == 1);
  int failed = 0;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.algorithm);
    CHECK(row.error.empty() == (row.algorithm != bad));
    if (row.error.empty()) continue;
    CHECK(holds(row.error, "scripted not to be supported"));
    ++failed;
  }
  CHECK(failed >= 1);
  CHECK(failed < std::ssize(r.rows));
  CHECK(r.tidy());
}

TEST_CASE("gpu: memory that cannot be had costs the cases that need it") {
  // Enough to empty the L2 cache and for the operands, and not for many copies of the weights.
  const std::int64_t l2 = std::int64_t{benanza::backend::cudnn::find_device("h200")->l2_kib} << 10;
  const fake_run r({"Conv/1x4x8x8-8x3x3-s1-p1"}, "malloc-limit " + std::to_string(4 * l2 + 300'000),
                   cudnn_json);
  CHECK(r.ended.status == 1);
  int hot = 0, cold = 0;
  for (const gpu_row& row : r.rows) {
    hot += row.state == "hot" && row.error.empty();
    cold += row.state == "coldw" && row.error == "out of memory";
  }
  CHECK(hot > 0);
  CHECK(cold > 0);
  CHECK(r.tidy());
}

TEST_CASE("gpu: the analyzer chooses what is scripted to be fastest") {
  const std::string layer = "Conv/1x1x28x28-8x5x5-s1-p2";
  const auto engines = engines_of(layer);
  REQUIRE(engines.size() >= 2);
  const std::int64_t fastest = engines.back();
  const scratch_folder s("chosen");
  const fake_run r({}, "cost 20us\n" + engine(fastest, "cost 4us"), cudnn_json,
                   BENANZA_BENCH_BINARY);
  CHECK((r.ended.status == 0 || r.ended.status == 1));
  std::ofstream(s / "run.json") << r.ended.out;
  const outcome o =
      shell(std::string(BENANZA_ANALYZE_BINARY) + " --format json " + (s / "run.json"));
  CAPTURE(o.err);
  CAPTURE(r.ended.err);
  REQUIRE(json::accept(o.out));
  const json analysis = json::parse(o.out);
  bool found = false;
  for (const auto& a : analysis.at("analyses"))
    for (const auto& l : a.at("layers")) {
      if (l.at("layer") != layer || !l.contains("bound")) continue;
      found = true;
      for (const char* which : {"bound", "prediction"}) {
        CHECK(engine_in(l.at(which).at("algorithm")) == fastest);
        CHECK(is(l.at(which).at("ns").get<double>(), 4e3));
      }
    }
  CHECK(found);
  CHECK(r.tidy());
}

TEST_CASE("gpu: every kind of layer computes what ONNX says, in every type") {
  // Graphs are written by us and computed by the fake from cuDNN's documentation: a second opinion
  // besides the reference. Engines differ in name only here: a few will do.
  const std::string one_each = " --benchmark_filter='^[A-Z].*/cudnn/"
                               "([a-z0-9-]*:)?(eng[0-35]|eng[89]_k24=[0-9]|lrn|softmax:[a-z]+|"
                               "transform|reduce_tensor|legacy:gemm:.*)/'";
  const std::vector<std::string> products{"Conv/1x8x7x7-16x3x3-s1-p1",
                                          "Conv/1x8x7x9-8x1x3-s1-p0x1",
                                          "Conv/1x8x8x8-8x3x3-s2-p0x0x1x1",
                                          "Conv/2x8x7x7-8x3x3-s1-p2-d2",
                                          "Conv/1x8x7x7-8x3x3-s1-p1-g8",
                                          "Conv/1x8x20-8x3-s2-p1x0",
                                          "Conv/1x4x5x5x5-8x3x3x3-s1",
                                          "Conv/1x3x7x7-10x3x3-s1-p1-b",
                                          "Conv+Add+Relu/1x8x7x7-8x3x3-s1-p1-b",
                                          "ConvTranspose/1x8x5x5-8x4x4-s2-p1",
                                          "ConvTranspose/1x8x5x5-8x3x3-s2-p1-op1-b",
                                          "ConvWeightGradient/2x8x7x7-8x3x3-s2-p1",
                                          "ConvWeightGradient/2x8x7x9-16x1x3-s1-p0x1",
                                          "Gemm/4x24x16-tb-c1x24-w",
                                          "Gemm/8x16x32-ta",
                                          "MatMul/3x8x16-3x16x8",
                                          "MatMul/1x8x16-16x24-w",
                                          "Gemm+Relu/8x24x16-tb-c1x24-w"};
  const std::vector<std::string> whole{"LayerNormalization/2x5x24-a2-b",
                                       "LayerNormalization/6x20-a1",
                                       "LayerNormalization/2x3x4x6-a2-b",
                                       "RMSNormalization/2x5x24-a2",
                                       "Add+LayerNormalization/2x5x128-a2-b-sum",
                                       "Add+RMSNormalization/6x256-a1",
                                       "InstanceNormalization/2x8x6x6",
                                       "InstanceNormalization/1x8x20",
                                       "GroupNormalization/2x8x6x6-g8",
                                       "Attention/1x4x16x32",
                                       "Attention/2x4x16x32-v16",
                                       "Attention/1x4x16x32-kv2-k24",
                                       "Attention/2x4x10x32-kv2-bshd",
                                       "Attention/1x4x16x32-causal",
                                       "Attention/1x4x8x32-k24-causal-bshd",
                                       "Attention/2x4x16x32-mask1x1x16x16",
                                       "Attention/2x4x16x32-kv1-causal-mask2x4x16x16",
                                       "Resize/2x8x5x7-2x8x10x21",
                                       "Resize/1x8x5x6-1x8x5x12",
                                       "Upsample/1x8x5x7-1x8x15x21-asymmetric"};
  std::vector<std::string> all = products;
  all.insert(all.end(), whole.begin(), whole.end());
  for (const char* layer : {"MaxPool/1x8x11x11-3x3-s2-p1",
                            "MaxPool/1x8x10x10-3x3-s2-ceil",
                            "AveragePool/1x8x9x9-3x3-s1-p1",
                            "AveragePool/1x8x9x9-3x3-s1-p1-ip",
                            "GlobalAveragePool/1x8x7x7",
                            "GlobalMaxPool/1x8x7x7",
                            "BatchNormalization/1x8x6x6",
                            "LRN/1x8x6x6-n5",
                            "Softmax/4x50-a1",
                            "LogSoftmax/4x50-a1",
                            "Softmax/2x8x5-a1",
                            "Transpose/2x3x4x5-o0x2x3x1",
                            "ReduceMean/1x8x6x6-a2x3",
                            "ReduceSum/8x64-a1",
                            "ReduceMax/8x64-a1",
                            "ReduceMin/8x64-a0",
                            "ReduceL1/8x64-a1",
                            "ReduceL2/8x64-a1",
                            "ReduceSumSquare/8x64-a1",
                            "PRelu/8x6x8-8",
                            "Sum/1x8x6x6-n3",
                            "Mean/1x8x6x6-n3",
                            "Sub/8x6x8-1x1x8",
                            "Mul/8x6x8-8",
                            "Greater/1x8x6x6",
                            "Sigmoid+Mul/1x8x6x6",
                            "reorder/1x8x6x6-plain-channels_last",
                            "reorder/1x8x6x6-channels_last-plain"})
    all.emplace_back(layer);
  for (const char* f : {"Relu", "LeakyRelu", "Selu", "HardSwish", "Softplus", "Softsign", "Mish",
                        "Gelu", "FastGelu", "Clip", "Erf", "Pow", "Min"})
    all.push_back(std::string(f) + "/1x8x6x6");
  const auto computed = [&](const std::vector<std::string>& layers, const std::string& types) {
    const fake_run r(layers, "",
                     cudnn_json + "--effort quick --states hot --types " + types + one_each);
    CAPTURE(types);
    std::set<std::string> timed;
    for (const gpu_row& row : r.rows) {
      CAPTURE(row.name);
      CHECK(row.error == "");
      timed.insert(row.name.substr(0, row.name.find("/cudnn/")));
    }
    CHECK(r.tidy());
    return timed;
  };
  const auto floats = computed(all, "f16"),
             narrow = computed({products.begin(), products.begin() + 4}, "f32,bf16,s8s8s8,e4m3");
  const std::vector<std::string> codes{"Conv+Add+Relu/1x16x7x7-16x3x3-s1-p1-b",
                                       "Gemm+Relu/16x32x32-tb-c1x32-w",
                                       "MaxPool/1x16x11x11-3x3-s2-p1",
                                       "GlobalAveragePool/1x16x7x7",
                                       "Relu/1x16x6x6",
                                       "Sigmoid/1x16x6x6",
                                       "Add/1x16x6x6"};
  const auto whole_numbers = computed(codes, "s8s8s8");
  for (const std::string& layer : codes) {
    CAPTURE(layer);
    CHECK(whole_numbers.contains(layer + "/s8s8s8"));
  }
  const auto others = computed(whole, "f32,tf32,bf16");
  for (const std::string& layer : whole) {
    CAPTURE(layer);
    CHECK(floats.contains(layer + "/f16"));
    CHECK(others.contains(layer + "/bf16"));
    CHECK(others.contains(layer + (layer.starts_with("Attention") ? "/tf32" : "/f32")));
  }
  for (const char* part : {"/f32", "/bf16", "/s8s8s8", "/e4m3"})
    CHECK(std::any_of(narrow.begin(), narrow.end(),
                      [part](const std::string& name) { return name.ends_with(part); }));
  std::set<std::string> missing;
  for (const std::string& layer : all)
    if (!floats.contains(layer + "/f16")) missing.insert(layer);
  CAPTURE(nlohmann::json(missing).dump());
  CHECK(missing.size() < all.size() / 8);
}

TEST_CASE("gpu: the device describes itself as others can use it") {
  const fake_run r({}, "", "--describe-device");
  CHECK(r.ended.status == 0);
  CHECK(json::accept(r.ended.out));
  CHECK(json::parse(r.ended.out)["deviceVer"] == 900);
  CHECK(r.tidy());
}

TEST_CASE("no gpu: cases are listed for a described one, and each says why it has no time" *
          doctest::skip(has_driver())) {
  const std::string bench = BENANZA_BENCH_BINARY;
  const outcome listed = shell(bench + " --backends cudnn --benchmark_list_tests");
  CHECK(listed.status == 0);
  CHECK(holds(listed.out, "Conv/1x1x28x28-8x5x5-s1-p2/f32/cudnn/"));
  const outcome older = shell(bench + " --backends cudnn --target v100 --benchmark_list_tests");
  CHECK(older.status == 0);
  CHECK(older.out != listed.out);

  const outcome o = shell(bench + " --backends cudnn --benchmark_format=json "
                                  "--benchmark_filter=Conv/1x1x28x28-8x5x5-s1-p2/");
  CHECK(o.status == 1);
  REQUIRE(json::accept(o.out));
  int cases = 0;
  const json result = json::parse(o.out);
  for (const auto& b : result.at("benchmarks")) {
    CHECK(holds(b.at("error_message"), "no NVIDIA driver"));
    ++cases;
  }
  CHECK(cases > 0);
}

TEST_CASE("no gpu: a plain run leaves cuDNN out, says so in its result, and the others run" *
          doctest::skip(has_driver())) {
  const outcome o = shell(std::string(BENANZA_BENCH_BINARY) +
                          " --benchmark_min_time=0.002 --benchmark_format=json "
                          "--benchmark_filter=^Relu/");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  REQUIRE(json::accept(o.out));
  std::set<std::string> backends;
  const json result = json::parse(o.out);
  const json& measuring = result.at("context").at("benanza").at("provenance").at("measuring");
  CHECK(holds(measuring.at("left_out"), "cudnn: no NVIDIA driver"));
  for (const auto& b : result.at("benchmarks"))
    backends.insert(b.at("backend").get<std::string>());
  CHECK_FALSE(backends.empty());
  CHECK_FALSE(backends.contains("cudnn"));
}

TEST_CASE("no gpu: a described device that is none is refused in one line" *
          doctest::skip(has_driver())) {
  const outcome o = shell(std::string(BENANZA_BENCH_BINARY) + " --backends cudnn --target h2000");
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(holds(o.err, "h2000"));
  const outcome described = shell(std::string(BENANZA_BENCH_BINARY) + " --describe-device");
  CHECK(described.status == 2);
  CHECK(one_line(described.err));
  CHECK(holds(described.err, "no NVIDIA driver"));
}
