// SPDX-License-Identifier: Apache-2.0
// Is the GPU at the speed at which it should be measured? A watch asks NVML: when a resting GPU has
// come to its highest clock, for which part of a stretch of time its power limit or its temperature
// held the clock down, and what it is like just now. Without NVML it knows nothing.
//
//   watch w(nvml::usual_library(), "0000:3B:00.0");
//   w.begin_stretch();  ...  w.end_stretch().held_by_power_ns
#pragma once

#include "../../core/stopwatch.hpp"
#include "../prepared.hpp"
#include "nvml.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace benanza::backend::cuda {

/// The SM clock may be lower than its best by this share; below that, the GPU rests.
inline constexpr double most_clock_fall = 0.1;
/// A clock that rises by less than this share no longer rises.
inline constexpr double clock_step = 0.01;

class watch {
public:
  watch(const std::string& library, const std::string& pci_bus_id)
      : nvml_(library, pci_bus_id)
      , energy_mj_(nvml_.energy_mj()) {}

  /// True where the SM clock is known.
  bool sees_clock() const { return nvml_.sm_mhz().has_value(); }

  /// A stretch of time begins. Counters are asked unless that would take more than a share of all
  /// time: where NVML is slow, most stretches have no account.
  void begin_stretch() {
    begun_.reset();
    if (!counts_) return;
    if (asked_ && since_asked_.ns() < question_ns_ / most_asking) return;
    begun_ = ask();
    counts_ = begun_.has_value();
  }
  /// It ends: for how long the GPU was watched, and its clock was held down.
  device_account end_stretch() {
    device_account out;
    const auto now = begun_ ? ask() : std::nullopt;
    if (!now || now->power.at_us <= begun_->power.at_us) return out;
    out.watched_ns = 1e3 * static_cast<double>(now->power.at_us - begun_->power.at_us);
    const auto held = [&](const nvml::held_time& from, const nvml::held_time& to) {
      const double ns =
          to.held_ns > from.held_ns ? static_cast<double>(to.held_ns - from.held_ns) : 0;
      return std::min(ns, out.watched_ns);
    };
    out.held_by_power_ns = held(begun_->power, now->power);
    out.held_by_heat_ns = held(begun_->heat, now->heat);
    return out;
  }

  /// True if the SM clock no longer rises: asked between two stretches of work.
  bool settled() {
    const auto mhz = nvml_.sm_mhz();
    if (!mhz) return true;
    const bool rises = *mhz > (1 + clock_step) * last_mhz_;
    last_mhz_ = *mhz;
    best_mhz_ = std::max(best_mhz_, *mhz);
    return !rises && *mhz >= (1 - most_clock_fall) * best_mhz_;
  }

  /// True if the GPU rests, as far as that is known: its clock is far below its best.
  bool rests() const {
    const auto mhz = nvml_.sm_mhz();
    return mhz && *mhz < (1 - most_clock_fall) * best_mhz_;
  }

  /// Joules since the driver was loaded; nothing where that is not known, or is of a board of which
  /// this GPU is a part.
  std::optional<double> joules() const {
    const auto mj = nvml_.split().value_or(false) ? std::nullopt : nvml_.energy_mj();
    return mj ? std::optional(static_cast<double>(*mj) / 1e3) : std::nullopt;
  }

  /// Facts that stay as they are.
  std::map<std::string, std::string> facts() const {
    std::map<std::string, std::string> out;
    if (const auto v = nvml_.driver()) out["driver_version"] = *v;
    if (const auto mhz = nvml_.most_sm_mhz()) out["most_clock_mhz"] = std::to_string(*mhz);
    if (const auto w = nvml_.power_limit_w()) out["power_limit_w"] = text("%.0f", *w);
    if (const auto on = nvml_.ecc()) out["ecc"] = *on ? "on" : "off";
    if (nvml_.split().value_or(false)) out["mig"] = "on";
    return out;
  }

  /// What the GPU is like just now: "SM 1980 MHz, memory 3201 MHz, 512.3 W, 61 C, clock held down
  /// by: none, 40.2 J since the start"; or why that is not known.
  std::string condition() const {
    if (!nvml_.why_not().empty()) return nvml_.why_not();
    std::string out;
    const auto add = [&out](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
    if (const auto mhz = nvml_.sm_mhz()) add("SM " + std::to_string(*mhz) + " MHz");
    if (const auto mhz = nvml_.memory_mhz()) add("memory " + std::to_string(*mhz) + " MHz");
    if (const auto w = nvml_.power_w()) add(text("%.1f W", *w));
    if (const auto c = nvml_.temperature_c()) add(std::to_string(*c) + " C");
    if (const auto bits = nvml_.limits()) add("clock held down by: " + clock_limits(*bits));
    if (const auto mj = nvml_.energy_mj(); mj && energy_mj_ && *mj > *energy_mj_)
      add(text("%.1f J since the start", static_cast<double>(*mj - *energy_mj_) / 1000));
    return out;
  }

private:
  /// Of all time, that questions may take.
  static constexpr double most_asking = 0.01;
  struct counters {
    nvml::held_time power{}, heat{};
  };

  std::optional<counters> ask() {
    const stopwatch took;
    const auto power = nvml_.held_by_power(), heat = nvml_.held_by_heat();
    question_ns_ = std::max(took.ns(), question_ns_ / 2); // a slow one may have been an accident
    since_asked_ = {};
    asked_ = true;
    if (!power) return std::nullopt;
    return counters{*power, heat.value_or(nvml::held_time{})};
  }

  static std::string text(const char* format, double value) {
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), format, value);
    return out.data();
  }

  nvml nvml_;
  std::optional<std::uint64_t> energy_mj_; ///< when the watch began
  unsigned best_mhz_ = 0, last_mhz_ = 0;
  bool counts_ = true, asked_ = false; ///< as far as is known
  double question_ns_ = 0;             ///< of both counters
  stopwatch since_asked_{};
  std::optional<counters> begun_{};
};

} // namespace benanza::backend::cuda
