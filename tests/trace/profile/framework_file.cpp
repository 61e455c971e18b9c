// SPDX-License-Identifier: Apache-2.0
// Files of benanza_measure_framework, and how profiles become one.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

using namespace profile_text;

TEST_CASE("framework file: runs, traces, and what operators represent") {
  const profile p = read_profile(framework_file(), "ort.json");
  CHECK(p.framework == "onnxruntime");
  CHECK(p.version == "1.32.0");
  CHECK(p.model == "tiny");
  CHECK(p.precision == "f32");
  CHECK(p.threads == 1);
  CHECK(p.batch == 2);
  CHECK(p.source == "ort.json");
  CHECK(p.latency_ns == std::vector<double>{31'000, 29'000.5});
  CHECK(p.profiled_ns == std::vector<double>{30'000});
  CHECK(p.first_ns == 110'000);
  const profiled_operator& conv = of_name(p, "r1_nchwc");
  CHECK(conv.ns == std::vector<double>{14'000});
  CHECK(conv.stands_for == std::vector<std::string>{"conv1", "bn1", "relu1"});
  CHECK(conv.makes == std::vector<std::string>{"r1"});
}

TEST_CASE("framework file: runs alone") {
  const profile p = read_profile(
      R"({"schema":"benanza-framework","schema_version":3,"framework":"openvino","framework_version":"2026.4",
"model":{"file":"a/b.onnx"},"options":{"threads":2,"batch":null,"dims":{"past":512,"odd":-1,"worse":"x"},
"precision":"int8 and f32"},"samples_ns":[5,"6"]})",
      "ov.json");
  CHECK(p.latency_ns == std::vector<double>{5, 6});
  CHECK(p.operators.empty());
  CHECK(p.precision == "int8 and f32");
  CHECK(p.dims == std::map<std::string, std::int64_t>{{"past", 512}});
}

TEST_CASE("framework file: the nodes of llama.cpp") {
  const auto file = [](const std::string& nodes, const std::string& runs) {
    return R"({"schema":"benanza-framework","schema_version":3,"framework":"llamacpp","samples_ns":[9000],
"model":{"file":"m.gguf"},"options":{"batch":1},"traces":[{"format":"ggml-nodes","json":{"nodes":)" +
           nodes + R"(,"runs":)" + runs + R"(,"run_ns":[11000,12000]}}]})";
  };
  const std::string nodes =
      R"([{"name":"norm-0","type":"RMS_NORM","kernel":"","stands_for":["blk.0.attn_norm"]},
{"name":"Qcur-0","type":"MUL_MAT","kernel":"q4_K","stands_for":["blk.0.attn_q"]},{"name":"x"}])";
  const profile p = read_profile(file(nodes, "[[10,2000,3],[11,2001,4]]"), "l.json");
  CHECK(p.framework == "llamacpp");
  CHECK(p.profiled_ns == std::vector<double>{11'000, 12'000});
  CHECK(p.overlapping == false);
  const profiled_operator& product = of_name(p, "Qcur-0");
  CHECK(product.ns == std::vector<double>{2000, 2001});
  CHECK(product.kernel == "q4_K");
  CHECK(product.stands_for == std::vector<std::string>{"blk.0.attn_q"});
  CHECK(of_name(p, "x").stands_for.empty());
  for (const char* runs :
       {"[[10,2000]]", "[7]", "[[10,2000,-3]]", "[[10,2000,\"x\"]]", "[]", "3"}) {
    CAPTURE(runs);
    CHECK_THROWS_AS((void)read_profile(file(nodes, runs), "l.json"), benanza::error);
  }
  CHECK_THROWS_WITH_AS((void)read_profile(file("[]", "[[]]"), "l.json"),
                       doctest::Contains("no nodes that ran"), benanza::error);
}

TEST_CASE("framework file: a run on a GPU is one, also where its traces say nothing else") {
  const std::string text =
      R"({"schema":"benanza-framework","schema_version":3,"framework":"pytorch","samples_ns":[9000],
"model":{"file":"m.onnx"},"options":{"device":"gpu","batch":1},"traces":[{"format":"pytorch-trace","json":{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":1,"dur":9,"args":{"External id":3}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":4,"args":{"External id":3,"stream":7,"device":0}}]}}]})";
  const profile p = read_profile(text, "torch.json");
  CHECK(p.device == "gpu");
  for (const std::string& warning : p.warnings)
    CHECK(warning.find("different devices") == warning.npos);
  CHECK(p.operators[0].ns == std::vector<double>{4'000});
}

TEST_CASE("framework file: rows of OpenVINO's API, of which the first run is cold") {
  const std::string text =
      R"({"schema":"benanza-framework","schema_version":3,"framework":"openvino","samples_ns":[9000],"traces":[
{"format":"openvino-profiling","json":{"runs":[
 [{"name":"conv2","type":"Convolution","exec_type":"brg_f32","status":"Status.EXECUTED","real_us":50}],
 [{"name":"conv2","type":"Convolution","exec_type":"brg_f32","status":"EXECUTED","real_us":8.5},
  {"name":"r","type":"Relu","exec_type":"undef","status":"NOT_RUN","real_us":0}],
 [{"name":"conv2","type":"Convolution","exec_type":"brg_f32","status":"EXECUTED","real_us":9}]],"run_ns":[70000,12000,13000]}}]})";
  const profile p = read_profile(text, "ov.json");
  CHECK(names(p) == std::vector<std::string>{"conv2"});
  CHECK(p.operators[0].ns == std::vector<double>{8'500, 9'000});
  CHECK(p.first_ns == 70'000);
  CHECK(p.profiled_ns == std::vector<double>{12'000, 13'000});
}

TEST_CASE("framework file: ranges of PyTorch's trace that have the names of operators are these") {
  std::string trace(pytorch_cpu);
  for (std::size_t at = 0;
       (at = trace.find("\"cpu_op\", \"name\": \"aten::linear", at)) != trace.npos;)
    trace.replace(at, 31, "\"user_annotation\", \"name\": \"/fc");
  const profile p = read_profile(
      R"({"schema":"benanza-framework","schema_version":3,"framework":"pytorch","samples_ns":[9000],
"graph":{"inputs":["x"],"nodes":[{"name":"/MatMul","type":"MatMul","inputs":["x","w"],"outputs":["m"]},
{"name":"/Add","type":"Add","inputs":["m","b"],"outputs":["y"]}],
"operators":[{"name":"/fc","type":"Linear","inputs":["x"],"outputs":["y"]}]},
"traces":[{"format":"pytorch-trace","json":)" +
          trace + "}]}",
      "torch.json");
  REQUIRE(names(p) == std::vector<std::string>{"/fc"});
  const profiled_operator& o = p.operators[0];
  CHECK(o.type == "Linear");
  CHECK(o.stands_for.size() == 2);
  CHECK(o.ns.at(0) == doctest::Approx(42'000)); // of the view and of the product in it
  CHECK(o.kernel == "aten::addmm + aten::copy_");
  CHECK(o.operands.size() == 3);
}

TEST_CASE("framework file: what it cannot be is refused in a line") {
  const auto with = [](std::string_view what, std::string_view other) {
    std::string text = framework_file();
    return refusal(text.replace(text.find(what), what.size(), other));
  };
  CHECK(with("\"schema_version\":3", "\"schema_version\":4").find("newer") != std::string::npos);
  CHECK(with("\"schema_version\":3", "\"schema_version\":2").find("write one") !=
        std::string::npos);
  CHECK(with("\"schema_version\":3", "\"schema_version\":[]").find("version") != std::string::npos);
  CHECK(with("onnxruntime-profile", "x\\u001b[31m").find("format x?[31m") != std::string::npos);
  CHECK(with("\"framework\":\"onnxruntime\"", "\"framework\":\"openvino\"").find("different") !=
        std::string::npos);
  CHECK(with("\"framework\":\"onnxruntime\",", "").find("no framework") != std::string::npos);
  const std::string text = framework_file();
  CHECK(refusal(text.substr(0, text.size() - 5)).find("no whole JSON") != std::string::npos);
}

TEST_CASE("read_profile: what is no profile is refused in a line") {
  for (const std::string_view text : {"", " \n", "hello", "[]", "{}", "[1,2]",
                                      "{\"context\":{},\"benchmarks\":[]}", "<html></html>",
                                      "\x7f"
                                      "ELF",
                                      "[[[[[[[[[[[[[["}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(refusal(text).empty());
  }
  CHECK(refusal("").find("empty") != std::string::npos);
  CHECK(refusal("hello").find("ONNX Runtime") != std::string::npos);
  CHECK(refusal(std::string(100'000, '[')) != "");
  CHECK(refusal("[{\"cat\":\"Node\",\"args\":" + std::string(100'000, '[')).find("nested") !=
        std::string::npos);
  CHECK_THROWS_AS(benanza::trace::read_profile_file("/nowhere/x.json"), benanza::error);
  CHECK_THROWS_AS(benanza::trace::read_profile_file("/"), benanza::error);
}

#ifdef BENANZA_WITH_ZLIB
TEST_CASE("read_profile: a file that was compressed by gzip, whole and cut off") {
  // [{"cat":"Node","name":"a_kernel_time","ts":2,"dur":3,"args":{"op_name":"Relu"}},
  //  {"cat":"Session","name":"model_run","ts":1,"dur":9}]
  constexpr char bytes[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x45\xcc\x3b\x0a\x80\x30\x14\x44\xd1\xbd\x4c\x9d"
      "\x46\xad\xcc\x22\x2c\xb4\x14\x09\xc1\x3c\x24\x98\x8f\xe4\x53\x49\xf6\x6e\x84\x88\xe5\x5c"
      "\x98\xb3\xde\xd8\x65\x02\xc7\xe4\x15\x81\xc1\x49\x4b\x75\x49\x71\x52\x70\x64\x44\xd2\xf6"
      "\xcd\x29\x82\xf7\x0c\x2a\x07\xf0\x81\x41\x86\xa3\x86\x1b\xfe\x12\xed\x30\x93\xc9\x28\x85"
      "\x7d\xdc\x42\x31\x6a\xef\x7e\xd1\x56\xdf\x88\x90\x5d\xd3\xba\xa6\x8d\x65\x7b\x00\x43\x5b"
      "\xb1\x5d\x84\x00\x00\x00";
  const std::string_view whole(bytes, sizeof bytes - 1);
  const profile p = read_profile(whole, "a.json.gz");
  CHECK(of_name(p, "a").ns == std::vector<double>{3'000});
  CHECK_FALSE(warns(p, "compressed"));
  CHECK(warns(read_profile(whole.substr(0, whole.size() - 4), "a.json.gz"), "compressed"));
  for (std::size_t i = 0; i < whole.size(); ++i)
    refusal(whole.substr(0, i));
}
#endif

TEST_CASE("join: profiles of different frameworks, and two of a kind, are refused") {
  const profile ort = read_profile(two_runs(), "ort.json");
  const profile openvino = read_profile(openvino_json, "ov.json");
  CHECK_THROWS_AS(join({ort, openvino}), benanza::error);
  CHECK_THROWS_AS(join({ort, ort}), benanza::error);
  CHECK_THROWS_AS(join(std::vector<profile>{}), benanza::error);
  CHECK(join({ort}).operators == ort.operators);
}

TEST_CASE("join: facts in which files differ are warned of") {
  const profile counters = read_profile(openvino_csv, "counters.csv");
  const profile report = read_profile(openvino_report, "report.csv");
  CHECK(warns(join({counters, report}), "different precisions: bf16, and f32"));
}

TEST_CASE(
    "framework file: what it says of an operator's nodes counts, not the framework's own names") {
  const std::string text =
      R"({"schema":"benanza-framework","schema_version":3,"framework":"openvino","samples_ns":[9000],"traces":[
{"format":"openvino-profiling","json":{"runs":[
[{"name":"Multiply_3870","type":"Convolution","exec_type":"jit_f32","status":"EXECUTED","real_us":9}],
[{"name":"Multiply_3870","type":"Convolution","exec_type":"jit_f32","status":"EXECUTED","real_us":8}]],"run_ns":[9500,8500]}},
{"format":"openvino-exec-graph","text":"<net name=\"m\" version=\"11\"><layers><layer id=\"0\" name=\"Multiply_3870\" type=\"Convolution\"><data execOrder=\"0\" execTimeMcs=\"8\" originalLayersNames=\"Multiply_3870,bn1,relu1,more\" primitiveType=\"jit_f32\" runtimePrecision=\"f32\"/></layer></layers><edges/></net>"}],
"graph":{"inputs":["x"],"nodes":[{"name":"conv1","type":"Conv","inputs":["x","w"],"outputs":["c"]},
{"name":"bn1","type":"BatchNormalization","inputs":["c","s"],"outputs":["b"]},{"name":"relu1","type":"Relu","inputs":["b"],"outputs":["r"]}],
"operators":[{"name":"Multiply_3870","type":"Convolution","inputs":["x"],"outputs":["Multiply_3870:0"],"originals":["bn1","relu1","conv1"]}]}})";
  const profile p = read_profile(text, "ov.json");
  CHECK(of_name(p, "Multiply_3870").stands_for ==
        std::vector<std::string>{"conv1", "bn1", "relu1"});
}
