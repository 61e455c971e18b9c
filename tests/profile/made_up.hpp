// SPDX-License-Identifier: Apache-2.0
// A result with levels of a small model, whose figures can be checked by hand.
#pragma once

#include <benanza/profile/from_result.hpp>

#include <string>
#include <vector>

namespace test_of_profile {

using namespace benanza;

inline result::measurement level(const std::string& graph, std::string_view algorithm, double ns) {
  result::measurement m;
  m.family = "model";
  m.key = graph;
  m.type = "f32";
  m.backend = "chain";
  m.algorithm = algorithm;
  m.state = "run";
  m.name = "model/" + graph + '/' + m.algorithm;
  m.min_ns = m.median_ns = ns;
  m.count = 1;
  return m;
}

/// 10 us: first 4, a change of layout 1, second 5; with events 10.5, with those of calls 14.
inline result::run levels_run(std::int64_t batch = 1, double scale = 1) {
  result::run r;
  r.source = "made up";
  const std::string g = "net@batch=" + std::to_string(batch);
  r.measurements = {level(g, "level-model", scale * 10e3), level(g, "level-layer", scale * 10.5e3),
                    level(g, "level-call", scale * 14e3)};
  const auto parts = [scale](double first, double change, double second) {
    return std::vector<timed_part>{{"onednn/jit:avx2 first", scale * first, "Relu/1x1024"},
                                   {"reorders before second", scale * change},
                                   {"host/plain second", scale * second, "Relu/1x1024"}};
  };
  r.measurements[1].parts = parts(4e3, 1e3, 5e3);
  r.measurements[2].parts = parts(6e3, 2e3, 5.5e3);
  r.measurements[2].calls = {{0, "exec,cpu,eltwise,jit:avx2,forward,src", scale * 3.5e3},
                             {1, "exec,cpu,reorder,jit:uni,undef,src", scale * 300},
                             {1, "exec,cpu,reorder,jit:uni,undef,src", scale * 200}};
  return r;
}

} // namespace test_of_profile
