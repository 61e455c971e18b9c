// SPDX-License-Identifier: Apache-2.0
// Are rewritten graphs equivalent, and do they compute less?
#include "evaluated.hpp"
#include "graph_maker.hpp"

#include <benanza/model/rewrite/rewrite.hpp>
#include <benanza/model/rewrites.hpp>

#include <random>

using namespace benanza;
using namespace benanza::model;

using graphs::maker;
using graphs::name_of;

namespace {
std::vector<std::string> names(const graph& g) {
  std::vector<std::string> out;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i)
    out.push_back(name_of(g, i) + ' ' +
                  write_operands(g.nodes[static_cast<std::size_t>(i)].operands));
  return out;
}
using rows = std::vector<std::string>;

/// The end of a stage of a ResNet, version 1, and the unit behind it.
maker stage() {
  maker m;
  m.add("Relu/1x4x8x8", "i").add("Conv/1x4x8x8-2x3x3-s1-p1", "0 c");             // 0 1
  m.add("BatchNormalization/1x2x8x8", "1 c c c c").add("Relu/1x2x8x8", "2");     // 2 3
  m.add("Conv/1x2x8x8-4x1x1-s1-b", "3 c c").add("Add/1x4x8x8", "4 0");           // 4 5
  m.add("Relu/1x4x8x8", "5");                                                    // 6
  m.add("Conv/1x4x8x8-2x1x1-s2-b", "6 c c").add("Conv/1x4x8x8-2x1x1-s2", "6 c"); // 7 8
  m.add("Add/1x2x4x4", "7 8");                                                   // 9
  m.g.nodes.back().given = true;
  m.g.name = "stage";
  return m;
}

void check_equivalent(const graph& g, const graph& r) {
  const auto right = evaluated::results(g), got = evaluated::results(r);
  REQUIRE(got.size() == right.size());
  for (const evaluated::values& v : right)
    CHECK(std::any_of(got.begin(), got.end(),
                      [&v](const auto& its) { return evaluated::close(v, its); }));
}
} // namespace

TEST_CASE("strides move back through a residual block into its 3x3 convolution") {
  const graph g = stage().g;
  const auto r = rewritten_form(g);
  REQUIRE(r);
  CHECK(names(*r) == rows{"Relu/1x4x8x8 i", "Conv/1x4x8x8-2x3x3-s2-p1 0 c",
                          "BatchNormalization/1x2x4x4 1 c c c c", "Relu/1x2x4x4 2",
                          "Conv/1x2x4x4-4x1x1-s1-b 3 c c", "MaxPool/1x4x8x8-1x1-s2 0",
                          "Add/1x4x4x4 4 5", "Relu/1x4x4x4 6", "Conv/1x4x4x4-2x1x1-s1-b 7 c c",
                          "Conv/1x4x4x4-2x1x1-s1 7 c", "Add/1x2x4x4 8 9"});
  CHECK(r->name == "stage,rewritten");
  CHECK(r->original == "stage");
  CHECK(r->unfused.empty());
  CHECK(is_form(*r));
  REQUIRE(r->rewrites.size() == 2); // one step for each convolution that takes the stride
  const std::vector<rewrite> all = by_rule(r->rewrites);
  REQUIRE(all.size() == 1);
  CHECK(all[0].rule == strides_rule);
  CHECK(all[0].nodes == std::vector{1, 4});
  CHECK(all[0].flops == work_of(g).flops - work_of(*r).flops);
  CHECK(all[0].bytes == work_of(g).bytes - work_of(*r).bytes);
  check_equivalent(g, *r);
  // Its fused form is that of a graph like any other.
  const graph f = graphs::fused(*r);
  CHECK(f.unfused == "stage,rewritten");
  CHECK(f.original == "stage");
  CHECK(read_rewrites(write_rewrites(r->rewrites)) == r->rewrites);
  CHECK(!read_rewrites("a;b"));
  const std::vector<rewrite> more{
      {.rule = "r", .nodes = {1}, .flops = 2'000'000, .bytes = -1'000'000}};
  CHECK(read_rewrites(write_rewrites(more)) == more);
  CHECK(savings_text(more[0], 1'000'000'000) == "saves 0.002 of 1 GFLOP, moves 1 MB more");
  CHECK(savings_text({.flops = 757'000'000, .bytes = 37'200'000}) ==
        "saves 0.757 GFLOP and 37.2 MB");
}

TEST_CASE("strides stay where somebody reads all points, or nothing would be saved") {
  const auto stays = [](const maker& m) { CHECK(!rewritten_form(m.g)); };
  maker other = stage();
  other.add("Sigmoid/1x4x8x8", "6");
  stays(other);
  maker given = stage();
  given.g.nodes[6].given = true;
  stays(given);
  maker three; // another stride, and a kernel of three
  three.add("Conv/1x4x9x9-4x3x3-s1-p1", "i c").add("Conv/1x4x9x9-4x1x1-s2", "0 c");
  three.add("Conv/1x4x9x9-4x1x1-s3", "0 c");
  stays(three);
  maker wide;
  wide.add("Conv/1x4x9x9-4x3x3-s1-p1", "i c").add("Conv/1x4x9x9-4x3x3-s2-p1", "0 c");
  stays(wide);
  maker input;
  input.add("Relu/1x4x8x8", "i").add("Conv/1x4x8x8-4x1x1-s2", "0 c");
  stays(input);
  maker row; // differs from column to column
  row.add("Conv/1x4x8x8-4x3x3-s1-p1", "i c").add("Add/1x4x8x8-1x4x1x8", "0 c");
  row.add("Conv/1x4x8x8-4x1x1-s2", "1 c");
  stays(row);
  maker whole; // a constant for each point
  whole.add("Conv/1x4x8x8-4x3x3-s1-p1", "i c").add("Add/1x4x8x8", "0 c");
  whole.add("Conv/1x4x8x8-4x1x1-s2", "1 c");
  stays(whole);
  maker unknown = stage();
  unknown.g.nodes[0].layer = no_layer;
  stays(unknown);
  maker places;
  places.add("MaxPool/1x4x8x8-3x3-s1-p1-indices", "i").add("Conv/1x4x8x8-4x1x1-s2", "0 c");
  stays(places);
}

TEST_CASE("strides multiply, and a pool that only picks is dropped") {
  maker m;
  m.add("Conv/1x4x17x17-4x3x3-s2-p1", "i c").add("Mul/1x4x9x9-4x1x1", "0 c");
  m.add("MaxPool/1x4x9x9-1x1-s2", "1").add("Sigmoid/1x4x5x5", "2");
  m.g.nodes.back().given = true;
  const auto r = rewritten_form(m.g);
  REQUIRE(r);
  CHECK(names(*r) ==
        rows{"Conv/1x4x17x17-4x3x3-s4-p1 i c", "Mul/1x4x5x5-4x1x1 0 c", "Sigmoid/1x4x5x5 1"});
  check_equivalent(m.g, *r);
}

TEST_CASE("an average comes before the 1x1 convolution that it is of") {
  maker m; // between two blocks of a DenseNet
  m.add("Relu/1x8x6x6", "i").add("Conv/1x8x6x6-4x1x1-s1-b", "0 c c");
  m.add("BatchNormalization/1x4x6x6", "1 c c c c").add("AveragePool/1x4x6x6-2x2-s2", "2");
  m.g.nodes.back().given = true;
  const auto r = rewritten_form(m.g);
  REQUIRE(r);
  CHECK(names(*r) == rows{"Relu/1x8x6x6 i", "AveragePool/1x8x6x6-2x2-s2 0",
                          "Conv/1x8x3x3-4x1x1-s1-b 1 c c", "BatchNormalization/1x4x3x3 2 c c c c"});
  CHECK(r->nodes.back().given);
  check_equivalent(m.g, *r);
  // Not behind what is not linear, nor where pads count, nor where the channels are many more.
  for (const auto& [conv, pool] :
       {std::pair{"Conv/1x8x6x6-4x3x3-s1-p1", "AveragePool/1x4x6x6-2x2-s2"},
        std::pair{"Conv/1x8x6x6-4x1x1-s1-b", "AveragePool/1x4x6x6-3x3-s2-p1-ip"},
        std::pair{"Conv/1x8x6x6-4x1x1-s1", "MaxPool/1x4x6x6-2x2-s2"},
        std::pair{"Conv/1x64x6x6-1x1x1-s1", "AveragePool/1x1x6x6-3x3-s1-p1"}}) {
    maker other;
    other.add(conv, "i c").add(pool, "0");
    const std::string layer = conv; // what a message takes
    CHECK_MESSAGE(!rewritten_form(other.g), layer);
  }
}

TEST_CASE("of a transformer's last layer only the row is computed that is read") {
  maker m;
  m.add("Relu/1x5x4", "i").add("MatMul/1x5x4-4x4-w", "0 c").add("Add/4-1x5x4", "c 1"); // 0 1 2
  m.add("Add/1x5x4", "0 2").add("LayerNormalization/1x5x4-a2-b", "3 c c");             // 3 4
  m.add("MatMul/1x5x4-4x8-w", "4 c").add("Gelu/1x5x8", "5").add("MatMul/1x5x8-8x4-w", "6 c");
  m.add("Add/1x5x4", "3 7").add("ReduceMean/1x5x4-a2", "8").add("Sub/1x5x4-1x5x1", "8 9");
  m.add("Gather/1x5x4-scalar-a1", "10 c").add("Gemm/1x3x4-tb-w", "11 c");
  m.g.nodes.back().given = true;
  const auto r = rewritten_form(m.g);
  REQUIRE(r);
  CHECK(names(*r) == rows{"Gather/1x5x4-1-a1 i c", "Relu/1x1x4 0", "MatMul/1x1x4-4x4-w 1 c",
                          "Add/4-1x1x4 c 2", "Add/1x1x4 1 3", "LayerNormalization/1x1x4-a2-b 4 c c",
                          "MatMul/1x1x4-4x8-w 5 c", "Gelu/1x1x8 6", "MatMul/1x1x8-8x4-w 7 c",
                          "Add/1x1x4 4 8", "ReduceMean/1x1x4-a2 9", "Sub/1x1x4-1x1x1 9 10",
                          "Gather/1x1x4-scalar-a1 11 c", "Gemm/1x3x4-tb-w 12 c"});
  CHECK(r->rewrites.size() == 1);
  CHECK(r->rewrites[0].nodes == std::vector{2, 6, 8});
  check_equivalent(m.g, *r);
  // Not where another reads all rows, along the axis of a product, or by places that are computed.
  for (const char* gather : {"Gather/1x5x4-scalar-a2", "Gather/1x5x4-2-a1"}) {
    maker other;
    other.add("MatMul/1x5x4-4x4-w", "i c").add(gather, "0 c");
    CHECK_MESSAGE(!rewritten_form(other.g), gather);
  }
  maker computed;
  computed.add("MatMul/1x5x4-4x4-w", "i c").add("Gather/1x5x4-scalar-a1", "0 i");
  CHECK(!rewritten_form(computed.g));
  maker all;
  all.add("MatMul/1x5x4-4x4-w", "i c").add("Gather/1x5x4-scalar-a1", "0 c").add("Relu/1x5x4", "0");
  CHECK(!rewritten_form(all.g));
}

TEST_CASE("upsampling and the convolution behind it become one transposed convolution") {
  maker m;
  m.add("Relu/1x4x5x6", "i").add("Resize/1x4x5x6-1x4x10x18-asymmetric", "0 c");
  m.add("Conv/1x4x10x18-3x3x3-s1-p1-b", "1 c c").add("Sigmoid/1x3x10x18", "2");
  m.g.nodes.back().given = true;
  const auto r = rewritten_form(m.g);
  REQUIRE(r);
  CHECK(names(*r) == rows{"Relu/1x4x5x6 i", "ConvTranspose/1x4x5x6-3x4x5-s2x3-p1-b 0 c c",
                          "Sigmoid/1x3x10x18 1"});
  CHECK(r->nodes[1].op == "ConvTranspose");
  REQUIRE(r->rewrites.size() == 1);
  CHECK(r->rewrites[0].nodes == std::vector{1});
  check_equivalent(m.g, *r);
  // Others that read the points still find them.
  maker shared = m;
  shared.add("Sigmoid/1x4x10x18", "1");
  shared.g.nodes.back().given = true;
  const auto both = rewritten_form(shared.g);
  REQUIRE(both);
  CHECK(names(*both)[1] == "Resize/1x4x5x6-1x4x10x18-asymmetric 0 c");
  check_equivalent(shared.g, *both);
  // Pads of each side for itself, and a kernel without any.
  for (const char* conv : {"Conv/1x4x10x12-3x3x3-s1", "Conv/1x4x10x12-3x2x3-s1-p1x0x0x2",
                           "Conv/1x4x10x12-3x5x5-s1-p2-b"})
    for (const char* resize :
         {"Resize/1x4x5x6-1x4x10x12", "Resize/1x4x5x6-1x4x10x12-pytorch_half_pixel",
          "Upsample/1x4x5x4-1x4x10x12-asymmetric"}) {
      CAPTURE(conv);
      CAPTURE(resize);
      maker other;
      other.add(resize, "i c").add(conv, std::string(conv).ends_with("-b") ? "0 c c" : "0 c");
      other.g.nodes.back().given = true;
      const auto folded = rewritten_form(other.g);
      REQUIRE(folded);
      CHECK(folded->nodes.size() == 1);
      check_equivalent(other.g, *folded);
    }
  // Not where points are blended, or not all as often; nor into strides, groups or computed
  // weights.
  for (const auto& [resize, conv, operands] :
       {std::tuple{"Resize/1x4x5x6-1x4x10x12-linear", "Conv/1x4x10x12-3x3x3-s1-p1", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x13", "Conv/1x4x10x13-3x3x3-s1-p1", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12-floor", "Conv/1x4x10x12-3x3x3-s1-p1", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12-align_corners", "Conv/1x4x10x12-3x3x3-s1-p1", "0 c"},
        std::tuple{"Resize/1x2x5x6-1x4x10x12", "Conv/1x4x10x12-3x3x3-s1-p1", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12", "Conv/1x4x10x12-3x3x3-s2-p1", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12", "Conv/1x4x10x12-3x3x3-s1-p3", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12", "Conv/1x4x10x12-4x3x3-s1-p1-g4", "0 c"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12", "Conv/1x4x10x12-3x3x3-s1-p1", "0 i"},
        std::tuple{"Resize/1x4x5x6-1x4x10x12", "Conv/1x4x10x12-3x1x1-s1", "0 c"}}) {
    maker other;
    other.add(resize, "i c").add(conv, operands);
    const std::string layers = std::string(resize) + ' ' + conv; // what a message takes
    CHECK_MESSAGE(!rewritten_form(other.g), layers);
  }
}

TEST_CASE("a 1x1 convolution comes before the upsampling that is joined to another tensor") {
  for (const bool first : {true, false}) {
    maker m;
    m.add("Relu/1x4x5x6", "i").add("Sigmoid/1x4x10x12", "i");
    m.add("Resize/1x4x5x6-1x4x10x12-asymmetric", "0 c");
    m.add("Concat/1x8x10x12-a1-n2", first ? "2 1" : "1 2");
    m.add("Conv/1x8x10x12-3x1x1-s1-b", "3 c c").add("Sigmoid/1x3x10x12", "4");
    m.g.nodes.back().given = true;
    const auto r = rewritten_form(m.g);
    REQUIRE(r);
    CHECK(names(*r) == rows{"Relu/1x4x5x6 i", "Sigmoid/1x4x10x12 i", "Conv/1x4x5x6-3x1x1-s1 0 c",
                            "Resize/1x3x5x6-1x3x10x12-asymmetric 2 c",
                            "Conv/1x4x10x12-3x1x1-s1-b 1 c c", "Add/1x3x10x12 4 3",
                            "Sigmoid/1x3x10x12 5"});
    CHECK(rewritten_from(r->nodes[2].name) == m.g.nodes[4].name);
    check_equivalent(m.g, *r);
  }
  const auto stays = [](const char* resize, const char* concat, const char* conv, bool other) {
    maker m;
    m.add(resize, "i c").add(concat, "0 i").add(conv, "1 c");
    if (other) m.add("Relu/1x8x10x12", "1");
    CHECK_MESSAGE(!rewritten_form(m.g), resize << ' ' << conv);
  };
  const char *twice = "Resize/1x4x5x6-1x4x10x12", *joined = "Concat/1x8x10x12-a1-n2",
             *conv = "Conv/1x8x10x12-3x1x1-s1";
  stays("Resize/1x4x5x6-1x4x10x12-linear", joined, conv, false);
  stays(twice, joined, "Conv/1x8x10x12-3x1x1-s2", false);
  stays(twice, joined, "Conv/1x8x10x12-4x1x1-s1-g2", false);
  stays(twice, "Concat/1x4x20x12-a2-n2", "Conv/1x4x20x12-3x1x1-s1", false);
  stays(twice, joined, conv, true); // another node reads all
}

namespace {
/// Layers on the rows of a transformer, and a Gather of one of them.
graph rows_to_rewrite(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  maker m;
  m.add("Relu/1x5x4", "i");
  std::vector<int> whole{0}; // of dims 1x5x4
  for (int i = 1; i < 10; ++i) {
    const std::string at =
                          std::to_string(below(3) != 0 ? whole.back() : whole[below(whole.size())]),
                      other = std::to_string(whole[below(whole.size())]);
    bool reduced = false;
    switch (below(9)) {
    case 0: m.add("Gelu/1x5x4", at); break;
    case 1:
    case 2: m.add("MatMul/1x5x4-4x4-w", at + " c"); break;
    case 3: m.add("Mul/1x5x4-4", at + " c"); break;
    case 4: m.add("Add/1x5x4", other + ' ' + at); break;
    case 5: m.add("LayerNormalization/1x5x4-a2-b", at + " c c"); break;
    case 6: m.add("Softmax/1x5x4-a" + std::to_string(1 + below(2)), at); break;
    case 7: m.add("Sub/1x5x4-1x1x4", at + " c"); break;
    default:
      m.add("ReduceMean/1x5x4-a" + std::to_string(1 + below(2)), at);
      reduced = true;
      break;
    }
    whole.push_back(i);
    if (!reduced) continue;
    const shape dims = op::output(m.g.layers.back());
    m.add(dims[1] == 1 ? "Div/1x5x4-1x1x4" : "Div/1x5x4-1x5x1", at + ' ' + std::to_string(i));
    whole.back() = ++i;
  }
  m.add("Gather/1x5x4-scalar-a1", std::to_string(whole.back()) + " c");
  m.g.nodes.back().given = true;
  for (node& n : m.g.nodes)
    n.given = n.given || below(15) == 0;
  return m.g;
}

/// A small graph of what rules look for and of what they have to leave alone.
graph graph_to_rewrite(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  maker m;
  const std::string first =
      "1x2x" + std::to_string(7 + below(2)) + 'x' + std::to_string(7 + below(3));
  m.add("Relu/" + first, "i");
  for (int i = 1; i < 14; ++i) {
    const int from = below(3) != 0 ? i - 1 : static_cast<int>(below(static_cast<std::size_t>(i)));
    const shape dims = op::output(m.g.layers[static_cast<std::size_t>(from)]);
    std::string text;
    for (const std::int64_t d : dims)
      text += (text.empty() ? "" : "x") + std::to_string(d);
    const std::string c = std::to_string(dims[1]), at = std::to_string(from);
    const bool large = dims[2] > 2 && dims[3] > 2;
    const std::string conv = "Conv/" + text + '-' + (below(2) != 0 ? "2" : "4");
    const bool small = dims[2] * dims[3] < 50;
    switch (below(large ? 15 : 5)) {
    case 0: m.add("Sigmoid/" + text, at); break;
    case 1: m.add("BatchNormalization/" + text, at + " c c c c"); break;
    case 2: m.add("Mul/" + text + '-' + c + "x1x1", at + " c"); break;
    case 3: m.add(conv + "x1x1-s1-b", at + " c c"); break;
    case 4: {
      int other = from; // the last of the same dims, if there is another
      for (int k = 0; k < i; ++k)
        if (k != from && op::output(m.g.layers[static_cast<std::size_t>(k)]) == dims) other = k;
      m.add("Add/" + text, std::to_string(other) + ' ' + at);
      break;
    }
    case 5:
    case 6: m.add(conv + "x3x3-s1-p1", at + " c"); break;
    case 7:
    case 8: m.add(conv + "x1x1-s2", at + " c"); break;
    case 9: m.add("Conv/" + text + '-' + c + "x3x3-s2-p1-g" + c + "-b", at + " c c"); break;
    case 10: m.add("MaxPool/" + text + "-3x3-s1-p1", at); break;
    case 11: m.add("MaxPool/" + text + "-1x1-s2", at); break;
    case 12: m.add("AveragePool/" + text + "-2x2-s2", at); break;
    case 13: {
      if (!small) m.add("Sigmoid/" + text, at);
      if (!small) break;
      if (below(2) != 0) {
        const std::string wide =
            'x' + std::to_string(2 * dims[2]) + 'x' + std::to_string(2 * dims[3]);
        m.add("Resize/" + text + "-1x" + c + wide, at + " c");
        m.add("Concat/1x" + std::to_string(2 * dims[1]) + wide + "-a1-n2",
              std::to_string(i) + " i");
        m.add("Conv/1x" + std::to_string(2 * dims[1]) + wide + "-2x1x1-s1",
              std::to_string(i + 1) + " c");
        i += 2;
        break;
      }
      const std::string more =
          "1x" + c + 'x' + std::to_string(2 * dims[2]) + 'x' + std::to_string(2 * dims[3]);
      m.add("Resize/" + text + "-" + more, at + " c");
      m.add("Conv/" + more + "-2x3x3-s1-p1", std::to_string(i++) + " c");
      break;
    }
    default: m.add("AveragePool/" + text + "-3x3-s2-p1", at); break;
    }
  }
  std::vector<bool> read(m.g.nodes.size());
  for (const node& n : m.g.nodes)
    for (const int k : n.inputs)
      read[static_cast<std::size_t>(k)] = true;
  for (std::size_t i = 0; i < read.size(); ++i)
    m.g.nodes[i].given = !read[i] || below(12) == 0;
  return m.g;
}
} // namespace

TEST_CASE("property: rewritten graphs give the same results, and compute less") {
  std::mt19937 random(1);
  std::map<std::string, int> applied;
  for (int i = 0; i < 450; ++i) {
    const graph g = i % 3 == 0 ? rows_to_rewrite(random) : graph_to_rewrite(random);
    const auto r = rewritten_form(g);
    if (!r) continue;
    for (const rewrite& w : r->rewrites)
      ++applied[w.rule];
    CHECK(work_of(*r).flops < work_of(g).flops);
    CHECK(work_of(*r).bytes - work_of(g).bytes <=
          (work_of(g).flops - work_of(*r).flops) / least_flops_per_byte);
    CHECK(!rewritten_form(*r));
    check_equivalent(g, *r);
  }
  for (const rewrite_rule& rule : rewrite_rules)
    CHECK_MESSAGE(applied[std::string(rule.name)] >= 10, rule.name);
}
