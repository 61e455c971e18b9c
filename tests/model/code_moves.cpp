// SPDX-License-Identifier: Apache-2.0
// Layers that carry elements from codes to codes.
#include "evaluated.hpp"
#include "graph_maker.hpp"

#include <benanza/bound/fusion.hpp>
#include <benanza/model/code_moves.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace benanza;
using namespace benanza::model;
using namespace graphs;

namespace {
/// Adds conversions with a scale of their own.
struct code_maker : maker {
  int codes(const std::string& layer, int from, const std::string& scale) {
    add(layer, (from < 0 ? "i" : std::to_string(from)) + " c c");
    g.nodes.back().scale = scale;
    return last();
  }
  int plain(const std::string& layer, const std::string& operands) {
    add(layer, operands);
    return last();
  }
  int last() const { return static_cast<int>(g.nodes.size()) - 1; }
};

std::vector<std::string> layer_names(const graph& g) {
  std::vector<std::string> out;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i)
    out.push_back(name_of(g, i));
  return out;
}

/// What carries elements between codes of one scale, on codes.
graph carried(const graph& g) {
  return model::detail::code_mover(g).between().value_or(g);
}
/// And with all conversions moved that can be.
graph all_moved(const graph& g) {
  graph out = carried(g);
  while (const auto more = model::detail::code_mover(out).swapped({}))
    out = *more;
  return out;
}
/// True if the nodes of `g` are parts of those of `fused`, and come in an order that runs.
bool belongs(const graph& fused, const graph& g) {
  try {
    (void)bound::pair_up(fused, g);
    return true;
  } catch (const error&) {
    return false;
  }
}
} // namespace

TEST_CASE("what carries elements between codes of one scale carries codes") {
  code_maker m;
  m.codes("QuantizeLinear/1x16x8x8-u8", -1, "0.5+3");
  m.codes("DequantizeLinear/1x16x8x8-u8", 0, "0.5+3");
  m.plain("MaxPool/1x16x8x8-2x2-s2", "1");
  m.plain("Transpose/1x16x4x4-o0x2x3x1", "2");
  m.codes("QuantizeLinear/1x4x4x16-u8", 3, "0.5+3");
  m.codes("DequantizeLinear/1x4x4x16-u8", 4, "0.5+3");
  m.plain("Sigmoid/1x4x4x16", "5");
  const graph f = carried(m.g);
  CHECK(layer_names(f) ==
        std::vector<std::string>{"QuantizeLinear/1x16x8x8-u8", "MaxPool/1x16x8x8-2x2-s2-u8",
                                 "Transpose/1x16x4x4-o0x2x3x1-u8", "DequantizeLinear/1x4x4x16-u8",
                                 "Sigmoid/1x4x4x16"});
  CHECK(f.nodes[1].parts == std::vector{1, 2});
  CHECK(f.nodes[2].parts == std::vector{3, 4});
  CHECK(belongs(f, m.g));

  // Another scale, or one that is not known, behind them, and no product that takes in a
  // conversion.
  for (const char* other : {"0.5", ""}) {
    m.g.nodes[4].scale = other;
    CHECK(layer_names(with_codes(m.g)) == layer_names(m.g));
    const graph apart = all_moved(m.g);
    CHECK(layer_names(apart)[2] == "DequantizeLinear/1x16x4x4-u8"); // behind the maxima
    CHECK(layer_names(apart)[3] == "QuantizeLinear/1x16x4x4-u8");   // in front of the Transpose
    CHECK(layer_names(apart)[4] == "Transpose/1x16x4x4-o0x2x3x1-u8");
  }
  // The caller wants the real numbers.
  m.g.nodes[4].scale = "0.5+3";
  m.g.nodes[2].given = true;
  CHECK(layer_names(with_codes(m.g)) == layer_names(m.g));
}

TEST_CASE("a global maximum, parts of a Split, and a Concat of two") {
  code_maker m;
  m.codes("QuantizeLinear/1x6x8x8-s8", -1, "2");
  m.codes("DequantizeLinear/1x6x8x8-s8", 0, "2");
  m.plain("GlobalMaxPool/1x6x8x8", "1");
  m.codes("QuantizeLinear/1x6x1x1-s8", 2, "2");
  m.plain("Split/1x6x8x8-a1-n2", "1");
  m.g.nodes.push_back(m.g.nodes[3]); // codes of the second part
  m.g.nodes.back().operands = {{4, 1}, {constant}, {constant}};
  m.g.nodes.back().inputs = {4};
  m.g.layers.push_back(op::parse("QuantizeLinear/1x3x8x8-s8"));
  m.g.nodes.back().layer = static_cast<int>(m.g.layers.size()) - 1;
  m.codes("DequantizeLinear/1x3x8x8-s8", 5, "2");
  m.plain("Concat/1x6x8x8-a1-n2", "6 6");
  m.codes("QuantizeLinear/1x6x8x8-s8", 7, "2");
  m.g.nodes.back().given = true;
  const graph f = carried(m.g);
  CHECK(layer_names(f) ==
        std::vector<std::string>{"QuantizeLinear/1x6x8x8-s8", "MaxPool/1x6x8x8-8x8-s1-s8",
                                 "Split/1x6x8x8-a1-n2-s8", "Concat/1x6x8x8-a1-n2-s8"});
  CHECK(write_operands(f.nodes[3].operands) == "2.1 2.1");
  CHECK(f.nodes[3].given);
  CHECK(belongs(f, m.g));
}

TEST_CASE("codes that are turned back and quantised alike are themselves") {
  code_maker m;
  m.codes("QuantizeLinear/4x5-u8", -1, "0.5");
  m.codes("DequantizeLinear/4x5-u8", 0, "0.5");
  m.codes("QuantizeLinear/4x5-u8", 1, "0.5");
  m.g.nodes.back().given = true;
  const graph f = carried(m.g);
  CHECK(layer_names(f) == std::vector<std::string>{"QuantizeLinear/4x5-u8", "Identity/4x5-u8"});
  CHECK(belongs(f, m.g));
}

TEST_CASE("a conversion moves to the side of a product") {
  code_maker m;
  m.codes("QuantizeLinear/1x8x4x4-u8", -1, "0.5");
  m.codes("DequantizeLinear/1x8x4x4-u8", 0, "0.5");
  m.plain("Conv/1x8x4x4-6x1x1-s1", "1 c");
  m.g.nodes[2].operands[1].codes = dtype::s8;
  m.plain("MaxPool/1x6x4x4-2x2-s2", "2");
  m.codes("QuantizeLinear/1x6x2x2-u8", 3, "4");
  m.codes("DequantizeLinear/1x6x2x2-u8", 4, "4");
  m.plain("Transpose/1x6x2x2-o0x2x3x1", "5");
  m.plain("MatMul/1x2x2x6-6x5-w", "6 c");
  m.g.nodes[7].operands[1].codes = dtype::s8;
  const graph f = fused(m.g);
  CHECK(layer_names(f) == std::vector<std::string>{
                              "QuantizeLinear/1x8x4x4-u8", "QLinearConv/1x8x4x4-6x1x1-s1-u8s8u8-pc",
                              "MaxPool/1x6x4x4-2x2-s2-u8", "Transpose/1x6x2x2-o0x2x3x1-u8",
                              "QLinearMatMul/1x2x2x6-6x5-w-u8s8real-pc"});
  CHECK(belongs(f, m.g));
}

TEST_CASE("random chains compute the same on codes") {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int changed = 0, smaller = 0;
  for (int round = 0; round < 400; ++round) {
    code_maker m;
    const std::string scales[] = {"0.03125+100", "0.0625+128"};
    const std::string dims = "1x4x4x4", of_dims = '/' + dims;
    int x = m.codes("QuantizeLinear" + of_dims + "-u8-z", -1, scales[0]);
    std::vector<int> real{m.codes("DequantizeLinear" + of_dims + "-u8-z", x, scales[0])};
    for (int k = 0; k < 10; ++k) {
      const std::string from =
          std::to_string(real[static_cast<std::size_t>(pick(static_cast<int>(real.size())))]);
      switch (pick(7)) {
      case 0: real.push_back(m.plain("Transpose" + of_dims + "-o0x2x3x1", from)); break;
      case 1: real.push_back(m.plain("MaxPool" + of_dims + "-3x3-s1-p1", from)); break;
      case 2: real.push_back(m.plain("Relu" + of_dims, from)); break;
      case 4:
        real.push_back(m.plain("Conv" + of_dims + "-4x1x1-s1", from + " c"));
        m.g.nodes.back().operands[1].codes = dtype::s8;
        break;
      case 3: {
        const std::string other = std::to_string(real.back());
        const int both = m.plain("Concat/1x8x4x4-a1-n2", from + ' ' + other);
        real.push_back(m.plain("Slice/1x8x4x4-" + dims + "-from0x2x0x0", std::to_string(both)));
        break;
      }
      default: {
        const std::string& scale = scales[pick(3) == 0];
        x = m.codes("QuantizeLinear" + of_dims + "-u8-z", std::stoi(from), scale);
        real.push_back(m.codes("DequantizeLinear" + of_dims + "-u8-z", x, scale));
      }
      }
      if (pick(8) == 0) m.g.nodes.back().given = true;
    }
    m.g.nodes.back().given = true;
    const graph f = all_moved(m.g), taken = with_codes(m.g);
    CHECK(belongs(taken, m.g));
    changed += f.nodes.size() != m.g.nodes.size();
    smaller += taken.nodes.size() < m.g.nodes.size();
    auto before = evaluated::results(m.g), after = evaluated::results(f);
    REQUIRE(before.size() == after.size());
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK(evaluated::close(before[i], after[i]));
  }
  CHECK(changed > 50);
  CHECK(smaller > 100);
}
