// SPDX-License-Identifier: Apache-2.0
// Does a store that many programs write at once lose or double anything, and how fast is it? Starts
// writers, each of which adds its part of the results, prints how many a second all of them added,
// counts what is there, and times what is asked of a store. Status 1 if something is lost or there
// twice. What happens to a server meanwhile is up to who starts this.
//
//   benanza_store_writers postgresql://db/results 20 1000000     // or a file that is not there
#include "../result/store/child.hpp"
#include "../result/synthetic.hpp"

#include <benanza/core/stopwatch.hpp>
#include <benanza/result/store/missing.hpp>
#include <benanza/result/store/reader.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

namespace rs = benanza::result::store;
using benanza::result::measurement;
using benanza::result::run;

constexpr int batch_size = 100, layers = 5000;

std::string layer_of(std::int64_t i) {
  return "Conv/1x" + std::to_string(8 * (1 + i % 100)) + "x" + std::to_string(7 + i / 100 % 50) +
         "x14-64x3x3-s1-p1";
}

/// The results from `first` on: 24 of a layer, one after the other.
std::vector<measurement> batch(std::int64_t first, std::int64_t n, const measurement& like) {
  std::vector<measurement> out(static_cast<std::size_t>(n), like);
  for (std::int64_t i = 0; i < n; ++i) {
    measurement& m = out[static_cast<std::size_t>(i)];
    const std::string layer = layer_of((first + i) / 24 % layers);
    m.key = layer.substr(layer.find('/') + 1);
    m.algorithm = "algorithm" + std::to_string((first + i) % 12) + ":avx512_core";
    m.state = (first + i) % 24 < 12 ? "hot" : "coldw";
    m.count = first + i;
    for (double& ns : m.samples_ns)
      ns = 20'000 + static_cast<double>((first + i) % 9973);
    m.min_ns = 0;
    benanza::result::recompute(m);
    m.count = first + i; // the tests' number
  }
  return out;
}

int write(const std::string& place, int writer, std::int64_t first, std::int64_t last) {
  const measurement like =
      synthetic::timed(synthetic::conv, "a", 0, "hot", std::vector<double>(40, 1.0));
  rs::store s(place, rs::access::write);
  run header = synthetic::small_run();
  header.provenance["measuring"]["date"] = "2026-01-02T" + std::to_string(writer);
  const std::int64_t id = s.begin_run(header);
  for (; first < last; first += batch_size)
    s.add(id, batch(first, std::min<std::int64_t>(batch_size, last - first), like));
  return 0;
}

int work(const std::string& place, int writers, std::int64_t results) {
  { // It is made once, before the clock runs.
    const rs::store made(place, rs::access::write);
  }
  const benanza::stopwatch watch;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w)
    children.push_back(benanza::test::start_child(
        [&] { return write(place, w, results * w / writers, results * (w + 1) / writers); }));
  int failed = 0;
  for (const pid_t child : children)
    failed += benanza::test::end_of(child) != 0;
  const double seconds = watch.seconds();
  std::printf("%d writers, %d failed: %lld results in %.1f s, %.0f/s\n", writers, failed,
              static_cast<long long>(results), seconds, static_cast<double>(results) / seconds);
  std::fflush(stdout);

  const benanza::stopwatch reading;
  const rs::store s(place, rs::access::read);
  std::vector<unsigned char> times(static_cast<std::size_t>(results));
  std::int64_t strange = 0;
  for (const rs::known_system& k : s.systems())
    s.rows().of_system(k.id, [&](rs::stored&& row) {
      if (row.what.count >= 0 && row.what.count < results && row.what.error.empty())
        ++times[static_cast<std::size_t>(row.what.count)];
      else
        ++strange;
    });
  std::int64_t lost = 0, doubled = 0;
  for (const unsigned char n : times) {
    lost += n == 0;
    doubled += n > 1;
  }
  std::printf("read in %.1f s: %lld lost, %lld twice, %lld damaged\n", reading.seconds(),
              static_cast<long long>(lost), static_cast<long long>(doubled),
              static_cast<long long>(strange));

  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i)
    names.push_back(layer_of(i * 83 % layers));
  names.push_back("Relu/1x64");
  const std::vector<benanza::model::graph> graphs = {
      synthetic::make_graph("asked@batch=1", names, std::vector<std::vector<int>>(names.size()))};
  const auto all = benanza::model::unique_layers(graphs);
  const benanza::stopwatch asking;
  const std::size_t lacking = rs::missing(s, 1, all.layers, graphs).names.size();
  std::printf("what a model of 60 layers lacks: %.1f ms (%zu)\n", asking.seconds() * 1e3, lacking);
  const benanza::stopwatch of_one;
  std::size_t rows = 0;
  for (const std::string& name : names)
    if (const auto id = s.find_layer("Conv", name.substr(name.find('/') + 1)))
      s.rows().of_layer(1, *id, [&](rs::stored&&) { ++rows; });
  std::printf("its results: %.1f ms (%zu)\n", of_one.seconds() * 1e3, rows);
  return failed == 0 && lost == 0 && doubled == 0 && strange == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** values) {
  try {
    if (count != 4) throw benanza::error("give a store, the number of writers and of results");
    return work(values[1], std::stoi(values[2]), std::stoll(values[3]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "benanza_store_writers: %s\n", e.what());
    return 2;
  }
}
