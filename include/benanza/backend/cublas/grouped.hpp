// SPDX-License-Identifier: Apache-2.0
// A stack of products by cuBLAS's function for groups of stacks, which frameworks take for mixtures
// of experts: one group, and a pointer to each matrix. The pointers are in the GPU's memory, a
// table for each place that the weights ever were at: recorded graphs may still read it.
//
//   grouped_run r(context, task, numeric::bf16, operands);   r.run(1);   double ns = r.time(100);
#pragma once

#include "execution.hpp"

#include <map>
#include <tuple>

namespace benanza::backend::cublas {

/// cublasGemmGroupedBatchedEx with one group.
class grouped_run final : public product_run {
public:
  grouped_run(std::shared_ptr<context> with, task of, numeric t, const operands& values,
              const setting& s)
      : product_run(std::move(with), std::move(of), t, values, s)
      , a_(operation_of(column().first))
      , b_(operation_of(column().second))
      , m_(static_cast<int>(column().m))
      , n_(static_cast<int>(column().n))
      , k_(static_cast<int>(column().k))
      , lda_(static_cast<int>(column().first.ld))
      , ldb_(static_cast<int>(column().second.ld))
      , ldc_(static_cast<int>(column().result.ld))
      , count_(static_cast<int>(column().batches)) {
    moved();
  }
  std::string ran() const override { return what().before + std::string(grouped_id); }

private:
  void moved() override {
    cuda::memory& its = tables_[{left(0), right(0), result(0), copies()}];
    if (its.bytes() == 0) its = table();
    now_ = its.data();
  }

  /// For each copy of what rotates: where the first and the second matrix of each product are, and
  /// its result.
  cuda::memory table() const {
    std::vector<const void*> all;
    const auto add = [&](const std::byte* from, const column_matrix& m) {
      for (std::int64_t i = 0; i < count_; ++i)
        all.push_back(from + i * m.step * size_bytes(source_of(type())));
    };
    for (std::int64_t copy = 0; copy < copies(); ++copy) {
      add(right(copy), column().first);
      add(left(copy), column().second);
      add(result(copy), column().result);
    }
    const auto bytes = std::as_bytes(std::span(all));
    cuda::memory m(std::ssize(bytes));
    m.upload(bytes);
    return m;
  }

  void enqueue(std::int64_t copy) override {
    const auto pointers = [this](std::int64_t row) {
      return reinterpret_cast<void* const*>(now_) + row * count_;
    };
    const cudaDataType_t element = data_type_of(source_of(type()));
    check_launch(call::gemm_grouped(on().plain(), &a_, &b_, &m_, &n_, &k_, &detail::one,
                                    pointers(3 * copy), element, &lda_, pointers(3 * copy + 1),
                                    element, &ldb_, &detail::none, pointers(3 * copy + 2), element,
                                    &ldc_, 1, &count_, compute_type_of(type())));
  }

  // The library is handed places of these, which must outlast what was recorded.
  cublasOperation_t a_, b_;
  int m_, n_, k_, lda_, ldb_, ldc_, count_;
  using places = std::tuple<const std::byte*, const std::byte*, const std::byte*, std::int64_t>;
  std::map<places, cuda::memory> tables_{};
  std::byte* now_ = nullptr;
};

} // namespace benanza::backend::cublas
