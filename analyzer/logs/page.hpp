// SPDX-License-Identifier: Apache-2.0
// What do a framework's logs say? Without a result, each different call and how often it was made,
// and the layers of all of them as a file for benanza_generate --layers.
//
//   to.write(calls_answer(logs, false, 10));   std::string file = layers_file(logs);
#pragma once

#include "../report/tables/page.hpp"

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

/// What a call is, in columns for programs; of none they are empty.
void add_call_columns(tables::table& t);
void add_call(const trace::call* c, std::vector<tables::cell>& row);

/// Which log, what it holds, and what of it is shown.
tables::chapter log_chapter(const trace::call_log& l, const trace::iterations& all,
                            std::optional<std::size_t> shown);

/// Calls that a library refused, and what is not as it should be.
tables::chapter log_remarks(const std::vector<const trace::call_log*>& logs, std::size_t limit);

/// Logs that are compared with no model; for people at most `limit` calls.
tables::chapter calls_answer(const std::vector<trace::call_log>& logs, bool partial,
                             std::size_t limit);

/// The layers of all calls, each once, in the order of first use, as benanza_generate --layers
/// takes them; empty if there is none.
std::string layers_file(const std::vector<trace::call_log>& logs);

} // namespace benanza::report
