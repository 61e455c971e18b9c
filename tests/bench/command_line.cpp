// SPDX-License-Identifier: Apache-2.0
#include <benanza/bench/command_line.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::bench;

namespace {
options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "benanza_bench");
  std::vector<char*> argv;
  for (std::string& w : words)
    argv.push_back(w.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}
} // namespace

TEST_CASE("without options: one thread, the states of a network, the models' own types") {
  const options o = parse({});
  CHECK(o.types.empty());
  CHECK(o.threads == std::vector<int>{1});
  CHECK(o.states == std::vector<std::string>{"hot", "llcw", "coldw"});
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

TEST_CASE("weights are loaded of a plan's model") {
  CHECK(parse({"--plan", "p.json", "--load"}).load);
  CHECK_FALSE(parse({"--plan", "p.json"}).load);
  CHECK_THROWS_WITH_AS(parse({"--load"}), doctest::Contains("--plan FILE"), benanza::error);
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
  // A whole model counts as all its layers.
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
  const auto told = [](std::vector<std::string> words, const std::string& word) {
    const auto all = for_google_benchmark(parse(std::move(words)), "f");
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  CHECK(told({"--benchmark_repetitions=3"}, "--benchmark_repetitions=3"));
  CHECK(told({"--benchmark_report_aggregates_only"}, "--benchmark_report_aggregates_only=true"));
  CHECK(
      told({"--benchmark_display_aggregates_only=Y"}, "--benchmark_display_aggregates_only=true"));
  CHECK(told({"--benchmark_enable_random_interleaving=true"},
             "--benchmark_enable_random_interleaving=true"));
  CHECK(told({"--benchmark_context=a=1,b=2"}, "--benchmark_context=a=1,b=2"));
  CHECK(told({"--benchmark_out=x"}, "--benchmark_out=f"));
  CHECK_FALSE(parse({"--benchmark_counters_tabular=false"}).tabular);
  CHECK(parse({"--benchmark_time_unit=ms"}).time_unit == "ms");
  CHECK(parse({"--benchmark_color=no"}).colour == false);
  CHECK(parse({"--benchmark_color=true"}).colour == true);
  CHECK_FALSE(parse({"--benchmark_color=auto"}).colour.has_value());
  // Options that ask for nothing are accepted.
  parse({"--benchmark_min_warmup_time=0.0", "--benchmark_perf_counters=", "--v=0"});
  const options dry = parse({"--benchmark_dry_run", "--benchmark_repetitions=5"});
  CHECK(dry.repetitions == 1);
  CHECK(plan_of(dry).seconds < 1e-6);
}

TEST_CASE("a flag of Google Benchmark's in the environment is a flag in front of the others") {
  const auto with = [](const char* variable, const char* value, std::vector<std::string> words) {
    setenv(variable, value, 1);
    try {
      const options o = parse(std::move(words));
      unsetenv(variable);
      return o;
    } catch (...) {
      unsetenv(variable);
      throw;
    }
  };
  CHECK(with("BENCHMARK_FILTER", "Conv", {}).filter == "Conv");
  CHECK(with("BENCHMARK_FILTER", "Conv", {"--benchmark_filter=Relu"}).filter == "Relu");
  CHECK(with("BENCHMARK_REPETITIONS", "3", {}).repetitions == 3);
  CHECK(with("BENCHMARK_LIST_TESTS", "1", {}).list_only);
  CHECK(with("BENCHMARK_MIN_TIME", "0.2s", {}).seconds == 0.2);
  CHECK(with("BENCHMARK_FORMAT", "csv", {}).format == "csv");
  CHECK(with("BENCHMARK_OUT", "x.csv", {}).out == "x.csv");
  CHECK_THROWS_WITH(with("BENCHMARK_PERF_COUNTERS", "CYCLES", {}),
                    "this flag means nothing here: no counters of the processor are read "
                    "(BENCHMARK_PERF_COUNTERS=CYCLES); leave it out");
  CHECK_THROWS_WITH(with("BENCHMARK_REPETITIONS", "many", {}),
                    "a whole number of 1 or more is needed, not \"many\" (BENCHMARK_REPETITIONS)");
}

TEST_CASE("what is unknown, or means nothing, is refused by name") {
  CHECK_THROWS_WITH(parse({"--types=f16-winograd"}),
                    "\"f16-winograd\" is no type of its own (--types); ask for f16: its Winograds "
                    "are measured with it");
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
                           "--benchmark_list_tests=perhaps",
                           "--benchmark_min_warmup_time=0.5",
                           "--benchmark_perf_counters=CYCLES",
                           "--v=1",
                           "--benchmark_v=2",
                           "--benchmark_color=maybe",
                           "--benchmark_time_unit=h",
                           "--benchmark_context=a",
                           "--benchmark_context=a=b=c",
                           "--benchmark_counters_tabular=perhaps",
                           "--benchmark_typo=1"}) {
    CAPTURE(word);
    CHECK_THROWS_AS(parse({word}), error);
  }
  CHECK_THROWS_WITH(parse({"--benchmark_min_time=20x"}),
                    "a number of iterations is not taken: a case is sampled until its figure "
                    "stands still, at most so many seconds (--benchmark_min_time=20x); write "
                    "--benchmark_min_time=0.1s");
  CHECK_THROWS_AS(parse({"--benchmark_dry_run", "--store", "r.db"}), error);
  CHECK_THROWS_WITH(parse({"--typos=f32"}),
                    "unknown option \"--typos=f32\"; see benanza_bench --help");
}

TEST_CASE("a program's own defaults apply where the command line does not say") {
  const defaults own("onednn,host", "f32,bf16");
  CHECK(parse({}).backends == std::vector<std::string>{"onednn", "host"});
  CHECK(parse({}).types == std::vector{numeric::f32, numeric::bf16});
  CHECK(parse({"--backends=cuda"}).backends == std::vector<std::string>{"cuda"});
  CHECK(parse({"--types=f16"}).types == std::vector{numeric::f16});
  const defaults unknown("", "f33");
  CHECK_THROWS_AS(parse({}), error);
  defaults::of_program() = {};
}

TEST_CASE("thresholds are set by name, some of them in several words") {
  const options o =
      parse({"--set", "most_other_load=0.5,unbeaten_samples=20", "--set=window_ns=2e8"});
  CHECK(o.parameters.most_other_load == 0.5);
  CHECK(o.parameters.unbeaten_samples == 20);
  CHECK(o.parameters.window_ns == 2e8);
  CHECK(plan_of(o).parameters.window_ns == 2e8);
  CHECK(parse({"--parameters"}).list_parameters);
  CHECK_THROWS_AS(parse({"--store=r.db", "--set=window_ns=2e8"}), error);
  CHECK(parse({"--store=r.db", "--set=window_ns=1.5e8"}).campaign.store == "r.db"); // as usual
  for (const char* word :
       {"--set=nothing=1", "--set=window_ns", "--set=window_ns=long", "--set="}) {
    CAPTURE(word);
    CHECK_THROWS_AS(parse({word}), error);
  }
}

TEST_CASE("whose kernels are looked at is a word, or left to the program") {
  CHECK_FALSE(parse({}).campaign.kernels);
  CHECK(parse({"--kernels", "all"}).campaign.kernels == kernel_choice::all);
  CHECK(parse({"--kernels=none"}).campaign.kernels == kernel_choice::none);
  CHECK(parse({"--kernels=winners"}).campaign.kernels == kernel_choice::winners);
  CHECK_THROWS_AS(parse({"--kernels=some"}), error);
}

TEST_CASE("levels are those of a plan's run") {
  CHECK(parse({"--plan", "p.json", "--levels", "call"}).levels == level::call);
  CHECK(parse({"--plan", "p.json"}).levels == level::none);
  CHECK_THROWS_WITH_AS(parse({"--levels", "layer"}), doctest::Contains("--plan"), benanza::error);
  CHECK_THROWS_WITH_AS(parse({"--plan", "p.json", "--levels", "kernel"}),
                       doctest::Contains("is not one of model, layer, call"), benanza::error);
}

TEST_CASE("help names every option, and an empty value is a value") {
  const std::string help = parse({"--help"}).help;
  for (const char* option : {"--types", "--states", "--set", "--store", "--shard", "--again",
                             "--benchmark_filter", "--benchmark_min_time", "BENCHMARK_FILTER"})
    CHECK(help.find(option) != std::string::npos);
  CHECK(parse({"--benchmark_filter=", "--all"}).all_algorithms);
  CHECK(parse({"--algorithms=proposed"}).proposed);
  CHECK_FALSE(parse({"--algorithms", "all"}).proposed);
  CHECK_THROWS_AS(parse({"--algorithms=few"}), error);
  CHECK(parse({"--refused"}).refused);
  CHECK(parse({"--model=", "--benchmark_filter", "Conv"}).filter == "Conv");
  CHECK(parse({"--types=f32", "--types=bf16"}).types == std::vector{numeric::bf16}); // the last one
}
