// SPDX-License-Identifier: Apache-2.0
// Which profiler wrote a file? Its first bytes say it, or the first keys of its JSON that only one
// of them writes; a file is read no further than to these.
//
//   kind_of("[{\"cat\":\"Session\"...") == profile_kind::onnxruntime
#pragma once

#include "values.hpp"

namespace benanza::trace {

/// What a file is.
enum class profile_kind {
  unknown,
  onnxruntime,
  chrome, ///< PyTorch's, or of another that writes Chrome's format
  openvino_counters,
  openvino_counters_json,
  openvino_report,
  openvino_report_json,
  openvino_graph,
  tensorrt_profile,
  tensorrt_times,
  tensorrt_layers,
  framework_file,
  onednn,
  sqlite,
  gzip,
};

namespace detail {

/// Reads the keys of a JSON text until one says what it is.
class key_sniffer final : public nlohmann::json_sax<json> {
public:
  profile_kind found = profile_kind::unknown;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& v) override {
    return !schema_ || v != "benanza-framework" || is(profile_kind::framework_file);
  }
  bool start_object(std::size_t) override {
    if (level_ == 0) object_ = true;
    return ++level_ < deepest_json;
  }
  bool start_array(std::size_t) override { return ++level_ < deepest_json; }
  bool end_object() override { return --level_ != 0; }
  bool end_array() override { return --level_ != 0; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }
  bool key(string_t& k) override {
    schema_ = false;
    if (object_ && level_ == 1) return key_of_object(k);
    if (!object_ && level_ == 2) return key_of_row(k);
    return true;
  }

private:
  bool is(profile_kind k) {
    found = k;
    return false;
  }
  bool key_of_object(std::string_view k) {
    schema_ = k == "schema";
    if (k == "traceEvents") return is(profile_kind::chrome);
    if (k == "Layers") return is(profile_kind::tensorrt_layers);
    if (k == "report_type" || k == "avg_performance" || k == "detailed_performance")
      return is(profile_kind::openvino_counters_json);
    if (k == "cmd_options" || k == "configuration_setup" || k == "execution_results")
      return is(profile_kind::openvino_report_json);
    return true;
  }
  bool key_of_row(std::string_view k) {
    if (k == "cat" || k == "ph") return is(profile_kind::onnxruntime);
    if (k == "count" || k == "timeMs" || k == "averageMs" || k == "medianMs")
      return is(profile_kind::tensorrt_profile);
    if (k == "latencyMs" || k == "computeMs" || (k.starts_with("start") && k.ends_with("Ms")))
      return is(profile_kind::tensorrt_times);
    return true;
  }

  std::size_t level_ = 0;
  bool object_ = false, schema_ = false;
};

/// Does a line of the first ones begin with that?
inline bool line_begins(std::string_view text, std::string_view with) {
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text.substr(at).starts_with(with)) return true;
    if (text.find('\n', at) == text.npos) return false;
  }
  return false;
}
} // namespace detail

/// What a text is, as far as its beginning says.
inline profile_kind kind_of(std::string_view text) {
  if (text.starts_with("SQLite format 3")) return profile_kind::sqlite;
  if (text.starts_with("\x1f\x8b")) return profile_kind::gzip;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string_view body = detail::stripped(text.substr(0, 4096));
  if (body.starts_with("[") || body.starts_with("{")) {
    detail::key_sniffer sniffer;
    (void)nlohmann::json::sax_parse(text.begin(), text.end(), &sniffer);
    return sniffer.found;
  }
  if (body.starts_with("<net") || (body.starts_with("<?xml") && body.find("<net") != body.npos))
    return profile_kind::openvino_graph;
  if (body.starts_with("layerName;")) return profile_kind::openvino_counters;
  if (body.starts_with("Command line parameters") || body.starts_with("Configuration setup") ||
      body.starts_with("Execution results"))
    return profile_kind::openvino_report;
  const std::string_view head = text.substr(0, std::size_t{1} << 24);
  if (detail::line_begins(head, "onednn_verbose,") || detail::line_begins(head, "dnnl_verbose,"))
    return profile_kind::onednn;
  return profile_kind::unknown;
}

} // namespace benanza::trace
