// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/linear_attention.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("linear attention: key, dims and cost") {
  constexpr linear_attention net{.batch = 1,
                                 .heads = 32,
                                 .steps = 512,
                                 .key_size = 128,
                                 .kv_heads = 16,
                                 .value_size = 64,
                                 .rule = update_rule::gated_delta,
                                 .head_decay = true,
                                 .past = true,
                                 .state = dtype::f32};
  CHECK_TWICE(write_key(net) == "1x32x512x128-kv16-v64-gated_delta-per_head-past-f32");
  CHECK_TWICE(read_key(linear_attention{}, "1x32x512x128-kv16-v64-gated_delta-per_head-past-f32") ==
              net);
  CHECK_TWICE(net.query() == shape{1, 512, 4096});
  CHECK_TWICE(net.key() == shape{1, 512, 2048});
  CHECK_TWICE(net.value() == shape{1, 512, 1024});
  CHECK_TWICE(net.decay() == shape{1, 512, 16});
  CHECK_TWICE(net.rates() == shape{1, 512, 16});
  CHECK_TWICE(net.output() == shape{1, 512, 2048});
  CHECK_TWICE(net.results()[1].dims == shape{1, 16, 128, 64});
  // Two queries read, one product changes the state and one corrects it.
  CHECK_TWICE(net.cost().macs == 512 * 16 * 128 * 64 * 4);
  CHECK_TWICE(net.cost().other == 512 * 2048 + 512 * 16 * (128 * 64 + 1) + 2 * 512 * 1024);
  CHECK_TWICE(net.cost().sources == 512 * (4096 + 2048 + 1024 + 16 + 16));
  CHECK_TWICE(net.cost().results == 512 * 2048);
  CHECK_TWICE(net.cost().fixed_bytes == 2 * 4 * 16 * 128 * 64);
  constexpr linear_attention plain{
      .batch = 2, .heads = 3, .steps = 5, .key_size = 4, .kv_heads = 3, .value_size = 4};
  CHECK_TWICE(write_key(plain) == "2x3x5x4");
  CHECK_TWICE(plain.cost().macs == 2 * 3 * 5 * 16 * 2);
  CHECK_TWICE(plain.cost().results == 2 * 5 * 12 + 2 * 3 * 16);
  CHECK(read_key(linear_attention{}, "2x3x5x4") == plain);
}

TEST_CASE("linear attention: what makes no difference, and what makes no sense") {
  const linear_attention one{.batch = 1,
                             .heads = 2,
                             .steps = 3,
                             .key_size = 1,
                             .kv_heads = 1,
                             .value_size = 1,
                             .rule = update_rule::gated_delta,
                             .head_decay = true,
                             .one_rate = true};
  CHECK(write_key(one.canonical_form()) == "1x2x3x1-kv1-gated_delta");
  const auto refused = [&](auto change) {
    linear_attention p = one;
    change(p);
    return test::refusal_of([&] { p.validate(); });
  };
  CHECK(refused([](linear_attention& p) { p.steps = 0; }).find("2^40") != std::string::npos);
  CHECK(refused([](linear_attention& p) { p.kv_heads = 3; }).find("no multiple") !=
        std::string::npos);
  CHECK(refused([](linear_attention& p) { p.rule = update_rule::gated; }).find("no rate") !=
        std::string::npos);
  CHECK(refused([](linear_attention& p) { p.rule = update_rule::delta; }).find("no decay") !=
        std::string::npos);
  CHECK(refused([](linear_attention& p) { p.state = dtype::s8; }).find("f32") != std::string::npos);
  CHECK(refused([](linear_attention& p) { p.steps = p.batch = dim_limit; }).find("2^56") !=
        std::string::npos);
}
