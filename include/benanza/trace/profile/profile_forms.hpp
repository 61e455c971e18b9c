// SPDX-License-Identifier: Apache-2.0
// How is a file given to the reader of its format? Where BENANZA_COMPILED_TRACE is defined, one
// file of the program includes this for all.
#pragma once

#include "../../core/out_of_memory.hpp"
#include "../../result/input_text.hpp"
#include "framework_file.hpp"
#include "gzip.hpp"
#include "nsight.hpp"
#include "onednn_verbose.hpp"
#include "pytorch.hpp"
#include "read_profile.hpp"
#include "sniff.hpp"
#include "tensorrt.hpp"

#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::trace {

namespace detail {
inline constexpr std::string_view known_profiles =
    "give a profile of ONNX Runtime, PyTorch, OpenVINO, TensorRT or Nsight Systems (SQLite), a log "
    "with ONEDNN_VERBOSE, or a file of benanza_measure_framework";

inline profile read_kind(profile_kind kind, std::string_view text, const std::string& source) {
  const auto check_size = [&] {
    if (text.size() > longest_held_profile)
      throw error("the file is longer than " + std::to_string(longest_held_profile >> 20) + " MiB",
                  source, "profile fewer runs");
  };
  const auto value = [&] {
    check_size();
    return value_of(text, source, "write it again: it is cut off or was changed");
  };
  switch (kind) {
  case profile_kind::onnxruntime: return read_onnxruntime(text, source);
  case profile_kind::openvino_counters: return read_openvino_counters(text, source);
  case profile_kind::openvino_counters_json: return read_openvino_counters_value(value(), source);
  case profile_kind::openvino_report: return read_openvino_report(text, source);
  case profile_kind::openvino_report_json: return read_openvino_report_value(value(), source);
  case profile_kind::openvino_graph: check_size(); return read_openvino_graph(text, source);
  case profile_kind::tensorrt_times: return read_tensorrt_times(value(), source);
  case profile_kind::tensorrt_profile: return read_tensorrt_profile(value(), source);
  case profile_kind::tensorrt_layers: return read_tensorrt_layers(value(), source);
  case profile_kind::chrome: return read_pytorch(text, source);
  case profile_kind::onednn: return read_onednn_verbose(text, source);
  case profile_kind::framework_file: return read_framework_file(value(), source);
  case profile_kind::sqlite:
    throw error("an SQLite file is read from a disk only", source, "give its name");
  case profile_kind::gzip: {
    const unpacked inner = unzipped(text, longest_profile, source);
    const profile_kind its = kind_of(inner.text);
    if (its == profile_kind::gzip || its == profile_kind::sqlite)
      throw error("the file is compressed, and what is in it cannot be read from there", source,
                  "unpack it with gunzip");
    profile p = read_kind(its, inner.text, source);
    if (!inner.whole) p.warnings.push_back("the compressed file is cut off or damaged");
    return p;
  }
  case profile_kind::unknown: break;
  }
  throw error(stripped(text).empty() ? "the file is empty" : "this is no profile that is known",
              source, known_profiles);
}
} // namespace detail

namespace detail {
/// What libraries throw becomes a refusal.
template <class Read>
profile refusing(const std::string& source, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw out_of_memory("reading " + source);
  } catch (const nlohmann::json::exception& e) {
    throw error("the JSON cannot be read: " + std::string(e.what()), source, known_profiles);
  }
}
} // namespace detail

BENANZA_INLINE profile read_profile(std::string_view text, const std::string& source) {
  return detail::refusing(source, [&] {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    return detail::read_kind(kind_of(text), text, source);
  });
}

namespace detail {
/// What a file's first bytes say; of a pipe, which cannot be read twice, nothing.
inline profile_kind kind_of_file(const std::string& path, std::size_t bytes) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return profile_kind::unknown;
  std::ifstream in(path, std::ios::binary);
  std::string head(bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return kind_of(head);
}
} // namespace detail

BENANZA_INLINE bool is_profile(const std::string& path) {
  constexpr std::size_t enough = std::size_t{1} << 16;
  return detail::kind_of_file(path, enough) != profile_kind::unknown;
}

BENANZA_INLINE profile read_profile_file(const std::string& path) {
  return detail::refusing(path, [&] {
    if (detail::kind_of_file(path, 16) == profile_kind::sqlite) return read_nsight(path);
    return read_profile(result::input_text(path, longest_profile, "the profile"), path);
  });
}

BENANZA_INLINE profile join(std::vector<profile> files) {
  return detail::join_profiles(std::move(files));
}

} // namespace benanza::trace
