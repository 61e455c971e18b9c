// SPDX-License-Identifier: Apache-2.0
// All of bound/: how fast a model could run, and how long a run should take. Needs nlohmann-json.
#pragma once

#include "bound/layout/plan.hpp"
#include "bound/model.hpp"
