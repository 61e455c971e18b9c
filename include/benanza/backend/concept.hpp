// SPDX-License-Identifier: Apache-2.0
// What is a backend? A library that can run layers: it lists the algorithms it has for a layer and
// a type, prepares one of them with real operands, starts it, and says how long it took. A CPU
// library reads the host's clock around its call, a GPU library records events on its stream.
//
//   for (const algorithm& a : lib.enumerate(layer, numeric::f32, {.threads = 1})) {
//     auto p = lib.prepare(layer, numeric::f32, a, operands, {.threads = 1});
//     p->run(1);  p->read(out);  double ns = p->time(10);
//   }
#pragma once

#include "../op/layer.hpp"
#include "operands.hpp"
#include "stack_place.hpp"

#include <concepts>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend {

/// One way a library can run a layer.
struct algorithm {
  std::string id{}; ///< the library's own name for it; unique for a layer and a type
  int index = 0;    ///< place in the library's own list; 0 is its first choice
  std::string
      equivalence{};     ///< algorithms compete only if these are equal; the type's token if exact
  std::string layouts{}; ///< of source, weights and result, as the library writes them
  /// Layouts (core/layout.hpp) that activations must have, one for each in ONNX order, the last
  /// standing for all further ones; "any": whatever they share. Empty: none that others have.
  std::string operand_layouts{};
  std::string result_layout{}; ///< that the result has; "any": its operands'
  std::string fallback{};      ///< "", "ref", "host" or "old-isa": what a bound should not rest on
  std::int64_t workspace_bytes = 0;
  std::int64_t flops = 0; ///< its own arithmetic; the layer's, unless it is Winograd or the like
  /// What the library says of it, in words with commas between: "heuristic,tensor-cores".
  std::string notes{};
};

/// Circumstances of a case.
struct setting {
  int threads = 1;
  /// The operands outlive what is prepared from them: what it only reads need not be copied.
  bool operands_stay = false;
};

/// Thrown where the device is gone, and with it whatever this process may still ask of it. The same
/// goes for std::bad_alloc: both are worth another try in a new process.
class device_lost : public error {
public:
  using error::error;
};

/// Copies of a layer's weights: `count` of them, `stride` bytes apart.
struct weight_slots {
  std::byte* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
  std::int64_t bytes() const { return stride * count; }
};

/// A part of an execution, and how long it took.
struct part_time {
  std::string name{};
  double ns = 0;
};

/// Called between the parts of a long execution: looks at the machine if the last look was a while
/// ago, or if it `must`.
using look_between = std::function<void(bool must)>;

/// One algorithm of one layer, ready to run: operands in its layouts, memory allocated.
class prepared {
public:
  virtual ~prepared() = default;

  /// The name of the implementation that really runs, asked from the library after it was created.
  virtual std::string ran() const = 0;
  /// Bytes of the weights as this algorithm wants them; 0 if it has none.
  virtual std::int64_t weight_bytes() const { return 0; }
  /// From now on execution i takes its weights from `pool + (i % count) * stride`, whatever stands
  /// there; with an empty pool it goes back to its own, true weights.
  virtual void rotate_weights(std::byte* /*pool*/, std::int64_t /*stride*/,
                              std::int64_t /*count*/) {}
  /// True where it runs on a device with memory and caches of its own: these it empties itself, and
  /// its weights rotate there.
  virtual bool on_device() const { return false; }
  /// Copies for cold weights in the device's memory.
  virtual weight_slots own_pool() { return {}; }
  /// From now on each timed execution finds nothing of its own in the device's caches, or not so.
  virtual void flush_before_each(bool) {}
  /// Brings a device that may rest to its full clock.
  virtual void wake() {}
  /// What slows the device down just now, and what to do about it; empty: nothing that is known.
  virtual std::string disturbance() { return {}; }
  /// Watts that the device draws just now, on the average of a while; 0: not told.
  virtual double power_w() const { return 0; }
  /// Nanoseconds that a sample must take for the backend's clock to be good enough.
  virtual double shortest_sample_ns() const { return 2000; }
  /// What a reader should know of how it was timed; empty: nothing.
  virtual std::string remark() const { return {}; }
  /// From now on the host's code runs with its stack at that one of stack_places.
  void place_stack(std::size_t which) { stack_place_ = stack_places[which]; }
  /// Runs `executions` times and waits for the end.
  virtual void run(int executions) = 0;
  /// Nanoseconds that `executions` back-to-back runs took, by the backend's clock.
  virtual double time(int executions) = 0;
  /// From now on `look` is called between the parts of each timed execution, outside of its time;
  /// an empty one no more. What runs as one part never calls it.
  virtual void between_parts(look_between /*look*/) {}
  /// Its parts, each with the median of its times in those executions that took one of `samples`;
  /// empty: it runs as one part, or no such execution is known any more.
  virtual std::vector<part_time> parts(const std::vector<double>& /*samples*/) const { return {}; }
  /// Bytes of operand `input` (its place in `operands::inputs`) in the layout that the algorithm
  /// reads; 0 for what is no activation.
  virtual std::int64_t operand_bytes(int /*input*/) const { return 0; }
  /// Bytes of the results in the algorithm's layout; 0: it cannot stand in a chain.
  virtual std::int64_t result_bytes() const { return 0; }
  /// From now on the layer reads that operand from `data` (64-byte aligned), in its layout.
  virtual void connect(int /*input*/, std::byte* /*data*/) {}
  /// From now on the result is written to `data` (64-byte aligned).
  virtual void connect_result(std::byte* /*data*/) {}
  /// Bytes of the scratch memory that a run needs, and may leave anything in.
  virtual std::int64_t scratch_bytes() const { return 0; }
  /// From now on runs take their scratch memory from `data` (64-byte aligned), which others use
  /// too.
  virtual void connect_scratch(std::byte* /*data*/) {}
  /// The host's memory in which the activations that it reads stand now; empty: not the host's.
  virtual std::vector<std::span<std::byte>> operand_memory() const { return {}; }
  /// The host's memory in which the result will stand; it may be that of an operand.
  virtual std::span<std::byte> result_memory() const { return {}; }
  /// The host's memory that a run takes for scratch now; empty: none, or not the host's.
  virtual std::span<std::byte> scratch_memory() const { return {}; }
  /// The operand that stands where the result goes and is lost by a run; -1: none.
  virtual int overwritten() const { return -1; }
  /// The results of the last run with true weights, in ONNX order, one value an element.
  virtual void read(std::vector<double>& out) const = 0;

protected:
  std::size_t stack_place() const { return stack_place_; }

private:
  std::size_t stack_place_ = stack_places[0];
};

/// What a device does at most, beside layers: bytes that move, or what it costs to start something.
struct device_limit {
  std::string kind{};           ///< "copy", "host_to_device_pinned", "launch"
  std::string way{};            ///< the call that does it
  std::int64_t bytes = 0;       ///< of the working set or of the message; 0: the kind has none
  std::int64_t moved_bytes = 0; ///< by one execution
  std::function<std::unique_ptr<prepared>()> make{};
};

/// A library that runs layers.
class library {
public:
  virtual ~library() = default;

  /// The token in case names: `onednn`, `host`, `cudnn`.
  virtual std::string_view name() const = 0;
  /// Facts for provenance: version, instruction set, threading runtime. Two results are merged only
  /// if these agree, but for `condition`: what the device is like just now.
  virtual std::map<std::string, std::string> facts() const = 0;
  /// True where it runs on a device with memory and caches of its own.
  virtual bool on_device() const { return false; }
  /// Why nothing of it can run on this machine; empty: it can.
  virtual std::string unavailable() const { return {}; }
  /// Where nothing of it can run: lists what it has on a device that is only described.
  virtual void describe_device(const std::string& /*name*/) {}
  /// The description of this machine's device by which others can list what runs on it; empty: it
  /// has none.
  virtual std::string device_description() { return {}; }
  /// The limits of its device, to be measured like cases; empty: it has none, or no device.
  virtual std::vector<device_limit> limits() { return {}; }
  /// What there is none of among these, in words; empty: nothing.
  virtual std::string absent_limits() { return {}; }
  /// What the library offers for the layer, in its own order; empty if nothing.
  virtual std::vector<algorithm> enumerate(const op::layer&, numeric, const setting&) = 0;
  /// Makes one of them ready. Throws benanza::error with the library's own reason.
  virtual std::unique_ptr<prepared> prepare(const op::layer&, numeric, const algorithm&,
                                            const operands&, const setting&) = 0;
};

/// A type that can be put into the program's list of backends.
template <class L>
concept backend_library = std::derived_from<L, library> && std::default_initializable<L>;

/// Makers of all backends of the build, in the order of their names; each is called once, after the
/// environment (threads, affinity) has been set.
inline std::map<std::string, std::function<std::unique_ptr<library>()>>& registered_backends() {
  static std::map<std::string, std::function<std::unique_ptr<library>()>> makers;
  return makers;
}

/// Puts a backend into the list at start-up: `const registration<onednn::library> here{"onednn"};`
template <backend_library L>
struct registration {
  explicit registration(std::string name) {
    registered_backends().emplace(std::move(name), [] { return std::make_unique<L>(); });
  }
};

} // namespace benanza::backend
