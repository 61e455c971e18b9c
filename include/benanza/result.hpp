// SPDX-License-Identifier: Apache-2.0
// All of result/ but the store: what a run measured, its reader, its writer, several runs in one,
// plans. Needs nlohmann-json.
#pragma once

#include "result/device.hpp"
#include "result/effort.hpp"
#include "result/graph_file.hpp"
#include "result/layer_file.hpp"
#include "result/machine_key.hpp"
#include "result/merge.hpp"
#include "result/plan.hpp"
#include "result/reader.hpp"
#include "result/run.hpp"
#include "result/statistics.hpp"
#include "result/stop_reason.hpp"
#include "result/writer.hpp"
