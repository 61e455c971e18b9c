// SPDX-License-Identifier: Apache-2.0
// What does the page know of a machine? Its facts, its libraries, how it was measured, and its
// measured ceilings: arithmetic by type, bandwidth by level of the caches.
//
//   ordered_json j = machine_json(run);   j["peaks"][0]   // {"type": "f32", "gflops": 131, ...}
#pragma once

#include <benanza/result/json.hpp>

namespace benanza::report::html {

/// A machine and how it was measured.
result::ordered_json machine_json(const result::run& r);

} // namespace benanza::report::html
