// SPDX-License-Identifier: Apache-2.0
// How much energy does an execution take? Counters of energy go on in steps, of about 1 ms of a
// processor and up to 100 ms of a GPU, and know nothing of cases. So after its sampling a case runs
// on end for at least ten steps, with nothing between its executions, and the counter is read
// before and after. That gives a power; its energy is this times its median, as what empties caches
// before an execution in a cold state would count too. No time is taken meanwhile.
//
//   if (const auto w = watts_of(c, {.joules = [&] { return e.joules(); }, .step_ns = 1e6},
//   monitor))
//     m.energy_nj = *w * m.median_ns;
#pragma once

#include "../../result/fields.hpp"
#include "../process/stage.hpp"
#include "sampled_case.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace benanza::measure {

/// A counter of energy: joules up to now, or nothing; and how often it goes on.
struct energy_counter {
  std::function<std::optional<double>()> joules{};
  double step_ns = 0;
};
/// Of GPUs: NVML's goes on every 20 to 100 ms.
inline constexpr double device_energy_step_ns = 1e8;

/// For how long a case runs on end: a step is a tenth of it at most.
inline double on_end_ns(double step_ns) {
  return std::max(5e7, 10 * step_ns);
}

/// The mean power while `c` ran on end; nothing: it is not known, or was disturbed, or the
/// executions were not those that were sampled.
inline std::optional<double> watts_of(sampled_case& c, const energy_counter& counter,
                                      noise_monitor& monitor,
                                      const parameters& p = usual_parameters) {
  note_stage(stage::sampling, c.place);
  if (c.enter) c.enter();
  // A GPU has recorded so many of them.
  const int together =
      c.run->on_device()
          ? c.batch
          : std::max(c.batch, static_cast<int>(std::ceil(1e6 / std::max(c.median_ns, 1.0))));
  const auto as_sampled = [&](double each_ns) {
    return each_ns <= p.energy_alike * c.median_ns && each_ns >= c.median_ns / p.energy_alike;
  };
  if (c.median_ns < p.warms_itself_ns) {
    (void)c.run->time(together); // the first may load what it needs
    if (!as_sampled(c.run->time(together) / together)) return std::nullopt;
  }
  monitor.end_window();
  monitor.begin_slice();
  const auto before = counter.joules();
  if (!before) return std::nullopt;
  const double began_ns = monitor.now_ns();
  double ran_ns = 0, passed_ns = 0, executions = 0;
  do {
    note_stage(stage::sampling);
    ran_ns += c.run->time(together);
    executions += together;
    passed_ns = monitor.now_ns() - began_ns;
  } while (std::max(ran_ns, passed_ns) < on_end_ns(counter.step_ns));
  const auto after = counter.joules();
  noise seen = monitor.end_slice();
  seen.other_load = monitor.end_window().other_load;
  if (!c.run->on_device() && judge(seen, p) != interference::none) return std::nullopt;
  if (!after || ran_ns < p.energy_busy * passed_ns || !as_sampled(ran_ns / executions))
    return std::nullopt;
  const double watts = 1e9 * (*after - *before) / std::max(ran_ns, passed_ns);
  return watts > 0 && watts <= result::most_watts ? std::optional(watts) : std::nullopt;
}

} // namespace benanza::measure
