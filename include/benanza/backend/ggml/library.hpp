// SPDX-License-Identifier: Apache-2.0
// ggml as a backend: the products of llama.cpp on the processor, with weights in ggml's blocks as a
// file holds them (`mul_mat`), and as ggml packs them for the processor where it does
// (`mul_mat:repack`). It rounds activations to 8 bits or to half floats, so its results are a class
// of their own (core/rounded.hpp): they are measured beside the exact ones, and set no bound.
//
//   const backend::registration<ggml::library> here{"ggml"};
#pragma once

#include "../../core/rounded.hpp"
#include "../../core/stopwatch.hpp"
#include "../../op/kinds.hpp"
#include "../concept.hpp"
#include "../packed_weights.hpp"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace benanza::backend::ggml {

namespace detail {

/// What of the library's is freed at the end.
template <auto Free>
struct freed {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using context = std::unique_ptr<ggml_context, freed<ggml_free>>;
using buffer = std::unique_ptr<ggml_backend_buffer, freed<ggml_backend_buffer_free>>;
using processor = std::unique_ptr<ggml_backend, freed<ggml_backend_free>>;

inline ggml_type type_of(op::ggml_format f) {
  using enum op::ggml_format;
  switch (f) {
  case op::ggml_format::f16: return GGML_TYPE_F16;
  case op::ggml_format::bf16: return GGML_TYPE_BF16;
  case q4_0: return GGML_TYPE_Q4_0;
  case q4_1: return GGML_TYPE_Q4_1;
  case q5_0: return GGML_TYPE_Q5_0;
  case q5_1: return GGML_TYPE_Q5_1;
  case q8_0: return GGML_TYPE_Q8_0;
  case q4_k: return GGML_TYPE_Q4_K;
  case q5_k: return GGML_TYPE_Q5_K;
  case q6_k: return GGML_TYPE_Q6_K;
  case iq4_nl: return GGML_TYPE_IQ4_NL;
  case iq4_xs: return GGML_TYPE_IQ4_XS;
  case mxfp4: return GGML_TYPE_MXFP4;
  }
  throw error("a format that ggml does not have");
}

/// Where weights may be: as a file has them, and as the processor's own layouts have them.
inline std::vector<std::pair<std::string, ggml_backend_buffer_type_t>> places() {
  std::vector<std::pair<std::string, ggml_backend_buffer_type_t>> out{
      {"mul_mat", ggml_backend_cpu_buffer_type()}};
  const ggml_backend_dev_t device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
  const auto extra =
      reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return out;
  for (ggml_backend_buffer_type_t* its = extra(device); its != nullptr && *its != nullptr; ++its) {
    std::string name = ggml_backend_buft_name(*its); // CPU_REPACK, AMX
    if (name.starts_with("CPU_")) name.erase(0, 4);
    for (char& c : name)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.emplace_back("mul_mat:" + name, *its);
  }
  return out;
}

/// A product, with memory for its weights alone.
struct product {
  context weights_of, rest_of;
  buffer memory{};
  ggml_tensor *weights, *source, *result;

  explicit product(const op::matmul_ggml& p)
      : weights_of(make(1))
      , rest_of(make(8)) {
    weights = ggml_new_tensor_2d(weights_of.get(), type_of(p.format), p.length(), p.n);
    source = ggml_new_tensor_2d(rest_of.get(), GGML_TYPE_F32, p.length(), p.rows());
    result = ggml_mul_mat(rest_of.get(), weights, source);
  }

  /// True if the processor computes it with weights in such memory.
  bool computed_from(ggml_backend_buffer_type_t where) const {
    const buffer empty(ggml_backend_buft_alloc_buffer(where, 0));
    weights->buffer = empty.get();
    const bool can =
        ggml_backend_dev_supports_op(ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0), result);
    weights->buffer = nullptr;
    return can;
  }
  void place(ggml_backend_buffer_type_t where) {
    memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(weights_of.get(), where));
    if (memory == nullptr) throw std::bad_alloc();
  }

private:
  static context make(std::size_t tensors) {
    context made(
        ggml_init({tensors * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true}));
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }
};

} // namespace detail

/// A product whose graph is made.
class prepared_product final : public prepared, public chainable, public packed_weights {
public:
  prepared_product(const op::matmul_ggml& p, const std::string& id,
                   ggml_backend_buffer_type_t where, const operands& o, const setting& s)
      : id_(id)
      , product_(p)
      , source_(static_cast<std::size_t>(elements(p.a)))
      , result_(static_cast<std::size_t>(elements(p.output())))
      , processor_(ggml_backend_cpu_init()) {
    const stopwatch timer;
    product_.place(where);
    weight_bytes_ =
        static_cast<std::int64_t>(ggml_backend_buft_get_alloc_size(where, product_.weights));
    const tensor& w = o.inputs[1];
    if (w.bytes.size() != ggml_nbytes(product_.weights))
      throw error("ggml has these weights in another number of bytes", id);
    ggml_backend_tensor_set(product_.weights, w.bytes.data(), 0, w.bytes.size());
    packing_ns_ = timer.ns();
    own_ = product_.weights->data;
    std::memcpy(source_.data(), o.inputs[0].bytes.data(), source_.size() * sizeof(float));
    connect(0, reinterpret_cast<std::byte*>(source_.data()));
    connect_result(reinterpret_cast<std::byte*>(result_.data()));
    ggml_backend_cpu_set_n_threads(processor_.get(), s.threads);
    graph_ = ggml_new_graph_custom(graph_of_.get(), 4, false);
    ggml_build_forward_expand(graph_, product_.result);
  }

  std::string ran() const override { return id_; }
  std::int64_t weight_bytes() const override { return weight_bytes_; }
  double packing_ns() const override { return packing_ns_; }
  void copy_weights(std::byte* to) const override {
    std::memcpy(to, own_, static_cast<std::size_t>(weight_bytes_));
  }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    pool_ = pool, stride_ = stride, places_ = count;
    if (pool_ == nullptr) product_.weights->data = own_;
  }

  chainable* chain() override { return this; }
  std::int64_t operand_bytes(int input) const override {
    return input == 0 ? static_cast<std::int64_t>(ggml_nbytes(product_.source)) : 0;
  }
  std::int64_t result_bytes() const override {
    return static_cast<std::int64_t>(ggml_nbytes(product_.result));
  }
  void connect(int, std::byte* data) override { product_.source->data = data; }
  void connect_result(std::byte* data) override { product_.result->data = data; }
  std::vector<std::span<std::byte>> operand_memory() const override {
    return {{static_cast<std::byte*>(product_.source->data), ggml_nbytes(product_.source)}};
  }
  std::span<std::byte> result_memory() const override {
    return {static_cast<std::byte*>(product_.result->data), ggml_nbytes(product_.result)};
  }

  void run(int executions) override {
    for (int i = 0; i < executions; ++i) {
      if (pool_ != nullptr) product_.weights->data = pool_ + i % places_ * stride_;
      if (ggml_backend_graph_compute(processor_.get(), graph_) != GGML_STATUS_SUCCESS)
        throw error("ggml cannot compute it", id_);
    }
  }
  double time(int executions) override {
    const stopwatch timer;
    run(executions);
    return timer.ns();
  }
  void read(std::vector<double>& out) const override {
    const auto* its = static_cast<const float*>(product_.result->data);
    out.assign(its, its + ggml_nelements(product_.result));
  }

private:
  std::string id_;
  detail::product product_;
  detail::context graph_of_{ggml_init({ggml_graph_overhead_custom(4, false), nullptr, true})};
  std::vector<float> source_, result_;
  detail::processor processor_;
  ggml_cgraph* graph_ = nullptr;
  void* own_ = nullptr;
  std::byte* pool_ = nullptr;
  std::int64_t weight_bytes_ = 0, stride_ = 0, places_ = 1;
  double packing_ns_ = 0;
};

class library final : public backend::library {
public:
  explicit library(std::string name = "ggml")
      : name_(std::move(name)) {
    ggml_cpu_init();
  }

  std::string_view name() const override { return name_; }

  std::map<std::string, std::string> facts() const override {
    std::string has;
    for (const auto& [word, there] : std::array<std::pair<const char*, int>, 8>{
             {{"AVX2", ggml_cpu_has_avx2()},
              {"AVX-512", ggml_cpu_has_avx512()},
              {"VNNI", ggml_cpu_has_avx512_vnni() + ggml_cpu_has_avx_vnni()},
              {"AMX", ggml_cpu_has_amx_int8()},
              {"NEON", ggml_cpu_has_neon()},
              {"dotprod", ggml_cpu_has_dotprod()},
              {"i8mm", ggml_cpu_has_matmul_int8()},
              {"SVE", ggml_cpu_has_sve()}}})
      if (there != 0) has += (has.empty() ? "" : " ") + std::string(word);
    return {{"version", ggml_version()}, {"commit", ggml_commit()}, {"instruction_set", has}};
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting&) override {
    std::vector<algorithm> out;
    const auto* p = op::as<op::matmul_ggml>(l);
    if (p == nullptr || t != numeric::f32 || p->experts != 1) return out;
    const detail::product made(*p);
    for (const auto& [id, where] : detail::places()) {
      if (!made.computed_from(where)) continue;
      algorithm a;
      a.id = id;
      a.index = static_cast<int>(out.size());
      a.equivalence = rounded_class(t);
      a.layouts = "plain";
      a.operand_layouts = a.result_layout = benanza::name(layout::plain);
      a.flops = op::cost(l).flops();
      out.push_back(std::move(a));
    }
    return out;
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric, const algorithm& a,
                                    const operands& o, const setting& s) override {
    for (const auto& [id, where] : detail::places())
      if (id == a.id)
        return std::make_unique<prepared_product>(op::get<op::matmul_ggml>(l), id, where, o, s);
    throw error("ggml does not offer this algorithm here", op::name(l) + ", " + a.id);
  }

private:
  std::string name_;
};

} // namespace benanza::backend::ggml
