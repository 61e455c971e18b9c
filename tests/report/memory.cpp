// SPDX-License-Identifier: Apache-2.0
// Is said what a run reads from memory, and how many tokens a second that allows?
#include "analyzer/report/memory.hpp"
#include "analyzer/schema.hpp"
#include "pages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_memory {
using namespace pages;

/// A layer of a decoder: 2 sequences, one token more each, 512 before it.
run decoder() {
  const std::string attention = "Attention/2x12x1x64-k513";
  run r = synthetic::empty_run();
  r.graphs.push_back(synthetic::make_graph("decoder@batch=2", {attention}, {{}}));
  synthetic::add(r, attention, "plain", 0, 1e6);
  r.graphs[0].cache = {.bytes = 6'000'000, .sequences = 2, .past = 512, .added = 1};
  return r;
}

/// Memory that is read at so many bytes a ns, and a tenth.
benanza::bound::limits memory(double rate) {
  return {.of = {}, .bytes_read_per_ns = [rate](double, int) { return rate / 1.1; }};
}

TEST_CASE("where memory sets the bound, the page says by how many bytes at which rate") {
  const run r = decoder();
  const auto slow = analyse(r, memory(1)), fast = analyse(r, memory(100));
  const std::string text = text_report(r, slow, {});
  check_width(text);
  CHECK(holds(text, "lower bound                  6.00 ms"));
  CHECK(holds(text, "what it reads from memory"));
  CHECK(holds(text, "5.72 MiB of keys and values"));
  CHECK(holds(text, "0.909 GB/s"));
  CHECK_FALSE(holds(text_report(r, fast, {}), "what it reads from memory"));
  const json a = json::parse(json_report(r, slow, true))["analyses"][0];
  CHECK(a["lower_bound"]["ns"].get<double>() == doctest::Approx(6e6));
  CHECK(a["layers_ns"] < 6e6);
  CHECK(a["memory"]["cache_bytes"] == 6'000'000);
  CHECK(a["memory"]["ns"].get<double>() == doctest::Approx(6e6));
  CHECK(a["memory"]["sets_bound"] == true);
  CHECK(json::parse(json_report(r, fast, true))["analyses"][0]["memory"]["sets_bound"] == false);
}

TEST_CASE("a step of a language model has tokens a second") {
  const run r = decoder();
  const auto models = analyse(r, memory(1));
  const json t = json::parse(json_report(r, models, true))["analyses"][0]["memory"]["tokens"];
  CHECK(t["sequences"] == 2);
  CHECK(t["new"] == 1);
  CHECK(t["past"] == 512);
  CHECK(t["bound_per_s"].get<double>() == doctest::Approx(2e9 / 6e6));
  CHECK(holds(text_report(r, models, {}), "tokens: at most 333/s"));
  run other = r;
  other.graphs[0].cache = {};
  CHECK_FALSE(holds(text_report(other, analyse(other, memory(1)), {}), "tokens:"));
}

TEST_CASE("a run that reads a prompt has a time to its first token") {
  run r = decoder();
  r.graphs[0].cache = {.bytes = 0, .sequences = 2, .past = 0, .added = 128};
  const auto last_remark = [&] {
    return benanza::report::memory_remarks(analyse(r, memory(1)).front()).back();
  };
  CHECK(last_remark() ==
        "first token after a prompt of 128 tokens, 2 sequences at once: 1.00 ms at "
        "least (256 k tokens/s), 1.03 ms expected (248 k tokens/s)");
  CHECK(holds(text_report(r, analyse(r, memory(1)), {}), "first token after a prompt of 128"));
  const benanza::test::schema schema(json::parse(
      benanza::test::text_of(BENANZA_SOURCE_FOLDER "/analyzer/report/report.schema.json")));
  CHECK(schema.first_fault(json::parse(json_report(r, analyse(r, memory(1)), true))) == "");
  r.graphs[0].cache.past = 512;
  CHECK(holds(last_remark(), "512 tokens deep, 2 sequences at once, 256 new ones in each run"));
}

} // namespace test_of_memory
