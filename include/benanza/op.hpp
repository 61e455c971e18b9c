// SPDX-License-Identifier: Apache-2.0
// All of op/: layers of every kind, their keys, costs and results, and the list of those that a
// program's generated sources name. Needs the standard library alone.
#pragma once

#include "op/kinds.hpp"
#include "op/registry.hpp"
