// SPDX-License-Identifier: Apache-2.0
// What is at the head of a model's page? The model, the machine and its libraries, and what
// frameworks are called.
//
//   title(model)   // "resnet50@batch=1  batch 1  f32  1 thread"
#pragma once

#include "tables/page.hpp"

#include <benanza/bound/figures.hpp>
#include <benanza/trace/profile/profile.hpp>

#include <string>
#include <string_view>

namespace benanza::report {

std::string fact(const result::run& r, const std::string& section, const std::string& key);

/// The machine and the libraries on one line.
std::string where_measured(const result::run& r);

/// Where and with what it was measured, for programs.
tables::chapter provenance_of(const result::run& r);

/// Says that several runs of the same cases were made one; empty: they were not.
std::string merged_line(const result::run& r);

/// True for the layers of a run that has no model: their sum means nothing.
bool loose(const bound::model_bound& b);

/// The type that a model computes in, as pages say it.
std::string_view type_shown(const bound::model_bound& b);
std::string title(const bound::model_bound& b);

/// `past=512, sequence=1`, as the command line said; empty: it said none.
std::string dims_shown(const model::graph& g);
/// `batch 1, past=512, sequence=1`.
std::string sizes_shown(const model::graph& g);

/// `ONNX Runtime 1.32.0`.
std::string framework_name(const trace::profile& p);

} // namespace benanza::report
