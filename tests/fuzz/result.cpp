// SPDX-License-Identifier: Apache-2.0
// Result files, through the whole analysis.
#include "../bound/machine_run.hpp"
#include "../result/document.hpp"
#include "analysis.hpp"
#include "mutate.hpp"

namespace {
void take_result(std::string_view bytes) {
  const std::size_t way = fuzz::turn(bytes, 3); // each takes a millisecond or more
  if (way == 0)
    fuzz::analyze({"--layers", "all"}, bytes);
  else if (way == 1 && bytes.find("machine/") != bytes.npos)
    fuzz::analyze({"--machine"}, bytes);
  else
    fuzz::analyze_as_json({}, bytes);
}

std::vector<std::string> result_samples() {
  benanza::result::run with_machine = synthetic::small_run();
  synthetic::add_machine(with_machine);
  return {synthetic::document(synthetic::small_run()).dump(),
          synthetic::document(synthetic::fused_run()).dump(),
          synthetic::document(with_machine).dump()};
}

const fuzz::registration result_target{{.name = "result",
                                        .take = take_result,
                                        .samples = result_samples,
                                        .words = {"\"benchmarks\"", "\"context\"", "\"samples_ns\"",
                                                  "\"Conv/1x64x56x56-64x3x3-s1-p1\"", "{\"", "[["},
                                        .change = fuzz::spoil_json}};
} // namespace
