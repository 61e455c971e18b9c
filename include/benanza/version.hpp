// SPDX-License-Identifier: Apache-2.0
// Which version is installed here? BENANZA_VERSION_MAJOR, _MINOR and _PATCH, and BENANZA_VERSION,
// their text.
//
//   #if BENANZA_VERSION_MAJOR == 0 && BENANZA_VERSION_MINOR < 3
#pragma once

#include "core/version.hpp"
