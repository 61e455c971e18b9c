// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/recurrent.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr recurrent tagger{.cell = cell_kind::lstm,
                           .steps = 16,
                           .batch = 2,
                           .inputs = 100,
                           .hidden = 128,
                           .way = direction::bidirectional,
                           .bias = true,
                           .wanted = 3};
constexpr recurrent changed(recurrent p, auto change) {
  change(p);
  return p;
}
} // namespace

TEST_CASE("recurrent: dims of operands and results") {
  CHECK_TWICE(tagger.output() == shape{16, 2, 2, 128});
  CHECK_TWICE(tagger.state() == shape{2, 2, 128});
  CHECK_TWICE(tagger.input_weights() == shape{2, 512, 100});
  CHECK_TWICE(tagger.biases() == shape{2, 1024});
  CHECK(tagger.results().size == 3);
  const recurrent turned = changed(tagger, [](recurrent& p) { p.batch_first = true; });
  CHECK(turned.input() == shape{2, 16, 100});
  CHECK(turned.output() == shape{2, 16, 2, 128});
  CHECK(turned.state() == shape{2, 2, 128});
}

TEST_CASE("recurrent: both products of every step are counted") {
  CHECK_TWICE(tagger.cost().macs == 16 * 2 * 2 * 4 * 128 * (100 + 128));
  CHECK_TWICE(tagger.cost().weights == 2 * 4 * 128 * (100 + 128));
  CHECK(tagger.cost().vectors == 2 * 8 * 128);
}

TEST_CASE("recurrent: activations that are the cell's own are not in the key") {
  CHECK(write_key(tagger) == "16x2x100-h128-bidirectional-b-n3");
  const auto with = [](const list<6>& functions) {
    return changed(tagger, [&](recurrent& p) { p.activations = functions; });
  };
  CHECK(with({2, 1, 1, 2, 1, 1}).canonical_form() == tagger);
  CHECK(write_key(with({2, 1, 0, 2, 1, 1}).canonical_form()) ==
        "16x2x100-h128-bidirectional-b-n3-f2x1x0x2x1x1");
  CHECK(with({2, 1, 0, 2, 1, 1}).function(0, 2) == unary_function::relu);
}

TEST_CASE("recurrent: what is refused") {
  const auto refused = [](auto change) {
    return test::refusal_of([&] { changed(tagger, change).validate(); });
  };
  CHECK(refused([](recurrent& p) { p.steps = 0; }).find("2^40") != std::string::npos);
  CHECK(refused([](recurrent& p) { p.cell = cell_kind::gru; }).find("its last state") !=
        std::string::npos);
  CHECK(refused([](recurrent& p) { p.reset_after = true; }).find("reset gate") !=
        std::string::npos);
  CHECK(refused([](recurrent& p) { p.activations = {2, 1}; }).find("too few") != std::string::npos);
  CHECK(refused([](recurrent& p) { p.hidden = p.steps = dim_limit; }).find("2^56") !=
        std::string::npos);
}
