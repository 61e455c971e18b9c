// SPDX-License-Identifier: Apache-2.0
// What does benanza_analyze say of libraries? Every algorithm of a layer (--algorithms), and how
// versions of a library compare (--versions).
#pragma once

#include "answer.hpp"

#include <cstddef>

namespace benanza::analyzer {

/// The algorithms of the layers that --algorithms names: by a part of the layer's name, or as a
/// node of a model.
status list_algorithms(const result::run& run, const answer& to);

/// How the versions of each library compare, over the models that were asked for.
status report_versions(result::run& run, std::size_t rows, const answer& to);

} // namespace benanza::analyzer
