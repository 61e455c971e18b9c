// SPDX-License-Identifier: Apache-2.0
// Which kernels does an algorithm run on its device, and what does the device count meanwhile? In a
// process of its own, in which nothing is timed: a profiler is attached to it from the first look
// on. Each algorithm is made ready, run, and freed; what cannot be seen says why, and what is not
// counted costs no names.
//
//   nlohmann::json answer = look_at_kernels(group, true);
//   // {"kernels": [{"case": "...", "seen": [{"name": "ampere_sgemm_128x64_nn", ...}],
//   //               "counted": {"tensor_pipe_percent": 0.0, "active_cycles": 31000, ...}},
//   //              {"case": "...", "why": "...", "process_lost": true}]}
#pragma once

#include "../../result/json.hpp"
#include "../process/stage.hpp"
#include "../subjects/subject.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <new>
#include <vector>

namespace benanza::measure {

/// Adds what the device counts, or why it does not.
inline void count(backend::device_control& device, nlohmann::json& one) {
  try {
    const device_counters c = device.counters();
    if (!c.counted()) throw error("no counters of the device are known");
    one["counted"] = {{"tensor_pipe_percent", c.tensor_pipe_percent},
                      {"dram_read_bytes", c.dram_read_bytes},
                      {"dram_written_bytes", c.dram_written_bytes},
                      {"active_cycles", c.active_cycles}};
  } catch (const backend::device_lost& e) {
    one["uncounted"] = e.what();
    one["process_lost"] = true;
  } catch (const std::exception& e) {
    one["uncounted"] = e.what();
  }
}

/// The kernels of each case of `g`, of which every algorithm has one; and its counters, if asked.
inline nlohmann::json look_at_kernels(const group& g, bool counting) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < g.cases.size(); ++i) {
    const bench_case& c = g.cases[i];
    note_stage(stage::preparing, static_cast<int>(i));
    nlohmann::json one{{"case", c.name}};
    try {
      const auto made = g.what->unchecked(c);
      backend::device_control* const device = made->own_device();
      if (device == nullptr) throw error("it runs on no device");
      const std::vector<device_kernel> seen = device->kernels();
      if (seen.empty()) throw error("the profiler saw no kernel");
      one["seen"] = result::to_json(seen);
      if (counting) count(*device, one);
    } catch (const backend::no_profiler& e) {
      one["why"] = e.what();
      one["for_all"] = true;
    } catch (const backend::device_lost& e) {
      one["why"] = e.what();
      one["process_lost"] = true;
    } catch (const std::bad_alloc&) {
      one["why"] = "out of memory";
      one["process_lost"] = true;
    } catch (const std::exception& e) {
      one["why"] = e.what();
    }
    all.push_back(std::move(one));
    if (all.back().contains("for_all") || all.back().contains("process_lost")) break;
  }
  g.what->end();
  return {{"kernels", std::move(all)}};
}

/// The answer to a worker's question of that name.
inline nlohmann::json answer_kernels(const group& g, const nlohmann::json& question) {
  return look_at_kernels(g, question.value("counters", false));
}

} // namespace benanza::measure
