// SPDX-License-Identifier: Apache-2.0
// What would a fusion of mine save? Takes a model and a pattern, fuses what it matches, and prints
// which nodes became one and how many bytes the model moves before and after.
//
//   own_pattern lenet.onnx 'Conv+Add?+Activation?'
#include <benanza/model/fuse.hpp>
#include <benanza/onnx/resolve.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace benanza;
  if (argc != 3) {
    std::fprintf(stderr, "own_pattern: give a model and a pattern\n");
    return 2;
  }
  const auto moved = [](const model::graph& g) {
    double bytes = 0;
    for (const model::node& n : g.nodes)
      if (n.layer != model::no_layer)
        bytes += static_cast<double>(
            op::cost(g.layers[static_cast<std::size_t>(n.layer)]).bytes(g.type));
    return bytes / 1e6;
  };
  try {
    model::patterns mine;
    model::add_pattern(mine, argv[2]);
    const model::graph before = benanza::onnx::resolve(benanza::onnx::load(argv[1]), {.batch = 1});
    const auto after = model::fuse(before, mine);
    if (!after) {
      std::printf("the pattern fits nowhere\n");
      return 1;
    }
    for (const model::node& n : after->nodes)
      if (n.parts.size() > 1)
        std::printf("%s: %s\n", n.name.c_str(),
                    op::name(after->layers[static_cast<std::size_t>(n.layer)]).c_str());
    std::printf("%zu nodes, %.2f MB moved; fused %zu nodes, %.2f MB\n", before.nodes.size(),
                moved(before), after->nodes.size(), moved(*after));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "own_pattern: %s\n", e.what());
    return 2;
  }
}
