// SPDX-License-Identifier: Apache-2.0
// A backend for tests: its algorithms are scripted, take the time that is set, and compute right
// results with the reference, or wrong ones.
#pragma once

#include "page_reading.hpp"

#include <benanza/backend/concept.hpp>
#include <benanza/backend/reference/reference.hpp>

#include <functional>
#include <numeric>
#include <utility>

namespace benanza::test {

struct script {
  backend::algorithm algorithm;
  double ns = 1000;
  double cold_ns = 0;       ///< with weights of a pool; 0: the same
  double spread = 0;        ///< share by which its executions differ
  bool wrong = false;       ///< computes a wrong result
  double off_by = 0;        ///< the error of its last output
  bool throws = false;      ///< cannot be prepared
  std::int64_t weights = 0; ///< bytes of prepared weights; 0: as the layer says
  std::int64_t scratch = 0; ///< bytes of scratch memory
  std::string runs_as = {}; ///< the implementation that really runs; empty: the one asked for
  bool on_device = false;   ///< has memory and caches of its own
  double clock_ns = 0;      ///< of its device
  backend::device_account account = {};
  std::vector<timed_part> parts = {};
  std::function<void(double)> took = {}; ///< called with the ns of all that was timed
  double watts = 0;                      ///< that its device draws; 0: not known
};

struct fake_log {
  int prepared = 0, alive = 0, executions = 0, read = 0;
  int pooled = 0;           ///< prepared ones that ever had a pool
  int flushed = 0;          ///< timed executions before which a device empties its caches
  int woken = 0;            ///< how often a device was brought to its clock
  page_times scratch_pages; ///< as each timed execution found them
  std::vector<std::byte> device_memory = std::vector<std::byte>(64, std::byte{1});
};

class fake_prepared : public backend::prepared,
                      public backend::chainable,
                      public backend::device_control,
                      public backend::in_parts {
public:
  fake_prepared(const script& s, const op::layer& l, numeric t, const backend::operands& o,
                fake_log& log)
      : script_(s)
      , log_(log) {
    result_.resize(static_cast<std::size_t>(elements(op::output(l))));
    std::vector<std::int64_t> all(result_.size());
    std::iota(all.begin(), all.end(), 0);
    backend::reference::evaluate(l, t, o, all, result_);
    result_.back() += s.wrong ? 100 : s.off_by;
    scratch_.resize(static_cast<std::size_t>(s.scratch));
    weights_ = s.weights > 0 ? s.weights : op::cost(l).weights * 4;
    ++log_.prepared;
    ++log_.alive;
  }
  ~fake_prepared() override { --log_.alive; }
  std::string ran() const override {
    return script_.runs_as.empty() ? script_.algorithm.id : script_.runs_as;
  }
  std::int64_t weight_bytes() const override { return weights_; }
  /// For the caches only: it is in no chain.
  backend::chainable* chain() override { return script_.on_device ? nullptr : this; }
  backend::device_control* own_device() override { return script_.on_device ? this : nullptr; }
  backend::in_parts* parts() override { return script_.parts.empty() ? nullptr : this; }
  void between_parts(backend::probe_between) override {}
  std::int64_t operand_bytes(int) const override { return 0; }
  std::int64_t result_bytes() const override { return 0; }
  void connect(int, std::byte*) override {}
  void connect_result(std::byte*) override {}
  std::vector<std::span<std::byte>> operand_memory() const override { return {}; }
  std::span<std::byte> result_memory() const override { return {}; }
  std::vector<timed_part> parts_of(const std::vector<double>& samples) const override {
    return samples.empty() ? std::vector<timed_part>{} : script_.parts;
  }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    log_.pooled += pool != nullptr && !pooled_;
    pooled_ = pooled_ || pool != nullptr;
    last_of_pool_ = pool != nullptr ? pool + stride * count - 1 : nullptr;
  }
  void run(int n) override { log_.executions += n; }
  void wake() override { ++log_.woken; }
  std::span<std::byte> scratch_memory() const override { return scratch_; }
  double clock_ns() const override { return script_.clock_ns; }
  backend::device_account end_account() override { return script_.account; }
  backend::weight_slots weight_pool() override {
    return {log_.device_memory.data(), 16, std::ssize(log_.device_memory) / 16};
  }
  void flush_before_each(bool flushed) override { flushed_ = flushed; }
  double time(int n) override {
    log_.executions += n;
    log_.flushed += flushed_ ? n : 0;
    if (!scratch_.empty()) log_.scratch_pages.look(scratch_);
    if (last_of_pool_ != nullptr) log_.read += *last_of_pool_ != std::byte{0};
    const double ns =
        last_of_pool_ != nullptr && script_.cold_ns > 0 ? script_.cold_ns : script_.ns;
    const double all = ns * (1 + script_.spread * (log_.executions % 7) / 7) * n;
    timed_ns_ += all;
    if (script_.took) script_.took(all);
    return all;
  }
  std::optional<double> joules() override {
    return script_.watts > 0 ? std::optional(script_.watts * timed_ns_ / 1e9) : std::nullopt;
  }
  void read(std::vector<double>& out) const override { out = result_; }

private:
  script script_;
  fake_log& log_;
  std::vector<double> result_;
  mutable std::vector<std::byte> scratch_{};
  std::int64_t weights_ = 0;
  double timed_ns_ = 0;
  const volatile std::byte* last_of_pool_ = nullptr;
  bool pooled_ = false, flushed_ = false;
};

class fake_library : public backend::library {
public:
  explicit fake_library(std::vector<script> scripts, std::string name = "fake")
      : scripts_(std::move(scripts))
      , name_(std::move(name)) {
    int i = 0;
    for (script& s : scripts_) {
      s.algorithm.index = i++;
      if (s.algorithm.equivalence.empty()) s.algorithm.equivalence = "f32";
    }
  }
  std::string_view name() const override { return name_; }
  std::map<std::string, std::string> facts() const override { return {{"version", "1"}}; }
  std::vector<backend::algorithm> enumerate(const op::layer&, numeric t,
                                            const backend::setting&) override {
    std::vector<backend::algorithm> out;
    if (t == numeric::f32)
      for (const script& s : scripts_)
        out.push_back(s.algorithm);
    return out;
  }
  std::unique_ptr<backend::prepared> prepare(const op::layer& l, numeric t,
                                             const backend::algorithm& a,
                                             const backend::operands& o,
                                             const backend::setting&) override {
    for (const script& s : scripts_)
      if (s.algorithm.id == a.id) {
        if (s.throws) throw error("out of luck", a.id);
        return std::make_unique<fake_prepared>(s, l, t, o, log);
      }
    throw error("no such algorithm", a.id);
  }

  fake_log log;

private:
  std::vector<script> scripts_;
  std::string name_;
};

} // namespace benanza::test
