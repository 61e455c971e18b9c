// SPDX-License-Identifier: Apache-2.0
// Which numbers go into which file?
#include "files.hpp"

#include "../folder.hpp"
#include "writer.hpp"

#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>
#include <benanza/result/json.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace benanza::generator {
namespace {
namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr numeric type = numeric::f32;
/// Of each result, as benanza_bench checks by default.
constexpr std::int64_t outputs_checked = 2000;

void put(const fs::path& path, const std::string& bytes) {
  detail::written(path, bytes)->commit();
}

ordered_json names_and_dims(const auto& values) {
  ordered_json out = ordered_json::array();
  for (const auto& v : values) {
    const auto& t = v.type().tensor_type();
    ordered_json dims = ordered_json::array();
    for (const auto& d : t.shape().dim())
      dims.push_back(d.dim_value());
    out.push_back({{"name", v.name()}, {"type", t.elem_type()}, {"dims", std::move(dims)}});
  }
  return out;
}
} // namespace

void write_layer_files(const op::layer& l, const fs::path& folder) {
  const backend::operands operands = backend::make_operands(l, type);
  node_model written = write_node(l, operands);
  const auto positions = backend::reference::positions_to_check(l, outputs_checked);
  std::vector<double> expected(positions.size());
  backend::reference::evaluate(l, type, operands, positions, expected);

  std::error_code bad;
  fs::create_directories(folder, bad);
  if (bad || !fs::is_directory(folder))
    throw error("not a folder that can be made", folder.string(), "give -o another one");
  std::int64_t weight_bytes = 0;
  const auto put_numbers = [&](std::size_t k) {
    const auto& bytes = operands.inputs[k].bytes;
    put(folder / ("x" + std::to_string(k) + ".bin"),
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return std::ssize(bytes);
  };
  for (const std::size_t k : written.inputs)
    put_numbers(k);
  for (const std::size_t k : written.weights)
    weight_bytes += put_numbers(k);
  ordered_json weights = ordered_json::array();
  for (const auto& t : written.model.graph().initializer())
    if (t.external_data_size() > 0) weights.push_back(t.name());
  put(folder / "model.onnx", written.model.SerializeAsString());

  const op::work cost = op::cost(l);
  const ordered_json all{{"family", op::family(l)},
                         {"key", op::key(l)},
                         {"type", name(type)},
                         {"flops", cost.flops()},
                         {"algorithm_flops", op::direct_flops(l)},
                         {"bytes", cost.bytes(type)},
                         {"weight_bytes", weight_bytes},
                         {"inputs", names_and_dims(written.model.graph().input())},
                         {"weights", std::move(weights)},
                         {"results", names_and_dims(written.model.graph().output())},
                         {"positions", positions},
                         {"expected", expected},
                         {"limits", backend::limits(l, type, positions, expected)}};
  put(folder / "layer.json",
      all.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
}

} // namespace benanza::generator
