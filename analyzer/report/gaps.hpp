// SPDX-License-Identifier: Apache-2.0
// How far are frameworks' runs of several models from their lower bounds? A column for each
// framework: its run of each model and the gap, and below them the geometric means of each type on
// so many threads. What is not sure is marked and left out of the means.
//
//   gap_table t = gaps_of(all);   t.columns[0].name   t.means[0].of[0].mean.value
#pragma once

#include <benanza/advice/advised.hpp>
#include <benanza/advice/gap.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// A run of a model; null: there is none.
struct gap_cell {
  const advice::comparison* run = nullptr;
  advice::factor gap{}; ///< 0: unknown
  std::string unsure{}; ///< why; empty: it is sure
  bool counts() const { return gap.value > 0 && unsure.empty(); }
};

/// The runs of a framework, in the order of the models.
struct gap_column {
  std::string name{};
  std::vector<gap_cell> cells{};
};

/// The geometric mean of a column, in one type on some threads.
struct gap_mean {
  std::size_t models = 0;
  advice::factor mean{};
};
struct gap_means {
  numeric type = numeric::f32;
  int threads = 1;
  std::vector<gap_mean> of{}; ///< each column
};

struct gap_table {
  std::vector<const bound::model_bound*> models{};
  std::vector<gap_column> columns{};
  std::vector<gap_means> means{}; ///< where a framework ran two models or more
};

/// All frameworks' runs of some models; without columns: there are none.
gap_table gaps_of(const std::vector<advice::advised>& all);

inline constexpr std::string_view gap_means_what =
    "gap: the median of a framework's runs over the lower bound; means are geometric, their 95 % "
    "intervals of the samples. ";

std::string run_text(const gap_cell& c);
std::string gap_text(const gap_cell& c);
std::string_view mark_of(const gap_cell& c);
std::string interval_text(const advice::factor& f);

/// What the marks mean, with the first of their reasons; empty: there are none.
std::string unsure_note(const gap_table& t);

/// The table in text, in parts of three frameworks; empty: there are none.
std::string gaps_text(const std::vector<advice::advised>& all, bool quiet = false);

} // namespace benanza::report
