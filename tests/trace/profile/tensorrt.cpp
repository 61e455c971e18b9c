// SPDX-License-Identifier: Apache-2.0
// The three files of trtexec.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

using namespace profile_text;
using benanza::shape;

TEST_CASE("tensorrt profile: times of queries in ms") {
  const profile p = read_profile(tensorrt_times, "times.json");
  CHECK(p.framework == "tensorrt");
  CHECK(p.device == "gpu");
  CHECK(p.latency_ns == std::vector<double>{500'000, 250'000});
}

TEST_CASE("tensorrt profile: medians of layers, or what old files have") {
  const profile p = read_profile(tensorrt_profile, "profile.json");
  REQUIRE(p.operators.size() == 3); // the number of runs is none
  CHECK(p.operators[0].ns.at(0) == doctest::Approx(39'000));
  CHECK(p.operators[1].ns == std::vector<double>{0});
  CHECK(p.operators[1].stands_for.empty());
  CHECK_FALSE(warns(p, "averages"));
  const profile old = read_profile(R"([{"count":2},{"name":"a","averageMs":"0.5"}])", "p.json");
  CHECK(old.operators.at(0).ns == std::vector<double>{500'000});
  CHECK(warns(old, "averages"));
}

TEST_CASE("tensorrt profile: layers represent nodes of the ONNX file, by metadata or by name") {
  const profile p = read_profile(tensorrt_layers, "layers.json");
  const profiled_operator& conv = p.operators.at(0);
  CHECK(conv.stands_for == std::vector<std::string>{"/conv1/Conv", "/bn1/Bn", "/relu/Relu"});
  CHECK(conv.type == "CaskConvolution");
  CHECK(conv.kernel == "sm80_xmma_fprop");
  CHECK(conv.precision == "f16");
  REQUIRE(conv.operands.size() == 1);
  CHECK(conv.operands[0].dims == shape{1, 3, 8, 8});
  CHECK(conv.results.at(0).type == "f16");
  CHECK(p.operators[1].stands_for.empty());
  const auto of_name = [](const std::string& name) {
    return read_profile("{\"Layers\":[{\"Name\":\"" + name + "\"}]}", "l")
        .operators.at(0)
        .stands_for;
  };
  using names = std::vector<std::string>;
  CHECK(of_name("conv1 + relu1") == names{"conv1", "relu1"});
  CHECK(of_name("conv1 + PWN(relu1) || conv2") == names{"conv1", "relu1", "conv2"});
  CHECK(of_name("PWN(PWN(sigmoid), mul)") == names{"sigmoid", "mul"});
  CHECK(of_name("{ForeignNode[a...z]}").empty());
}

TEST_CASE("tensorrt profile: names alone are warned of, and several streams overlap") {
  const profile p = read_profile(R"({"Layers":["conv1 + relu1","fc"],"Bindings":[]})", "l.json");
  CHECK(p.operators.at(0).stands_for == std::vector<std::string>{"conv1", "relu1"});
  CHECK(warns(p, "detailed"));
  const profile q =
      read_profile(R"({"Layers":[{"Name":"a","StreamId":0},{"Name":"b","StreamId":1}]})", "l.json");
  CHECK(q.overlapping == true);
}

TEST_CASE("tensorrt profile: the three files become one") {
  const profile p = join({read_profile(tensorrt_layers, "layers.json"),
                          read_profile(tensorrt_times, "times.json"),
                          read_profile(tensorrt_profile, "profile.json")});
  REQUIRE(p.operators.size() == 3);
  CHECK(p.operators[0].ns.at(0) == doctest::Approx(39'000));
  CHECK(p.operators[0].stands_for.size() == 3); // the metadata know more than the name
  CHECK(p.operators[2].type == "gemm");
  CHECK(p.latency_ns.size() == 2);
}

TEST_CASE("tensorrt profile: files that hold none are refused") {
  CHECK(refusal(R"([{"count":2}])").find("no layer") != std::string::npos);
  CHECK(refusal(R"([{"latencyMs":-1}])").find("no latency") != std::string::npos);
  CHECK(refusal(R"({"Layers":[]})").find("no layer") != std::string::npos);
}
