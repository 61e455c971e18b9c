// SPDX-License-Identifier: Apache-2.0
// Which layers does a file of keys name? One a line, as case names and the generator's `stats`
// write them; a case's whole name will do, and '#' starts a comment. Such a file takes the place of
// a model: its layers follow each other, since nothing is known of what reads what.
//
//   model::graph g = as_chain(read_layers("keys.txt"), "keys.txt");   g.name == "keys@layers"
#pragma once

#include "../model/layer_table.hpp"
#include "input_text.hpp"

#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace benanza::result {

inline constexpr std::size_t most_layer_file_bytes = std::size_t{64} << 20;

/// The layers that a file names, in its order; refuses a line that is none, and views.
inline std::vector<op::layer> read_layers(const std::string& file) {
  std::istringstream in(input_text(file, most_layer_file_bytes, "the file of layers"));
  std::vector<op::layer> layers;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string where = file + ", line " + std::to_string(++number);
    line.erase(std::min(line.find('#'), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
      line.pop_back();
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    try {
      layers.push_back(op::parse(line));
    } catch (const error& e) {
      throw error(e.what(), where);
    }
    if (op::is_view(layers.back()))
      throw error("a view moves nothing, and cannot be measured: " + line, where);
  }
  if (layers.empty())
    throw error("the file holds no layers", file,
                "write lines such as Conv/1x64x56x56-64x3x3-s1-p1");
  return layers;
}

/// The layers of `file` as a model, named after it.
inline model::graph as_chain(const std::vector<op::layer>& layers, const std::string& file) {
  model::graph g;
  g.model = std::filesystem::path(file).stem().string();
  g.name = g.model + "@layers";
  for (const op::layer& l : layers) {
    const int number = static_cast<int>(g.nodes.size());
    g.nodes.push_back({.name = "layer" + std::to_string(number),
                       .op = std::string(op::family(l)),
                       .layer = number,
                       .inputs = number == 0 ? std::vector<int>{} : std::vector{number - 1}});
  }
  model::number_layers(g, layers);
  return g;
}

} // namespace benanza::result
