// SPDX-License-Identifier: Apache-2.0
// How fast could the models of a result run? The figures of benanza_analyze, in a program of yours.
//
//   bound_in_ten_lines run.json
#include <benanza/bound/model.hpp>
#include <benanza/result/reader.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace benanza;
  try {
    const result::run run = result::read_file(argc > 1 ? argv[1] : "run.json");
    const bound::source measured(run);
    for (const model::graph& g : run.graphs) {
      if (!g.unfused.empty()) continue; // comes with the model that it is the fused form of
      const bound::model_bound b = bound::analyse(measured, g, {g.type, 1});
      const bound::form_figures& best =
          b.fused ? static_cast<const bound::form_figures&>(*b.fused) : b;
      std::printf("%s: roofline %.3f ms, bound %.3f ms, prediction %.3f ms%s\n", g.name.c_str(),
                  best.roofline.sequential.ns / 1e6, best.bound.sequential.ns / 1e6,
                  best.prediction.sequential.ns / 1e6, b.partial() ? " (partial)" : "");
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bound_in_ten_lines: %s\n", e.what());
    return 2;
  }
}
