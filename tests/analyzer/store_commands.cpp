// SPDX-License-Identifier: Apache-2.0
// Stores on the command line of benanza_analyze: read like result files, exported, added to.
#include "../result/document.hpp"
#include "command.hpp"

#include "analyzer/store/store_commands.hpp"

#include <benanza/result/reader.hpp>

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/store.hpp>
#endif

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;
using benanza::test::text_of;

void refused(const outcome& o, const std::string& part) {
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(benanza::test::one_line(o.err));
  CHECK(holds(o.err, part));
}

std::string put(const std::string& file, const run& r) {
  std::ofstream(file) << synthetic::text(r);
  return file;
}

} // namespace

TEST_CASE("a store is known by its first bytes") {
  const benanza::test::scratch_folder f("stores");
  std::ofstream(f / "a") << std::string("SQLite format 3\0 and more", 25);
  std::ofstream(f / "b") << "SQLite format 3";
  std::ofstream(f / "c") << "{}";
  CHECK(benanza::analyzer::is_store(f / "a"));
  CHECK_FALSE(benanza::analyzer::is_store(f / "b"));
  CHECK_FALSE(benanza::analyzer::is_store(f / "c"));
  CHECK_FALSE(benanza::analyzer::is_store(f / "none"));
  CHECK_FALSE(benanza::analyzer::is_store(f.path.string()));
}

#ifdef BENANZA_WITH_STORE

TEST_CASE("imported results give the report that their file gives; importing again adds nothing") {
  const benanza::test::scratch_folder f("stores");
  const std::string file = put(f / "run.json", synthetic::small_run());
  const std::string store = f / "results.db";
  const outcome first = analyze({"--import", file, "--store", store});
  CHECK(first.err.empty());
  CHECK(first.status == 0);
  CHECK(first.out == file + ": 14 of 14 results added to " + store + "\n");
  CHECK(analyze({"--import", file, file, "--store", store}).out ==
        file + ": 0 of 14 results added to " + store + "\n" + file + ": 0 of 14 results added to " +
            store + "\n");
  CHECK(analyze({store}).out == analyze({file}).out);
  CHECK(analyze({store, "--model", "tiny", "--system", "latest"}).out ==
        analyze({file, "--model", "tiny"}).out);
  CHECK(analyze({store, file}).out == analyze({file}).out);
}

TEST_CASE("an export is a result file, and adds nothing where it came from") {
  const benanza::test::scratch_folder f("stores");
  const std::string store = f / "results.db", out = f / "out.json";
  run again = synthetic::small_run();
  again.provenance["measuring"]["date"] = "2025-01-01";
  for (auto& m : again.measurements)
    m.samples_ns[3] += 0.5;
  again.graphs.push_back(synthetic::make_graph("other@batch=1", {synthetic::relu}, {{}}));
  analyze({"--import", put(f / "a.json", synthetic::small_run()), put(f / "b.json", again),
           "--store", store});
  const outcome o = analyze({store, "--export", out});
  CHECK(o.err.empty());
  CHECK(o.status == 0);
  CHECK(benanza::result::read_file(out).measurements.size() == 28);
  CHECK(analyze({out}).out == analyze({store}).out);
  CHECK(holds(analyze({"--import", out, "--store", store}).out, ": 0 of 28 results added"));
  CHECK(holds(analyze({"--import", out, "--store", f / "copy.db"}).out, ": 28 of 28 results"));
  // The copy has one run in place of two, and the same figures.
  const auto figures = [&](const std::string& from) {
    auto j = benanza::result::json::parse(analyze({from, "--format", "json"}).out);
    return j["analyses"].dump();
  };
  CHECK(figures(f / "copy.db") == figures(store));

  CHECK(analyze({store, "--export", out, "--model", "other"}).status == 0);
  const run part = benanza::result::read_file(out);
  CHECK(part.graphs.size() == 1);
  CHECK(part.measurements.size() == 2);
}

TEST_CASE("a result that is not what was stored is named, and never a figure") {
  const benanza::test::scratch_folder f("stores");
  const std::string store = f / "results.db", out = f / "out.json";
  analyze({"--import", put(f / "a.json", synthetic::small_run()), "--store", store});
  {
    const benanza::result::store::store s(store, benanza::result::store::access::write);
    s.tables_of().run("UPDATE result SET numbers = numbers || x'00' WHERE n = 3");
  }
  const outcome o = analyze({store});
  CHECK(o.status == 1);
  CHECK(holds(o.err, "1 result of the store is damaged"));
  CHECK(holds(o.err, "measure again"));
  CHECK(holds(analyze({store, "--export", out}).err, "1 result of the store is damaged"));
  CHECK(benanza::result::read_file(out).measurements.size() == 13);
  // Measured again, all is whole.
  CHECK(holds(analyze({"--import", f / "a.json", "--store", store}).out, ": 1 of 14 results"));
  CHECK(analyze({store}).err.empty());
  CHECK(analyze({store}).out == analyze({f / "a.json"}).out);
}

TEST_CASE("a layer that is missing in a store says how to measure all that is missing, once") {
  const benanza::test::scratch_folder f("stores");
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const auto& m) { return m.family != "Conv"; });
  const std::string store = f / "results.db";
  analyze({"--import", put(f / "a.json", r), "--store", store});
  const outcome o = analyze({store});
  CHECK(o.status == 1);
  const std::string command = "benanza_bench --model tiny@batch=1 --store " + store + '\n';
  REQUIRE(holds(o.out, command));
  CHECK(o.out.find(command) == o.out.rfind(command));
  CHECK_FALSE(holds(o.out, "--benchmark_filter"));
}

TEST_CASE("what cannot be done with a store is refused in one line") {
  const benanza::test::scratch_folder f("stores");
  const std::string store = f / "results.db";
  run other = synthetic::small_run();
  other.provenance["machine"]["cpu"] = "Another";
  const std::string file = put(f / "a.json", synthetic::small_run());
  refused(analyze({"--import", file}), "--store");
  refused(analyze({"--store", store}), "nothing is imported");
  refused(analyze({"--import", file, f / "none.json", "--store", store}), "none.json");
  CHECK_FALSE(std::filesystem::exists(store));
  refused(analyze({"--import", file, "--store", file}), "no store");
  refused(analyze({file, "--system", "1"}), "no store was given");
  refused(analyze({file, "--export", f / "x.json"}), "--export needs a store");
  refused(analyze({"--export", f / "x.json"}), "--export needs a store");
  analyze({"--import", file, put(f / "b.json", other), "--store", store});
  refused(analyze({store}), "--system N or --system latest; there are 1: Test CPU 9000");
  refused(analyze({store, "--system", "3"}), "no system \"3\"");
  refused(analyze({store, "--system", "1", "--model", "resnet"}), "there are: tiny@batch=1");
  refused(analyze({store, file, "--system", "2"}),
          "results of different machines are not merged: cpu");
  refused(analyze({store, "--system", "1", "--export", f / "no/such.json"}), "no/such.json");
  CHECK(analyze({store, "--system", "2"}).status == 0);
  const std::string whole = text_of(store);
  std::ofstream(store) << whole.substr(0, whole.size() / 2);
  refused(analyze({store, "--system", "2"}), "damaged");
}

TEST_CASE("what nothing runs and what failed say so, out of a store and out of its export") {
  const benanza::test::scratch_folder f("stores");
  run r = synthetic::small_run();
  for (auto& m : r.measurements) {
    if (m.family == "Relu") m.error = "wrong result";
    if (m.family != "Softmax") continue;
    m.backend = m.algorithm = m.state = "none";
    m.error = "no backend has an algorithm for it in f32";
  }
  const std::string store = f / "results.db";
  {
    benanza::result::store::store s(store, benanza::result::store::access::write);
    s.add(s.begin_run(r), r.measurements);
  }
  const outcome o = analyze({store});
  CHECK(o.status == 1);
  CHECK(holds(o.out, "no backend has an algorithm for it in f32"));
  CHECK(holds(o.out, "benanza_bench --model tiny@batch=1 --store " + store + " --again=failed\n"));
  const std::string out = f / "out.json";
  CHECK(analyze({store, "--export", out}).status == 0);
  const outcome exported = analyze({out});
  CHECK(exported.status == 1);
  CHECK(holds(exported.out, "no backend has an algorithm for it in f32"));
  CHECK(holds(exported.out, "--benchmark_filter='^Relu/1x64x56x56/'"));
}

#else

TEST_CASE("without SQLite a store is refused by name") {
  const benanza::test::scratch_folder f("stores");
  std::ofstream(f / "a.db") << std::string("SQLite format 3\0 and more", 25);
  refused(analyze({f / "a.db"}), "built without SQLite");
  refused(analyze({f / "a.db", "--export", f / "x.json"}), "built without SQLite");
  const std::string file = put(f / "a.json", synthetic::small_run());
  refused(analyze({"--import", file, "--store", f / "b.db"}), "built without SQLite");
}

#endif
