// SPDX-License-Identifier: Apache-2.0
// The calls of ones_rows.hpp, ready to run: each made once, and given the rows that are next. Where
// the last ones are fewer, some of those before are computed again.
//
//   ones_rows_execution e(device, offer, operands, {.threads = 1});   e.run(1);
#pragma once

#include "../number.hpp"
#include "../packed_weights.hpp"
#include "ones_rows.hpp"
#include "rotating_weights.hpp"
#include "timed_call.hpp"

#include <deque>
#include <map>

namespace benanza::backend::onednn {

class ones_rows_execution final : public timed_call, public packed_weights {
public:
  ones_rows_execution(std::shared_ptr<device> on, ones_rows_offer what, const operands& values,
                      const setting& s)
      : timed_call(s.threads)
      , device_(std::move(on))
      , what_(std::move(what))
      , source_(values.inputs.at(0).bytes)
      , result_(source_.size())
      , from_(source_.data())
      , to_(result_.data()) {
    const tensor& x = values.inputs[0];
    if (storage(x.type) != what_.type || x.count() != what_.rows * what_.length)
      throw error("an operand is not of the case's type and size");
    type_ = x.type;
    use_threads(threads_);
    const stopwatch timer;
    for (std::size_t i = 1; i < values.inputs.size(); ++i) {
      const rows_place p = i == 1 ? rows_place::scale : rows_place::bias;
      buffers_.emplace_back(values.inputs[i].bytes);
      memory_at(p, &buffers_.back());
      weights_.add(memories_.back());
    }
    packing_ns_ = timer.ns();
    for (const rows_call& c : what_.calls) {
      call made{.primitive = dnnl::primitive(c.how.get())};
      for (const auto& [id, place] : c.arguments)
        made.arguments.push_back(
            {id, place == rows_place::ones ? ones_for(c.how) : memory_at(place)});
      if (const description d = c.how.scratchpad_desc(); d.get_size() > 0)
        made.arguments.push_back({DNNL_ARG_SCRATCHPAD, keep(d)});
      calls_.push_back(std::move(made));
    }
  }

  std::string ran() const override {
    const std::string& id = what_.what.id;
    return id.substr(0, id.find(':', id.find(':') + 1) + 1) +
           plain_name(implementation_name(calls_[what_.product].primitive));
  }

  std::int64_t weight_bytes() const override { return weights_.bytes(); }
  double packing_ns() const override { return packing_ns_; }
  void copy_weights(std::byte* to) const override { weights_.copy(to); }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    weights_.rotate(pool, stride, count);
  }

  std::int64_t operand_bytes(int input) const override {
    return input == 0 ? static_cast<std::int64_t>(source_.size()) : 0;
  }
  std::int64_t result_bytes() const override { return static_cast<std::int64_t>(result_.size()); }
  void connect(int input, std::byte* data) override {
    if (input == 0) from_ = data;
  }
  void connect_result(std::byte* data) override { to_ = data; }
  std::vector<std::span<std::byte>> operand_memory() const override {
    return {{from_, source_.size()}};
  }
  std::span<std::byte> result_memory() const override { return {to_, result_.size()}; }

  void read(std::vector<double>& out) const override {
    out.clear();
    load_all(type_, to_, what_.rows * what_.length, out);
  }

private:
  struct call {
    dnnl::primitive primitive{};
    std::vector<dnnl_exec_arg_t> arguments{};
  };

  /// New memory, or that of `bytes`.
  dnnl_memory_t keep(const description& d, aligned_bytes* bytes = nullptr) {
    if (bytes == nullptr) bytes = &buffers_.emplace_back(d.get_size());
    memories_.emplace_back(d, device_->engine, bytes->data());
    return memories_.back().get();
  }
  /// The memory of a place, which calls share.
  dnnl_memory_t memory_at(rows_place p, aligned_bytes* bytes = nullptr) {
    const auto known = places_.find(p);
    if (known != places_.end()) return known->second;
    const description d = what_.described(p);
    const bool moves = p == rows_place::source || p == rows_place::result;
    if (moves) bytes = p == rows_place::source ? &source_ : &result_;
    return places_[p] = keep(d, bytes);
  }
  /// Ones as an implementation wants them.
  dnnl_memory_t ones_for(const implementation& how) {
    const bool matmul = what_.what.id.starts_with("ones:matmul:");
    const dims sizes = matmul ? dims{what_.length, 1} : dims{1, what_.length};
    const description wide = dense(sizes, data_type::f32), plain = dense(sizes, what_.type);
    description wanted = how.query_md(dnnl::query::exec_arg_md, DNNL_ARG_WEIGHTS);
    if (wanted.is_zero()) wanted = plain;
    keep(wide);
    dnnl::memory begin = memories_.back();
    std::fill_n(static_cast<float*>(begin.get_data_handle()), what_.length, 1.f);
    for (const description& d : {plain, wanted}) {
      keep(d);
      dnnl::memory next = memories_.back();
      dnnl::reorder(begin, next).execute(device_->stream, begin, next);
      device_->stream.wait();
      begin = next;
    }
    return memories_.back().get();
  }

  void execute(int executions) override {
    dnnl_status_t status = dnnl_success;
    const std::int64_t row = what_.length * size_bytes(type_);
    dnnl_memory_t source = places_.at(rows_place::source), result = places_.at(rows_place::result);
    machine::at_stack_place(stack_place(), [&] {
      for (int i = 0; i < executions && status == dnnl_success; ++i) {
        weights_.advance();
        for (std::int64_t at = 0; at < what_.rows && status == dnnl_success; at += what_.at_once) {
          const std::int64_t skipped = std::min(at, what_.rows - what_.at_once) * row;
          dnnl_memory_set_data_handle(source, from_ + skipped);
          dnnl_memory_set_data_handle(result, to_ + skipped);
          for (const call& c : calls_)
            if (status == dnnl_success)
              status =
                  dnnl_primitive_execute(c.primitive.get(), device_->stream.get(),
                                         static_cast<int>(c.arguments.size()), c.arguments.data());
        }
      }
    });
    if (status == dnnl_success) status = dnnl_stream_wait(device_->stream.get());
    if (status != dnnl_success)
      throw error(std::string("oneDNN: an execution failed: ") + dnnl_status2str(status),
                  what_.what.id);
  }

  std::shared_ptr<device> device_;
  ones_rows_offer what_;
  dtype type_ = dtype::f32;
  aligned_bytes source_, result_;
  std::byte *from_, *to_;
  std::deque<aligned_bytes> buffers_{};
  std::deque<dnnl::memory> memories_{};
  std::map<rows_place, dnnl_memory_t> places_{};
  rotating_weights weights_{};
  std::vector<call> calls_{};
  double packing_ns_ = 0;
};

} // namespace benanza::backend::onednn
