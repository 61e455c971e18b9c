// SPDX-License-Identifier: Apache-2.0
// How do figures and texts become small in the page's data? Numbers have five significant digits,
// texts that occur again and again are told once, and samples are letters.
//
//   texts known;   known.of("onednn") == known.of("onednn");   dots({1e6, 1.1e6}, 24).letters
#pragma once

#include "../../bound/interval.hpp"
#include "../../core/printable.hpp"
#include "../../result/json.hpp"
#include "../../result/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace benanza::report::html {

using result::ordered_json;

/// A number with five significant digits, in as few letters as it takes.
inline ordered_json number(double v) {
  if (!std::isfinite(v) || v == 0) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(v))));
  const double rounded = scale > 1e300 ? v : std::round(v * scale) / scale;
  if (rounded == std::trunc(rounded) && std::abs(rounded) < 1e15)
    return static_cast<std::int64_t>(rounded);
  return rounded;
}

/// A figure with its interval.
inline ordered_json number(const bound::figure& f) {
  return ordered_json::array({number(f.ns), number(f.low_ns), number(f.high_ns)});
}

/// Texts by number.
class texts {
public:
  texts() { of(""); }

  std::size_t of(std::string_view text) {
    const auto [found, fresh] = places_.try_emplace(std::string(text), all_.size());
    if (fresh) all_.push_back(printable(text));
    return found->second;
  }
  const std::vector<std::string>& all() const { return all_; }

private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

/// Samples as letters between two times: letter c of 64 is low * (high / low)^(c / 63).
struct dotted {
  double low_ns = 0, high_ns = 0;
  std::string letters{};
};

inline constexpr std::string_view dot_letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// At most so many of the samples, the least and the largest among them.
inline dotted dots(std::vector<double> samples, std::size_t most) {
  std::erase_if(samples, [](double v) { return !(v > 0); });
  dotted out;
  if (samples.empty() || most < 2) return out;
  std::sort(samples.begin(), samples.end());
  out.low_ns = samples.front();
  out.high_ns = samples.back();
  const std::size_t n = std::min(most, samples.size());
  const double range = std::log(out.high_ns / out.low_ns);
  for (std::size_t i = 0; i < n; ++i) {
    const double v = samples[n == 1 ? 0 : i * (samples.size() - 1) / (n - 1)];
    const double place = range > 0 ? 63 * std::log(v / out.low_ns) / range : 0;
    out.letters += dot_letters[static_cast<std::size_t>(std::clamp(place + 0.5, 0.0, 63.0))];
  }
  return out;
}

} // namespace benanza::report::html
