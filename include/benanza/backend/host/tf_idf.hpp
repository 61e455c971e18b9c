// SPDX-License-Identifier: Apache-2.0
// How are n-grams counted? By a hash table of the pool. The hash of an n-gram grows with each
// number of a longer one, so that a place of a row is read once for all lengths. Rows are shared
// among threads.
//
//   kernel k = make(op::tf_idf{.input = {8, 512}, ...}, job);
#pragma once

#include "detail/job.hpp"

#include <bit>
#include <vector>

namespace benanza::backend::host {

namespace detail {

/// The n-grams of a pool by what they hold; equal ones have one number.
class n_gram_table {
public:
  n_gram_table(const op::tf_idf& p, const std::int64_t* pool)
      : pool_(pool) {
    const auto room = std::bit_ceil(static_cast<std::uint64_t>(2 * p.n_grams()));
    slots_.resize(static_cast<std::size_t>(room));
    std::int64_t from = 0;
    for (std::int64_t n = 1; n <= p.pool.size; ++n)
      for (std::int64_t k = 0; k < p.pool[static_cast<int>(n) - 1]; ++k, from += n)
        numbers_.push_back(add(from, n));
  }

  static constexpr std::uint64_t start = 0x9e3779b97f4a7c15u;
  static std::uint64_t mixed(std::uint64_t hash, std::int64_t v) {
    const std::uint64_t x = (hash ^ static_cast<std::uint64_t>(v)) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
  }

  /// The number of an n-gram whose parts are `apart`; -1: the pool has none such.
  template <class T>
  std::int64_t find(std::uint64_t hash, const T* at, std::int64_t n, std::int64_t apart) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i].number >= 0; i = (i + 1) & mask)
      if (slots_[i].hash == hash && same(slots_[i], at, n, apart)) return slots_[i].number;
    return -1;
  }
  /// Which number the n-gram at each place of the pool has.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  std::int64_t size() const { return count_; }

private:
  struct slot {
    std::uint64_t hash = 0;
    std::int64_t from = 0, n = 0, number = -1;
  };

  template <class T>
  bool same(const slot& s, const T* at, std::int64_t n, std::int64_t apart) const {
    if (s.n != n) return false;
    for (std::int64_t i = 0; i < n; ++i)
      if (pool_[s.from + i] != static_cast<std::int64_t>(at[i * apart])) return false;
    return true;
  }
  std::int64_t add(std::int64_t from, std::int64_t n) {
    std::uint64_t hash = start;
    for (std::int64_t i = 0; i < n; ++i)
      hash = mixed(hash, pool_[from + i]);
    if (const std::int64_t known = find(hash, pool_ + from, n, 1); known >= 0) return known;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].number >= 0)
      i = (i + 1) & mask;
    slots_[i] = {.hash = hash, .from = from, .n = n, .number = count_};
    return count_++;
  }

  const std::int64_t* pool_;
  std::vector<slot> slots_{};
  std::vector<std::int64_t> numbers_{};
  std::int64_t count_ = 0;
};

struct tf_idf_plan {
  op::tf_idf p{};
  const std::byte* x = nullptr;
  std::vector<std::int64_t> columns{}; ///< that the n-grams of the pool count at
  const float* weights = nullptr;
  float* y = nullptr;
  n_gram_table table;

  tf_idf_plan(const op::tf_idf& layer, const job& j)
      : p(layer)
      , x(j.inputs[0])
      , weights(layer.weighs() ? reinterpret_cast<const float*>(j.inputs[3]) : nullptr)
      , y(reinterpret_cast<float*>(j.output))
      , table(layer, reinterpret_cast<const std::int64_t*>(j.inputs[1])) {
    const auto* to = reinterpret_cast<const std::int64_t*>(j.inputs[2]);
    columns.assign(to, to + p.n_grams());
  }

  template <class T>
  void run(std::int64_t row, std::int32_t* counts) const {
    std::fill_n(counts, table.size(), 0);
    const T* from = reinterpret_cast<const T*>(x) + row * p.length();
    const std::int64_t longest = std::min<std::int64_t>(p.most, p.pool.size);
    for (std::int64_t apart = 1; apart <= p.skips + 1 && apart <= p.length(); ++apart)
      for (std::int64_t at = 0; at < p.length(); ++at) {
        std::uint64_t hash = n_gram_table::start;
        for (std::int64_t n = 1; n <= longest && at + (n - 1) * apart < p.length(); ++n) {
          hash = n_gram_table::mixed(hash, static_cast<std::int64_t>(from[at + (n - 1) * apart]));
          if (!p.counts(n) || (n == 1 && apart > 1)) continue;
          if (const std::int64_t k = table.find(hash, from + at, n, apart); k >= 0) ++counts[k];
        }
      }
    float* to = y + row * p.outputs;
    std::fill_n(to, p.outputs, 0.f);
    for (std::size_t g = 0; g < columns.size(); ++g) {
      const std::int32_t count = counts[table.numbers()[g]];
      to[columns[g]] += p.weigh == op::weighting::tf    ? static_cast<float>(count)
                        : p.weigh == op::weighting::idf ? (count > 0 ? weights[g] : 0.f)
                                                        : static_cast<float>(count) * weights[g];
    }
  }
};
} // namespace detail

/// True where there is a kernel: all that it may read.
inline bool runs(const op::tf_idf& p, dtype element) {
  return element == p.element;
}

inline detail::kernel make(const op::tf_idf& p, const detail::job& j) {
  if (j.output == nullptr) return {"hashed", [] {}};
  const auto plan = std::make_shared<const detail::tf_idf_plan>(p, j);
  const int threads = detail::team_for(j.threads, checked_multiply(16, op::tf_idf(p).cost().other));
  const detail::scratch room(threads, plan->table.size());
  return {"hashed", [=, narrow = p.element == dtype::s32] {
            detail::share(threads, plan->p.rows(), 1, [&](std::int64_t row, std::int64_t end) {
              auto* counts = reinterpret_cast<std::int32_t*>(room.mine());
              for (; row < end; ++row)
                narrow ? plan->run<std::int32_t>(row, counts)
                       : plan->run<std::int64_t>(row, counts);
            });
          }};
}

} // namespace benanza::backend::host
