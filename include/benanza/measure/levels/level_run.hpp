// SPDX-License-Identifier: Apache-2.0
// How is one chain run with more and more events taken? A level is a case of its own: `model` takes
// the time of the whole, `layer` also that of each step, `call` also what libraries report of their
// calls. All run the same chain in the same memory, and are sampled in turns; what one level's
// events cost is its run's time less that of the level before. Nothing but these events is done
// between steps: they are the only difference.
//
//   level_run r(shared_chain, libraries, level::layer);   r.time(1);   r.parts_of({...})
#pragma once

#include "../chain/chain.hpp"
#include "call_listener.hpp"
#include "level.hpp"
#include "own_time.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza::measure {

/// The mean without the tenth at either end.
inline double trimmed_mean(std::vector<double> ns) {
  if (ns.empty()) return 0;
  std::sort(ns.begin(), ns.end());
  const std::size_t cut = ns.size() / 10, end = ns.size() - cut;
  double sum = 0;
  for (std::size_t i = cut; i < end; ++i)
    sum += ns[i];
  return sum / static_cast<double>(end - cut);
}

/// What a call takes, by a clock that ticks in microseconds: of a few ticks only a mean is finer
/// than one tick, and of many a median is not moved by pauses.
inline double typical_ns(const std::vector<double>& ticks) {
  constexpr double many_ticks_ns = 20e3;
  const double middle = result::median(ticks);
  return middle >= many_ticks_ns ? middle : trimmed_mean(ticks);
}

/// One chain run with the events of a level.
class level_run final : public backend::prepared,
                        public backend::in_parts,
                        private backend::device_control {
public:
  level_run(std::shared_ptr<measure::chain> what, const library_list& libraries, level deepest,
            int threads = 1)
      : chain_(std::move(what))
      , libraries_(libraries)
      , level_(deepest)
      , threads_(threads)
      , layers_(chain_->steps()) {}

  std::string ran() const override {
    for (const named_level& l : named_levels)
      if (l.what == level_) return std::string(l.algorithm);
    return {};
  }
  std::int64_t weight_bytes() const override { return chain_->weight_bytes(); }
  /// A sample is one execution: the parts of several are not separated.
  double shortest_sample_ns() const override {
    return chain_->on_device() ? chain_->shortest_sample_ns() : 0;
  }
  std::string remark() const override {
    std::string out = chain_->remark();
    const auto add = [&out](std::string_view text) {
      out.append(out.empty() ? "" : ",").append(text);
    };
    if (level_ != level::model && chain_->on_device()) add("layers apart by events");
    if (level_ == level::call && !chain_->on_device() && listened_ && !calls_)
      add("no library tells of its calls");
    if (const double percent = all_ns_ > 0 ? 100 * waited_ns_ / all_ns_ : 0; percent >= 1) {
      char text[80];
      std::snprintf(text, sizeof text, "less the %.0f %% in which others had the processor",
                    percent);
      add(text);
    }
    if (odd_) add("the calls of some executions were others and are left out");
    return out;
  }
  void run(int executions) override { chain_->run(executions); }
  void read(std::vector<double>& out) const override { chain_->read(out); }

  double time(int executions) override {
    if (chain_->on_device()) return time_on_device(executions);
    double total_ns = 0;
    for (int i = 0; i < executions; ++i)
      total_ns += level_ == level::model   ? whole()
                  : level_ == level::layer ? with_layers(nullptr)
                                           : with_calls();
    return total_ns;
  }

  /// Probes would be events too.
  void between_parts(backend::probe_between) override {}
  backend::in_parts* parts() override { return this; }
  std::vector<timed_part> parts_of(const std::vector<double>& samples) const override {
    if (level_ == level::model) return {};
    times_by_step times;
    if (!chain_->on_device())
      times = layers_.of(samples);
    else
      for (const double ns : device_layers_)
        times.push_back({ns});
    std::vector<timed_part> out;
    for (std::size_t k = 0; k < times.size(); ++k)
      out.push_back(
          {chain_->name_of(k), std::max(1.0, result::median(times[k])), chain_->layer_of(k)});
    return out;
  }
  std::vector<timed_call> calls_of(const std::vector<double>& samples) const override {
    if (!calls_) return {};
    const times_by_step times = calls_->of(samples);
    std::vector<timed_call> out;
    for (std::size_t k = 0; k < times.size(); ++k) {
      timed_call& c = out.emplace_back(heard_[k]);
      c.ns = std::max(1.0, typical_ns(times[k]));
    }
    return out;
  }

  device_control* own_device() override { return chain_->on_device() ? this : nullptr; }

private:
  double whole() {
    const own_time timer(threads_ == 1);
    for (std::size_t k = 0; k < chain_->steps(); ++k)
      chain_->execute(k);
    return own_ns(timer);
  }

  /// Of a whole run, without the pauses in which others had the processor. Layers are short, and
  /// the median of their times has none.
  double own_ns(const own_time& timer) {
    const own_time::figures f = timer.now();
    all_ns_ += f.ns;
    waited_ns_ += f.waited_ns;
    return f.own_ns();
  }

  double with_layers(call_listener* listener) {
    const bool keep = !layers_.full();
    const own_time timer(threads_ == 1);
    for (std::size_t k = 0; k < chain_->steps(); ++k) {
      const stopwatch of_layer;
      chain_->execute(k);
      const double ns = of_layer.ns();
      if (keep) layers_.add(ns);
      if (listener != nullptr) listener->step_ends();
    }
    const double total_ns = own_ns(timer);
    if (keep) layers_.end(total_ns);
    return total_ns;
  }

  double with_calls() {
    call_listener listener(libraries_);
    const double total_ns = with_layers(&listener);
    keep_calls(listener.end(), total_ns);
    listened_ = true;
    return total_ns;
  }

  /// The calls of every execution are the same ones, or its times are left out.
  void keep_calls(const std::vector<heard_call>& heard, double total_ns) {
    if (!calls_ && !heard.empty()) {
      for (const heard_call& c : heard)
        heard_.push_back({static_cast<std::int64_t>(c.step), c.what});
      calls_.emplace(heard.size());
    }
    if (!calls_ || calls_->full()) return;
    const bool same =
        std::equal(heard.begin(), heard.end(), heard_.begin(), heard_.end(),
                   [](const heard_call& c, const timed_call& known) {
                     return static_cast<std::int64_t>(c.step) == known.part && c.what == known.text;
                   });
    odd_ |= !same;
    if (!same) return;
    for (const heard_call& c : heard)
      calls_->add(c.ns);
    calls_->end(total_ns);
  }

  // ---- on a device -----------------------------------------------------------------------------
  double time_on_device(int executions) {
    if (level_ == level::model) return chain_->time(executions);
    double total_ns = 0;
    for (int i = 0; i < executions; ++i) {
      device_layers_ = chain_->times_between_events();
      if (device_layers_.empty()) throw error("the device does not time layers one by one");
      for (const double ns : device_layers_)
        total_ns += ns;
    }
    return total_ns;
  }
  device_control& device() const { return *chain_->own_device(); }
  void wake() override { device().wake(); }
  double clock_ns() const override { return device().clock_ns(); }
  bool host_launches() const override { return device().host_launches(); }
  void begin_account() override { device().begin_account(); }
  backend::device_account end_account() override { return device().end_account(); }
  /// Step by step, so that each kernel has its layer.
  std::vector<device_kernel> kernels() override {
    std::vector<device_kernel> out;
    for (std::size_t k = 0; k < chain_->steps(); ++k)
      for (device_kernel& one : chain_->kernels_of(k)) {
        one.part = static_cast<std::int64_t>(k);
        out.push_back(std::move(one));
      }
    return out;
  }

  std::shared_ptr<measure::chain> chain_;
  const library_list& libraries_;
  level level_;
  int threads_;
  step_times layers_;
  std::vector<double> device_layers_{};
  std::optional<step_times> calls_{}; ///< of each call, once there was one
  std::vector<timed_call> heard_{};   ///< what they are
  bool listened_ = false, odd_ = false;
  double all_ns_ = 0, waited_ns_ = 0; ///< of all executions
};

} // namespace benanza::measure
