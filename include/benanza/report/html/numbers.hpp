// SPDX-License-Identifier: Apache-2.0
// How do figures and texts become small in the page's data? Numbers have five significant digits,
// what occurs again and again is written once, and the many figures of cases are letters.
//
//   texts known;   known.of("onednn") == known.of("onednn");   packed(1234.5) + dots({1300}, 1234,
//   8)
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
#include <utility>
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

/// Values of several parts by number.
class told_once {
public:
  std::size_t of(ordered_json value) {
    const auto [found, fresh] = places_.try_emplace(value.dump(), all_.size());
    if (fresh) all_.push_back(std::move(value));
    return found->second;
  }
  const ordered_json& all() const { return all_; }

private:
  std::unordered_map<std::string, std::size_t> places_;
  ordered_json all_ = ordered_json::array();
};

/// Letters that mean 0 to 63.
inline constexpr std::string_view letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// A number of 0.01 or more in three letters, with four significant digits; "000": there is none.
/// Rounded to three digits, as the page shows it, it is what the number itself would be.
inline std::string packed(double v) {
  int code = 0;
  if (v > 0 && std::isfinite(v)) {
    int exponent = static_cast<int>(std::floor(std::log10(v)));
    const double whole = v / std::pow(10.0, exponent - 3);
    int digits = static_cast<int>(std::round(whole));
    if (digits % 10 == 5) digits += whole < digits ? -1 : whole > digits ? 1 : 0;
    if (digits >= 10000) {
      digits = 1000;
      ++exponent;
    }
    code = 1 + 9000 * std::clamp(exponent + 2, 0, 28) + std::clamp(digits, 1000, 9999) - 1000;
  }
  return {letters[static_cast<std::size_t>(code / 4096)],
          letters[static_cast<std::size_t>(code / 64 % 64)],
          letters[static_cast<std::size_t>(code % 64)]};
}

/// Samples as letters: first r, then for each of `most` samples, the least and the largest among
/// them, a p that says that it is least * e^((r / 16)^2 * p / 63); blanks where there are fewer.
inline std::string dots(std::vector<double> samples, double least, std::size_t most) {
  std::erase_if(samples, [](double v) { return !(v > 0); });
  std::sort(samples.begin(), samples.end());
  const auto letter = [](double v) {
    return letters[static_cast<std::size_t>(std::clamp(v, 0.0, 63.0))];
  };
  const double above = samples.empty() ? 0 : std::log(std::max(samples.back() / least, 1.0)),
               r = std::min(std::ceil(16 * std::sqrt(above)), 63.0), range = r * r / 256;
  std::string out{letter(r)};
  const std::size_t n = std::min(most, samples.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double v = samples[n == 1 ? 0 : i * (samples.size() - 1) / (n - 1)];
    out += letter(range > 0 ? 63 * std::log(v / least) / range + 0.5 : 0);
  }
  return out.append(most - n, ' ');
}

} // namespace benanza::report::html
