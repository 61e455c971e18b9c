// SPDX-License-Identifier: Apache-2.0
// All of core/: types of elements, shapes, layouts, errors, texts. Needs the standard library
// alone.
#pragma once

#include "core/device_counters.hpp"
#include "core/device_kernel.hpp"
#include "core/dtype.hpp"
#include "core/error.hpp"
#include "core/layout.hpp"
#include "core/printable.hpp"
#include "core/rounded.hpp"
#include "core/shape.hpp"
#include "core/stopwatch.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "core/winograd.hpp"
