// SPDX-License-Identifier: Apache-2.0
// What does a layer cost? Takes names of layers as `benanza_generate stats` writes them, and prints
// arithmetic, bytes and their ratio. Needs no library but the standard one.
//
//   cost_of_a_layer Conv/1x64x56x56-64x3x3-s1-p1
#include <benanza/op/kinds.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace benanza;
  try {
    for (int i = 1; i < argc; ++i) {
      const op::layer layer = op::parse(argv[i]);
      const op::work work = op::cost(layer);
      for (const numeric type : {numeric::f32, numeric::bf16}) {
        const auto flops = static_cast<double>(work.flops());
        const auto bytes = static_cast<double>(work.bytes(type));
        std::printf("%s in %s: %.1f Mflop, %.2f MB, %.1f flop/byte\n", op::name(layer).c_str(),
                    std::string(name(type)).c_str(), flops / 1e6, bytes / 1e6, flops / bytes);
      }
    }
  } catch (const std::exception& e) { // one line: what is wrong, where, and what to do
    std::fprintf(stderr, "cost_of_a_layer: %s\n", e.what());
    return 2;
  }
}
