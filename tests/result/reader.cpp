// SPDX-License-Identifier: Apache-2.0
// Does a result come back as it was written, and is what is no result refused in one line that says
// what, where and what to do? Cut files and flipped bytes may only ever end in a refusal.
#include "../program.hpp"
#include "document.hpp"

#include <benanza/result/document.hpp>
#include <benanza/result/reader.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using benanza::result::json;
using benanza::result::measurement;
using benanza::result::ordered_json;
using benanza::result::run;
using benanza::result::to_json;

run read(const std::string& text) {
  return benanza::result::read(std::string_view(text), "run.json");
}

/// The refusal of a text; empty if it was not refused.
std::string refused_with(const std::string& text) {
  try {
    (void)read(text);
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

/// The refusal of the small result after a change to its document.
std::string refused_with(const std::function<void(ordered_json&)>& change) {
  ordered_json d = synthetic::document(synthetic::small_run());
  change(d);
  return refused_with(d.dump());
}

using benanza::test::holds;

ordered_json& graph(ordered_json& d) {
  return d["context"]["benanza"]["graphs"][0];
}

} // namespace

TEST_CASE("a result comes back as it was written") {
  const run written = synthetic::small_run();
  const run r = read(synthetic::text(written));
  CHECK(r.source == "run.json");
  CHECK(r.provenance == written.provenance);
  REQUIRE(r.graphs.size() == 1);
  CHECK(to_json(r.graphs[0]) == to_json(written.graphs[0]));
  CHECK(r.graphs[0].layers == written.graphs[0].layers);
  REQUIRE(r.measurements.size() == written.measurements.size());
  for (std::size_t i = 0; i < r.measurements.size(); ++i)
    CHECK(to_json(r.measurements[i]) == to_json(written.measurements[i]));
}

TEST_CASE("unresolved nodes keep their place and their reason") {
  run written = synthetic::small_run();
  written.graphs[0].nodes[3].layer = benanza::model::no_layer;
  written.graphs[0].nodes[3].problem = "its \"shape\" is\nunknown";
  written.graphs[0].repairs = {"opset 7 read as 8"};
  const run r = read(synthetic::text(written));
  CHECK(r.graphs[0].nodes[3].layer == benanza::model::no_layer);
  CHECK(r.graphs[0].nodes[3].problem == written.graphs[0].nodes[3].problem);
  CHECK(r.graphs[0].repairs == written.graphs[0].repairs);
}

TEST_CASE("a failed case needs no times, and says why it failed") {
  run written = synthetic::small_run();
  written.measurements[0].error = "out of memory";
  const ordered_json row = synthetic::row(written.measurements[0]);
  CHECK(row["error_occurred"] == true);
  CHECK_FALSE(row.contains("samples_ns"));
  const run r = read(synthetic::text(written));
  CHECK(r.measurements[0].error == "out of memory");
  CHECK(r.measurements[0].key == written.measurements[0].key);

  ordered_json d = synthetic::document(written);
  d["benchmarks"][0].erase("error_message");
  d["benchmarks"][0].erase("weight_bytes");
  CHECK(read(d.dump()).measurements[0].error == "failed without a reason");
}

TEST_CASE("aggregates are left out; keys take their canonical form; other families pass") {
  ordered_json d = synthetic::document(synthetic::small_run());
  const std::size_t cases = d["benchmarks"].size();
  ordered_json aggregate = d["benchmarks"][0];
  aggregate["run_type"] = "aggregate";
  d["benchmarks"].push_back(aggregate);
  CHECK(read(d.dump()).measurements.size() == cases);

  d["benchmarks"][0]["key"] = "1x64x56x56-64x3x3-s1-p1-d1";
  CHECK(read(d.dump()).measurements[0].key == "1x64x56x56-64x3x3-s1-p1");

  for (const char* family : {"machine", "model"}) {
    d["benchmarks"][0]["family"] = family;
    d["benchmarks"][0]["key"] = "what only its own reader knows";
    CHECK(read(d.dump()).measurements[0].family == family);
  }
}

TEST_CASE("a time that is none, as it is too short, is refused") {
  for (const double ns : {0.0, 5e-324, 1e-300, 1e-9, 9e-4}) {
    CAPTURE(ns);
    CHECK(holds(refused_with([&](auto& d) { d["benchmarks"][0]["samples_ns"][0] = ns; }), "time"));
    CHECK(holds(refused_with([&](auto& d) { d["benchmarks"][0]["min_ns"] = ns; }), "time"));
  }
}

TEST_CASE("facts of the provenance may be numbers") {
  ordered_json d = synthetic::document(synthetic::small_run());
  d["context"]["benanza"]["provenance"]["machine"]["cores"] = 2;
  CHECK(read(d.dump()).provenance.at("machine").at("cores") == "2");
}

TEST_CASE("what is no result is refused, saying what, where and what to do") {
  CHECK(holds(refused_with(""), "empty"));
  CHECK(holds(refused_with(" \n\t"), "empty"));
  CHECK(holds(refused_with("{}"), "not a benchmark result"));
  CHECK(holds(refused_with("[1, 2]"), "not a benchmark result"));
  CHECK(holds(refused_with("null"), "not a benchmark result"));
  CHECK(holds(refused_with("Run on (2 X 2596 MHz CPU s)"), "not valid JSON (run.json, byte 1)"));
  CHECK(
      holds(refused_with(R"({"context": {"date": "x"}, "benchmarks": []})"), "has no provenance"));
  const std::string text = synthetic::text(synthetic::small_run());
  CHECK(holds(refused_with(text.substr(0, 5000)), "cut off (run.json, byte 5001)"));
  CHECK(holds(refused_with(text + "}"), "not valid JSON"));
  CHECK(holds(refused_with(R"({"context": 1e999})"), "number"));
  CHECK(holds(refused_with("{\"context\": \"\xff\"}"), "not valid JSON"));

  CHECK(holds(refused_with([](auto& d) { d["context"]["benanza"]["schema"] = 2; }), "schema 2"));
  CHECK(holds(refused_with([](auto& d) { d["context"]["benanza"].erase("schema"); }), "schema"));
  CHECK(holds(refused_with([](auto& d) { d["context"]["benanza"].erase("provenance"); }),
              "\"machine\""));
  CHECK(
      holds(refused_with([](auto& d) { d["context"]["benanza"]["provenance"].erase("software"); }),
            "\"software\""));
  CHECK(holds(refused_with([](auto& d) {
                for (auto& row : d["benchmarks"])
                  row["run_type"] = "aggregate";
              }),
              "aggregates only"));
}

TEST_CASE("what is nested without end is refused wherever it is") {
  const auto deep = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  const auto document = [](const std::string& schema, const std::string& fact,
                           const std::string& entry) {
    return R"({"context": {"benanza": {"schema": )" + schema +
           R"(, "provenance": {"machine": {"x": )" + fact +
           R"(}, "software": {"y": ""}}, "graphs": []}}, "benchmarks": [)" + entry + "]}";
  };
  CHECK(refused_with(document("1", "2", "")).empty());
  CHECK(refused_with(document("1", deep(50), "")).empty());
  for (const std::size_t levels : {65u, 100'000u}) {
    CHECK(holds(refused_with(document(deep(levels), "2", "")), "nested deeper than 64 levels"));
    CHECK(holds(refused_with(document("1", deep(levels), "")), "nested deeper than 64 levels"));
    CHECK(holds(refused_with(document("1", "2", deep(levels))), "nested deeper than 64 levels"));
    CHECK(holds(refused_with(deep(levels)), "nested deeper than 64 levels"));
  }
  CHECK(holds(refused_with(std::string(100'000, '[')), "nested deeper than 64 levels"));
}

TEST_CASE("the order of a document's parts means nothing, and each part is there once") {
  const ordered_json d = synthetic::document(synthetic::small_run());
  const json sorted = json::parse(d.dump()); // "benchmarks" comes first
  REQUIRE(sorted.dump().starts_with("{\"benchmarks\""));
  CHECK(read(sorted.dump()).measurements.size() == d["benchmarks"].size());
  CHECK(read(" \n" + d.dump(2) + "\n").measurements.size() == d["benchmarks"].size());
  const std::string text = d.dump();
  CHECK(
      holds(refused_with(text.substr(0, text.size() - 1) + ", \"benchmarks\": []}"), "two lists"));
  CHECK(holds(refused_with(text.substr(0, text.size() - 1) + ", \"benchmarks\": 5}"),
              "not a benchmark"));
  // What is wrong with the whole is reported before what is wrong with a case.
  json other = sorted;
  other["context"].erase("benanza");
  other["benchmarks"][0].erase("family");
  CHECK(holds(refused_with(other.dump()), "no provenance"));
}

TEST_CASE("more samples than anybody needs are thinned out in their order") {
  ordered_json d = synthetic::document(synthetic::small_run());
  ordered_json& row = d["benchmarks"][0];
  std::vector<double> all;
  for (int i = 0; i < 300'000; ++i)
    all.push_back(1000 + i);
  row["samples_ns"] = all;
  const measurement m = read(d.dump()).measurements[0];
  CHECK(m.samples_ns.size() <= benanza::result::detail::most_samples);
  CHECK(m.samples_ns.size() > benanza::result::detail::most_samples / 2);
  CHECK(m.samples_ns.front() == 1000);
  CHECK(m.samples_ns.back() > 1000 + 299'990);
  CHECK(std::is_sorted(m.samples_ns.begin(), m.samples_ns.end()));
}

TEST_CASE("times that no run can take are refused, so that all sums are finite") {
  for (const double ns : {1e308, 1e16, -1.0}) {
    for (const char* field : {"median_ns", "setup_ns"})
      CHECK(holds(refused_with([&](ordered_json& d) { d["benchmarks"][2][field] = ns; }), field));
    CHECK(holds(refused_with([&](ordered_json& d) { d["benchmarks"][2]["samples_ns"][1] = ns; }),
                "samples_ns"));
  }
}

TEST_CASE("an energy of more power than there is, or below zero, is refused") {
  const auto with = [](double share) {
    return refused_with([share](auto& d) {
      auto& b = d["benchmarks"][0];
      b["energy_nj"] = share * b["median_ns"].template get<double>();
    });
  };
  CHECK(with(0) == "");
  CHECK(with(1999) == "");
  const std::string why = with(2001);
  CHECK(holds(why, "energy_nj"));
  CHECK(holds(why, "2 kW"));
  CHECK(holds(with(-1), "energy_nj"));
}

TEST_CASE("a case that cannot be is refused by name") {
  const auto with = [](const char* field, const ordered_json& value) {
    return refused_with([&](ordered_json& d) { d["benchmarks"][2][field] = value; });
  };
  const std::string name = synthetic::small_run().measurements[2].name;
  CHECK(holds(with("key", "1x64x56x56-64x3x3-s1-p1-q9"), name));
  CHECK(holds(with("key", "1x64x56"), "no layer is \"Conv/1x64x56\""));
  CHECK(holds(with("family", "Convolution"), "no layer kind is called \"Convolution\""));
  CHECK(holds(with("type", "f33"), "\"type\""));
  CHECK(holds(with("state", "warm"), "\"state\""));
  CHECK(holds(with("device", "tpu"), "\"device\""));
  CHECK(holds(with("threads", 0), "\"threads\""));
  CHECK(holds(with("threads", 1.5), "\"threads\""));
  CHECK(holds(with("threads", 3'000'000'000), "\"threads\""));
  CHECK(holds(with("weight_bytes", -1), "\"weight_bytes\""));
  CHECK(holds(with("flops", 18'446'744'073'709'551'615u), "\"flops\""));
  CHECK(holds(with("min_ns", 0), "\"min_ns\""));
  CHECK(holds(with("median_ns", -5.0), "\"median_ns\""));
  CHECK(holds(with("p90_ns", std::numeric_limits<double>::quiet_NaN()), "\"p90_ns\""));
  CHECK(holds(with("p10_ns", "12"), "\"p10_ns\""));
  CHECK(holds(with("mad_ns", -1), "\"mad_ns\""));
  CHECK(with("mad_ns", 0).empty());
  CHECK(with("setup_ns", 0).empty());
  CHECK(holds(with("samples_ns", json::array()), "\"samples_ns\""));
  CHECK(holds(with("samples_ns", {1.0, 0.0}), "\"samples_ns\""));
  CHECK(holds(with("samples_ns", {1.0, nullptr}), "\"samples_ns\""));
  CHECK(holds(with("samples_ns", "1 2 3"), "\"samples_ns\""));
  CHECK(holds(with("layouts", 3), "\"layouts\""));
  ordered_json kernel{{"name", "k"},    {"grid", {1, 2, 3}}, {"block", {4, 5, 6}},
                      {"registers", 7}, {"shared_bytes", 8}, {"ns", 9}};
  const auto kernels_with = [&](const char* field, const ordered_json& value) {
    ordered_json bent = kernel;
    if (value.is_discarded())
      bent.erase(field);
    else
      bent[field] = value;
    return with("kernels", ordered_json::array({bent}));
  };
  CHECK(kernels_with("ns", 0).empty());
  CHECK(kernels_with("grid", ordered_json::value_t::discarded).empty()); // no kernel, but a copy
  CHECK(holds(with("kernels", "k"), "\"kernels\""));
  CHECK(holds(with("kernels", {"k"}), "\"kernels\""));
  CHECK(holds(kernels_with("name", 3), "\"name\""));
  CHECK(holds(kernels_with("name", ordered_json::value_t::discarded), "\"name\" is missing"));
  CHECK(holds(kernels_with("ns", -1), "\"ns\""));
  CHECK(holds(kernels_with("grid", {1, 2}), "\"grid\""));
  CHECK(holds(kernels_with("block", {1, -2, 3}), "\"block\""));
  CHECK(holds(kernels_with("block", ordered_json::value_t::discarded), "\"block\" is missing"));
  CHECK(holds(kernels_with("registers", 1.5), "\"registers\""));
  CHECK(holds(refused_with([](auto& d) { d["benchmarks"][2].erase("algorithm_index"); }),
              "\"algorithm_index\" is missing"));
  CHECK(holds(refused_with([](auto& d) { d["benchmarks"][2] = 7; }), "not an object"));
}

TEST_CASE("a graph that cannot be is refused by name") {
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"][2][2] = 99; }), "node \"node2\""));
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"][2][2] = -2; }), "\"layer\""));
  CHECK(
      holds(refused_with([](auto& d) { graph(d)["nodes"][2][3] = {2}; }), "does not come before"));
  CHECK(
      holds(refused_with([](auto& d) { graph(d)["nodes"][0][3] = {5}; }), "does not come before"));
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"][4][3] = {3, -3}; }), "\"operands\""));
  CHECK(holds(refused_with([](auto& d) {
                graph(d)["nodes"][4][3] = json::array({json::array({3, -1})});
              }),
              "\"operands\""));
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"][4][3] = {"3"}; }), "\"operands\""));
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"][4] = "node"; }), "a node is not"));
  CHECK(holds(refused_with([](auto& d) { graph(d)["nodes"] = 3; }), "\"nodes\" is not a list"));
  CHECK(holds(refused_with([](auto& d) { graph(d)["layers"][0] = {"Conv"}; }), "a layer is not"));
  CHECK(holds(refused_with([](auto& d) { graph(d)["layers"][0] = {"Conv", "x"}; }), "no layer is"));
  CHECK(holds(refused_with([](auto& d) { graph(d)["type"] = "float"; }), "\"type\""));
  CHECK(holds(refused_with([](auto& d) { graph(d)["batch"] = 0; }), "\"batch\""));
  CHECK(holds(refused_with([](auto& d) { graph(d) = nullptr; }), "graph 0"));
  CHECK(holds(refused_with([](auto& d) {
                auto& all = d["context"]["benanza"]["graphs"];
                all.push_back(all[0]);
              }),
              "same name"));
  CHECK(holds(refused_with([](auto& d) {
                d["context"]["benanza"]["graphs"] = {{"a", 1}};
              }),
              "\"graphs\" is not a list"));
}

TEST_CASE("cut files and flipped bytes end in a refusal of one line, or in a result") {
  const std::string text = synthetic::document(synthetic::small_run()).dump();
  for (std::size_t n = 0; n < text.size(); n += 211) {
    const std::string why = refused_with(text.substr(0, n));
    CHECK_FALSE(why.empty());
    CHECK_FALSE(holds(why, "\n"));
  }
  synthetic::random dice{11};
  for (int i = 0; i < 1500; ++i) {
    std::string changed = text;
    const auto at = static_cast<std::size_t>(dice()) % text.size();
    changed[at] = static_cast<char>(dice.below(256));
    CHECK_FALSE(holds(refused_with(changed), "\n"));
  }
}

TEST_CASE("files that are not there or are folders are refused by name") {
  const auto why = [](const std::string& path) {
    try {
      (void)benanza::result::read_file(path);
    } catch (const benanza::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto folder = std::filesystem::temp_directory_path();
  CHECK(holds(why("/no/such/run.json"), "cannot be opened (/no/such/run.json)"));
  CHECK(holds(why(folder.string()), "directory"));

  const auto file = folder / "benanza_reader_test.json";
  std::ofstream(file) << synthetic::text(synthetic::small_run());
  CHECK(benanza::result::read_file(file.string()).graphs.size() == 1);
  std::filesystem::remove(file);

  std::istringstream in(synthetic::text(synthetic::small_run()));
  CHECK(benanza::result::read(in, "standard input").source == "standard input");
}
