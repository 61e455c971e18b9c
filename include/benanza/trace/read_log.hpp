// SPDX-License-Identifier: Apache-2.0
// Which calls does a log hold? Reads what cuDNN, cuBLAS and cublasLt write, each alone or mixed in
// one file, also among the output of the program itself; line by line, so that a log may be larger
// than the memory. A log that ends in the middle of a call loses that call, and says so; what is
// no such log is refused.
//
//   call_log l = read_log_file("cudnn.log");   l.entries.size()   l.warnings
#pragma once

#include "call.hpp"

#include <istream>
#include <string>
#include <string_view>

namespace benanza::trace {

/// How to record a log, as messages say it.
inline constexpr std::string_view how_to_record =
    "record it with CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGDEST_DBG=FILE, CUBLAS_LOGINFO_DBG=1 "
    "CUBLAS_LOGDEST_DBG=FILE, CUBLASLT_LOG_LEVEL=2 CUBLASLT_LOG_FILE=FILE";

/// The calls that a stream holds, read to its end; `source` is its name in messages.
call_log read_log(std::istream& in, std::string source);

/// The calls that a file (or a pipe that has a name) holds.
call_log read_log_file(const std::string& path);

} // namespace benanza::trace

#ifndef BENANZA_COMPILED_TRACE
#include "log_reader.hpp"
#endif
