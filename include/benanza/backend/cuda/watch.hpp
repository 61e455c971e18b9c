// SPDX-License-Identifier: Apache-2.0
// Is the GPU at the speed at which it should be measured? A watch reads its clocks, power and
// temperature through NVML: it says what slows the GPU down, when a resting one has come to its
// highest clock, and what it is like just now. Without NVML it knows nothing, and nothing disturbs.
//
//   watch w(nvml::usual_library(), "0000:3B:00.0");   if (auto why = w.disturbance(); !why.empty())
#pragma once

#include "nvml.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace benanza::backend::cuda {

/// By so much of its best the SM clock may lie lower; below that, what is timed is another GPU.
inline constexpr double most_clock_fall = 0.1;
/// A clock that rises by less has risen.
inline constexpr double clock_step = 0.01;

class watch {
public:
  watch(const std::string& library, const std::string& pci_bus_id)
      : nvml_(library, pci_bus_id)
      , energy_mj_(nvml_.energy_mj()) {}

  /// True where the SM clock is told.
  bool sees_clock() const { return nvml_.sm_mhz().has_value(); }

  /// What slows the GPU down just now, and what to do about it; empty: nothing that is known.
  std::string disturbance() {
    const std::uint64_t bits = nvml_.limits().value_or(0);
    const std::uint64_t harm = bits & ~(clock_limit::harmless | clock_limit::power_cap);
    if (harm != 0)
      return "the GPU's clock was held down: " + clock_limits(harm) +
             "; let it cool, or lift its limits";
    // At its power limit a GPU runs as fast as it ever does such work: that is what is asked.
    if ((bits & clock_limit::power_cap) != 0) return {};
    const auto mhz = nvml_.sm_mhz();
    if (!mhz) return {};
    best_mhz_ = std::max(best_mhz_, *mhz);
    if (*mhz >= (1 - most_clock_fall) * best_mhz_) return {};
    return "the GPU's clock fell to " + std::to_string(*mhz) + " MHz, from " +
           std::to_string(best_mhz_) + "; run again when nothing else uses it";
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

  /// True if the GPU rests, as far as that is told: its clock is far below its best.
  bool rests() const {
    const auto mhz = nvml_.sm_mhz();
    return mhz && *mhz < (1 - most_clock_fall) * best_mhz_;
  }

  /// Watts just now; 0: not told.
  double power_w() const { return nvml_.power_w().value_or(0); }

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
  static std::string text(const char* format, double value) {
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), format, value);
    return out.data();
  }

  nvml nvml_;
  std::optional<std::uint64_t> energy_mj_; ///< when the watch began
  unsigned best_mhz_ = 0, last_mhz_ = 0;
};

} // namespace benanza::backend::cuda
