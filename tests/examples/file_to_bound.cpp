// SPDX-License-Identifier: Apache-2.0
// From a model's file to its bound on this processor, in one program: its layers are measured by
// our plain kernels, and the machine's limits beside them. It includes the ground alone, and no
// wing of it (include/benanza/wings.md).
//
//   file_to_bound lenet.onnx
#include <benanza/backend/host/library.hpp>
#include <benanza/bound/model.hpp>
#include <benanza/machine/facts.hpp>
#include <benanza/measure/campaign/group_runner.hpp>
#include <benanza/measure/ceilings/list.hpp>
#include <benanza/measure/subjects/case_list.hpp>
#include <benanza/onnx/resolve.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace benanza;
  if (argc != 2) {
    std::fprintf(stderr, "file_to_bound: give a model\n");
    return 2;
  }
  try {
    result::run run;
    run.graphs.push_back(benanza::onnx::resolve(benanza::onnx::load(argv[1]), {.batch = 1}));
    const model::graph& g = run.graphs.front();
    std::vector<op::registered_layer> layers;
    for (const op::layer& l : g.layers)
      layers.push_back({static_cast<int>(layers.size()), l, op::cost(l)});

    measure::library_list libraries;
    libraries.push_back(std::make_unique<backend::host::library>());
    const measure::selection wanted{.states = {"hot"}, .quick = true};
    std::vector<measure::group> groups =
        measure::list_cases(layers, run.graphs, libraries, wanted, &run.measurements);
    for (measure::group& of_machine :
         measure::ceilings::list_machine_cases(libraries, {g.type}, {0}, wanted))
      groups.push_back(std::move(of_machine));

    const measure::sampling_request quick{.effort = measure::effort::quick};
    measure::group_runner runner({.llc_bytes = machine::last_level_cache_bytes()}, quick);
    const std::atomic<bool> stop{false};
    for (measure::group& of_layer : groups) {
      runner.measure(of_layer, stop);
      for (const measure::bench_case& c : of_layer.cases)
        run.measurements.insert(run.measurements.end(), c.results.begin(), c.results.end());
    }

    const bound::source measured(run);
    const bound::model_bound b = bound::analyse(measured, g, {g.type, 1});
    std::printf("%s: %zu layers measured, roofline %.4f ms, bound %.4f ms%s\n", g.name.c_str(),
                g.layers.size(), b.roofline.sequential.ns / 1e6, b.bound.sequential.ns / 1e6,
                b.partial() ? " (partial)" : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "file_to_bound: %s\n", e.what());
    return 2;
  }
}
