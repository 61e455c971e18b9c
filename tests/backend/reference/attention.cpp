// SPDX-License-Identifier: Apache-2.0
// Is attention what its definition says? By hand where weights are known, and as two matrix
// products and a softmax for every form.
#include <benanza/op/kinds.hpp>

#include "by_hand.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
/// The element of a batch, head, place in the sequence and column.
double at(const operands& o, std::size_t k, const op::attention& p, std::int64_t heads,
          std::int64_t length, std::int64_t size, std::int64_t b, std::int64_t h, std::int64_t s,
          std::int64_t d) {
  return p.sequence_major && (k == 0 || !p.cached)
             ? element(o, k, ((b * length + s) * heads + h) * size + d)
             : element(o, k, ((b * heads + h) * length + s) * size + d);
}

void check(const std::string& name) {
  CAPTURE(name);
  const op::layer l = op::parse(name);
  const auto& p = op::get<op::attention>(l);
  const operands o = make_operands(l, numeric::f32);
  const auto out = outputs(l, o);
  std::vector<double> right(out.size());
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t h = 0; h < p.heads; ++h)
      for (std::int64_t q = 0; q < p.queries; ++q) {
        const std::int64_t kv = h * p.kv_heads / p.heads;
        double all = 0;
        std::vector<double> sums(static_cast<std::size_t>(p.value_size));
        for (std::int64_t k = 0; k < p.keys; ++k) {
          const std::int64_t length =
              p.lengths ? static_cast<std::int64_t>(element(o, o.inputs.size() - 1, b)) : p.keys;
          const std::int64_t place = q + (p.lengths ? length - p.queries : p.past);
          if (k >= length || (p.causal && k > place)) continue;
          if (p.window > 0 && k <= place - p.window) continue;
          double score = 0;
          for (std::int64_t d = 0; d < p.head_size; ++d)
            score += at(o, 0, p, p.heads, p.queries, p.head_size, b, h, q, d) *
                     at(o, 1, p, p.kv_heads, p.keys, p.head_size, b, kv, k, d);
          score *= std::pow(static_cast<double>(p.head_size), -0.5);
          if (p.softcap) score = 2 * std::tanh(score / 2);
          if (!p.mask.empty()) {
            const double m = element(
                o, 3,
                ((std::min(b, p.mask[0] - 1) * p.mask[1] + std::min(h, p.mask[1] - 1)) * p.mask[2] +
                 std::min(q, p.mask[2] - 1)) *
                        p.mask[3] +
                    std::min(k, p.mask[3] - 1));
            if (p.truth_mask && m == 0) continue;
            if (!p.truth_mask) score += m;
          }
          all += std::exp(score);
          for (std::int64_t d = 0; d < p.value_size; ++d)
            sums[static_cast<std::size_t>(d)] +=
                std::exp(score) * at(o, 2, p, p.kv_heads, p.keys, p.value_size, b, kv, k, d);
        }
        for (std::int64_t d = 0; d < p.value_size; ++d) {
          const std::int64_t place = p.sequence_major ? (b * p.queries + q) * p.heads + h
                                                      : (b * p.heads + h) * p.queries + q;
          right[static_cast<std::size_t>(place * p.value_size + d)] =
              all == 0 ? 0 : sums[static_cast<std::size_t>(d)] / all;
        }
      }
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(out[i] == doctest::Approx(right[i]).epsilon(1e-9));
}
} // namespace

TEST_CASE("attention, by hand") {
  // Queries of zero weigh all keys alike; causal ones those that they see.
  const std::vector<double> zeros(4), keys = counted(4), values{1, 10, 3, 30};
  CHECK(computed("Attention/1x1x2x2", {zeros, keys, values}) == std::vector<double>{2, 20, 2, 20});
  CHECK(computed("Attention/1x1x2x2-causal", {zeros, keys, values}) ==
        std::vector<double>{1, 10, 2, 20});
  // A score of 8 / sqrt(4), and one of nothing.
  const auto out =
      computed("Attention/1x1x1x4-k2-v1", {{8, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0}, {1, 0}});
  CHECK(out[0] == doctest::Approx(std::exp(4) / (std::exp(4) + 1)));
  // A mask as large as that undoes it.
  CHECK(computed("Attention/1x1x1x4-k2-v1-mask2",
                 {{8, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0}, {1, 0}, {-4, 0}})[0] ==
        doctest::Approx(0.5));
}

TEST_CASE("heads of queries share those of keys in runs") {
  const auto out = computed("Attention/1x4x1x1-kv2", {{0, 0, 0, 0}, {0, 0}, {5, 7}});
  CHECK(out == std::vector<double>{5, 5, 7, 7});
}

TEST_CASE("every form of attention is two products and a softmax") {
  for (const char* name : {"Attention/1x2x3x4",
                           "Attention/2x3x5x4-k7-v6",
                           "Attention/2x6x3x4-kv2-k5",
                           "Attention/1x4x6x3-kv2-causal",
                           "Attention/1x2x3x4-k9-causal",
                           "Attention/1x2x7x4-k3-causal",
                           "Attention/2x4x3x2-kv2-k5-v3-bshd",
                           "Attention/1x4x5x2-causal-bshd",
                           "Attention/2x3x4x2-mask2x3x4x4",
                           "Attention/2x3x4x2-k5-mask5",
                           "Attention/2x3x4x2-mask3x1x1",
                           "Attention/2x4x4x2-kv2-causal-bshd-mask4x4",
                           "Attention/2x2x3x2-mask2x1x1x1",
                           "Attention/1x2x3x4-k9-causal-p5",
                           "Attention/1x2x4x4-k12-causal-p7-w3",
                           "Attention/2x2x3x4-k6-cap",
                           "Attention/3x2x3x4-k6-lengths",
                           "Attention/3x2x3x4-k6-causal-w2-lengths",
                           "Attention/4x2x3x4-k2-causal-lengths",
                           "Attention/2x4x3x2-kv2-k5-v3-bshd-cached",
                           "Attention/2x4x3x2-kv2-k5-v3-bshd-cached-f16",
                           "Attention/2x3x4x2-mask2x3x4x4-bool",
                           "Attention/2x3x4x2-k3-causal-lengths-mask4x1-bool"})
    check(name);
}
