// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/campaign/wire.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace benanza;
using namespace benanza::measure;

namespace {
struct nothing final : subject {
  nothing() {
    family = "Relu";
    key = "1x4";
  }
  ready_case ready(const bench_case&) override { return {}; }
};

group two_cases() {
  group g{.what = std::make_shared<nothing>()};
  for (const char* name : {"a", "b"}) {
    bench_case c{.name = name, .backend = "x", .algorithm = {.id = name}, .state = "hot"};
    g.cases.push_back(std::move(c));
  }
  return g;
}
} // namespace

TEST_CASE("a long message arrives whole, and the next one behind it") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const std::string text(1 << 20, 'x');
  std::thread sender([&] {
    CHECK(wire::send_line(ends[0], {{"text", text}}));
    CHECK(wire::send_line(ends[0], 7));
    close(ends[0]);
  });
  wire::line_reader in;
  std::vector<std::string> lines;
  bool open = true;
  while (open) {
    while (const auto line = in.next())
      lines.push_back(*line);
    open = in.fill(ends[1]);
  }
  sender.join();
  REQUIRE(lines.size() == 2);
  CHECK(nlohmann::json::parse(lines[0])["text"] == text);
  CHECK(lines[1] == "7");
  CHECK_FALSE(wire::send_line(ends[1], 7)); // no reader: no signal ends the process
  close(ends[1]);
}

TEST_CASE("an answer puts each case's passes where they belong") {
  group g = two_cases();
  group part{.what = g.what};
  part.cases.push_back(g.cases[1]);
  part.cases[0].results = failed_case(g, 1, "why");
  CHECK(wire::question(g, {1}).dump() == R"({"cases":["b"]})");
  const auto message = nlohmann::json::parse(wire::answer(part, {9800, 0.26}).dump());
  wire::take_answer(message, g, {1});
  CHECK(wire::seen(message).clock_ns == 9800);
  CHECK(wire::seen(message).calibrated_nop_ratio == 0.26);
  CHECK(wire::seen(message).best_nop_ratio == machine_seen::unknown);
  CHECK(g.cases[0].results.empty());
  CHECK(g.cases[1].results.at(0).error == "why");
  CHECK(g.cases[1].results.at(0).name == "b");
  CHECK_THROWS_AS(wire::take_answer(message, g, {0}), error);
  CHECK_THROWS_AS(wire::take_answer(message, g, {0, 1}), error);
}
