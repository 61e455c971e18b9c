// SPDX-License-Identifier: Apache-2.0
// What does a backend make of a layer? One algorithm, ready to run: operands in its layouts, memory
// allocated. It says what really runs, runs it, times it by its own clock and gives its result.
// What else it can do are small interfaces that it may have or not: to be part of a chain of
// layers, to run on a device with memory of its own, to run in parts.
//
//   p->run(1);   p->read(out);   double ns = p->time(10);
//   if (chainable* c = p->chain()) c->connect_result(data);
#pragma once

#include "../core/device_counters.hpp"
#include "../core/device_kernel.hpp"
#include "../core/error.hpp"
#include "../core/timed_parts.hpp"
#include "../machine/stack_place.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::backend {

/// Copies of a layer's weights: `count` of them, `stride` bytes apart.
struct weight_slots {
  std::byte* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
  std::int64_t bytes() const { return stride * count; }
};

/// Where activations are in the memory of the host, or of the device on which the layer runs.
class in_memory {
public:
  virtual ~in_memory() = default;
  /// Where the activations that it reads are now, the result will be (it may be memory of an
  /// operand), and scratch is taken; empty: it needs none.
  virtual std::vector<std::span<std::byte>> operand_memory() const = 0;
  virtual std::span<std::byte> result_memory() const = 0;
  virtual std::span<std::byte> scratch_memory() const { return {}; }
};

/// Activations that can be placed elsewhere: what can follow other layers in a chain.
class chainable : public in_memory {
public:
  /// Bytes of operand `input` (its place in `operands::inputs`) in the layout that the algorithm
  /// reads; 0 for what is no activation.
  virtual std::int64_t operand_bytes(int input) const = 0;
  /// Bytes of the results in the algorithm's layout.
  virtual std::int64_t result_bytes() const = 0;
  /// Bytes of the scratch memory that a run needs, and may leave anything in.
  virtual std::int64_t scratch_bytes() const { return 0; }
  /// From now on the layer reads that operand from `data` (64-byte aligned), in its layout.
  virtual void connect(int input, std::byte* data) = 0;
  /// From now on the result is written to `data` (64-byte aligned).
  virtual void connect_result(std::byte* data) = 0;
  /// From now on runs take their scratch memory from `data` (64-byte aligned), which others use
  /// too.
  virtual void connect_scratch(std::byte* /*data*/) {}
  /// The operand that is where the result goes and is overwritten by a run; -1: none.
  virtual int overwritten() const { return -1; }
  /// Puts one execution on the queue of the device on which it runs, and does not wait for it.
  virtual void start() { throw error("it runs on no device"); }
};

/// What a device reports on a stretch of time in which something was timed on it.
struct device_account {
  /// For how long it was watched, and its power limit or its temperature held its clock down; 0
  /// all: it was not watched.
  double watched_ns = 0, held_by_power_ns = 0, held_by_heat_ns = 0;
  std::string remark{}; ///< how the last time was corrected; empty: not so that it matters

  device_account& operator+=(const device_account& o) {
    watched_ns += o.watched_ns;
    held_by_power_ns += o.held_by_power_ns;
    held_by_heat_ns += o.held_by_heat_ns;
    remark = o.remark;
    return *this;
  }
};

/// A device with memory, caches and a clock of its own.
class device_control {
public:
  virtual ~device_control() = default;
  /// Copies for cold weights in the device's memory.
  virtual weight_slots weight_pool() { return {}; }
  /// From now on each timed execution finds nothing of its own in the device's caches, or not so.
  virtual void flush_before_each(bool) {}
  /// Brings a device that may rest to its full clock.
  virtual void wake() {}
  /// The device's clock during what was timed last, as what 1000 cycles took; 0: not known.
  virtual double clock_ns() const { return 0; }
  /// A stretch of times begins; it ends, and this is what is known of it.
  virtual void begin_account() {}
  virtual device_account end_account() { return {}; }
  /// Joules that the whole device took up to now; nothing: not known.
  virtual std::optional<double> joules() { return {}; }
  /// The kernels of one execution, in their order, as a profiler of the device sees them; throws
  /// benanza::error where it does not see them, no_profiler where it never will. From then on the
  /// profiler stays in the process: nothing is timed in it any more.
  virtual std::vector<device_kernel> kernels() { return {}; }
  /// What the device's counters count of one execution, which is repeated for it; on the same
  /// terms.
  virtual device_counters counters() { return {}; }
  /// True where the host launches each execution while it is timed: the figure may be its time.
  virtual bool host_launches() const { return false; }
};

/// Called between the parts of a long execution: probes the machine if the last probe was a while
/// ago, or if it `must`.
using probe_between = std::function<void(bool must)>;

/// What runs in several parts, one after the other.
class in_parts {
public:
  virtual ~in_parts() = default;
  /// From now on `probe` is called between the parts of each timed execution, outside of its time;
  /// an empty one no more.
  virtual void between_parts(probe_between probe) = 0;
  /// Its parts, each with the median of its times in those executions that took one of `samples`;
  /// empty: no such execution is known any more.
  virtual std::vector<timed_part> parts_of(const std::vector<double>& samples) const = 0;
  /// Calls of libraries in these executions, where they are listened to.
  virtual std::vector<timed_call> calls_of(const std::vector<double>& /*samples*/) const {
    return {};
  }
};

/// One algorithm of one layer, ready to run.
class prepared {
public:
  virtual ~prepared() = default;

  /// The name of the implementation that really runs, asked from the library after it was created.
  virtual std::string ran() const = 0;
  /// Runs `executions` times and waits for the end.
  virtual void run(int executions) = 0;
  /// Nanoseconds that `executions` back-to-back runs took, by the backend's clock.
  virtual double time(int executions) = 0;
  /// The results of the last run with true weights, in ONNX order, one value an element.
  virtual void read(std::vector<double>& out) const = 0;
  /// Those at `positions` among `count` ones; throws where there are not so many.
  virtual void read_at(std::span<const std::int64_t> positions, std::int64_t count,
                       std::vector<double>& out) const {
    std::vector<double> all;
    read(all);
    if (std::ssize(all) != count)
      throw error("the result has " + std::to_string(all.size()) + " elements");
    out.clear();
    for (const std::int64_t p : positions)
      out.push_back(all[static_cast<std::size_t>(p)]);
  }

  /// Bytes of the weights as this algorithm wants them; 0 if it has none.
  virtual std::int64_t weight_bytes() const { return 0; }
  /// From now on execution i takes its weights from `pool + (i % count) * stride`, whatever is
  /// there; with an empty pool it goes back to its own, true weights.
  virtual void rotate_weights(std::byte* /*pool*/, std::int64_t /*stride*/,
                              std::int64_t /*count*/) {}
  /// Nanoseconds that a sample must take for the backend's clock to be good enough.
  virtual double shortest_sample_ns() const { return 2000; }
  /// What a reader should know of how it was timed; empty: nothing.
  virtual std::string remark() const { return {}; }

  /// The interfaces that it has; null: not this one.
  virtual chainable* chain() { return nullptr; }
  virtual in_memory* activations() { return chain(); }
  virtual device_control* own_device() { return nullptr; }
  virtual in_parts* parts() { return nullptr; }
  bool on_device() { return own_device() != nullptr; }

  /// From now on the host's code runs with its stack at that one of machine::stack_places.
  void place_stack(std::size_t which) { stack_place_ = machine::stack_places[which]; }

protected:
  std::size_t stack_place() const { return stack_place_; }

private:
  std::size_t stack_place_ = machine::stack_places[0];
};

} // namespace benanza::backend
