// SPDX-License-Identifier: Apache-2.0
#include <benanza/bound/choice.hpp>
#include <benanza/measure/sampling/racing.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

namespace {
sampled_case with(std::vector<double> ns, int rival_class = 0, bool by_median = false) {
  sampled_case c{.rival_class = rival_class, .by_median = by_median};
  for (double v : ns)
    c.samples.push_back({v, true});
  c.refresh();
  return c;
}
} // namespace

TEST_CASE("the margin shrinks with the evidence, and never into the range of ties") {
  CHECK(margin(1) > 1e300);
  CHECK(margin(2) == 2);
  for (int slices = 2; slices < 20; ++slices) {
    CHECK(margin(slices + 1) <= margin(slices));
    CHECK(margin(slices) > tie_range);
  }
  CHECK(tie_range == benanza::bound::tie);
}

TEST_CASE("disturbed slices are no evidence: few samples, a wide margin") {
  const auto alone = [](const sampled_case& c, int slices) { return margin_of(c, {c}, slices); };
  CHECK(alone(with({10}), 1) > 1e300);
  CHECK(alone(with({10}), 6) == 2);
  CHECK(alone(with({10, 11, 12}), 6) == 2);
  CHECK(alone(with({10, 11, 12, 13}), 6) == margin(6));
  sampled_case c = with({10, 11, 12, 13});
  c.samples[1].clean = c.samples[2].clean = false;
  CHECK(alone(c, 6) == 2);
  c.samples[0].clean = c.samples[3].clean = false;
  CHECK(alone(c, 6) == margin(6)); // all are equally bad, and four
}

TEST_CASE("disturbed samples do not lose narrowly to the clean ones of a rival") {
  sampled_case disturbed = with({14, 14, 14, 14, 14});
  for (auto& s : disturbed.samples)
    s.clean = false;
  const sampled_case clean = with({10, 10, 10, 10}), hardly = with({10, 10}),
                     stranger = with({10, 10, 10, 10}, 1);
  CHECK(margin_of(disturbed, {disturbed, clean}, 9) == 2);
  CHECK(margin_of(disturbed, {disturbed, hardly}, 9) == margin(9));
  CHECK(margin_of(disturbed, {disturbed, stranger}, 9) == margin(9));
  CHECK(margin_of(clean, {disturbed, clean}, 9) == margin(9));
}

TEST_CASE("how far a case is behind is judged by the best of its own class") {
  const std::vector<sampled_case> cases{with({10, 12}), with({16, 30}), with({1, 2}, 1), with({})};
  CHECK(times_behind(cases[0], cases) == 1);
  CHECK(times_behind(cases[1], cases) == doctest::Approx(1.6));
  CHECK(times_behind(cases[2], cases) == 1);
  CHECK(times_behind(cases[3], cases) == 1); // nothing is known of it: not behind
}

TEST_CASE("cold cases are judged by the lower quartile: one lucky sample is no lead") {
  const std::vector<sampled_case> cases{with({10, 10, 10, 10, 10}, 0, true),
                                        with({5, 20, 20, 20, 20}, 0, true)};
  CHECK(times_behind(cases[0], cases) == 1);
  CHECK(times_behind(cases[1], cases) == doctest::Approx(2));
}

TEST_CASE("samples that were thrown away count only while there are no others") {
  sampled_case c = with({10, 12});
  c.samples[0].clean = false;
  c.refresh();
  CHECK(c.least_ns == 12);
  CHECK(c.clean_samples() == 1);
  c.samples[1].clean = false;
  c.refresh();
  CHECK(c.least_ns == 10);
  CHECK(c.usable().size() == 2);
}
