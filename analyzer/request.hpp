// SPDX-License-Identifier: Apache-2.0
// What may a command line ask of benanza_analyze?
#pragma once

#include "logs/call_commands.hpp"
#include "select.hpp"
#include "store/store_commands.hpp"

#include <optional>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// What the command line asks for.
struct request {
  std::vector<std::string> files;
  selection wanted;
  std::string format = "text";
  std::vector<std::string> formats{};  ///< as they were named; one of them is `format`
  std::optional<std::string> layers{}; ///< rows of a table; nothing: 10
  std::string output;
  std::string plan;
  bool fused = false, unfused = false; ///< the form of the plan; neither: fused where there is one
  bool strict = false;
  bool merge = false;  ///< several runs of the same cases
  bool models = false; ///< list what there is
  bool quiet = false;
  std::string missing; ///< where the filter goes that measures what is missing
  store_request store;
  std::string device;
  std::vector<std::string> backends; ///< whose algorithms compete; none: all
  call_request calls;
  bool machine = false;
  std::string algorithms;              ///< the layer of which all are listed
  bool versions = false;               ///< how versions of libraries compare
  std::vector<std::string> frameworks; ///< files of a framework's runs
  bool details = false;                ///< all figures of a page
  bool advice = false;                 ///< all advice, in full
  double latency_limit_ns = 0;         ///< that a batch may take; 0: any

  std::vector<std::string> limits{}; ///< that figures of the models have to keep

  bool json() const { return format == "json"; }
};

} // namespace benanza::analyzer
