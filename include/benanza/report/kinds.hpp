// SPDX-License-Identifier: Apache-2.0
// Where does the time of the best run go, by kind of operator, and what limits it? The layers of
// the form that should run, at their predictions, with the changes of layout as a kind of their
// own. A kind is limited by arithmetic or by memory as its rooflines say, or by its kernels where
// these stay far above.
//
//   for (const operator_kind& k : operator_kinds(model)) ...   // {"Conv 3x3", 3.2e6 ns, 236 to 270
//   GFLOP/s}
#pragma once

#include "layers.hpp"

#include <range/v3/action/stable_sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// One kind of operator.
struct operator_kind {
  std::string what{};
  double ns = 0, memory_ns = 0, kernel_ns = 0; ///< all; limited by memory; far above the roofline
  double unknown_ns = 0;                       ///< without a roofline
  double least_gflops = 0, most_gflops = 0;
  bool fewer_operations = false; ///< some need fewer than are counted

  std::string_view limit() const {
    if (2 * unknown_ns > ns) return "-";
    if (2 * kernel_ns > ns) return "its kernels";
    return 2 * memory_ns > ns ? "memory" : "arithmetic";
  }
};

namespace detail {
/// `Conv 3x3`, `Conv 3x3 /2`, `Conv 3x3 depthwise`, or the family without what is fused to it.
inline std::string kind_name(std::string_view layer) {
  const std::size_t slash = layer.find('/');
  std::string_view family = layer.substr(0, slash);
  family = family.substr(0, family.find('+'));
  std::string out(family);
  if (slash == std::string_view::npos || (family != "Conv" && family != "ConvTranspose"))
    return out;
  std::string_view key = layer.substr(slash + 1);
  std::vector<std::string_view> parts;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('-'), key.size());
    parts.push_back(key.substr(0, end));
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  if (parts.size() < 2) return out;
  const std::string_view kernel = parts[1].substr(std::min(parts[1].find('x'), parts[1].size()));
  if (kernel.size() > 1) (out += ' ') += kernel.substr(1);
  for (std::size_t i = 2; i < parts.size(); ++i) {
    if (parts[i].size() > 1 && parts[i][0] == 's' && parts[i][1] > '1' && parts[i][1] <= '9')
      (out += " /") += parts[i].substr(1);
    if (parts[i].size() > 1 && parts[i][0] == 'g' &&
        std::isdigit(static_cast<unsigned char>(parts[i][1])) != 0)
      out += " grouped";
  }
  return out;
}
} // namespace detail

/// The kinds of a model's best run, those that take most first.
inline std::vector<operator_kind> operator_kinds(const model_bound& b) {
  std::map<std::string, operator_kind> all;
  const std::vector<std::int64_t> uses = uses_as_fused(b);
  for (const auto& [l, n] : ranges::views::zip(b.layers, uses)) {
    const double each = l.algorithms.prediction.ns;
    if (n == 0 || !l.known() || each <= 0) continue;
    const std::string what = detail::kind_name(l.name);
    operator_kind& k = all.try_emplace(what, operator_kind{.what = what}).first->second;
    const double ns = static_cast<double>(n) * each;
    k.ns += ns;
    if (!l.roofline || l.roofline->ns <= 0)
      k.unknown_ns += ns;
    else if (bound::measured_ns(l.algorithms) > far_above * l.roofline->ns + bound::call_ns)
      k.kernel_ns += ns;
    else if (l.roofline->by_memory)
      k.memory_ns += ns;
    const arithmetic_rate r = rate(l);
    if (r.gflops <= 0) continue;
    k.least_gflops = k.least_gflops > 0 ? std::min(k.least_gflops, r.gflops) : r.gflops;
    k.most_gflops = std::max(k.most_gflops, r.gflops);
    k.fewer_operations = k.fewer_operations || r.less_than_nominal;
  }
  if (const auto& form = b.fastest_form(); form.layouts && form.layouts->prediction)
    if (const double ns = form.layouts->prediction->changes.ns; ns > 0)
      all["changes of layout"] = {.what = "changes of layout", .ns = ns, .memory_ns = ns};
  return all | ranges::views::values | ranges::to<std::vector> |
         ranges::actions::stable_sort(ranges::greater{}, &operator_kind::ns);
}

} // namespace benanza::report
