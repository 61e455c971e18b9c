// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/options.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "benanza_bench");
  std::vector<char*> argv;
  for (std::string& w : words)
    argv.push_back(w.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}
} // namespace

TEST_CASE("without options: one thread, both states, the models' own types") {
  const options o = parse({});
  CHECK(o.types.empty());
  CHECK(o.threads == std::vector<int>{1});
  CHECK(o.states == std::vector<std::string>{"hot", "coldw"});
  CHECK(o.effort == effort::normal);
  CHECK(o.seconds == 0);
  CHECK(o.format == "console");
  CHECK(o.repetitions == 1);
}

TEST_CASE("libraries, a described GPU, and the description of this one") {
  const options o = parse({"--backends", "cudnn,onednn", "--target=t4", "--describe-device"});
  CHECK(o.backends == std::vector<std::string>{"cudnn", "onednn"});
  CHECK(o.target == "t4");
  CHECK(o.describe_device);
  CHECK(parse({}).backends.empty());
  CHECK_THROWS_AS(parse({"--backends="}), benanza::error);
}

TEST_CASE("lists are read with an equals sign or as the next word, each value once") {
  CHECK(parse({"--types=f32,bf16,f32"}).types == std::vector{numeric::f32, numeric::bf16});
  CHECK(parse({"--types", "u8s8u8"}).types == std::vector{numeric::u8s8u8});
  CHECK(parse({"--threads=2,1,2"}).threads == std::vector{1, 2});
  CHECK(parse({"--states=hot"}).states == std::vector<std::string>{"hot"});
  CHECK(parse({"--states=cold,hot"}).states == std::vector<std::string>{"cold", "hot"});
  CHECK(parse({"--effort", "exhaustive"}).effort == effort::exhaustive);
  CHECK(parse({"--effort=quick"}).effort == effort::quick);
}

TEST_CASE("the time of a case is the effort's, or the one given, less its share") {
  CHECK(plan_of(parse({})).seconds == 0.1);
  CHECK(plan_of(parse({"--effort=thorough"}), 0.5).seconds == doctest::Approx(0.15));
  CHECK(plan_of(parse({}), 0.5).patience == plan_of(parse({})).patience);
  CHECK(plan_of(parse({}), 20).patience > 2 * plan_of(parse({})).patience); // one case for a model
  CHECK(plan_of(parse({"--effort=exhaustive"}), 20).patience == 0);
  const options o = parse({"--benchmark_min_time=2", "--benchmark_repetitions=3"});
  CHECK(plan_of(o).seconds == 2);
  CHECK(plan_of(o).passes == 3);
}

TEST_CASE("how long a case waits for quiet goes with its time, or is given") {
  const auto waits_s = [](const sampling_plan& p) { return p.extra_share * p.seconds; };
  CHECK(waits_s(plan_of(parse({}))) == doctest::Approx(0.2));
  CHECK(waits_s(plan_of(parse({"--wait-for-quiet=1"}))) == doctest::Approx(1));
  CHECK(waits_s(plan_of(parse({"--wait-for-quiet", "1s", "--effort=quick"}))) ==
        doctest::Approx(1));
  // A whole model stands for all its layers.
  CHECK(waits_s(plan_of(parse({"--wait-for-quiet=1"}), 20)) == doctest::Approx(20));
  CHECK_THROWS_WITH(
      parse({"--wait-for-quiet=long"}),
      "seconds are needed, not \"long\" (--wait-for-quiet); write --wait-for-quiet=0.1");
}

TEST_CASE("Google Benchmark's flags are read or handed on") {
  CHECK(parse({"--benchmark_filter=Conv"}).filter == "Conv");
  CHECK(parse({"--benchmark_filter=-(ref)"}).filter == "-(ref)");
  CHECK(parse({"--benchmark_min_time=0.25"}).seconds == 0.25);
  CHECK(parse({"--benchmark_min_time=0.25s"}).seconds == 0.25);
  CHECK(parse({"--benchmark_list_tests"}).list_only);
  CHECK_FALSE(parse({"--benchmark_list_tests=false"}).list_only);
  CHECK(parse({"--benchmark_format=json", "--benchmark_out=x.json"}).out == "x.json");
  const options o = parse({"--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true"});
  CHECK(o.repetitions == 3);
  CHECK(o.passed_on == std::vector<std::string>{"--benchmark_report_aggregates_only=true",
                                                "--benchmark_repetitions=3"});
}

TEST_CASE("what nobody knows, or what means nothing, is refused by name") {
  for (const char* word : {"--typos=f32",
                           "stray",
                           "--types=f33",
                           "--threads=0",
                           "--threads=-1",
                           "--threads=two",
                           "--threads=",
                           "--states=warm",
                           "--effort=lazy",
                           "--effort=",
                           "--states=",
                           "--benchmark_min_time=10x",
                           "--benchmark_min_time=0",
                           "--benchmark_min_time=-1",
                           "--benchmark_min_time=",
                           "--benchmark_repetitions=0",
                           "--benchmark_format=xml",
                           "--progress=maybe",
                           "--types",
                           "--benchmark_list_tests=perhaps"}) {
    CAPTURE(word);
    CHECK_THROWS_AS(parse({word}), error);
  }
  CHECK_THROWS_WITH(parse({"--typos=f32"}),
                    "unknown option \"--typos=f32\"; see benanza_bench --help");
}
