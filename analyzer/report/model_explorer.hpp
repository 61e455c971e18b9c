// SPDX-License-Identifier: Apache-2.0
// How are times shown over a user's own graph? As node data of Model Explorer: microseconds by the
// nodes' names, which are its ids of an ONNX model's nodes. What runs as one with others has its
// time at the part that would take most alone, and the others take nothing. Of one model the data
// are for whatever graph is shown, of several each is named.
//
//   std::string json = model_explorer_report(in);   // {"results": {"conv1": {"value": 1234.5}}}
#pragma once

#include "input.hpp"

#include <benanza/result/json.hpp>

#include <string>

namespace benanza::report {

result::ordered_json node_data(const bound::model_bound& b);

/// The models' times as node data.
std::string model_explorer_report(const input& in);

} // namespace benanza::report
