// SPDX-License-Identifier: Apache-2.0
// benanza_generate: from ONNX models to the sources of their benchmarks. Also prints what a model
// is made of (`stats`) and writes the models of the zoo (`zoo`).
#include "command.hpp"

int main(int argc, char** argv) {
  benanza::hold_memory_back("benanza_generate");
  return benanza::generator::run(argc, argv);
}
