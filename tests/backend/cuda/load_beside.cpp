// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/cuda/load_beside.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend::cuda;

TEST_CASE("cuda: a library is loaded from the folder of another") {
  void* const c = dlopen("libc.so.6", RTLD_NOW);
  REQUIRE(c != nullptr);
  CHECK(load_beside(dlsym(c, "printf"), "libm.so.6") != nullptr);
  CHECK(load_beside(dlsym(c, "printf"), "no-such-library.so") == nullptr);
  CHECK(load_beside(nullptr, "libm.so.6") == nullptr);
}
