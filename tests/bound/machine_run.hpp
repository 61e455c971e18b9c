// SPDX-License-Identifier: Apache-2.0
// Cases of a made-up machine: one thread does 100 f32 flops a ns, caches of 32 KiB, 1 MiB and
// 32 MiB move 400, 200, 100 bytes a ns, memory 25; each sweep starts with 20 ns.
//
//   run r = synthetic::machine_run();
#pragma once

#include "result/synthetic.hpp"

#include <benanza/result/machine_key.hpp>

namespace synthetic {

/// A case of the machine with that minimum.
inline measurement machine_case(const std::string& key, double ns, std::int64_t flops,
                                std::int64_t bytes, const std::string& type = "f32",
                                int threads = 1, const std::string& algorithm = "plain") {
  measurement m;
  m.family = benanza::result::machine_family;
  m.key = key;
  m.type = m.equivalence = type;
  m.backend = "machine";
  m.algorithm = algorithm;
  m.state = "hot";
  m.threads = threads;
  m.layouts = "plain";
  m.samples_ns = samples(ns, 10);
  m.count = 10;
  m.stop_reason = "time";
  m.flops = m.algorithm_flops = flops;
  m.bytes = bytes;
  benanza::result::recompute(m);
  m.name = m.family + '/' + key + '/' + type + "/machine/" + algorithm + "/hot/t" +
           std::to_string(threads);
  return m;
}

inline constexpr double machine_alpha_ns = 20;

inline double machine_rate(double bytes) {
  return bytes <= 32768 ? 400 : bytes <= 1 << 20 ? 200 : bytes <= 32 << 20 ? 100 : 25;
}

/// Adds the cases of the made-up machine on so many threads; `faster` times as fast.
inline void add_machine(run& r, int threads = 1, double faster = 1) {
  auto& facts = r.provenance["machine"];
  facts["l1d_bytes"] = "32768";
  facts["l2_bytes"] = "1048576";
  facts["llc_bytes"] = "33554432";
  r.provenance["measuring"]["absent_ceilings"] = "copies between NUMA nodes: there is one node";
  const auto put = [&](measurement m) { r.measurements.push_back(std::move(m)); };
  put(machine_case("fma", 1e4 / faster, 1'000'000, 0, "f32", threads));
  put(machine_case("matmul", 1e6 / faster, 98'000'000, 0, "f32", threads));
  put(machine_case("fma", 1e4 / faster, 2'000'000, 0, "bf16", threads));
  for (std::int64_t n = 4096; n <= 128 << 20; n *= 2)
    for (const char* kind : {"read", "copy"}) {
      const double rate = machine_rate(static_cast<double>(n)) * (*kind == 'r' ? 1 : 0.8) * faster;
      put(machine_case(benanza::result::text({kind, n}),
                       machine_alpha_ns + static_cast<double>(n) / rate, 0, n, "f32", threads));
    }
  put(machine_case("call", 150, 16, 128, "f32", threads));
}

/// A run of that machine and nothing else.
inline run machine_run() {
  run r = empty_run();
  add_machine(r);
  return r;
}

} // namespace synthetic
