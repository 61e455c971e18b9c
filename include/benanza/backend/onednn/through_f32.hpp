// SPDX-License-Identifier: Apache-2.0
// Products and convolutions in bf16 by kernels of f32: the activations are converted before and
// behind, the weights once. Products of bf16 numbers are exact in f32, so the result is that of a
// bf16 kernel or nearer. It wins where a processor has no matrix units for bf16: its dot products
// may be no faster than f32's, and f32 has Winograd.
//
//   for (const widened_offer& o : widened_offers(layer, numeric::bf16, {.threads = 1}, engine))
//     o.what.id;   // "f32:jit:avx512_core"
#pragma once

#include "execution.hpp"

namespace benanza::backend::onednn {

/// An algorithm of f32 with what is converted before and behind it. Places are in scratch memory,
/// of which the algorithm's own is the first part.
struct widened_offer {
  struct converted {
    int input = -1;
    description plain{}, narrow{}, wide{}; ///< in bf16 as ONNX stores it and here; and in f32
    std::size_t place = 0;
  };
  algorithm what{};
  offer inner{};
  std::vector<converted> operands{};
  converted result{};
};

namespace detail {
/// The same layout with elements of another type; nothing where there is no way to say it.
inline std::optional<description> retyped(const description& d, data_type t) {
  const anatomy a(d);
  if (!a.plain) return {};
  if (a.block_dims.empty()) return description(a.sizes, t, a.strides);
  if (a.rank < 3 || a.rank > 5 || arranged(a.sizes, type_of(d), arrangement::blocked) != d)
    return {};
  return arranged(a.sizes, t, arrangement::blocked);
}

inline std::size_t cache_lines(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Nothing where an activation or the result is in a layout that bf16 does not have here.
inline std::optional<widened_offer> widened(offer from) {
  const recipe& r = *from.made_by;
  std::size_t end = cache_lines(from.how.scratchpad_desc().get_size());
  const auto place = [&](int input, const description& stored, const description& wide) {
    std::optional<widened_offer::converted> out;
    const auto plain = retyped(stored, data_type::bf16), narrow = retyped(wide, data_type::bf16);
    if (!plain || !narrow) return out;
    out = {.input = input, .plain = *plain, .narrow = *narrow, .wide = wide, .place = end};
    end += cache_lines(wide.get_size());
    return out;
  };
  widened_offer out;
  const auto result = place(-1, r.result, result_of(r, from.how));
  if (!result) return {};
  out.result = *result;
  for (const argument& a : r.arguments) {
    if (!a.activation()) continue;
    if (a.first != 0 || type_of(a.stored) != data_type::f32) return {};
    const description wanted = from.how.query_md(dnnl::query::exec_arg_md, a.id);
    auto operand = place(a.input, a.stored, wanted.is_zero() ? a.stored : wanted);
    if (!operand) return {};
    if (a.id == DNNL_ARG_DST) operand->place = result->place;
    out.operands.push_back(std::move(*operand));
  }
  from.before = std::string(by_f32) + from.before;
  out.what = from.what;
  out.what.id = std::string(by_f32) + from.what.id;
  out.what.equivalence = name(numeric::bf16);
  out.what.workspace_bytes = static_cast<std::int64_t>(end);
  out.inner = std::move(from);
  return out;
}

/// The operands with bf16 as f32.
inline operands widened(const operands& from) {
  operands out{
      .output_scale = from.output_scale, .parts = from.parts, .attributes = from.attributes};
  for (const tensor& x : from.inputs) {
    if (x.type != dtype::bf16) {
      out.inputs.push_back(x);
      continue;
    }
    tensor wide{.dims = x.dims, .type = dtype::f32, .part = x.part};
    wide.bytes.resize(static_cast<std::size_t>(x.count()) * sizeof(float));
    const auto to = wide.as<float>();
    for (std::int64_t i = 0; i < x.count(); ++i)
      to[static_cast<std::size_t>(i)] = static_cast<float>(load(x.type, x.bytes.data(), i));
    out.inputs.push_back(std::move(wide));
  }
  return out;
}

inline setting for_copies(setting s) {
  s.keeps_operands = false;
  return s;
}
} // namespace detail

/// What f32 offers for a layer in bf16; nothing where the processor has matrix units for that.
inline std::vector<widened_offer> widened_offers(const op::layer& l, numeric t, const setting& s,
                                                 const dnnl::engine& engine) {
  std::vector<widened_offer> out;
  const std::string set = effective_instruction_set();
  if (t != numeric::bf16 || set.find("amx") != std::string::npos || set == "avx10_2") return out;
  for (offer& o : offers(l, numeric::f32, s, engine)) {
    if (!o.made_by->multiplies || !o.what.fallback.empty() || o.what.result_layout.empty() ||
        o.what.id.starts_with("ones:"))
      continue;
    if (auto w = detail::widened(std::move(o))) out.push_back(std::move(*w));
  }
  return out;
}

class widened_execution final : public timed_call, public packed_weights {
public:
  widened_execution(std::shared_ptr<device> on, widened_offer what, const operands& values,
                    const setting& s)
      : timed_call(s.threads)
      , device_(std::move(on))
      , what_(std::move(what))
      , inner_(device_, what_.inner, detail::widened(values), detail::for_copies(s))
      , own_scratch_(static_cast<std::size_t>(what_.what.workspace_bytes)) {
    use_threads(threads_);
    for (const widened_offer::converted& c : what_.operands) {
      const auto at = static_cast<std::size_t>(c.input);
      const dnnl::memory given(c.plain, device_->engine,
                               const_cast<std::byte*>(values.inputs.at(at).bytes.data()));
      before_.emplace_back(*device_, c, true);
      reorder(given, before_.back().narrow, *device_);
    }
    behind_ = std::make_unique<conversion>(*device_, what_.result, false);
    inner_.give_up_memory();
    connect_scratch(own_scratch_.data());
  }

  std::string ran() const override { return inner_.ran(); }
  std::int64_t weight_bytes() const override { return inner_.weight_bytes(); }
  double packing_ns() const override { return inner_.packing_ns(); }
  void copy_weights(std::byte* to) const override { inner_.copy_weights(to); }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    inner_.rotate_weights(pool, stride, count);
  }

  std::int64_t operand_bytes(int input) const override {
    for (const conversion& c : before_)
      if (c.input == input) return std::ssize(c.memory());
    return 0;
  }
  std::int64_t result_bytes() const override { return std::ssize(behind_->memory()); }
  std::int64_t scratch_bytes() const override { return what_.what.workspace_bytes; }
  void connect(int input, std::byte* data) override {
    for (conversion& c : before_)
      if (c.input == input) c.narrow.set_data_handle(data);
  }
  void connect_result(std::byte* data) override { behind_->narrow.set_data_handle(data); }
  void connect_scratch(std::byte* data) override {
    scratch_ = data;
    inner_.connect_scratch(data);
    for (std::size_t i = 0; i < before_.size(); ++i) {
      std::byte* const to = data + what_.operands[i].place;
      before_[i].wide.set_data_handle(to);
      inner_.connect(before_[i].input, to);
    }
    behind_->wide.set_data_handle(data + what_.result.place);
    inner_.connect_result(data + what_.result.place);
  }
  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (const conversion& c : before_)
      out.push_back(c.memory());
    return out;
  }
  std::span<std::byte> result_memory() const override { return behind_->memory(); }
  std::span<std::byte> scratch_memory() const override {
    return {scratch_, static_cast<std::size_t>(scratch_bytes())};
  }

  void read(std::vector<double>& out) const override {
    use_threads(threads_);
    read_result(behind_->narrow, what_.result.plain, *device_, out);
  }

private:
  /// An activation in bf16 and in f32, and the way from one to the other.
  struct conversion {
    int input;
    aligned_bytes own;
    dnnl::memory narrow, wide;
    dnnl::reorder way;
    std::array<dnnl_exec_arg_t, 2> arguments;

    conversion(const device& on, const widened_offer::converted& c, bool widens)
        : input(c.input)
        , own(c.narrow.get_size())
        , narrow(c.narrow, on.engine, own.data())
        , wide(c.wide, on.engine, nullptr)
        , way(widens ? dnnl::reorder(narrow, wide) : dnnl::reorder(wide, narrow))
        , arguments{{{DNNL_ARG_FROM, (widens ? narrow : wide).get()},
                     {DNNL_ARG_TO, (widens ? wide : narrow).get()}}} {}

    dnnl_status_t call(const device& on) const {
      return dnnl_primitive_execute(way.get(), on.stream.get(), 2, arguments.data());
    }
    std::span<std::byte> memory() const {
      return {static_cast<std::byte*>(narrow.get_data_handle()), narrow.get_desc().get_size()};
    }
  };

  void execute(int executions) override {
    dnnl_status_t status = dnnl_success;
    machine::at_stack_place(stack_place(), [&] {
      for (int i = 0; i < executions && status == dnnl_success; ++i) {
        for (const conversion& c : before_)
          if (status == dnnl_success) status = c.call(*device_);
        if (status == dnnl_success) status = inner_.call();
        if (status == dnnl_success) status = behind_->call(*device_);
      }
    });
    finish(status, *device_, what_.what.id);
  }

  std::shared_ptr<device> device_;
  widened_offer what_;
  execution inner_;
  aligned_bytes own_scratch_;
  std::byte* scratch_ = nullptr;
  std::vector<conversion> before_{};
  std::unique_ptr<conversion> behind_{};
};

} // namespace benanza::backend::onednn
