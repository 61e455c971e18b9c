// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/campaign/worker.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace benanza;
using namespace benanza::measure;

namespace {
struct nothing final : subject {
  ready_case ready(const bench_case&) override { return {}; }
};

/// Fails every case with its name.
struct echo final : runner {
  void measure(group& g, const case_list& which, const std::atomic<bool>&) override {
    for (std::size_t i : which)
      g.cases[i].results = failed_case(g, i, "it is " + g.cases[i].name);
  }
  machine_seen seen(int) const override { return {}; }
};

std::vector<group> two_groups() {
  std::vector<group> out;
  for (const char* names : {"ab", "cd"}) {
    group g{.what = std::make_shared<nothing>()};
    for (const char* n = names; *n != 0; ++n)
      g.cases.push_back({.name = std::string(1, *n), .backend = {}, .algorithm = {}, .state = {}});
    out.push_back(std::move(g));
  }
  return out;
}
} // namespace

TEST_CASE(
    "a worker is ready, answers in the order asked, refuses what it lacks, ends with its link") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const auto groups = two_groups();
  std::thread worker([&] {
    echo r;
    const auto count = [](const group& g, const nlohmann::json& question) -> nlohmann::json {
      return {{"counted", question.at("count").get<int>() * static_cast<int>(g.cases.size())}};
    };
    CHECK(serve({.socket = ends[1], .board = -1}, groups, r, {{"count", count}}) == 0);
  });
  wire::line_reader in;
  const auto next = [&] {
    for (;;) {
      if (const auto line = in.next()) return nlohmann::json::parse(*line);
      REQUIRE(in.fill(ends[0]));
    }
  };
  CHECK(next().contains("ready"));
  wire::send_line(ends[0], {{"cases", {"d", "c"}}});
  const auto answer = next();
  CHECK(answer["results"][0]["case"] == "d");
  CHECK(answer["results"][1]["passes"][0]["error_message"] == "it is c");
  wire::send_line(ends[0], {{"cases", {"a", "b"}}, {"count", 10}}); // another answer than results
  CHECK(next() == nlohmann::json{{"counted", 20}});
  for (const nlohmann::json& bad :
       {nlohmann::json{{"cases", {"x"}}}, nlohmann::json{{"cases", {"a", "c"}}},
        nlohmann::json{{"cases", {"a"}}, {"count", "x"}}, nlohmann::json(3)}) {
    wire::send_line(ends[0], bad);
    CHECK(next().contains("refused"));
  }
  close(ends[0]);
  worker.join();
  close(ends[1]);
}
