// SPDX-License-Identifier: Apache-2.0
// How are the samples of competing cases taken? In many short rounds. In a round every case that is
// still in the race has one slice, in an order that changes, so that a slow drift of the clock
// meets all alike; hot cases soon have fewer slices, spread over the time that the others take.
// After a switch of case the first executions only warm it up. Samples that interference met are
// thrown away and taken again, as long as the time for that lasts: SMT siblings are seen from
// sample to sample, all else from slice to slice, load and memory from window to window.
//
//   sample(cases, plan_of(effort::normal), monitor, stop);   cases[0].passes[0].samples  // ns
#pragma once

#include "../process/stage.hpp"
#include "racing.hpp"
#include "sample_clock.hpp"
#include "slice.hpp"
#include "stopping.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <random>

namespace benanza::measure {

namespace detail {

/// One pass over all cases.
class sampling {
public:
  sampling(std::vector<sampled_case>& cases, const sampling_plan& plan, noise_monitor& m,
           const std::atomic<bool>& stop)
      : cases_(cases)
      , plan_(plan)
      , parameters_(plan.parameters)
      , monitor_(m)
      , stop_(stop) {}

  void pass(std::mt19937& random) {
    for (sampled_case& c : cases_)
      begin(c);
    monitor_.end_window();
    begin_window();
    std::vector<std::size_t> order = cases_of(0);
    for (int round = 1; !order.empty(); order = cases_of(round++)) {
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i : order) {
        if (stop_) return finish();
        sample_slice(cases_[i]);
        if (monitor_.window_is_over()) end_window();
      }
      decide();
      // Before the last case is let go, its last slices must be found clean.
      if (racing().empty()) end_window();
    }
    finish();
  }

private:
  /// The state of a case when the window began, to go back to if the window was disturbed.
  struct mark {
    std::size_t samples, figures;
    int slices;
    double spent_ns;
    std::string ended;
  };

  void begin(sampled_case& c) {
    c.passes.emplace_back();
    c.samples.clear(), c.figures.clear(), c.ended.clear();
    c.account = {};
    c.slices = c.lost_slices = 0;
    c.spent_ns = c.lost_ns = 0;
    c.seen = {};
    c.refresh();
    if (backend::in_parts* parts = c.run->parts())
      parts->between_parts([this, &c](bool must) {
        note_clock(c);
        monitor_.quick_probe(must);
        clock_.go_on(monitor_.now_ns());
      });
  }

  std::vector<std::size_t> racing() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      if (cases_[i].ended.empty()) out.push_back(i);
    return out;
  }

  /// The cases that have a slice in a round: those in the race. Once they have raced, those whose
  /// least sample is sought are left out of most rounds while there are others: interference in the
  /// caches may last longer than such a case needs, and meets less of it over a longer time.
  std::vector<std::size_t> cases_of(int round) const {
    std::vector<std::size_t> all = racing(), out;
    const bool everyone = round < parameters_.full_rounds || round % parameters_.hot_every == 0;
    if (plan_.patience == 0 || everyone) return all;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [this](std::size_t i) { return cases_[i].by_median; });
    return out.empty() ? all : out;
  }

  /// Something has just run, as a whole or one of its parts.
  void note_clock(const sampled_case& c) {
    const backend::device_control* const device = c.run->own_device();
    const double now_ns = monitor_.now_ns();
    clock_.note(now_ns, device != nullptr ? device->clock_ns() : monitor_.clock_after_sample_ns());
  }

  /// Nanoseconds of one execution, by so many; and the clock that they ran at.
  double timed(sampled_case& c, int executions) {
    clock_.begin(monitor_.now_ns());
    const double ns = std::max(c.run->time(executions) / executions, 0.01);
    note_clock(c);
    return ns;
  }

  /// Nanoseconds of one execution, from a sample.
  double take_sample(sampled_case& c) {
    if (c.before_execution) {
      c.before_execution();
      wait_for_quiet(c); // it took far longer than what it prepares
      if (c.restore_caches) c.restore_caches();
      monitor_.quick_probe();
    }
    const double ns = timed(c, c.batch);
    return c.read_back_ns ? ns + c.read_back_ns() : ns;
  }

  /// Runs the case for the first time, and finds how many executions make a sample.
  void choose_batch(sampled_case& c) {
    c.batch = 1;
    const double first_ns = take_sample(c);
    // The first execution is slow, but hardly ten times.
    const double shortest_ns = c.run->shortest_sample_ns();
    if (c.before_execution || first_ns > 10 * shortest_ns) return;
    double ns = std::min(first_ns, take_sample(c));
    for (int i = 0; i < 2 && ns * c.batch < shortest_ns; ++i) {
      c.batch = std::max(1, static_cast<int>(std::ceil(shortest_ns / std::max(ns, 1.0))));
      ns = take_sample(c);
    }
  }

  /// Brings the case's data back into the caches: large data takes more than one execution, until
  /// none is faster than the one before. That last one found everything as those to come will, and
  /// is returned; 0: there is none such. With cold weights one will do, as they stay cold; and on a
  /// device, whose samples hold many executions or long ones.
  double warm_up(sampled_case& c) {
    double last_ns = c.run->time(1);
    if (c.by_median || c.run->on_device()) return 0;
    for (int i = 0; i < parameters_.warm_up_executions; ++i) {
      (void)monitor_.probed(); // only the last one's probes count
      const double ns = timed(c, 1);
      const bool faster = ns < parameters_.warm_up_gain * last_ns;
      last_ns = ns;
      if (!faster) return ns;
    }
    return 0;
  }

  /// Waits until no SMT sibling is active, as long as the case may lose time; true if none is.
  bool wait_for_quiet(sampled_case& c) {
    if (c.run->on_device()) return true;
    if (c.lost_ns > may_lose_ns(plan_)) return false;
    if (monitor_.quick_probe()) return true;
    const double start_ns = monitor_.now_ns();
    const bool quiet = monitor_.wait_for_quiet(parameters_.longest_wait_ns);
    slice_->wait(monitor_.now_ns() - start_ns);
    return quiet;
  }

  /// Warms the case up where it has to be, and begins a section; the last execution of that may be
  /// its first sample.
  void begin_section(sampled_case& c) {
    double warmed_ns = 0;
    const bool warms = c.ran_recently || !c.before_execution;
    if (warms && !c.stays_cold && c.least_ns < parameters_.warms_itself_ns) warmed_ns = warm_up(c);
    slice_->begin(monitor_.now_ns() - warmed_ns);
    if (warmed_ns > 0 && c.batch == 1) slice_->add(warmed_ns, clock_.mean_ns());
  }

  /// Samples a case for a slice. What an SMT sibling disturbed is thrown away, and the slice goes
  /// on when it is quiet again.
  void sample_slice(sampled_case& c) {
    note_stage(stage::sampling, c.place);
    const bool first = c.slices + c.lost_slices == 0;
    if (&c != last_ && c.enter) c.enter();
    if (backend::device_control* device = c.run->own_device()) device->begin_account();
    monitor_.begin_slice();
    slice& s = slice_.emplace(c, parameters_);
    const bool quiet_at_once = monitor_.quick_probe();
    wait_for_quiet(c);
    if (c.batch == 0) choose_batch(c);
    (void)monitor_.probed();
    if (!first && (&c != last_ || !quiet_at_once))
      begin_section(c);
    else
      s.begin(monitor_.now_ns());
    last_ = &c;

    const int most = first || is_losing(c) ? parameters_.first_samples : plan_.slice_samples;
    do {
      const double ns = take_sample(c);
      s.add(ns, clock_.mean_ns());
      // Before the next probe the caches would be swept, and a sibling gone.
      monitor_.quick_probe(c.before_execution != nullptr);
      if (const auto probed = monitor_.probed(); probed && !keep_or_lose(s, felt_by(c, *probed))) {
        if (!wait_for_quiet(c)) break;
        begin_section(c);
      }
    } while (s.samples() < most && s.ns(monitor_.now_ns()) < plan_.slice_ns && !stop_);
    end_slice(c, s);
  }

  /// Ends a section by what was seen during it; false if it was disturbed.
  bool keep_or_lose(slice& s, const noise& n) {
    const bool quiet = judge(n, parameters_) == interference::none;
    if (quiet)
      s.keep(monitor_.now_ns());
    else
      s.lose(monitor_.now_ns(), n);
    return quiet;
  }

  /// What SMT siblings did is known from section to section, all else of the slice as a whole.
  void end_slice(sampled_case& c, slice& s) {
    if (s.unjudged() > 0) monitor_.quick_probe(true);
    const noise n = felt_by(c, monitor_.end_slice());
    if (backend::device_control* device = c.run->own_device()) c.account += device->end_account();
    const interference seen = judge(n, parameters_);
    if (seen == interference::none)
      s.keep(monitor_.now_ns());
    else if (seen != interference::smt)
      s.lose_all(monitor_.now_ns(), n);
    else if (s.unjudged() > 0)
      s.lose(monitor_.now_ns(), n);
    s.close();
  }

  /// True for a case that seems to have lost: a few samples will do.
  bool is_losing(const sampled_case& c) const {
    return plan_.racing && times_behind(c, cases_) >
                               margin_of(c, cases_, c.slices + c.lost_slices + 1, parameters_);
  }

  /// A device has processors, clocks, caches and a memory of its own, and its own account of time.
  /// Only where the host launches each execution it may come too late.
  static noise felt_by(const sampled_case& c, const noise& n) {
    if (!c.run->on_device()) return n;
    noise felt;
    if (c.host_launches()) felt.waiting = n.waiting, felt.other_load = n.other_load;
    return felt;
  }

  /// True if a race is on and `c` is among the winners so far.
  bool leads(const sampled_case& c) const {
    return plan_.racing && !c.host_launches() && times_behind(c, cases_) <= tie_range;
  }

  /// Ends the race of the cases that cannot win or have been sampled enough.
  void decide() {
    for (sampled_case& c : cases_) {
      if (!c.ended.empty()) continue;
      const double behind = plan_.racing ? times_behind(c, cases_) : 1;
      c.ended = behind > margin_of(c, cases_, c.slices + c.lost_slices, parameters_)
                    ? result::raced_out(behind)
                    : enough(c, plan_, leads(c));
    }
  }

  void begin_window() {
    marks_.clear();
    for (const sampled_case& c : cases_)
      marks_.push_back({c.samples.size(), c.figures.size(), c.slices, c.spent_ns, c.ended});
  }

  /// Judges the window by the load of others, which no single slice is long enough to show. The
  /// slices of a disturbed one are thrown away, and cases that ended in it are back in the race;
  /// those that were raced out only if there still is a race.
  void end_window() {
    const noise n = monitor_.end_window();
    if (judge(n, parameters_) != interference::none) {
      std::vector<sampled_case*> outrun;
      for (std::size_t i = 0; i < cases_.size(); ++i) {
        sampled_case& c = cases_[i];
        if (c.slices == marks_[i].slices || judge(felt_by(c, n), parameters_) == interference::none)
          continue;
        discard_window(c, marks_[i], n);
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
    begin_window();
  }

  void discard_window(sampled_case& c, const mark& m, const noise& n) {
    c.figures.resize(m.figures);
    for (std::size_t i = m.samples; i < c.samples.size(); ++i)
      c.samples[i].clean = false;
    const int slices = c.slices - m.slices;
    for (int i = 0; i < slices; ++i)
      c.seen.add(n, parameters_);
    c.lost_ns += c.spent_ns - m.spent_ns;
    c.lost_slices += slices;
    c.slices = m.slices;
    c.spent_ns = m.spent_ns;
    c.refresh();
  }

  void finish() {
    for (sampled_case& c : cases_)
      close(c);
  }

  /// The outcome: the clean samples if they are enough, or else all, with what disturbed them.
  void close(sampled_case& c) const {
    if (backend::in_parts* parts = c.run->parts()) parts->between_parts({});
    sampled_pass& out = c.passes.back();
    const int clean = c.clean_samples(), all = static_cast<int>(c.samples.size());
    const int wanted =
        result::was_raced_out(c.ended) ? 1 : std::min(all, parameters_.fewest_samples);
    if (clean >= wanted && !may_hide_interference(c)) {
      out.samples = c.usable();
      out.rejected = all - static_cast<int>(out.samples.size());
    } else {
      for (const sampled_case::taken& t : c.samples)
        out.samples.push_back(t.ns);
      out.disturbed = remedy(c.seen);
    }
    report_clock(c, out);
    out.took_ns = c.spent_ns + c.lost_ns;
    out.lost_ns = c.lost_ns;
    out.remark = remark_of(c.account);
    out.stop_reason = c.ended.empty() ? std::string(result::stopped) : c.ended;
  }

  /// In words with commas between.
  static std::string remark_of(const backend::device_account& a) {
    std::string out = a.remark;
    const auto add = [&](const char* what, double held_ns) {
      const double percent = a.watched_ns > 0 ? 100 * held_ns / a.watched_ns : 0;
      if (percent < 1) return;
      char text[80];
      std::snprintf(text, sizeof text, "limited by %s in %.0f %% of the time", what, percent);
      out.append(out.empty() ? "" : ",").append(text);
    };
    add("power", a.held_by_power_ns);
    add("temperature", a.held_by_heat_ns);
    return out;
  }

  /// The clock of the samples that count: all, where there are no clean ones. Those of which it is
  /// not known are passed over.
  void report_clock(const sampled_case& c, sampled_pass& out) const {
    const bool any_clean = c.clean_samples() > 0;
    std::vector<double> clocks, clocks_of_least;
    for (const sampled_case::taken& t : c.samples) {
      if ((any_clean && !t.clean) || t.clock_ns <= 0) continue;
      clocks.push_back(t.clock_ns);
      if (t.ns <= parameters_.same_clock_within * c.least_ns) clocks_of_least.push_back(t.clock_ns);
    }
    out.clock_ns = result::median(std::move(clocks));
    out.least_clock_ns = result::median(std::move(clocks_of_least));
  }

  /// Where SMT siblings come and go: samples that one may have met between two probes. Long ones
  /// that do not agree, where half as many or more were thrown away. Or, where siblings hardly
  /// paused, a least sample that no other comes near to.
  bool may_hide_interference(const sampled_case& c) const {
    if (c.seen.most() != interference::smt || result::was_raced_out(c.ended)) return false;
    const std::vector<double> kept = c.usable();
    const bool many_lost = 2 * (c.samples.size() - kept.size()) >= kept.size();
    if (c.least_ns > parameters_.hides_interference_ns && many_lost &&
        c.median_ns > parameters_.hidden_spread * c.least_ns)
      return true;
    if (c.by_median || c.ended != result::disturbed_too_long) return false;
    return std::count_if(kept.begin(), kept.end(),
                         [&](double ns) { return ns <= tie_range * c.least_ns; }) < 2;
  }

  std::vector<sampled_case>& cases_;
  const sampling_plan& plan_;
  const parameters& parameters_;
  noise_monitor& monitor_;
  const std::atomic<bool>& stop_;
  std::vector<mark> marks_{};
  const sampled_case* last_ = nullptr;
  sample_clock clock_{};         ///< of the last sample
  std::optional<slice> slice_{}; ///< the one that began last
};
} // namespace detail

/// Takes the samples of all `cases`, which compete. Ends early, with what it has, once `stop` is
/// set.
inline void sample(std::vector<sampled_case>& cases, const sampling_plan& plan, noise_monitor& m,
                   const std::atomic<bool>& stop) {
  std::mt19937 order_of_rounds(20261u);
  for (int pass = 0; pass < plan.passes && !stop; ++pass)
    detail::sampling(cases, plan, m, stop).pass(order_of_rounds);
}

} // namespace benanza::measure
