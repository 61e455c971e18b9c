// SPDX-License-Identifier: Apache-2.0
// What did a framework's profiler write? `read_profile_file` finds the format out by what is in the
// file: ONNX Runtime, PyTorch, OpenVINO, TensorRT, Nsight Systems, oneDNN's verbose log, or a file
// of benanza_measure_framework; also compressed by gzip. `join` puts the files about the same runs
// together. What is cut off gives what it holds, and a warning; what is no profile is refused.
//
//   profile p = read_profile_file("ort.json");   p.operators[3].ns   p.warnings
//   profile q = join({read_profile_file("profile.json"), read_profile_file("layers.json")});
#pragma once

#include "../../core/language.hpp"
#include "../../core/text.hpp"
#include "profile.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::trace {

/// Bytes of a profile that are read at most, and of one that has to be held as a whole.
inline constexpr std::size_t longest_profile = std::size_t{1} << 30;
inline constexpr std::size_t longest_held_profile = std::size_t{1} << 27;

/// The profile that a text is; `source` is its name in messages.
profile read_profile(std::string_view text, const std::string& source);

/// The profile that a file (or a pipe that has a name) holds.
profile read_profile_file(const std::string& path);

/// True for a file whose beginning says that a profiler or measure_framework wrote it. Pipes are
/// not looked into.
bool is_profile(const std::string& path);

/// One profile of several files about the same runs. Refuses those of different frameworks, and two
/// of the same format.
profile join(std::vector<profile> files);
using benanza::join; // of texts, which the other would hide here

} // namespace benanza::trace

#ifndef BENANZA_COMPILED_TRACE
#include "profile_forms.hpp"
#endif
