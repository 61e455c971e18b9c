// SPDX-License-Identifier: Apache-2.0
// All of onnx/: from a file to a graph of layers. Needs libonnx and protobuf (benanza::onnx).
#pragma once

#include "onnx/load.hpp"
#include "onnx/resolve.hpp"
