// SPDX-License-Identifier: Apache-2.0
// benanza_generate --missing-from, as a user runs it.
#include "program.hpp"

#include <doctest/doctest.h>

#ifdef BENANZA_WITH_STORE

#include "result/synthetic.hpp"

#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>
#include <benanza/result/store/store.hpp>

using namespace benanza;
using namespace benanza::test;
namespace rs = benanza::result::store;
namespace fs = std::filesystem;

namespace {

const std::string generate = BENANZA_GENERATE_BINARY;

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++n;
  return n;
}

/// LeNet, and a store for its results.
struct lenet {
  scratch_folder s{"missing_from"};
  std::string model, store;
  std::vector<std::string> layers; ///< those that can be measured, by name
  lenet() {
    REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
    model = s / "m/lenet.onnx";
    store = s / "results.db";
    benanza::onnx::options o;
    o.name = "lenet";
    for (const op::layer& l : benanza::onnx::resolve(benanza::onnx::load(model), o).layers)
      if (!op::is_view(l)) layers.push_back(op::name(l));
  }
  /// Stores a result of each of the first `n` layers.
  void measure(std::size_t n, const std::string& type = "f32", int threads = 1,
               const std::string& cpu = "A CPU") const {
    result::run r = synthetic::empty_run();
    r.provenance["machine"]["cpu"] = cpu;
    for (std::size_t i = 0; i < n; ++i)
      synthetic::add(r, layers[i], "a", 0, 1e3, 1.1, type, threads);
    rs::store to(store, rs::access::write);
    to.add(to.begin_run(r), r.measurements);
  }
  outcome run(const std::string& more, const std::string& folder = "g") const {
    return shell(generate + " " + model + " --no-fusion --missing-from " + store + " " + more +
                 " -o " + (s / folder));
  }
};

void refused(const outcome& o, const std::string& word) {
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(one_line(o.err));
  CHECK(holds(o.err, word));
}

} // namespace

TEST_CASE("layers that a store holds are known, the others are measured, and graphs stay whole") {
  const lenet l;
  l.measure(4);
  const outcome o = l.run("");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(holds(o.out, std::to_string(l.layers.size() - 4) + " of " +
                         std::to_string(l.layers.size()) + " unique layers are missing"));
  CHECK(count(text_of(l.s / "g/known_layers.cpp"), "::known(") == 4);
  REQUIRE(shell(generate + " " + l.model + " --no-fusion -o " + (l.s / "all")).status == 0);
  CHECK(text_of(l.s / "g/graph.cpp") == text_of(l.s / "all/graph.cpp"));
  CHECK(count(text_of(l.s / "g/layers_0.cpp"), "::add(") ==
        count(text_of(l.s / "all/layers_0.cpp"), "::add(") - 4);
  // The same store gives the same bytes, and the folder can be replaced by a whole one.
  REQUIRE(l.run("", "again").status == 0);
  CHECK(shell("diff -r " + (l.s / "g") + " " + (l.s / "again")).status == 0);
  REQUIRE(shell(generate + " " + l.model + " --no-fusion -o " + (l.s / "g")).status == 0);
  CHECK_FALSE(fs::exists(l.s / "g/known_layers.cpp"));
}

TEST_CASE("where nothing is missing nothing is written, and a line says so") {
  const lenet l;
  l.measure(l.layers.size());
  const outcome o = l.run("");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(o.out == "nothing is missing: " + std::to_string(l.layers.size()) +
                     " layers are measured in " + l.store + ", and nothing is written\n");
  CHECK_FALSE(fs::exists(l.s / "g"));
  CHECK(holds(l.run("--types bf16").out, "unique layers are missing"));
  CHECK(holds(l.run("--threads 1,2").out, "unique layers are missing"));
  l.measure(l.layers.size(), "bf16", 2);
  CHECK(holds(l.run("--types bf16 --threads 2").out, "nothing is missing"));
}

TEST_CASE("results of less effort than is asked for do not count") {
  const lenet l;
  l.measure(l.layers.size()); // which does not say its effort, and so had the usual one
  CHECK(holds(l.run("").out, "nothing is missing"));
  CHECK(holds(l.run("--effort quick").out, "nothing is missing"));
  const std::string all = std::to_string(l.layers.size());
  CHECK(holds(l.run("--effort thorough").out, all + " of " + all + " unique layers are to be"));
  CHECK(holds(l.run("--effort thorough").out, ": 0 are missing in " + l.store + ", " + all +
                                                  " are there with less than thorough effort\n"));
  refused(l.run("--effort lazy"), "--effort");
}

TEST_CASE("what was tried in vain is named and not tried again, unless that is asked for") {
  const lenet l;
  l.measure(l.layers.size() - 2);
  result::run r = synthetic::empty_run();
  r.provenance["machine"]["cpu"] = "A CPU";
  for (std::size_t i = l.layers.size() - 2; i < l.layers.size(); ++i) {
    synthetic::add(r, l.layers[i], "a", 0, 1e3);
    r.measurements.back().error = "out of luck\nfor two lines";
  }
  std::erase_if(r.measurements, [](const auto& m) { return m.error.empty(); });
  {
    rs::store to(l.store, rs::access::write);
    to.add(to.begin_run(r), r.measurements);
  }
  const outcome o = l.run("");
  CHECK(o.status == 0);
  CHECK(holds(o.out, "nothing is missing: " + std::to_string(l.layers.size() - 2) + " layers"));
  CHECK(count(o.err, "\n") == 2);
  for (std::size_t i = l.layers.size() - 2; i < l.layers.size(); ++i)
    CHECK(holds(o.err, l.layers[i] + " has no time in " + l.store +
                           ", and is not tried again: out of luck\n"));
  const outcome again = l.run("--again=failed");
  CHECK(again.err.empty());
  CHECK(holds(again.out, "2 of " + std::to_string(l.layers.size()) + " unique layers are missing"));
  refused(l.run("--again=all"), "--again");
}

TEST_CASE("of several systems one has to be chosen") {
  const lenet l;
  l.measure(4);
  l.measure(2, "f32", 1, "Another CPU");
  refused(l.run(""), "--system N or --system latest; there are 1: A CPU");
  CHECK_FALSE(fs::exists(l.s / "g"));
  CHECK(l.run("--system 1").status == 0);
  CHECK(count(text_of(l.s / "g/known_layers.cpp"), "::known(") == 4);
  CHECK(l.run("--system 2").status == 0);
  CHECK(count(text_of(l.s / "g/known_layers.cpp"), "::known(") == 2);
  refused(l.run("--system 3"), "no system \"3\"");
}

TEST_CASE("a store without results lacks every layer; what is no store is refused") {
  const lenet l;
  refused(l.run(""), "no such store");
  { const rs::store empty(l.store, rs::access::write); }
  CHECK(l.run("").status == 0);
  CHECK_FALSE(fs::exists(l.s / "g/known_layers.cpp"));
  refused(l.run("--types f33"), "f33");
  refused(l.run("--types f32,"), "--types");
  refused(l.run("--threads 0"), "--threads");
  refused(l.run("--threads x"), "--threads");
  refused(shell(generate + " " + l.model + " --system latest -o " + (l.s / "h")), "--missing-from");
  std::ofstream(l.store, std::ios::trunc) << "{}";
  refused(l.run(""), "no store");
  CHECK_FALSE(fs::exists(l.s / "h"));
}

#else

TEST_CASE("without SQLite --missing-from is refused") {
  using namespace benanza::test;
  const scratch_folder s("missing_from");
  const std::string generate = BENANZA_GENERATE_BINARY;
  REQUIRE(shell(generate + " zoo lenet -o " + (s / "m")).status == 0);
  const outcome o =
      shell(generate + " " + (s / "m/lenet.onnx") + " --missing-from a.db -o " + (s / "g"));
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.err.find("built without SQLite") != std::string::npos);
}

#endif
