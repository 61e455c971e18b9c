// SPDX-License-Identifier: Apache-2.0
// Which layers run without a library? Those that vendors leave out or run on reference loops: data
// movers, broadcasting on either side, functions, softmax along any axis, reductions,
// normalizations, attention. Plain loops at the speed of memory, but for attention, mostly one
// algorithm a layer; a bound that rests on one says "host".
//
//   host::library lib;
//   lib.enumerate(op::parse("Concat/1x256x28x28-a1-n4"), numeric::f32, {})[0].id == "copy"
#pragma once

#include "../../core/stopwatch.hpp"
#include "../../op/kinds.hpp"
#include "../concept.hpp"
#include "../indices.hpp"
#include "../packed_weights.hpp"
#include "arrange.hpp"
#include "attention.hpp"
#include "cast.hpp"
#include "code_products.hpp"
#include "columns.hpp"
#include "conv_transpose.hpp"
#include "cumulate.hpp"
#include "eltwise.hpp"
#include "expand.hpp"
#include "few_rows.hpp"
#include "gather_ggml.hpp"
#include "grid_sample.hpp"
#include "group_norm.hpp"
#include "indexing.hpp"
#include "layer_norm.hpp"
#include "linear_attention.hpp"
#include "matmul_ggml.hpp"
#include "matmul_nbits.hpp"
#include "move.hpp"
#include "norm.hpp"
#include "pool.hpp"
#include "quantize.hpp"
#include "recurrent.hpp"
#include "reduce.hpp"
#include "regions.hpp"
#include "resize.hpp"
#include "rotary.hpp"
#include "select.hpp"
#include "signal.hpp"
#include "softmax.hpp"
#include "steps.hpp"
#include "tf_idf.hpp"
#include "where.hpp"

namespace benanza::backend::host {

namespace detail {

/// What kernels were compiled for, as far as they differ by it.
inline constexpr const char* instructions =
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
    "AVX-512 with VNNI and bf16";
#elif defined(__AVX512VNNI__)
    "AVX-512 with VNNI";
#elif defined(__AVX512BW__)
    "AVX-512";
#elif defined(__AVX2__) && defined(__AVXVNNI__)
    "AVX2 with VNNI";
#elif defined(__AVX2__)
    "AVX2";
#else
    "SSE";
#endif

struct offer_kinds {
  dtype element;
  dtype result;
  bool operator()(const op::binary& p) const { return plane_for(p, element) != nullptr; }
  bool operator()(const op::softmax&) const { return computes_in_f32(element); }
  bool operator()(const op::batch_norm&) const { return computes_in_f32(element); }
  bool operator()(const op::lrn&) const { return computes_in_f32(element); }
  bool operator()(const op::layer_norm&) const { return computes_in_f32(element); }
  bool operator()(const op::rms_norm&) const { return computes_in_f32(element); }
  bool operator()(const op::group_norm&) const { return computes_in_f32(element); }
  bool operator()(const op::instance_norm&) const { return computes_in_f32(element); }
  bool operator()(const op::attention&) const {
    return element == dtype::f32 || element == dtype::bf16;
  }
  /// A kind says by `runs`, next to its kernel, what that takes; without `runs` there is no kernel.
  template <class Kind>
  bool operator()(const Kind& p) const {
    if constexpr (requires { runs(p, element); })
      return runs(p, element);
    else if constexpr (requires { runs(p, element, result); })
      return runs(p, element, result);
    else
      return false;
  }
  bool operator()(const op::concat&) const { return true; }
  bool operator()(const op::split&) const { return true; }
  bool operator()(const op::transpose&) const { return true; }
  bool operator()(const op::pad&) const { return true; }
  bool operator()(const op::slice&) const { return true; }
  bool operator()(const op::gather&) const { return true; }
  bool operator()(const op::depth_to_space&) const { return true; }
};

/// The kernel of a layer that is offered.
inline kernel kernel_for(const op::layer& l, const job& j) {
  return op::visit(
      [&](const auto& p) -> kernel {
        if constexpr (requires { make(p, j); })
          return make(p, j);
        else
          throw error("there is no host kernel for this layer", op::name(l));
      },
      l);
}

/// Storage of a layer's first operand.
inline dtype element_type(const op::layer& l, numeric t) {
  return op::visit(
      [t](const auto& p) {
        if constexpr (requires { p.element; })
          return storage_of(p.element, t);
        else if constexpr (std::is_same_v<std::decay_t<decltype(p)>, op::cast>)
          return storage_of(p.from, t);
        else
          return source_of(t);
      },
      l);
}

/// True where a layer has a kernel in a class of types. Elements of less than a byte are converted,
/// but not moved one by one.
inline bool offered(const op::layer& l, numeric t) {
  const dtype element = element_type(l, t);
  if (packed_in_bytes(element) && !op::is<op::cast>(l)) return false;
  return op::visit(offer_kinds{element, result_type(l, t)}, l);
}

/// True for layers that go through memory element by element.
inline bool flat(const op::layer& l) {
  const auto same = [](const op::step_list& steps) {
    return std::all_of(steps.begin(), steps.end(),
                       [](const op::step& s) { return !s.joins || s.operand.empty(); });
  };
  if (const auto* p = op::as<op::binary>(l)) return p->a == p->b;
  if (const auto* p = op::as<op::fused<op::unary>>(l)) return same(p->steps);
  if (const auto* p = op::as<op::fused<op::binary>>(l))
    return p->base.a == p->base.b && same(p->steps);
  if (const auto* p = op::as<op::on_codes<op::binary>>(l)) return p->base.a == p->base.b;
  if (const auto* p = op::as<op::quantize>(l)) return p->axis < 0;
  if (const auto* p = op::as<op::where>(l)) return p->condition == p->x && p->x == p->y;
  if (op::is<op::cast>(l)) return true;
  return op::is<op::unary, op::lookup_table, op::dynamic_quantize>(l);
}

/// The way that a layer's kernel takes, asked from one that has no operands and never runs.
inline std::string way_of(const op::layer& l, numeric t) {
  std::size_t operands = 9;
  if (const auto* p = op::as<op::concat>(l)) operands = static_cast<std::size_t>(p->parts);
  job j;
  j.inputs.assign(operands, nullptr);
  j.element = element_type(l, t);
  j.result = result_type(l, t);
  j.results = results_of(l, t);
  return kernel_for(l, j).way;
}
} // namespace detail

/// A layer with its operands in memory and its kernel's loops worked out.
class prepared_kernel final : public prepared, public chainable, public packed_weights {
public:
  prepared_kernel(const op::layer& l, numeric t, const operands& o, const setting& s)
      : layer_(l)
      , results_(results_of(l, t))
      , output_(results_.back().end_bytes()) {
    check_indices(l, o);
    op::visit(
        [&](const auto& p) {
          if constexpr (requires { host::weight_bytes(p, dtype{}); }) {
            const stopwatch timer;
            weight_bytes_ = host::weight_bytes(p, detail::element_type(l, t));
            own_ = current_ = s.packed;
            if (own_ != nullptr) return;
            folded_.emplace(weight_bytes_);
            host::fold_weights(p, o, reinterpret_cast<float*>(folded_->bytes()));
            own_ = current_ = folded_->bytes();
            packing_ns_ = timer.ns();
          }
        },
        l);
    for (const tensor& x : o.inputs) { // of packed weights no kernel reads what they were
      const bool packed = weight_bytes_ > 0 && x.part == role::weights;
      inputs_.push_back(packed ? detail::buffer(0) : detail::buffer(x));
      job_.shapes.push_back({.dims = x.dims, .type = x.type, .part = x.part});
      job_.inputs.push_back(packed ? nullptr : inputs_.back().bytes());
    }
    job_.parts = o.parts;
    job_.output = output_.bytes();
    job_.element = detail::element_type(l, t);
    job_.result = results_[0].type;
    job_.results = results_;
    job_.scale = static_cast<float>(o.output_scale);
    job_.threads = s.threads;
    job_.weights = &current_;
    kernel_ = detail::kernel_for(l, job_);
  }

  std::string ran() const override { return kernel_.way; }
  std::int64_t weight_bytes() const override { return weight_bytes_; }

  double packing_ns() const override { return packing_ns_; }
  void copy_weights(std::byte* to) const override {
    if (own_ != nullptr) std::memcpy(to, own_, static_cast<std::size_t>(weight_bytes_));
  }

  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    pool_ = weight_bytes_ > 0 ? pool : nullptr;
    stride_ = stride;
    places_ = count;
    if (pool_ == nullptr) current_ = own_;
  }

  chainable* chain() override { return this; }
  std::int64_t operand_bytes(int input) const override {
    const tensor& x = job_.shapes[static_cast<std::size_t>(input)];
    return x.part == role::source ? bytes_of(x.type, elements(x.dims)) : 0;
  }
  std::int64_t result_bytes() const override { return results_.back().end_bytes(); }
  void connect(int input, std::byte* data) override {
    job_.inputs[static_cast<std::size_t>(input)] = data;
    kernel_ = detail::kernel_for(layer_, job_);
  }
  void connect_result(std::byte* data) override {
    job_.output = data;
    kernel_ = detail::kernel_for(layer_, job_);
  }

  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (std::size_t i = 0; i < job_.inputs.size(); ++i)
      if (const auto bytes = operand_bytes(static_cast<int>(i)); bytes > 0)
        out.emplace_back(const_cast<std::byte*>(job_.inputs[i]), static_cast<std::size_t>(bytes));
    return out;
  }
  std::span<std::byte> result_memory() const override {
    return {job_.output, static_cast<std::size_t>(result_bytes())};
  }

  void run(int executions) override {
    machine::at_stack_place(stack_place(), [&] { execute(executions); });
  }

  double time(int executions) override {
    const stopwatch timer;
    run(executions);
    return timer.ns();
  }

  void read(std::vector<double>& out) const override {
    out.clear();
    std::vector<double> its;
    for (const placed_result& r : results_) {
      load_all(r.type, job_.output + r.offset, r.count(), its);
      out.insert(out.end(), its.begin(), its.end());
    }
  }

private:
  void execute(int executions) {
    if (pool_ == nullptr) {
      for (int i = 0; i < executions; ++i)
        kernel_.run();
      return;
    }
    for (int i = 0; i < executions; ++i) {
      current_ = pool_ + i % places_ * stride_;
      kernel_.run();
    }
  }

  op::layer layer_;
  std::vector<placed_result> results_;
  std::vector<detail::buffer> inputs_;
  detail::buffer output_;
  std::optional<detail::buffer> folded_;
  std::int64_t weight_bytes_ = 0;
  double packing_ns_ = 0;
  const std::byte *own_ = nullptr, *current_ = nullptr;
  std::byte* pool_ = nullptr;
  std::int64_t stride_ = 0, places_ = 1;
  detail::job job_;
  detail::kernel kernel_;
};

/// Plain kernels on the host's cores.
class library final : public backend::library {
public:
  std::string_view name() const override { return "host"; }

  std::map<std::string, std::string> facts() const override {
#ifdef _OPENMP
    const std::string threading = "OpenMP " + std::to_string(_OPENMP);
#else
    const std::string threading = "none";
#endif
    return {{"threading", threading},
            {"compiler", __VERSION__},
            {"instructions", detail::instructions},
            // Raised when kernels change: what was measured before is not theirs.
            {"kernels", "8"},
            {"tile_bytes", std::to_string(detail::tile_bytes)}};
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting&) override {
    // TF32 is a way of multiplying; here it would be the same as f32.
    if (t == numeric::tf32 || !detail::offered(l, t)) return {};
    algorithm a;
    a.id = detail::way_of(l, t);
    a.equivalence = std::string(benanza::name(t));
    a.layouts = "plain";
    a.operand_layouts = a.result_layout =
        detail::flat(l) ? any_layout_name : benanza::name(layout::plain);
    a.fallback = "host";
    a.flops = op::cost(l).flops();
    return {a};
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& o, const setting& s) override {
    if (!detail::offered(l, t))
      throw error("there is no host kernel for this layer and type",
                  op::name(l) + ", " + std::string(benanza::name(t)));
    auto made = std::make_unique<prepared_kernel>(l, t, o, s);
    if (made->ran() != a.id)
      throw error("a host kernel is called \"" + made->ran() + "\", not \"" + a.id + '"',
                  op::name(l));
    return made;
  }
};

} // namespace benanza::backend::host
