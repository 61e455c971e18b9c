// SPDX-License-Identifier: Apache-2.0
// One implementation of one layer, ready to run: operands reordered into its layouts, scratch
// memory and argument list made, all outside timing. A run is the library's C call and nothing
// else, but that a zero point which is an operand is widened before it; the clock is the host's,
// because the CPU stream has ended when the call returns.
//
//   execution e(device, offer, operands, {.threads = 1});   e.run(1);   double ns = e.time(100);
#pragma once

#include "../packed_weights.hpp"
#include "enumerate.hpp"
#include "rotating_weights.hpp"
#include "timed_call.hpp"

#include <bit>

namespace benanza::backend::onednn {

namespace detail {
template <class T>
void widen_all(const aligned_bytes& from, std::vector<double>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T v{};
    std::memcpy(&v, from.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(v);
  }
}
} // namespace detail

inline void reorder(const dnnl::memory& from, const dnnl::memory& to, const device& on) {
  dnnl::memory source = from, result = to;
  dnnl::reorder(source, result).execute(on.stream, source, result);
  dnnl_stream_wait(on.stream.get());
}

/// Waits for what was started; throws where something failed.
inline void finish(dnnl_status_t status, const device& on, const std::string& id) {
  if (status == dnnl_success) status = dnnl_stream_wait(on.stream.get());
  if (status != dnnl_success)
    throw error(std::string("oneDNN: an execution failed: ") + dnnl_status2str(status), id);
}

/// The values of a result, in the order of `plain`.
inline void read_result(const dnnl::memory& result, const description& plain, const device& on,
                        std::vector<double>& out) {
  const aligned_bytes bytes(plain.get_size());
  reorder(result, dnnl::memory(plain, on.engine, const_cast<std::byte*>(bytes.data())), on);
  std::int64_t count = 1;
  for (const auto d : anatomy(plain).sizes)
    count *= d;
  out.resize(static_cast<std::size_t>(count));
  switch (type_of(plain)) {
  case data_type::f32: return detail::widen_all<float>(bytes, out);
  case data_type::s32: return detail::widen_all<std::int32_t>(bytes, out);
  case data_type::s8: return detail::widen_all<std::int8_t>(bytes, out);
  case data_type::u8: return detail::widen_all<std::uint8_t>(bytes, out);
  default:
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      out[i] = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16));
    }
  }
}

class execution final : public timed_call, public packed_weights {
public:
  execution(std::shared_ptr<device> on, offer what, const operands& values, const setting& s)
      : timed_call(s.threads)
      , device_(std::move(on))
      , what_(std::move(what))
      , keeps_operands_(s.keeps_operands)
      , packed_(s.packed) {
    use_threads(threads_);
    primitive_ = dnnl::primitive(what_.how.get());
    for (const argument& a : what_.made_by->arguments) {
      const stopwatch timer;
      bind(a, values);
      if (a.constant) packing_ns_ += timer.ns();
    }
    for (const auto& given : what_.made_by->given)
      give(given, values);
    if (overwritten_ < 0) {
      result_ = allocate(result_of(*what_.made_by, what_.how));
      arguments_.push_back({what_.made_by->result_id, result_.get()});
    }
    if (const description d = what_.how.scratchpad_desc(); d.get_size() > 0) {
      scratch_ = allocate(d);
      arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratch_.get()});
    }
  }

  std::string ran() const override {
    return what_.before + plain_name(implementation_name(primitive_)) + what_.after;
  }

  std::int64_t weight_bytes() const override { return weights_.bytes(); }
  double packing_ns() const override { return packing_ns_; }
  void copy_weights(std::byte* to) const override { weights_.copy(to); }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    weights_.rotate(pool, stride, count);
  }

  std::int64_t operand_bytes(int input) const override {
    for (const flowing& f : flowing_)
      if (f.input == input) return f.bytes;
    for (const code& c : codes_)
      if (c.input == input) return 1;
    return 0;
  }
  std::int64_t result_bytes() const override {
    return static_cast<std::int64_t>(result_.get_desc().get_size());
  }
  void connect(int input, std::byte* data) override {
    for (const flowing& f : flowing_)
      if (f.input == input) dnnl_memory_set_data_handle(f.memory, data + f.skipped);
    for (code& c : codes_)
      if (c.input == input) c.from = data;
  }
  void connect_result(std::byte* data) override {
    dnnl_memory_set_data_handle(result_.get(), data);
  }
  std::int64_t scratch_bytes() const override {
    return scratch_ ? static_cast<std::int64_t>(scratch_.get_desc().get_size()) : 0;
  }
  void connect_scratch(std::byte* data) override {
    if (scratch_) dnnl_memory_set_data_handle(scratch_.get(), data);
  }
  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (const flowing& f : flowing_)
      out.emplace_back(place_of(f.memory) - f.skipped, static_cast<std::size_t>(f.bytes));
    return out;
  }
  std::span<std::byte> result_memory() const override {
    return {place_of(result_.get()), static_cast<std::size_t>(result_bytes())};
  }
  std::span<std::byte> scratch_memory() const override {
    if (!scratch_) return {};
    return {place_of(scratch_.get()), static_cast<std::size_t>(scratch_bytes())};
  }
  int overwritten() const override { return overwritten_; }

  void read(std::vector<double>& out) const override {
    use_threads(threads_);
    read_result(result_, what_.made_by->result, *device_, out);
  }

  /// Frees the memory of its activations and of scratch: they are elsewhere from now on.
  void give_up_memory() {
    std::vector<const std::byte*> own{place_of(result_.get())};
    for (const flowing& f : flowing_)
      own.push_back(place_of(f.memory) - f.skipped);
    if (scratch_) own.push_back(place_of(scratch_.get()));
    std::erase_if(buffers_, [&](const aligned_bytes& b) {
      return std::find(own.begin(), own.end(), b.data()) != own.end();
    });
  }

  /// One execution; the only place from which the library computes.
  dnnl_status_t call() {
    weights_.advance();
    for (const code& c : codes_)
      c.widen();
    return dnnl_primitive_execute(primitive_.get(), device_->stream.get(),
                                  static_cast<int>(arguments_.size()), arguments_.data());
  }

private:
  /// Data that comes from other layers of a chain.
  struct flowing {
    int input;
    dnnl_memory_t memory;
    std::int64_t bytes;
    std::size_t skipped;
  };
  /// A zero point that comes from another layer, and where the library wants it.
  struct code {
    int input;
    bool is_signed;
    const std::byte* from;
    std::int32_t* to;

    void widen() const {
      const auto bits = std::to_integer<std::uint8_t>(*from);
      *to = is_signed ? std::int32_t{static_cast<std::int8_t>(bits)} : std::int32_t{bits};
    }
  };

  static std::byte* place_of(dnnl_memory_t memory) {
    void* data = nullptr;
    dnnl_memory_get_data_handle(memory, &data);
    return static_cast<std::byte*>(data);
  }

  dnnl::memory allocate(const description& d) {
    buffers_.emplace_back(d.get_size());
    return {d, device_->engine, buffers_.back().data()};
  }

  /// Bytes from the first element to the last; the library's own figure rounds strided rows up.
  static std::size_t span_bytes(const description& d) {
    const anatomy a(d);
    std::int64_t last = 0;
    for (std::size_t i = 0; i < a.sizes.size(); ++i)
      last += (a.sizes[i] - 1) * a.strides[i];
    return static_cast<std::size_t>(last + 1) * dnnl::memory::data_type_size(type_of(d));
  }

  /// A reorder, or two: some packed layouts can be made only from f32.
  void fill(const dnnl::memory& from, dnnl::memory& to) const {
    try {
      reorder(from, to, *device_);
    } catch (const dnnl::error&) {
      const anatomy a(from.get_desc());
      if (type_of(from.get_desc()) == data_type::f32) throw;
      const description wide = dense(a.sizes, data_type::f32);
      const aligned_bytes bytes(wide.get_size());
      dnnl::memory between(wide, device_->engine, bytes.data());
      reorder(from, between, *device_);
      reorder(between, to, *device_);
    }
  }

  /// The operand times its factors, as f32.
  static tensor_bytes times(const tensor& from, const argument& a) {
    if (from.type != dtype::f32 && a.factors.empty())
      throw error("only f32 operands can be scaled");
    const std::int64_t count = from.count(), factors = std::ssize(a.factors);
    if (factors > 1 && factors != count) throw error("an operand has not one scale for each value");
    tensor_bytes out(static_cast<std::size_t>(count) * sizeof(float));
    for (std::int64_t i = 0; i < count; ++i) {
      const double factor =
          factors == 0 ? a.factor : a.factors[static_cast<std::size_t>(factors == 1 ? 0 : i)];
      const auto v = static_cast<float>(load(from.type, from.bytes.data(), i) * factor);
      std::memcpy(out.data() + static_cast<std::size_t>(i) * sizeof(float), &v, sizeof(float));
    }
    return out;
  }

  /// Scales or a zero point, which are read by each execution.
  void give(const version::run_time_value& v, const operands& values) {
    const bool scales = !v.factors.empty();
    const dims count{scales ? std::ssize(v.factors) : 1};
    dnnl::memory m = allocate(dense(count, scales ? data_type::f32 : data_type::s32));
    if (v.input >= 0) {
      const tensor& held = values.inputs[static_cast<std::size_t>(v.input)];
      buffers_.emplace_back(std::span<const std::byte>(held.bytes));
      codes_.push_back({v.input, held.type == dtype::s8, buffers_.back().data(),
                        static_cast<std::int32_t*>(m.get_data_handle())});
    }
    std::memcpy(m.get_data_handle(), scales ? static_cast<const void*>(v.factors.data()) : &v.zero,
                static_cast<std::size_t>(count[0]) * 4);
    arguments_.push_back({v.id, m.get()});
    inputs_.push_back(std::move(m));
  }

  /// Brings an operand into the layout that the implementation wants.
  void bind(const argument& a, const operands& values) {
    if (a.filled) return bind_filled(a);
    if (a.constant && packed_ != nullptr) return bind_packed(a);
    if (static_cast<std::size_t>(a.input) >= values.inputs.size())
      throw error("an operand is missing");
    const tensor& from = values.inputs[static_cast<std::size_t>(a.input)];
    const bool as_it_is = a.factor == 1 && a.factors.empty();
    if (storage(from.type) != type_of(a.stored) && a.factors.empty())
      throw error("an operand is not of the case's type");
    const auto skipped = static_cast<std::size_t>(a.first * size_bytes(from.type));
    if (span_bytes(a.stored) + skipped > from.bytes.size())
      throw error("an operand is smaller than its layer says");

    tensor_bytes scaled;
    if (!as_it_is) scaled = times(from, a);
    const std::span<const std::byte> given = as_it_is ? from.bytes : scaled;
    const bool lent = keeps_operands_ && a.constant && as_it_is &&
                      given.size() >= machine::page_store::smallest; // and so begins with a page
    const description wanted = wanted_for(a);
    dnnl::memory to;
    // The library reads this memory only, but has no type for that.
    auto* const first = const_cast<std::byte*>(given.data() + skipped);
    if (wanted == a.stored && lent) {
      to = {wanted, device_->engine, first};
    } else if (wanted == a.stored) {
      buffers_.emplace_back(given);
      to = {wanted, device_->engine, buffers_.back().data() + skipped};
    } else {
      to = allocate(wanted);
      fill(dnnl::memory(a.stored, device_->engine, first), to);
    }
    if (a.constant) weights_.add(to);
    if (a.activation())
      flowing_.push_back({a.input, to.get(),
                          static_cast<std::int64_t>(std::max(
                              wanted.get_size() + skipped, wanted == a.stored ? given.size() : 0)),
                          skipped});
    if (a.id == DNNL_ARG_DST) {
      overwritten_ = a.input;
      result_ = to;
    }
    arguments_.push_back({a.id, to.get()});
    inputs_.push_back(std::move(to));
  }

  description wanted_for(const argument& a) const {
    const description wanted = what_.how.query_md(dnnl::query::exec_arg_md, a.id);
    return wanted.is_zero() ? a.stored : wanted;
  }

  /// Packed weights, behind those of the arguments before.
  void bind_packed(const argument& a) {
    const dnnl::memory m(wanted_for(a), device_->engine,
                         const_cast<std::byte*>(packed_ + weights_.bytes()));
    weights_.add(m);
    arguments_.push_back({a.id, m.get()});
    inputs_.push_back(m);
  }

  /// An argument that is the same whatever the operands are.
  void bind_filled(const argument& a) {
    const description wide = dense(anatomy(a.stored).sizes, data_type::f32);
    const aligned_bytes bytes(wide.get_size());
    std::fill_n(reinterpret_cast<float*>(bytes.data()), wide.get_size() / sizeof(float), *a.filled);
    dnnl::memory to = allocate(wanted_for(a));
    dnnl::memory plain = allocate(a.stored);
    reorder(dnnl::memory(wide, device_->engine, bytes.data()), plain, *device_);
    fill(plain, to);
    arguments_.push_back({a.id, to.get()});
    inputs_.push_back(std::move(to));
  }

  void execute(int executions) override {
    dnnl_status_t status = dnnl_success;
    machine::at_stack_place(stack_place(), [&] {
      for (int i = 0; i < executions && status == dnnl_success; ++i)
        status = call();
    });
    finish(status, *device_, what_.what.id);
  }

  std::shared_ptr<device> device_;
  offer what_;
  bool keeps_operands_;
  const std::byte* packed_;
  dnnl::primitive primitive_{};
  std::vector<aligned_bytes> buffers_{};
  std::vector<dnnl::memory> inputs_{};
  dnnl::memory result_{}, scratch_{};
  std::vector<dnnl_exec_arg_t> arguments_{};
  rotating_weights weights_{};
  std::vector<flowing> flowing_{};
  std::vector<code> codes_{};
  int overwritten_ = -1;
  double packing_ns_ = 0;
};

} // namespace benanza::backend::onednn
