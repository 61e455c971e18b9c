// SPDX-License-Identifier: Apache-2.0
// What does it mean that a framework is faster than the bound? That the bound is wrong, unless the
// framework ran Winograds that are less exact than the type and no part of it: then it is compared
// with the bound with those.
//
//   below_bound(comparison) == "beats the lower bound, so that is wrong: a kernel or a fusion ..."
#pragma once

#include <benanza/advice/compared.hpp>

#include <string>

namespace benanza::report {

/// What is said of a framework's run behind its name; empty: it is not below the bound.
std::string below_bound(const advice::comparison& c);

} // namespace benanza::report
