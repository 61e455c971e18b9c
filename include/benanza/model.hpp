// SPDX-License-Identifier: Apache-2.0
// All of model/: graphs of layers, unique layers, what may be fused and what is quantised. Needs
// range-v3.
#pragma once

#include "model/codes.hpp"
#include "model/footprint.hpp"
#include "model/fuse.hpp"
#include "model/graph.hpp"
#include "model/layer_table.hpp"
#include "model/operands.hpp"
#include "model/patterns.hpp"
#include "model/registry.hpp"
#include "model/sequences.hpp"
#include "model/unique.hpp"
