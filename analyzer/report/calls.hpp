// SPDX-License-Identifier: Apache-2.0
// What does a person read of a framework's logs? Without a result, each different call and how
// often it was made, and the layers of all of them as a file for benanza_generate --layers. 80
// columns.
//
//   std::string page = calls_page(logs, {.limit = 10});   std::string file = layers_file(logs);
#pragma once

#include <benanza/trace/call.hpp>
#include <benanza/trace/iterations.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// `cudnnConvolutionForward, WINOGRAD, channels_last, workspace 4 MiB`: how a layer was called.
std::string how_called(const trace::call& c);

/// What a call computes: its layer, or what else it is.
std::string what_called(const trace::call& c);
std::string_view type_called(const trace::call& c);

/// `9.19.0` for `91900`, `8.2.4` for `8204`; another text as it is.
std::string show_version(const std::string& text);

/// Which log, what it holds, and what of it is shown.
std::string log_line(const trace::call_log& l, const trace::iterations& all,
                     std::optional<std::size_t> shown);

/// Calls that a library refused, and what is not as it should be.
std::string log_remarks(const std::vector<const trace::call_log*>& logs, std::size_t limit);

/// How a list of calls is shown.
struct calls_options {
  std::size_t limit = 10; ///< the most rows
};

/// The page of logs that are compared with no model.
std::string calls_page(const std::vector<trace::call_log>& logs, const calls_options& options);

/// The layers of all calls, each once, in the order of first use, as benanza_generate --layers
/// takes them; empty if there is none.
std::string layers_file(const std::vector<trace::call_log>& logs);

} // namespace benanza::report
