// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler.
#include "growth.hpp"
#include "profile_samples.hpp"

#include <doctest/doctest.h>

using namespace profile_text;
using benanza::shape;

TEST_CASE(
    "pytorch trace: operators that compute, with their own time, for each step after the first") {
  const profile p = read_profile(pytorch_cpu, "trace.json");
  CHECK(p.framework == "pytorch");
  CHECK(p.device == "cpu");
  CHECK(p.first_ns == 200'000);
  CHECK(p.profiled_ns == std::vector<double>{100'000});
  CHECK(names(p) == std::vector<std::string>{"aten::addmm", "aten::copy_"});
  const profiled_operator& product = of_name(p, "aten::addmm");
  REQUIRE(product.ns.size() == 1);
  CHECK(product.ns[0] == doctest::Approx(36'500)); // the view is its own, the copy is not
  REQUIRE(product.operands.size() == 3);           // scalars are none
  CHECK(product.operands[1].type == "f32");
  CHECK(product.operands[1].dims == shape{2, 16});
  CHECK(p.overlapping == false);
}

TEST_CASE("pytorch trace: a step has operators, and within these what computes or was launched") {
  for (const auto& text : {pytorch_cpu, pytorch_gpu}) {
    const profile p = read_profile(text, "trace.json");
    if (p.profiled_ns.empty()) continue; // no step, no run
    REQUIRE(p.spans.size() > 2);
    CHECK(p.spans[0].level == benanza::trace::model_level);
    bool calls = false;
    for (std::size_t i = 1; i < p.spans.size(); ++i) {
      const benanza::trace::span& s = p.spans[i];
      REQUIRE(s.parent >= 0);
      CHECK(p.spans[static_cast<std::size_t>(s.parent)].level == s.level - 1);
      calls = calls || s.level == benanza::trace::call_level;
    }
    CHECK(calls);
  }
}

TEST_CASE("pytorch trace: times since 1970 are as coarse as a number is") {
  std::string text = R"({"traceEvents": [)";
  for (int i = 0; i < 40; ++i) // one behind the other, without a gap
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"cpu_op","name":"aten::op)" +
            std::to_string(i) + R"(","pid":4,"tid":4,"ts":)" +
            std::to_string(1690000000000000 + i * 7) + ".1" + std::to_string(i % 10) +
            R"(,"dur":6.99,"args":{}})";
  const profile p = read_profile(text + "]}", "trace.json");
  CHECK(p.operators.size() == 40);
  for (const profiled_operator& o : p.operators)
    CHECK(o.ns.at(0) == doctest::Approx(6'990).epsilon(0.1));
}

TEST_CASE("pytorch trace: kernels of a GPU belong to the operator that launched them") {
  const profile p = read_profile(pytorch_gpu, "trace.json");
  CHECK(p.device == "gpu");
  CHECK(names(p) == std::vector<std::string>{"aten::copy_", "aten::addmm"});
  CHECK(of_name(p, "aten::addmm").ns.at(0) == doctest::Approx(7'000)); // by External id
  CHECK(of_name(p, "aten::addmm").kernel == "gemm_a + splitk");
  CHECK(of_name(p, "aten::copy_").ns.at(0) == doctest::Approx(1'000)); // by correlation and time
  CHECK(p.overlapping == false);
}

TEST_CASE("pytorch trace: streams at the same time overlap, and kernels of a graph are alone") {
  const auto replaced = [](std::string t, std::string_view what, std::string_view by) {
    return t.replace(t.find(what), what.size(), by);
  };
  const std::string text =
      replaced(std::string(pytorch_gpu), "\"tid\":7,\"ts\":66", "\"tid\":9,\"ts\":62");
  CHECK(read_profile(text, "trace.json").overlapping == true);
  const profile p = read_profile(
      replaced(std::string(pytorch_gpu), "cudaLaunchKernel", "cudaGraphLaunch"), "trace.json");
  CHECK(of_name(p, "gemm_a").ns.at(0) == doctest::Approx(5'500));
  CHECK(warns(p, "2 of 3 kernels"));
}

TEST_CASE("pytorch trace: names that are written unescaped are mended") {
  std::string text(pytorch_cpu);
  for (std::size_t at; (at = text.find("aten::copy_")) != text.npos;)
    text.replace(at, 11, "a\"b\\c");
  const profile p = read_profile(text, "trace.json");
  CHECK(names(p) == std::vector<std::string>{"aten::addmm", "a\"b\\c"});
  CHECK(warns(p, "mended"));
}

TEST_CASE(
    "pytorch trace: without steps what repeats is a run, and a trace that is cut off is read") {
  std::string text(pytorch_cpu);
  for (std::size_t at; (at = text.find("ProfilerStep#")) != text.npos;)
    text.replace(at, 13, "other");
  const profile p = read_profile(text, "trace.json");
  CHECK(of_name(p, "aten::copy_").ns.size() == 1);
  const profile cut = read_profile(pytorch_cpu.substr(0, pytorch_cpu.find("aten::expand")), "t");
  CHECK(warns(cut, "cut off"));
  CHECK(names(cut) == std::vector<std::string>{"aten::addmm"});
  CHECK(refusal(R"({"traceEvents": [{"ph":"X","cat":"x","name":"a","ts":1,"dur":1}]})")
            .find("no operator of PyTorch") != std::string::npos);
}

TEST_CASE(
    "pytorch trace: ranges within each other, and kernels behind them, take time in proportion") {
  for (const bool kernels : {false, true})
    CHECK(benanza::test::growth(2000, [&](int n) {
            std::string events;
            const auto add = [&](const std::string& cat, const std::string& name, int ts, int dur,
                                 const std::string& arguments) {
              events += std::string(events.empty() ? "" : ",") + R"({"ph":"X","cat":")" + cat +
                        R"(","name":")" + name + R"(","pid":1,"tid":1,"ts":)" + std::to_string(ts) +
                        R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" + arguments + "}}";
            };
            add("user_annotation", "ProfilerStep#0", 0, 20 * n, "");
            for (int i = 0; i < n; ++i)
              add("cpu_op", i + 1 < n ? "aten::relu" : "aten::mm", 1 + i, 2 * (n - i), "");
            for (int i = 0; kernels && i < n; ++i) {
              const std::string number = "\"correlation\":" + std::to_string(i);
              add("cuda_runtime", "cudaLaunchKernel", 3 * n + i, 1, number);
              add("kernel", "k", 5 * n + i, 1, number + ",\"stream\":7,\"device\":0");
            }
            return [text = R"({"schemaVersion":1,"traceEvents":[)" + events + "]}"] {
              read_profile(text, "trace.json");
            };
          }) < benanza::test::near_proportion);
}
