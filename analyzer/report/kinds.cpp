// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

#include "layers.hpp"

#include <range/v3/action/stable_sort.hpp>
#include <range/v3/view/map.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>

namespace benanza::report {

std::string kind_name(std::string_view layer) {
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

std::vector<operator_kind> operator_kinds(const bound::model_bound& b) {
  std::map<std::string, operator_kind> all;
  for (const layer_in_run& run : layers_in_run(b)) {
    const bound::layer_answer& l = *run.layer;
    const std::string what = kind_name(l.name);
    operator_kind& k = all.try_emplace(what, operator_kind{.what = what}).first->second;
    const double ns = run.ns;
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
