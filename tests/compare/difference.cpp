// SPDX-License-Identifier: Apache-2.0
// When is a difference a change? Made-up times, from a seed: how often equal ones are called
// different, and how often a change is found.
#include <benanza/bound/interval.hpp>
#include <benanza/compare/difference.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace test_of_difference {
using benanza::bound::generator;
using benanza::compare::difference;
using benanza::compare::difference_of;
using benanza::compare::holm;
using benanza::compare::judge;
using benanza::compare::pool;
using benanza::compare::quantile;
using benanza::compare::scatter;
using benanza::compare::tail;
using benanza::compare::together;
using benanza::compare::twin;
using benanza::compare::value;
using benanza::compare::verdict;

TEST_CASE("Student's t and Holm's correction, against tables") {
  CHECK(quantile(0.05, 8) == doctest::Approx(2.306).epsilon(1e-3));
  CHECK(quantile(0.05, 2) == doctest::Approx(4.303).epsilon(1e-3));
  CHECK(quantile(0.001, 30) == doctest::Approx(3.646).epsilon(1e-3));
  CHECK(tail(2.306, 8) == doctest::Approx(0.05).epsilon(1e-3));
  CHECK(tail(-2.306, 8) == doctest::Approx(0.05).epsilon(1e-3));
  CHECK(tail(0, 5) == doctest::Approx(1));
  CHECK(tail(1, 1) == doctest::Approx(0.5)); // Cauchy
  CHECK(tail(1e9, 8) < 1e-40);
  const std::vector<double> adjusted = holm({0.01, 0.04, 0.03, 0.005});
  CHECK(adjusted[3] == doctest::Approx(0.02));
  CHECK(adjusted[0] == doctest::Approx(0.03));
  CHECK(adjusted[2] == doctest::Approx(0.06));
  CHECK(adjusted[1] == doctest::Approx(0.06)); // never less than the one before
  CHECK(holm({}).empty());
}

/// `cases` times on both sides, `visits` each, that scatter by `run_to_run`; the first is slower by
/// `change`. From turn to turn the machine is another, by `drift`.
std::vector<twin> made_up(generator& random, int cases, int visits, double run_to_run,
                          double change = 0, double drift = 0, bool in_turns = false) {
  std::vector<double> machine;
  for (int v = 0; v < visits; ++v)
    machine.push_back(drift == 0 ? 0 : drift * random.normal());
  std::vector<twin> out;
  for (int i = 0; i < cases; ++i) {
    twin& t = out.emplace_back();
    t.pairs = in_turns;
    const double log_ns = 10 + 5 * random.uniform();
    for (const double now : machine) {
      t.before.push_back({log_ns + now + run_to_run * random.normal(), 0.005, 0});
      t.after.push_back(
          {log_ns + now + run_to_run * random.normal() + (i == 0 ? change : 0), 0.005, 0});
    }
  }
  return out;
}

struct tally {
  int found = 0, wrong = 0, unsure = 0; ///< pages where the first row differs, or another one
};

/// So many pages of 50 times each.
tally pages(int n, int visits, double run_to_run, double change, double drift = 0,
            bool in_turns = false) {
  generator random{7};
  tally out;
  for (int i = 0; i < n; ++i) {
    const std::vector<twin> all = made_up(random, 50, visits, run_to_run, change, drift, in_turns);
    const scatter s(all);
    std::vector<difference> d;
    std::vector<double> p;
    for (const twin& t : all) {
      d.push_back(difference_of(t, s));
      p.push_back(d.back().p);
    }
    const std::vector<double> adjusted = holm(p);
    bool wrong = false;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const verdict v = judge(d[k], adjusted[k], {});
      if (k == 0) out.found += v == verdict::slower;
      if (k == 0) out.unsure += v == verdict::unsure;
      wrong = wrong || (k != 0 && (v == verdict::slower || v == verdict::faster));
    }
    out.wrong += wrong;
  }
  return out;
}

TEST_CASE("equal times are hardly ever called different, however far runs are apart") {
  for (const int visits : {1, 2, 4})
    for (const double run_to_run : {0.002, 0.005, 0.02}) {
      const tally t = pages(60, visits, run_to_run, 0);
      INFO(visits, " visits, ", run_to_run);
      CHECK(t.wrong + t.found <= 7); // 5 % are 3
    }
}

TEST_CASE("a change of 5 % is found, where it is more than what runs differ by") {
  const double change = std::log(1.05);
  CHECK(pages(50, 1, 0.003, change).found == 50);
  CHECK(pages(50, 3, 0.005, change).found >= 49);
  CHECK(pages(50, 5, 0.01, change).found >= 45);
  const tally far = pages(50, 1, 0.03, change);
  CHECK(far.found <= 3);
  CHECK(far.unsure >= 30); // and not called the same
  CHECK(pages(50, 3, 0.002, std::log(1.03)).found >= 47);
}

TEST_CASE("a sample test would be wrong: what one visit's samples share counts once") {
  // Forty samples within 0.1 % on both sides, of visits that are 3 % apart.
  twin t;
  t.before = {{std::log(100.0), 0.02, 0}};
  t.after = {{std::log(103.0), 0.02, 0}};
  CHECK(judge(difference_of(t, {}), difference_of(t, {}).p, {}) == verdict::unsure);
}

TEST_CASE("what a machine does to both sides of a turn is no difference between them") {
  const double change = std::log(1.05), drift = 0.1;
  CHECK(pages(50, 8, 0.005, change, drift, true).found >= 49);
  CHECK(pages(50, 8, 0.005, change, drift, false).found == 0);
  const tally equal = pages(60, 8, 0.005, 0, drift, true);
  CHECK(equal.wrong + equal.found <= 7); // 5 % are 3
}

TEST_CASE("interference explains what is slower, and never what is faster") {
  twin t;
  t.before = {{std::log(100.0), 0.003, 0}};
  t.after = {{std::log(110.0), 0.003, 0.5}};
  difference d = difference_of(t, {});
  CHECK(d.raised);
  CHECK(judge(d, d.p, {}) == verdict::unsure);
  t.after[0].log_ns = std::log(90.0);
  d = difference_of(t, {});
  CHECK(judge(d, d.p, {}) == verdict::faster);
  std::swap(t.before, t.after); // 90 was disturbed, 100 is not
  d = difference_of(t, {});
  CHECK(judge(d, d.p, {}) == verdict::slower);
  // A visit without it makes those with it superfluous.
  t.before = {{std::log(100.0), 0.003, 0}};
  t.after = {{std::log(150.0), 0.003, 0.5}, {std::log(110.0), 0.003, 0}};
  d = difference_of(t, {});
  CHECK(d.change == doctest::Approx(0.1));
  CHECK(judge(d, d.p, {}) == verdict::slower);
}

TEST_CASE("changes of most cases are not taken for scatter where there are several visits") {
  generator random{3};
  std::vector<twin> all = made_up(random, 40, 2, 0.002);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (value& v : all[i].after)
      v.log_ns += 0.1 * (random.uniform() - 0.5);
  CHECK(scatter(all).of(pool::hot) < 1);
  for (twin& t : all)
    t.before.resize(1), t.after.resize(1);
  CHECK(scatter(all).of(pool::hot) == doctest::Approx(scatter::most_alone));
}

TEST_CASE("a kernel's change is that of most of its layers, not of one that is far off") {
  generator random{5};
  const auto kernel = [&](double change) {
    std::vector<twin> all = made_up(random, 6, 1, 0.003);
    for (twin& t : all)
      t.after[0].log_ns += change;
    return all;
  };
  int wrong = 0, found = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<twin> all = kernel(0);
    all[0].after[0].log_ns += 0.3; // interference
    const difference same = together(all, {});
    wrong +=
        judge(same, same.p, {}) == verdict::slower || judge(same, same.p, {}) == verdict::faster;
    all = kernel(std::log(1.05));
    all[1].after[0].log_ns += 0.3;
    const difference slow = together(all, {});
    found += judge(slow, slow.p, {}) == verdict::slower;
  }
  CHECK(wrong == 0);
  CHECK(found >= 95);
}

TEST_CASE("limits: less than the least change is none; SAME rules out a larger one") {
  difference d{.change = 0.03, .low = 0.02, .high = 0.04, .p = 1e-6};
  CHECK(judge(d, 1e-6, {}) == verdict::slower);
  CHECK(judge(d, 1e-6, {.min_change = 0.05}) == verdict::same);
  CHECK(judge(d, 0.2, {}) == verdict::same); // within 5 %
  d.high = 0.07;
  CHECK(judge(d, 0.2, {}) == verdict::unsure);
  CHECK(judge(d, 0.2, {.min_change = 0.1}) == verdict::same);
  d = {.change = -0.03, .low = -0.04, .high = -0.02, .p = 1e-6};
  CHECK(judge(d, 1e-6, {}) == verdict::faster);
}
} // namespace test_of_difference
