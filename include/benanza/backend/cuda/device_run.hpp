// SPDX-License-Identifier: Apache-2.0
// What is common to everything that runs on the GPU: operands and a result in its memory, which
// algorithms of one layer may share, copies of them that rotate, times from its events. A library's
// own class places its operands when it is made, and says how one execution is put on the stream.
//
//   class execution : public cuda::device_run {
//     execution(...) : device_run(gpu, values, setting), x_(hold(0, placed)) { write({...}); }
//     void enqueue(std::int64_t copy) override { call(at(x_, copy), result(copy), scratch()); }
//   };
#pragma once

#include "../packed_weights.hpp"
#include "counters.hpp"
#include "timer.hpp"

#include <array>

namespace benanza::backend::cuda {

/// Bytes that one of several operands takes in a copy of them.
constexpr std::int64_t in_pool(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}
/// Results of more bytes are not downloaded whole to look at some elements.
inline constexpr std::int64_t read_whole_bytes = 1 << 20;

class device_run : public prepared, public device_control, public chainable, public packed_weights {
public:
  device_run(std::shared_ptr<gpu> on, const operands& values, const setting& s)
      : gpu_(std::move(on))
      , values_(values)
      , memory_(s.keeps_operands && s.interleaved ? gpu_->shared_memory()
                                                  : std::make_shared<group_memory>())
      , timer_(gpu_) {}
  ~device_run() override {
    if (copies_ && copies_->user == this) copies_->user = nullptr;
  }

  std::int64_t weight_bytes() const final { return weight_bytes_; }

  double packing_ns() const final { return packing_ns_; }
  double moving_ns() const final { return moving_ns_; }
  /// Back from the GPU, as they are in a copy that rotates.
  void copy_weights(std::byte* to) const final {
    for (const held& h : held_)
      if (h.constant) {
        download(h.place(), {to, static_cast<std::size_t>(h.bytes)});
        to += in_pool(h.bytes);
      }
  }

  /// Constants rotate through copies of random numbers. A layer without weights (vectors of
  /// parameters do not count) rotates all its operands and its result, through copies of the true
  /// ones that are made here.
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) final {
    const bool all = pool != nullptr && !has_weights_;
    const weight_slots wanted{all ? copies_->data() : pool, stride, count};
    if (all) fill(wanted);
    if (wanted.data == slots_.data && wanted.stride == slots_.stride &&
        wanted.count == slots_.count)
      return;
    slots_ = wanted;
    moved();
  }

  chainable* chain() final { return this; }
  std::int64_t operand_bytes(int input) const final {
    for (const held& h : held_)
      if (h.input == input && !h.constant) return h.bytes;
    return 0;
  }
  std::int64_t result_bytes() const final { return written_bytes(); }
  std::int64_t scratch_bytes() const final { return scratch_bytes_; }
  void connect(int input, std::byte* data) final {
    for (held& h : held_)
      if (h.input == input && !h.constant) h.elsewhere = data, h.own.reset();
    rebuild();
  }
  void connect_result(std::byte* data) final {
    result_elsewhere_ = data;
    result_.reset();
    rebuild();
  }
  void connect_scratch(std::byte* data) final {
    scratch_elsewhere_ = data;
    scratch_.reset();
    rebuild();
  }
  /// Of the GPU: the host cannot look at it.
  std::vector<std::span<std::byte>> operand_memory() const final {
    std::vector<std::span<std::byte>> out;
    for (const held& h : held_)
      if (!h.constant) out.emplace_back(h.place(), static_cast<std::size_t>(h.bytes));
    return out;
  }
  std::span<std::byte> result_memory() const final {
    return {result_place(), static_cast<std::size_t>(written_bytes())};
  }
  std::span<std::byte> scratch_memory() const final {
    return {scratch(), static_cast<std::size_t>(scratch_bytes_)};
  }

  device_control* own_device() final { return this; }
  void wake() final { gpu_->wake(); }
  double clock_ns() const final { return timer_.clock_ns(); }
  void begin_account() final { gpu_->watch().begin_stretch(); }
  device_account end_account() final {
    device_account out = gpu_->watch().end_stretch();
    out.remark = timer_.remark();
    return out;
  }
  std::optional<double> joules() final { return gpu_->watch().joules(); }
  /// One execution goes before: it may load or compile what it needs.
  std::vector<device_kernel> kernels() final {
    run(1);
    return cupti::of_this_process().observe([this] { run(1); });
  }
  device_counters counters() final {
    return counters::of_this_process().count([this] { run(1); });
  }
  weight_slots weight_pool() final {
    if (has_weights_) return gpu_->pool(weights_, weight_bytes_);
    const std::int64_t stride = all_bytes();
    if (stride == 0 || stride >= most_l2_sizes * gpu_->l2_bytes()) return {}; // drives itself out
    const std::int64_t count = gpu::copies_in(std::max(2 * stride, pooled_bytes), stride);
    copies_ = memory_->copies(stride * count);
    return {copies_->data(), stride, count};
  }
  void flush_before_each(bool flushed) final { flushed_ = flushed; }
  /// Events are good to half a microsecond.
  double shortest_sample_ns() const final { return flushed_ ? 1e5 : 1e6; }
  bool host_launches() const final { return !timer_.why_not_captured().empty(); }
  std::string remark() const final { return not_replayed(timer_); }

  void start() final {
    follow_moves();
    enqueue(0);
  }
  void run(int executions) final {
    for (int i = 0; i < executions; ++i)
      start();
    gpu_->stream().wait();
  }

  double time(int executions) final {
    follow_moves();
    const caches state = flushed_                 ? caches::cold
                         : slots_.data != nullptr ? caches::cold_weights
                                                  : caches::hot;
    return timer_.time(
        executions, state, copies(), [this](std::int64_t copy) { enqueue(copy); }, slots_.data);
  }

  void read(std::vector<double>& out) const final {
    std::vector<std::byte> bytes(static_cast<std::size_t>(written_bytes()));
    download(result_place(), bytes);
    out.clear();
    std::vector<double> one;
    for (const written& w : written_) {
      gather(w.as, std::span(bytes).subspan(static_cast<std::size_t>(w.offset)), one);
      out.insert(out.end(), one.begin(), one.end());
    }
  }
  void read_at(std::span<const std::int64_t> positions, std::int64_t count,
               std::vector<double>& out) const final {
    if (written_bytes() <= read_whole_bytes || written_.size() != 1 ||
        count != elements(written_[0].as.dims))
      return prepared::read_at(positions, count, out);
    const stored& as = written_[0].as;
    const std::int64_t width = size_bytes(as.type);
    std::vector<const std::byte*> from;
    for (const std::int64_t p : positions)
      from.push_back(result_place() + as.place_of(p) * width);
    const std::vector<std::byte> bytes = gpu_->download_each(from, width);
    load_all(as.type, bytes.data(), std::ssize(positions), out);
  }

protected:
  /// Puts one execution on the stream, with copy `copy` of what rotates.
  virtual void enqueue(std::int64_t copy) = 0;
  /// Some of its memory has moved.
  virtual void moved() {}

  // ---- when it is made ------------------------------------------------------------------------
  /// The layer's operand `input` as `as` says, multiplied by `factor`; its number here. Constant
  /// ones rotate.
  int hold(int input, const stored& as, bool constant, double factor = 1) {
    if (static_cast<std::size_t>(input) >= values_.inputs.size())
      throw error("an operand is missing");
    const tensor& x = values_.inputs[static_cast<std::size_t>(input)];
    const int made =
        hold({x.bytes.data(), as, factor}, constant, [&] { return spread(x, as, factor); });
    held_.back().input = input;
    has_weights_ = has_weights_ || (constant && x.part == role::weights);
    return made;
  }
  /// The same of what is computed from operands: those of `use` in its way `part`.
  template <class Make>
  int hold(const operand_use& use, bool constant, const Make& make) {
    double made_ns = 0;
    const stopwatch timer;
    auto own = memory_->operand(use, [&] {
      const stopwatch making;
      tensor_bytes bytes = make();
      made_ns = making.ns();
      return bytes;
    });
    if (constant) packing_ns_ += made_ns, moving_ns_ += timer.ns() - made_ns;
    return add(std::move(own), use.as.type, constant);
  }
  /// The same of weights in an order that is the library's own, and shared with no other algorithm.
  int hold_weights(std::shared_ptr<const memory> own, dtype type) {
    has_weights_ = true;
    return add(std::move(own), type, true);
  }
  /// Where the result goes, or the next of several: each begins with a cache line, as in
  /// `results_of`. Every byte is set: what is not written would be seen.
  void write(const stored& as) {
    written_.push_back({as, (written_bytes() + 63) / 64 * 64});
    result_ = memory_->results(written_bytes());
    if (written_bytes() == 0) return;
    check(cudaMemset(result_->data(), 0xff, static_cast<std::size_t>(written_bytes())),
          "the result's memory");
    wait_for_default_stream();
  }
  void need_scratch(std::int64_t bytes) {
    scratch_bytes_ = bytes;
    scratch_ = memory_->scratch(bytes);
  }

  // ---- when it runs ---------------------------------------------------------------------------
  /// Where operand number `which` is in copy `copy`.
  std::byte* at(int which, std::int64_t copy) const {
    const held& h = held_[static_cast<std::size_t>(which)];
    if (slots_.data == nullptr || (has_weights_ && !h.constant)) return h.place();
    return slots_.data + copy * slots_.stride + offset_of(which);
  }
  /// And result number `which`.
  std::byte* result(std::int64_t copy, std::size_t which = 0) const {
    std::byte* first = result_place();
    if (slots_.data != nullptr && !has_weights_)
      first = slots_.data + copy * slots_.stride + offset_of(static_cast<int>(held_.size()));
    return first + written_[which].offset;
  }
  std::byte* scratch() const {
    return scratch_elsewhere_ != nullptr ? scratch_elsewhere_
           : scratch_                    ? scratch_->data()
                                         : nullptr;
  }

  const operands& values() const { return values_; }
  /// How many copies there are of what rotates.
  std::int64_t copies() const { return std::max<std::int64_t>(slots_.count, 1); }
  const std::shared_ptr<cuda::gpu>& device() const { return gpu_; }

private:
  struct held {
    std::shared_ptr<const memory> own{};
    std::byte* elsewhere = nullptr;
    std::int64_t bytes = 0;
    int input = -1; ///< of the layer; -1: it is computed from several
    bool constant = false;
    std::byte* place() const { return own ? own->data() : elsewhere; }
  };
  struct written {
    stored as{};
    std::int64_t offset = 0; ///< in bytes, in the memory of all results
  };
  std::int64_t written_bytes() const {
    return written_.empty() ? 0 : written_.back().offset + written_.back().as.bytes();
  }
  std::byte* result_place() const { return result_ ? result_->data() : result_elsewhere_; }

  /// After so many times the L2 cache's size nothing is left of what was used before.
  static constexpr std::int64_t most_l2_sizes = 3;

  int add(std::shared_ptr<const memory> own, dtype type, bool constant) {
    const std::int64_t bytes = own->bytes();
    held_.push_back({.own = std::move(own), .bytes = bytes, .constant = constant});
    if (constant) {
      weight_bytes_ += in_pool(bytes);
      if (bytes > most_weight_bytes_) weights_ = type, most_weight_bytes_ = bytes;
    }
    return static_cast<int>(held_.size()) - 1;
  }

  /// Bytes of what rotates before operand number `which` in a copy.
  std::int64_t offset_of(int which) const {
    std::int64_t sum = 0;
    for (int i = 0; i < which; ++i) {
      const held& h = held_[static_cast<std::size_t>(i)];
      if (h.constant || !has_weights_) sum += in_pool(h.bytes);
    }
    return sum;
  }
  /// Of all operands and the result.
  std::int64_t all_bytes() const {
    std::int64_t sum = in_pool(written_bytes());
    for (const held& h : held_)
      sum += in_pool(h.bytes);
    return sum;
  }
  /// The operands into the first copy, and from there into all others; unless they are there still.
  void fill(const weight_slots& slots) {
    if (std::exchange(copies_->user, this) == this) return;
    for (int i = 0; i < std::ssize(held_); ++i) {
      const held& h = held_[static_cast<std::size_t>(i)];
      gpu_->copy(slots.data + offset_of(i), h.place(), h.bytes);
    }
    for (std::int64_t done = 1; done < slots.count; done *= 2)
      gpu_->copy(slots.data + done * slots.stride, slots.data,
                 std::min(done, slots.count - done) * slots.stride);
    gpu_->stream().wait();
  }
  /// Another algorithm may have made shared memory grow.
  void follow_moves() {
    const auto moves = [](const auto& m) { return m ? m->moves() : 0; };
    const std::array<int, 2> now{moves(result_), moves(scratch_)};
    if (std::exchange(moves_, now) != now) rebuild();
  }
  void rebuild() {
    timer_.forget();
    moved();
  }

  std::shared_ptr<cuda::gpu> gpu_;
  const operands& values_; ///< while it is made
  std::shared_ptr<group_memory> memory_;
  cuda::timer timer_;
  std::vector<held> held_{};
  std::shared_ptr<growing_memory> result_{}, scratch_{}, copies_{};
  std::byte *result_elsewhere_ = nullptr, *scratch_elsewhere_ = nullptr;
  std::array<int, 2> moves_{}; ///< of result and scratch, when they were last looked at
  std::vector<written> written_{};
  std::int64_t scratch_bytes_ = 0;
  dtype weights_ = dtype::f32;
  std::int64_t weight_bytes_ = 0, most_weight_bytes_ = 0;
  double packing_ns_ = 0, moving_ns_ = 0; ///< of constants, when they were made
  weight_slots slots_{};
  bool has_weights_ = false; ///< and not vectors of parameters alone
  bool flushed_ = false;
};

} // namespace benanza::backend::cuda
