// SPDX-License-Identifier: Apache-2.0
// A stack of products by cuBLAS's function for groups of stacks, which frameworks take for mixtures
// of experts: one group, and a pointer to each matrix. The pointers stand in the GPU's memory, in a
// table for all places that the matrices were ever put to: recorded graphs may still read it.
//
//   grouped_run r(context, task, numeric::bf16, operands, setting);   double ns = r.time(100);
#pragma once

#include "execution.hpp"

#include <map>

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
  /// Of each copy, where the first and the second matrix and the result of each product stand.
  std::vector<const std::byte*> places() const {
    std::vector<const std::byte*> out;
    const auto add = [&](const std::byte* from, const column_matrix& m) {
      for (std::int64_t i = 0; i < count_; ++i)
        out.push_back(from + i * m.step * size_bytes(source_of(type())));
    };
    for (std::int64_t copy = 0; copy < copies(); ++copy) {
      add(right(copy), column().first);
      add(left(copy), column().second);
      add(result(copy), column().result);
    }
    return out;
  }

  void moved() override {
    auto& [its_places, table] = *tables_.try_emplace(places()).first;
    if (table.bytes() == 0) {
      const auto bytes = std::as_bytes(std::span(its_places));
      cuda::memory made(std::ssize(bytes));
      made.upload(bytes);
      table = std::move(made);
    }
    now_ = table.data();
  }

  void enqueue(std::int64_t copy) override {
    const auto pointers = [&](std::int64_t which) {
      return reinterpret_cast<void* const*>(now_) + (3 * copy + which) * count_;
    };
    const cudaDataType_t element = data_type_of(source_of(type()));
    check_launch(call::gemm_grouped(on().plain(), &a_, &b_, &m_, &n_, &k_, &detail::one,
                                    pointers(0), element, &lda_, pointers(1), element, &ldb_,
                                    &detail::none, pointers(2), element, &ldc_, 1, &count_,
                                    compute_type_of(type())));
  }

  // The library is handed places of these, which must outlast what was recorded.
  cublasOperation_t a_, b_;
  int m_, n_, k_, lda_, ldb_, ldc_, count_;
  std::map<std::vector<const std::byte*>, cuda::memory> tables_{}; ///< by what stands in them
  std::byte* now_ = nullptr;
};

} // namespace benanza::backend::cublas
