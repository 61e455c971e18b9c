// SPDX-License-Identifier: Apache-2.0
// Reports and graphs of OpenVINO.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

using namespace profile_text;
using benanza::shape;

TEST_CASE("openvino profile: counters of the layers that ran") {
  const profile p = read_profile(openvino_csv, "counters.csv");
  CHECK(p.framework == "openvino");
  CHECK(names(p) == std::vector<std::string>{"Multiply_3870", "conv2", "y"});
  CHECK(p.operators[0].type == "Convolution");
  CHECK(p.operators[0].kernel == "brgconv_avx512_bf16");
  CHECK(p.operators[0].precision == "bf16");
  CHECK(p.operators[0].ns == std::vector<double>{26'000});
  CHECK(p.operators[2].precision == "f32");
}

TEST_CASE("openvino profile: the type of most of its time is that of the run") {
  CHECK(read_profile(openvino_csv, "counters.csv").precision == "bf16");
  CHECK(read_profile(openvino_json, "counters.json").precision != "bf16");
}

TEST_CASE("openvino profile: each infer request is a run, and names may hold the separator") {
  const std::string head = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n";
  const profile p =
      read_profile(head + "a;b;EXECUTED;Add;jit_f32;0.5;0.5\nTotal;;;;0.5;0.5\n" + head +
                       "a;b;EXECUTED;Add;jit_f32;0.25;0.5\nc;Status.EXECUTED;"
                       "Relu;jit_f32;1;1\nTotal;;;;0.5;0.5\n",
                   "counters.csv");
  CHECK(of_name(p, "a;b").ns == std::vector<double>{500'000, 250'000});
  CHECK(of_name(p, "c").ns == std::vector<double>{0, 1'000'000});
  CHECK_FALSE(warns(p, "cut off"));
  const profile cut = read_profile(head + "a;EXECUTED;Add;jit_f32;0.5;0.5\nb;EXEC", "counters.csv");
  CHECK(names(cut) == std::vector<std::string>{"a"});
  CHECK(warns(cut, "cut off"));
}

TEST_CASE("openvino profile: counters as JSON, where numbers are texts") {
  const profile p = read_profile(openvino_json, "counters.json");
  CHECK(names(p) == std::vector<std::string>{"conv2"});
  CHECK(p.operators[0].ns == std::vector<double>{11'000});
  // average_counters without -pc: a single node that did not run.
  const std::string none(openvino_json.substr(0, openvino_json.find(",\n{\"name\": \"conv2\"")));
  CHECK(refusal(none + "]}}").find("no layer of these counters") != std::string::npos);
  CHECK(refusal(none + "]}}").find("-pc") != std::string::npos);
}

TEST_CASE("openvino profile: the report gives a rounded median") {
  const profile p = read_profile(openvino_report, "report.csv");
  CHECK(p.latency_ns == std::vector<double>{40'000});
  CHECK(p.model == "tiny");
  CHECK(p.threads == 2);
  CHECK(p.batch == 2);
  CHECK(p.precision == "f32");
  CHECK(p.device == "cpu");
  CHECK(warns(p, "rounded"));
  // With counters, it is no latency without a profiler.
  std::string counted(openvino_report);
  counted.insert(counted.find("-nthreads"), "-pc;\n");
  const profile q = read_profile(counted, "report.csv");
  CHECK(q.latency_ns.empty());
  CHECK(q.profiled_ns == std::vector<double>{40'000});
  const profile j = read_profile(
      R"~({"cmd_options": {"-m": "tiny.onnx"}, "execution_results": {"latency (ms)": "0.04"}})~",
      "r");
  CHECK(j.latency_ns == std::vector<double>{40'000});
}

#ifdef BENANZA_WITH_PUGIXML
TEST_CASE("openvino profile: the graph says what each layer represents") {
  const profile p = read_profile(openvino_graph, "graph.xml");
  CHECK(names(p) == std::vector<std::string>{"reorder", "Multiply_3870", "conv2"});
  const profiled_operator& conv = of_name(p, "Multiply_3870");
  CHECK(conv.stands_for == std::vector<std::string>{"Multiply_3870", "bn1", "relu1"});
  CHECK(conv.kernel == "brgconv_avx512_f32");
  CHECK(conv.precision == "f32");
  CHECK(conv.ns == std::vector<double>{22'000});
  REQUIRE(conv.results.size() == 1);
  CHECK(conv.results[0].type == "f32");
  CHECK(conv.results[0].dims == shape{2, 8, 32, 32});
  CHECK(of_name(p, "reorder").stands_for.empty());
}

TEST_CASE("openvino profile: a graph without times has all its layers, one cut off the first") {
  std::string text(openvino_graph);
  for (const std::string_view time : {"\"8\"", "\"22\"", "\"3\""})
    text.replace(text.find("execTimeMcs=" + std::string(time)) + 12, time.size(),
                 "\"not_executed\"");
  const profile p = read_profile(text, "graph.xml");
  CHECK(names(p) == std::vector<std::string>{"reorder", "w", "Multiply_3870", "conv2"});
  CHECK(p.operators[0].ns.empty());
  CHECK(warns(p, "no times"));
  const profile cut =
      read_profile(openvino_graph.substr(0, openvino_graph.find("<layer id=\"2\"")), "graph.xml");
  CHECK(names(cut) == std::vector<std::string>{"Multiply_3870", "conv2"});
  CHECK(warns(cut, "cut off"));
  CHECK(refusal("<net name=\"a\"><layers></layers></net>").find("no layer") != std::string::npos);
}

TEST_CASE("openvino profile: counters, graph and report become one profile") {
  const profile p =
      join({read_profile(openvino_graph, "graph.xml"), read_profile(openvino_json, "counters.json"),
            read_profile(openvino_report, "report.csv")});
  CHECK(p.latency_ns == std::vector<double>{40'000});
  CHECK(p.model == "tiny");
  CHECK(of_name(p, "conv2").stands_for == std::vector<std::string>{"conv2"});
  CHECK(of_name(p, "conv2").ns == std::vector<double>{11'000}); // of the counters
  CHECK(p.source == "counters.json, graph.xml, report.csv");
}
#endif
