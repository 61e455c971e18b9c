// SPDX-License-Identifier: Apache-2.0
// What is in a result? Reads what benanza_bench wrote, and prints the fastest algorithm of each
// layer with its caches hot.
//
//   benanza_bench --benchmark_out=run.json && read_a_result run.json
#include <benanza/result/reader.hpp>

#include <cstdio>
#include <exception>
#include <map>

int main(int argc, char** argv) {
  using namespace benanza;
  if (argc != 2) {
    std::fprintf(stderr, "read_a_result: give one file that benanza_bench wrote\n");
    return 2;
  }
  try {
    const result::run run = result::read_file(argv[1]);
    std::map<std::string, const result::measurement*> fastest;
    for (const result::measurement& m : run.measurements) {
      if (m.state != "hot" || m.family == "machine" || !m.error.empty()) continue;
      const auto [at, is_new] = fastest.try_emplace(m.family + '/' + m.key, &m);
      if (!is_new && m.min_ns < at->second->min_ns) at->second = &m;
    }
    for (const auto& [layer, m] : fastest)
      std::printf("%10.2f us  %s by %s %s\n", m->min_ns / 1000, layer.c_str(), m->backend.c_str(),
                  m->algorithm.c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "read_a_result: %s\n", e.what());
    return 2;
  }
}
