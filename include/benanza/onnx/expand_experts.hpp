// SPDX-License-Identifier: Apache-2.0
// A layer of experts with weights in codes, ONNX Runtime's QMoE: a softmax of the router's scores
// chooses some for each token, each is a product, an activation (perhaps of one half of it, which
// opens the other) and a product back, and what they give is weighted and added up. The two halves
// are two products, whose columns take turns in one operand or lie in two.
//
//   expand_experts_on_codes(p)   // TopK, Softmax, MatMulNBits x3, Swish, Mul, Mul, ReduceSum
#pragma once

#include "handle_ggml.hpp"
#include "pieces.hpp"

namespace benanza::onnx {

namespace detail {
class experts_on_codes {
public:
  explicit experts_on_codes(pieces& p)
      : p_(p)
      , c_(p.of)
      , chosen_(c_.integer("k", 1)) {
    const shape &x = c_.dims(0), &scores = c_.dims(1);
    if (x.size < 2 || scores.size != 2 || scores[0] != elements(x, 0, x.size - 1))
      throw error("its operands " + text(x) + " and " + text(scores) + " do not fit");
    if (c_.has(14)) throw error("its weights of experts are not those that choose them");
    if (c_.word("quant_type", "int") != "int") throw error("its weights are no whole codes");
    if (chosen_ < 1 || chosen_ > scores[1])
      throw error("it chooses " + std::to_string(chosen_) + " of " + std::to_string(scores[1]) +
                  " experts");
    tokens_ = scores[0];
    width_ = x.back();
  }

  void run() {
    const pieces::name shares = weighted();
    pieces::name rows = p_.reshaped(p_.in(0), {tokens_, 1, width_});
    if (chosen_ > 1) rows = p_("Expand", {rows, p_.whole({tokens_, chosen_, width_})});
    rows = p_.reshaped(rows, {1, tokens_ * chosen_, width_});
    const pieces::name back = product(activated(rows), second, 1);
    const pieces::name apart = p_.reshaped(back, {tokens_, chosen_, width_});
    const pieces::name y =
        p_("ReduceSum", {p_("Mul", {apart, shares}), p_.whole({1})}, {{"keepdims", 0}});
    p_.give(0, p_.reshaped(y, c_.dims(0)));
  }

private:
  /// Where an operand's codes are, and what is behind them: scales, a bias; and zero points.
  struct operand {
    int codes, zero_points;
  };
  static constexpr operand first{2, 11}, second{5, 12}, third{8, 13};

  pieces& p_;
  const call& c_;
  std::int64_t chosen_ = 1, tokens_ = 0, width_ = 0;

  /// What each of the chosen ones counts, tokens x chosen x 1: all add up to one, as ONNX Runtime
  /// has it on processors whatever normalize_routing_weights says.
  pieces::name weighted() {
    const pieces::name best = p_(
        "Softmax", {p_.several("TopK", {p_.in(1), p_.whole({chosen_})}, 2, {{"axis", -1}}).front()},
        {{"axis", -1}});
    return p_.reshaped(best, {tokens_, chosen_, 1});
  }

  /// A product with an operand's matrices, of whose columns `parts` products have their share.
  pieces::name product(const pieces::name& x, operand w, std::int64_t parts) {
    if (!c_.has(w.codes) || !c_.has(w.codes + 1))
      throw error("its input " + std::to_string(w.codes) + " or the next one is missing");
    const shape &codes = c_.dims(w.codes), &scales = c_.dims(w.codes + 1);
    const std::int64_t bits = c_.integer("expert_weight_bits", 4);
    if (codes.size != 3 || codes[0] != c_.dims(1)[1] || codes[1] % parts != 0 || bits < 1)
      throw error("its weights " + text(codes) + " are not of its experts");
    const std::int64_t length = checked_multiply(codes[2], 8) / bits;
    const std::int64_t block = c_.integer("block_size", length);
    const op::matmul_nbits all{
        .a = {1, length}, .n = checked_multiply(codes[0], codes[1]), .bits = bits, .block = block};
    all.validate(); // what it refuses is said of the whole, whose dims stay known
    if (elements(scales) != elements(all.scales()))
      throw error("its scales are " + text(scales) + ", not " + text(all.scales()));
    return p_("com.microsoft.MatMulNBits",
              {x, p_.in(w.codes), p_.in(w.codes + 1), p_.in(w.zero_points), "", p_.in(w.codes + 2)},
              {{"K", length},
               {"N", codes[1] / parts},
               {"bits", bits},
               {"block_size", block},
               {"chosen", chosen_},
               {"parts", parts}});
  }

  pieces::name activated(const pieces::name& x) {
    const std::string_view f = c_.word("activation_type", "relu");
    if (f == "swiglu") {
      const bool apart = c_.has(third.codes);
      if (c_.integer("swiglu_fusion", 0) == 0 && !apart)
        throw error("it has no weights of what its activation opens");
      const std::int64_t parts = apart ? 1 : 2;
      return opened(product(x, first, parts), product(x, apart ? third : first, parts));
    }
    pieces::name y = product(x, first, 1);
    if (f == "silu")
      y = p_("Swish", {y});
    else if (f == "gelu")
      y = p_("Gelu", {y}, {{"approximate", std::string_view("tanh")}});
    else if (f == "relu")
      y = p_("Relu", {y});
    else if (f != "identity")
      throw error("its activation is " + in_quotes(f));
    return c_.has(third.codes) ? p_("Mul", {y, product(x, third, 1)}) : y;
  }

  /// Both held in a range where there is one.
  pieces::name opened(pieces::name gate, pieces::name up) {
    if (c_.has_attribute("swiglu_limit")) {
      const double limit = c_.real("swiglu_limit", 0);
      gate = p_("Min", {gate, p_.number(limit)});
      up = p_("Clip", {up, p_.number(-limit), p_.number(limit)});
    }
    if (const double raised = c_.real("activation_beta", 0); raised != 0)
      up = p_("Add", {up, p_.number(raised)});
    return p_("Mul", {p_("Swish", {gate}, {{"alpha", c_.real("activation_alpha", 1)}}), up});
  }
};
} // namespace detail

inline void expand_experts_on_codes(pieces& p) {
  detail::experts_on_codes(p).run();
}

} // namespace benanza::onnx
