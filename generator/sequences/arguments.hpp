// SPDX-License-Identifier: Apache-2.0
// What does the command line say of sequences of layers? How models are split, whether a suite
// shall say where it comes from, and what a sweep over lengths prints.
//
//   sequence_arguments a;   a.add_options(app);   if (a.wanted()) ...
#pragma once

#include <benanza/core/error.hpp>
#include <benanza/model/forms.hpp>
#include <benanza/model/split.hpp>

#include <CLI/CLI.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

inline constexpr std::int64_t longest_sequence = 100000;

struct sequence_arguments {
  std::string granularity{}; ///< a number, or all; empty: single layers are emitted
  std::string split = "chain";
  std::string sweep{}; ///< 1:10; empty: none
  std::string times{}; ///< of a result, in place of rooflines
  std::vector<std::string> decoys{};
  std::string map{}; ///< the private file of an anonymous suite; empty: next to the folder
  bool anonymise = false, fused = false;

  bool wanted() const { return !granularity.empty() || !sweep.empty(); }

  void add_options(CLI::App& app) {
    auto* length =
        app.add_option("--granularity", granularity,
                       "write sequences of at most so many layers in place of single ones, or of "
                       "all: each whole model");
    app.add_option("--split", split,
                   "where sequences end: chain, also at forks and joins; window, where a layer "
                   "reads what the window lacks")
        ->check(CLI::IsMember({"chain", "window"}));
    auto* range = app.add_option("--sweep", sweep,
                                 "write nothing; print what each granularity of a range gives: "
                                 "1:10");
    app.add_option("--times", times,
                   "a result whose times say what a sweep would save, in place of rooflines")
        ->needs(range);
    auto* hidden = app.add_flag("--anonymise", anonymise,
                                "the sequences alone, without names of models and nodes, in no "
                                "order; what they are stands in a file of its own")
                       ->needs(length);
    app.add_option("--decoy", decoys, "a model whose sequences are mixed in; may be given again")
        ->allow_extra_args(false)
        ->needs(hidden);
    app.add_option("--map", map, "that file; by default FOLDER.map.json")->needs(hidden);
    range->excludes(length);
    app.add_flag("--fused", fused, "sequences of the models' fused forms");
  }

  static std::int64_t number(std::string_view text, std::string_view option) {
    std::int64_t n = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (bad != std::errc{} || end != text.data() + text.size() || n < 1 || n > longest_sequence)
      throw error("a number of layers from 1 on is needed, not \"" + std::string(text) + '"',
                  std::string(option), "write --granularity 6, or --granularity all");
    return n;
  }

  /// How models are split for `granularity`.
  model::granularity how() const {
    return {.length =
                granularity == "all" ? model::whole_model : number(granularity, "--granularity"),
            .by = *model::parse_cut(split)};
  }

  /// The models whose sequences are meant: one form of each.
  std::vector<model::graph> forms(const std::vector<model::graph>& models) const {
    std::vector<model::graph> out;
    for (const model::graph* g :
         model::one_form_each(models, fused ? model::form::fused : model::form::unfused))
      out.push_back(*g);
    return out;
  }

  /// The first and the last length of the sweep.
  std::pair<std::int64_t, std::int64_t> range() const {
    const std::size_t colon = sweep.find(':');
    const std::string first = sweep.substr(0, colon);
    const std::string last = colon == std::string::npos ? first : sweep.substr(colon + 1);
    const std::pair out(number(first, "--sweep"), number(last, "--sweep"));
    constexpr std::int64_t most = 1000;
    if (out.first > out.second || out.second - out.first >= most)
      throw error("no range of lengths: \"" + sweep + '"', "--sweep", "write --sweep 1:10");
    return out;
  }
};

} // namespace benanza::generator
