// SPDX-License-Identifier: Apache-2.0
// Files of graphs: what is read is written the same way again, and its layers can be listed.
#include "../result/synthetic.hpp"
#include "mutate.hpp"

#include <benanza/model/unique.hpp>
#include <benanza/result/graph_file.hpp>

namespace {
void take_graphs(std::string_view bytes) {
  namespace result = benanza::result;
  result::graph_list l = result::read_graphs(bytes, "graphs.json");
  const std::string once = result::to_text(l);
  if (result::to_text(result::read_graphs(once, "graphs.json")) != once)
    throw fuzz::finding("graphs are written another way than they were read");
  benanza::model::unique_layers(result::together({std::move(l)}).graphs);
}

std::vector<std::string> graph_samples() {
  std::vector<std::string> out;
  for (const benanza::result::run& r : {synthetic::small_run(), synthetic::fused_run()})
    out.push_back(benanza::result::to_text({.graphs = r.graphs, .known = {"Relu/1x64x56x56"}}));
  return out;
}

const fuzz::registration graph_target{{.name = "graphs",
                                       .take = take_graphs,
                                       .samples = graph_samples,
                                       .words = {"\"graphs\"", "\"nodes\"", "\"known\"", "Conv/"},
                                       .change = fuzz::spoil_json}};
} // namespace
