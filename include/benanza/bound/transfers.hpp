// SPDX-License-Identifier: Apache-2.0
// What does it take to bring a model's inputs to a GPU, and its results back? As long
// as the measured copies of pinned memory of the next sizes. No bound includes it: data that are on
// the GPU already need no copy.
//
//   if (const auto t = transfers_of(run, graph, type)) t->ns() + b.bound.sequential.ns;
#pragma once

#include "../model/dims.hpp"
#include "../model/operands.hpp"
#include "../result/device.hpp"
#include "ceilings/ceilings.hpp"
#include "paths.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace benanza::bound {

/// A model's inputs and results on their way.
struct transfers {
  double input_bytes = 0, result_bytes = 0;
  double there_ns = 0, back_ns = 0;
  double ns() const { return there_ns + back_ns; }
};

namespace detail {
inline double bytes_of(const shape& dims, dtype element, numeric type) {
  const dtype stored = element == dtype::real ? source_of(type) : element;
  return static_cast<double>(elements(dims)) * static_cast<double>(size_bytes(stored));
}
} // namespace detail

/// Bytes of what the model's caller gives, counted where it is read, and of what no node reads.
/// Tensors of unknown dims count nothing.
inline std::pair<double, double> outer_bytes(const model::graph& g, numeric type) {
  double inputs = 0, results = 0;
  std::set<int> read;
  for (const model::node& n : g.nodes) {
    std::size_t place = 0;
    for (const model::operand& o : model::known_operands(n)) {
      if (o.node >= 0) read.insert(o.node);
      if (o.node == model::constant || n.layer == model::no_layer) continue;
      if (o.node == model::model_input)
        if (const auto dims = op::operand_dims(g.layers[detail::at(n.layer)], place))
          inputs += detail::bytes_of(*dims, dtype::real, type);
      ++place;
    }
  }
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i)
    if (!read.contains(i) && g.nodes[detail::at(i)].layer != model::no_layer)
      if (const auto dims = model::result_dims(g, {i}))
        results += detail::bytes_of(*dims, model::result_element(g, {i}), type);
  return {inputs, results};
}

/// The transfers of a model that was measured on a GPU; nothing elsewhere, or where copies were not
/// measured.
inline std::optional<transfers> transfers_of(const result::run& r, const model::graph& g,
                                             numeric type) {
  if (result::devices(r) != std::set<std::string_view>{result::gpu_device}) return std::nullopt;
  const ceilings machine(r);
  const auto [inputs, results] = outer_bytes(g, type);
  const auto there = machine.message_ns("host_to_device_pinned", inputs),
             back = machine.message_ns("device_to_host_pinned", results);
  if (!there || !back || inputs <= 0 || results <= 0) return std::nullopt;
  return transfers{inputs, results, *there, *back};
}

} // namespace benanza::bound
