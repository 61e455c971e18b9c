// SPDX-License-Identifier: Apache-2.0
// How is a log read? Blocks of cuDNN and cuBLAS, and lines of cublasLt, each by its own reader, are
// put together. Where BENANZA_COMPILED_TRACE is defined, one file of the program includes this for
// all.
#pragma once

#include "cublas_log.hpp"
#include "cublaslt_log.hpp"
#include "cudnn_graph.hpp"
#include "cudnn_legacy.hpp"
#include "lines.hpp"
#include "read_log.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::trace {

/// Puts the calls of one call_log together, line by line.
class log_reader {
public:
  void take(std::string_view line, std::int64_t number) {
    if (line.size() > 2 && line[1] == '!') {
      switch (line[0]) {
      case 'i':
      case 'w':
      case 'e': return take_body(line);
      case 'I':
      case 'W':
      case 'E': return begin(line, number);
      default: break;
      }
    }
    if (!line.empty() && line[0] == '[')
      if (const auto l = read_cublaslt_line(line)) take_cublaslt(*l, number);
  }

  /// The log, when all lines were taken.
  call_log finish(std::string source, const line_totals& totals) {
    l_.source = std::move(source);
    l_.lines = totals.lines;
    l_.bytes = totals.bytes;
    if (headers_ == 0 && cublaslt_lines_ == 0)
      throw error(totals.bytes == 0 ? "the log is empty"
                                    : "no call of cuDNN, cuBLAS or cublasLt is in it",
                  l_.source, how_to_record);
    if (calls_begun_ == 0 && headers_ != 0 && cublaslt_lines_ == 0)
      throw error("the log holds warnings and errors, and no calls", l_.source, how_to_record);
    if (totals.cut_off || open_ != writer::none) l_.warnings.push_back("the log is cut off");
    if (broken_ != 0)
      l_.warnings.push_back(std::to_string(broken_) + (broken_ == 1
                                                           ? " call is not whole, and left out"
                                                           : " calls are not whole, and left out"));
    if (products_announced_ > products_written_)
      l_.warnings.push_back(std::to_string(products_announced_ - products_written_) +
                            " of cublasLtMatmul have no line that says their arguments: they "
                            "failed, or CUBLASLT_LOG_LEVEL was not 2 or 5");
    if (l_.entries.empty() && failed_.empty() && l_.failed.empty())
      l_.warnings.push_back("nothing was computed while it was written");
    std::vector<entry> kept;
    kept.reserve(l_.entries.size());
    for (std::size_t i = 0; i < l_.entries.size(); ++i)
      if (const auto found = failed_.find(i); found != failed_.end())
        l_.failed.push_back({std::move(l_.entries[i]), std::move(found->second)});
      else
        kept.push_back(std::move(l_.entries[i]));
    l_.entries = std::move(kept);
    return std::move(l_);
  }

private:
  enum class writer { none, cudnn, cublas };

  /// `I! CuDNN (v91900 56) function cudnnAddTensor() called:`, or the like of cuBLAS.
  void begin(std::string_view line, std::int64_t number) {
    const char severity = line[0];
    std::string_view rest = detail::trimmed(line.substr(2));
    const bool cudnn = rest.starts_with("CuDNN (v") || rest.starts_with("cuDNN (v");
    if (!cudnn && !rest.starts_with("cuBLAS (v")) return;
    if (std::exchange(open_, writer::none) != writer::none && wanted_) ++broken_;
    rest.remove_prefix(rest.find("(v") + 2);
    const std::string_view version = rest.substr(0, rest.find_first_of(" )"));
    const std::size_t at = rest.find(" function ");
    if (at == std::string_view::npos) return;
    rest.remove_prefix(at + 10);
    if (rest.starts_with("cublasStatus_t ")) rest.remove_prefix(15);
    const std::string_view function = rest.substr(0, rest.find('('));
    ++headers_;
    if (std::string& known = cudnn ? cudnn_version_ : cublas_version_; known != version) {
      known = version;
      l_.versions[cudnn ? "cudnn" : "cublas"] = version;
    }
    open_ = cudnn ? writer::cudnn : writer::cublas;
    severity_ = severity;
    calls_begun_ += severity == 'I';
    wanted_ = cudnn ? function == "cudnnBackendExecute" || cudnn_legacy_computes(function)
                    : severity == 'I' && cublas_computes(function);
    if (!wanted_) return;
    function_ = function;
    line_ = number;
    time_.clear();
    block_.clear();
  }

  void take_body(std::string_view line) {
    if (open_ == writer::none) return;
    std::string_view rest = line.substr(2);
    if (rest.starts_with(" Process=") || rest.starts_with("Process=")) return end(rest);
    if (!wanted_) return;
    if (rest.starts_with(" Time: ")) {
      time_ = rest.substr(7, rest.find_first_of(" \t", 7) - 7);
      return;
    }
    if (rest.starts_with(" COMPILED WITH")) return;
    block_.add(rest);
  }

  /// The last line of a block says who called.
  void end(std::string_view rest) {
    const writer by = std::exchange(open_, writer::none);
    if (!wanted_) return;
    std::string thread(detail::tagged_part(rest, "Process="));
    thread.append("/").append(detail::tagged_part(rest, "Thread="));
    block_.parse();
    if (by == writer::cublas)
      return record(read_cublas(function_, block_, detail::tagged_part(rest, "MathMode=")), thread);
    if (severity_ != 'I') return settle(thread, message_status());
    if (const field* status = block_.find("status")) return settle(thread, word(status->value));
    record(function_ == "cudnnBackendExecute" ? read_cudnn_plan(block_)
                                              : read_cudnn_legacy(function_, block_),
           thread);
  }

  void record(call c, const std::string& thread) {
    last_of_thread_[thread] = l_.entries.size();
    l_.entries.push_back({table_.place(l_, std::move(c)), line_, time_});
  }

  /// The status that a block of a warning or an error says first; empty: none that matters.
  std::string_view message_status() const {
    const std::string_view text = block_.text();
    const std::size_t at = text.find("CUDNN_STATUS_");
    if (at == std::string_view::npos) return {};
    const std::string_view said = text.substr(at, text.find_first_of("; \n", at) - at);
    if (said != "CUDNN_STATUS_SUCCESS" || severity_ != 'E') return said;
    const std::size_t error_at = text.find("Error: CUDNN_STATUS_");
    if (error_at == std::string_view::npos) return said;
    return text.substr(error_at + 7, text.find_first_of("; \n", error_at + 7) - error_at - 7);
  }

  /// Notes how the last call of a thread ended, if it is of the function of this block. What a call
  /// says of itself counts more than a warning that went before.
  void settle(const std::string& thread, std::string_view status) {
    const auto last = last_of_thread_.find(thread);
    if (status.empty() || last == last_of_thread_.end() ||
        l_.at(l_.entries[last->second]).function != function_)
      return;
    if (status != "CUDNN_STATUS_SUCCESS")
      failed_[last->second] = status;
    else if (severity_ == 'I')
      failed_.erase(last->second);
  }

  void take_cublaslt(const cublaslt_line& line, std::int64_t number) {
    ++cublaslt_lines_;
    const std::string thread = "lt/" + std::string(line.thread);
    if (line.level == "Api") {
      products_announced_ += line.function == "cublasLtMatmul";
      last_of_thread_.erase(thread);
      return;
    }
    if (!line.product()) return;
    if (line.level == "Error") {
      const auto last = last_of_thread_.find(thread);
      if (last != last_of_thread_.end()) failed_[last->second] = line.arguments;
    }
    if (line.level != "Trace" || line.arguments.find("Adesc=[") == std::string_view::npos) return;
    products_written_ += line.function == "cublasLtMatmul";
    line_ = number;
    time_ = line.time;
    record(read_cublaslt(line), thread);
  }

  call_log l_;
  call_table table_;
  fields block_;
  writer open_ = writer::none; ///< of the block that is being read
  bool wanted_ = false;        ///< its lines are kept
  char severity_ = 'I';
  std::string function_, time_, cudnn_version_, cublas_version_;
  std::int64_t line_ = 0;
  std::map<std::string, std::size_t> last_of_thread_; ///< its last entry
  std::map<std::size_t, std::string> failed_;         ///< entries, with their status
  std::int64_t headers_ = 0, calls_begun_ = 0, broken_ = 0, cublaslt_lines_ = 0,
               products_announced_ = 0, products_written_ = 0;
};

BENANZA_INLINE call_log read_log(std::istream& in, std::string source) {
  log_reader reader;
  line_totals totals;
  try {
    totals = for_each_line(
        in, [&](std::string_view line, std::int64_t number) { reader.take(line, number); });
  } catch (const error& e) {
    throw error(e.what(), source);
  }
  return reader.finish(std::move(source), totals);
}

BENANZA_INLINE call_log read_log_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw error("this is a directory, not a log", path, "name the log in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error("the log cannot be opened", path, "check its name and your rights");
  return read_log(in, path);
}

} // namespace benanza::trace
