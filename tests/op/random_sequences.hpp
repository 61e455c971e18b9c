// SPDX-License-Identifier: Apache-2.0
// Random layers that go through sequences step by step: recurrent ones, linear attention, n-grams.
#pragma once

#include "random_numbers.hpp"

namespace benanza::test {

/// Makes layers that may be refused: numbers that do not fit together.
class sequence_source : public random_numbers {
public:
  using random_numbers::random_numbers;

protected:
  op::recurrent make(op::recurrent) {
    op::recurrent r{.cell = any_of<op::cell_kind>(op::cell_families),
                    .steps = dim(),
                    .batch = dim(),
                    .inputs = dim(),
                    .hidden = dim(),
                    .way = any_of<op::direction>(op::direction_names)};
    for (bool* b : {&r.bias, &r.lengths, &r.initial_h, &r.clipped, &r.batch_first})
      *b = chance(30);
    if (r.lstm())
      for (bool* b : {&r.initial_c, &r.peepholes, &r.coupled})
        *b = chance(30);
    r.reset_after = r.cell == op::cell_kind::gru && chance(50);
    r.wanted = pick(1, r.lstm() ? 3 : 2);
    for (std::int64_t n = chance(30) ? r.directions() * r.functions() : 0; n > 0; --n)
      r.activations.push(pick(0, 8));
    return r;
  }
  op::linear_attention make(op::linear_attention) {
    op::linear_attention l{.batch = pick(1, 4), .steps = dim(), .key_size = dim()};
    l.kv_heads = pick(1, 8);
    l.heads = l.kv_heads * (chance(50) ? 1 : pick(2, 5));
    l.value_size = chance(50) ? l.key_size : dim();
    l.rule = any_of<op::update_rule>(op::update_names);
    l.head_decay = l.decays() && chance(50);
    l.one_rate = l.corrects() && chance(30);
    l.past = chance(50);
    if (chance(30)) l.state = dtype::f32;
    return l;
  }
  op::tf_idf make(op::tf_idf) {
    op::tf_idf t{.input = dims(1, 2), .outputs = dim(), .least = pick(1, 3)};
    t.most = t.least + pick(0, 2);
    t.skips = chance(50) ? 0 : pick(1, 9);
    for (std::int64_t n = pick(1, 4); n > 0; --n)
      t.pool.push(pick(0, 20));
    t.weigh = any_of<op::weighting>(op::weighting_names);
    if (chance(50)) t.element = dtype::s32;
    return t;
  }
  op::matmul_nbits make(op::matmul_nbits) {
    op::matmul_nbits m{.a = dims(1, 3), .n = dim(), .bits = chance(50) ? 4 : 8};
    m.block = std::int64_t{16} << pick(0, 3);
    m.zero_points = chance(50);
    m.bias = chance(50);
    if (chance(30)) m.experts = pick(1, static_cast<int>(std::min<std::int64_t>(m.rows(), 5)));
    return m;
  }
  op::matmul_ggml make(op::matmul_ggml) {
    op::matmul_ggml m{.a = dims(1, 3), .n = dim()};
    m.format = any_of<op::ggml_format>(op::ggml_names);
    m.a[m.a.size - 1] = pick(1, 3) * op::block_of(m.format).weights;
    if (chance(30)) m.experts = pick(1, static_cast<int>(std::min<std::int64_t>(m.rows(), 5)));
    return m;
  }
  op::gather_ggml make(op::gather_ggml) {
    op::gather_ggml g{.data = {dim(), 0}, .indices = dims(0, 2)};
    g.format = any_of<op::ggml_format>(op::ggml_names);
    g.data[1] = pick(1, 3) * op::block_of(g.format).weights;
    return g;
  }
};

} // namespace benanza::test
