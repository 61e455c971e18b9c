// SPDX-License-Identifier: Apache-2.0
// Do a GPU's algorithms run on its tensor cores, and who says so? First the GPU's own counters,
// then the kernels that were seen, by their names; without a profiler, or where a name does not say
// it, what the library says of the algorithm; else it is not known. Only layers of sums of products
// are asked.
//
//   tensor_answer a = tensor_answer_of(measurement);   a.use == tensor_use::yes, a.by
//   tensor_summary s = tensor_cores_of(model);         s.yes.size(), s.no, s.unknown
#pragma once

#include "../bound/figures.hpp"
#include "../core/text.hpp"
#include "../result/device.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace benanza::advice {

/// Who answers.
enum class told_by { none, counters, kernels, library };

struct tensor_answer {
  tensor_use use = tensor_use::unknown;
  told_by by = told_by::none;
  bool operator==(const tensor_answer&) const = default;
};

namespace detail {
/// What the library says: cuDNN's engines and cublasLt's algorithms have a note or have none, of
/// others nothing is said.
inline tensor_use noted(const bound::measurement& m) {
  const std::vector<std::string_view> notes = items(m.notes, ",");
  const auto says = [&notes](std::string_view what) {
    return std::find(notes.begin(), notes.end(), what) != notes.end();
  };
  if (says("tensor-cores")) return tensor_use::yes;
  const auto is_a = [&m](std::string kind) { // with a layout before it, or without
    return m.algorithm.starts_with(kind) || m.algorithm.find(':' + kind) != m.algorithm.npos;
  };
  const bool engine = m.backend == "cudnn" && is_a("eng");
  const bool lt = m.backend == "cublas" && is_a("lt:") && !says("refused");
  return engine || lt ? tensor_use::no : tensor_use::unknown;
}
} // namespace detail

/// The answer for the case of a layer of sums of products.
inline tensor_answer tensor_answer_of(const bound::measurement& m) {
  if (result::device_of(m) != result::gpu_device) return {};
  if (m.counters.counted())
    return {m.counters.tensor_pipe_percent > 0 ? tensor_use::yes : tensor_use::no,
            told_by::counters};
  if (const tensor_use seen = tensor_cores(m.kernels); seen != tensor_use::unknown)
    return {seen, told_by::kernels};
  const tensor_use said = detail::noted(m);
  return {said, said == tensor_use::unknown ? told_by::none : told_by::library};
}

/// "counted", "observed", "by the library's note"; empty: it is not known.
constexpr std::string_view name(told_by by) {
  return by == told_by::counters  ? "counted"
         : by == told_by::kernels ? "observed"
         : by == told_by::library ? "by the library's note"
                                  : "";
}
constexpr std::string_view name(tensor_use use) {
  return use == tensor_use::yes ? "yes" : use == tensor_use::no ? "no" : "unknown";
}

/// True for a GPU's case of a layer of sums of products, which tensor cores compute.
inline bool may_use_tensor_cores(const bound::measurement& m) {
  return result::device_of(m) == result::gpu_device && result::of_a_layer(m) &&
         op::cost(op::parse(m.family, m.key)).macs > 0;
}

/// A model's layers of sums of products by the answers for those algorithms that set their bounds.
struct tensor_summary {
  std::vector<const bound::layer_answer*> yes{}, no{}, unknown{};
  std::int64_t counted = 0, observed = 0, noted = 0; ///< of `yes` and `no`: who says so
  bool empty() const { return yes.empty() && no.empty() && unknown.empty(); }
};

/// Refers to the layers of `b`; empty where no GPU ran them.
inline tensor_summary tensor_cores_of(const bound::model_bound& b) {
  tensor_summary out;
  for (const bound::layer_answer& l : b.layers) {
    if (!l.timed() || !may_use_tensor_cores(*l.algorithms.best)) continue;
    const tensor_answer a = tensor_answer_of(*l.algorithms.best);
    (a.use == tensor_use::yes  ? out.yes
     : a.use == tensor_use::no ? out.no
                               : out.unknown)
        .push_back(&l);
    out.counted += a.by == told_by::counters;
    out.observed += a.by == told_by::kernels;
    out.noted += a.by == told_by::library;
  }
  return out;
}

} // namespace benanza::advice
