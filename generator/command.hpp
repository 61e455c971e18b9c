// SPDX-License-Identifier: Apache-2.0
// The command line of benanza_generate: verbs over the same models.
//
//   benanza_generate model.onnx --batch 1,8 -o generated/mine
//   benanza_generate model.onnx --no-sources -o mine      # for benanza_bench --graphs
//   benanza_generate model.onnx --missing-from results.db -o generated/rest
//   benanza_generate model.onnx --algorithms --target h200 --what-if
//   benanza_generate model.onnx --granularity 6 -o generated/sequences
//   benanza_generate stats model.onnx --format json
//   benanza_generate zoo resnet50-v1 -o models/
//   benanza_generate rewrite model.onnx -o rewritten.onnx
//   benanza_generate onnx Conv/1x64x56x56-64x3x3-s1-p1 -o layers/
//
// Exit status: 0 complete, 1 some layers could not be resolved (the rest is written), 2 refused.
#pragma once

#include "../analyzer/delivery.hpp"
#include "algorithms.hpp"
#include "emit.hpp"
#include "folder.hpp"
#include "messages.hpp"
#include "missing_from.hpp"
#include "models.hpp"
#include "nodes/command.hpp"
#include "rewrite/command.hpp"
#include "sequences/command.hpp"
#include "sequences/similarity.hpp"
#include "stats.hpp"
#include "versions.hpp"
#include "what_if/what_if.hpp"
#include "years.hpp"
#include "zoo/modern.hpp"
#include "zoo/zoo.hpp"
#include "zoo_table.hpp"

#include <benanza/core/help_text.hpp>
#include <benanza/core/out_of_memory.hpp>
#include <benanza/core/text.hpp>
#include <benanza/machine/colours.hpp>
#include <benanza/model/fuse.hpp>
#include <benanza/model/rewrite/rewrite.hpp>
#include <benanza/model/training.hpp>
#include <benanza/model/unique.hpp>
#include <benanza/result/input_text.hpp>
#include <benanza/result/layer_file.hpp>
#include <benanza/result/store_address.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/move.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace benanza::generator {
namespace detail {
namespace fs = std::filesystem;

/// Says on stderr what could not be resolved, and what was repaired unless it is to be quiet; true
/// if anything is missing.
inline bool tell_problems(const std::vector<model::graph>& graphs, bool quiet) {
  if (!quiet) tell(repair_notes(graphs), "changes");
  const std::vector<std::string> missing = unresolved_notes(graphs);
  tell(missing, "that are not resolved");
  return !missing.empty();
}

/// In which form an answer is printed, and where to.
struct answer_form {
  std::string format = "text", output{};
  void add_options(CLI::App& app, const std::string& what) {
    using analyzer::table_formats;
    app.add_option("--format", format, what + ": " + join(table_formats, ", "))
        ->check(CLI::IsMember(
            std::vector<std::string>(std::begin(table_formats), std::end(table_formats))));
  }
  void print(const report::tables::chapter& answer) const {
    analyzer::deliver(std::cout, output, format, answer);
  }
};

struct generate_arguments {
  model_arguments models;
  std::vector<std::string> layers_files;
  std::string folder;
  std::string patterns_file;
  std::size_t layer_files = 0;
  bool strict = false, no_fusion = false, no_rewrites = false, no_sources = false, quiet = false;
  bool training = false;
  missing_arguments missing;
  target_arguments gpu;
  sequence_arguments sequences;
  answer_form form;
};

/// Adds the other forms of each model behind it: fused, rewritten, and rewritten and fused.
inline void add_forms(std::vector<model::graph>& graphs, const generate_arguments& a,
                      bool rewrites) {
  if (a.no_fusion && !rewrites) return;
  model::patterns patterns = model::default_patterns();
  if (!a.patterns_file.empty()) {
    std::istringstream in(
        result::input_text(a.patterns_file, std::size_t{1} << 20, "the file of patterns"));
    patterns = model::read_patterns(in, a.patterns_file);
  }
  std::vector<model::graph> all;
  for (model::graph& g : graphs) {
    const auto add = [&](model::graph&& form) {
      std::vector<model::graph> fused;
      if (!a.no_fusion) fused = model::fused_forms(form, patterns);
      all.push_back(std::move(form));
      ranges::move(fused, std::back_inserter(all));
    };
    if (g.model.empty() || g.name.ends_with("@layers") || model::is_training_step(g)) {
      all.push_back(std::move(g));
      continue;
    }
    auto rewritten = rewrites ? model::rewritten_form(g) : std::nullopt;
    add(std::move(g));
    if (!rewritten) continue;
    if (!a.quiet) say(rewrites_text(*rewritten));
    add(std::move(*rewritten));
  }
  graphs = std::move(all);
}

/// Adds a step of training behind each model.
inline void add_training_steps(std::vector<model::graph>& graphs) {
  std::vector<model::graph> all;
  for (model::graph& g : graphs) {
    model::graph step = model::training_step(g);
    all.push_back(std::move(g));
    all.push_back(std::move(step));
  }
  graphs = std::move(all);
}

inline status generate(const generate_arguments& a) {
  if (a.models.models.empty() && a.layers_files.empty())
    throw error("nothing to generate", "", "give a model, or --layers FILE");
  if (a.folder.empty() && !a.gpu.wanted && a.sequences.sweep.empty())
    throw error("no folder to write to", "", "give -o FOLDER");
  if (!a.gpu.wanted && a.sequences.sweep.empty() && a.form.format != "text")
    throw error("what is written is C++ and graphs.json", "--format " + a.form.format,
                "it goes with --sweep and --algorithms");
  if (a.sequences.fused && (a.no_fusion || !a.sequences.wanted()))
    throw error("of fused forms which sequences?", "--fused",
                a.no_fusion ? "leave out --no-fusion" : "give --granularity or --sweep too");
  if (a.sequences.wanted() && !a.missing.store.empty())
    throw error("sequences are written whole, whatever a store holds", "--missing-from",
                "leave it out: benanza_bench --store passes over those that are there");
  if (a.sequences.wanted() && a.training)
    throw error("sequences are of models, and not of steps of training", "--training",
                "leave it out, or --granularity and --sweep");
  std::vector<model::graph> graphs = read_models(a.models);
  if (a.training) add_training_steps(graphs);
  for (const std::string& file : a.layers_files) {
    model::graph layers = result::as_chain(result::read_layers(file), file);
    if (ranges::contains(graphs, layers.name, &model::graph::name))
      throw error("two lists of layers have this name", file, "rename one of the files");
    graphs.push_back(std::move(layers));
  }
  const bool partial = tell_problems(graphs, a.quiet);
  if (a.sequences.wanted()) {
    model_arguments decoys = a.models;
    decoys.models = a.sequences.decoys;
    std::vector<model::graph> mixed = read_models(decoys);
    if (a.sequences.fused) {
      add_forms(graphs, a, false);
      add_forms(mixed, a, false);
    }
    do_sequences(a.sequences, std::move(graphs), std::move(mixed),
                 {.folder = a.folder,
                  .format = a.form.format,
                  .quiet = a.quiet,
                  .emitting = {.layer_files = a.layer_files, .sources = !a.no_sources}});
    return partial ? status::partial : status::complete;
  }
  const std::size_t models = graphs.size();
  const model::catalogue plain = model::unique_layers(graphs);
  add_forms(graphs, a, !a.no_rewrites && !a.gpu.wanted);
  const model::catalogue all = model::unique_layers(graphs);
  if (partial && a.strict) throw error("some layers could not be resolved, and --strict was given");
  const auto measurable = [](const model::catalogue& c) {
    return ranges::count_if(
        c.layers, [](const op::layer& l) { return !op::is_view(l); },
        &model::catalogue_entry::layer);
  };
  const auto measured = measurable(all);
  if (measured == 0) {
    const auto constant = [](const model::graph& g) { return g.nodes.empty() && g.folded > 0; };
    throw error(ranges::all_of(graphs, constant)
                    ? "all that the models compute is constant, there is nothing to measure"
                    : "the models hold no layer that could be measured");
  }
  if (a.gpu.wanted) {
    answer_form form = a.form;
    form.output = a.folder;
    form.print(a.gpu.what_if ? what_if_answer(all, graphs, a.gpu)
                             : algorithms_answer(all, graphs, a.gpu));
    return partial ? status::partial : status::complete;
  }
  const known_layers known = known_in(a.missing, all.layers, graphs);
  const std::string folder = printable(a.folder),
                    store = printable(result::store::shown(a.missing.store));
  std::vector<std::string> failed;
  for (const auto& [layer, why] : known.failed)
    failed.push_back(fmt::format("{} has no time in {}, and is not tried again: {}", layer, store,
                                 printable(why.substr(0, why.find('\n')), 300)));
  if (!a.quiet) tell(failed, "without a time");
  if (std::ssize(known.names) == measured) {
    if (!a.quiet)
      say(fmt::format("nothing is missing: {} layers are measured in {}, and nothing is written\n",
                      measured - std::ssize(known.failed), store));
    return partial ? status::partial : status::complete;
  }
  write_folder(
      a.folder,
      emit(all.layers, graphs,
           {.layer_files = a.layer_files, .known = known.names, .sources = !a.no_sources}));
  if (a.quiet) return partial ? status::partial : status::complete;
  const auto fused = measured - measurable(plain);
  const bool rewritten = ranges::any_of(
      graphs, [](const model::graph& g) { return !g.rewrites.empty() && g.unfused.empty(); });
  const char* other_forms = rewritten ? "the fused and rewritten forms" : "the fused form";
  const auto wanted = measured - std::ssize(known.names);
  if (known.weaker > 0) {
    say(fmt::format("{} of {} unique layers are to be measured, written to {}: {} are missing in "
                    "{}, {} are there with less than {} effort\n",
                    wanted, measured, folder, wanted - known.weaker, store, known.weaker,
                    a.missing.effort));
  } else if (!a.missing.store.empty()) {
    say(fmt::format(
        "{} of {} unique layers are missing in {} and are to be measured, written to {}\n", wanted,
        measured, store, folder));
  } else {
    say(fmt::format("{} layers of {} model{}: {} unique ones to measure{}, written to {}\n",
                    plain.nodes, models, models == 1 ? "" : "s", measured - fused,
                    fused == 0 ? "" : fmt::format(" and {} of {}", fused, other_forms), folder));
  }
  return partial ? status::partial : status::complete;
}

struct stats_arguments {
  model_arguments models;
  answer_form form;
  std::int64_t length = 6; ///< of sequences
  bool quiet = false, similarity = false, years = false;
};

inline status show_stats(const stats_arguments& a) {
  const std::vector<model::graph> graphs = read_models(a.models);
  a.form.print(a.similarity ? similarity_answer(similarity_of(graphs, {.length = a.length}))
               : a.years    ? years_answer(graphs)
                            : stats_answer(graphs));
  return tell_problems(graphs, a.quiet) ? status::partial : status::complete;
}

struct zoo_arguments {
  std::vector<std::string> names;
  answer_form form; ///< of the list; its output is the models' folder, too
  bool list = false, quiet = false;
};

inline status write_zoo(const zoo_arguments& a) {
  if (a.list) {
    a.form.print(zoo_answer());
    return status::complete;
  }
  if (a.form.format != "text")
    throw error("models are written as ONNX", "--format " + a.form.format, "it goes with --list");
  const std::string& folder = a.form.output;
  std::vector<std::string> names = a.names;
  if (names.empty()) throw error("no model was named", "zoo", "zoo --list shows the names");
  if (folder.empty()) throw error("no folder to write to", "zoo", "give -o FOLDER");
  if (names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const zoo::entry& e : zoo::list())
      names.emplace_back(e.name);
    for (const zoo::modern_entry& e : zoo::modern())
      names.emplace_back(e.name);
  }
  std::map<std::string, std::string> files;
  for (const std::string& n : names)
    files[n + ".onnx"] = zoo::build(n).SerializeAsString();
  std::error_code bad;
  fs::create_directories(folder, bad);
  if (bad || !fs::is_directory(folder))
    throw error("not a folder that can be made", folder, "give -o another one");
  for (const auto& [name, bytes] : files) {
    const fs::path path = fs::path(folder) / name;
    written(path, bytes)->commit();
    if (!a.quiet) say(printable(path.string()) + '\n');
  }
  return status::complete;
}

inline status run_checked(int argc, char** argv) {
  CLI::App app("From ONNX models to benchmarks of their layers.", "benanza_generate");
  app.set_version_flag("--version", versions);
  generate_arguments generating;
  add_model_options(app, generating.models);
  app.add_option("-o,--output", generating.folder,
                 "folder to write; it is replaced as a whole. Of a sweep a file");
  app.add_option("--layers", generating.layers_files,
                 "a file of layers, one a line: Conv/1x64x56x56-64x3x3-s1-p1; may be given again")
      ->allow_extra_args(false);
  app.add_flag("--no-sources", generating.no_sources,
               "write no C++ but graphs.json alone, which benanza_bench --graphs measures "
               "without a compiler");
  app.add_option("--layer-files", generating.layer_files,
                 "split the layers into exactly so many files")
      ->check(CLI::Range(1, 1000));
  app.add_option("--patterns", generating.patterns_file,
                 "a file of what may be fused, one a line, in place of the usual: "
                 "Conv+BatchNormalization?+Add?+Activation?");
  app.add_flag("--no-fusion", generating.no_fusion, "leave out the fused forms of the models");
  app.add_flag("--training", generating.training,
               "also a step of training each model: its products and their gradients");
  app.add_flag("--no-rewrites", generating.no_rewrites,
               "leave out equivalent graphs of the models that compute less");
  auto* missing = app.add_option("--missing-from", generating.missing.store,
                                 "measure only layers of which this store holds no result");
  app.add_option("--system", generating.missing.system,
                 "whose results of the store count: a number, or latest")
      ->needs(missing);
  app.add_option("--types", generating.missing.types,
                 "types in which results count, or algorithms are listed: f32,bf16; else the "
                 "models' own");
  auto* algorithms =
      app.add_flag("--algorithms", generating.gpu.wanted,
                   "write nothing; print what cuDNN and cuBLAS have for the layers on a GPU "
                   "that need not be here");
  missing->excludes(algorithms);
  app.add_option("--target", generating.gpu.target, "that GPU, or a file with a description")
      ->type_name("{v100,t4,a10,a100,l4,l40s,h100,h200,b200,rtx5090}")
      ->needs(algorithms);
  app.add_flag(
         "--what-if", generating.gpu.what_if,
         "in place of the list: what it and NVIDIA's data sheet say of algorithms, fusion and "
         "tensor cores for each model")
      ->needs(algorithms);
  generating.form.add_options(app, "of a sweep; of that list text or json");
  app.add_option("--threads", generating.missing.threads,
                 "numbers of threads on which results count, 1 by default")
      ->needs(missing);
  app.add_option("--effort", generating.missing.effort,
                 "quick, normal, thorough or exhaustive: results of less do not count, normal by "
                 "default")
      ->check(CLI::IsMember({"quick", "normal", "thorough", "exhaustive"}))
      ->needs(missing);
  app.add_option("--again", generating.missing.again,
                 "failed: also layers of which the store holds only failures")
      ->check(CLI::IsMember({"failed"}))
      ->needs(missing);
  generating.sequences.add_options(app);
  app.add_flag("--strict", generating.strict, "refuse if any layer cannot be resolved");
  app.add_flag("-q,--quiet", generating.quiet, "print nothing but errors and what is missing");

  stats_arguments stating;
  CLI::App* stats = app.add_subcommand("stats", "print the layers of models and their work");
  add_model_options(*stats, stating.models);
  stating.form.add_options(*stats, "in which form");
  stats->add_option("-o,--output", stating.form.output,
                    "a file, or a folder for the tables of CSV; standard output by default");
  auto* alike = stats->add_flag("--similarity", stating.similarity,
                                "how much the models repeat themselves and each other");
  stats->add_option("--granularity", stating.length, "of sequences, in layers; 6 by default")
      ->check(CLI::Range(std::int64_t{1}, longest_sequence))
      ->needs(alike);
  stats
      ->add_flag("--years", stating.years,
                 "how many unique layers the zoo's models of each year bring")
      ->excludes(alike);
  stats->add_flag("-q,--quiet", stating.quiet, "print nothing beside it but what is missing");

  zoo_arguments zoos;
  CLI::App* zoo = app.add_subcommand("zoo", "write models that are built in as .onnx files");
  zoo->add_option("names", zoos.names, "names, or all");
  zoo->add_option("-o,--output", zoos.form.output,
                  "folder to write to; of a list a file, or a folder for the tables of CSV");
  zoo->add_flag("--list", zoos.list,
                "print the names, and how they compare with what is published");
  zoos.form.add_options(*zoo, "of the list");
  zoo->add_flag("-q,--quiet", zoos.quiet, "do not print what is written");

  node_arguments writing;
  const CLI::App* onnx = add_nodes(app, writing);

  rewrite_arguments rewriting;
  const CLI::App* rewrite = add_rewrite(app, rewriting);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    app.exit(e, text, text);
    say(fit_help(text.str(), terminal_columns(STDOUT_FILENO)));
    return status::complete;
  } catch (const CLI::ParseError& e) {
    throw error(e.what(), "", "see benanza_generate --help");
  }
  take_models_back(generating.models);
  take_models_back(stating.models);
  if (*stats) {
    if (stating.models.models.empty()) throw error("no model was named", "stats", "give a model");
    return show_stats(stating);
  }
  if (*zoo) return write_zoo(zoos);
  if (*onnx) return write_nodes(writing);
  if (*rewrite) return write_rewritten(rewriting);
  if (!generating.missing.types.empty()) {
    if (generating.missing.store.empty() && !generating.gpu.wanted)
      throw error("types of what?", "--types", "it goes with --missing-from or --algorithms");
    for (const std::string_view t : split_at(generating.missing.types, ",")) {
      const auto type = parse_numeric(t);
      if (!type)
        throw error("\"" + std::string(t) + "\" is no numeric class", "--types",
                    "take from f32, tf32, f16, bf16, u8s8u8, s8s8s8, e4m3");
      generating.gpu.types.push_back(*type);
    }
  }
  return generate(generating);
}
} // namespace detail

/// The whole program. Never throws; prints a refusal on one line.
inline int run(int argc, char** argv) {
  try {
    return static_cast<int>(detail::run_checked(argc, argv));
  } catch (const std::exception& e) {
    note(reason(e));
  }
  return static_cast<int>(status::refused);
}

} // namespace benanza::generator
