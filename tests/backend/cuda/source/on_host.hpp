// SPDX-License-Identifier: Apache-2.0
// Runs kernels' texts on the host (programs/fake_gpu/host_kernel.hpp), many in one object, with
// operands in memory behind whose ends nothing can be touched.
//
//   batch b;   b.add(layer, type);   b.run([](const tried& t, const verdict& v) { ... });
#pragma once

#include "programs/fake_gpu/host_kernel.hpp"
#include "programs/fake_gpu/memory.hpp"

#include <benanza/backend/cuda/source/kernels.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <cstring>
#include <map>
#include <memory>

namespace cuda_test {

/// A kernel of a layer.
struct tried {
  benanza::op::layer layer{};
  benanza::numeric type{};
  benanza::backend::cuda::source::kernel kernel{};
  std::shared_ptr<const benanza::backend::operands> values{};
  std::size_t number = 0, before = 0; ///< of its text in the batch, and of what runs before it
};

class batch {
public:
  /// Adds all kernels of a layer; how many there are.
  std::size_t add(const benanza::op::layer& l, benanza::numeric t) {
    return add(l, t, benanza::backend::make_operands(l, t));
  }
  std::size_t add(const benanza::op::layer& l, benanza::numeric t,
                  benanza::backend::operands given) {
    namespace backend = benanza::backend;
    const auto values = std::make_shared<const backend::operands>(std::move(given));
    auto kernels = backend::cuda::source::kernels_for(l, t, values->output_scale);
    for (auto& k : kernels) {
      const std::size_t before = k.before ? number_of(*k.before) : 0, number = number_of(k);
      all_.push_back({l, t, std::move(k), values, number, before});
    }
    return kernels.size();
  }

  /// Runs each kernel and reports how its result compares with the reference; `ran` is false where
  /// one touched what it must not.
  template <class F>
  void run(F&& f) {
    fake::host_kernels code(fake::build(texts_));
    for (const tried& t : all_) {
      namespace backend = benanza::backend;
      fake::memory space;
      const auto put = [&space](std::span<const std::byte> bytes) {
        const auto n = static_cast<std::int64_t>(bytes.size());
        std::byte* const at = space.contents(space.take(n), n);
        std::memcpy(at, bytes.data(), bytes.size());
        return at;
      };
      std::vector<std::byte*> addresses;
      for (const backend::tensor& x : t.values->inputs)
        addresses.push_back(put(x.bytes));
      const std::int64_t count = backend::result_count(t.layer);
      const std::vector<backend::placed_result> results = backend::results_of(t.layer, t.type);
      const std::size_t operands = addresses.size();
      for (const backend::placed_result& r : results)
        addresses.push_back(put(std::vector<std::byte>(
            static_cast<std::size_t>(r.end_bytes() - r.offset), std::byte{0xff})));
      std::vector<void*> arguments;
      for (std::size_t i = 0; i < addresses.size(); ++i)
        if (i == 0 || i >= operands || !t.kernel.table) arguments.push_back(&addresses[i]);
      const std::int64_t scratch_bytes = t.kernel.scratch_bytes;
      std::byte* scratch = nullptr;
      if (scratch_bytes > 0) {
        scratch = space.contents(space.take(scratch_bytes), scratch_bytes);
        arguments.push_back(&scratch);
      }
      const auto launch = [&](const backend::cuda::source::kernel& k, std::size_t number) {
        return code.launch(number, static_cast<unsigned>(k.blocks),
                           static_cast<unsigned>(k.threads), arguments.data());
      };
      const bool ran =
          (!t.kernel.before || launch(*t.kernel.before, t.before)) && launch(t.kernel, t.number);
      std::vector<double> got, right(static_cast<std::size_t>(count));
      std::vector<std::int64_t> where;
      for (std::int64_t i = 0; i < count; ++i)
        where.push_back(i);
      backend::reference::evaluate(t.layer, t.type, *t.values, where, right);
      for (std::size_t i = 0; i < results.size(); ++i) {
        std::vector<double> its;
        backend::load_all(results[i].type, addresses[operands + i], results[i].count(), its);
        got.insert(got.end(), its.begin(), its.end());
      }
      f(t, ran, backend::compare(t.layer, t.type, right, got));
    }
  }

  std::size_t texts() const { return texts_.size(); }

private:
  std::size_t number_of(const benanza::backend::cuda::source::kernel& k) {
    const auto [at, is_new] = numbers_.emplace(k.text, texts_.size());
    if (is_new) texts_.push_back({k.text, k.name});
    return at->second;
  }

  std::vector<tried> all_{};
  std::map<std::string, std::size_t> numbers_{};
  std::vector<fake::kernel_text> texts_{};
};

} // namespace cuda_test
