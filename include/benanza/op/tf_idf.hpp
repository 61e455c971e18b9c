// SPDX-License-Identifier: Apache-2.0
// Counts of n-grams (ONNX TfIdfVectorizer-9) in rows of whole numbers. A pool lists the n-grams
// that count, each with the place of the result that it counts at, and a weight. The numbers of an
// n-gram are next to each other or, with skips, up to so many apart; single numbers are counted
// once. What the pool holds does not change the cost, how many n-grams of each length it has does.
//
//   tf_idf{.input = {8, 512}, .outputs = 1000, .most = 2, .skips = 1, .pool = {400, 600}}
//                                                              key:
//                                                              8x512-o1000-max2-skip1-pool400x600
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <algorithm>
#include <optional>

namespace benanza::op {

/// What becomes of a count: itself, whether there is one times the weight, the count times the
/// weight. The order is that of `weighting_names`.
enum class weighting : std::uint8_t { tf, idf, tf_idf };
inline constexpr std::string_view weighting_names[] = {"tf", "idf", "tfidf"};

struct tf_idf {
  shape input{}; ///< one row, or rows x length
  std::int64_t outputs = 0;
  std::int64_t least = 1, most = 1; ///< lengths of n-grams that count
  std::int64_t skips = 0;           ///< that numbers of an n-gram may be apart
  list<8> pool{};                   ///< how many n-grams of length 1, 2 ... there are
  weighting weigh = weighting::tf;
  dtype element = dtype::s64; ///< of what is read

  static constexpr std::optional<tf_idf> of(std::string_view family) {
    return family == "TfIdfVectorizer" ? std::optional(tf_idf{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "TfIdfVectorizer"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("outputs", "o", outputs, 0, true);
    a.number("least", "min", least, 1);
    a.number("most", "max", most, 1);
    a.number("skips", "skip", skips, 0);
    a.tagged_list("pool", "pool", pool);
    a.choice("weigh", "weighting", weigh, weighting_names);
    a.element("element", element, dtype::s64);
  }

  constexpr void validate() const {
    if (input.size != 1 && input.size != 2) throw error("n-grams are counted in one or more rows");
    check_dims(input);
    if (least < 1 || most < least || most > dim_limit || skips < 0 || skips > dim_limit)
      throw error("lengths of n-grams, or skips, are out of range");
    for (std::int64_t n : pool)
      if (n < 0 || n > dim_limit)
        throw error("a pool has a number of n-grams under 0 or over 2^40");
    if (outputs < 1 || outputs > dim_limit || pool.empty() || n_grams() < 1)
      throw error("n-grams are counted by a pool of them, each at a place of the result");
    if (element != dtype::s32 && element != dtype::s64)
      throw error("n-grams are counted among whole numbers of 32 or 64 bits");
    check_dims(output());
    (void)cost();
  }

  constexpr std::int64_t length() const { return input.back(); }
  constexpr std::int64_t rows() const { return input.size == 2 ? input[0] : 1; }
  constexpr shape output() const {
    return input.size == 2 ? shape{input[0], outputs} : shape{outputs};
  }
  constexpr result_list results() const { return {{output(), dtype::f32}}; }

  /// N-grams of the pool, of all lengths.
  constexpr std::int64_t n_grams() const {
    std::int64_t sum = 0;
    for (std::int64_t n : pool)
      sum += n;
    return sum;
  }
  /// Numbers that these are made of.
  constexpr std::int64_t pool_size() const {
    std::int64_t sum = 0;
    for (int i = 0; i < pool.size; ++i)
      sum += checked_multiply(i + 1, pool[i]);
    return sum;
  }
  constexpr bool weighs() const { return weigh != weighting::tf; }
  /// True where n-grams of that length count, and there are some.
  constexpr bool counts(std::int64_t n) const {
    return n >= least && n <= most && n <= pool.size && pool[static_cast<int>(n) - 1] > 0;
  }
  /// Places of a row at which an n-gram of that length is, with all skips.
  constexpr std::int64_t places(std::int64_t n) const {
    if (n == 1) return length();
    const std::int64_t strides = std::min(skips + 1, (length() - 1) / (n - 1));
    if (length() < 1 || strides < 1) return 0;
    return checked_multiply(strides, length()) -
           checked_multiply(checked_multiply(n - 1, strides), strides + 1) / 2;
  }

  /// One operation for each number of each n-gram that is looked up.
  constexpr work cost() const {
    work w;
    std::int64_t numbers = 0;
    for (std::int64_t n = 1; n <= pool.size; ++n)
      if (counts(n)) numbers += checked_multiply(n, places(n));
    w.other = checked_multiply(rows(), numbers);
    w.fixed_bytes = elements(input) * size_bytes(element) + checked_multiply(4, elements(output()));
    const std::int64_t each = 8 + (weighs() ? 4 : 0);
    w.constant_fixed_bytes = checked_multiply(8, pool_size()) + checked_multiply(each, n_grams());
    return w;
  }

  /// What makes no difference is left out: longer n-grams than there are.
  constexpr tf_idf canonical_form() const {
    tf_idf p = *this;
    while (p.pool.size > 1 && p.pool.back() == 0)
      --p.pool.size;
    if (p.pool.size == 1) p.skips = 0;
    return p;
  }
  constexpr bool operator==(const tf_idf&) const = default;
};

} // namespace benanza::op
