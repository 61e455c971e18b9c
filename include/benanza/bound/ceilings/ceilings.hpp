// SPDX-License-Identifier: Apache-2.0
// What can this machine do at most? Read from a run's cases of family `machine`: peak arithmetic by
// type and threads, bandwidth as a curve over the working set, what calls, launches and hand-offs
// cost. What was not measured is unknown, never guessed. Rates are per ns: flops (GFLOP/s) and
// bytes (GB/s).
//
//   ceilings c(run);   c.peak_flops_per_ns(numeric::f32, 1);   c.bytes_per_ns(3e6, 1);
#pragma once

#include "../../result/device.hpp"
#include "../../result/machine_key.hpp"
#include "../../result/run.hpp"
#include "caches.hpp"
#include "latency_fit.hpp"

#include <range/v3/algorithm/lower_bound.hpp>
#include <range/v3/algorithm/minmax.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/algorithm/upper_bound.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/subrange.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

/// Arithmetic that a case of the machine reached.
struct peak {
  double flops_per_ns = 0;
  std::string kind{}, backend{}, algorithm{};
  double clock_ns = 0; ///< what a chain on registers took meanwhile; 0: unknown
};

/// A bandwidth at a working set, and the time that it is made of.
struct bandwidth {
  double working_set_bytes = 0;
  double moved_bytes = 0; ///< in `ns`
  double ns = 0;
  std::string algorithm{};
  double bytes_per_ns() const { return moved_bytes / ns; }
};

/// A cost of the machine that is no rate: of a call, a launch, a hand-off, fresh pages, a message.
struct overhead {
  std::string kind{}, backend{}, algorithm{};
  int threads = 1;
  std::int64_t bytes = 0; ///< of the message, as its case is called; 0: the kind has none
  double moved_bytes = 0; ///< in `ns`: read and written, or across a link; 0: nothing moves
  double ns = 0;
  bool on_gpu = false;
  double bytes_per_ns() const { return moved_bytes / ns; }
};

/// What a way of moving bytes reaches within a level of the caches, and the line through its times
/// there.
struct level_fit {
  std::string kind{};
  int threads = 1;
  std::string level{}; ///< L1, L2, L3, memory; "all" for messages from, to and between GPUs
  std::string way{};   ///< of messages: the algorithm; of the others, whichever is faster: empty
  std::size_t sizes = 0;
  double least_bytes = 0, most_bytes = 0; ///< moved
  double slowest_per_ns = 0, fastest_per_ns = 0;
  double at_most_per_ns = 0;         ///< what rooflines take for the fastest there; 0: unknown
  std::optional<double> off_by{};    ///< of the line through three sizes or more, if there is one
  std::optional<latency_fit> line{}; ///< where it holds

  /// n_half, where it is among the sizes.
  std::optional<double> half_bytes() const {
    const double half = line && line->alpha_known ? line->half_bytes() : 0;
    return half >= least_bytes && half <= most_bytes ? std::optional(half) : std::nullopt;
  }
};

/// The measured ceilings of a machine.
class ceilings {
public:
  using curve = std::vector<bandwidth>; ///< in ascending order of working sets
  using setting = std::pair<numeric, int>;

  explicit ceilings(const result::run& r) {
    for (const result::measurement& m : r.measurements)
      if (m.family == result::machine_family && m.error.empty() && m.min_ns > 0) take(m);
    for (auto& [where, all] : peaks_)
      ranges::sort(all, ranges::less{}, [](const peak& p) {
        return std::tuple(-p.flops_per_ns, std::string_view(p.kind), std::string_view(p.algorithm));
      });
    for (const auto& [where, points] : curves_) {
      threads_.insert(where.second);
      levels_.emplace(where.second, cache_levels(r, where.second));
    }
    for (const overhead& o : overheads_)
      levels_.emplace(o.threads, cache_levels(r, o.threads));
    for (const auto& [where, all] : peaks_)
      threads_.insert(where.second);
    for (int threads : threads_)
      for (const bool reading : {false, true})
        // What a larger working set reaches, a smaller one could.
        if (std::vector<rate_at> rates = best_curve(threads, reading); !rates.empty()) {
          for (std::size_t i = rates.size(); i-- > 1;)
            rates[i - 1].bytes_per_ns = std::max(rates[i - 1].bytes_per_ns, rates[i].bytes_per_ns);
          (reading ? readings_ : envelopes_).emplace(threads, std::move(rates));
        }
    ranges::sort(overheads_, ranges::less{}, [](const overhead& o) {
      return std::tie(o.kind, o.threads, o.backend, o.algorithm, o.bytes);
    });
    if (const auto facts = r.provenance.find("measuring"); facts != r.provenance.end())
      if (const auto fact = facts->second.find("absent_ceilings"); fact != facts->second.end())
        absent_ = fact->second;
  }

  /// True if both the arithmetic of the type and the bandwidth were measured on so many threads.
  bool known(numeric type, int threads) const {
    return peak_flops_per_ns(type, threads) > 0 && bytes_per_ns(1, threads) > 0;
  }

  /// The fastest arithmetic measured in the type; 0: unknown.
  double peak_flops_per_ns(numeric type, int threads) const {
    const auto found = peaks_.find({type, threads});
    return found == peaks_.end() ? 0 : found->second.front().flops_per_ns;
  }
  /// The type in which arithmetic of `type` can be done fastest, and how many times as fast: f32 in
  /// place of a type of 16 bits for which the machine is slower, else its own.
  std::pair<numeric, double> fastest_arithmetic(numeric type, int threads) const {
    const double own = peak_flops_per_ns(type, threads),
                 wider = peak_flops_per_ns(numeric::f32, threads);
    const bool narrow = type == numeric::bf16 || type == numeric::f16;
    if (narrow && own > 0 && wider > own) return {numeric::f32, wider / own};
    return {type, 1};
  }
  /// The lowest clock at which any of the type's cases could reach it, so that one that was
  /// measured at a lower clock than the fastest counts for what it would have reached: what a chain
  /// on registers took; 0: unknown.
  double peak_clock_ns(numeric type, int threads) const {
    const auto found = peaks_.find({type, threads});
    double clock = 0;
    if (found != peaks_.end())
      for (const peak& p : found->second)
        clock = std::max(clock, p.clock_ns * p.flops_per_ns / found->second.front().flops_per_ns);
    return clock;
  }
  /// The highest clock at which bandwidth was measured, as such a time.
  double bandwidth_clock_ns(int threads) const {
    const auto found = bandwidth_clocks_.find(threads);
    return found == bandwidth_clocks_.end() ? 0 : found->second;
  }

  /// The rate that no execution over a working set of that size beats: of all kinds the fastest at
  /// the largest measured size below it or any above, and even so with as much as a faster level
  /// holds staying there from one execution to the next. Never rises with the size. 0: unknown.
  double bytes_per_ns(double working_set_bytes, int threads) const {
    return rate_in(envelopes_, working_set_bytes, threads);
  }
  /// The same of executions that only read.
  double bytes_read_per_ns(double working_set_bytes, int threads) const {
    return rate_in(readings_, working_set_bytes, threads);
  }

  /// Types and threads whose arithmetic was measured; all cases of each, the fastest first.
  const std::map<setting, std::vector<peak>>& peaks() const { return peaks_; }
  /// The curve of each kind and number of threads: the faster algorithm at each working set.
  const std::map<std::pair<std::string, int>, curve>& curves() const { return curves_; }
  const std::vector<overhead>& overheads() const& { return overheads_; }
  std::vector<overhead> overheads() && { return std::move(overheads_); }
  /// Numbers of threads of which a rate was measured.
  const std::set<int>& threads() const { return threads_; }
  /// What the machine or the build does not have, in words; empty: the run does not say.
  const std::string& absent() const { return absent_; }
  bool empty() const { return peaks_.empty() && curves_.empty() && overheads_.empty(); }

  /// The best rate of any kind, or of reading alone, at each working set that was measured,
  /// ascending.
  std::vector<rate_at> best_curve(int threads, bool reading = false) const {
    std::map<double, double> best;
    for (const auto& [where, points] : curves_)
      if (where.second == threads && (!reading || where.first == "read"))
        for (const bandwidth& b : points) {
          double& rate = best[b.working_set_bytes];
          rate = std::max(rate, b.bytes_per_ns());
        }
    return best | ranges::views::transform([](const auto& b) {
             return rate_at{b.first, b.second};
           }) |
           ranges::to<std::vector>;
  }

  /// The levels of the caches: as the machine reports them, or else at the knees of the curve.
  cache_levels levels(int threads) const {
    const auto reported = levels_.find(threads);
    if (reported != levels_.end() && !reported->second.caches().empty()) return reported->second;
    return cache_levels(knees(best_curve(threads)));
  }

  /// What a message of so many bytes takes: between two sizes that were measured in proportion, up
  /// to the least as much as that, beyond the largest at its rate. Nothing where none was measured.
  std::optional<double> message_ns(std::string_view kind, double bytes) const {
    const overhead* below = nullptr;
    for (const overhead& o : overheads_) { // of a kind by size
      if (o.kind != kind || o.bytes <= 0) continue;
      const auto size = static_cast<double>(o.bytes);
      if (bytes <= size) {
        if (below == nullptr) return o.ns;
        const auto before = static_cast<double>(below->bytes);
        return below->ns + (o.ns - below->ns) * (bytes - before) / (size - before);
      }
      below = &o;
    }
    if (below == nullptr) return std::nullopt;
    return below->ns * bytes / static_cast<double>(below->bytes);
  }

  /// What each way of moving bytes reaches in each level that sizes of it clearly lie in.
  std::vector<level_fit> fits() const {
    using place = std::tuple<std::string, int, std::string, std::size_t>;
    std::map<place, std::vector<timed_size>> times;
    for (const auto& [where, points] : curves_)
      for (const bandwidth& b : points)
        if (const auto level = levels(where.second).level_of(b.working_set_bytes))
          times[{where.first, where.second, "", *level}].push_back({b.moved_bytes, b.ns});
    for (const overhead& o : overheads_)
      if (o.moved_bytes > 0)
        if (const auto level =
                o.on_gpu ? std::optional(all_levels) : levels(o.threads).level_of(o.moved_bytes))
          times[{o.kind, o.threads, o.algorithm, *level}].push_back({o.moved_bytes, o.ns});
    std::map<std::tuple<std::string, int, std::string>, double> least_ns;
    for (const auto& [what, sizes] : times) {
      const auto& [kind, threads, way, level] = what;
      double& least = least_ns.try_emplace({kind, threads, way}, sizes.front().ns).first->second;
      for (const timed_size& t : sizes)
        least = std::min(least, t.ns);
    }
    std::vector<level_fit> out;
    for (const auto& [what, sizes] : times) {
      const auto& [kind, threads, way, level] = what;
      level_fit& f = out.emplace_back(fit_of(sizes, least_ns.at({kind, threads, way})));
      f.kind = kind;
      f.threads = threads;
      f.way = way;
      f.level = level == all_levels ? "all" : levels(threads).name(level);
      if (level != all_levels) f.at_most_per_ns = bytes_per_ns(f.least_bytes, threads);
    }
    return out;
  }

private:
  static constexpr auto all_levels = static_cast<std::size_t>(-1);

  /// What the times of a level come to. A line whose half rate no size reaches tells no rate.
  static level_fit fit_of(const std::vector<timed_size>& times, double least_ns) {
    const auto rate = [](const timed_size& t) { return t.bytes / t.ns; };
    const auto [least, most] = ranges::minmax(times, ranges::less{}, &timed_size::bytes);
    const auto [slowest, fastest] = ranges::minmax(times, ranges::less{}, rate);
    level_fit f{.sizes = times.size(),
                .least_bytes = least.bytes,
                .most_bytes = most.bytes,
                .slowest_per_ns = rate(slowest),
                .fastest_per_ns = rate(fastest)};
    const auto line = fit_line(times, least_ns);
    if (!line || line->half_bytes() > most.bytes) return f;
    f.off_by = line->off_by;
    if (line->off_by <= most_off_by) f.line = line;
    return f;
  }

  /// Of rates by threads, at the largest size below that working set or any above, with as much as
  /// a faster level holds staying there.
  static double rate_in(const std::map<int, std::vector<rate_at>>& all, double working_set_bytes,
                        int threads) {
    const auto found = all.find(threads);
    if (found == all.end()) return 0;
    const std::vector<rate_at>& rates = found->second;
    const auto above =
        ranges::upper_bound(rates, working_set_bytes, ranges::less{}, &rate_at::bytes);
    const auto here = above == rates.begin() ? above : std::prev(above);
    const double rate = here->bytes_per_ns;
    double least_ns = working_set_bytes / rate;
    for (const rate_at& faster : ranges::subrange(rates.begin(), here))
      least_ns = std::min(least_ns, faster.bytes / faster.bytes_per_ns +
                                        (working_set_bytes - faster.bytes) / rate);
    return working_set_bytes > 0 ? working_set_bytes / least_ns : rate;
  }

  void take(const result::measurement& m) {
    const result::machine_key key = result::parse_machine_key(m.key);
    if (result::of_a_peak(key.kind)) {
      const auto type = parse_numeric(m.type);
      if (type && m.algorithm_flops > 0)
        peaks_[{*type, m.threads}].push_back({static_cast<double>(m.algorithm_flops) / m.min_ns,
                                              key.kind, m.backend, m.algorithm, m.min_clock_ns});
    } else if (result::of_a_bandwidth(key.kind) && key.bytes > 0) {
      if (m.bytes <= 0) return;
      double& clock = bandwidth_clocks_[m.threads];
      if (m.min_clock_ns > 0 && (clock <= 0 || m.min_clock_ns < clock)) clock = m.min_clock_ns;
      curve& points = curves_[{key.kind, m.threads}];
      const bandwidth b{static_cast<double>(key.bytes), static_cast<double>(m.bytes), m.min_ns,
                        m.algorithm};
      const auto at = ranges::lower_bound(points, b.working_set_bytes, ranges::less{},
                                          &bandwidth::working_set_bytes);
      if (at == points.end() || at->working_set_bytes != b.working_set_bytes)
        points.insert(at, b);
      else if (b.bytes_per_ns() > at->bytes_per_ns())
        *at = b;
    } else {
      overheads_.push_back({key.kind, m.backend, m.algorithm, m.threads, key.bytes,
                            key.bytes > 0 ? static_cast<double>(m.bytes) : 0, m.min_ns,
                            m.device == result::gpu_device});
    }
  }

  std::map<setting, std::vector<peak>> peaks_;
  std::map<std::pair<std::string, int>, curve> curves_;
  std::vector<overhead> overheads_;
  std::map<int, double> bandwidth_clocks_;
  std::map<int, cache_levels> levels_;
  std::map<int, std::vector<rate_at>> envelopes_, readings_; ///< of all kinds, of one: never rising
  std::set<int> threads_;
  std::string absent_;
};

} // namespace benanza::bound
