// SPDX-License-Identifier: Apache-2.0
// The benchmark program with layers that a test names: keys, one a line, in the file that
// BENANZA_LAYERS names.
#include <benanza/bench/run.hpp>
#include <benanza/op/registry.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  using namespace benanza;
  const char* file = std::getenv("BENANZA_LAYERS");
  std::ifstream in(file != nullptr ? file : "");
  try {
    int id = 0;
    for (std::string line; std::getline(in, line); ++id) {
      const op::layer l = op::parse(line);
      op::registered_layers().push_back({id, l, op::cost(l)});
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
  return bench::run(argc, argv);
}
