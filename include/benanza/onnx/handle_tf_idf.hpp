// SPDX-License-Identifier: Apache-2.0
// Counts of n-grams: ONNX TfIdfVectorizer-9 of whole numbers.
//
//   handle_tf_idf(call)   // TfIdfVectorizer/2x6-o7-min2-max2-skip5-pool4x3
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
/// How many n-grams of each length a pool of `size` numbers has that begins with those of one
/// number, then those of two ..., each at the place that `starts` says.
inline list<8> n_grams_in(const std::vector<std::int64_t>& starts, std::int64_t size) {
  list<8> out;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
    const auto n = static_cast<std::int64_t>(i) + 1;
    if (starts[i] < 0 || end < starts[i] || end > size || (end - starts[i]) % n != 0)
      throw error("its ngram_counts do not fit its pool of " + std::to_string(size));
    out.push((end - starts[i]) / n);
  }
  return out;
}
} // namespace detail

inline answer handle_tf_idf(const call& c) {
  if (c.has_attribute("pool_strings")) throw error("its n-grams are strings, layers have numbers");
  const auto pool_size = static_cast<std::int64_t>(c.integers("pool_int64s").size());
  op::tf_idf p{.input = c.dims(0),
               .least = c.integer("min_gram_length", 0),
               .most = c.integer("max_gram_length", 0),
               .skips = c.integer("max_skip_count", 0),
               .pool = detail::n_grams_in(c.integers("ngram_counts"), pool_size),
               .element = c.type(0)};
  const std::string_view mode = c.word("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    throw error("its mode is " + detail::in_quotes(mode) + ", neither TF, IDF nor TFIDF");
  const std::vector<std::int64_t> places = c.integers("ngram_indexes");
  const auto weights = static_cast<std::int64_t>(c.reals("weights").size());
  // Without weights all are one.
  if (mode == "IDF") p.weigh = op::weighting::idf;
  if (mode == "TFIDF" && weights > 0) p.weigh = op::weighting::tf_idf;
  if (static_cast<std::int64_t>(places.size()) != p.n_grams() ||
      (weights > 0 && weights != p.n_grams()))
    throw error("its ngram_indexes and weights are not one of each n-gram, of which it has " +
                std::to_string(p.n_grams()));
  for (std::int64_t at : places) {
    if (at < 0 || at >= dim_limit) throw error("an n-gram counts at a place out of range");
    p.outputs = std::max(p.outputs, at + 1);
  }
  p.validate();
  answer a;
  a.outputs.push_back({proto::FLOAT, p.output()});
  a.layer = p;
  return a;
}

} // namespace benanza::onnx
