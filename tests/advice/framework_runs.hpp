// SPDX-License-Identifier: Apache-2.0
// Made-up runs of a framework, the figures of the model that ran, and what is found in a
// comparison.
//
//   const profile p = unfused(1500);   advise_one(source, all, p).list
#pragma once

#include "result/synthetic.hpp"

#include <benanza/advice/advised.hpp>
#include <benanza/advice/steps.hpp>
#include <benanza/core/error.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framework_runs {
using namespace benanza::advice;
using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::result::run;
using benanza::trace::profile;
using benanza::trace::profiled_operator;

inline model_bound figures(const source& s, numeric type = numeric::f32, int workers = 0) {
  return benanza::bound::analyse(s, s.run.graphs[0], {type, 1}, {.workers = workers});
}

inline profiled_operator ran(const std::string& name, const std::string& type, double us) {
  profiled_operator o;
  o.name = name;
  o.type = type;
  o.kernel = "kernel";
  o.ns = {us * 1000, us * 1000, us * 1010};
  return o;
}

/// A framework that runs the residual block's six nodes by themselves.
inline profile unfused(double total_us) {
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "block";
  p.threads = 1;
  p.batch = 1;
  p.latency_ns = {total_us * 1000, total_us * 1000, total_us * 1020};
  p.operators = {ran("node0", "Conv", 800), ran("node1", "Relu", 9.2),
                 ran("node2", "Conv", 110), ran("node3", "Add", 15.2),
                 ran("node4", "Relu", 9.2), ran("node5", "Softmax", 410)};
  return p;
}

inline double taken(const comparison& c, std::string_view id) {
  const auto found =
      std::find_if(c.bars.begin(), c.bars.end(), [&](const bar& b) { return b.id == id; });
  REQUIRE(found != c.bars.end());
  return found->takes.ns;
}

inline const item* of_id(const advice_list& l, std::string_view beginning) {
  const auto found = std::find_if(l.items.begin(), l.items.end(),
                                  [&](const item& i) { return i.id.starts_with(beginning); });
  return found == l.items.end() ? nullptr : &*found;
}

inline advised advise_one(const source& s, const std::vector<model_bound>& all, const profile& p) {
  return advise_all(s, all, {p}).front();
}
} // namespace framework_runs
