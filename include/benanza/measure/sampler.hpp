// SPDX-License-Identifier: Apache-2.0
// How are the samples of competing cases taken? In many short rounds: each round visits every case
// that is still in the race once, in an order that changes, so that a slow drift of the clock hits
// all alike; hot cases are soon visited less often, for as long as the others take. After a change
// of case the first execution only warms the caches, or the rest of what a case is to find. What
// was taken while something disturbed us is thrown away and repeated, as long as the time for that
// lasts. Who shares our cores comes and goes within milliseconds: while he is there we wait.
//
//   sample(cases, plan_of(effort::normal), witness, stop);   cases[0].passes[0].samples  // ns
#pragma once

#include "flight.hpp"
#include "racing.hpp"
#include "sample_clock.hpp"
#include "stopping.hpp"
#include "visit.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <random>

namespace benanza::measure {

namespace detail {
/// An execution so long fills the caches itself; one to warm them would only cost time.
inline constexpr double warms_itself_ns = 1e8;
/// Further executions that warm a case up, as long as each takes at most this share of the last.
inline constexpr int most_warming = 4;
inline constexpr double warmer = 0.97;
/// Samples of the first look at a case, and of any look at one that seems to have lost.
inline constexpr int first_samples = 2;
/// All cases are visited in so many rounds at first, later those whose least sample is sought in
/// one of so many.
inline constexpr int rounds_of_all = 4, rounds_apart = 3;
/// Samples within this factor of the least one were taken at its clock: a single reading may fall
/// in a change.
inline constexpr double as_fast = 1.01;
/// Within an execution so long a neighbour may come and go; and medians so far from the least
/// sample tell that some did.
inline constexpr double hides_neighbours_ns = 2e6, disagree = 1.05;
/// So long we wait for a neighbour to leave; most rest after a few milliseconds.
inline constexpr double longest_wait_ns = 2e7;

/// One pass over all cases.
class sampling {
public:
  sampling(std::vector<sampled_case>& cases, const sampling_plan& plan, witness& w,
           const std::atomic<bool>& stop)
      : cases_(cases)
      , plan_(plan)
      , witness_(w)
      , stop_(stop) {}

  void pass(std::mt19937& random) {
    for (sampled_case& c : cases_)
      begin(c);
    witness_.end_stretch();
    note_stretch();
    std::vector<std::size_t> order = turn(0);
    for (int round = 1; !order.empty(); order = turn(round++)) {
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i : order) {
        if (stop_) return finish();
        call_on(cases_[i]);
        if (witness_.stretch_is_over()) end_stretch();
      }
      decide();
      // Before the last case is let go, its last visits must be found clean.
      if (racing().empty()) end_stretch();
    }
    finish();
  }

private:
  /// Where a case stood when the stretch began, to go back to if the stretch was disturbed.
  struct mark {
    std::size_t samples, figures, powers;
    int visits;
    double spent_ns;
    std::string ended;
  };

  void begin(sampled_case& c) {
    c.passes.emplace_back();
    c.samples.clear(), c.figures.clear(), c.ended.clear();
    c.powers_w.clear();
    c.visits = c.lost_visits = 0;
    c.spent_ns = c.lost_ns = 0;
    c.seen = {};
    c.refresh();
    c.run->between_parts([this, &c](bool must) {
      note_clock(c);
      witness_.glance(must);
      clock_.go_on(witness_.now_ns());
    });
  }

  std::vector<std::size_t> racing() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (cases_[i].ended.empty()) out.push_back(i);
    return out;
  }

  /// The cases that are visited in a round: those in the race. Once they have raced, those whose
  /// least sample is sought are left out of most rounds while there are others: a neighbour may be
  /// at the caches for longer than such a case needs, and less of it is seen over a longer time.
  std::vector<std::size_t> turn(int round) const {
    std::vector<std::size_t> all = racing(), out;
    if (plan_.patience == 0 || round < rounds_of_all || round % rounds_apart == 0) return all;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [this](std::size_t i) { return cases_[i].by_median; });
    return out.empty() ? all : out;
  }

  /// Something has just run, as a whole or one of its parts.
  void note_clock(const sampled_case& c) {
    if (c.run->on_device()) return;
    const double now_ns = witness_.now_ns();
    clock_.note(now_ns, witness_.clock_after_sample_ns());
  }

  /// Nanoseconds of one execution, by so many; and the clock that they ran at.
  double timed_by(sampled_case& c, int executions) {
    clock_.begin(witness_.now_ns());
    const double ns = std::max(c.run->time(executions) / executions, 0.01);
    note_clock(c);
    return ns;
  }

  /// Nanoseconds of one execution, from a sample.
  double timed(sampled_case& c) {
    if (c.before_execution) {
      c.before_execution();
      wait_alone(c); // it took far longer than what it prepares
      if (c.bring_back) c.bring_back();
      witness_.glance();
    }
    const double ns = timed_by(c, c.batch);
    return c.left_ns ? ns + c.left_ns() : ns;
  }

  /// Warms the case up, the first time, and finds how many executions make a sample.
  void look(sampled_case& c) {
    c.batch = 1;
    const double first_ns = timed(c);
    // The first execution is slow, but hardly ten times.
    const double shortest_ns = c.run->shortest_sample_ns();
    if (c.before_execution || first_ns > 10 * shortest_ns) return;
    double ns = std::min(first_ns, timed(c));
    for (int i = 0; i < 2 && ns * c.batch < shortest_ns; ++i) {
      c.batch = std::max(1, static_cast<int>(std::ceil(shortest_ns / std::max(ns, 1.0))));
      ns = timed(c);
    }
  }

  /// Brings the case's data back into the caches: large data takes more than one execution, until
  /// none is faster than the one before. That last one found everything as those to come will, and
  /// is returned; 0: there is none such. With cold weights one will do: they stay cold.
  double warm(sampled_case& c) {
    double last_ns = c.run->time(1);
    if (c.by_median) return 0;
    for (int i = 0; i < most_warming; ++i) {
      (void)witness_.glanced(); // only the last one's looks count
      const double ns = timed_by(c, 1);
      const bool faster = ns < warmer * last_ns;
      last_ns = ns;
      if (!faster) return ns;
    }
    return 0;
  }

  /// Waits until nobody is beside us, as long as the case may lose time; true if nobody is.
  bool wait_alone(sampled_case& c) {
    if (c.run->on_device()) return true;
    if (c.lost_ns > may_lose_ns(plan_)) return false;
    if (witness_.glance()) return true;
    const double start_ns = witness_.now_ns();
    const bool alone = witness_.wait_alone(longest_wait_ns);
    visit_->wait(witness_.now_ns() - start_ns);
    return alone;
  }

  /// Brings the data that a case is to find in the caches back there, and begins a section; the
  /// last execution of that may be its first sample.
  void bring_in(sampled_case& c) {
    double warmed_ns = 0;
    const bool warms = c.comes_back_soon || !c.before_execution;
    if (warms && !c.stays_cold && c.least_ns < warms_itself_ns) warmed_ns = warm(c);
    visit_->begin(witness_.now_ns() - warmed_ns);
    if (warmed_ns > 0 && c.batch == 1) visit_->add(warmed_ns, clock_.mean_ns());
  }

  /// Visits a case for some samples. What somebody was beside is thrown away; when he has left, the
  /// visit goes on.
  void call_on(sampled_case& c) {
    flight::note(stage::sampling, c.place);
    const bool first = c.visits + c.lost_visits == 0;
    if (&c != last_ && c.enter) c.enter();
    witness_.begin_visit();
    visit& v = visit_.emplace(c);
    const bool alone_at_once = witness_.glance();
    wait_alone(c);
    if (c.batch == 0) look(c);
    (void)witness_.glanced();
    if (!first && (&c != last_ || !alone_at_once))
      bring_in(c);
    else
      v.begin(witness_.now_ns());
    last_ = &c;
    const bool lost = plan_.racing && !first &&
                      times_behind(c, cases_) > margin_of(c, cases_, c.visits + c.lost_visits + 1);
    const int most = first || lost ? first_samples : plan_.visit_samples;

    noise seen; // by the last look
    do {
      const double ns = timed(c);
      v.add(ns, clock_.mean_ns());
      // Before the next look the caches would be swept, and a neighbour gone.
      witness_.glance(c.before_execution != nullptr);
      if (const auto looked = witness_.glanced()) {
        seen = felt_by(c, *looked);
        if (judge(seen) == harm::none) {
          v.keep(witness_.now_ns());
        } else {
          v.lose(witness_.now_ns(), seen);
          if (!wait_alone(c)) break;
          bring_in(c);
        }
      }
    } while (v.samples() < most && v.ns(witness_.now_ns()) < plan_.visit_ns && !stop_);

    if (v.unjudged() > 0) witness_.glance(true);
    noise n = felt_by(c, witness_.end_visit());
    n.device = c.run->disturbance();
    const harm h = judge(n);
    // What neighbours did is known from look to look, all else of the visit as a whole.
    if (h == harm::none)
      v.keep(witness_.now_ns());
    else if (h != harm::crowded)
      v.lose_all(witness_.now_ns(), n);
    else if (v.unjudged() > 0)
      v.lose(witness_.now_ns(), n);
    v.close();
  }

  /// A device has processors, clocks, caches and a memory of its own, and its own account of time.
  static noise felt_by(const sampled_case& c, noise n) {
    return c.run->on_device() ? noise{.device = std::move(n.device)} : n;
  }

  /// Throws away the samples from `from` on.
  static void lose(sampled_case& c, std::size_t from, const noise& n, double ns, int visits) {
    for (std::size_t i = from; i < c.samples.size(); ++i)
      c.samples[i].clean = false;
    c.lost_ns += ns;
    c.lost_visits += visits;
    for (int i = 0; i < visits; ++i)
      c.seen.add(n);
    c.refresh();
  }

  /// True if a race is on and `c` is among the winners so far.
  bool leads(const sampled_case& c) const {
    return plan_.racing && times_behind(c, cases_) <= tie_range;
  }

  /// Ends the race of the cases that cannot win or have been sampled enough.
  void decide() {
    for (sampled_case& c : cases_) {
      if (!c.ended.empty()) continue;
      const double behind = plan_.racing ? times_behind(c, cases_) : 1;
      c.ended = behind > margin_of(c, cases_, c.visits + c.lost_visits)
                    ? result::raced_out(behind)
                    : enough(c, plan_, leads(c));
    }
  }

  void note_stretch() {
    marks_.clear();
    for (const sampled_case& c : cases_)
      marks_.push_back(
          {c.samples.size(), c.figures.size(), c.powers_w.size(), c.visits, c.spent_ns, c.ended});
  }

  /// Judges the stretch by the load of others, which no single visit is long enough to show. After
  /// a disturbed one its visits are thrown away, and cases that ended in it are back in the race;
  /// those that were raced out only if there still is a race.
  void end_stretch() {
    const noise n = witness_.end_stretch();
    if (judge(n) != harm::none) {
      std::vector<sampled_case*> outrun;
      for (std::size_t i = 0; i < cases_.size(); ++i) {
        sampled_case& c = cases_[i];
        if (c.visits == marks_[i].visits || judge(felt_by(c, n)) == harm::none) continue;
        take_back(c, marks_[i], n);
        if (!marks_[i].ended.empty() || !enough(c, plan_, leads(c)).empty()) continue;
        if (result::was_raced_out(c.ended))
          outrun.push_back(&c);
        else
          c.ended.clear();
      }
      if (!racing().empty())
        for (sampled_case* c : outrun)
          c->ended.clear();
    }
    note_stretch();
  }

  static void take_back(sampled_case& c, const mark& m, const noise& n) {
    c.figures.resize(m.figures);
    c.powers_w.resize(m.powers);
    lose(c, m.samples, n, c.spent_ns - m.spent_ns, c.visits - m.visits);
    c.visits = m.visits;
    c.spent_ns = m.spent_ns;
  }

  void finish() {
    for (sampled_case& c : cases_)
      close(c);
  }

  /// The outcome: the clean samples if they are enough, or else all, with what disturbed them.
  static void close(sampled_case& c) {
    c.run->between_parts({});
    sampled_pass& out = c.passes.back();
    const int clean = c.clean_samples(), all = static_cast<int>(c.samples.size());
    const bool lost = result::was_raced_out(c.ended);
    const bool enough_clean = clean >= (lost ? 1 : std::min(all, fewest)) && !doubtful(c);
    if (enough_clean) {
      out.samples = c.usable();
      out.rejected = all - static_cast<int>(out.samples.size());
    } else {
      for (const sampled_case::taken& t : c.samples)
        out.samples.push_back(t.ns);
      out.disturbed = advice(c.seen);
    }
    tell_clock(c, out);
    out.took_ns = c.spent_ns + c.lost_ns;
    out.lost_ns = c.lost_ns;
    out.power_w = result::median(c.powers_w);
    out.stop_reason = c.ended.empty() ? std::string(result::stopped) : c.ended;
  }

  /// The clock of the samples that count: all, where there are no clean ones.
  static void tell_clock(const sampled_case& c, sampled_pass& out) {
    const bool any_clean = c.clean_samples() > 0;
    std::vector<double> clocks, clocks_of_least;
    const double least_ns = c.least_ns;
    for (const sampled_case::taken& t : c.samples) {
      if (any_clean && !t.clean) continue;
      clocks.push_back(t.clock_ns);
      if (t.ns <= as_fast * least_ns) clocks_of_least.push_back(t.clock_ns);
    }
    out.clock_ns = result::median(std::move(clocks));
    out.least_clock_ns = result::median(std::move(clocks_of_least));
  }

  /// Beside neighbours who come and go: samples that they may have been beside unseen. Long ones
  /// that do not agree, where half as many or more were thrown away: who came in the middle had
  /// gone at the end. Or, where neighbours hardly rested, a least sample that no other comes near
  /// to.
  static bool doubtful(const sampled_case& c) {
    if (c.seen.most() != harm::crowded || result::was_raced_out(c.ended)) return false;
    const std::vector<double> kept = c.usable();
    const bool many_lost = 2 * (c.samples.size() - kept.size()) >= kept.size();
    if (c.least_ns > hides_neighbours_ns && many_lost && c.median_ns > disagree * c.least_ns)
      return true;
    if (c.by_median || c.ended != result::disturbed_too_long) return false;
    return std::count_if(kept.begin(), kept.end(),
                         [&](double ns) { return ns <= tie_range * c.least_ns; }) < 2;
  }

  std::vector<sampled_case>& cases_;
  const sampling_plan& plan_;
  witness& witness_;
  const std::atomic<bool>& stop_;
  std::vector<mark> marks_{};
  const sampled_case* last_ = nullptr;
  sample_clock clock_{};         ///< of the last sample
  std::optional<visit> visit_{}; ///< the one that began last
};
} // namespace detail

/// Takes the samples of all `cases`, which compete. Ends early, with what it has, once `stop` is
/// set.
inline void sample(std::vector<sampled_case>& cases, const sampling_plan& plan, witness& w,
                   const std::atomic<bool>& stop) {
  std::mt19937 order_of_rounds(20261u);
  for (int pass = 0; pass < plan.passes && !stop; ++pass)
    detail::sampling(cases, plan, w, stop).pass(order_of_rounds);
}

} // namespace benanza::measure
