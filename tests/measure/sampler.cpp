// SPDX-License-Identifier: Apache-2.0
#include "fake_library.hpp"

#include <benanza/measure/sampler.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
/// Takes the time it is told, and notes in what order the cases were visited.
class scripted : public backend::prepared {
public:
  scripted(double ns, std::vector<int>& visits, int id)
      : ns_(ns)
      , visits_(visits)
      , id_(id) {}
  std::string ran() const override { return "scripted"; }
  void run(int) override { visits_.push_back(id_); }
  double time(int n) override { return ns_ * n; }
  void read(std::vector<double>&) const override {}

private:
  double ns_;
  std::vector<int>& visits_;
  int id_;
};

struct setup {
  std::vector<int> visits;
  std::vector<std::unique_ptr<scripted>> runs;
  std::vector<sampled_case> cases;
  explicit setup(const std::vector<double>& ns) {
    for (std::size_t i = 0; i < ns.size(); ++i) {
      runs.push_back(std::make_unique<scripted>(ns[i], visits, static_cast<int>(i)));
      cases.push_back({.run = runs.back().get()});
    }
  }
};

std::atomic<bool> go{false};
} // namespace

TEST_CASE("every case is visited in every round, in changing order") {
  setup s({3000, 3100, 3200, 3300});
  sample(s.cases, {.seconds = 1e-4, .rounds = 8}, go);
  REQUIRE(s.visits.size() == 32);
  bool changed = false;
  for (std::size_t round = 0; round < 8; ++round) {
    const auto from = s.visits.begin() + static_cast<std::ptrdiff_t>(4 * round);
    std::vector<int> order(from, from + 4);
    changed = changed || !std::is_sorted(order.begin(), order.end());
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector{0, 1, 2, 3});
  }
  CHECK(changed);
  for (const sampled_case& c : s.cases)
    CHECK(c.stop_reason == "time");
}

TEST_CASE("what is too short for the clock is timed several at once") {
  setup s({10, 3000});
  sample(s.cases, {.seconds = 1e-4, .rounds = 4}, go);
  CHECK(s.cases[0].batch == 200);
  CHECK(s.cases[1].batch == 1);
  for (double ns : s.cases[0].passes[0])
    CHECK(ns == doctest::Approx(10));
}

TEST_CASE("a hopeless case gets one sample a round, in the fewest rounds") {
  setup s({3000, 30000});
  sample(s.cases, {.seconds = 1e-3, .rounds = 8}, go);
  CHECK(s.cases[1].passes[0].size() == 4);
  CHECK(s.cases[1].stop_reason.find("cannot win") == 0);
  CHECK(s.cases[0].passes[0].size() > 8);
}

TEST_CASE("one disturbed look does not lose a winner") {
  /// Slow while it is first looked at, fast from then on.
  class late : public backend::prepared {
  public:
    std::string ran() const override { return "late"; }
    void run(int) override {}
    double time(int n) override { return (calls_++ < 4 ? 90000.0 : 2500.0) * n; }
    void read(std::vector<double>&) const override {}

  private:
    int calls_ = 0;
  };
  setup s({3000});
  late second;
  s.cases.push_back({.run = &second});
  sample(s.cases, {.seconds = 1e-3, .rounds = 8}, go);
  CHECK(s.cases[1].stop_reason == "time");
  CHECK(s.cases[1].passes[0].size() > 8);
}

TEST_CASE("cases of different classes do not compete") {
  setup s({3000, 30000});
  s.cases[1].rival_class = 1;
  sample(s.cases, {.seconds = 1e-3, .rounds = 8}, go);
  CHECK(s.cases[1].stop_reason == "time");
}

TEST_CASE("a slow case gets few samples, never none") {
  setup s({1e9});
  sample(s.cases, {.seconds = 1e-3, .rounds = 8}, go);
  CHECK(s.cases[0].passes[0].size() >= 4);
}

TEST_CASE("passes are independent repetitions") {
  setup s({3000});
  sample(s.cases, {.seconds = 1e-4, .rounds = 4, .passes = 3}, go);
  CHECK(s.cases[0].passes.size() == 3);
  for (const auto& pass : s.cases[0].passes)
    CHECK(!pass.empty());
}

TEST_CASE("a stop ends the sampling at once") {
  std::atomic<bool> stop{true};
  setup s({3000});
  sample(s.cases, {.seconds = 1e-3, .rounds = 8}, stop);
  CHECK(s.cases[0].passes.empty());
}
