// SPDX-License-Identifier: Apache-2.0
// Layer keys and fusion patterns: what is parsed is named the same way again.
#include "../op/random_layers.hpp"
#include "target.hpp"

#include <benanza/model/patterns.hpp>
#include <benanza/op/kinds.hpp>

#include <sstream>

namespace {
void take_key(std::string_view bytes) {
  const benanza::op::layer l = benanza::op::parse(bytes);
  const std::string name = benanza::op::name(l);
  fuzz::check_shown(name);
  if (benanza::op::name(benanza::op::parse(name)) != name)
    throw fuzz::finding("a layer is named another way than it is read: " + name);
  const benanza::op::work w = benanza::op::cost(l);
  if (w.macs < 0 || w.flops() < 0) throw fuzz::finding("a layer does less than nothing: " + name);
}

std::vector<std::string> key_samples() {
  std::vector<std::string> out;
  benanza::test::layer_source layers(1);
  for (std::size_t kind = 0; kind < benanza::test::layer_kinds; ++kind)
    for (int i = 0; i < 3; ++i)
      out.push_back(benanza::op::name(layers.next(kind)));
  return out;
}

const fuzz::registration key_target{
    {.name = "keys",
     .take = take_key,
     .samples = key_samples,
     .words = {"Conv/", "Gemm/", "-s1", "-p1", "-d2", "-g32", "-b", "-a1", "1x3x224x224", "+Relu",
               "Reorder/", "9223372036854775807"}}};

void take_patterns(std::string_view bytes) {
  std::istringstream in{std::string(bytes)};
  benanza::model::read_patterns(in, "patterns.txt");
}

std::vector<std::string> pattern_samples() {
  return {"Conv+BatchNormalization?+Add?+Activation?\n# more\nGemm+Relu\n",
          "Swish(x) = Mul|Add(x, d:Sigmoid?(Mul*(x, c)))\n"};
}

const fuzz::registration pattern_target{
    {.name = "patterns",
     .take = take_patterns,
     .samples = pattern_samples,
     .words = {"Conv", "+", "?", "Add", "Activation", "|", "(", ")", "=", ":"}}};
} // namespace
