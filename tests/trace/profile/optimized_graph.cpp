// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model do the operators of an optimized graph stand for?
#include <benanza/core/text.hpp>
#include <benanza/trace/profile/optimized_graph.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace benanza;
using namespace benanza::trace;

namespace {
std::vector<std::string> split_texts(std::string_view text, std::string_view at) {
  std::vector<std::string> out;
  for (const std::string_view t : split_at(text, at))
    out.emplace_back(t);
  return out;
}

/// Nodes as "type in,in > out,out", each called after its type and first result.
optimized_graph model_of(std::string_view text, std::string_view inputs = "x") {
  optimized_graph g{.inputs = split_texts(inputs, ",")};
  for (const std::string_view line : split_at(text, "; ")) {
    const auto words = split_at(line, " ");
    graph_node n{.type = std::string(words[0]),
                 .inputs = split_texts(words[1], ","),
                 .outputs = split_texts(words[3], ",")};
    n.name = n.type + '_' + n.outputs[0];
    g.nodes.push_back(std::move(n));
  }
  return g;
}

struct standing {
  std::string nodes, makes;
  bool operator==(const standing&) const = default;
};

std::string spaced(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& t : all)
    (out += out.empty() ? "" : " ") += t;
  return out;
}

std::map<std::string, standing> stands(optimized_graph g, std::vector<graph_node> operators) {
  g.operators = std::move(operators);
  std::map<std::string, standing> out;
  for (const profiled_operator& o : operators_of(g))
    out[o.name] = {spaced(o.stands_for), spaced(o.makes)};
  return out;
}
} // namespace

TEST_CASE("blocked convolutions with what joined them") {
  const auto found = stands(
      model_of("Conv x,w > c; BatchNormalization c,s > b; Conv x,v > d; Add b,d > a; Relu a > r; "
               "Conv r,u > e; HardSigmoid e > h; MaxPool h > p"),
      {{"d_nchwc", "Conv", {"x", "reorder"}, {"reorder_token_0"}, {}, ""},
       {"b_nchwc_token_7",
        "Conv",
        {"x", "k", "", "reorder_token_0"},
        {"reorder_token_1"},
        {},
        "Relu"},
       {"e_nchwc", "Conv", {"reorder_token_1", "u"}, {"reorder_token_2"}, {}, "HardSigmoid"},
       {"ReorderOutput", "ReorderOutput", {"reorder_token_2"}, {"h"}, {}, ""},
       {"MaxPool_p", "MaxPool", {"h"}, {"p"}, {}, ""}});
  CHECK(found.at("d_nchwc") == standing{"Conv_d", "d"});
  CHECK(found.at("b_nchwc_token_7") == standing{"Conv_c BatchNormalization_b Add_a Relu_r", "r"});
  CHECK(found.at("e_nchwc") == standing{"Conv_e HardSigmoid_h", "h"});
  CHECK(found.at("ReorderOutput") == standing{});
  CHECK(found.at("MaxPool_p") == standing{"MaxPool_p", "p"});
}

TEST_CASE("a sum of another tensor is not believed") {
  const auto found = stands(model_of("Conv x,w > c; Add c,y > a; Relu a > r", "x,y,z"),
                            {{"c_nchwc", "Conv", {"x", "w", "", "z"}, {"t"}, {}, ""},
                             {"Relu_r", "Relu", {"t"}, {"r"}, {}, ""}});
  CHECK(found.at("c_nchwc").makes.empty());
  CHECK(found.at("Relu_r").nodes.find("Add_a") == std::string::npos);
}

TEST_CASE("inserted forms stand for nothing") {
  const auto found =
      stands(model_of("Transpose x > t; Reshape t,s > r; MatMul r,w > m; Add m,b > a; Mul a,a > y"),
             {{"Transpose_t", "Transpose", {"x"}, {"t"}, {}, ""},
              {"new", "Reshape", {"t", "s2"}, {"flat"}, {}, ""},
              {"MatMul_m/MatMulAddFusion", "Gemm", {"flat", "w", "b"}, {"flat2"}, {}, ""},
              {"back", "Reshape", {"flat2", "s3"}, {"a"}, {}, ""},
              {"Mul_y", "Mul", {"a", "a"}, {"y"}, {}, ""}});
  CHECK(found.at("MatMul_m/MatMulAddFusion") == standing{"Reshape_r MatMul_m Add_a", "a"});
  CHECK(found.at("new") == standing{});
  CHECK(found.at("back") == standing{});
}

TEST_CASE("operators that did it together") {
  const auto found = stands(model_of("Relu x > r; LayerNormalization r,s > n; Abs n > y"),
                            {{"r", "Relu", {"x"}, {"r:0"}, {"Relu_r"}, ""},
                             {"Mean_1", "Reduce", {"r:0"}, {"m:0"}, {}, ""},
                             {"Sub_2", "Subgraph", {"r:0", "m:0"}, {"s:0"}, {}, ""},
                             {"n", "RMS", {"s:0"}, {"n:0"}, {"LayerNormalization_n"}, ""},
                             {"last", "Reorder", {"n:0"}, {"o:0"}, {}, ""},
                             {"y", "Eltwise", {"o:0"}, {"y:0"}, {"y"}, ""}});
  for (const char* together : {"Mean_1", "Sub_2", "n"})
    CHECK(found.at(together).nodes == "LayerNormalization_n");
  CHECK(found.at("last") == standing{});
  CHECK(found.at("y") == standing{"Abs_y", "y"}); // by its tensor's name
}

TEST_CASE("a node on several ways") {
  const auto found = stands(model_of("LSTM x > h,c; Squeeze h > s; Concat c,c > d; Relu s > y"),
                            {{"Seq", "RNNSeq", {"x"}, {"Seq:0", "Seq:1"}, {}, ""},
                             {"a", "Reshape", {"Seq:0"}, {"s:0"}, {"Squeeze_s"}, ""},
                             {"b", "Concatenation", {"Seq:1"}, {"d:0"}, {"Concat_d"}, ""}});
  CHECK(found.at("Seq").nodes == "LSTM_h Squeeze_s Concat_d");
  CHECK(found.at("a").nodes == "Squeeze_s");
  CHECK(found.at("b").nodes == "Concat_d");
}

TEST_CASE("merged copies and shapes have no operator") {
  const auto found = stands(model_of("Relu x > r; Exp r > e; Exp r > f; Shape e > s; "
                                     "Gather s,i > g; Mul e,f > m; Reshape m,g > y"),
                            {{"Relu_r", "Relu", {"x"}, {"r"}, {}, ""},
                             {"Exp_e", "Exp", {"r"}, {"e"}, {}, ""},
                             {"Mul_m", "Mul", {"e", "e"}, {"m"}, {}, ""},
                             {"Reshape_y", "Reshape", {"m", "k"}, {"y"}, {}, ""}});
  for (const char* name : {"Relu_r", "Exp_e", "Mul_m", "Reshape_y"})
    CHECK(found.at(name).nodes == name); // Exp_f is the copy; Shape and Gather do not run
}

TEST_CASE("names that ONNX Runtime makes of others") {
  using trace::detail::blocked_name, trace::detail::fused_name;
  CHECK(blocked_name("r1_bn_nchwc_token_12") ==
        std::pair<std::string_view, std::string_view>{"r1", "_bn"});
  CHECK(blocked_name("_nchwc") == std::pair<std::string_view, std::string_view>{"", ""});
  CHECK_FALSE(blocked_name("r1_nchwc_token_"));
  CHECK(fused_name("a/b/GeluFusion/_token_3") ==
        std::pair<std::string_view, std::string_view>{"a/b", "GeluFusion"});
  CHECK(fused_name("/Fusion") == std::pair<std::string_view, std::string_view>{"", "Fusion"});
  for (const char* none : {"", "/", "Fusion", "a/Ge-luFusion", "a/GeluFusionX"})
    CHECK_FALSE(fused_name(none));
}

TEST_CASE("any graph, also one that no framework writes, ends") {
  std::mt19937 random(5);
  const auto pick = [&](std::size_t n) { return random() % n; };
  const char* types[] = {"Conv", "Add", "Relu", "Reshape", "Shape", "", "ReorderOutput"};
  const auto tensor = [&] { return pick(9) == 0 ? std::string() : "t" + std::to_string(pick(12)); };
  const auto any = [&] {
    const char* ends[] = {"", "_nchwc", "/GeluFusion", "/QuickGeluFusion/_token_1", "_bn_nchwc"};
    graph_node n{.name = "n" + std::to_string(pick(12)) + ends[pick(5)], .type = types[pick(7)]};
    if (pick(4) == 0) n.name = tensor();
    for (std::size_t k = pick(5); k > 0; --k)
      n.inputs.push_back(tensor());
    for (std::size_t k = pick(3); k > 0; --k)
      n.outputs.push_back(tensor());
    if (pick(5) == 0) n.originals = {tensor(), "n1"};
    if (pick(5) == 0) n.activation = "Relu";
    return n;
  };
  for (int round = 0; round < 3000; ++round) {
    optimized_graph g{.inputs = {"t0", "t1"}};
    for (std::size_t k = pick(12); k > 0; --k)
      g.nodes.push_back(any());
    for (std::size_t k = pick(12); k > 0; --k)
      g.operators.push_back(any());
    const auto all = operators_of(g);
    REQUIRE(all.size() == g.operators.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK(all[i].name == g.operators[i].name);
  }
}
