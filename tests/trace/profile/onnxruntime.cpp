// SPDX-License-Identifier: Apache-2.0
// Profiles of ONNX Runtime: each oddity that one of its versions has.
#include "profile_text.hpp"

#include <benanza/trace/profile/blocked_tensor.hpp>

#include <doctest/doctest.h>

using namespace profile_text;
using benanza::shape;

TEST_CASE("onnxruntime profile: the first run is cold, and its times are not among the others") {
  const profile p = read_profile(two_runs(), "ort.json");
  CHECK(p.framework == "onnxruntime");
  CHECK(p.device == "cpu");
  CHECK(p.threads == 1);
  CHECK(p.first_ns == 110'000);
  CHECK(p.profiled_ns == std::vector<double>{30'000});
  CHECK(p.latency_ns.empty());
  CHECK(names(p) == std::vector<std::string>{"r1_nchwc", "sm"});
  const profiled_operator& conv = of_name(p, "r1_nchwc");
  CHECK(conv.type == "Conv");
  CHECK(conv.kernel == "CPUExecutionProvider");
  CHECK(conv.ns == std::vector<double>{14'000});
  REQUIRE(conv.operands.size() == 2);
  CHECK(conv.operands[1].type == "f32");
  CHECK(conv.operands[1].dims == shape{16, 3, 3, 3});
  REQUIRE(conv.results.size() == 1);
  CHECK(conv.results[0].dims == shape{2, 16, 32, 32});
  CHECK(p.overlapping == false);
  CHECK(p.warnings.empty());
}

TEST_CASE("onnxruntime profile: one warm run is given event by event") {
  const profile p = read_profile(two_runs(), "ort.json");
  REQUIRE(p.spans.size() == 3);
  CHECK(p.spans[0].level == benanza::trace::model_level);
  CHECK(p.spans[0].ns == 30'000);
  CHECK(p.spans[0].begin_ns == 0);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(p.spans[i].level == benanza::trace::layer_level);
    CHECK(p.spans[i].parent == 0);
    CHECK(p.spans[i].begin_ns >= 0);
  }
  CHECK(p.spans[1].name == "r1_nchwc");
  CHECK(p.spans[1].kind == "Conv");
  CHECK(p.spans[1].ns == 14'000);
}

TEST_CASE("onnxruntime profile: a single run is said to be cold") {
  const profile p =
      read_profile(ort({{"a_kernel_time", 5, 3, "Relu"}, {"model_run", 1, 10}}), "ort.json");
  CHECK(of_name(p, "a").ns == std::vector<double>{3'000});
  CHECK(p.first_ns == 10'000);
  CHECK(p.profiled_ns.empty());
  CHECK(warns(p, "cold"));
}

TEST_CASE("onnxruntime profile: fences of old versions are no executions") {
  const profile p = read_profile(ort({{"a_fence_before", 4, 1, "Relu"},
                                      {"a_kernel_time", 5, 3, "Relu"},
                                      {"a_fence_after", 8, 1, "Relu"},
                                      {"model_run", 1, 10}}),
                                 "ort.json");
  CHECK(names(p) == std::vector<std::string>{"a"});
  CHECK(p.operators[0].ns == std::vector<double>{3'000});
}

TEST_CASE("onnxruntime profile: names of arguments that old versions had") {
  std::string text = ort({{"a_kernel_time", 5, 3, "Relu", 1},
                          {"a_kernel_time", 9, 4, "Relu", 2},
                          {"model_run", 1, 20}});
  for (std::size_t at; (at = text.find("node_index")) != text.npos;)
    text.replace(at, 10, "exec_plan_index");
  const profile p = read_profile(text, "ort.json");
  REQUIRE(p.operators.size() == 2); // of one name, distinguished by the place
  CHECK(p.operators[1].ns == std::vector<double>{4'000});
}

TEST_CASE("onnxruntime profile: threads are seen in the statistics, or by the events themselves") {
  const std::string stats =
      R"("thread_scheduling_stats" : {"main_thread": {"core": -1}, "sub_threads": {"14": {"num_run": 0}, "15": {}}})";
  const profile p =
      read_profile(ort({{"a_kernel_time", 5, 3, "Relu", 1, 1, stats}, {"model_run", 1, 10}}), "f");
  CHECK(p.threads == 3);
  CHECK(p.overlapping == false);
  const profile parallel = read_profile(ort({{"a_kernel_time", 5, 30, "Relu", 1, 2},
                                             {"b_kernel_time", 6, 30, "Relu", 2, 3},
                                             {"SequentialExecutor::Execute", 2, 58, "", 0, 1},
                                             {"model_run", 1, 60}}),
                                        "f");
  CHECK(parallel.overlapping == true);
  CHECK(warns(parallel, "at the same time"));
  // Runs of different threads, one after the other, are none at the same time.
  const profile in_turn = read_profile(ort({{"a_kernel_time", 5, 3, "Relu", 1, 2},
                                            {"model_run", 1, 10, "", 0, 2},
                                            {"a_kernel_time", 25, 3, "Relu", 1, 3},
                                            {"model_run", 21, 10, "", 0, 3}}),
                                       "f");
  CHECK(in_turn.overlapping == false);
}

TEST_CASE(
    "onnxruntime profile: bodies run as often as they like, and are taken out of their node") {
  const profile p = read_profile(ort({{"a_kernel_time", 2, 1, "Relu", 1},
                                      {"model_run", 1, 10},
                                      {"body_kernel_time", 105, 3, "Add", 0},
                                      {"body_kernel_time", 110, 4, "Add", 0},
                                      {"loop_kernel_time", 103, 20, "Loop", 2},
                                      {"a_kernel_time", 124, 1, "Relu", 1},
                                      {"model_run", 100, 30},
                                      {"body_kernel_time", 205, 5, "Add", 0},
                                      {"loop_kernel_time", 203, 9, "Loop", 2},
                                      {"a_kernel_time", 214, 2, "Relu", 1},
                                      {"model_run", 200, 20},
                                      {"a_kernel_time", 301, 3, "Relu", 1},
                                      {"model_run", 300, 20}}),
                                 "ort.json");
  CHECK(of_name(p, "body").ns == std::vector<double>{7'000, 5'000, 0});
  CHECK(of_name(p, "loop").ns == std::vector<double>{13'000, 4'000, 0});
  CHECK(of_name(p, "a").ns == std::vector<double>{1'000, 2'000, 3'000});
  CHECK(names(p) == std::vector<std::string>{"loop", "body", "a"});
}

TEST_CASE("onnxruntime profile: names that are written unescaped are mended") {
  const profile p = read_profile(ort({{"a\"b\\c_kernel_time", 5, 3, "Relu", 1},
                                      {"two\nlines_kernel_time", 15, 4, "Add", 2},
                                      {"not\xff_kernel_time", 25, 5, "Mul", 3},
                                      {"model_run", 1, 40}}),
                                 "ort.json");
  REQUIRE(p.operators.size() == 3);
  CHECK(p.operators[0].name == "a\"b\\c");
  CHECK(p.operators[1].name == "two\nlines");
  CHECK(p.operators[2].ns == std::vector<double>{5'000});
  CHECK(warns(p, "3 names"));
  // Those of 1.31 on are JSON.
  const profile valid = read_profile(
      ort({{"a\\\"b\\\\c_kernel_time", 5, 3, "Relu", 1}, {"model_run", 1, 40}}), "ort.json");
  CHECK(valid.operators.at(0).name == "a\"b\\c");
  CHECK_FALSE(warns(valid, "JSON"));
}

TEST_CASE("onnxruntime profile: a file that is cut off gives its whole runs") {
  const std::string text = two_runs();
  const std::size_t last = text.rfind("{\"cat\"");
  const profile p = read_profile(text.substr(0, last + 30), "ort.json");
  CHECK(warns(p, "cut off"));
  CHECK(warns(p, "no whole run")); // those of the second
  CHECK(of_name(p, "sm").ns == std::vector<double>{8'000});
  // Unescaped names, too.
  const std::string bad =
      ort({{"a\"b_kernel_time", 5, 3, "Relu", 1}, {"model_run", 1, 9}, {"b", 21, 3, "Relu", 2}});
  const profile q = read_profile(bad.substr(0, bad.size() - 9), "ort.json");
  CHECK(q.operators.at(0).name == "a\"b");
  CHECK(warns(q, "cut off"));
  // Without a whole run, what there is.
  const profile r = read_profile(text.substr(0, text.find("SequentialExecutor")), "ort.json");
  CHECK(of_name(r, "r1_nchwc").ns == std::vector<double>{78'000});
  CHECK(warns(r, "a part of one"));
}

TEST_CASE("onnxruntime profile: shapes in other forms, dims that are none, and absent ones") {
  const auto operands_of = [](const std::string& form) {
    const profile p =
        read_profile(ort({{"a_kernel_time", 5, 3, "Relu", 1, 1, "\"input_type_shape\" : " + form},
                          {"model_run", 1, 9}}),
                     "ort.json");
    return p.operators.at(0).operands;
  };
  using tensors = std::vector<benanza::trace::profiled_tensor>;
  CHECK(operands_of(R"("[{\"float16\":[2,3]}]")") == tensors{{"f16", shape{2, 3}}});
  CHECK(operands_of(R"([{"type":"int64","shape":[]}])") == tensors{{"s64", shape{}}});
  CHECK(operands_of(R"([{"float":[2,-1]},{"string":[1]}])") ==
        tensors{{"f32", {}}, {"string", shape{1}}});
  CHECK(operands_of(R"([{"float":[1,1,1,1,1,1,1,1,1]},{"bool":["4"]}])") ==
        tensors{{"f32", {}}, {"bool", shape{4}}});
  CHECK(operands_of("\"\"").empty());
}

TEST_CASE("onnxruntime profile: kernels of a GPU are the times of their nodes") {
  std::string text = ort({{"a_kernel_time", 5, 3, "Relu", 1},
                          {"KERNEL1", 40, 20, "Relu", 1},
                          {"KERNEL2", 60, 5, "Relu", 1},
                          {"b_kernel_time", 9, 2, "Reshape", 2},
                          {"model_run", 1, 90}});
  for (const std::string kernel : {"KERNEL1", "KERNEL2"}) {
    const std::size_t begin = text.rfind("\"Node\"", text.find(kernel));
    text.replace(begin, 6, "\"Kernel\"");
  }
  for (std::size_t at; (at = text.find("CPUExecution")) != text.npos;)
    text.replace(at, 3, "CUDA");
  const profile p = read_profile(text, "ort.json");
  CHECK(p.device == "gpu");
  CHECK(of_name(p, "a").ns == std::vector<double>{25'000});
  CHECK(of_name(p, "a").kernel == "KERNEL1");
  CHECK(of_name(p, "b").ns == std::vector<double>{0});
}

TEST_CASE("onnxruntime profile: what is missing behind a million events is warned of") {
  std::string text = "[";
  const std::string one = "{},";
  for (int i = 0; i < 1'000'000; ++i)
    text += one;
  text += ort_line({"a_kernel_time", 5, 3, "Relu", 1}) + "," + ort_line({"model_run", 1, 9}) + "]";
  CHECK(warns(read_profile(text, "ort.json"), "a million events"));
}

TEST_CASE("onnxruntime profile: times that are none, and files without nodes") {
  const profile p = read_profile(ort({{"a_kernel_time", 5, -3, "Relu", 1},
                                      {"b_kernel_time", 5, 3, "Relu", 1},
                                      {"model_run", 1, 9}}),
                                 "ort.json");
  CHECK(names(p) == std::vector<std::string>{"b"});
  CHECK(warns(p, "1 event without a time"));
  CHECK(refusal(ort({{"model_run", 1, 9}})).find("no node of a model") != std::string::npos);
  CHECK(refusal(ort({})).find("no profile") != std::string::npos);
}

TEST_CASE("onnxruntime profile: the tensor in the name of a blocked node") {
  using benanza::trace::blocked_tensor;
  CHECK(blocked_tensor("r1_nchwc") == "r1");
  CHECK(blocked_tensor("a_nchwc_b_nchwc_token_12") == "a_nchwc_b");
  CHECK(blocked_tensor("a_nchwc_b") == "");
  CHECK(blocked_tensor("ReorderOutput_token_4") == "");
}
