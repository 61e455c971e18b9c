// SPDX-License-Identifier: Apache-2.0
// The entry point of every test program: doctest's own main. What a test measures of the machine is
// not for other runs, nor theirs for it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>

namespace {
[[maybe_unused]] const int no_cache = setenv("XDG_CACHE_HOME", "/dev/null", 1);
} // namespace
