// SPDX-License-Identifier: Apache-2.0
// The backends as the benchmark program has them, compiled once.
#pragma once

#include <benanza/backend/concept.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace benanza::test {

inline std::unique_ptr<backend::library> built(const std::string& name) {
  const auto found = backend::registered_backends().find(name);
  REQUIRE(found != backend::registered_backends().end());
  return found->second();
}

} // namespace benanza::test
