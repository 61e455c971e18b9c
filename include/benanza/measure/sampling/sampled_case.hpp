// SPDX-License-Identifier: Apache-2.0
// What is known of a case while it is being sampled? Its samples in the order taken, each clean or
// disturbed, how its figure (the least sample, or the median) moved from slice to slice, and what
// has become of it. Times in ns of one execution.
//
//   sampled_case c{.run = run, .by_median = true};   sample(cases, plan, monitor, stop);
//   c.passes[0].samples
#pragma once

#include "../../backend/prepared.hpp"
#include "noise_monitor.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::measure {

/// The outcome of one pass of sampling.
struct sampled_pass {
  std::vector<double> samples{}; ///< in the order taken; those that were thrown away are not here
  std::string stop_reason{};
  std::string disturbed{}; ///< what disturbed the samples; empty: nothing that matters
  int rejected = 0;        ///< samples thrown away: disturbed, or left out as `usable` says
  /// The clock that the samples ran at, as the time of a chain on registers directly after them, or
  /// of a device's 1000 cycles meanwhile: by their median, and by that of those about as fast as
  /// the least; 0: not known.
  double clock_ns = 0, least_clock_ns = 0;
  double took_ns = 0;   ///< wall time of all samples and what they needed
  double lost_ns = 0;   ///< of that, on samples that were thrown away, and waiting
  std::string remark{}; ///< what its device says of the samples; empty: nothing
};

/// One case while it is being sampled. The first members are given, the rest are the sampler's.
struct sampled_case {
  backend::prepared* run = nullptr;
  int rival_class = 0;     ///< only cases of one class compete (same state, same equivalence)
  int place = -1;          ///< in its group, for notes of what is being done
  bool by_median = false;  ///< compared by the median; else by the least sample
  bool stays_cold = false; ///< it goes through more than the caches hold, and finds none of it
  /// It expects code, TLB and weights as a few milliseconds of other work leave them. Other cases
  /// leave less, the more of them there are: after a switch of case one execution does not count.
  bool ran_recently = false;
  /// Called when a slice begins: brings a shared `run` into this case's cache state.
  std::function<void()> enter{};
  /// Called before each execution, outside of its time; a sample is then one execution.
  std::function<void()> before_execution{};
  /// Called after that, right before the execution: restores what it is to find in the caches.
  std::function<void()> restore_caches{};
  /// Called after each execution: how long reading its result back takes longer than usual, which
  /// is added to it.
  std::function<double()> read_back_ns{};
  int fewest_samples = usual_parameters.fewest_samples; ///< of the parameters
  std::vector<sampled_pass> passes{};

  struct taken {
    double ns;
    bool clean;
    double clock_ns = 0; ///< as in sampled_pass
  };
  /// The figure after a slice that was kept, and how many clean samples it rests on.
  struct standing_after {
    double ns;
    int samples;
  };
  int batch = 0; ///< executions a sample; 0: not chosen yet
  std::vector<taken> samples{};
  std::vector<standing_after> figures{};
  backend::device_account account{}; ///< of its device
  int slices = 0, lost_slices = 0;
  double spent_ns = 0, lost_ns = 0; ///< on samples that were kept, and on others
  noise_sum seen{};
  std::string ended{}; ///< the stop reason; empty: goes on

  /// Order statistics of the usable samples, by `refresh`.
  double least_ns = 0, low_ns = 0, quartile_ns = 0, median_ns = 0, high_ns = 0;

  /// True where the host's own time may be in its samples, which those of rivals are free of.
  bool host_launches() const {
    backend::device_control* const device = run != nullptr ? run->own_device() : nullptr;
    return device != nullptr && device->host_launches();
  }

  /// What must move no more for the case to be settled.
  double figure() const { return by_median ? median_ns : least_ns; }

  /// What rivals are judged by: the least sample; or the lower quartile, that half of the samples
  /// may be disturbed without losing a winner.
  double standing() const { return by_median ? quartile_ns : least_ns; }

  /// The samples that its figures rest on: the clean ones, or all while there are none. If x % of
  /// the samples were rejected, a median leaves out the slowest x % of the rest too, because short
  /// interference escapes the probes; a least sample needs no such care.
  std::vector<double> usable() const {
    std::vector<double> out;
    out.reserve(samples.size());
    for (const taken& t : samples)
      if (t.clean) out.push_back(t.ns);
    if (out.empty()) {
      for (const taken& t : samples)
        out.push_back(t.ns);
    } else if (by_median) {
      const double clean = static_cast<double>(out.size()) / static_cast<double>(samples.size());
      out = without_slowest(std::move(out), 1 - clean, fewest_samples);
    }
    return out;
  }

  int clean_samples() const {
    return static_cast<int>(
        std::count_if(samples.begin(), samples.end(), [](const taken& t) { return t.clean; }));
  }

  /// Makes the figures anew after samples came or were thrown away.
  void refresh() {
    std::vector<double> s = usable();
    std::sort(s.begin(), s.end());
    least_ns = s.empty() ? 0 : s.front();
    quartile_ns = result::quantile(s, 0.25);
    median_ns = result::quantile(s, 0.5);
    low_ns = result::quantile(s, 0.1);
    high_ns = result::quantile(s, 0.9);
  }
};

} // namespace benanza::measure
