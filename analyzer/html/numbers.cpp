// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace benanza::report::html {

result::ordered_json number(double v) {
  if (!std::isfinite(v) || v == 0) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(v))));
  const double rounded = scale > 1e300 ? v : std::round(v * scale) / scale;
  if (rounded == std::trunc(rounded) && std::abs(rounded) < 1e15)
    return static_cast<std::int64_t>(rounded);
  return rounded;
}

result::ordered_json number(const bound::figure& f) {
  return result::ordered_json::array({number(f.ns), number(f.low_ns), number(f.high_ns)});
}

std::string packed(double v) {
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

std::string dots(std::vector<double> samples, double least, std::size_t most) {
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
