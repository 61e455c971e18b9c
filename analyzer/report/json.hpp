// SPDX-License-Identifier: Apache-2.0
// What does a program read? All that the text report says, as JSON with fixed field names and units
// in them. A figure is {"ns", "low_ns", "high_ns"}; shares are of 1; `analyses` holds an entry for
// each model, type and number of threads; `status` is that of the whole report.
//
//   {"schema": 1, "status": "complete", "sources": "run.json", "provenance": {...},
//    "analyses": [{"model": "resnet50@batch=1", "type": "f32", "threads": 1, "bound": {...}, ...}]}
#pragma once

#include "input.hpp"

#include <benanza/advice/advised.hpp>
#include <benanza/result/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::report {

inline constexpr int report_schema = 1;

/// The text of a report.
std::string dumped(const result::ordered_json& j, int indent = 2);
result::ordered_json to_json(const bound::figure& f);
result::ordered_json to_json(const bound::totals& t);
result::ordered_json to_json(const std::optional<bound::layout_solution>& l);
result::ordered_json to_json(const std::optional<bound::layout_figures>& l);
result::ordered_json to_json(const bound::fused_figures& f);
result::ordered_json to_json(const bound::chain_run& w, const bound::model_bound& b);
result::ordered_json to_json(const bound::measurement* m, double ns);
result::ordered_json to_json(const bound::layer_answer& l, double sum_ns);
result::ordered_json to_json(const bound::coverage& c);
result::ordered_json to_json(const bound::model_bound& b);

/// The report as JSON text; `partial` says whether the run's figures have holes or failed cases.
/// `all` is what is advised of each model, in their order, or empty.
std::string json_report(const result::run& r, const std::vector<bound::model_bound>& models,
                        bool partial, const std::vector<advice::advised>& all = {},
                        const std::vector<limit_answer>& limits = {});

std::string json_report(const input& in);

} // namespace benanza::report
