// SPDX-License-Identifier: Apache-2.0
// How does a store behave as it grows? Fills one with made-up results of 4 systems, 25 for each
// layer, type, number of threads and system, and prints at each size: results added a second, the
// time of "what is missing for 30 models", the time to read all that one model needs, and the size
// of the file.
//
//   benanza_store_scale /tmp/scale.db [10000 100000 ...]    // the file must not be there
#include "../result/synthetic.hpp"

#include <benanza/core/stopwatch.hpp>
#include <benanza/result/store/missing.hpp>
#include <benanza/result/store/reader.hpp>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace rs = benanza::result::store;
using benanza::result::measurement;
using benanza::result::run;

constexpr int systems = 4, threads = 2, algorithms = 6, repetitions = 2, results = 25;
constexpr int models = 30, layers_a_model = 60;

std::string layer_name(std::int64_t i) {
  return "Conv/1x" + std::to_string(8 * (1 + i / 200 % 100)) + "x" + std::to_string(7 + i % 200) +
         "x14-" + std::to_string(8 * (1 + i / 20000)) + "x3x3-s1-p1";
}

/// What passed, and what of it this program computed: less on a machine that has more to do.
struct duration {
  double seconds = 0, busy_seconds = 0;
};

duration duration_of(const auto& what) {
  const benanza::stopwatch watch;
  const std::clock_t busy = std::clock();
  what();
  return {watch.seconds(), static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC};
}

/// The results of one layer on one system in one run.
void append(std::vector<measurement>& to, const std::string& key, const measurement& like,
            bool with_failure, synthetic::random& dice) {
  for (int t = 1; t <= threads; ++t) {
    for (int a = 0; a < algorithms; ++a)
      for (const char* state : {"hot", "coldw"}) {
        measurement& m = to.emplace_back(like);
        m.key = key;
        m.threads = t;
        m.algorithm = "algorithm" + std::to_string(a) + ":avx512_core";
        m.state = state;
        const double least = 20'000 + dice.below(900'000);
        for (double& ns : m.samples_ns)
          ns = least + dice.below(static_cast<int>(least / 10));
        m.min_ns = 0;
        benanza::result::recompute(m);
        m.setup_ns = dice.below(1'000'000);
        m.weight_bytes = m.pool_bytes = 1000 + dice.below(1'000'000);
      }
    if (!with_failure) continue;
    measurement& m = to.emplace_back(like);
    m.key = key;
    m.threads = t;
    m.algorithm = "algorithm9:avx512_core_amx";
    m.state = "hot";
    m.error = "the result is wrong";
  }
}

/// 30 models of the layers below `n`, of each a tenth that was not measured.
std::vector<benanza::model::graph> make_models(std::int64_t n) {
  std::vector<benanza::model::graph> out;
  synthetic::random dice{17};
  for (int m = 0; m < models; ++m) {
    std::vector<std::string> names;
    for (int l = 0; l < layers_a_model; ++l)
      names.push_back(l % 10 == 9 ? "Relu/1x" + std::to_string(m * 100 + l)
                                  : layer_name(dice.below(static_cast<int>(n))));
    out.push_back(synthetic::make_graph("model" + std::to_string(m) + "@batch=1", names,
                                        std::vector<std::vector<int>>(names.size())));
  }
  return out;
}

void grow(const std::string& path, std::int64_t from, std::int64_t to) {
  std::vector<double> samples(40, 1.0);
  measurement like = synthetic::timed(synthetic::conv, "a", 0, "hot", samples);
  like.name.clear();
  synthetic::random dice{static_cast<std::uint64_t>(to)};
  const auto graphs = make_models(to);
  rs::store s(path, rs::access::write);
  std::int64_t added = 0;
  duration all;
  for (int system = 0; system < systems; ++system)
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      run header = synthetic::empty_run();
      header.provenance["machine"]["cpu"] = "Test CPU " + std::to_string(system);
      header.provenance["measuring"]["date"] = "2024-01-0" + std::to_string(repetition + 1);
      header.graphs = graphs;
      const std::int64_t id = s.begin_run(header);
      std::vector<measurement> batch;
      for (std::int64_t i = from; i < to; ++i) {
        const std::string name = layer_name(i);
        append(batch, name.substr(name.find('/') + 1), like, repetition == 1, dice);
        if (batch.size() < 50'000 && i + 1 < to) continue;
        const duration d = duration_of([&] { s.add(id, batch); });
        all.seconds += d.seconds;
        all.busy_seconds += d.busy_seconds;
        added += std::ssize(batch);
        batch.clear();
      }
    }
  std::printf("%10.0f %13.0f", static_cast<double>(added) / all.seconds,
              static_cast<double>(added) / all.busy_seconds);
}

void ask(const std::string& path, std::int64_t layers) {
  const auto graphs = make_models(layers);
  const auto all = benanza::model::unique_layers(graphs);
  std::size_t lacking = 0, read = 0;
  const duration missing = duration_of([&] {
    const rs::store s(path, rs::access::read);
    lacking = rs::missing(s, rs::choose_system(s, "1"), all.layers, graphs).names.size();
  });
  const duration reading = duration_of(
      [&] { read = rs::read_store(path, {.system = "1", .model = "model7"}).measurements.size(); });
  std::printf("  %7.1f ms (%zu of %zu)  %7.1f ms (%zu)  %8.1f MB\n", missing.seconds * 1e3, lacking,
              all.layers.size(), reading.seconds * 1e3, read,
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  std::fflush(stdout);
}

} // namespace

int main(int count, char** values) {
  try {
    if (count < 2 || std::filesystem::exists(values[1]))
      throw benanza::error("give a file that is not there, and sizes if you like");
    std::vector<std::int64_t> sizes;
    for (int i = 2; i < count; ++i)
      sizes.push_back(std::stoll(values[i]));
    if (sizes.empty()) sizes = {10'000, 100'000, 1'000'000, 10'000'000};
    std::printf("    results   added/s  a busy second   missing for 30 models   one model's cases"
                "     file\n");
    std::int64_t layers = 0;
    for (const std::int64_t size : sizes) {
      const std::int64_t more = std::max(layers + 1, size / (systems * threads * results));
      std::printf("%11lld", static_cast<long long>(more * systems * threads * results));
      grow(values[1], layers, more);
      layers = more;
      ask(values[1], layers);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "benanza_store_scale: %s\n", e.what());
    return 2;
  }
  return 0;
}
