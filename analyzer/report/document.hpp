// SPDX-License-Identifier: Apache-2.0
// What does a report for people consist of, whatever it is written in? Chapters with tables: a
// summary of several models, limits, and of each model its figures, what to change first, where the
// time goes, the steps down from a framework's run, and its layers. All texts are as they came:
// each format escapes them.
//
//   for (const chapter& c : document_of(in)) ...   // c.tables[0].rows
#pragma once

#include "input.hpp"

#include <string>
#include <vector>

namespace benanza::report {

/// A column: numbers are right-aligned; names, of layers and algorithms, are set as code.
struct document_column {
  enum class kind { text, number, name };
  std::string title{};
  kind is = kind::text;
};

struct document_table {
  std::string title{};
  std::vector<document_column> columns{};
  std::vector<std::vector<std::string>> rows{};
  std::string note{}; ///< behind the table
};

/// One model in one type on some threads; without a name what is about all of them.
struct chapter {
  std::string name{}; ///< of the model
  std::string about{};
  std::vector<std::string> warnings{};
  std::vector<document_table> tables{};
  std::string sure{};
  std::string command{}; ///< that measures what is missing
};

using column_kind = document_column::kind;

document_table figures_of(const advice::advised& a);
document_table summary_of(const std::vector<bound::model_bound>& models);

/// The chapters of a report: first what is about all models, then each of them.
std::vector<chapter> document_of(const input& in);

} // namespace benanza::report
