// SPDX-License-Identifier: Apache-2.0
// benanza_analyze: results of benanza_bench in, bounds and predictions out.
//
//   benanza_bench --benchmark_format=json | benanza_analyze
//   benanza_analyze run.json --model resnet50 --layers all
#include "analyze.hpp"

#include <benanza/core/out_of_memory.hpp>

#include <csignal>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

int main(int count, char** values) {
  benanza::hold_memory_back("benanza_analyze");
  // A reader that goes away, such as `head`, must not kill the program half way.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  std::vector<std::string> arguments(values + (count > 0 ? 1 : 0), values + count);
  if (arguments.empty() && isatty(STDIN_FILENO) != 0) arguments.emplace_back("--help");
  return benanza::analyzer::analyze(std::move(arguments), std::cin, std::cout, std::cerr);
}
