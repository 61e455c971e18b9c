// SPDX-License-Identifier: Apache-2.0
// What does memory cost that was never touched? The kernel makes a page, and fills it with zeros,
// when it is first written: in small pages and in huge ones. Mapping and unmapping are not timed.
//
//   fresh_pages_subject s(1);   s.ready(own_case(s, "huge_pages")).run->time(1);
#pragma once

#include "machine_subject.hpp"
#include "pages.hpp"

#include <memory>

namespace benanza::measure::ceilings {

/// Writes a byte into each small page of fresh memory.
class fresh_pages_run final : public backend::prepared {
public:
  fresh_pages_run(page_size size, std::int64_t bytes, int threads)
      : size_(size)
      , bytes_(bytes)
      , threads_(threads) {}

  std::string ran() const override {
    return size_ == page_size::huge ? "huge_pages" : "small_pages";
  }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    using clock = std::chrono::steady_clock;
    double ns = 0;
    for (int i = 0; i < executions; ++i) {
      fresh_.reset();
      fresh_ = std::make_unique<pages>(bytes_, size_);
      const auto start = clock::now();
      touch(fresh_->data());
      ns += std::chrono::duration<double, std::nano>(clock::now() - start).count();
    }
    return ns;
  }
  void read(std::vector<double>& out) const override { out.clear(); }

  /// Throws where a page was left out, was not empty, or is of the other size.
  void check(const std::string& what) {
    time(1);
    const std::byte* p = fresh_->data();
    for (std::int64_t i = 0; i < bytes_; ++i)
      if (p[i] != (i % small_page_bytes == 0 ? std::byte{1} : std::byte{0}))
        throw error("fresh pages hold what they should not", what);
    if ((fresh_->huge_bytes() > 0) != (size_ == page_size::huge))
      throw error("the kernel gave pages of another size", what + ", " + ran());
  }

private:
  void touch(std::byte* p) const {
    const std::int64_t n = bytes_ / small_page_bytes;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (std::int64_t i = 0; i < n; ++i)
      p[i * small_page_bytes] = std::byte{1};
  }

  page_size size_;
  std::int64_t bytes_;
  int threads_;
  std::unique_ptr<pages> fresh_;
};

class fresh_pages_subject final : public machine_subject {
public:
  explicit fresh_pages_subject(int on_threads, std::int64_t touched_bytes = 16 << 20)
      : machine_subject({"first_touch", touched_bytes}, numeric::f32, on_threads, 0.3) {
    bytes = touched_bytes;
  }
  ready_case ready(const bench_case& c) override {
    return made_ready([&] {
      const page_size size = c.algorithm.id == "huge_pages" ? page_size::huge : page_size::small;
      auto run = std::make_unique<fresh_pages_run>(size, bytes, threads);
      run->check(title());
      return run;
    });
  }
};

} // namespace benanza::measure::ceilings
