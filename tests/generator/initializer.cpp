// SPDX-License-Identifier: Apache-2.0
// Generated code must compile and name the layer it was made for. golden/every_kind.cpp is such
// code, for a layer of every kind; it is part of this program. To write it anew, run with
// BENANZA_UPDATE_GOLDEN=1.
#include "generator/emit.hpp"
#include "generator/folder.hpp"

#include <benanza/op/registry.hpp>
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

using namespace benanza;

namespace {
const std::string golden = BENANZA_SOURCE_FOLDER "/tests/golden/every_kind";

std::vector<model::catalogue_entry> every_kind() {
  std::ifstream in(golden + ".txt");
  std::vector<model::catalogue_entry> layers;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') layers.push_back({.layer = op::parse(line), .uses = {}});
  return layers;
}
} // namespace

TEST_CASE("the golden source is what the generator writes") {
  const auto files = generator::emit(every_kind(), {}, {.layer_files = 1});
  if (std::getenv("BENANZA_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden + ".cpp") << files.at("layers_0.cpp");
  CHECK(files.at("layers_0.cpp") == generator::detail::file_text(golden + ".cpp"));
}

TEST_CASE("compiled, it names the layers it was made for") {
  const auto layers = every_kind();
  REQUIRE(op::registered_layers().size() == layers.size());
  std::set<std::size_t> kinds;
  for (const op::registered_layer& r : op::registered_layers()) {
    const op::layer& expected = layers.at(static_cast<std::size_t>(r.id)).layer;
    CHECK(op::name(r.parameters) == op::name(expected));
    CHECK(r.parameters == expected);
    CHECK(r.cost == op::cost(expected));
    kinds.insert(expected.kind().index);
  }
  CHECK(kinds.size() == op::kinds::size - 1); // all but the views
}

TEST_CASE("members that have their default are left out") {
  CHECK(generator::initializer(op::parse("Conv/1x64x56x56-64x3x3-s1-p1")) ==
        "conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}");
}

TEST_CASE("every enumerator of every function has its name") {
  for (std::string_view f : op::unary_families) {
    const std::string text = generator::initializer(op::parse(f, "1x8"));
    CHECK(text.find("unary_function::") != std::string::npos);
    CHECK(text.find('(') == std::string::npos);
  }
  CHECK(generator::enumerator_name(op::binary_function::less_or_equal) == "less_or_equal");
  CHECK(generator::enumerator_name(dtype::boolean) == "boolean");
}
