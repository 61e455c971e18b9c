// SPDX-License-Identifier: Apache-2.0
// All of trace/ but the readers of profiles, which need nlohmann-json (trace/profile/): logs of
// what a framework called, held against a model. Needs range-v3.
#pragma once

#include "trace/inner_calls.hpp"
#include "trace/iterations.hpp"
#include "trace/match.hpp"
#include "trace/profile/profile.hpp"
#include "trace/read_log.hpp"
