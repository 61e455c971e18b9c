// SPDX-License-Identifier: Apache-2.0
// Do our sequential and parallel bounds agree with those that the authors of Benanza (IPDPS 2020)
// published for their 30 models on a V100, if layers take what they took there?
// golden/published_v100.txt has their times, graphs and totals.
//
// It is theirs that some kinds take nothing, that the mask of a Dropout takes as long as the
// Dropout, and that convolutions are in a sum but in no table. Their paths go from the first timed
// node to the last one. Ours go from any to any, and are no longer.
#include <benanza/bound/paths.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// What layers take, by their numbers.
struct published_times {
  std::vector<std::string> kinds;
  std::vector<double> in_sum_ns;   ///< in the sequential totals
  std::vector<double> in_table_ns; ///< the same, without what their table lost
  std::vector<double> in_path_ns;  ///< in the parallel totals
};

struct published_model {
  benanza::model::graph graph;
  double sum_ns = 0;
  double path_ns = 0;
};

double ns_of(const std::string& us) {
  return us == "-" ? 0 : 1000 * std::stod(us);
}

void add_layer(published_times& times, std::istream& line) {
  std::size_t number = 0;
  std::string kind, in_sum, in_path;
  line >> number >> kind >> in_sum >> in_path;
  REQUIRE(number == times.kinds.size());
  times.kinds.push_back(kind);
  times.in_sum_ns.push_back(ns_of(in_sum));
  times.in_table_ns.push_back(in_path == "-" ? 0 : ns_of(in_sum));
  times.in_path_ns.push_back(ns_of(in_path));
}

/// `12`: layer 12, reading the node before; `12:3,7`: reading nodes 3 and 7.
void add_node(benanza::model::graph& g, const published_times& times, const std::string& text) {
  benanza::model::node n;
  n.layer = std::stoi(text);
  n.op = times.kinds.at(static_cast<std::size_t>(n.layer));
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    n.inputs.push_back(static_cast<int>(g.nodes.size()) - 1);
  } else {
    std::istringstream inputs(text.substr(colon + 1));
    for (std::string input; std::getline(inputs, input, ',');)
      n.inputs.push_back(std::stoi(input));
  }
  for (int from : n.inputs)
    REQUIRE((from >= 0 && from < static_cast<int>(g.nodes.size())));
  g.nodes.push_back(n);
}

published_model new_model(const published_times& times, std::istream& line) {
  published_model m;
  std::string sum, path;
  line >> m.graph.name >> sum >> path;
  m.graph.layers.resize(times.kinds.size()); // which ones they are plays no part
  m.sum_ns = ns_of(sum);
  m.path_ns = ns_of(path);
  return m;
}

std::vector<published_model> read_published(published_times& times) {
  std::ifstream file(BENANZA_SOURCE_FOLDER "/tests/golden/published_v100.txt");
  REQUIRE(file);
  std::vector<published_model> models;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "#") continue;
    if (word == "layer")
      add_layer(times, line);
    else if (word == "model")
      models.push_back(new_model(times, line));
    else
      do
        add_node(models.back().graph, times, word);
      while (line >> word);
  }
  return models;
}

} // namespace

TEST_CASE("the sums and the longest paths of the authors' 30 models are the published ones") {
  published_times times;
  const std::vector<published_model> models = read_published(times);
  REQUIRE(models.size() == 30);
  const double rounding_ns = 3; // their totals are cut to whole nanoseconds, some more than once
  double logs = 0, logs_of_table = 0;
  for (const published_model& m : models) {
    CAPTURE(m.graph.name);
    const auto uses = counts(m.graph);
    const double sum = benanza::bound::sequential(uses, times.in_sum_ns);
    const double path =
        benanza::bound::longest_path(m.graph, benanza::bound::on_nodes(m.graph, times.in_path_ns))
            .ns;
    CHECK(std::abs(sum - m.sum_ns) < rounding_ns);
    CHECK(std::abs(path - m.path_ns) < rounding_ns);
    logs += std::log(sum / path);
    logs_of_table += std::log(benanza::bound::sequential(uses, times.in_table_ns) / path);
  }
  // What running independent layers at the same time gains, with and without the lost convolutions.
  CHECK(std::exp(logs / 30) == doctest::Approx(1.151).epsilon(0.0005));
  CHECK(std::exp(logs_of_table / 30) == doctest::Approx(1.134).epsilon(0.0005));
}
