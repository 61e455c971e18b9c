// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "../report/layers.hpp"
#include "../report/units.hpp"

#include <benanza/advice/tensor_cores.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace benanza::report {

std::string tensor_line(const bound::model_bound& b, std::size_t limit) {
  const advice::tensor_summary s = advice::tensor_cores_of(b);
  if (s.empty()) return {};
  const std::size_t all = s.yes.size() + s.no.size() + s.unknown.size();
  std::string text = fmt::format("{} of {} with sums of products run on them", s.yes.size(),
                                 counted(static_cast<std::int64_t>(all), "layer"));
  if (!s.unknown.empty()) text += fmt::format(", of {} that is not known", s.unknown.size());
  std::vector<std::string> who;
  if (s.counted > 0) who.push_back(fmt::format("{} by the GPU's counters", s.counted));
  if (s.observed > 0) who.push_back(fmt::format("{} observed by kernel names", s.observed));
  if (s.noted > 0) who.push_back(fmt::format("{} by the library's note", s.noted));
  if (!who.empty()) text += fmt::format(" ({})", fmt::join(who, ", "));
  if (!s.no.empty() && !s.yes.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(limit, s.no.size()); ++i)
      names.push_back(s.no[i]->name);
    if (names.size() < s.no.size())
      names.push_back(fmt::format("{} more", s.no.size() - names.size()));
    text += fmt::format("; not: {}", fmt::join(names, ", "));
  }
  return wrapped("tensor cores  ", text + '.');
}

namespace {
/// The kernels of an algorithm, those of a name together, with their shares of its time.
std::string kernels_text(const std::vector<device_kernel>& kernels) {
  struct same {
    std::string name;
    int times = 0;
    double ns = 0;
  };
  std::vector<same> all;
  double sum = 0;
  for (const device_kernel& k : kernels) {
    const std::string name = printable(short_kernel_name(k.name));
    const auto known =
        std::find_if(all.begin(), all.end(), [&name](const same& s) { return s.name == name; });
    same& one = known == all.end() ? all.emplace_back(same{name}) : *known;
    ++one.times;
    one.ns += k.ns;
    sum += k.ns;
  }
  std::string out;
  for (const same& one : all) {
    out += (out.empty() ? "" : ", ") + (one.times > 1 ? std::to_string(one.times) + " x " : "") +
           one.name;
    if (all.size() > 1 && sum > 0) out += ' ' + percent(one.ns / sum);
  }
  return out;
}

/// What the GPU counted of an execution; empty: nothing.
std::string counters_text(const device_counters& c) {
  if (!c.counted()) return {};
  return fmt::format("tensor pipes {} of active cycles, {} read, {} written; ",
                     percent(c.tensor_pipe_percent / 100),
                     show_bytes(static_cast<double>(c.dram_read_bytes)),
                     show_bytes(static_cast<double>(c.dram_written_bytes)));
}
} // namespace

std::string kernel_list(const bound::model_bound& b, std::size_t limit) {
  std::string out;
  std::size_t rows = 0;
  for (const bound::layer_answer* l : by_time(b)) {
    if (rows == limit || !l->timed()) continue;
    const bound::measurement& m = *l->algorithms.best;
    if (m.kernels.empty()) continue;
    ++rows;
    out += wrapped(
        fmt::format("{:>9}  ", show_time(l->algorithms.bound.ns)),
        fmt::format("{}{} for {}", counters_text(m.counters), kernels_text(m.kernels), l->name));
  }
  return out.empty() ? out : "\nKernels that were seen:\n" + out;
}

} // namespace benanza::report
