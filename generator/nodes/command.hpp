// SPDX-License-Identifier: Apache-2.0
// The verb that writes layers as ONNX models, each with what it computes on and what is right:
//
//   benanza_generate onnx Conv/1x64x56x56-64x3x3-s1-p1 -o layers/     # layers/0
//   benanza_generate onnx --layers keys.txt -o layers/                # layers/0, layers/1 ...
#pragma once

#include "../messages.hpp"
#include "files.hpp"

#include <benanza/core/printable.hpp>
#include <benanza/result/layer_file.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace benanza::generator {

struct node_arguments {
  std::vector<std::string> names, files;
  std::string folder;
  bool quiet = false;
};

inline CLI::App* add_nodes(CLI::App& app, node_arguments& a) {
  CLI::App* verb = app.add_subcommand(
      "onnx", "write layers as ONNX models, with their numbers and the right results");
  verb->add_option("names", a.names, "layers: Conv/1x64x56x56-64x3x3-s1-p1");
  verb->add_option("--layers", a.files, "a file of layers, one a line")->allow_extra_args(false);
  verb->add_option("-o,--output", a.folder, "folder to write to");
  verb->add_flag("-q,--quiet", a.quiet, "do not print what is written");
  return verb;
}

/// Writes each layer into a folder of its number. What no model is written for is named.
inline status write_nodes(const node_arguments& a) {
  std::vector<op::layer> layers;
  for (const std::string& n : a.names)
    layers.push_back(op::parse(n));
  for (const std::string& file : a.files)
    for (op::layer& l : result::read_layers(file))
      layers.push_back(std::move(l));
  if (layers.empty()) throw error("no layer was named", "onnx", "give layers, or --layers FILE");
  if (a.folder.empty()) throw error("no folder to write to", "onnx", "give -o FOLDER");
  std::vector<std::string> refused;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto folder = std::filesystem::path(a.folder) / std::to_string(i);
    const std::string name = op::name(layers[i]);
    try {
      write_layer_files(layers[i], folder);
      if (!a.quiet) say(fmt::format("{}: {}\n", printable(folder.string()), name));
    } catch (const not_written& e) {
      refused.push_back(fmt::format("{} is not written: {}", name, e.what()));
    }
  }
  tell(refused, "that are not written");
  return refused.empty() ? status::complete : status::partial;
}

} // namespace benanza::generator
