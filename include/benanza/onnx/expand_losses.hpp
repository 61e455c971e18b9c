// SPDX-License-Identifier: Apache-2.0
// Losses of a classifier: NegativeLogLikelihoodLoss-12..22, and SoftmaxCrossEntropyLoss-12..13,
// which is a LogSoftmax before. Scores are batch x classes x places; targets name a class of each
// place. A target that is ignored costs nothing, and does not count in a mean.
//
//   expand_cross_entropy(p)   // LogSoftmax, GatherElements, Neg, ReduceMean
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

namespace detail {
/// The loss from logarithms of probabilities.
class likelihood_loss {
public:
  explicit likelihood_loss(pieces& p)
      : p_(p)
      , c_(p.of)
      , scores_(c_.dims(0))
      , targets_(c_.dims(1)) {
    shape places = scores_;
    if (scores_.size >= 2) {
      places = {scores_[0]};
      for (int i = 2; i < scores_.size; ++i)
        places.push(scores_[i]);
    }
    if (scores_.size < 2 || !(targets_ == places))
      throw error("its targets " + text(targets_) + " do not fit its scores " + text(scores_));
    if (c_.element(1) != proto::INT32 && c_.element(1) != proto::INT64)
      throw error("its targets are no whole numbers");
    if (c_.has(2) && !(c_.dims(2) == shape{scores_[1]}))
      throw error("its weights " + text(c_.dims(2)) + " are not one of each class");
  }

  pieces::name of(const pieces::name& logarithms) {
    const std::string_view reduction = c_.word("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
      throw error("its reduction is " + in_quotes(reduction) + ", neither none, sum nor mean");
    find_ignored();
    shape one_class = scores_;
    one_class[1] = 1;
    const pieces::name picked =
        p_("GatherElements", {logarithms, p_.reshaped(classes_, one_class)}, {{"axis", 1}});
    pieces::name loss = p_("Neg", {p_.reshaped(picked, targets_)});
    pieces::name weights;
    if (c_.has(2)) {
      weights = p_("Gather", {p_.in(2), classes_});
      loss = p_("Mul", {loss, weights});
    }
    if (!ignored_.empty()) loss = without_ignored(loss);
    if (reduction == "none") return loss;
    if (reduction == "sum") return over_all("ReduceSum", loss);
    if (weights.empty() && ignored_.empty()) return over_all("ReduceMean", loss);
    if (weights.empty()) weights = number(1);
    if (!ignored_.empty()) weights = without_ignored(weights);
    return p_("Div", {over_all("ReduceSum", loss), over_all("ReduceSum", weights)});
  }

private:
  /// Which targets are ignored; these become class 0, as their own may be none.
  void find_ignored() {
    classes_ = p_.in(1);
    if (!c_.has_attribute("ignore_index")) return;
    ignored_ = p_("Equal", {p_.in(1), target(c_.integer("ignore_index", 0))});
    classes_ = p_("Where", {ignored_, target(0), p_.in(1)});
  }

  pieces::name target(std::int64_t v) { return cast(p_.scalar(v), proto::INT64, c_.element(1)); }
  pieces::name number(double v) { return cast(p_.number(v), proto::FLOAT, c_.element(0)); }
  pieces::name cast(const pieces::name& x, int from, int to) {
    return from == to ? x : p_("Cast", {x}, {{"to", std::int64_t{to}}});
  }
  pieces::name without_ignored(const pieces::name& x) {
    return p_("Where", {ignored_, number(0), x});
  }
  pieces::name over_all(std::string_view reduction, const pieces::name& x) {
    pieces::whole_numbers axes;
    for (int i = 0; i < targets_.size; ++i)
      axes.push_back(i);
    return p_(reduction, {x, p_.whole(axes)}, {{"keepdims", 0}});
  }

  pieces& p_;
  const call& c_;
  const shape &scores_, &targets_;
  pieces::name classes_{}, ignored_{};
};
} // namespace detail

inline void expand_likelihood_loss(pieces& p) {
  p.give(0, detail::likelihood_loss(p).of(p.in(0)));
}

/// The second result are the logarithms of the probabilities.
inline void expand_cross_entropy(pieces& p) {
  detail::likelihood_loss loss(p);
  const pieces::name logarithms = p("LogSoftmax", {p.in(0)}, {{"axis", 1}});
  p.give(1, logarithms);
  p.give(0, loss.of(logarithms));
}

} // namespace benanza::onnx
