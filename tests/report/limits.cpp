// SPDX-License-Identifier: Apache-2.0
// Do limits read as they are written, and do figures break them where they should?
#include "analyzer/report/limits.hpp"
#include "analyzer/report/node_times.hpp"
#include "pages.hpp"

#include <optional>

namespace test_of_limits {
namespace {
using benanza::report::kept;
using benanza::report::limit;
using pages::run;

std::vector<benanza::report::limit_answer> held(const run& r, const std::string& text,
                                                std::optional<double> measured = std::nullopt) {
  auto models = pages::analyse(r);
  if (measured) models.front().covered = {};
  if (measured) models.front().covered.native = *measured;
  const benanza::bound::source source(r);
  const std::vector<limit> limits{limit(text)};
  auto out = benanza::report::hold_to(limits, benanza::advice::advise_all(source, models, {}));
  benanza::report::check_limits(limits, out);
  return out;
}
} // namespace

TEST_CASE("limits: names, units and comparisons") {
  CHECK(limit("resnet50.*prediction<60ms").is_about("resnet50-v1@batch=1"));
  CHECK_FALSE(limit("^vgg gap <= 1.3").is_about("resnet50-v1@batch=1"));
  CHECK(limit("a@batch=1: bound<1s").is_about("a@batch=1"));
  CHECK(limit("a>b bound<1s").is_about("a>b")); // the last comparison counts
  CHECK(limit("bound<2us").keeps(1999));
  CHECK_FALSE(limit("bound<2us").keeps(2000));
  CHECK(limit("coverage>=100%").shown(1) == "100.0 %");
  CHECK(limit("coverage>=100%").shown(0.99998) == ">99.9 %");
  CHECK(limit("gap<1.3").shown(1.30004) == "1.30004"); // not 1.300
  CHECK(limit("coverage>=100%").shown(0.98) == "98.0 %");
  CHECK(limit("bound<60ms").shown(60.004e6) == "60004000 ns");
  CHECK(limit("bound<=2us").keeps(2000));
  CHECK(limit("coverage>=99%").keeps(0.99));
  CHECK_FALSE(limit("gap>130%").keeps(1.3));
  CHECK(limit("prediction<1s").figure().name == "expected");
  for (const char* bad : {"", "bound", "bound<", "bound<1", "gap<1ms", "<1ms", "(bound<1ms",
                          "bound<-1ms", "bound<nan", "bound<infs", "xbound<1ms", "rate<1s"})
    CHECK_THROWS_AS(limit{bad}, benanza::error);
}

TEST_CASE("limits: what is not there is broken, what is not measured is not sure") {
  const run whole = synthetic::small_run();
  CHECK(held(whole, "bound<1s").at(0).is == kept::yes);
  CHECK(held(whole, "bound>1s").at(0).is == kept::no);
  CHECK(held(whole, "framework<1s").at(0).is == kept::no);
  CHECK(held(whole, "framework>1s").at(0).why == "no framework's run was given (--framework)");
  CHECK(held(whole, "coverage>=100%", 0.9).at(0).is == kept::no);
  CHECK(held(whole, "coverage>=100%", 1 - 3e-16).at(0).is == kept::yes); // all, but for rounding
  const run bent = pages::bent_run();
  CHECK(held(bent, "bound<1s").at(0).is == kept::unsure);
  CHECK(held(bent, "unmeasured<1").at(0).is == kept::no);
  CHECK_THROWS_AS(held(whole, "nothing gap<2"), benanza::error);
}

TEST_CASE("node_times: the times of the form that should run add up to its bound; a schedule") {
  const run r = synthetic::fused_run();
  benanza::bound::model_bound b = pages::analyse(r).front();
  const auto times = benanza::report::times_of_nodes(b);
  double sum = 0;
  for (const auto& t : times)
    sum += t.bound_ns;
  CHECK(sum == doctest::Approx(b.fastest_form().bound.sequential.ns));
  b.workers = 2;
  const auto tasks = benanza::report::schedule(b);
  double end = 0;
  for (const auto& t : tasks) {
    for (const int from : t.waits_for) {
      const auto& before = tasks[static_cast<std::size_t>(from)];
      CHECK(t.begin_ns >= before.begin_ns + before.ns);
    }
    end = std::max(end, t.begin_ns + t.ns);
  }
  CHECK(end >= b.fastest_form().bound.parallel.ns * (1 - 1e-9));
}

} // namespace test_of_limits
