// SPDX-License-Identifier: Apache-2.0
// What the programs print and write, as a person, a spreadsheet and Google Benchmark's own tools
// see it.
#include "../measure/fragile.hpp"

#include <benanza/core/version.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace benanza::test;
using nlohmann::json;

namespace {
using table = std::vector<std::vector<std::string>>;

/// CSV as RFC 4180 has it.
table rows_of_csv(const std::string& text) {
  table out{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      out.back().back() += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      out.back().emplace_back();
    else if (!quoted && c == '\n')
      out.push_back({""});
    else
      out.back().back() += c;
  }
  CHECK_FALSE(quoted);
  CHECK(out.back() == std::vector<std::string>{""}); // the last line is ended
  out.pop_back();
  return out;
}

/// The cell of a row in a column, which is there.
std::string cell(const table& t, std::size_t row, const std::string& column) {
  const auto at = std::find(t[0].begin(), t[0].end(), column);
  REQUIRE(at != t[0].end());
  return t[row][static_cast<std::size_t>(at - t[0].begin())];
}

/// In one cache state: what the last cache keeps need not be found out.
outcome hot(const std::string& settings, const std::string& options) {
  return fragile(settings, "--states hot " + options);
}

/// What comes to a terminal.
std::string on_terminal(const std::string& command) {
  return shell("TERM=xterm script -qec '" + command + "' /dev/null").out;
}
const bool has_script = shell("script --version").status == 0;

constexpr const char *colours = "\x1b[0;32m", *erased = "\r\x1b[K";
} // namespace

TEST_CASE("CSV is a table: one header, each case a whole row, with all that the JSON has of it") {
  const scratch_folder s("csv");
  const std::string file = s / "run.csv", twice = " --benchmark_repetitions=2";
  const outcome o =
      hot("FRAGILE_ALGORITHMS='good,throw,a \"b\"'",
          "--benchmark_format=json --benchmark_out_format=csv --benchmark_out=" + file + twice);
  REQUIRE(o.status == 1);
  const table t = rows_of_csv(text_of(file));
  const std::vector<std::string> first{
      "name",           "iterations",       "real_time",        "cpu_time",
      "time_unit",      "bytes_per_second", "items_per_second", "label",
      "error_occurred", "error_message"};
  REQUIRE(t[0].size() > first.size());
  CHECK(std::equal(first.begin(), first.end(), t[0].begin()));
  CHECK(std::set(t[0].begin(), t[0].end()).size() == t[0].size());
  const json rows = json::parse(o.out).at("benchmarks");
  REQUIRE(t.size() == rows.size() + 1);
  for (std::size_t i = 1; i < t.size(); ++i) {
    REQUIRE(t[i].size() == t[0].size());
    for (const auto& of : rows[i - 1].items()) {
      const std::string& field = of.key();
      const json& value = of.value();
      CAPTURE(field);
      const std::string text = cell(t, i, field);
      const bool time = field == "iterations" || field.ends_with("_time");
      if (value.is_string())
        CHECK(text == value.get<std::string>());
      else
        CHECK(text == (time && rows[i - 1].contains("error_occurred") ? "" : value.dump()));
    }
    CHECK_FALSE(cell(t, i, "key").empty());
    CHECK((cell(t, i, "error_occurred") == "true") == (cell(t, i, "algorithm") == "throw"));
  }
  CHECK(holds(text_of(file), "\"a \"\"b\"\"\""));
  const outcome shown = hot("", "--benchmark_format=csv");
  CHECK(rows_of_csv(shown.out).size() == 5);
}

TEST_CASE("nothing in CSV is a formula for a spreadsheet") {
  const outcome o = hot("FRAGILE_ALGORITHMS='good,=1+1,@x, -y'", "--benchmark_format=csv");
  const table t = rows_of_csv(o.out);
  std::set<std::string> algorithms;
  for (std::size_t i = 1; i < t.size(); ++i)
    algorithms.insert(cell(t, i, "algorithm"));
  CHECK(algorithms == std::set<std::string>{"good", "'=1+1", "'@x", "' -y"});
}

TEST_CASE("the processor's time is the time, also in what repetitions have in common") {
  const outcome o = hot("", "--benchmark_format=json --benchmark_repetitions=3");
  REQUIRE(o.status == 0);
  std::set<std::string> aggregates;
  const json whole = json::parse(o.out);
  for (const json& b : whole.at("benchmarks")) {
    CHECK(b.at("cpu_time") == b.at("real_time"));
    // What Google Benchmark's compare.py looks for in each of its rows.
    for (const char* field : {"name", "run_name", "run_type", "time_unit", "family", "algorithm"})
      CHECK_FALSE(b.at(field).get<std::string>().empty());
    if (b.at("run_type") == "aggregate") aggregates.insert(b.at("aggregate_name"));
  }
  CHECK(aggregates == std::set<std::string>{"cv", "mean", "median", "stddev"});
  const outcome shown =
      hot("FRAGILE_LAYERS=1", "--benchmark_repetitions=3 --benchmark_display_aggregates_only");
  std::istringstream lines(shown.out);
  int means = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("_mean ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string name, real, unit, cpu;
    words >> name >> real >> unit >> cpu;
    CHECK(real == cpu);
    ++means;
  }
  CHECK(means == 2);
}

TEST_CASE("times have the unit that was asked for; a rate is of the time next to it") {
  const scratch_folder s("unit");
  const auto with = [&](const std::string& more) {
    return hot("FRAGILE_LAYERS=1 FRAGILE_ALGORITHMS=good", more).out;
  };
  for (const auto& [unit, time] : {std::pair("ns", 4000.), {"ms", 0.004}}) {
    const std::string flag = std::string(" --benchmark_time_unit=") + unit;
    const std::string csv = " --benchmark_out_format=csv --benchmark_out=" + (s / "run.csv");
    const json j = json::parse(with("--benchmark_format=json" + flag + csv)).at("benchmarks").at(0);
    CHECK(j.at("time_unit") == unit);
    CHECK(j.at("real_time").get<double>() == doctest::Approx(time));
    const table t = rows_of_csv(text_of(s / "run.csv"));
    CHECK(cell(t, 1, "time_unit") == unit);
    CHECK(std::stod(cell(t, 1, "real_time")) == doctest::Approx(time));
    const std::string shown = with(flag + " --benchmark_counters_tabular=false");
    CHECK(holds(shown, std::string(" ") + unit + " "));
    // Google Benchmark writes a counter's thousandths as m, millionths as u: those of a second.
    CHECK(holds(shown, " min_s=4u"));
    CHECK(j.at("GFLOP/s").get<double>() ==
          doctest::Approx(j.at("flops").get<double>() / j.at("median_ns").get<double>()));
  }
}

TEST_CASE("colours are there where they were asked for, and nowhere else") {
  const std::string row = "--benchmark_filter=^Relu --benchmark_color=";
  CHECK(holds(hot("", row + "true").out, colours));
  for (const char* without : {"false", "auto"})
    CHECK_FALSE(holds(hot("", row + without).out, "\x1b"));
  if (!has_script) return;
  const std::string command = fragile_bench + " --states hot --benchmark_min_time=0.002 ";
  CHECK(holds(on_terminal(command), colours));
  CHECK(holds(on_terminal("NO_COLOR=1 " + command + row + "true"), colours));
  for (const std::string& plain : {command + row + "false", "NO_COLOR=1 " + command,
                                   "TERM=dumb " + command, "BENCHMARK_COLOR=no " + command})
    CHECK_FALSE(holds(on_terminal(plain), "\x1b["
                                          "0;"));
}

TEST_CASE("a row never follows progress on the same line") {
  if (!has_script) return;
  const std::string out = on_terminal(
      fragile_bench + " --states hot --benchmark_min_time=0.002 --benchmark_color=false");
  CHECK(holds(out, "cases] Relu/"));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t last = line.rfind(erased); last != std::string::npos)
      CHECK_FALSE((holds(line.substr(last), "cases]") && holds(line.substr(last), "/t1 ")));
}

TEST_CASE("--quiet leaves rows and errors") {
  for (const char* quiet : {"-q", "--quiet"}) {
    const outcome o = hot("", std::string(quiet) + " --progress=always");
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    CHECK(holds(o.out, "Relu/"));
  }
  const outcome failed = hot("FRAGILE_ALGORITHMS=good,throw", "-q");
  CHECK(failed.status == 1);
  CHECK(one_line(failed.err));
  CHECK(holds(failed.err, "2 of 4 cases failed"));
  // Without it there is the machine, but no warning about a library that takes no times.
  const std::string head = hot("", "").err;
  CHECK(holds(head, "Run on ("));
  CHECK_FALSE(holds(head, "Library was built as DEBUG"));
}

TEST_CASE("after Ctrl-C the table ends, and one line says what is missing") {
  const scratch_folder s("interrupt_table");
  running r(s, {"FRAGILE_LAYERS=12", "FRAGILE_PAUSE=20", "FRAGILE_LOG=" + (s / "log")},
            {"--benchmark_min_time=0.002", "-q"});
  REQUIRE(eventually([&] { return lines_in(s / "log") > 4; }));
  r.signal(SIGINT);
  CHECK(r.end() == 130);
  CHECK(one_line(r.err()));
  CHECK(holds(r.err(), "interrupted, "));
  CHECK(holds(r.out(), "/t1 "));
  CHECK_FALSE(holds(r.out(), "ERROR"));
}

TEST_CASE("further facts and the kind of build are in the head of the JSON") {
  const outcome o = hot("BENCHMARK_CONTEXT=who=me", "--benchmark_format=json");
  const json context = json::parse(o.out).at("context");
  CHECK(context.at("who") == "me");
  for (const char* build : {"library_build_type", "program_build_type"})
    CHECK((context.at(build) == "debug" || context.at(build) == "release"));
  CHECK(holds(hot("", "--benchmark_context=who=you").err, "who: you"));
}

TEST_CASE("a dry run runs every case") {
  const outcome o = hot("FRAGILE_LAYERS=12", "--benchmark_dry_run --benchmark_format=json");
  CHECK(o.status == 0);
  CHECK(rows(o.out).size() == 24);
  const json whole = json::parse(o.out);
  for (const json& b : whole.at("benchmarks"))
    CHECK(holds(b.at("disturbed"), "dry run"));
}

TEST_CASE("what Google Benchmark's flags cannot mean is refused in one line") {
  for (const char* bad : {"--benchmark_min_time=20x", "--benchmark_min_warmup_time=1",
                          "--benchmark_perf_counters=CYCLES", "--v=3", "--benchmark_color=maybe"}) {
    const outcome o = hot("", bad);
    CAPTURE(bad);
    CHECK(o.status == 2);
    CHECK(one_line(o.err));
    CHECK(o.out.empty());
  }
  const outcome o = hot("BENCHMARK_PERF_COUNTERS=CYCLES", "");
  CHECK(o.status == 2);
  CHECK(holds(o.err, "BENCHMARK_PERF_COUNTERS"));
}

TEST_CASE("every program says what it is and what it is made of") {
  for (const auto& of : {std::pair(BENANZA_BENCH_BINARY, "Google Benchmark"),
                         {BENANZA_ANALYZE_BINARY, "fmt"},
                         {BENANZA_GENERATE_BINARY, "onnx"}}) {
    const char *const program = of.first, *const library = of.second;
    if (*program == 0) continue; // not built
    const outcome o = shell(std::string(program) + " --version");
    CAPTURE(program);
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    CHECK(holds(o.out, " " BENANZA_VERSION "\nrevision "));
    // An unpacked archive does not know.
    const bool checkout = shell("git -C " BENANZA_SOURCE_FOLDER " describe --always").status == 0;
    CHECK(holds(o.out, "revision          unknown") != checkout);
    CHECK(holds(o.out, std::string("\n") + library + " "));
  }
}
