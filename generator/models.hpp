// SPDX-License-Identifier: Apache-2.0
// Which models does a command line name, at which batch sizes and dims? Each file is read once;
// every combination of sizes is a model of its own, and so is what a quantised one was before.
//
//   model_arguments a;   add_model_options(app, a);   read_models(a)   // model::graph
#pragma once

#include <benanza/core/text.hpp>
#include <benanza/model/codes.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>

#include <CLI/CLI.hpp>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/copy_if.hpp>
#include <range/v3/view/cartesian_product.hpp>

#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {
namespace detail {
namespace fs = std::filesystem;

/// What the command line says about the models to read.
struct model_arguments {
  std::vector<std::string> models;
  std::optional<std::string> batches{}; ///< empty: the model's own
  std::vector<std::string> dims, shapes, loops, sizes;
  std::string data_dependent = "stop";
};

inline std::int64_t whole_number(std::string_view text, std::string_view option) {
  std::int64_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || text.empty())
    throw error("a whole number is needed, not \"" + std::string(text) + "\"", std::string(option));
  return n;
}

inline std::pair<std::string, std::string>
assignment(const std::string& text, std::string_view option, std::string_view example) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw error("a value must be given a name, not \"" + text + "\"", std::string(option),
                "write " + std::string(option) + " " + std::string(example));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// One choice of values for the symbolic dims that have several: `,sequence=128` distinguishes it.
struct dim_choice {
  std::map<std::string, std::int64_t> values;
  std::string suffix;
};

/// All combinations of the values that the command line gives to dims.
inline std::vector<dim_choice> dim_choices(const model_arguments& a) {
  constexpr std::size_t most = 1000;
  std::vector<dim_choice> out(1);
  for (const std::string& d : a.dims) {
    const auto [name, list] = assignment(d, "--dim", "sequence=128");
    std::vector<dim_choice> longer;
    const std::vector<std::string_view> texts = split_at(list, ",");
    for (const auto& [c, text] : ranges::views::cartesian_product(out, texts)) {
      const std::int64_t n = whole_number(text, "--dim " + name);
      dim_choice& made = longer.emplace_back(c);
      made.values[name] = n;
      if (n < 0 || n > dim_limit) throw error("a dim must be 0 or more", "--dim " + d);
      if (texts.size() > 1) made.suffix += ',' + name + '=' + std::to_string(n);
    }
    if (longer.size() > most)
      throw error("the values of dims combine to more than " + std::to_string(most) + " models",
                  "--dim " + d);
    out = std::move(longer);
  }
  return out;
}

inline onnx::options resolve_options(const model_arguments& a) {
  onnx::options o;
  if (a.data_dependent == "error") o.sizes = onnx::data_dependent::refuse;
  if (a.data_dependent == "max") o.sizes = onnx::data_dependent::largest;
  for (const std::string& l : a.loops) {
    const auto [name, value] = assignment(l, "--loop-count", "decoder=12");
    o.loops[name] = whole_number(value, "--loop-count " + name);
    if (o.loops[name] < 0 || o.loops[name] > dim_limit)
      throw error("a loop runs 0 times or more", "--loop-count " + l);
  }
  for (const std::string& s : a.sizes) {
    const auto [name, value] = assignment(s, "--size", "NonZero_12=100");
    o.known_sizes[name] = whole_number(value, "--size " + name);
    if (o.known_sizes[name] < 1 || o.known_sizes[name] > dim_limit)
      throw error("a size must be 1 or more", "--size " + s);
  }
  for (const std::string& s : a.shapes) {
    const auto [name, value] = assignment(s, "--shape", "data=1x3x224x224");
    shape dims;
    for (const std::string_view d : split_at(value, "x")) {
      dims.push(whole_number(d, "--shape " + name));
      if (dims.back() < 1 || dims.back() > dim_limit)
        throw error("a dim must be 1 or more", "--shape " + s);
    }
    o.shapes[name] = dims;
  }
  return o;
}

inline std::vector<std::optional<std::int64_t>> batches(const std::optional<std::string>& text) {
  if (!text) return {std::nullopt};
  std::vector<std::optional<std::int64_t>> out;
  for (const std::string_view b : split_at(*text, ",")) {
    const std::int64_t n = whole_number(b, "--batch");
    if (n < 1 || n > 65536)
      throw error("a batch must be from 1 to 65536, not " + std::string(b), "--batch",
                  "write --batch 1,8");
    if (!ranges::contains(out, std::optional(n))) out.push_back(n);
  }
  return out;
}

/// The name by which people know a model file: its stem, or its folder's if it is called
/// model.onnx.
inline std::string model_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::string folder = fs::absolute(file).parent_path().filename().string();
  return stem == "model" && !folder.empty() ? folder : stem;
}

/// Models that follow a list of assignments, as in `--dim sequence=128 model.onnx`.
inline void take_models_back(model_arguments& a) {
  for (std::vector<std::string>* list : {&a.dims, &a.loops, &a.shapes, &a.sizes}) {
    const auto model = [](const std::string& word) {
      return word.find('=') == word.npos && word.ends_with(".onnx");
    };
    ranges::copy_if(*list, std::back_inserter(a.models), model);
    std::erase_if(*list, model);
  }
}

/// Refuses an option that changes nothing in any model; where some have a use for it, the others
/// say that they have none.
inline void refuse_unused(const std::vector<model::graph>& graphs) {
  if (graphs.empty()) return;
  for (const std::string& said : graphs.front().repairs) {
    const std::size_t end = said.find(": the model has no such ");
    if (end == said.npos || !said.starts_with("--")) continue;
    const std::string_view option = std::string_view(said).substr(0, end + 1);
    if (ranges::all_of(graphs, [&](const model::graph& g) {
          return ranges::any_of(g.repairs, [&](const std::string& r) {
            return r.starts_with(option) && r.find("the model has no such ") != r.npos;
          });
        }))
      throw error(said.substr(end + 2), said.substr(0, end), "leave it out, or correct its name");
  }
}

/// All models at all batch sizes and dims.
inline std::vector<model::graph> read_models(const model_arguments& a) {
  onnx::options o = resolve_options(a);
  const std::vector<std::optional<std::int64_t>> sizes = batches(a.batches);
  const std::vector<dim_choice> choices = dim_choices(a);
  std::map<std::string, std::string> seen;
  std::vector<model::graph> graphs;
  for (const std::string& file : a.models) {
    o.name = model_name(file);
    if (const auto [at, fresh] = seen.emplace(o.name, file); !fresh)
      throw error("two models are called " + o.name, at->second + " and " + file,
                  "rename one of the files");
    const onnx::source source = onnx::load(file);
    for (const auto& [batch, choice] : ranges::views::cartesian_product(sizes, choices)) {
      o.batch = batch;
      o.dims = choice.values;
      graphs.push_back(onnx::resolve(source, o));
      graphs.back().name += choice.suffix;
      // What it was before it was quantised is a variant of its own.
      if (auto real = model::unquantised(graphs.back())) graphs.push_back(std::move(*real));
    }
  }
  refuse_unused(graphs);
  return graphs;
}

inline void add_model_options(CLI::App& app, model_arguments& a) {
  app.add_option("models", a.models, "ONNX files");
  app.add_option("--batch", a.batches,
                 "batch sizes: 1,8; else the model's own, or 1 where that is a symbol");
  app.add_option("--dim", a.dims, "symbolic dims' values, each one or several: sequence=128,512")
      ->type_name("NAME=N,...");
  app.add_option("--loop-count", a.loops,
                 "how often loops run, where only a run of the model decides: decoder=12; else "
                 "they are counted once")
      ->type_name("NAME=N");
  app.add_option("--data-dependent", a.data_dependent,
                 "results whose size depends on what the model reads: max, the largest that can "
                 "be; stop, what follows is not resolved; error, the model is refused")
      ->check(CLI::IsMember({"error", "stop", "max"}));
  app.add_option("--size", a.sizes,
                 "how much a node gives, where what the model reads decides it: NonZero_12=100; "
                 "NonZero*=100 says it of several")
      ->type_name("NODE=N");
  app.add_option("--shape", a.shapes,
                 "dims of inputs, and of values that only a run of the model decides: "
                 "data=1x3x224x224")
      ->type_name("NAME=DIMS");
}
} // namespace detail
} // namespace benanza::generator
