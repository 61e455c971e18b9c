// SPDX-License-Identifier: Apache-2.0
// How a plan becomes a chain: memory that steps share, and plans that are refused.
#include "planned.hpp"

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("a result is not written over what its layer, or a view's reader, still reads") {
  const library_list libraries = real_libraries();
  // The convolution reads what it joins; the view outlives the first copy of what it shows.
  const model::graph g = graph_of({{"Relu/1x16x8x8", "i"},
                                   {"Conv/1x16x8x8-16x3x3-s1-p1", "0 c"},
                                   {"Identity/1x16x8x8", "0"},
                                   {"Conv+Add/1x16x8x8-16x3x3-s1-p1", "1 c 1"},
                                   {"Conv/1x16x8x8-16x1x1-s1", "3 c"},
                                   {"Conv+Add/1x16x8x8-16x3x3-s1-p1-b", "2 c c 4"}});
  const std::vector<double> expected = reference_of(g);
  for (std::size_t pick = 0; pick < 7; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    check_result(c, expected);
  }
}

TEST_CASE("a zero point that a layer computes is what the next one takes off") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Sigmoid/8x16", "i"}, // so that the zero point is 0
                                   {"DynamicQuantizeLinear/8x16", "0"},
                                   {"MatMulInteger/8x16-16x5-w-u8s8s32-za", "1 c 1.2"}});
  for (std::size_t pick = 0; pick < 7; ++pick)
    chain(plan_of(g, libraries, pick), libraries).verify();
}

TEST_CASE("numbers of the caller that become indices on their way are inside what they index") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Gather/2x200-1-a0-s64", "i i"}, // one end of each edge
                                   {"Reshape/1x200-200x1-s64", "0 c"},
                                   {"GatherND/50x32-200x1", "i 1"},
                                   {"Slice/9x1-7x1-s64", "c c c"},
                                   {"Concat/9x1-a0-n2-s64", "3 i"},
                                   {"Gather/7x32-9x1", "i 4"},
                                   {"Slice/1x5-1x1-s64", "i c c"}, // places of a rotation
                                   {"RotaryEmbedding/1x2x1x64-t16", "i c c 6"}});
  chain(plan_of(g, libraries, 0), libraries).verify();
}

TEST_CASE("operands of the caller are as many as a node takes") {
  const library_list libraries = real_libraries();
  chain c(plan_of(graph_of({{"Add/1x16x6x6-1x16x1x1", "i i"}}), libraries, 0), libraries);
  c.verify();
}

TEST_CASE("a model larger than the memory is refused before any of it is taken") {
  const library_list libraries = real_libraries();
  const auto asked = std::exchange(machine::memory_source(), [] { return std::int64_t{1} << 30; });
  const model::graph g =
      graph_of({{"Relu/1x1x1048576x1048576", "i"}, {"Sigmoid/1x1x1048576x1048576", "0"}});
  result::plan p;
  p.graph = g;
  for (int i = 0; i < 2; ++i)
    p.steps.push_back({"onednn", "jit:avx2", "plain", "plain"});
  CHECK_THROWS_WITH_AS(chain(p, libraries),
                       doctest::Contains("available (test); generate the model with a smaller"),
                       error);
  machine::memory_source() = asked;
}

TEST_CASE("activations share memory, and what is still to be read is kept") {
  const library_list libraries = real_libraries();
  std::vector<std::pair<std::string, std::string>> rows{{"Sigmoid/1x16x32x32", "i"}};
  for (int i = 1; i < 20; ++i)
    rows.emplace_back("Tanh/1x16x32x32", std::to_string(i - 1));
  rows.emplace_back("Add/1x16x32x32", "19 0");
  chain c(plan_of(graph_of(rows), libraries, 0), libraries);
  c.verify();
  CHECK(c.activation_bytes() <=
        4 * 16 * 32 * 32 * 4); // the input, the first result, two that alternate
}

TEST_CASE("plans that cannot be run say why") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Relu/1x16x6x6", "i"}, {"Sigmoid/1x16x6x6", "0"}});
  result::plan p = plan_of(g, libraries, 0);
  p.steps[1].algorithm = "nobody";
  CHECK_THROWS_WITH_AS(chain(p, libraries), doctest::Contains("does not offer \"nobody\""), error);
  p.steps[1].backend = "cudnn";
  CHECK_THROWS_WITH_AS(chain(p, libraries), doctest::Contains("no backend \"cudnn\""), error);
  const model::graph other = graph_of({{"Relu/1x16x6x6", "i"}, {"Sigmoid/1x16x7x6", "0"}});
  CHECK_THROWS_WITH_AS(chain(plan_of(other, libraries, 0), libraries),
                       doctest::Contains("1x16x6x6 f32 for 1x16x7x6 f32 (test, n1, "
                                         "Sigmoid/1x16x7x6); generate the model again"),
                       error);
  // As many elements are not enough.
  for (const char* layer : {"Sigmoid/1x6x16x6", "Softmax/36x16-a1", "Sigmoid/576"}) {
    const model::graph turned = graph_of({{"Relu/1x16x6x6", "i"}, {layer, "0"}});
    CHECK_THROWS_WITH_AS(chain(plan_of(turned, libraries, 0), libraries),
                         doctest::Contains("other dims"), error);
  }
}
