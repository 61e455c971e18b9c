// SPDX-License-Identifier: Apache-2.0
// The commands about experiments: `check` compares results with what was asked for, `verify`
// measures some cases of a result again, here by a program that gives a result which the test made.
#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/result/experiment.hpp>
#include <benanza/result/json.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;
using benanza::test::scratch_folder;

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string experiment_of(const run& r) {
  benanza::result::experiment e{.name = "of a test"};
  e.models.push_back({r.graphs[0].name, benanza::result::content_of(r.graphs[0])});
  e.effort = r.provenance.at("measuring").at("effort");
  return benanza::result::to_json(e).dump();
}

run some_run() {
  run r = synthetic::small_run();
  r.provenance["measuring"]["effort"] = "quick";
  return r;
}

run scaled(run r, double factor) {
  for (measurement& m : r.measurements) {
    for (double& s : m.samples_ns)
      s *= factor;
    m.min_ns = 0;
    benanza::result::recompute(m);
  }
  return r;
}

/// A program that writes `text` where --benchmark_out says, and its words next to itself.
std::string fake_bench(const scratch_folder& folder, const std::string& text, int status = 0) {
  const std::string program = folder / "bench";
  write(folder / "answer.json", text);
  write(program, "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + (folder / "words") +
                     "\nfor w; do case $w in --benchmark_out=*) cp " + (folder / "answer.json") +
                     " \"${w#*=}\";; esac; done\necho told >&2\nexit " + std::to_string(status) +
                     "\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return program;
}

} // namespace

TEST_CASE("check: a result is what was asked for, and others are compared with it") {
  const scratch_folder folder("check");
  const run r = some_run();
  write(folder / "e.json", experiment_of(r));
  write(folder / "a.json", synthetic::text(r));
  run slower = scaled(r, 1.5);
  slower.provenance["software"]["onednn_version"] = "3.7\x1b[31m";
  write(folder / "b.json", synthetic::text(slower));
  CHECK(analyze({"check", folder / "e.json", folder / "a.json"}).status == 0);
  const outcome both = analyze({"check", folder / "e.json", folder / "a.json", folder / "b.json"});
  CHECK(both.status == 0);
  CHECK(holds(both.out, "software.onednn_version"));
  CHECK(holds(both.out, "+50.0 %"));
  CHECK(holds(both.out, "SLOWER"));
  CHECK_FALSE(holds(both.out, "\x1b"));
  const outcome back = analyze(
      {"check", folder / "e.json", folder / "b.json", folder / "a.json", "--format", "json"});
  const json j = json::parse(back.out);
  // The same files have the same verdicts in `compare`.
  const json compared = json::parse(
      analyze({"compare", folder / "b.json", folder / "a.json", "--format", "json"}).out);
  const json& figures = j["results"][1]["figures"];
  REQUIRE(figures.size() == compared["models"].size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    CHECK(figures[i]["verdict"] == compared["models"][i]["verdict"]);
    CHECK(figures[i]["change"] == compared["models"][i]["change"]);
  }
  CHECK(figures[0]["verdict"] == "FASTER");
  CHECK(j["results"][1]["as_asked"] == true);
  const outcome same = analyze({"check", folder / "e.json", folder / "a.json", folder / "a.json"});
  CHECK(holds(same.out, "SAME"));
  CHECK_FALSE(holds(same.out, "SLOWER"));
}

TEST_CASE("check: another model, or another effort, is reported, and status 1 says so") {
  const scratch_folder folder("check_other");
  run r = some_run();
  write(folder / "e.json", experiment_of(r));
  r.graphs[0].batch = 7;
  r.provenance["measuring"]["effort"] = "thorough";
  write(folder / "a.json", synthetic::text(r));
  const outcome o = analyze({"check", folder / "e.json", folder / "a.json"});
  CHECK(o.status == 1);
  CHECK(holds(o.out, "effort"));
  CHECK(holds(o.out, "another model"));
  CHECK(analyze({"check", folder / "a.json", folder / "e.json"}).status == 2);
  CHECK(analyze({"check", folder / "e.json"}).status == 2);
  CHECK(analyze({folder / "a.json", "check"}).status == 2);
}

TEST_CASE("verify: figures that are reproduced hold, and others are reported") {
  const scratch_folder folder("verify");
  const run r = some_run();
  write(folder / "run.json", synthetic::text(r));
  const std::string same = fake_bench(folder, synthetic::text(scaled(r, 1.02)));
  const outcome o = analyze({"verify", folder / "run.json", "--bench", same, "--cases", "3"});
  CHECK(o.status == 0);
  CHECK(holds(o.out, "3 of 3 drawn from"));
  CHECK(holds(o.out, "median ratio 1.020"));
  CHECK(holds(o.out, "at least 37 % of all do")); // 0.05^(1/3)
  const std::string words = benanza::test::text_of(folder / "words");
  CHECK(holds(words, "--benchmark_filter=^("));
  CHECK(holds(words, "--types\nf32\n"));
  // Others are drawn by another seed, and all where there are fewer.
  const outcome other =
      analyze({"verify", folder / "run.json", "--bench", same, "--cases", "3", "--seed", "2"});
  CHECK(other.out != o.out);

  const std::string slow = fake_bench(folder, synthetic::text(scaled(r, 1.3)));
  const outcome no = analyze({"verify", folder / "run.json", "--bench", slow, "--format", "json"});
  CHECK(no.status == 1);
  const json j = json::parse(no.out);
  CHECK(j["hold"] == 0);
  CHECK(j["cases"][0]["ratio_at_one_clock"] == doctest::Approx(1.3));
  CHECK(j["drawn_from"] == j["cases"].size());
}

TEST_CASE("verify: more cases than one command line can name are measured in turns") {
  const scratch_folder folder("verify_many");
  run r = some_run();
  r.graphs.clear();
  r.measurements.clear();
  for (int i = 1; i <= 4000; ++i)
    synthetic::add(r, "Relu/1x64x" + std::to_string(i) + "x56", "jit_avx512:any_layout", 0, 1000);
  write(folder / "run.json", synthetic::text(r));
  const std::string same = fake_bench(folder, synthetic::text(r));
  const outcome o = analyze({"verify", folder / "run.json", "--bench", same, "--cases", "100000"});
  CAPTURE(o.err);
  CHECK(o.status == 0);
  CHECK(holds(o.out, "4000 of 4000 drawn from"));
}

TEST_CASE("verify: a program that fails, lacks cases or is not there costs no crash") {
  const scratch_folder folder("verify_bad");
  run r = some_run();
  write(folder / "run.json", synthetic::text(r));
  const outcome none = analyze({"verify", folder / "run.json", "--bench", folder / "nothing"});
  CHECK(none.status == 2);
  CHECK(holds(none.err, "--bench"));
  const std::string failing = fake_bench(folder, "", 2);
  const outcome failed = analyze({"verify", folder / "run.json", "--bench", failing});
  CHECK(failed.status == 2);
  CHECK(holds(failed.err, "told"));
  r.measurements.resize(1);
  const outcome lacks =
      analyze({"verify", folder / "run.json", "--bench", fake_bench(folder, synthetic::text(r))});
  CHECK(lacks.status == 1);
  CHECK(holds(lacks.out, "not measured: this program"));
}

TEST_CASE("verify: a device is chosen, and what rests on no case is reported") {
  const scratch_folder folder("verify_device");
  run both = some_run();
  const run gpu_run = scaled(both, 0.25);
  for (measurement m : gpu_run.measurements) {
    if (!benanza::result::of_a_layer(m)) continue;
    m.device = "gpu";
    m.backend = "cudnn";
    m.name.replace(m.name.find("/onednn/"), 8, "/cudnn/");
    both.measurements.push_back(m);
  }
  write(folder / "both.json", synthetic::text(both));
  const std::string same = fake_bench(folder, synthetic::text(both));
  const auto on = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"verify", folder / "both.json", "--bench", same});
    return analyze(more);
  };
  const outcome unclear = on({});
  CHECK(unclear.status == 2);
  CHECK(holds(unclear.err, "choose with --device cpu or --device gpu"));
  const outcome gpu = on({"--device", "gpu", "--format", "json"});
  CHECK(gpu.status == 0);
  CHECK(holds(benanza::test::text_of(folder / "words"), "--backends\ncudnn\n"));
  CHECK(json::parse(gpu.out)["layers_without_a_time"] == 0);
  CHECK(on({"--device", "cpu"}).status == 0);

  run r = some_run();
  std::erase_if(r.measurements, [](const auto& m) { return m.family == "Softmax"; });
  write(folder / "run.json", synthetic::text(r));
  const outcome o =
      analyze({"verify", folder / "run.json", "--bench", fake_bench(folder, synthetic::text(r))});
  CHECK(holds(o.out, "Not checked: 1 of "));
  for (auto& m : r.measurements)
    m.error = "no such device";
  const outcome none =
      analyze({"verify", folder / "run.json", "--bench", fake_bench(folder, synthetic::text(r))});
  CHECK(none.status == 1);
  CHECK(holds(none.out, "drawn from"));
  CHECK(holds(none.err, "none of the figures can be tried here"));
}
