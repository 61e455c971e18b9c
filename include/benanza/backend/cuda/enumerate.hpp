// SPDX-License-Identifier: Apache-2.0
// What is there on an NVIDIA GPU for a layer that libraries leave out? The runtime's own copies
// (`memcpy`) and kernels of ours that are compiled when they are needed (`kernel:v4`). A list needs
// no GPU, and does not depend on which one it is.
//
//   offers(op::parse("Concat/1x256x28x28-a1-n4"), numeric::f16)   // memcpy, kernel:v1, kernel:v4
//   ...
#pragma once

#include "../../op/kinds.hpp"
#include "../concept.hpp"
#include "copies.hpp"
#include "source/kernels.hpp"

namespace benanza::backend::cuda {

/// The algorithm of the runtime's copies.
inline constexpr std::string_view copies_id = "memcpy";
/// The prefix of a kernel's name in ids.
inline constexpr std::string_view kernel_prefix = "kernel:";

namespace detail {
/// True for layers that go through memory element by element, whatever the layout.
inline bool is_flat(const op::layer& l) {
  if (const auto* p = op::as<op::binary>(l)) return p->a == p->b;
  return op::is<op::unary>(l);
}

/// True for layers all of whose results a kernel makes.
inline bool makes_all_results(const op::layer& l) {
  return op::results(l).size == 1 ||
         op::visit([](const auto& p) { return op::is_residual<std::decay_t<decltype(p)>>; }, l);
}

/// Storage of a layer's elements, which are moved as they are.
inline dtype moved_type(const op::layer& l, numeric t) {
  return op::visit([t](const auto& p) { return source::element_of(p, t); }, l);
}
} // namespace detail

/// What a machine lacks for a kernel, in words; empty: nothing.
using lacking = std::string (*)(const source::kernel&);

/// All that there is for a layer; empty where there is nothing. `kernels` is false where they
/// cannot be compiled; those for which something is `lacking` go to `refused`.
inline std::vector<algorithm> offers(const op::layer& l, numeric t, bool kernels = true,
                                     lacking what = nullptr,
                                     std::vector<refused_algorithm>* refused = nullptr) {
  std::vector<algorithm> out;
  if (t == numeric::tf32 || op::is_view(l) || !detail::makes_all_results(l)) return out;
  if (packed_in_bytes(detail::moved_type(l, t))) return out;
  algorithm a{.equivalence = std::string(name(t)),
              .layouts = std::string(name(layout::plain)),
              .flops = op::direct_flops(l)};
  a.operand_layouts = a.result_layout = detail::is_flat(l) ? any_layout_name : name(layout::plain);
  if (const auto* r = op::as<op::reorder>(l)) {
    a.operand_layouts = name(r->from);
    a.result_layout = name(r->to);
  }
  const auto add = [&](std::string id, std::string fallback, std::string notes) {
    a.id = std::move(id);
    a.index = static_cast<int>(out.size());
    a.fallback = std::move(fallback);
    a.notes = std::move(notes);
    out.push_back(a);
  };
  if (const auto plan = copies_for(l, size_bytes(detail::moved_type(l, t)))) {
    const std::size_t n = plan->copies.size();
    add(std::string(copies_id), "",
        std::to_string(n) + (n == 1 ? " copy" : " copies") +
            (plan->zeros_first ? ",zeros-first" : ""));
  }
  if (kernels)
    for (const source::kernel& k : source::kernels_for(l, t)) {
      const std::string id = std::string(kernel_prefix) + k.name;
      const std::string why = what == nullptr ? std::string{} : what(k);
      if (!why.empty()) {
        if (refused != nullptr) refused->push_back({id, why});
        continue;
      }
      a.workspace_bytes = k.scratch_bytes;
      add(id, "host", k.needs_cub ? "compiled-at-run-time,cub" : "compiled-at-run-time");
    }
  return out;
}

} // namespace benanza::backend::cuda
