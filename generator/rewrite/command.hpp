// SPDX-License-Identifier: Apache-2.0
// The verb that writes an equivalent model which computes less, for any framework to run:
//
//   benanza_generate rewrite resnet50.onnx -o resnet50_rewritten.onnx
//
// Says what was rewritten at which nodes and what that saves. Weights are kept, in the file or next
// to it; a model without them is written without them.
#pragma once

#include "../folder.hpp"
#include "../messages.hpp"
#include "../models.hpp"
#include "written.hpp"

#include <benanza/core/printable.hpp>
#include <benanza/onnx/tensor.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace benanza::generator {

struct rewrite_arguments {
  detail::model_arguments models;
  std::string output;
  bool quiet = false;
};

inline CLI::App* add_rewrite(CLI::App& app, rewrite_arguments& a) {
  CLI::App* verb = app.add_subcommand(
      "rewrite", "write an equivalent model that computes less: strides moved back, averages "
                 "moved forward, only rows that are read, upsampling folded into convolutions, 1x1 "
                 "convolutions before upsampling");
  detail::add_model_options(*verb, a.models);
  verb->add_option("-o,--output", a.output, "the .onnx file to write");
  verb->add_flag("-q,--quiet", a.quiet, "do not print what was rewritten");
  return verb;
}

namespace detail {
/// What a graph computes in all, as it was before it was rewritten.
inline std::int64_t flops_before(const model::graph& rewritten) {
  std::int64_t flops = model::work_of(rewritten).flops;
  for (const model::rewrite& r : rewritten.rewrites)
    flops += r.flops;
  return flops;
}

/// A line a rule: at how many nodes, and what it saves.
inline std::string rewrites_text(const model::graph& rewritten) {
  std::string out;
  for (const model::rewrite& r : model::by_rule(rewritten.rewrites))
    out += fmt::format("{}: {} at {} node{}, {}\n", printable(rewritten.original), r.rule,
                       r.nodes.size(), r.nodes.size() == 1 ? "" : "s",
                       model::savings_text(r, flops_before(rewritten)));
  return out;
}

/// A line a change: the nodes that compute less then, and what that saves.
inline std::string places_text(const model::graph& rewritten) {
  std::string out;
  for (const model::rewrite& r : rewritten.rewrites) {
    std::vector<std::string> names;
    for (const int n : r.nodes)
      names.push_back(printable(rewritten.nodes[static_cast<std::size_t>(n)].name, 60));
    out += fmt::format("  {}: {}\n", fmt::join(names, ", "), model::savings_text(r));
  }
  return out;
}

/// True where weights are in files, which the model names relative to `folder`. A model that lost
/// its weights has no such files.
inline bool has_weights_beside(const ::onnx::ModelProto& m, const std::filesystem::path& folder) {
  for (const auto& t : m.graph().initializer())
    if (t.data_location() == ::onnx::TensorProto::EXTERNAL)
      for (const auto& entry : t.external_data())
        if (entry.key() == "location" && std::filesystem::exists(folder / entry.value()))
          return true;
  return false;
}
} // namespace detail

/// Writes the model, and says what each rewrite saves.
inline status write_rewritten(const rewrite_arguments& a) {
  namespace fs = std::filesystem;
  if (a.models.models.size() != 1)
    throw error(a.models.models.empty() ? "no model was named" : "one model is rewritten at a time",
                "rewrite", "give one .onnx file");
  if (a.output.empty()) throw error("no file to write to", "rewrite", "give -o NEW.onnx");
  const std::string& file = a.models.models[0];
  onnx::options o = detail::resolve_options(a.models);
  o.name = detail::model_name(file);
  const auto sizes = detail::batches(a.models.batches);
  const auto choices = detail::dim_choices(a.models);
  if (sizes.size() > 1 || choices.size() > 1)
    throw error("one batch and one value for each dim are enough", "rewrite",
                "the model is the same for all");
  o.batch = sizes[0];
  o.dims = choices[0].values;
  const onnx::source source = onnx::load(file);
  ::onnx::ModelProto whole;
  {
    const onnx::detail::mapped_file bytes(file);
    if (!onnx::detail::parse_model(std::string(bytes.bytes()), whole))
      throw error("a model of 2 GB or more is not written", file,
                  "keep its weights in a file beside it");
  }
  const auto folder_of = [](const std::string& f) {
    return fs::absolute(f).lexically_normal().parent_path();
  };
  if (folder_of(a.output) != folder_of(file) && detail::has_weights_beside(whole, folder_of(file)))
    throw error("the model's weights stand in files beside it", file,
                "give -o a name in its folder");
  written_model written = rewrite_model(std::move(whole), source, o);
  detail::written(a.output, written.model.SerializeAsString())->commit();
  if (!a.quiet) say(detail::rewrites_text(written.graph) + detail::places_text(written.graph));
  return status::complete;
}

} // namespace benanza::generator
